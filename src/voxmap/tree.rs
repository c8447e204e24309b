//! The generalised octree: blocks of equal voxels are stored once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{VoxelGrid, VoxelType};
use voxshell_base::memory::{
    self, deserialize_vec, filled, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded, SliceGuarded,
};
use voxshell_base::{Error, Result};

/// Number of children along each edge of a node: 2ᴺ, so that it has 2³ᴺ children.
///
/// McNeely et al. 1999, section 4.3; Ruffaldi et al. 2008, section 3.1: N is 1 for the octree, 2 for the 64-tree, 3 for
/// the 512-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Branching {
    /// 8 children.
    Octree = 1,
    /// 64 children.
    Tree64 = 2,
    /// 512 children.
    Tree512 = 3,
}

/// Small numbers (codes) over a grid in a tree of fixed depth. Immutable; shared by any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelTree {
    grid: VoxelGrid,
    /// N.
    branching: u32,
    /// Bits of a code: 1, 2, 4 or 8.
    bits: u32,
    /// Levels of inner nodes above the leaves.
    levels: u32,
    root: u32,
    /// References to children, 2³ᴺ for each inner node: `UNIFORM` with the code of all voxels below, or the number of
    /// an inner node or, on the lowest level, of a leaf. Child (x, y, z) is at (z·2ᴺ + y)·2ᴺ + x.
    nodes: Vec<u32>,
    /// Codes of leaves: 2³ᴺ voxels each, lowest bits first, without gaps.
    leaves: Vec<u64>,
}

/// A tree's parts as a file holds them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredTree {
    pub branching: u32,
    pub bits: u32,
    pub levels: u32,
    pub root: u32,
    #[serde(deserialize_with = "deserialize_vec")]
    pub nodes: Vec<u32>,
    #[serde(deserialize_with = "deserialize_vec")]
    pub leaves: Vec<u64>,
}

/// Marks a reference to voxels of one code, which is in the low bits.
const UNIFORM: u32 = 1 << 31;

impl VoxelTree {
    /// Makes a tree of `code(voxel)`, each less than 2 to the power of `bits`.
    pub(super) fn build(
        grid: &VoxelGrid,
        branching: Branching,
        bits: u32,
        limit: u64,
        code: impl Fn([u32; 3]) -> u8 + Sync,
    ) -> Result<Self> {
        memory::guard("making a tree of voxels", || Self::of_codes(grid, branching, bits, limit, &code))
    }

