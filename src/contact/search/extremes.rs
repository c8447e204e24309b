//! Extreme samples in a half-space: the corners of the convex hull of a shell, which are the deepest at any pose.

use super::lanes::{at_most, Lanes, Walk, LANES};
use super::pass::Pass;
use super::scratch::Left;
use super::step::StepMotion;
use crate::types::{Completeness, Step};
use crate::workspace::Workspace;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::wide;
use voxshell_field::{Field, HalfSpace};
use voxshell_pointshell::{Extremes, PointShell};

impl Pass<'_> {
    /// Appends the extreme samples with a separation up to `limit` that count in the step to `workspace.hits`, in ascending
    /// order. Does nothing and returns `false` if the field is no half-space, or if the shell is too round.
    pub(super) fn collect_extremes(
        &self,
        limit: f32,
        step: &Step,
        motion: &StepMotion,
        workspace: &mut Workspace,
    ) -> bool {
        let Field::HalfSpace(field) = self.field else { return false };
        if !step.extremes_only || self.shell.extremes().samples.is_empty() {
            return false;
        }
        let deepest = collect(field, self.shell, &self.to_field, limit, motion, workspace);
        let least = deepest - self.shell.extremes().tolerance;
        workspace.report.add(&Left { completeness: Completeness::Extremes, least, ..Left::NOTHING });
        true
    }
}

/// Returns the block of extreme samples that begins with `first`; lanes beyond the end are 0.
#[inline(always)]
fn block(extremes: &Extremes, first: usize) -> [Lanes; 3] {
    [&extremes.x, &extremes.y, &extremes.z].map(|axis| match axis[first..].first_chunk() {
        Some(block) => *block,
        None => std::array::from_fn(|i| axis.get(first + i).copied().unwrap_or(0.0)),
    })
}

wide! {
    /// Returns the least φ of the extreme samples, those with too large a gap included.
    fn collect(
        field: &HalfSpace,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        motion: &StepMotion,
        workspace: &mut Workspace,
    ) -> f32 {
        let extremes = shell.extremes();
        let walk = Walk::new(field, shell, to_field);
        let Workspace { hits, stats, .. } = workspace;
        let count = extremes.samples.len();
        stats.sample_tests += count as u64;
        let mut least = f32::INFINITY;
        for first in (0..count).step_by(LANES) {
            let n = (count - first).min(LANES);
            let placed = walk.placed(block(extremes, first), n);
            least = placed.value[..n].iter().fold(least, |least, &phi| least.min(phi));
            if at_most(&placed.value, limit, n) == 0 {
                continue;
            }
            let gaps = walk.gaps_of(placed, |i| extremes.samples[first + i] as usize, n, limit, motion, |_| true);
            let mut mask = at_most(&gaps.block.value, limit, n) & at_most(&gaps.gap, motion.max_gap, n);
            while mask != 0 {
                let lane = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                hits.push_guarded(gaps.block.hit_of(extremes.samples[first + lane], lane));
            }
        }
        least
    }
}
