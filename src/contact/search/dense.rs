//! Thinning of dense contacts. Where bodies fit closely, as a nut on its bolt, thousands of samples count in a step
//! and few of them matter: for each part of the shell and each octant of the contact direction, the most urgent sample
//! and the nearest are kept. The most urgent one may turn out to pass the other body by.

use super::lanes::{at_most, Walk, LANES};
use super::pass::Pass;
use super::scratch::{Hit, Left};
use super::step::{Counting, SampleGaps, StepMotion};
use crate::types::{Completeness, Step, FEATURE_OF_B};
use crate::workspace::Workspace;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::wide;
use voxshell_field::{with_common_field, SignedDistance};
use voxshell_pointshell::PointShell;

/// Number of parts into which the near samples of a shell are divided.
const PARTS: usize = 48;
/// Number of octants of directions, by the signs of the three coordinates of the gradient, in the local frame of the
/// field.
const OCTANTS: usize = 8;

impl Pass<'_> {
    /// Appends every sample that counts in a step to `workspace.hits`, in ascending order, and the samples of
    /// `preferred` up to `limit`.
    pub(crate) fn collect_counting(&self, limit: f32, step: &Step, preferred: &[u32], workspace: &mut Workspace) {
        let motion = StepMotion::new(step, self);
        let is_answered = self.collect_extremes(limit, step, &motion, workspace);
        let least = if is_answered { None } else { self.collect_or_thin(limit, &motion, workspace) };
        // Thinned hits are ordered by part, and unordered within a part.
        if least.is_some() {
            workspace.hits.sort_unstable_by_key(|hit| hit.sample);
        }
        let found = workspace.hits.len();
        for feature in preferred.iter().filter(|&feature| (feature & FEATURE_OF_B != 0) == self.shell_is_b) {
            let sample = feature & !FEATURE_OF_B;
            let i = sample as usize;
            if i < self.shell.len() && workspace.hits[..found].binary_search_by_key(&sample, |hit| hit.sample).is_err()
            {
                let point = self.to_field.point([self.shell.x[i], self.shell.y[i], self.shell.z[i]]);
                let phi = self.field.distance(point);
                if phi <= limit {
                    workspace.hits.push_guarded(Hit { sample, phi, point });
                }
            }
        }
        if workspace.hits.len() > found {
            workspace.hits.sort_unstable_by_key(|hit| hit.sample);
            // Removes duplicate preferred features.
            workspace.hits.dedup_by_key(|hit| hit.sample);
        }
        if let Some(least) = least {
            workspace.report.add(&Left {
                completeness: Completeness::Urgent,
                least: least - self.error(),
                ..Left::NOTHING
            });
        }
    }

    /// Appends every sample that counts, or the most urgent if they are dense: then they are unordered, and a lower bound of
    /// φ of the others is returned.
    fn collect_or_thin(&self, limit: f32, motion: &StepMotion, workspace: &mut Workspace) -> Option<f32> {
        let side = usize::from(self.shell_is_b);
        let mut least = None;
        if !workspace.was_dense[side] {
            self.collect_up_to_gap(limit, motion, workspace);
            workspace.was_dense[side] = workspace.hits.len() > motion.dense_above;
        }
        if workspace.was_dense[side] {
            workspace.hits.clear();
            least = with_common_field!(self.field, f => {
                collect_dense(f, self.shell, &self.to_field, limit, motion, workspace)
            });
            if least.is_none() {
                workspace.was_dense[side] = false;
                self.collect_up_to_gap(limit, motion, workspace);
            }
        }
        least
    }
}

/// The most urgent samples of a part.
struct MostUrgent {
    /// Smallest gap of each octant.
    gaps: [f32; OCTANTS],
    urgent: [Hit; OCTANTS],
    /// The sample with the smallest φ of each octant.
    nearest: [Hit; OCTANTS],
}

const NO_HIT: Hit = Hit { sample: u32::MAX, phi: f32::INFINITY, point: [0.0; 3] };

impl MostUrgent {
    const NONE: Self = Self { gaps: [f32::INFINITY; OCTANTS], urgent: [NO_HIT; OCTANTS], nearest: [NO_HIT; OCTANTS] };

    #[inline(always)]
    fn add(&mut self, first: usize, mask: u32, gaps: &SampleGaps) {
        let mut mask = mask;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize % LANES;
            mask &= mask - 1;
            let sign = |k: usize| (gaps.gradient[k][lane].to_bits() >> 31 << k) as usize;
            let octant = (sign(0) | sign(1) | sign(2)) % OCTANTS;
            if gaps.gap[lane] < self.gaps[octant] {
                self.gaps[octant] = gaps.gap[lane];
                self.urgent[octant] = gaps.block.hit(first, lane);
            }
            if gaps.block.value[lane] < self.nearest[octant].phi {
                self.nearest[octant] = gaps.block.hit(first, lane);
            }
        }
    }

    fn finish(self, hits: &mut Vec<Hit>) {
        let start = hits.len();
        for hit in self.urgent.into_iter().chain(self.nearest) {
            if hit.sample != u32::MAX && hits[start..].iter().all(|h| h.sample != hit.sample) {
                hits.push_guarded(hit);
            }
        }
    }
}

wide! {
    /// Appends the most urgent of the samples that [`Pass::collect_up_to_gap`] finds to `workspace.hits`, if there are
    /// more of them than `motion.dense_above`, and returns a lower bound of φ of the samples that were left out.
    /// Otherwise appends nothing and returns `None`.
    fn collect_dense<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        motion: &StepMotion,
        workspace: &mut Workspace,
    ) -> Option<f32> {
        if shell.len() <= motion.dense_above {
            return None;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(Counting { limit, motion }, motion.dense_above, levels, stats);
        let tree = &shell.tree;
        let nodes = levels[0].as_slice();
        let (start, mut near, mut least) = (hits.len(), 0, f32::INFINITY);
        for part in nodes.chunks(nodes.len().div_ceil(PARTS).max(1)) {
            let mut best = MostUrgent::NONE;
            let mut rest = part;
            while let Some((&node, mut after)) = rest.split_first() {
                let from = tree.first_sample[node as usize];
                let mut to = from + tree.sample_count[node as usize];
                // Samples of consecutive nodes are consecutive too: fewer blocks of one run are incomplete.
                while let Some((&next, others)) = after.split_first() {
                    if tree.first_sample[next as usize] != to {
                        break;
                    }
                    to += tree.sample_count[next as usize];
                    after = others;
                }
                rest = after;
                for first in (from as usize..to as usize).step_by(LANES) {
                    let n = (to as usize - first).min(LANES);
                    stats.sample_tests += n as u64;
                    let gaps = walk.sample_gaps(first, n, limit, motion);
                    let mask = at_most(&gaps.block.value, limit, n) & at_most(&gaps.gap, motion.max_gap, n);
                    near += mask.count_ones() as usize;
                    best.add(first, mask, &gaps);
                }
            }
            least = best.nearest.iter().fold(least, |least, hit| least.min(hit.phi));
            best.finish(hits);
        }
        if near <= motion.dense_above {
            hits.truncate(start);
            return None;
        }
        // A sample that was left out is no deeper than the nearest of its part, or its gap, and so its φ, is above
        // the largest.
        Some(least.min(motion.max_gap))
    }
}
