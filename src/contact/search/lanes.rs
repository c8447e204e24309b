//! The sphere tree of a pointshell through a field: Algorithm 1 of Sagardia et al. 2014 with certified pruning.
//!
//! The code transforms and tests a lane block at a time: children of a node, or samples of a leaf. All leaves are on
//! the last level of the tree, so the tree is walked level by level: the nodes that pass on one level form the list
//! for the next, and the only branch that depends on data is the end of a loop. The whole walk is compiled for each
//! kind of field and, on x86-64, once more for AVX2. The operations on a sample and their order are those of the
//! brute-force oracle of the tests, so all versions give the same bytes.

use super::scratch::Hit;
use crate::types::Stats;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::GrowGuarded;
use voxshell_field::SignedDistance;
use voxshell_pointshell::PointShell;

/// Children or samples transformed and tested together.
pub use voxshell_field::LANES;
pub(super) type Lanes = [f32; LANES];

/// Above this fraction of overlapping parent nodes, testing every sample is faster than descending to the leaves.
const MOST: (u64, u64) = (2, 3);

/// A shell in motion or at rest in a field, for a traversal.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a, F> {
    pub field: &'a F,
    pub shell: &'a PointShell,
    pub to_field: &'a RigidF32,
    /// Bound on the rounding error of the transform: displacement of a sample relative to the centre of its ball,
    /// metres.
    pub slack: f32,
}

/// Points in the field's frame and the field values there.
pub(super) struct Block {
    pub x: Lanes,
    pub y: Lanes,
    pub z: Lanes,
    pub value: Lanes,
}

/// Returns the lane block that begins at `start`; lanes beyond the end of the array are 0.
#[inline(always)]
fn lanes(values: &[f32], start: usize) -> Lanes {
    let rest = &values[start..];
    match rest.first_chunk() {
        Some(block) => *block,
        None => {
            let mut block = [0.0; LANES];
            block[..rest.len()].copy_from_slice(rest);
            block
        }
    }
}

/// Returns a bit for each of the first `n` lanes whose value satisfies `$compare` with the limit. SSE is used on
/// x86-64.
macro_rules! mask {
    ($value:expr, $limit:expr, $n:expr, $sse:ident, $compare:tt) => {{
        #[cfg(target_arch = "x86_64")]
        let mask = {
            use std::arch::x86_64::{$sse, _mm_loadu_ps, _mm_movemask_ps, _mm_set1_ps};
            // SAFETY: four values from `half` on are in the array.
            let of = |half: usize| unsafe {
                _mm_movemask_ps($sse(_mm_loadu_ps($value[half..half + 4].as_ptr()), _mm_set1_ps($limit))) as u32
            };
            of(0) | of(4) << 4
        };
        #[cfg(not(target_arch = "x86_64"))]
        let mask = (0..LANES).fold(0, |mask, i| mask | u32::from($value[i] $compare $limit) << i);
        mask & ((1 << $n) - 1)
    }};
}

/// Returns a bit for each of the first `n` lanes whose value is at most `limit`.
#[inline(always)]
pub(super) fn at_most(value: &Lanes, limit: f32, n: usize) -> u32 {
    mask!(value, limit, n, _mm_cmple_ps, <=)
}

/// Returns a bit for each of the first `n` lanes whose value is above `limit`.
#[inline(always)]
pub(super) fn above(value: &Lanes, limit: f32, n: usize) -> u32 {
    mask!(value, limit, n, _mm_cmpgt_ps, >)
}

