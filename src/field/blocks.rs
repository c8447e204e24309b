//! Blocks of 8³ cells of a grid that a walk along a segment may skip. Each has the value at its middle node, and
//! blocks that the surface may pass have a mask of the cells that it may pass.
//!
//! Memory: 6 bytes per block of 512 cells, and 64 more for a block near the surface.

use rayon::prelude::*;

use super::approach::{Balls, Level, SegmentBatch};
use super::Grid;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{boxed, GrowGuarded, ParCollectGuarded};

/// Number of cells along an edge of a block.
pub const BLOCK: u32 = 8;

const NO_MASK: u32 = u32::MAX;

/// The blocks of a grid, x fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    dims: [u32; 3],
    /// Smallest distance of two nodes, cells, per metre of difference of their values.
    cells_per_metre: f64,
    /// Metres per unit of `middle`.
    unit: f64,
    /// Value at each block's middle node, rounded to a unit.
    middle: Box<[i16]>,
    /// Index of the mask of each block, or `NO_MASK` where no cell is near the level 0.
    place: Box<[u32]>,
    /// A bit for each cell, x fastest, a word for each z: set where the interpolant comes within `band` of 0.
    masks: Box<[[u64; 8]]>,
    band: f64,
    /// Smallest value on the grid's border, metres.
    border: f32,
}

impl Blocks {
    /// Returns the blocks of a grid. `values` has a number for each node, none larger than `largest`; two nodes
    /// differ by at most `node_lipschitz` per metre between them.
    pub(super) fn new(grid: &Grid, values: &[f32], largest: f32, node_lipschitz: f32, border: f32) -> Self {
        let dims = grid.dims.map(|n| (n - 1).div_ceil(BLOCK));
        let spacing = f64::from(grid.spacing);
        let per_cell = f64::from(node_lipschitz) * spacing;
        let unit = (f64::from(largest) / f64::from(i16::MAX)).max(f64::from(f32::MIN_POSITIVE));
        let band = 1e-3 * spacing;
        // Squared distance from the middle to the farthest corner of the block, cells².
        let reach = 48.0f64;
        let far = per_cell * (reach + 0.75).sqrt() * 1.000_001 + band + unit;
        let layers: Vec<_> = (0..dims[2])
            .into_par_iter()
            .map(|k| {
                let mut layer = (Vec::new(), Vec::new(), Vec::<[u64; 8]>::new());
                for j in 0..dims[1] {
                    for i in 0..dims[0] {
                        let m = [0, 1, 2].map(|a| (BLOCK * [i, j, k][a] + BLOCK / 2).min(grid.dims[a] - 1));
                        let phi = f64::from(values[grid.index(m[0], m[1], m[2])]);
                        layer.0.push_guarded((phi / unit).round() as i16);
                        let mask = if phi.abs() > far { [0; 8] } else { mask(grid, values, [i, j, k], band as f32) };
                        if mask == [0; 8] {
                            layer.1.push_guarded(NO_MASK);
                        } else {
                            layer.1.push_guarded(layer.2.len() as u32);
                            layer.2.push_guarded(mask);
                        }
                    }
                }
                layer
            })
            .collect_guarded();
        let (mut middle, mut place, mut masks) = (Vec::new(), Vec::new(), Vec::new());
        for (m, p, bits) in layers {
            let first = masks.len() as u32;
            middle.extend_guarded(m);
            place.extend_guarded(p.into_iter().map(|p| if p == NO_MASK { p } else { p + first }));
            masks.extend_guarded(bits);
        }
        let cells_per_metre = 0.999_999 / per_cell.max(f64::MIN_POSITIVE);
        Self {
            dims,
            cells_per_metre,
            unit,
            middle: boxed(middle),
            place: boxed(place),
            masks: boxed(masks),
            band,
            border,
        }
    }

    /// Returns the balls around the middle nodes; `error_bound` is the rounding of their values, metres.
    pub(super) fn balls(&self, level: &Level, error_bound: f64) -> Balls {
        Balls::new(level, 0.6 * self.unit + error_bound, self.cells_per_metre, 0.75)
    }

    /// Returns the balls around any nodes whose values are known up to `error_bound` metres.
    pub(super) fn node_balls(&self, level: &Level, error_bound: f64) -> Balls {
        Balls::new(level, error_bound, self.cells_per_metre, 0.75)
    }

    /// Returns number and position of the middle node of a point's block. The point is in the grid's box, cells;
    /// `last` is the last node.
    #[inline(always)]
    pub(super) fn around(&self, p: [f32; 3], last: [f32; 3]) -> (u32, [f32; 3]) {
        let (mut block, mut at) = ([0u32; 3], [0.0; 3]);
        for a in 0..3 {
            // SAFETY: 0 ≤ p ≤ last < 2²⁰ (`Grid::check`).
            let i = unsafe { (p[a] * (1.0 / BLOCK as f32)).to_int_unchecked::<i32>() };
            let most = self.dims[a] as i32 - 1;
            let i = if i < most { i } else { most };
            let middle = i as f32 * BLOCK as f32 + 0.5 * BLOCK as f32;
            block[a] = i as u32;
            at[a] = if middle < last[a] { middle } else { last[a] };
        }
        ((block[2] * self.dims[1] + block[1]) * self.dims[0] + block[0], at)
    }

