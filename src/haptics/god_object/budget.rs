//! Limits of a round's cost, and the cost so far.

use voxshell_base::math::clock::Instant;
use voxshell_contact::Stats;

/// Limits of the cost of a god-object's round. The round ends before the substep that would exceed a limit at the
/// average cost so far; the first substep is always made. Such an end is as safe as the end of any substep, and the
/// next round continues from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Spheres and samples tested against fields, during the motion and around its ends. Deterministic: the same limit
    /// gives the same bytes.
    pub tests: u64,
    /// Time by the system's clock, which is read once per substep, and never where this is `u64::MAX`.
    pub nanoseconds: u64,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Self = Self { tests: u64::MAX, nanoseconds: u64::MAX };
}

impl Default for Budget {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

/// Cost of a round so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub tests: Stats,
    /// Start time of the round, if there is a time limit.
    start: Option<Instant>,
}

impl Spent {
    pub fn begin(budget: &Budget) -> Self {
        Self { tests: Stats::default(), start: (budget.nanoseconds != u64::MAX).then(Instant::now) }
    }

    /// Returns whether one more substep, after this number of them, would exceed the budget.
    pub fn ends(&self, budget: &Budget, substeps: u32) -> bool {
        let with_one_more = |spent: f64| spent * (1.0 + 1.0 / f64::from(substeps));
        let late = |start: Instant| with_one_more(start.elapsed().as_nanos() as f64) > budget.nanoseconds as f64;
        let tests = self.tests.node_tests + self.tests.sample_tests;
        (budget.tests != u64::MAX && with_one_more(tests as f64) > budget.tests as f64) || self.start.is_some_and(late)
    }
}
