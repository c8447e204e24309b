//! Samples that count in the simulation step of a query: the samples that would be near at the end of the step.
//!
//! The gap of a sample measures its urgency: the separation at the end of the step, if the bodies keep their motion, or lose
//! what a force adds because a third body withstands it, and the other surface is replaced by the contact plane at the
//! present position. A sample that slides along the other surface keeps its separation, at any speed.

use super::lanes::{at_most, transform_slack, Block, Lanes, Overlap, Walk, LANES};
use super::pass::Pass;
use super::scratch::Hit;
use crate::manifold::normal::{self, dot, length, STRONG_GRADIENT};
use crate::types::Step;
use crate::workspace::Workspace;
use voxshell_base::math::{RigidF32, Vec3};
use voxshell_base::wide;
use voxshell_field::{with_common_field, SignedDistance};
use voxshell_pointshell::PointShell;

/// Relative rounding error of a motion computed in `f32`: a few operations, each correct to one unit in the last
/// place.
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// A step in one pass: the motion of the shell's points in the local frame of the field, metres.
pub(super) struct StepMotion {
    shift: [f32; 3],
    turn: [f32; 3],
    /// Parts of the shift of the shell, and of the reversed shift of the field, that a third body may withstand.
    gained: [[f32; 3]; 2],
    /// Differences that they can make to the shift, the first is 0, and their number.
    withstood: [[f32; 3]; 4],
    withstood_count: usize,
    /// Length of `turn`, radians; and a bound on the rounding error of the motion of any point of the shell, metres.
    angle: f32,
    rounding: f32,
    pub max_gap: f32,
    /// Contacts above this number are thinned to the most urgent.
    pub dense_above: usize,
}

impl StepMotion {
    pub fn new(step: &Step, pass: &Pass) -> Self {
        let turn_back = pass.field_pose.rotation.inverse();
        let origin = (pass.field_pose * nalgebra::Point3::from(pass.field_origin)).coords;
        let side = if pass.shell_is_b { -1.0 } else { 1.0 };
        let local = |v: Vec3| <[f64; 3]>::from(turn_back * v * side).map(|x| x as f32);
        let shift = local(step.shift + step.turn.cross(&(origin - step.center)));
        let turn = local(step.turn);
        let gained = [local(step.gained[0]), local(-step.gained[1])];
        let (mut withstood, mut withstood_count) = ([[0.0; 3]; 4], 0);
        for shifted in step.shifts() {
            withstood[withstood_count] = local(shifted - step.shift);
            withstood_count += 1;
        }
        let sum = |v: [f32; 3]| v[0].abs() + v[1].abs() + v[2].abs();
        // The slack is this fraction of the largest distance of a point of the shell from the origin.
        let reach = transform_slack(pass.shell, &pass.to_field) / ROUNDING;
        Self {
            shift,
            turn,
            gained,
            withstood,
            withstood_count,
            angle: length(turn) * (1.0 + ROUNDING),
            rounding: ROUNDING * (sum(shift) + sum(gained[0]) + sum(gained[1]) + sum(turn) * reach),
            max_gap: step.max_gap as f32 + pass.error(),
            dense_above: if step.dense_above == 0 { usize::MAX } else { step.dense_above },
        }
    }

    #[inline(always)]
    fn at(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        let [a, b, c] = self.turn;
        [self.shift[0] + (b * z - c * y), self.shift[1] + (c * x - a * z), self.shift[2] + (a * y - b * x)]
    }

    /// Returns the largest of a length of the ways that a point may move.
    #[inline(always)]
    fn farthest(&self, moved: [f32; 3], length: impl Fn([f32; 3]) -> f32) -> f32 {
        let mut most = length(moved);
        for part in &self.withstood[1..self.withstood_count] {
            let other = length([moved[0] + part[0], moved[1] + part[1], moved[2] + part[2]]);
            most = if other > most { other } else { most };
        }
        most
    }

    /// Returns the least motion of a point along the outward direction `gradient`, of the length `slope`, metres; negative if it
    /// comes nearer.
    #[inline(always)]
    fn along(&self, gradient: [f32; 3], slope: f32, point: [f32; 3]) -> f32 {
        let [first, second] = self.gained.map(|gained| dot(gradient, gained));
        let away = (if first > 0.0 { first } else { 0.0 }) + (if second > 0.0 { second } else { 0.0 });
        (dot(gradient, self.at(point)) - away) / slope
    }
}

impl Pass<'_> {
    /// Appends every sample with φ up to `limit` that counts in a step to `workspace.hits`, in ascending order.
    pub(super) fn collect_up_to_gap(&self, limit: f32, motion: &StepMotion, workspace: &mut Workspace) {
        if motion.max_gap >= limit {
            // A gap is never above its separation, so every sample up to `limit` counts.
            return self.collect_all(limit, workspace);
        }
        // A pair that hardly moves has a traversal cache, and few samples are near.
        let is_cached = self.collect_cached(limit, false, workspace).is_some();
        with_common_field!(self.field, f => {
            if is_cached {
                keep(f, self.shell, &self.to_field, motion, &mut workspace.hits);
            } else {
                collect(f, self.shell, &self.to_field, limit, motion, workspace);
            }
        });
    }
}

