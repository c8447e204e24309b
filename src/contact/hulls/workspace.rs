//! Scratch memory of the queries of hulls.

use crate::Contact;
use voxshell_base::math::Vec3;
use voxshell_base::memory::filled;

/// Number of pairs of hulls whose separating directions are kept.
const ENTRIES: usize = 1 << 12;
const NONE: u32 = u32::MAX;

/// Cost of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HullStats {
    /// Pairs of hulls looked at.
    pub pairs: u64,
    /// Tests of the direction that separated two hulls in an earlier query.
    pub bounds: u64,
    /// Distances of hulls.
    pub distances: u64,
    /// Pairs of triangles tested.
    pub triangles: u64,
}

/// A contact in the frame of A's hierarchy.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub on_a: Vec3,
    pub on_b: Vec3,
    pub normal: Vec3,
    pub separation: f64,
    pub nodes: [u32; 2],
}

#[derive(Clone)]
struct Entry {
    nodes: [u32; 2],
    direction: Vec3,
}

/// Scratch memory of the queries of hulls: one per thread, grown on first use, never shrunk. Warm queries do not allocate.
///
/// It keeps directions that separated two hulls. They save time in the next query of the same pair and never change an
/// answer.
#[derive(Default)]
pub struct HullWorkspace {
    pub(super) stack: Vec<(f64, u32, u32)>,
    pub(super) found: Vec<Found>,
    pub(super) contacts: Vec<Contact>,
    pub(super) stats: HullStats,
    /// Empty before the first query.
    entries: Vec<Entry>,
}

impl HullWorkspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the cost of the last query.
    pub fn stats(&self) -> HullStats {
        self.stats
    }

    /// Returns the contacts of the last query.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Prepares for a query.
    pub(super) fn begin(&mut self) {
        self.stats = HullStats::default();
        self.found.clear();
        self.stack.clear();
        if self.entries.is_empty() {
            self.entries = filled(Entry { nodes: [NONE; 2], direction: Vec3::zeros() }, ENTRIES);
        }
    }

    fn slot(i: u32, j: u32) -> usize {
        let mixed = (u64::from(i) << 32 | u64::from(j)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 52) as usize % ENTRIES
    }

    /// Returns the direction, from A to B in A's frame, that separated two nodes before. It may be of another pair of
    /// bodies, so it proves nothing by itself.
    pub(super) fn direction(&self, i: u32, j: u32) -> Option<Vec3> {
        let entry = &self.entries[Self::slot(i, j)];
        (entry.nodes == [i, j]).then_some(entry.direction)
    }

    pub(super) fn remember(&mut self, i: u32, j: u32, direction: Vec3) {
        self.entries[Self::slot(i, j)] = Entry { nodes: [i, j], direction };
    }
}
