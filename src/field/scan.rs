//! One pass over a grid's values: what is certified about the interpolant.

use rayon::prelude::*;

use super::Grid;
use crate::math::{Aabb, Vec3};

/// What holds of the trilinear interpolant of a grid, extended by the distance to the box outside.
pub(super) struct Scan {
    /// Lipschitz constant inside the box, rounded up.
    pub lipschitz: f32,
    /// Most that two nodes differ by per metre between them, rounded up.
    pub node_lipschitz: f32,
    /// Largest |value|.
    pub largest: f32,
    /// Box around {φ ≤ 0}, local frame; empty when there is no such point.
    pub bounds: Aabb,
    /// Smallest value on the border of the grid.
    pub border: f32,
}

struct Slice {
    steepest: f64,
    largest: f32,
    min: [f64; 3],
    max: [f64; 3],
}

/// `values` has a number for each node. `exact`: they are exact signed distances, up to a rounding that the caller adds.
pub(super) fn scan(grid: &Grid, values: &[f32], exact: bool) -> Scan {
    let slices: Vec<Slice> = (0..grid.dims[2] as usize)
        .into_par_iter()
        .map(|k| scan_slice(grid.dims.map(|n| n as usize), values, k))
        .collect();
    let steepest = slices.iter().fold(0.0, |a: f64, s| a.max(s.steepest)).sqrt() / f64::from(grid.spacing);
    let mut bounds = Aabb::empty();
    for s in slices.iter().filter(|s| s.min[0] <= s.max[0]) {
        let place =
            |p: [f64; 3]| Vec3::from([0, 1, 2].map(|a| f64::from(grid.min[a]) + p[a] * f64::from(grid.spacing)));
        bounds.include(&place(s.min));
        bounds.include(&place(s.max));
    }
    // Where the border of the grid is inside, φ rises by one per metre from there, and the positions are rounded.
    let lowest = border_minimum(grid, values);
    let reach = bounds.extents().abs().max().max(0.0);
    let bounds = if bounds.is_empty() { bounds } else { bounds.inflated(f64::from((-lowest).max(0.0)) + 1e-6 * reach) };
    let lipschitz = (steepest * (1.0 + 1e-6)) as f32;
    let node_lipschitz = if exact { 1.0 + 1e-6 } else { steepest_path(grid, values) };
    Scan {
        lipschitz,
        node_lipschitz,
        largest: slices.iter().fold(0.0, |a, s| a.max(s.largest)),
        bounds,
        border: lowest,
    }
}

/// The gradient of a trilinear cell has its largest norm at a corner, since each of its components is affine along each
/// axis; there it is made of the differences along the three edges that meet. A node is a corner of every cell around
/// it, so the steepest of them takes the steeper of the two differences along each axis.
///
/// A plane x = const meets {φ ≤ 0} in a cell only if one of the cell's x-edges does (the interpolant is bilinear on the
/// plane and smallest at a corner), so the box of {φ ≤ 0} is that of its points on grid edges.
fn scan_slice(dims: [usize; 3], values: &[f32], k: usize) -> Slice {
    let [nx, ny, nz] = dims;
    let (row, slice) = (nx, nx * ny);
    let mut out = Slice { steepest: 0.0, largest: 0.0, min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };
    let steps = [1, row, slice];
    for j in 0..ny {
        for i in 0..nx {
            let here = [i, j, k];
            let index = k * slice + j * row + i;
            let v = values[index];
            out.largest = out.largest.max(v.abs());
            let mut squared = 0.0;
            for a in 0..3 {
                let back = if here[a] > 0 { f64::from(v) - f64::from(values[index - steps[a]]) } else { 0.0 };
                let on = if here[a] + 1 < dims[a] { f64::from(values[index + steps[a]]) - f64::from(v) } else { 0.0 };
                squared += (back * back).max(on * on);
            }
            out.steepest = out.steepest.max(squared);
            if v <= 0.0 {
                for a in 0..3 {
                    let at = here[a] as f64;
                    let reach =
                        |other: f32| if other > 0.0 { f64::from(v) / (f64::from(v) - f64::from(other)) } else { 0.0 };
                    let below = if here[a] > 0 { reach(values[index - steps[a]]) } else { 0.0 };
                    let above = if here[a] + 1 < dims[a] { reach(values[index + steps[a]]) } else { 0.0 };
                    out.min[a] = out.min[a].min(at - below);
                    out.max[a] = out.max[a].max(at + above);
                }
            }
        }
    }
    debug_assert!(nz > k);
    out
}

fn border_minimum(grid: &Grid, values: &[f32]) -> f32 {
    let [nx, ny, nz] = grid.dims;
    let mut lowest = f32::INFINITY;
    for k in 0..nz {
        for j in 0..ny {
            let inner = k > 0 && k + 1 < nz && j > 0 && j + 1 < ny;
            let step = if inner { nx as usize - 1 } else { 1 };
            for i in (0..nx as usize).step_by(step) {
                lowest = lowest.min(values[grid.index(0, j, k) + i]);
            }
        }
    }
    lowest
}

/// Steps between neighbouring nodes lead from any node to any other on a path this many times as long as the straight one,
/// at most: see [`steepest_path`].
pub(super) const PATH: f64 = 1.1282;

/// Bound on |v(X) − v(Y)| / |X − Y| over all pairs of nodes, from neighbours alone.
///
/// Let S be the largest such quotient over the 26 neighbours of any node. Any node is reached from any other by steps along
/// body diagonals, face diagonals and edges whose length is √3 c + √2 (b − c) + (a − b) for the sorted offset a ≥ b ≥ c ≥ 0,
/// all inside their common box. That is (1, √2 − 1, √3 − √2)·(a, b, c) ≤ 1.1281 |(a, b, c)|.
fn steepest_path(grid: &Grid, values: &[f32]) -> f32 {
    let [nx, ny, nz] = grid.dims.map(|n| n as usize);
    let slices = (0..nz).into_par_iter().map(|k| {
        // By the squared length of the step: 1, 2, 3.
        let mut most = [0.0f64; 3];
        for j in 0..ny {
            for i in 0..nx {
                let here = f64::from(values[(k * ny + j) * nx + i]);
                // The 13 neighbours that come later.
                for o in 14..27usize {
                    let step = [o % 3, o / 3 % 3, o / 9];
                    let at = [i + step[0], j + step[1], k + step[2]];
                    if at[0] < 1 || at[0] > nx || at[1] < 1 || at[1] > ny || at[2] > nz {
                        continue;
                    }
                    let other = f64::from(values[((at[2] - 1) * ny + at[1] - 1) * nx + at[0] - 1]);
                    let axes = step.iter().filter(|&&s| s != 1).count();
                    most[axes - 1] = most[axes - 1].max((here - other).abs());
                }
            }
        }
        most
    });
    let most = slices.reduce(|| [0.0; 3], |a, b| [0, 1, 2].map(|n| a[n].max(b[n])));
    let steepest = most[0].max(most[1] / 2f64.sqrt()).max(most[2] / 3f64.sqrt()) / f64::from(grid.spacing);
    (steepest * PATH * (1.0 + 1e-6)) as f32
}
