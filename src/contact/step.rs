//! Samples that count in the simulation step of a query: the samples that would be near at the end of the step. Where
//! bodies fit closely, as a nut on its bolt, thousands of samples are near and few of them matter. There the contacts
//! are thinned: for each part of the shell and each octant of the contact direction, the most urgent sample is kept.
//!
//! The gap of a sample measures its urgency: the separation at the end of the step, if the bodies keep their motion
//! and the other surface is replaced by the contact plane at the present position. A sample that slides along the
//! other surface keeps its separation, at any speed.

use super::lanes::{at_most, transform_slack, Block, Lanes, Walk, LANES};
use super::normal::{self, dot, length, STRONG_GRADIENT};
use super::pass::Pass;
use super::scratch::{Hit, Left};
use super::types::{Completeness, Step, FEATURE_OF_B};
use super::workspace::Workspace;
use crate::field::{wide, with_field, SignedDistance};
use crate::math::{RigidF32, Vec3};
use crate::pointshell::PointShell;

/// Number of parts into which the near samples of a shell are divided.
const PARTS: usize = 48;
/// Number of octants of directions, by the signs of the three coordinates of the gradient, in the local frame of the
/// field.
const WAYS: usize = 8;
/// Relative rounding error of a motion computed in `f32`: a few operations, each correct to one unit in the last
/// place.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// A step in one pass: the motion of the shell's points in the local frame of the field, metres.
pub(super) struct Toward {
    shift: [f32; 3],
    turn: [f32; 3],
    /// Length of `turn`, radians; and a bound on the rounding error of the motion of any point of the shell, metres.
    angle: f32,
    rounding: f32,
    pub max_gap: f32,
    /// Contacts above this number are thinned to the most urgent.
    pub few: usize,
}

impl Toward {
    pub fn new(step: &Step, pass: &Pass) -> Self {
        let turn_back = pass.field_pose.rotation.inverse();
        let origin = (pass.field_pose * nalgebra::Point3::from(pass.field_origin)).coords;
        let side = if pass.shell_is_b { -1.0 } else { 1.0 };
        let local = |v: Vec3| <[f64; 3]>::from(turn_back * v * side).map(|x| x as f32);
        let shift = local(step.shift + step.turn.cross(&(origin - step.center)));
        let turn = local(step.turn);
        let sum = |v: [f32; 3]| v[0].abs() + v[1].abs() + v[2].abs();
        // The slack is this fraction of the largest distance of a point of the shell from the origin.
        let reach = transform_slack(pass.shell, &pass.to_field) / ROUNDING;
        Self {
            shift,
            turn,
            angle: length(turn) * (1.0 + ROUNDING),
            rounding: ROUNDING * (sum(shift) + sum(turn) * reach),
            max_gap: step.max_gap as f32,
            few: if step.crowd == 0 { usize::MAX } else { step.crowd },
        }
    }

    #[inline(always)]
    fn at(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        let [a, b, c] = self.turn;
        [self.shift[0] + (b * z - c * y), self.shift[1] + (c * x - a * z), self.shift[2] + (a * y - b * x)]
    }
}

