//! Certified properties of the interpolant, from one pass over a grid's values.

use rayon::prelude::*;

use super::Grid;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::ParCollectGuarded;
use voxshell_base::wide;

/// Properties of the trilinear interpolant of a grid, extended by the distance to the box outside.
pub(super) struct Scan {
    /// Lipschitz constant inside the box, rounded up.
    pub lipschitz: f32,
    /// Largest difference of two nodes per metre between them, rounded up.
    pub node_lipschitz: f32,
    /// Largest |value|.
    pub largest: f32,
    /// Box around {φ ≤ 0}, local frame; empty when there is no such point.
    pub bounds: Aabb,
    /// Smallest value on the border of the grid.
    pub border: f32,
}

/// Contribution of one slice of nodes (k constant).
#[derive(Default)]
struct Slice {
    /// Largest squared gradient, (metres per node)².
    steepest: f32,
    largest: f32,
    /// First and last row with a node in {φ ≤ 0}.
    rows: Option<[usize; 2]>,
    /// Extent of {φ ≤ 0} along x, in nodes.
    x: [f64; 2],
}

/// Scans a grid. `values` has a number for each node. `exact`: they are exact signed distances, up to a rounding that
/// the caller adds.
pub(super) fn scan(grid: &Grid, values: &[f32], exact: bool) -> Scan {
    let view = View { dims: grid.dims.map(|n| n as usize), values };
    let slices: Vec<Slice> = (0..view.dims[2]).into_par_iter().map(|k| view.slice(k)).collect_guarded();
    let steepest = f64::from(slices.iter().fold(0.0, |a: f32, s| a.max(s.steepest))).sqrt() / f64::from(grid.spacing);
    // Where the border of the grid is inside, φ rises by one per metre from there, and the positions are rounded.
    let lowest = border_minimum(grid, values);
    let mut bounds = Aabb::empty();
    if let Some([min, max]) = view.inside(&slices) {
        let place =
            |p: [f64; 3]| Vec3::from([0, 1, 2].map(|a| f64::from(grid.min[a]) + p[a] * f64::from(grid.spacing)));
        bounds.include(&place(min));
        bounds.include(&place(max));
        let reach = bounds.extents().abs().max().max(0.0);
        bounds = bounds.inflated(f64::from((-lowest).max(0.0)) + 1e-6 * reach);
    }
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

/// A row of nodes and the rows around it: before and after it in y, then in z; the row itself where there is none.
#[derive(Clone, Copy)]
struct Rows<'a> {
    here: &'a [f32],
    around: [&'a [f32]; 4],
}

/// Number of nodes processed side by side.
const LANES: usize = 8;

/// Largest values among the nodes of one lane.
#[derive(Clone, Copy)]
struct Most {
    /// Squared gradient, times the spacing squared.
    steepest: [f32; LANES],
    magnitude: [f32; LANES],
    /// Largest −φ.
    depth: [f32; LANES],
}

#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else {
        b
    }
}

impl Most {
    /// Adds a node. The gradient of a trilinear cell has its largest norm at a corner, since each of its components
    /// is affine along each axis; there its components are the differences along the three edges that meet. A node is
    /// a corner of every cell around it, so the steepest of these gradients takes the steeper of the two differences
    /// along each axis. Rounded to f32, which the margin of the constant covers.
    #[inline(always)]
    fn see(&mut self, lane: usize, here: f32, along: [f32; 2], around: [f32; 4]) {
        let steeper = |p: f32, q: f32| max((here - p) * (here - p), (here - q) * (here - q));
        let squared = (steeper(along[0], along[1]) + steeper(around[0], around[1])) + steeper(around[2], around[3]);
        self.steepest[lane] = max(squared, self.steepest[lane]);
        self.magnitude[lane] = max(here.abs(), self.magnitude[lane]);
        self.depth[lane] = max(-here, self.depth[lane]);
    }
}

wide! {
    /// Returns the largest squared gradient at the nodes of a row of at least two, the largest |φ| and the largest
    /// −φ.
    fn most_in_row(rows: Rows) -> [f32; 3] {
        let (here, n) = (rows.here, rows.here.len());
        let around = rows.around.map(|r| &r[..n]);
        let mut most = Most { steepest: [0.0; LANES], magnitude: [0.0; LANES], depth: [f32::NEG_INFINITY; LANES] };
        let mut one = |i: usize| {
            let along = [here[i.saturating_sub(1)], here[(i + 1).min(n - 1)]];
            most.see(0, here[i], along, [around[0][i], around[1][i], around[2][i], around[3][i]]);
        };
        one(0);
        let whole = (n - 2) / LANES * LANES;
        for i in 1 + whole..n {
            one(i);
        }
        for first in (1..1 + whole).step_by(LANES) {
            let h = &here[first - 1..first + LANES + 1];
            let [a, b, c, d] = around.map(|r| &r[first..first + LANES]);
            for l in 0..LANES {
                most.see(l, h[l + 1], [h[l], h[l + 2]], [a[l], b[l], c[l], d[l]]);
            }
        }
        [most.steepest, most.magnitude, most.depth].map(|m| m.iter().fold(m[0], |a, &b| max(a, b)))
    }
}

