//! What a walk along a segment may skip: a grid's cells in blocks of 8³, each with the value at its middle, and for the
//! blocks that the surface may be in, which of their cells it may be in.
//!
//! Memory: 6 bytes per block of 512 cells, and 64 more for a block near the surface.

use rayon::prelude::*;

use super::Grid;

/// Cells along an edge of a block.
pub const BLOCK: u32 = 8;

const NO_MASK: u32 = u32::MAX;

/// The blocks of a grid, x fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    dims: [u32; 3],
    /// Most that two nodes differ by, per cell of distance between them, metres.
    per_cell: f64,
    /// Metres per step of `middle`.
    unit: f64,
    /// Each block's middle node, rounded to a step.
    middle: Box<[i16]>,
    /// For each block the place of its mask, or `NO_MASK` where no cell is near the level 0.
    place: Box<[u32]>,
    /// A bit for each cell, x fastest, a word for each z: set where the interpolant comes within `band` of 0.
    masks: Box<[[u64; 8]]>,
    band: f64,
    /// Smallest value on the grid's border, metres.
    border: f32,
}

impl Blocks {
    /// `values` has a number for each node, none larger than `largest`; neighbouring nodes differ by at most
    /// `node_lipschitz` per metre between them.
    pub(super) fn new(grid: &Grid, values: &[f32], largest: f32, node_lipschitz: f32, border: f32) -> Self {
        let dims = grid.dims.map(|n| (n - 1).div_ceil(BLOCK));
        let spacing = f64::from(grid.spacing);
        let per_cell = f64::from(node_lipschitz) * spacing;
        let unit = (f64::from(largest) / f64::from(i16::MAX)).max(f64::from(f32::MIN_POSITIVE));
        let band = 1e-3 * spacing;
        // From the middle to the farthest corner of the block, in cells.
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
                        layer.0.push((phi / unit).round() as i16);
                        let mask = if phi.abs() > far { [0; 8] } else { mask(grid, values, [i, j, k], band as f32) };
                        if mask == [0; 8] {
                            layer.1.push(NO_MASK);
                        } else {
                            layer.1.push(layer.2.len() as u32);
                            layer.2.push(mask);
                        }
                    }
                }
                layer
            })
            .collect();
        let (mut middle, mut place, mut masks) = (Vec::new(), Vec::new(), Vec::new());
        for (m, p, bits) in layers {
            let first = masks.len() as u32;
            middle.extend(m);
            place.extend(p.into_iter().map(|p| if p == NO_MASK { p } else { p + first }));
            masks.extend(bits);
        }
        Self { dims, per_cell, unit, middle: middle.into(), place: place.into(), masks: masks.into(), band, border }
    }

    /// Number of the block that a cell is in.
    #[inline(always)]
    pub fn of(&self, cell: [i32; 3]) -> usize {
        let [i, j, k] = cell.map(|c| c as usize / BLOCK as usize);
        (k * self.dims[1] as usize + j) * self.dims[0] as usize + i
    }

    /// How far around the block's middle node the interpolant is certainly off `level`: squared, in cells; negative for
    /// not at all. And whether it is below there.
    ///
    /// The interpolant is a mean of nodes, and the nodes of a point's cell have a variance of ¾ of a cell squared around
    /// the point at most, so the mean distance of them from the middle node is at most √(distance² + ¾); see
    /// `DenseField`'s lower bound.
    #[inline(always)]
    pub fn free_squared(&self, block: usize, level: f64) -> (f64, bool) {
        let off = f64::from(self.middle[block]) * self.unit - level;
        // The rounding to a step, and that of the samples.
        let radius = (off.abs() - 0.6 * self.unit) * 0.999_999;
        let squared = (radius / self.per_cell) * (radius / self.per_cell) - 0.75;
        (if radius > 0.0 { squared } else { -1.0 }, off <= 0.0)
    }

    /// Whether the masks tell where the interpolant may reach `level`.
    #[inline(always)]
    pub fn knows(&self, level: f64) -> bool {
        level.abs() <= self.band
    }

    /// The block's mask, where one of its cells may reach a level that the masks know.
    #[inline(always)]
    pub fn mask(&self, block: usize) -> Option<&[u64; 8]> {
        self.masks.get(self.place[block] as usize)
    }

    /// Smallest value on the grid's border, metres: outside the grid φ is nowhere lower.
    pub fn border(&self) -> f32 {
        self.border
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (self.middle.len() * 2 + self.place.len() * 4 + self.masks.len() * 64) as u64
    }
}

/// The bit of a cell in its block's mask: word and place in it.
#[inline(always)]
pub fn mask_bit(cell: [i32; 3]) -> (usize, u32) {
    let [i, j, k] = cell.map(|c| c as u32 % BLOCK);
    (k as usize, j * BLOCK + i)
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

/// A field on a grid, as a walk from cell to cell sees it. In a cell φ is the trilinear interpolant of the corners;
/// outside the grid it is φ(the closest point of the grid's box) + the distance to it.
pub trait Cells: Send + Sync {
    /// The grid, local frame.
    fn grid(&self) -> &Grid;

    /// Origin of the local frame in the body frame, metres.
    fn center(&self) -> super::Vec3;

    /// What can be skipped.
    fn blocks(&self) -> &Blocks;

    /// φ at the corners of a cell, metres; x fastest, then y. Cells are numbered from 0 along each axis.
    fn corners(&self, cell: [i32; 3]) -> [f32; 8];

    /// Certified Lipschitz constant of φ everywhere.
    fn lipschitz_outside(&self) -> f32;

    /// Largest |φ| at a node, metres.
    fn largest(&self) -> f32;
}
