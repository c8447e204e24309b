//! Scratch memory of the queries: one per thread, grown on first use, never shrunk.

use std::collections::BinaryHeap;

use super::front::Front;
use super::lanes::Chosen;
use super::region::Regions;
use super::scratch::{Hit, Node, Pending};
use super::types::{Contact, Report, Stats};

/// Scratch for queries. Each thread brings its own; a query needs it exclusively. Warm queries do not allocate.
///
/// It also remembers one pair, if the queries name its owners ([`Query::owners`](super::Query::owners)): a pair that is
/// asked about again and again is worth a workspace of its own. What it remembers takes 40 bytes for each node of the
/// shell's tree.
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
    pub(super) report: Report,
    /// As `open`, deepest first.
    pub(super) frontier: BinaryHeap<Node>,
    pub(super) regions: Regions,
    /// Of A's shell and of B's.
    pub(super) fronts: [Front; 2],
    /// Whether the last query that asked found a crowd: a hint what to try first, of A's shell and of B's.
    pub(super) crowded: [bool; 2],
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// What the last query left out.
    pub fn report(&self) -> Report {
        self.report
    }

    /// The contacts of the last query; none after [`distance`](super::distance()).
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
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
        self.report = Report::default();
    }
}