    fn of_codes(
        grid: &VoxelGrid,
        branching: Branching,
        bits: u32,
        limit: u64,
        code: impl Fn([u32; 3]) -> u8 + Sync,
    ) -> Result<Self> {
        let n = branching as u32;
        let dims = grid.dims();
        let edge = 1u32 << n;
        let per_leaf = 1usize << (3 * n);
        let blocks = dims.map(|d| d.div_ceil(edge));
        let total = blocks.iter().map(|&b| b as usize).product::<usize>();
        let leaf_bytes = (per_leaf * bits as usize / 8) as u64;
        grid.afford("references of a tree", total as u64 * 4, limit)?;
        // The reference of each block, and the codes of mixed blocks, slice by slice of blocks.
        type Slice = (Vec<u32>, Vec<u8>);
        let slices: Vec<Slice> = (0..blocks[2])
            .into_par_iter()
            .map(|bz| {
                let (mut refs, mut codes) = (Vec::new(), Vec::new());
                let mut block = filled(0u8, per_leaf);
                for by in 0..blocks[1] {
                    for bx in 0..blocks[0] {
                        let at = [bx, by, bz].map(|b| b * edge);
                        for (o, c) in (0u32..).zip(block.iter_mut()) {
                            let within = [o & (edge - 1), o >> n & (edge - 1), o >> (2 * n)];
                            // Beyond the grid the last voxel is repeated, so that it does not break a uniform block.
                            *c = code([0, 1, 2].map(|k| (at[k] + within[k]).min(dims[k] - 1)));
                        }
                        if block.iter().all(|&c| c == block[0]) {
                            refs.push_guarded(UNIFORM | u32::from(block[0]));
                        } else {
                            refs.push_guarded((codes.len() as u64 / leaf_bytes) as u32);
                            let each = 8 / bits as usize;
                            codes.extend_guarded(block.chunks_exact(each.min(per_leaf)).map(|chunk| {
                                chunk.iter().enumerate().fold(0, |byte, (i, &c)| byte | c << (i as u32 * bits))
                            }));
                        }
                    }
                }
                (refs, codes)
            })
            .collect_guarded();
        let mixed: u64 = slices.iter().map(|s| s.1.len() as u64).sum();
        grid.afford("a tree", total as u64 * 4 + 2 * mixed, limit)?;
        if mixed / leaf_bytes >= u64::from(UNIFORM) {
            let expected = "a grid of fewer than 2147483648 mixed blocks";
            return Err(Error::argument("branching", format!("{branching:?} for {dims:?} voxels"), expected));
        }
        let mut bytes: Vec<u8> = with_capacity((mixed as usize).next_multiple_of(8));
        let mut refs: Vec<u32> = with_capacity(total);
        for (local, codes) in slices {
            let before = (bytes.len() as u64 / leaf_bytes) as u32;
            refs.extend_guarded(local.into_iter().map(|r| if r & UNIFORM == 0 { r + before } else { r }));
            bytes.extend_guarded(codes);
        }
        bytes.resize_guarded(bytes.len().next_multiple_of(8), 0);
        let leaves = bytes.chunks_exact(8).map(|b| b.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)));
        let mut tree = Self {
            grid: *grid,
            branching: n,
            bits,
            levels: 0,
            root: 0,
            nodes: Vec::new(),
            leaves: leaves.collect_guarded(),
        };
        drop(bytes);
        tree.join(refs, blocks);
        Ok(tree)
    }

    /// Builds the inner nodes over `blocks` leaf references.
    fn join(&mut self, mut refs: Vec<u32>, mut blocks: [u32; 3]) {
        let n = self.branching;
        let edge = 1u32 << n;
        let mut children = filled(0u32, 1 << (3 * n));
        while blocks != [1; 3] {
            let above = blocks.map(|b| b.div_ceil(edge));
            let mut joined = with_capacity(above.iter().map(|&b| b as usize).product());
            for bz in 0..above[2] {
                for by in 0..above[1] {
                    for bx in 0..above[0] {
                        let at = [bx, by, bz].map(|b| b * edge);
                        for (o, child) in (0u32..).zip(children.iter_mut()) {
                            let within = [o & (edge - 1), o >> n & (edge - 1), o >> (2 * n)];
                            let b = [0, 1, 2].map(|k| at[k] + within[k]);
                            // Blocks beyond the grid are never visited; UNIFORM and no code yet.
                            *child = if (0..3).all(|k| b[k] < blocks[k]) {
                                refs[(b[2] as usize * blocks[1] as usize + b[1] as usize) * blocks[0] as usize
                                    + b[0] as usize]
                            } else {
                                BEYOND
                            };
                        }
                        let first = children[0];
                        if first & UNIFORM != 0 && children.iter().all(|&c| c == first || c == BEYOND) {
                            joined.push_guarded(first);
                        } else {
                            joined.push_guarded((self.nodes.len() >> (3 * n)) as u32);
                            self.nodes.extend_guarded(children.iter().copied());
                        }
                    }
                }
            }
            (refs, blocks) = (joined, above);
            self.levels += 1;
        }
        self.root = refs[0];
    }

    /// Returns the parts of the tree.
    pub(super) fn to_stored(&self) -> StoredTree {
        StoredTree {
            branching: self.branching,
            bits: self.bits,
            levels: self.levels,
            root: self.root,
            nodes: self.nodes.to_vec_guarded(),
            leaves: self.leaves.to_vec_guarded(),
        }
    }

    /// Makes a tree of parts from outside. Every reference and every code is checked: a look-up stays within the arrays and
    /// returns a code of at most `most`.
    pub(super) fn from_stored(grid: &VoxelGrid, stored: StoredTree, most: u8) -> std::result::Result<Self, String> {
        let StoredTree { branching: n, bits, levels, root, nodes, leaves } = stored;
        if !(1..=3).contains(&n) || ![1, 2, 4, 8].contains(&bits) || u32::from(most) >> bits != 0 {
            return Err(format!("a tree of {n} with codes of {bits} bits"));
        }
        let longest = grid.dims().into_iter().max().unwrap_or(0);
        let mut needed = 0;
        while longest.div_ceil(1 << n) > 1 << (n * needed) {
            needed += 1;
        }
        if levels != needed {
            return Err(format!("a tree of {levels} levels; expected {needed}"));
        }
        let tree = Self { grid: *grid, branching: n, bits, levels, root, nodes, leaves };
        let mut seen = [filled(false, tree.nodes.len() >> (3 * n)), filled(false, tree.leaf_count())];
        tree.check(root, levels, [0; 3], most, &mut seen)?;
        // The last word of the leaves may have room for more of them.
        let in_last_word = (63 / ((1usize << (3 * n)) * bits as usize)).min(tree.leaf_count());
        let (nodes, leaves) = (&seen[0], &seen[1][..tree.leaf_count() - in_last_word]);
        if tree.nodes.len() % (1 << (3 * n)) != 0 || !nodes.iter().chain(leaves).all(|seen| *seen) {
            return Err("a part of the tree is not used".into());
        }
        Ok(tree)
    }

    /// Number of whole leaves in the array.
    fn leaf_count(&self) -> usize {
        self.leaves.len() * 64 / ((1 << (3 * self.branching)) * self.bits as usize)
    }

    /// Checks a reference to what is `level` levels above the voxels' blocks, at a voxel. The depth is at most 15.
    fn check(
        &self,
        reference: u32,
        level: u32,
        at: [u32; 3],
        most: u8,
        seen: &mut [Vec<bool>; 2],
    ) -> std::result::Result<(), String> {
        let (n, beyond) = (self.branching, (0..3).any(|k| at[k] >= self.grid.dims()[k]));
        if reference & UNIFORM != 0 {
            // A child that holds no voxel may have any code.
            let sound = beyond || reference == UNIFORM | u32::from(reference as u8) && reference as u8 <= most;
            return if sound { Ok(()) } else { Err(format!("a block has the code {reference:#x}")) };
        }
        let i = reference as usize;
        let is_new = |seen: &mut Vec<bool>| seen.get_mut(i).is_some_and(|seen| !std::mem::replace(seen, true));
        if level == 0 {
            let fits = !beyond && is_new(&mut seen[1]) && self.codes(i).all(|code| code <= most);
            return if fits { Ok(()) } else { Err(format!("leaf {i} is missing, used twice, or has a wrong code")) };
        }
        if beyond || !is_new(&mut seen[0]) {
            return Err(format!("node {i} is missing or used twice"));
        }
        for child in 0..1u32 << (3 * n) {
            let mask = (1 << n) - 1;
            let within = [child & mask, child >> n & mask, child >> (2 * n)];
            let at = [0, 1, 2].map(|k| at[k].saturating_add(within[k] << (n * level)));
            self.check(self.nodes[(i << (3 * n)) + child as usize], level - 1, at, most, seen)?;
        }
        Ok(())
    }

    /// Codes of a leaf.
    fn codes(&self, leaf: usize) -> impl Iterator<Item = u8> + '_ {
        let (per_leaf, bits) = (1usize << (3 * self.branching), self.bits as usize);
        (leaf * per_leaf..(leaf + 1) * per_leaf).map(move |i| {
            let bit = i * bits;
            (self.leaves[bit / 64] >> (bit % 64)) as u8 & (u8::MAX >> (8 - bits))
        })
    }

    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// Returns the code of a voxel. Walks down from the root, a shorter path where blocks are uniform; allocates
    /// nothing.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn code(&self, voxel: [u32; 3]) -> u8 {
        assert!((0..3).all(|k| voxel[k] < self.grid.dims()[k]), "voxel {voxel:?} of {:?}", self.grid.dims());
        let n = self.branching;
        let child = |level: u32| {
            let [x, y, z] = voxel.map(|v| v >> (n * level) & ((1 << n) - 1));
            ((z << n | y) << n | x) as usize
        };
        let mut at = self.root;
        for level in (1..=self.levels).rev() {
            if at & UNIFORM != 0 {
                return at as u8;
            }
            at = self.nodes[((at as usize) << (3 * n)) + child(level)];
        }
        if at & UNIFORM != 0 {
            return at as u8;
        }
        let bit = ((((at as usize) << (3 * n)) + child(0)) * self.bits as usize) as u64;
        (self.leaves[(bit / 64) as usize] >> (bit % 64)) as u8 & (u8::MAX >> (8 - self.bits))
    }

    /// Number of children along each edge of a node.
    pub fn branching(&self) -> Branching {
        match self.branching {
            1 => Branching::Octree,
            2 => Branching::Tree64,
            _ => Branching::Tree512,
        }
    }

    /// Levels of inner nodes above the leaves.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.nodes.len() * 4 + self.leaves.len() * 8) as u64
    }
}

