//! Thinning of dense contacts. Where bodies fit closely, as a nut on its bolt, thousands of samples count in a step
//! and few of them matter: for each part of the shell and each octant of the contact direction, the most urgent sample
//! is kept.

use super::lanes::{at_most, Walk, LANES};
use super::pass::Pass;
use super::scratch::{Hit, Left};
use super::step::{Sized, Toward};
use crate::contact::types::{Completeness, Step, FEATURE_OF_B};
use crate::contact::workspace::Workspace;
use crate::field::{wide, with_field, SignedDistance};
use crate::math::RigidF32;
use crate::pointshell::PointShell;

/// Number of parts into which the near samples of a shell are divided.
const PARTS: usize = 48;
/// Number of octants of directions, by the signs of the three coordinates of the gradient, in the local frame of the
/// field.
const WAYS: usize = 8;

impl Pass<'_> {
    /// Appends every sample that counts in a step to `workspace.hits`, in ascending order, and the samples of
    /// `preferred` up to `limit`.
    pub(in crate::contact) fn collect_counting(
        &self,
        limit: f32,
        step: &Step,
        preferred: &[u32],
        workspace: &mut Workspace,
    ) {
        let toward = Toward::new(step, self);
        let side = usize::from(self.shell_is_b);
        let mut least = None;
        if !workspace.dense[side] {
            self.collect_up_to_gap(limit, &toward, workspace);
            workspace.dense[side] = workspace.hits.len() > toward.few;
        }
        if workspace.dense[side] {
            workspace.hits.clear();
            least = with_field!(self.field, f => {
                collect_dense(f, self.shell, &self.to_field, limit, &toward, workspace)
            });
            if least.is_none() {
                workspace.dense[side] = false;
                self.collect_up_to_gap(limit, &toward, workspace);
            }
        }
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
                    workspace.hits.push(Hit { sample, phi, point });
                }
            }
        }
        if workspace.hits.len() > found {
            workspace.hits.sort_unstable_by_key(|hit| hit.sample);
            // Removes duplicate preferred features.
            workspace.hits.dedup_by_key(|hit| hit.sample);
        }
        if let Some(least) = least {
            workspace.report.add(&Left { completeness: Completeness::Urgent, least, ..Left::NOTHING });
        }
    }
}

/// The most urgent samples of a part.
struct Best {
    /// Smallest gap of each octant.
    gaps: [f32; WAYS],
    urgent: [Hit; WAYS],
    deepest: Hit,
}

const NOBODY: Hit = Hit { sample: u32::MAX, phi: f32::INFINITY, point: [0.0; 3] };

impl Best {
    const NONE: Self = Self { gaps: [f32::INFINITY; WAYS], urgent: [NOBODY; WAYS], deepest: NOBODY };

    #[inline(always)]
    fn add(&mut self, first: usize, mask: u32, sized: &Sized) {
        let mut mask = mask;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize % LANES;
            mask &= mask - 1;
            let sign = |k: usize| (sized.gradient[k][lane].to_bits() >> 31 << k) as usize;
            let way = (sign(0) | sign(1) | sign(2)) % WAYS;
            if sized.gap[lane] < self.gaps[way] {
                self.gaps[way] = sized.gap[lane];
                self.urgent[way] = sized.block.hit(first, lane);
            }
            if sized.block.value[lane] < self.deepest.phi {
                self.deepest = sized.block.hit(first, lane);
            }
        }
    }

    fn finish(self, hits: &mut Vec<Hit>) {
        let start = hits.len();
        for hit in self.urgent.into_iter().chain([self.deepest]) {
            if hit.sample != u32::MAX && hits[start..].iter().all(|h| h.sample != hit.sample) {
                hits.push(hit);
            }
        }
    }
}

wide! {
    /// Appends the most urgent of the samples that [`Pass::collect_up_to_gap`] finds to `workspace.hits`, if there are
    /// more of them than `toward.few`, and returns a lower bound of φ of the samples that were left out. Otherwise
    /// appends nothing and returns `None`.
    fn collect_dense<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        toward: &Toward,
        workspace: &mut Workspace,
    ) -> Option<f32> {
        if shell.len() <= toward.few {
            return None;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(|first, n| walk.counting(first, n, limit, toward), toward.few, levels, stats);
        let tree = &shell.tree;
        let nodes = levels[0].as_slice();
        let (start, mut near, mut least) = (hits.len(), 0, f32::INFINITY);
        for part in nodes.chunks(nodes.len().div_ceil(PARTS).max(1)) {
            let mut best = Best::NONE;
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
                    let sized = walk.urgency(first, n, toward);
                    let mask = at_most(&sized.block.value, limit, n) & at_most(&sized.gap, toward.max_gap, n);
                    near += mask.count_ones() as usize;
                    best.add(first, mask, &sized);
                }
            }
            least = least.min(best.deepest.phi);
            best.finish(hits);
        }
        if near <= toward.few {
            hits.truncate(start);
            return None;
        }
        // A sample that was left out is no deeper than the deepest of its part, or its gap, and so its φ, is above
        // the largest.
        Some(least.min(toward.max_gap))
    }
}
