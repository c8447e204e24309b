//! Cells near which the surface of a mesh is one plane: there the trilinear interpolant is exact.

use rayon::prelude::*;

use super::{DenseField, Surface};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{boxed, filled};

/// Largest distance of nodes and triangles from the plane, voxels; above the rounding of both.
const PLANE: f64 = 5e-5;
/// Number of cells along an edge of a large block.
const EDGE: usize = 4;
/// Smallest cosine of the angle between the normals of two triangles of one plane.
const ALIGNED: f64 = 0.99;

/// A bit for each cell of a grid, set where the surface near it is a plane.
#[derive(Clone, Debug)]
pub(super) struct FlatCells {
    /// Rows along x, in whole words; y fastest, then z.
    bits: Box<[u64]>,
    words: usize,
    rows: usize,
    /// Number of set bits, and of cells that were looked at.
    counts: [u64; 2],
    /// Largest difference of the interpolant from the distance in such a cell, metres.
    error: f64,
}

impl FlatCells {
    /// Finds the cells in which |interpolant| may be less than `near`, metres, and is the signed distance to `surface`.
    ///
    /// All points of a block of cells with the middle m and the half diagonal ρ have their closest points within
    /// d(m) + 2 ρ of m. If all triangles there are in one plane and face one way, the surface has no edge there, since
    /// it is closed, so that the distance of all points is that to the plane. Where the nodes have it too, so has their
    /// interpolant. Large blocks come first: most cells of a face need no search of their own.
    pub fn find(grid: &DenseField, surface: &Surface, near: f64) -> Self {
        let [nx, ny, nz] = grid.grid().dims.map(|n| n as usize);
        let words = nx.div_ceil(64);
        let mut bits = filled(0u64, words * ny * nz);
        // Otherwise normals do not tell the sides.
        let has_sides = surface.has_sides();
        let is_flat = |block: &Block| has_sides && block.is_flat(grid, surface);
        let slabs = bits.par_chunks_mut(words * ny * EDGE).enumerate();
        let count = slabs.map(|(slab, bits)| {
            let [mut flat, mut looked_at] = [0, 0];
            for j in (0..ny - 1).step_by(EDGE) {
                for i in (0..nx - 1).step_by(EDGE) {
                    let low = [i, j, slab * EDGE];
                    let whole = Block { low, high: [0, 1, 2].map(|a| (low[a] + EDGE).min([nx, ny, nz][a] - 1)) };
                    if !whole.is_near(grid, near) {
                        continue;
                    }
                    let all = is_flat(&whole);
                    for cell in whole.cells().filter(|cell| cell.is_near(grid, near)) {
                        looked_at += 1;
                        if all || is_flat(&cell) {
                            let [i, j, k] = cell.low;
                            bits[((k - slab * EDGE) * ny + j) * words + i / 64] |= 1 << (i % 64);
                            flat += 1;
                        }
                    }
                }
            }
            [flat, looked_at]
        });
        let counts = count.reduce(|| [0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        let error = 2.0 * PLANE * f64::from(grid.grid().spacing);
        Self { bits: boxed(bits), words, rows: ny, counts, error: if counts[0] > 0 { error } else { 0.0 } }
    }

    #[inline]
    pub fn has(&self, cell: [i32; 3]) -> bool {
        let [i, j, k] = cell.map(|c| c as usize);
        self.bits[(k * self.rows + j) * self.words + i / 64] >> (i % 64) & 1 != 0
    }

    /// Returns the largest difference of the interpolant from the distance in a flat cell, metres.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the number of flat cells, and of all near cells.
    pub fn counts(&self) -> [u64; 2] {
        self.counts
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        self.bits.len() as u64 * 8
    }
}

/// A block of cells, by its lowest and its highest node.
struct Block {
    low: [usize; 3],
    high: [usize; 3],
}

impl Block {
    fn cells(&self) -> impl Iterator<Item = Self> {
        let ([x, y, z], [u, v, w]) = (self.low, self.high);
        let rows = (z..w).flat_map(move |k| (y..v).map(move |j| (j, k)));
        let cells = rows.flat_map(move |(j, k)| (x..u).map(move |i| [i, j, k]));
        cells.map(|low| Self { low, high: low.map(|i| i + 1) })
    }

    fn nodes(&self) -> impl Iterator<Item = [u32; 3]> {
        let ([x, y, z], [u, v, w]) = (self.low, self.high);
        let rows = (z..=w).flat_map(move |k| (y..=v).map(move |j| (j, k)));
        rows.flat_map(move |(j, k)| (x..=u).map(move |i| [i, j, k].map(|n| n as u32)))
    }

    fn is_near(&self, field: &DenseField, near: f64) -> bool {
        self.nodes().any(|node| value(field, node).abs() <= near)
    }

    fn is_flat(&self, field: &DenseField, surface: &Surface) -> bool {
        let edge = f64::from(field.grid().spacing);
        let tolerance = PLANE * edge;
        // A linear function, before anything is searched.
        let corner = |n: usize| [0, 1, 2].map(|a| if n >> a & 1 == 0 { self.low[a] } else { self.high[a] } as u32);
        let v = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| value(field, corner(n)));
        let [x, y, z] = [v[1] - v[0], v[2] - v[0], v[4] - v[0]];
        let linear = |n: usize| v[0] + (n & 1) as f64 * x + (n >> 1 & 1) as f64 * y + (n >> 2) as f64 * z;
        if (3..8).any(|n| (linear(n) - v[n]).abs() > 8.0 * tolerance) {
            return false;
        }
        let (from, to) = (position(field, corner(0)), position(field, corner(7)));
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from).norm() * (1.0 + 1e-6));
        // No farther from the surface than the corners are on average, and half a diagonal.
        let mean = v.iter().sum::<f64>() / 8.0;
        let Some(closest) = surface.closest(middle, mean.abs() + half + tolerance) else { return false };
        let Some(normal) = surface.normal(closest.triangle) else { return false };
        let off = |p: Vec3| normal.dot(&(p - closest.point));
        if self.nodes().any(|node| (off(position(field, node)) - value(field, node)).abs() > tolerance) {
            return false;
        }
        let reach = closest.distance_squared.sqrt() + 2.0 * half;
        surface.all_within(middle, reach, |triangle, corners| {
            corners.iter().all(|p| off(*p).abs() <= tolerance)
                && surface.normal(triangle).is_some_and(|n| n.dot(&normal) > ALIGNED)
        })
    }
}

fn value(field: &DenseField, [i, j, k]: [u32; 3]) -> f64 {
    f64::from(field.values()[field.grid().index(i, j, k)])
}

/// Returns the position of a node, body frame, metres.
fn position(field: &DenseField, [i, j, k]: [u32; 3]) -> Vec3 {
    Vec3::from(field.grid().node(i, j, k).map(f64::from)) + field.center()
}
