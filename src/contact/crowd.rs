//! Where bodies fit closely, as a nut on its bolt, thousands of samples are near and few of them matter: those that would be
//! deepest at the end of the step. All near samples are tested, and of each part of the shell and each way its surface faces the
//! most urgent is kept.
//!
//! How urgent a sample is, its gap says: its separation at the end of the step, if the bodies moved on as they do and nothing
//! but the plane of contact there mattered. What slides along the other surface keeps its separation, however fast it is.

use super::traverse::{at_most, Block, Lanes, Walk, LANES};
use super::workspace::{Hit, Workspace};
use super::{Pass, WEAK_GRADIENT};
use crate::field::{wide, SignedDistance};
use crate::math::{RigidF32, Vec3};
use crate::pointshell::PointShell;

/// When there are more contacts than a solver could look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// Up to so many samples of a shell within [`Query::max_separation`](super::Query::max_separation) are contacts all of them.
    pub above: usize,
    /// Of more, those whose gap is above this are none, metres.
    pub max_gap: f64,
    /// How A moves against B in the step, world frame: its point at `center` by `shift`, metres, and all of it around that point
    /// by the vector `turn`, radians. The gap of a contact is separation − max(0, normal · (shift + turn × (point − center))).
    pub center: Vec3,
    pub shift: Vec3,
    pub turn: Vec3,
}

/// Into so many parts what is near of a shell is divided.
const PARTS: usize = 48;
/// Ways a surface can face: by the signs of the three coordinates of its normal, in the body frame of the field.
const WAYS: usize = 8;

/// A crowd as one pass sees it: the motion of the shell's points in the local frame of the field, metres.
pub(super) struct Toward {
    shift: [f32; 3],
    turn: [f32; 3],
    max_gap: f32,
    above: usize,
}

impl Toward {
    pub fn new(crowd: &Crowd, pass: &Pass) -> Self {
        let turn_back = pass.field_pose.rotation.inverse();
        let origin = (pass.field_pose * nalgebra::Point3::from(pass.field_origin)).coords;
        let side = if pass.shell_is_b { -1.0 } else { 1.0 };
        let local = |v: Vec3| <[f64; 3]>::from(turn_back * v * side).map(|x| x as f32);
        Self {
            shift: local(crowd.shift + crowd.turn.cross(&(origin - crowd.center))),
            turn: local(crowd.turn),
            max_gap: crowd.max_gap as f32,
            above: crowd.above,
        }
    }

    #[inline(always)]
    fn at(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        let [a, b, c] = self.turn;
        [self.shift[0] + (b * z - c * y), self.shift[1] + (c * x - a * z), self.shift[2] + (a * y - b * x)]
    }
}

/// What is known of samples that follow each other.
struct Sized {
    block: Block,
    gap: Lanes,
    gradient: [Lanes; 3],
}

impl<F: SignedDistance> Walk<'_, F> {
    #[inline(always)]
    fn urgency(&self, first: usize, n: usize, toward: &Toward) -> Sized {
        let mut block = self.points(first);
        let mut gradient;
        (block.value, gradient) = self.field.distance_gradient_lanes(&[block.x, block.y, block.z], n);
        let mut steep = [0.0; LANES];
        for i in 0..LANES {
            steep[i] = length([gradient[0][i], gradient[1][i], gradient[2][i]]);
        }
        // As in `Pass::way_out`: where the field does not say which way is out, the sample's own normal does.
        let mut weak = at_most(&steep, WEAK_GRADIENT as f32, n);
        while weak != 0 {
            let i = weak.trailing_zeros() as usize;
            weak &= weak - 1;
            let normal = self.shell.normal(first + i);
            for (k, row) in self.to_field.r.iter().enumerate() {
                gradient[k][i] = -dot(*row, normal);
            }
            steep[i] = length([gradient[0][i], gradient[1][i], gradient[2][i]]);
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

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

#[inline(always)]
fn length(v: [f32; 3]) -> f32 {
    dot(v, v).sqrt()
}

/// The most urgent samples of a part.
struct Best {
    /// For each way, its least gap.
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
    /// Appends to `workspace.hits` the urgent samples with φ ≤ `limit`, if there are more than `toward.above` of these, and gives
    /// the least φ of what was left out, or a bound on it; else appends nothing and gives `None`.
    pub(super) fn collect<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        toward: &Toward,
        workspace: &mut Workspace,
    ) -> Option<f32> {
        if shell.len() <= toward.above {
            return None;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(limit, toward.above, levels, stats);
        let tree = &shell.tree;
        let nodes = levels[0].as_slice();
        let (start, mut near, mut least) = (hits.len(), 0, f32::INFINITY);
        for part in nodes.chunks(nodes.len().div_ceil(PARTS).max(1)) {
            let mut best = Best::NONE;
            let mut rest = part;
            while let Some((&node, mut after)) = rest.split_first() {
                let from = tree.first_sample[node as usize];
                let mut to = from + tree.sample_count[node as usize];
                // Samples of nodes that follow each other do so too: in one run there are fewer blocks that are not full.
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
                    let mask = at_most(&sized.block.value, limit, n);
                    near += mask.count_ones() as usize;
                    best.add(first, mask & at_most(&sized.gap, toward.max_gap, n), &sized);
                }
            }
            least = least.min(best.deepest.phi);
            best.finish(hits);
        }
        if near <= toward.above {
            hits.truncate(start);
            return None;
        }
        // A sample that was left out is no deeper than the deepest of its part; or its gap, and so its φ, is above the largest.
        Some(least.min(toward.max_gap))
    }
}
