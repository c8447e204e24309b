//! The 2-bit voxmap of McNeely, Puterbaugh & Troy 1999, "Six degree-of-freedom haptic rendering using voxel sampling".

use rayon::prelude::*;

use super::bits::{has, Bits};
use super::{Branching, Offset, TypeTree, VoxelGrid, VoxelModel, VoxelTree, VoxelType};
use voxshell_base::memory::{self, boxed, filled};
use voxshell_base::{Error, Result};

/// Two bits per voxel. Immutable; shared by any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Voxmap {
    grid: VoxelGrid,
    /// 32 voxels each, lowest bits first; x fastest, then y, without gaps.
    words: Box<[u64]>,
    offset: Offset,
    memory_limit: u64,
}

impl Voxmap {
    /// Makes the types of a model's voxels. Layers are counted over all 26 neighbours.
    ///
    /// Fails with `InvalidArgument` when the grid ends before the force layer does: give the grid at least
    /// `offset.layers` voxels of padding, and `offset.proximity` more for all of the proximity voxels.
    pub fn new(model: &VoxelModel, offset: Offset) -> Result<Self> {
        let grid = *model.grid();
        let needed = (grid.len() as u64).div_ceil(32) * 8 + 5 * Bits::bytes(grid.dims());
        grid.afford("a voxmap", needed, model.memory_limit())?;
        memory::guard("making a voxmap", || {
            let mut solid = model.surface().clone();
            for n in 0..offset.layers {
                if solid.touches_wall() {
                    let expected = format!("at most {n}, as many layers as there are voxels around the surface");
                    return Err(Error::argument("offset.layers", offset.layers, expected));
                }
                solid = solid.grown();
            }
            let mut near = solid.clone();
            for _ in 0..offset.proximity {
                near = near.grown();
            }
            // The last step added the force layer.
            let within = if offset.layers == 0 {
                None
            } else {
                let mut within = model.surface().clone();
                for _ in 1..offset.layers {
                    within = within.grown();
                }
                Some(within)
            };
            let [nx, ny, _] = grid.dims();
            let mut words = filled(0u64, grid.len().div_ceil(32)).into_boxed_slice();
            // Whole words, about a slice of voxels at a time.
            let chunk = (nx as usize * ny as usize).div_ceil(32);
            words.par_chunks_mut(chunk).enumerate().for_each(|(c, words)| {
                let from = c * chunk * 32;
                let to = (from + words.len() * 32).min(grid.len());
                let mut at = from;
                while at < to {
                    let row = at / nx as usize;
                    let (j, k) = ((row % ny as usize) as u32, (row / ny as usize) as u32);
                    let (interior, solid, near) = (model.interior().row(j, k), solid.row(j, k), near.row(j, k));
                    let within = within.as_ref().map(|w| w.row(j, k));
                    let end = to.min((row + 1) * nx as usize);
                    for n in at..end {
                        let i = (n - row * nx as usize) as u32;
                        let kind = if has(interior, i) || within.is_some_and(|w| has(w, i)) {
                            VoxelType::Interior
                        } else if has(solid, i) {
                            VoxelType::Surface
                        } else if has(near, i) {
                            VoxelType::Proximity
                        } else {
                            VoxelType::Free
                        };
                        words[(n - from) / 32] |= (kind as u64) << (n % 32 * 2);
                    }
                    at = end;
                }
            });
            Ok(Self { grid, words, offset, memory_limit: model.memory_limit() })
        })
    }

    /// Makes a map of given words, two bits for each voxel.
    pub(super) fn of_words(grid: VoxelGrid, words: Vec<u64>, offset: Offset) -> Self {
        Self { grid, words: boxed(words), offset, memory_limit: 4 << 30 }
    }

    /// The bits of all voxels.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// Place of the force layer.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// Returns the type of a voxel.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn voxel(&self, voxel: [u32; 3]) -> VoxelType {
        let at = self.grid.index(voxel);
        VoxelType::from_bits((self.words[at / 32] >> (at % 32 * 2)) as u8)
    }

    /// Returns the type of the voxel that holds a point; beyond the grid, and for NaN, free. Local frame, metres;
    /// allocates nothing; callable from any thread.
    #[inline]
    pub fn at(&self, p: [f32; 3]) -> VoxelType {
        self.grid.voxel_at(p).map_or(VoxelType::Free, |v| self.voxel(v))
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.words.len() * 8) as u64
    }

    /// Returns the same types in a generalised octree.
    ///
    /// McNeely et al. 1999, section 4.3.
    pub fn tree(&self, branching: Branching) -> Result<TypeTree> {
        Ok(TypeTree(VoxelTree::build(&self.grid, branching, 2, self.memory_limit, |v| self.voxel(v) as u8)?))
    }
}
