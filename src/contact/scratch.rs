//! The items that the searches keep in a workspace while they run.

use std::cmp::Ordering;

use super::types::{Budget, Completeness, Report};

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

/// What a traversal has left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    pub completeness: Completeness,
    /// φ of no sample that was left out is below this; +∞ when none was.
    pub least: f32,
    /// Spheres and samples tested.
    pub tests: u64,
}

impl Left {
    pub const NOTHING: Self = Self { completeness: Completeness::Complete, least: f32::INFINITY, tests: 0 };
}

/// A node to open; the greatest is the deepest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    /// Lower bound of φ over its samples.
    pub lower: f32,
    pub index: u32,
}

impl Eq for Node {}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then_with(|| other.index.cmp(&self.index))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Budget {
    /// What the first of two directions may use, when `self` is for both.
    pub(super) fn first_half(&self) -> Self {
        let half = |limit: u64| if limit == u64::MAX { limit } else { limit / 2 };
        Self { tests: half(self.tests), nanoseconds: half(self.nanoseconds), ..*self }
    }

    /// What the second may use. A first one that was interrupted leaves nothing of its half, so that a larger limit never
    /// gives the second less.
    pub(super) fn second_half(&self, first: &Left) -> Self {
        let used = if first.completeness == Completeness::Partial { self.first_half().tests } else { first.tests };
        let tests = if self.tests == u64::MAX { u64::MAX } else { self.tests - used };
        Self { tests, ..*self }
    }
}

impl Report {
    pub(super) fn add(&mut self, left: &Left) {
        self.completeness = self.completeness.max(left.completeness);
        self.least_missed = self.least_missed.min(left.least.into());
    }
}