impl Pass<'_> {
    /// Appends every sample that counts in a step to `workspace.hits`, in ascending order, and the samples of
    /// `preferred` up to `limit`.
    pub(super) fn collect_counting(&self, limit: f32, step: &Step, preferred: &[u32], workspace: &mut Workspace) {
        let toward = Toward::new(step, self);
        let side = usize::from(self.shell_is_b);
        let mut least = None;
        if !workspace.crowded[side] {
            self.collect_up_to_gap(limit, &toward, workspace);
            workspace.crowded[side] = workspace.hits.len() > toward.few;
        }
        if workspace.crowded[side] {
            workspace.hits.clear();
            least = with_field!(self.field, f => {
                collect_crowd(f, self.shell, &self.to_field, limit, &toward, workspace)
            });
            if least.is_none() {
                workspace.crowded[side] = false;
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

    fn collect_up_to_gap(&self, limit: f32, toward: &Toward, workspace: &mut Workspace) {
        if toward.max_gap >= limit {
            // A gap is never above its separation, so every sample up to `limit` counts.
            return self.collect_all(limit, workspace);
        }
        // A pair that hardly moves has a traversal cache, and few samples are near.
        let by_front = self.collect_by_front(limit, false, workspace).is_some();
        with_field!(self.field, f => {
            if by_front {
                keep(f, self.shell, &self.to_field, toward, &mut workspace.hits);
            } else {
                collect(f, self.shell, &self.to_field, limit, toward, workspace);
            }
        });
    }
}

/// Values, gaps and gradients of consecutive samples.
struct Sized {
    block: Block,
    gap: Lanes,
    gradient: [Lanes; 3],
}

impl<F: SignedDistance> Walk<'_, F> {
    /// Returns a bit for each of `n` nodes that may contain a sample that counts: φ at most `limit`, and gap at most
    /// the largest. No sample of a ball moves against the gradient by more than the motion of the centre plus the
    /// rotation of the ball.
    #[inline(always)]
    fn counting(&self, first: usize, n: usize, limit: f32, toward: &Toward) -> u32 {
        let (block, radius) = self.placed_nodes(first, n);
        let near = at_most(&block.value, limit, n);
        if near == 0 {
            return 0;
        }
        let mut gap = [0.0; LANES];
        for i in 0..LANES {
            let moved = toward.at([block.x[i], block.y[i], block.z[i]]);
            let farthest = self.field.farthest_against(moved) + toward.angle * (radius[i] + self.slack);
            gap[i] = block.value[i] - (farthest.max(0.0) * (1.0 + ROUNDING) + toward.rounding);
        }
        near & at_most(&gap, toward.max_gap, n)
    }

    #[inline(always)]
    fn urgency(&self, first: usize, n: usize, toward: &Toward) -> Sized {
        self.sized(self.points(first), |i| first + i, n, toward)
    }

    /// Returns values, gaps and gradients of the first `n` points of a block; `sample` returns the sample of each.
    #[inline(always)]
    fn sized(&self, mut block: Block, sample: impl Fn(usize) -> usize, n: usize, toward: &Toward) -> Sized {
        let mut gradient;
        (block.value, gradient) = self.field.distance_gradient_lanes(&[block.x, block.y, block.z], n);
        let mut steep = [0.0; LANES];
        for i in 0..LANES {
            steep[i] = length([gradient[0][i], gradient[1][i], gradient[2][i]]);
        }
        // As in `place`: lanes where the gradient does not give the outward direction.
        let mut weak = at_most(&steep, STRONG_GRADIENT, n);
        while weak != 0 {
            let i = weak.trailing_zeros() as usize;
            weak &= weak - 1;
            let point = [block.x[i], block.y[i], block.z[i]];
            let farthest = length(toward.at(point)) * (1.0 + ROUNDING) + toward.rounding;
            if block.value[i] - farthest > toward.max_gap {
                // Does not count, in any direction.
                continue;
            }
            let g = [gradient[0][i], gradient[1][i], gradient[2][i]];
            let against = normal::reversed(self.shell.normal(sample(i)), self.to_field);
            let away = normal::away(self.field, point, block.value[i], g, against);
            [gradient[0][i], gradient[1][i], gradient[2][i]] = away;
            steep[i] = length(away);
        }
        let mut gap = [0.0; LANES];
        for i in 0..LANES {
            let moved = toward.at([block.x[i], block.y[i], block.z[i]]);
            let along = dot([gradient[0][i], gradient[1][i], gradient[2][i]], moved) / steep[i];
            gap[i] = block.value[i] + if along < 0.0 { along } else { 0.0 };
        }
        Sized { block, gap, gradient }
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
    /// Appends to `workspace.hits`, ascending, the samples with φ ≤ `limit` and gaps up to the largest.
    pub(super) fn collect<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        toward: &Toward,
        workspace: &mut Workspace,
    ) -> () {
        if shell.tree.radius.is_empty() {
            return;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(|first, n| walk.counting(first, n, limit, toward), usize::MAX, levels, stats);
        for &leaf in levels[0].as_slice() {
            for (first, n) in walk.below(leaf) {
                stats.sample_tests += n as u64;
                let sized = walk.urgency(first, n, toward);
                let mask = at_most(&sized.block.value, limit, n) & at_most(&sized.gap, toward.max_gap, n);
                sized.block.push(first, mask, hits);
            }
        }
    }
}

wide! {
    /// Keeps the entries of `hits` with gaps up to the largest, in their order.
    fn keep<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        toward: &Toward,
        hits: &mut Vec<Hit>,
    ) -> () {
        let walk = Walk::new(field, shell, to_field);
        let mut kept = 0;
        for start in (0..hits.len()).step_by(LANES) {
            let n = (hits.len() - start).min(LANES);
            let mut block = Block { x: [0.0; LANES], y: [0.0; LANES], z: [0.0; LANES], value: [0.0; LANES] };
            for (i, hit) in hits[start..start + n].iter().enumerate() {
                [block.x[i], block.y[i], block.z[i]] = hit.point;
            }
            let sized = walk.sized(block, |i| hits[start + i].sample as usize, n, toward);
            let mut mask = at_most(&sized.gap, toward.max_gap, n);
            while mask != 0 {
                hits[kept] = hits[start + mask.trailing_zeros() as usize];
                kept += 1;
                mask &= mask - 1;
            }
        }
        hits.truncate(kept);
    }
}

wide! {
    /// Appends the most urgent of the samples that [`collect`] finds to `workspace.hits`, if [`collect`] finds more
    /// than `toward.few`, and returns a lower bound of φ of the samples that were left out. Otherwise appends nothing
    /// and returns `None`.
    pub(super) fn collect_crowd<F: SignedDistance>(
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
