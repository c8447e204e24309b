//! What is behind a workspace handle.

use super::handle::{Exclusive, Kind, Opaque};
use super::types::*;
use crate::{ccd, contact, response};

/// What is behind a `vxs_workspace`.
#[derive(Default)]
pub(super) struct Scratch {
    pub contact: contact::Workspace,
    pub motion: ccd::shell::Workspace,
    pub clusters: response::Clusters,
}

impl Opaque for vxs_workspace {
    type Value = Exclusive<Scratch>;
    const KIND: Kind = Kind::Workspace;
}
