//! Thinning of dense contacts. Where bodies fit closely, as a nut on its bolt, thousands of samples count in a step
//! and few of them matter: for each part of the shell and each octant of the contact direction, the most urgent sample
//! and the nearest are kept. The most urgent one may turn out to pass the other body by.
//!
//! Samples of a leaf are near each other, and where bodies fit closely the other surface runs along theirs. So one sample
//! stands for its leaf: with the slope of φ along its own surface it tells how far φ may fall in the leaf, and only the
//! leaves that promise most are tested sample by sample. A test of every sample costs six times as much on a nut, half of it
//! for directions where the gradient is weak, and finds contacts that are hardly deeper.

use super::cache::reach;
use super::lanes::{above, at_most, Walk, LANES};
use super::pass::Pass;
use super::scratch::{Hit, Left};
use super::step::{Counting, SampleGaps, StepMotion, Weak};
use crate::manifold::normal::{dot, STRONG_GRADIENT};
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
            // A sample may represent leaves of two parts.
            workspace.hits.dedup_by_key(|hit| hit.sample);
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
        let known = !workspace.was_dense[side];
        if known {
            self.collect_up_to_gap(limit, motion, workspace);
            // Dense ones are counted by the samples that represent leaves, of which each may be the only one that counts.
            let most = workspace.hits.len().saturating_mul(self.shell.tree.branching as usize);
            if most <= motion.dense_above {
                return None;
            }
        }
        let count = workspace.hits.len();
        let least = with_common_field!(self.field, f => {
            collect_dense(f, self.shell, &self.to_field, limit, motion, workspace)
        });
        workspace.was_dense[side] = least.is_some();
        if least.is_some() {
            workspace.hits.drain(..count);
        } else if !known {
            self.collect_up_to_gap(limit, motion, workspace);
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
    /// The leaves that promise the smallest gap, and the smallest φ, of each octant.
    promising: [[(f32, u32); OCTANTS]; 2],
}

const NO_HIT: Hit = Hit { sample: u32::MAX, phi: f32::INFINITY, point: [0.0; 3] };
const NO_LEAF: (f32, u32) = (f32::INFINITY, u32::MAX);

#[inline(always)]
fn octant(direction: [f32; 3]) -> usize {
    let sign = |k: usize| (direction[k].to_bits() >> 31 << k) as usize;
    (sign(0) | sign(1) | sign(2)) % OCTANTS
}

impl MostUrgent {
    const NONE: Self = Self {
        gaps: [f32::INFINITY; OCTANTS],
        urgent: [NO_HIT; OCTANTS],
        nearest: [NO_HIT; OCTANTS],
        promising: [[NO_LEAF; OCTANTS]; 2],
    };

    /// Returns whether the place of a sample on the surface may matter, taken to be in the octant of its gradient.
    #[inline(always)]
    fn may_take(&self, weak: &Weak) -> bool {
        let octant = octant(weak.g);
        weak.least < self.gaps[octant] || weak.phi < self.nearest[octant].phi
    }

    /// Adds the samples of the set bits.
    #[inline(always)]
    fn add(&mut self, sample: impl Fn(usize) -> u32, mask: u32, gaps: &SampleGaps) {
        let mut mask = mask;
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize % LANES;
            mask &= mask - 1;
            let octant = octant(gaps.gradient_at(lane));
            if gaps.gap[lane] < self.gaps[octant] {
                self.gaps[octant] = gaps.gap[lane];
                self.urgent[octant] = gaps.block.hit_of(sample(lane), lane);
            }
            if gaps.block.value[lane] < self.nearest[octant].phi {
                self.nearest[octant] = gaps.block.hit_of(sample(lane), lane);
            }
        }
    }

    /// Adds a leaf, whose representative has a gap and a φ, and in which both may fall by `fall`, metres.
    #[inline(always)]
    fn add_leaf(&mut self, leaf: u32, octant: usize, lengths: [f32; 2], fall: f32) {
        for (promising, length) in self.promising.iter_mut().zip(lengths) {
            if length - fall < promising[octant].0 {
                promising[octant] = (length - fall, leaf);
            }
        }
    }

    fn finish(&self, hits: &mut Vec<Hit>) {
        let start = hits.len();
        for hit in self.urgent.iter().chain(&self.nearest) {
            if hit.sample != u32::MAX && hits[start..].iter().all(|h| h.sample != hit.sample) {
                hits.push_guarded(*hit);
            }
        }
    }
}

impl SampleGaps {
    #[inline(always)]
    fn gradient_at(&self, lane: usize) -> [f32; 3] {
        self.gradient.map(|along| along[lane])
    }
}

/// A shell in motion in a field, for the most urgent of its samples.
struct Thinning<'a, F> {
    walk: Walk<'a, F>,
    limit: f32,
    motion: &'a StepMotion,
    lipschitz: f32,
    rounding: f32,
}