/// Positions of the set bits of each mask, ascending.
pub(super) const SET: [[u8; LANES]; 1 << LANES] = {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut bit, mut n) = (0, 0);
        while bit < LANES {
            if mask >> bit & 1 == 1 {
                table[mask][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
};

/// Selected indices, ascending. Capacity for a whole block is reserved beforehand, so that adding one takes no
/// branch.
#[derive(Default)]
pub(crate) struct Chosen {
    indices: Vec<u32>,
    len: usize,
}

impl Chosen {
    pub fn as_slice(&self) -> &[u32] {
        &self.indices[..self.len]
    }

    /// Empties the list and reserves capacity for `n` and one block.
    pub fn clear(&mut self, n: usize) {
        self.len = 0;
        self.reserve(n);
    }

    pub fn reserve(&mut self, n: usize) {
        let room = self.len + n + LANES;
        if self.indices.len() < room {
            self.indices.resize_guarded(room.next_power_of_two(), 0);
        }
    }

    /// Adds `index` of each set bit of `mask`.
    #[inline(always)]
    pub fn push(&mut self, index: impl Fn(usize) -> u32, mask: u32) {
        let room = &mut self.indices[self.len..self.len + LANES];
        let set = &SET[mask as usize % SET.len()];
        for i in 0..LANES {
            room[i] = index(set[i] as usize % LANES);
        }
        self.len += mask.count_ones() as usize;
    }
}

/// Which nodes of a tree may contain what is searched. No closure: one that is called twice is compiled as a function of its own,
/// without the instructions of its caller.
pub(super) trait Overlap<F: SignedDistance> {
    /// Returns a bit for each of `n` nodes from `first` on that overlaps.
    fn nodes(&self, walk: &Walk<F>, first: usize, n: usize) -> u32;
}

/// Nodes with a lower bound of φ up to a limit, metres.
pub(super) struct UpTo(pub f32);

impl<F: SignedDistance> Overlap<F> for UpTo {
    #[inline(always)]
    fn nodes(&self, walk: &Walk<F>, first: usize, n: usize) -> u32 {
        at_most(&walk.nodes(first, n), self.0, n)
    }
}

impl<'a, F: SignedDistance> Walk<'a, F> {
    #[inline(always)]
    pub fn new(field: &'a F, shell: &'a PointShell, to_field: &'a RigidF32) -> Self {
        Self { field, shell, to_field, slack: transform_slack(shell, to_field) }
    }

    #[inline(always)]
    pub fn place(&self, x: Lanes, y: Lanes, z: Lanes) -> Block {
        let mut block = Block { x: [0.0; LANES], y: [0.0; LANES], z: [0.0; LANES], value: [0.0; LANES] };
        for i in 0..LANES {
            [block.x[i], block.y[i], block.z[i]] = self.to_field.point([x[i], y[i], z[i]]);
        }
        block
    }

    /// Returns the centres of `n` balls, and the lower bound of φ in each.
    #[inline(always)]
    pub fn balls(&self, x: Lanes, y: Lanes, z: Lanes, radius: Lanes, n: usize) -> Block {
        let mut block = self.place(x, y, z);
        block.value = self.field.lower_bound_lanes(&[block.x, block.y, block.z], &radius.map(|r| r + self.slack), n);
        block
    }

    /// Returns the lower bound of φ in each of `n` balls.
    #[inline(always)]
    pub fn bounds(&self, x: Lanes, y: Lanes, z: Lanes, radius: Lanes, n: usize) -> Lanes {
        self.balls(x, y, z, radius, n).value
    }

    /// Returns the lower bound of φ in each of `n` consecutive nodes.
    #[inline(always)]
    pub fn nodes(&self, first: usize, n: usize) -> Lanes {
        let tree = &self.shell.tree;
        let of = |values: &[f32]| lanes(values, first);
        self.bounds(of(&tree.cx), of(&tree.cy), of(&tree.cz), of(&tree.radius), n)
    }

    /// Returns [`Walk::nodes`] with the centres, and the radii.
    #[inline(always)]
    pub fn placed_nodes(&self, first: usize, n: usize) -> (Block, Lanes) {
        let tree = &self.shell.tree;
        let of = |values: &[f32]| lanes(values, first);
        let radius = of(&tree.radius);
        (self.balls(of(&tree.cx), of(&tree.cy), of(&tree.cz), radius, n), radius)
    }

    /// Returns the block of samples that begins with `first`, without φ.
    #[inline(always)]
    pub fn points(&self, first: usize) -> Block {
        let of = |values: &[f32]| lanes(values, first);
        self.place(of(&self.shell.x), of(&self.shell.y), of(&self.shell.z))
    }

    /// Returns `n` consecutive samples, with φ.
    #[inline(always)]
    pub fn samples(&self, first: usize, n: usize) -> Block {
        self.valued(self.points(first), n)
    }

    /// Returns the first `n` of some points of the shell, with φ.
    #[inline(always)]
    pub fn placed(&self, [x, y, z]: [Lanes; 3], n: usize) -> Block {
        self.valued(self.place(x, y, z), n)
    }

    #[inline(always)]
    fn valued(&self, mut block: Block, n: usize) -> Block {
        block.value = self.field.distance_lanes(&[block.x, block.y, block.z], n);
        block
    }

    /// Returns the children of an inner node as blocks: the first child of each and the number.
    #[inline(always)]
    pub fn children(&self, node: u32) -> impl Iterator<Item = (usize, usize)> {
        let tree = &self.shell.tree;
        blocks(tree.first_child[node as usize], tree.child_count[node as usize])
    }

    /// Returns the samples of a node as blocks.
    #[inline(always)]
    pub fn below(&self, node: u32) -> impl Iterator<Item = (usize, usize)> {
        let tree = &self.shell.tree;
        blocks(tree.first_sample[node as usize], tree.sample_count[node as usize])
    }

    /// Leaves the overlapping nodes of one level in `levels[0]`, ascending. The level is the last one, or the one
    /// above it where at least `MOST` of the tested nodes overlap and at least `many` samples are below them.
    #[inline(always)]
    pub fn descend(&self, overlap: impl Overlap<F>, many: usize, levels: &mut [Chosen; 2], stats: &mut Stats) {
        let tree = &self.shell.tree;
        let [open, next] = levels;
        stats.node_tests += 1;
        open.clear(1);
        open.push(|_| 0, overlap.nodes(self, 0, 1));
        for level in 1..tree.depth() {
            let before = stats.node_tests;
            next.clear(0);
            for &node in open.as_slice() {
                next.reserve(tree.child_count[node as usize] as usize);
                for (first, n) in self.children(node) {
                    stats.node_tests += n as u64;
                    next.push(|lane| (first + lane) as u32, overlap.nodes(self, first, n));
                }
            }
            std::mem::swap(open, next);
            let (tested, left) = (stats.node_tests - before, open.as_slice().len() as u64);
            if many < usize::MAX && level + 2 == tree.depth() && left * MOST.1 >= tested * MOST.0 {
                let below: usize = open.as_slice().iter().map(|&node| tree.sample_count[node as usize] as usize).sum();
                if below >= many {
                    break;
                }
            }
        }
    }

    #[inline(always)]
    pub fn is_leaf(&self, node: u32) -> bool {
        self.shell.tree.child_count[node as usize] == 0
    }
}

#[inline(always)]
fn blocks(first: u32, count: u32) -> impl Iterator<Item = (usize, usize)> {
    let (first, last) = (first as usize, first as usize + count as usize);
    (first..last).step_by(LANES).map(move |start| (start, (last - start).min(LANES)))
}

impl Block {
    #[inline(always)]
    pub fn hit(&self, first: usize, lane: usize) -> Hit {
        self.hit_of((first + lane) as u32, lane)
    }

    #[inline(always)]
    pub fn hit_of(&self, sample: u32, lane: usize) -> Hit {
        Hit { sample, phi: self.value[lane], point: [self.x[lane], self.y[lane], self.z[lane]] }
    }

    /// Appends the samples with values up to `limit` among the first `n`, ascending.
    #[inline(always)]
    pub fn hits(&self, first: usize, n: usize, limit: f32, hits: &mut Vec<Hit>) {
        self.push(first, at_most(&self.value, limit, n), hits);
    }

    /// Appends the samples of the set bits, ascending.
    #[inline(always)]
    pub fn push(&self, first: usize, mask: u32, hits: &mut Vec<Hit>) {
        let mut mask = mask;
        while mask != 0 {
            hits.push_guarded(self.hit(first, mask.trailing_zeros() as usize));
            mask &= mask - 1;
        }
    }
}

/// Returns a bound on the rounding of a transform, metres. The images of a sample and of a ball centre are each off
/// by at most a few ulps of the largest intermediate value, |t| + |p|, and the rounded rotation is orthogonal to a
/// few ulps; 16 ulps cover the sum.
pub(super) fn transform_slack(shell: &PointShell, to_field: &RigidF32) -> f32 {
    let tree = &shell.tree;
    let reach = tree.cx[0].abs() + tree.cy[0].abs() + tree.cz[0].abs() + tree.radius[0];
    let offset = to_field.t[0].abs() + to_field.t[1].abs() + to_field.t[2].abs();
    16.0 * f32::EPSILON * (reach + offset)
}