    /// Returns φ at the middle node of a block, metres.
    #[inline(always)]
    pub(super) fn middle_value(&self, block: u32) -> f32 {
        f32::from(self.middle[block as usize]) * self.unit as f32
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (self.middle.len() * 2 + self.place.len() * 4 + self.masks.len() * 64) as u64
    }
}

/// Bounds over blocks of 8³ cells, with which a walk can skip them.
pub trait Skip {
    /// Returns a unique number of the block of a cell.
    fn of(&self, cell: [i32; 3]) -> usize;

    /// Returns the ball around the middle node of a cell's block (or around the grid's last node, if that is nearer)
    /// in which φ is certainly off `level`.
    fn separation_ball(&self, block: usize, cell: [i32; 3], level: f64) -> SeparationBall;

    /// Returns whether the masks tell where φ may reach `level`.
    fn knows(&self, level: f64) -> bool;

    /// Returns the block's mask, if one of its cells may reach a level that the masks know.
    fn mask(&self, block: usize) -> Option<&[u64; 8]>;

    /// Returns a lower bound of φ outside the grid and on its border, metres.
    fn border(&self) -> f32;
}

impl Skip for &Blocks {
    #[inline(always)]
    fn of(&self, cell: [i32; 3]) -> usize {
        let along = |a: usize| cell[a] as usize / BLOCK as usize;
        (along(2) * self.dims[1] as usize + along(1)) * self.dims[0] as usize + along(0)
    }

    /// The interpolant is a mean of nodes. The nodes of a point's cell have a variance of at most ¾ of a cell squared
    /// around the point, so their mean distance from the middle node is at most √(distance² + ¾); see the lower bound
    /// of `DenseField`.
    #[inline(always)]
    fn separation_ball(&self, block: usize, _cell: [i32; 3], level: f64) -> SeparationBall {
        let off = f64::from(self.middle[block]) * self.unit - level;
        // Minus the rounding to a unit and that of the samples.
        let radius = (off.abs() - 0.6 * self.unit) * self.cells_per_metre;
        SeparationBall { squared: radius * radius.abs() - 0.75, certain: radius > 0.0, below: off <= 0.0 }
    }

    #[inline(always)]
    fn knows(&self, level: f64) -> bool {
        level.abs() <= self.band
    }

    #[inline(always)]
    fn mask(&self, block: usize) -> Option<&[u64; 8]> {
        self.masks.get(self.place[block] as usize)
    }

    #[inline(always)]
    fn border(&self) -> f32 {
        self.border
    }
}

/// A ball in which φ is certainly off a level; see [`Skip::separation_ball`].
#[derive(Clone, Copy, Debug)]
pub struct SeparationBall {
    /// Square of the radius in cells; negative for no ball.
    pub squared: f64,
    /// Whether `below` holds at least at the middle node.
    pub certain: bool,
    /// Whether φ is at most the level in the ball.
    pub below: bool,
}

impl SeparationBall {
    /// No ball: nothing is known.
    pub const NONE: Self = Self { squared: -1.0, certain: false, below: false };
}

/// Returns the bit of a cell in its block's mask: word and position in the word.
#[inline(always)]
pub fn mask_bit(cell: [i32; 3]) -> (usize, u32) {
    let along = |a: usize| cell[a] as u32 % BLOCK;
    (along(2) as usize, along(1) * BLOCK + along(0))
}

fn mask(grid: &Grid, values: &[f32], block: [u32; 3], band: f32) -> [u64; 8] {
    let first = block.map(|b| b * BLOCK);
    let last = [0, 1, 2].map(|a| (first[a] + BLOCK).min(grid.dims[a] - 1));
    let (row, slice) = (grid.dims[0] as usize, grid.dims[0] as usize * grid.dims[1] as usize);
    let mut out = [0; 8];
    for k in first[2]..last[2] {
        for j in first[1]..last[1] {
            for i in first[0]..last[0] {
                let at = grid.index(i, j, k);
                let corners = [0, 1, row, row + 1, slice, slice + 1, slice + row, slice + row + 1];
                let (low, high) = corners.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &o| {
                    let v = values[at + o];
                    (low.min(v), high.max(v))
                });
                if low <= band && high >= -band {
                    let (word, bit) = mask_bit([i, j, k].map(|c| c as i32));
                    out[word] |= 1 << bit;
                }
            }
        }
    }
    out
}

/// Access to a field on a grid for a walk from cell to cell. In a cell φ is the trilinear interpolant of the corners;
/// outside the grid it is φ(the closest point of the grid's box) + the distance to it.
pub trait Cells: Send + Sync {
    /// Returns the grid, local frame.
    fn grid(&self) -> &Grid;

    /// Returns the origin of the local frame in the body frame, metres.
    fn center(&self) -> Vec3;

    /// Returns the blocks that can be skipped.
    fn blocks(&self) -> impl Skip + '_;

    /// Returns φ at the corners of a cell, metres; x fastest, then y. Cells are numbered from 0 along each axis.
    fn corners(&self, cell: [i32; 3]) -> [f32; 8];

    /// Returns the certified Lipschitz constant of φ everywhere.
    fn lipschitz_outside(&self) -> f32;

    /// Returns the largest |φ| at a node, metres.
    fn largest(&self) -> f32;

    /// Certifies how far the first `count` segments are off a level. φ must be above that level on the grid's border,
    /// and up to a twentieth of a cell inside it.
    fn approach(&self, level: &Level, batch: &mut SegmentBatch, count: usize);
}
