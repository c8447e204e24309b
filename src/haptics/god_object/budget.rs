//! What a round may cost, and what it has cost.

use std::time::Instant;

use crate::contact::Stats;

/// What a round of a god-object may cost. It ends before the stretch that would take more, at the pace so far; the first is
/// always gone. Where a round ends so is as safe as where any stretch ends, and the next one goes on from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Spheres and samples tested against fields, on the way and around its ends. Deterministic: the same limit gives the same
    /// bytes.
    pub tests: u64,
    /// By the system's clock, which is read once a stretch, and never where this is `u64::MAX`.
    pub nanoseconds: u64,
}

impl Budget {
    /// As far as the god-object gets.
    pub const UNLIMITED: Self = Self { tests: u64::MAX, nanoseconds: u64::MAX };
}

impl Default for Budget {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

/// Of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub tests: Stats,
    /// When it began, if that matters.
    start: Option<Instant>,
}

impl Spent {
    pub fn begin(budget: &Budget) -> Self {
        Self { tests: Stats::default(), start: (budget.nanoseconds != u64::MAX).then(Instant::now) }
    }

    /// Whether one stretch more, after so many, would be too much.
    pub fn ends(&self, budget: &Budget, stretches: u32) -> bool {
        let with_one_more = |spent: f64| spent * (1.0 + 1.0 / f64::from(stretches));
        let late = |start: Instant| with_one_more(start.elapsed().as_nanos() as f64) > budget.nanoseconds as f64;
        let tests = self.tests.node_tests + self.tests.sample_tests;
        (budget.tests != u64::MAX && with_one_more(tests as f64) > budget.tests as f64) || self.start.is_some_and(late)
    }
}
