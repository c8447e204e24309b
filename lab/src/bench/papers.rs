//! The method of the papers (Xu & Barbič 2014, sections 3.1 and 3.2), reimplemented to measure its time on this
//! machine. A segment is traversed from cell to cell of a dense grid; with an octree of minima and maxima over the
//! cells it jumps over the largest block without the surface. The code is for measuring only: Cardano's formulas miss
//! some crossings.

use voxshell::ccd::cell::Cubic;
use voxshell::ccd::segment::Segment;
use voxshell::field::{DenseField, SignedDistance};
use voxshell::math::Vec3;

/// Blocks of `2^level` cells along each axis; x varies fastest.
struct Level {
    dims: [usize; 3],
    /// Smallest and largest φ, metres.
    bounds: Vec<[f32; 2]>,
}

impl Level {
    fn at(&self, block: [usize; 3]) -> [f32; 2] {
        self.bounds[(block[2] * self.dims[1] + block[1]) * self.dims[0] + block[0]]
    }
}

/// Levels from the cells to the whole grid.
pub struct Octree(Vec<Level>);

const HULL: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

fn join(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

fn blocks(dims: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let place = move |n: usize| [n % dims[0], n / dims[0] % dims[1], n / dims[0] / dims[1]];
    (0..dims.iter().product()).map(place)
}

impl Octree {
    pub fn new(field: &DenseField) -> Self {
        let dims = field.grid().dims.map(|n| n as usize - 1);
        let of_cell = |cell| corners(field, cell).into_iter().fold(HULL, |all, phi| join(all, [phi, phi]));
        let mut levels = vec![Level { dims, bounds: blocks(dims).map(of_cell).collect() }];
        while let Some(below) = levels.last().filter(|l| l.bounds.len() > 1) {
            let dims = below.dims.map(|n| n.div_ceil(2));
            let of_block = |block: [usize; 3]| {
                let children = (0..8).map(|c| [0, 1, 2].map(|a| 2 * block[a] + (c >> a & 1)));
                let inside = children.filter(|child| (0..3).all(|a| child[a] < below.dims[a]));
                inside.fold(HULL, |all, child| join(all, below.at(child)))
            };
            let bounds = blocks(dims).map(of_block).collect();
            levels.push(Level { dims, bounds });
        }
        Self(levels)
    }

    pub fn bytes(&self) -> usize {
        self.0.iter().map(|l| size_of_val(&*l.bounds)).sum()
    }

    /// Returns the level of the largest block around the cell without the surface.
    fn skip(&self, cell: [usize; 3]) -> Option<usize> {
        (0..self.0.len()).rev().find(|&n| {
            let [min, max] = self.0[n].at(cell.map(|i| i >> n));
            min > 0.0 || max <= 0.0
        })
    }
}

fn corners(field: &DenseField, cell: [usize; 3]) -> [f32; 8] {
    let [nx, ny, _] = field.grid().dims.map(|n| n as usize);
    let (values, first) = (field.values(), (cell[2] * ny + cell[1]) * nx + cell[0]);
    std::array::from_fn(|c| values[first + (c & 1) + (c >> 1 & 1) * nx + (c >> 2) * nx * ny])
}

/// A segment in a field's grid, in cells.
struct GridSegment {
    from: [f64; 3],
    displacement: [f64; 3],
}

impl GridSegment {
    fn new(field: &DenseField, segment: &Segment) -> Self {
        let grid = field.grid();
        let in_cells =
            |p: &Vec3, a: usize| (p[a] - field.center()[a] - f64::from(grid.min[a])) / f64::from(grid.spacing);
        let from = std::array::from_fn(|a| in_cells(&segment.from, a));
        Self { from, displacement: std::array::from_fn(|a| in_cells(&segment.to, a) - from[a]) }
    }

    fn at(&self, t: f64) -> [f64; 3] {
        std::array::from_fn(|a| self.from[a] + t * self.displacement[a])
    }

    /// Returns the fractions at which the segment enters and leaves the slab between two planes of an axis.
    fn between(&self, a: usize, low: usize, high: usize) -> [f64; 2] {
        let [low, high] = [low, high].map(|plane| (plane as f64 - self.from[a]) / self.displacement[a]);
        if self.displacement[a] != 0.0 {
            [low.min(high), low.max(high)]
        } else if low <= 0.0 && high >= 0.0 {
            [f64::NEG_INFINITY, f64::INFINITY]
        } else {
            [f64::INFINITY, f64::NEG_INFINITY]
        }
    }
}

/// Way from cell to cell.
#[derive(Clone, Copy)]
pub enum Cells<'a> {
    /// Every cell, by its eight samples.
    Uniform,
    /// Every cell, by the minimum and the maximum of its samples: the octree's leaves alone, which the authors prefer for
    /// the short segments of haptics (2016, section 4.1).
    Leaves(&'a Octree),
    /// Over the largest block without the surface.
    Octree(&'a Octree),
}

impl Cells<'_> {
    /// Returns the level of the largest block around the cell that can be skipped.
    fn skip(self, cell: [usize; 3]) -> Option<usize> {
        match self {
            Self::Uniform => None,
            Self::Leaves(octree) => {
                let [min, max] = octree.0[0].at(cell);
                (min > 0.0 || max <= 0.0).then_some(0)
            }
            Self::Octree(octree) => octree.skip(cell),
        }
    }
}

/// Search of a cell.
#[derive(Clone, Copy)]
pub enum Root {
    /// Cardano's formulas (2016).
    Cardano,
    /// Five steps of bisection (2014, equation 2).
    Bisection,
}

/// Returns the first fraction at which the segment is at or below the surface.
pub fn first(field: &DenseField, way: Cells, root: Root, segment: &Segment) -> Option<f64> {
    if field.distance(std::array::from_fn(|a| (segment.from[a] - field.center()[a]) as f32)) <= 0.0 {
        return Some(0.0);
    }
    let line = GridSegment::new(field, segment);
    let cells = field.grid().dims.map(|n| n as usize - 1);
    let (mut t, mut end) = (0.0f64, 1.0f64);
    for a in 0..3 {
        let [enters, leaves] = line.between(a, 0, cells[a]);
        (t, end) = (t.max(enters), end.min(leaves));
    }
    let start = line.at(t);
    let mut cell: [usize; 3] = std::array::from_fn(|a| (start[a].max(0.0) as usize).min(cells[a] - 1));
    while t < end {
        let skipped = way.skip(cell);
        let size = 1usize << skipped.unwrap_or(0);
        let low = cell.map(|i| i / size * size);
        let (mut leaves, mut axis) = (f64::INFINITY, 0);
        for a in 0..3 {
            let leaves_axis = line.between(a, low[a], low[a] + size)[1];
            if leaves_axis < leaves {
                (leaves, axis) = (leaves_axis, a);
            }
        }
        let to = leaves.clamp(t, end);
        if skipped.is_none() {
            let phi = corners(field, cell);
            if phi.iter().any(|&v| v <= 0.0) {
                let inside = |t: f64| {
                    let p = line.at(t);
                    std::array::from_fn(|a| p[a] - cell[a] as f64)
                };
                let cubic = Cubic::along(&phi.map(f64::from), &inside(t), &inside(to));
                let found = match root {
                    Root::Cardano => cubic.cardano(),
                    Root::Bisection => cubic.bisection(),
                };
                if let Some(s) = found {
                    return Some(t + s * (to - t));
                }
            }
        }
        t = to;
        let p = line.at(t);
        for a in 0..3 {
            // In the next block along the axis whose plane it crossed, otherwise in a cell of this block.
            let [first, last] = match (a == axis, line.displacement[a] > 0.0) {
                (true, true) => [low[a] + size; 2],
                (true, false) if low[a] == 0 => return None,
                (true, false) => [low[a] - 1; 2],
                _ => [low[a], (low[a] + size).min(cells[a]) - 1],
            };
            if first >= cells[a] {
                return None;
            }
            cell[a] = (p[a].max(0.0) as usize).clamp(first, last);
        }
    }
    None
}
