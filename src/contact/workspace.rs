//! Scratch memory of the queries: one per thread, grown on first use, never shrunk.

use std::collections::BinaryHeap;

use super::budget::{Completeness, Left, Node};
use super::front::Front;
use super::region::Regions;
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
    /// Square of the distance to the nearest that was chosen, while they are.
    pub apart: f32,
}

/// What the last query cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Spheres of the tree tested against the field.
    pub node_tests: u64,
    /// Samples tested against the field.
    pub sample_tests: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.node_tests += other.node_tests;
        self.sample_tests += other.sample_tests;
    }
}

/// What the last query left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub completeness: Completeness,
    /// The separation of no sample that was left out is below this, metres: a proof. +∞ when none was left out, −∞ when
    /// nothing is known.
    pub least_missed: f64,
}

impl Default for Report {
    /// Nothing.
    fn default() -> Self {
        Self { completeness: Completeness::Complete, least_missed: f64::INFINITY }
    }
}

impl Report {
    pub(super) fn add(&mut self, left: &Left) {
        self.completeness = self.completeness.max(left.completeness);
        self.least_missed = self.least_missed.min(left.least.into());
    }
}

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
