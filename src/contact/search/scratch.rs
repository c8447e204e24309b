//! Items that the searches keep in a workspace while they run.

use std::cmp::Ordering;

use crate::types::{Budget, Completeness, Report};

/// A sample with φ at most the wanted separation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub sample: u32,
    pub phi: f32,
    /// Position of the sample in the local frame of the field, metres.
    pub point: [f32; 3],
}

/// Bound on the samples that a traversal has left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Left {
    pub completeness: Completeness,
    /// Lower bound of φ of all samples that were left out; +∞ when none was.
    pub least: f32,
    /// Number of sphere and sample tests.
    pub tests: u64,
}

impl Left {
    pub const NOTHING: Self = Self { completeness: Completeness::Complete, least: f32::INFINITY, tests: 0 };
}

/// A node to open; the greatest in the order is the deepest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
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
    /// Returns the budget of the first of two directions, when `self` is for both.
    pub(crate) fn first_half(&self) -> Self {
        let half = |limit: u64| if limit == u64::MAX { limit } else { limit / 2 };
        Self { tests: half(self.tests), nanoseconds: half(self.nanoseconds), ..*self }
    }

    /// Returns the budget of the second direction. An interrupted first direction leaves nothing of its half, so that
    /// a larger limit never gives the second direction less.
    pub(crate) fn second_half(&self, first: &Left) -> Self {
        let used = if first.completeness == Completeness::Partial { self.first_half().tests } else { first.tests };
        let tests = if self.tests == u64::MAX { u64::MAX } else { self.tests - used };
        Self { tests, ..*self }
    }
}

impl Report {
    pub(crate) fn add(&mut self, left: &Left) {
        self.completeness = self.completeness.max(left.completeness);
        self.least_missed = self.least_missed.min(left.least.into());
    }
}