impl<F: SignedDistance> Thinning<'_, F> {
    /// Adds the representatives of `n` leaves from `first` on. Returns the number of samples that they stand for, and a lower
    /// bound of φ of these.
    #[inline(always)]
    fn add_leaves(&self, best: &mut MostUrgent, first: usize, n: usize) -> (usize, f32) {
        let Self { walk, limit, motion, .. } = self;
        let (shell, tree) = (walk.shell, &walk.shell.tree);
        let (mut own, mut normal, mut radius) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3], [0.0; LANES]);
        for i in 0..n {
            let sample = tree.representative[first + i] as usize;
            [own[0][i], own[1][i], own[2][i]] = shell.point(sample);
            [normal[0][i], normal[1][i], normal[2][i]] = shell.normal(sample);
            radius[i] = tree.radius[first + i];
        }
        let sample = |i: usize| tree.representative[first + i];
        let points = walk.place(own[0], own[1], own[2]);
        // Where the gradient is weak, the samples of the leaf tell more.
        let gaps = walk.gaps_of(points, |i| sample(i) as usize, n, *limit, motion, |_| false);
        let near = at_most(&gaps.block.value, *limit, n);
        let mask = near & at_most(&gaps.gap, motion.max_gap, n);
        let (mut squared, mut fall, mut lower) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let g = [gaps.gradient[0][i], gaps.gradient[1][i], gaps.gradient[2][i]];
            let along = dot(g, walk.to_field.r.map(|row| dot(row, [normal[0][i], normal[1][i], normal[2][i]])));
            squared[i] = dot(g, g);
            let across = squared[i] - along * along;
            fall[i] = (if across > 0.0 { across } else { 0.0 }).sqrt() * radius[i];
            lower[i] = gaps.block.value[i] - (self.lipschitz * (2.0 * radius[i]) + self.rounding);
        }
        let strong = mask & above(&squared, STRONG_GRADIENT * STRONG_GRADIENT, n);
        best.add(sample, strong, &gaps);
        // In any direction the gap is at most φ.
        let counting = strong | near & at_most(&gaps.block.value, motion.max_gap, n);
        let (mut standing, mut least) = (0, f32::INFINITY);
        for i in 0..n {
            standing += if counting >> i & 1 == 1 { tree.sample_count[first + i] as usize } else { 0 };
            least = if lower[i] < least { lower[i] } else { least };
            let lengths = [gaps.gap[i], gaps.block.value[i]];
            best.add_leaf((first + i) as u32, octant(gaps.gradient_at(i)), lengths, fall[i]);
        }
        (standing, least)
    }

    /// Adds the samples of the leaves that promise most. Returns their number.
    #[inline(always)]
    fn add_promising(&self, best: &mut MostUrgent) -> u64 {
        let Self { walk, limit, motion, .. } = self;
        let mut tests = 0;
        let promising: [(f32, u32); 2 * OCTANTS] = std::array::from_fn(|k| best.promising[k / OCTANTS][k % OCTANTS]);
        for (k, &(least, leaf)) in promising.iter().enumerate() {
            let known = if k < OCTANTS { best.gaps[k] } else { best.nearest[k - OCTANTS].phi };
            if least > known.min(*limit) || promising[..k].iter().any(|other| other.1 == leaf) {
                continue;
            }
            for (first, n) in walk.below(leaf) {
                tests += n as u64;
                let matters = |weak: Weak| best.may_take(&weak);
                let gaps = walk.gaps_of(walk.points(first), |i| first + i, n, *limit, motion, matters);
                let mask = at_most(&gaps.block.value, *limit, n) & at_most(&gaps.gap, motion.max_gap, n);
                best.add(|lane| (first + lane) as u32, mask, &gaps);
            }
        }
        tests
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
        let modulus = field.modulus(reach(shell, to_field));
        let lipschitz = modulus.map_or(f32::INFINITY, |modulus| modulus.lipschitz);
        let rounding = modulus.map_or(0.0, |modulus| modulus.rounding as f32) + 2.0 * walk.slack;
        let thinning = Thinning { walk, limit, motion, lipschitz, rounding };
        // The leaves of a node: itself, or its children.
        let leaves = |node: u32| match tree.child_count[node as usize] {
            0 => (node, node + 1),
            count => (tree.first_child[node as usize], tree.first_child[node as usize] + count),
        };
        let (start, mut near, mut least) = (hits.len(), 0, f32::INFINITY);
        for part in nodes.chunks(nodes.len().div_ceil(PARTS).max(1)) {
            let mut best = MostUrgent::NONE;
            let mut rest = part;
            while let Some((&node, mut after)) = rest.split_first() {
                let (from, mut to) = leaves(node);
                // Leaves of consecutive nodes are consecutive too: fewer blocks of one run are incomplete.
                while let Some((&next, others)) = after.split_first() {
                    let (first, end) = leaves(next);
                    if first != to {
                        break;
                    }
                    (to, after) = (end, others);
                }
                rest = after;
                for first in (from as usize..to as usize).step_by(LANES) {
                    let n = (to as usize - first).min(LANES);
                    stats.sample_tests += n as u64;
                    let (samples, lower) = thinning.add_leaves(&mut best, first, n);
                    near += samples;
                    least = least.min(lower);
                }
            }
            stats.sample_tests += thinning.add_promising(&mut best);
            best.finish(hits);
        }
        if near <= motion.dense_above {
            hits.truncate(start);
            return None;
        }
        // Beyond the largest gap, and so beyond that φ, nothing counts.
        Some(least.min(motion.max_gap))
    }
}