/// A child that holds no voxel of the grid.
const BEYOND: u32 = u32::MAX;

/// The 2-bit types of a [`Voxmap`](super::Voxmap) in a tree, with equal answers.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeTree(pub(super) VoxelTree);

impl TypeTree {
    /// The tree of codes.
    pub fn tree(&self) -> &VoxelTree {
        &self.0
    }

    /// Returns the type of a voxel.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn voxel(&self, voxel: [u32; 3]) -> VoxelType {
        VoxelType::from_bits(self.0.code(voxel))
    }

    /// Returns the type of the voxel that holds a point; beyond the grid, and for NaN, free. Local frame, metres.
    #[inline]
    pub fn at(&self, p: [f32; 3]) -> VoxelType {
        self.0.grid.voxel_at(p).map_or(VoxelType::Free, |v| self.voxel(v))
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

/// The layers of a [`LayerMap`](super::LayerMap) in a tree; those beyond ±limit as ±limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerTree {
    tree: VoxelTree,
    limit: i32,
}

impl LayerTree {
    /// Makes the tree. `make` gets the number of bits of the codes and the function from a layer to its code.
    pub(super) fn build(
        limit: u8,
        make: impl FnOnce(u32, &(dyn Fn(i32) -> u8 + Sync)) -> Result<VoxelTree>,
    ) -> Result<Self> {
        if !(1..=127).contains(&limit) {
            return Err(Error::argument("limit", limit, "1 to 127 layers"));
        }
        let bits = (u32::from(limit) * 2 + 1).next_power_of_two().ilog2().next_power_of_two();
        let limit = i32::from(limit);
        let tree = make(bits, &|layer| (layer.clamp(-limit, limit) + limit) as u8)?;
        Ok(Self { tree, limit })
    }

    /// Makes the layers of a tree whose codes are at most twice the limit.
    pub(super) fn of_tree(tree: VoxelTree, limit: u8) -> Self {
        Self { tree, limit: limit.into() }
    }

    /// The tree of codes.
    pub fn tree(&self) -> &VoxelTree {
        &self.tree
    }

    /// The limit: layers beyond ± this are stored as ± this.
    pub fn limit(&self) -> i32 {
        self.limit
    }

    /// Returns the layer of a voxel, within ±limit.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn layer(&self, voxel: [u32; 3]) -> i32 {
        i32::from(self.tree.code(voxel)) - self.limit
    }

    /// Returns the layer of the voxel that holds a point, within ±limit; beyond the grid as
    /// [`LayerMap::layer_at`](super::LayerMap::layer_at). Local frame, metres.
    #[inline]
    pub fn layer_at(&self, p: [f32; 3]) -> i32 {
        let (voxel, over) = self.tree.grid.clamp(self.tree.grid.cell(p));
        self.layer(voxel).saturating_sub(over).max(-self.limit)
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        self.tree.bytes()
    }
}