/// Values, gaps and gradients of consecutive samples.
pub(super) struct SampleGaps {
    pub block: Block,
    pub gap: Lanes,
    pub gradient: [Lanes; 3],
}

/// A sample whose gradient `g` does not give the direction of the surface: φ, and a lower bound of its gap, metres.
pub(super) struct Weak {
    pub phi: f32,
    pub least: f32,
    pub g: [f32; 3],
}

/// Nodes that may contain a sample that counts: φ at most `limit`, and gap at most the largest.
pub(super) struct Counting<'a> {
    pub limit: f32,
    pub motion: &'a StepMotion,
}

impl<F: SignedDistance> Overlap<F> for Counting<'_> {
    /// No sample of a ball moves against the gradient by more than the motion of the centre plus the rotation of the ball.
    #[inline(always)]
    fn nodes(&self, walk: &Walk<F>, first: usize, n: usize) -> u32 {
        let &Self { limit, motion } = self;
        let (block, radius) = walk.placed_nodes(first, n);
        let near = at_most(&block.value, limit, n);
        if near == 0 {
            return 0;
        }
        let mut gap = [0.0; LANES];
        for i in 0..LANES {
            let moved = motion.at([block.x[i], block.y[i], block.z[i]]);
            let turned = motion.angle * (radius[i] + walk.slack);
            let farthest = motion.farthest(moved, |m| walk.field.farthest_against(m)) + turned;
            gap[i] = block.value[i] - (farthest.max(0.0) * (1.0 + ROUNDING) + motion.rounding);
        }
        near & at_most(&gap, motion.max_gap, n)
    }
}

impl<F: SignedDistance> Walk<'_, F> {
    #[inline(always)]
    pub(super) fn sample_gaps(&self, first: usize, n: usize, limit: f32, motion: &StepMotion) -> SampleGaps {
        self.gaps_of(self.points(first), |i| first + i, n, limit, motion, |_| true)
    }

    /// Returns values, gaps and gradients of the first `n` points of a block; `sample` returns the sample of each. Gaps and
    /// gradients of values above `limit` may be others, and those of a weak gradient that does not matter are those along it.
    #[inline(always)]
    pub(super) fn gaps_of(
        &self,
        mut block: Block,
        sample: impl Fn(usize) -> usize,
        n: usize,
        limit: f32,
        motion: &StepMotion,
        matters: impl Fn(Weak) -> bool,
    ) -> SampleGaps {
        let mut gradient;
        (block.value, gradient) = self.field.distance_gradient_lanes(&[block.x, block.y, block.z], n);
        let mut slope = [0.0; LANES];
        for i in 0..LANES {
            slope[i] = length([gradient[0][i], gradient[1][i], gradient[2][i]]);
        }
        // As in `place`: lanes where the gradient does not give the outward direction.
        let mut weak = at_most(&slope, STRONG_GRADIENT, n) & at_most(&block.value, limit, n);
        while weak != 0 {
            let i = weak.trailing_zeros() as usize;
            weak &= weak - 1;
            let point = [block.x[i], block.y[i], block.z[i]];
            let farthest = motion.farthest(motion.at(point), length) * (1.0 + ROUNDING) + motion.rounding;
            let g = [gradient[0][i], gradient[1][i], gradient[2][i]];
            let (phi, least) = (block.value[i], block.value[i] - farthest);
            // Does not count in any direction, or its direction need not be known.
            if least > motion.max_gap || (slope[i] > 0.0 && !matters(Weak { phi, least, g })) {
                continue;
            }
            let against = normal::reversed(self.shell.normal(sample(i)), self.to_field);
            let away = normal::away(self.field, point, phi, g, against);
            [gradient[0][i], gradient[1][i], gradient[2][i]] = away;
            slope[i] = length(away);
        }
        let mut gap = [0.0; LANES];
        for i in 0..LANES {
            let point = [block.x[i], block.y[i], block.z[i]];
            let along = motion.along([gradient[0][i], gradient[1][i], gradient[2][i]], slope[i], point);
            gap[i] = block.value[i] + if along < 0.0 { along } else { 0.0 };
        }
        SampleGaps { block, gap, gradient }
    }
}

wide! {
    /// Appends to `workspace.hits`, ascending, the samples with φ ≤ `limit` and gaps up to the largest.
    fn collect<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        motion: &StepMotion,
        workspace: &mut Workspace,
    ) -> () {
        if shell.tree.radius.is_empty() {
            return;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(Counting { limit, motion }, usize::MAX, levels, stats);
        for &leaf in levels[0].as_slice() {
            for (first, n) in walk.below(leaf) {
                stats.sample_tests += n as u64;
                let gaps = walk.sample_gaps(first, n, limit, motion);
                let mask = at_most(&gaps.block.value, limit, n) & at_most(&gaps.gap, motion.max_gap, n);
                gaps.block.push(first, mask, hits);
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
        motion: &StepMotion,
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
            let gaps = walk.gaps_of(block, |i| hits[start + i].sample as usize, n, f32::INFINITY, motion, |_| true);
            let mut mask = at_most(&gaps.gap, motion.max_gap, n);
            while mask != 0 {
                hits[kept] = hits[start + mask.trailing_zeros() as usize];
                kept += 1;
                mask &= mask - 1;
            }
        }
        hits.truncate(kept);
    }
}
