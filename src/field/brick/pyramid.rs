//! Smallest and largest φ in every brick and in blocks of 2³, 4³, … bricks, up to the whole grid.
//!
//! In the papers this is an octree over the cells of a full grid (Xu & Barbič 2016, section 3.2). Here it ends at
//! bricks: below a brick, the field's masks of 512 bits mark the cells that the surface passes
//! ([`BrickField::mixed`]).

use rayon::prelude::*;

use super::{corners_of, place_of, BrickField};
use crate::memory::{boxed, GrowGuarded, ParCollectGuarded};

/// Form of the octree, by the values that it stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeForm {
    /// The minimum in every node: skips the regions that a point outside cannot reach (the papers' choice).
    Min,
    /// Minimum and maximum: skips inside as well.
    MinMax,
    /// The minimum in every leaf and no inner node: for the short segments of haptics.
    Leaf,
}

/// Memory of a tree in one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeMemory {
    /// Memory of this tree, with bricks as leaves and a bit for each of their cells, bytes.
    pub held: u64,
    /// Memory of the papers' tree, bytes: an f32 for each value, with the cells of the full grid as leaves.
    pub full: u64,
}

/// Blocks of `2^level` bricks along each axis.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    /// Number of blocks along the axes.
    dims: [u32; 3],
    /// Units of the pyramid, rounded down and up; x fastest.
    min: Box<[i16]>,
    max: Box<[i16]>,
}

/// Bounds of φ in a [`BrickField`]'s grid, by blocks. Immutable; shared by any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Pyramid {
    levels: Vec<Level>,
    /// Memory of the field's masks, bytes.
    masks: u64,
    /// Unit of the values, metres.
    unit: f32,
    /// Number of cells of the grid along the axes.
    cells: [u32; 3],
}

impl Level {
    /// Returns the level of blocks twice as large.
    fn above(&self) -> Self {
        let dims = self.dims.map(|n| n.div_ceil(2));
        let all = (0..dims.iter().map(|&n| n as usize).product()).into_par_iter();
        let (min, max) = all
            .map(|block| {
                let at = place_of(block, dims).map(|i| 2 * i);
                let (mut least, mut most) = (i16::MAX, i16::MIN);
                for o in 0..8 {
                    let [i, j, k] = [0, 1, 2].map(|a| at[a] + (o >> a & 1));
                    if i < self.dims[0] && j < self.dims[1] && k < self.dims[2] {
                        let n = ((k * self.dims[1] + j) * self.dims[0] + i) as usize;
                        least = least.min(self.min[n]);
                        most = most.max(self.max[n]);
                    }
                }
                (least, most)
            })
            .unzip_guarded();
        Self { dims, min: boxed(min), max: boxed(max) }
    }

    fn len(&self) -> u64 {
        self.min.len() as u64
    }
}

impl Pyramid {
    /// Returns the pyramid of a field. Parallel, and the same on any number of threads.
    pub fn new(field: &BrickField) -> Self {
        let step = field.header.step as i32;
        let (min, max) = (0..field.index.len())
            .into_par_iter()
            .map(|brick| {
                // An interpolant has its extremes at its nodes.
                let (least, most) = match field.fine(brick) {
                    Some(samples) => {
                        let values = samples.iter().map(|&v| i32::from(v));
                        values.fold((i32::MAX, i32::MIN), |(a, b), v| (a.min(v), b.max(v)))
                    }
                    None => {
                        let corners = corners_of(field.bricks(), place_of(brick, field.bricks()));
                        let values = corners.map(|c| i32::from(field.corner(c)) * step);
                        values.iter().fold((i32::MAX, i32::MIN), |(a, b), &v| (a.min(v), b.max(v)))
                    }
                };
                // One quantum more for the rounding of φ.
                let clamp = |v: i32| v.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
                (clamp((least - 1).div_euclid(step)), clamp(-(-(most + 1)).div_euclid(step)))
            })
            .unzip_guarded();
        let mut levels = vec![Level { dims: field.bricks(), min: boxed(min), max: boxed(max) }];
        while let Some(above) = levels.last().filter(|l| l.len() > 1).map(Level::above) {
            levels.push_guarded(above);
        }
        Self {
            levels,
            masks: field.masks.bytes() as u64,
            unit: field.quantum() * step as f32,
            cells: field.grid().dims.map(|n| n - 1),
        }
    }

    /// Returns the number of levels: the last is one block.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns the number of blocks along the axes at a level; at level 0 they are bricks, at each further level
    /// blocks twice as large.
    pub fn dims(&self, level: usize) -> [u32; 3] {
        self.levels[level].dims
    }

    /// Returns the bounds of φ in a block, its sides included, metres.
    pub fn bounds(&self, level: usize, [i, j, k]: [u32; 3]) -> [f32; 2] {
        let level = &self.levels[level];
        let n = ((k * level.dims[1] + j) * level.dims[0] + i) as usize;
        let (least, most) = (f32::from(level.min[n]) * self.unit, f32::from(level.max[n]) * self.unit);
        // At the ends of their range the units do not include the additional quantum for rounding.
        [least - 1e-6 * least.abs(), most + 1e-6 * most.abs()]
    }

    /// Returns the memory of the tree in one of the papers' forms.
    pub fn memory(&self, form: TreeForm) -> TreeMemory {
        let inner: u64 = self.levels[1..].iter().map(Level::len).sum();
        let leaves = self.levels[0].len();
        // Full octree: cells, then blocks of 2³ of them, to the whole.
        let mut dims = self.cells.map(u64::from);
        let cells: u64 = dims.iter().product();
        let mut above = 0;
        while dims.iter().any(|&n| n > 1) {
            dims = dims.map(|n| n.div_ceil(2));
            above += dims.iter().product::<u64>();
        }
        match form {
            TreeForm::Min => TreeMemory { held: 2 * (leaves + inner) + self.masks, full: 4 * (cells + above) },
            TreeForm::MinMax => TreeMemory { held: 4 * (leaves + inner) + self.masks, full: 8 * (cells + above) },
            TreeForm::Leaf => TreeMemory { held: 2 * leaves + self.masks, full: 4 * cells },
        }
    }
}
