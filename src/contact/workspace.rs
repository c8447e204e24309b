//! Scratch memory of the queries: one per thread, grown on first use, never shrunk.

use std::collections::BinaryHeap;

use super::manifold::{Candidate, Regions};
use super::memory::Memory;
use super::search::{approach, edges, faces, sharp, Chosen, Hit, Known, Node, TraversalCache};
use super::types::{Contact, Owner, Report, Stats};
use voxshell_base::math::Pose;
use voxshell_field::Surface;

/// Scratch memory of the queries. Each thread brings its own; a query needs it exclusively. Warm queries do not
/// allocate.
///
/// A workspace also caches data of one pair, if the queries name the owners of the pair
/// ([`Query::owners`](super::Query::owners)). A pair that is queried repeatedly should have a workspace of its own.
/// The cache takes 40 bytes for each node of the shell's tree.
#[derive(Default)]
pub struct Workspace {
    /// Nodes still to open, each with its lower bound of φ.
    pub(super) open: Vec<(u32, f32)>,
    /// Overlapping nodes of one level of a tree, and of the next level.
    pub(super) levels: [Chosen; 2],
    pub(super) hits: Vec<Hit>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) contacts: Vec<Contact>,
    pub(super) edges: edges::Scratch,
    pub(super) sharp: sharp::Scratch,
    pub(super) faces: faces::Scratch,
    pub(super) nearest: approach::Nearest,
    pub(super) kept: Vec<Contact>,
    pub(super) stats: Stats,
    pub(super) report: Report,
    /// Nodes as in `open`, deepest first.
    pub(super) frontier: BinaryHeap<Node>,
    pub(super) regions: Regions,
    /// Traversal caches of A's shell and of B's.
    pub(super) caches: [TraversalCache; 2],
    /// Whether the last query with a step found dense contacts, for A's shell and for B's: a hint for what to try
    /// first.
    pub(super) was_dense: [bool; 2],
    /// What a pair remembers of the samples of A and of B.
    pub(super) known: [Known; 2],
    pub(super) memory: Memory,
    /// Whether it remembers where the last query of its pair ended.
    pub(super) remembers: bool,
    /// A lower bound of the distance between the surfaces of the pair, metres; 0 if none is known.
    pub(super) apart: f64,
    /// How far the bodies have moved since the last query of the pair, metres.
    pub(super) moved: f64,
    /// Whether a query is in progress. A query that finds it set follows one that ran out of memory, whose caches are
    /// incomplete.
    pub(super) is_busy: bool,
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the report about the contacts that the last query left out.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Returns the contacts of the last query; none after [`distance`](super::distance()).
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Returns the cost of the last query.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Begins a query of the contacts of a pair. From the second query of the same pair on, the workspace remembers where its
    /// searches ended, and how far the bodies may move until they end elsewhere.
    pub(super) fn begin_pair(
        &mut self,
        owners: Option<&[Owner; 2]>,
        surfaces: Option<[&Surface; 2]>,
        poses: [&Pose; 2],
    ) {
        // Before the begin: a query that was interrupted leaves nothing to remember.
        let (did_remember, apart) = (self.remembers && !self.is_busy, self.apart);
        self.begin();
        let Self { sharp, edges, known, remembers, memory, .. } = self;
        let distance = memory.advance(owners, surfaces, poses);
        *remembers = distance.is_some();
        let is_new = !(did_remember && *remembers);
        let moved = distance.unwrap_or(0.0);
        self.moved = moved;
        self.apart = distance.map_or(0.0, |moved| (apart - moved).max(0.0));
        for front in sharp.fronts.iter_mut().chain([&mut edges.front]) {
            front.is_used = *remembers;
            if is_new {
                front.clear()
            } else {
                front.moved_by(moved)
            }
        }
        for known in known {
            if is_new {
                known.clear()
            } else {
                known.moved_by(moved)
            }
        }
    }

    /// Begins a query that remembers nothing, and is not remembered.
    pub(super) fn begin(&mut self) {
        if self.is_busy {
            *self = Self::default();
        }
        self.is_busy = true;
        self.remembers = false;
        self.apart = 0.0;
        self.sharp.fronts.iter_mut().chain([&mut self.edges.front]).for_each(|front| front.is_used = false);
        self.open.clear();
        self.hits.clear();
        self.contacts.clear();
        self.stats = Stats::default();
        self.report = Report::default();
    }
}