#[derive(Clone, Copy)]
struct View<'a> {
    dims: [usize; 3],
    values: &'a [f32],
}

impl View<'_> {
    fn row(&self, j: usize, k: usize) -> &[f32] {
        let first = (k * self.dims[1] + j) * self.dims[0];
        &self.values[first..first + self.dims[0]]
    }

    fn slice(&self, k: usize) -> Slice {
        let [_, ny, nz] = self.dims;
        let mut out = Slice { x: [f64::INFINITY, f64::NEG_INFINITY], ..Slice::default() };
        for j in 0..ny {
            let here = self.row(j, k);
            let around = [
                self.row(j.saturating_sub(1), k),
                self.row((j + 1).min(ny - 1), k),
                self.row(j, k.saturating_sub(1)),
                self.row(j, (k + 1).min(nz - 1)),
            ];
            let [steepest, largest, lowest] = most_in_row(Rows { here, around });
            out.steepest = out.steepest.max(steepest);
            out.largest = out.largest.max(largest);
            if lowest >= 0.0 {
                out.rows = Some([out.rows.map_or(j, |r| r[0]), j]);
                // Nodes that may reach beyond those of the rows before.
                let first = here.iter().take((out.x[0].ceil() + 1.0) as usize).position(|&v| v <= 0.0);
                let rest = (out.x[1].max(0.0) as usize).min(here.len());
                let last = here[rest..].iter().rposition(|&v| v <= 0.0).map(|i| i + rest);
                for i in [first, last].into_iter().flatten() {
                    let to = |o: usize| reach(here[i], here[o]);
                    out.x[0] = out.x[0].min(i as f64 - to(i.saturating_sub(1)));
                    out.x[1] = out.x[1].max(i as f64 + to((i + 1).min(here.len() - 1)));
                }
            }
        }
        out
    }

    /// Returns the box of {φ ≤ 0}, in nodes. A plane x = const meets {φ ≤ 0} in a cell only if one of the cell's
    /// x-edges meets it there (the interpolant is bilinear on the plane and smallest at a corner), so the box is that
    /// of the points of {φ ≤ 0} on grid edges. Along each axis only the outermost nodes can have the outermost of
    /// these points.
    fn inside(&self, slices: &[Slice]) -> Option<[[f64; 3]; 2]> {
        let [_, ny, nz] = self.dims;
        let with = || slices.iter().enumerate().filter_map(|(k, s)| s.rows.map(|rows| (k, rows)));
        let (first, last) = (with().next()?.0, with().next_back()?.0);
        let (top, bottom) = with().fold((ny, 0), |(a, b), (_, rows)| (a.min(rows[0]), b.max(rows[1])));
        // Largest reach of the outermost rows towards the rows beyond.
        let most = |from: &[f32], to: &[f32]| from.iter().zip(to).fold(0.0f64, |m, (&v, &o)| m.max(reach(v, o)));
        let along_y = |j: usize, beyond: usize| {
            with().map(|(k, _)| most(self.row(j, k), self.row(beyond, k))).fold(0.0, f64::max)
        };
        let along_z =
            |k: usize, beyond: usize| (0..ny).map(|j| most(self.row(j, k), self.row(j, beyond))).fold(0.0, f64::max);
        let x = slices.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |a, s| [a[0].min(s.x[0]), a[1].max(s.x[1])]);
        Some([
            [
                x[0],
                top as f64 - along_y(top, top.saturating_sub(1)),
                first as f64 - along_z(first, first.saturating_sub(1)),
            ],
            [
                x[1],
                bottom as f64 + along_y(bottom, (bottom + 1).min(ny - 1)),
                last as f64 + along_z(last, (last + 1).min(nz - 1)),
            ],
        ])
    }
}

/// Returns how far {φ ≤ 0} reaches from a node in it towards its neighbour: 0 to 1; 0 from a node that is not in it.
fn reach(v: f32, other: f32) -> f64 {
    if v <= 0.0 && other > 0.0 {
        f64::from(v) / (f64::from(v) - f64::from(other))
    } else {
        0.0
    }
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

/// Any two nodes are connected by steps between neighbouring nodes whose total length is at most this many times
/// their distance: see [`steepest_path`].
pub const PATH: f64 = 1.1282;

/// Returns a bound on |v(X) − v(Y)| / |X − Y| over all pairs of nodes, from neighbours alone.
///
/// Let S be the largest such quotient over the 26 neighbours of any node. Any node is reached from any other by steps
/// along body diagonals, face diagonals and edges whose length is √3 c + √2 (b − c) + (a − b) for the sorted offset a
/// ≥ b ≥ c ≥ 0, all inside their common box. That is (1, √2 − 1, √3 − √2)·(a, b, c) ≤ 1.1281 |(a, b, c)|.
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
