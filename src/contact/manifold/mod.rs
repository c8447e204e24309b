//! From the samples that a search has found to the contacts of the answer: positions, normals, groups, reduction.

mod features;
pub(super) mod normal;
mod place;
mod reduce;
mod region;
pub(super) mod segment;

pub use features::contacts_of;
pub(super) use reduce::{reduce, Candidate};
pub(super) use region::{Grouping, Regions};
