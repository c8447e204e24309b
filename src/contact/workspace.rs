//! Scratch memory of the queries: one per thread, grown on first use, never shrunk.

use super::traverse::Chosen;
use super::Contact;

/// A sample at or under the wanted separation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub sample: u32,
    pub phi: f32,
    /// The sample in the field's local frame, metres.
    pub point: [f32; 3],
}

/// A candidate of a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub point: [f32; 3],
    pub separation: f32,
    pub feature: u32,
    /// Where the candidate came from.
    pub index: u32,
}

/// What the last query cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Spheres of the tree tested against the field.
    pub node_tests: u64,
    /// Samples tested against the field.
    pub sample_tests: u64,
}

/// Scratch for queries. Each thread brings its own; a query needs it exclusively. Warm queries do not allocate.
#[derive(Default)]
pub struct Workspace {
    /// Nodes still to open, with their lower bound of φ.
    pub(super) open: Vec<(u32, f32)>,
    /// Nodes of one level of a tree that are not free, and of the next.
    pub(super) levels: [Chosen; 2],
    pub(super) hits: Vec<Hit>,
    pub(super) pending: Vec<Pending>,
    pub(super) contacts: Vec<Contact>,
    pub(super) kept: Vec<Contact>,
    pub(super) stats: Stats,
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Cost of the last query.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    pub(super) fn begin(&mut self) {
        self.open.clear();
        self.hits.clear();
        self.contacts.clear();
        self.stats = Stats::default();
    }
}
