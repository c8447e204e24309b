//! Sign of closed surfaces by counting crossings along the grid's x-rows, exactly.
//!
//! Corners are rounded once to 2⁻³⁰ of a cell; then every decision is the sign of an integer determinant. Rows that
//! pass exactly through a corner or an edge are decided as if moved by (ε, ε²) in y and z with ε infinitely small
//! (simulation of simplicity, Edelsbrunner & Mücke 1990), so each crossing counts once for any arrangement of
//! triangles around it. A crossing has a sign by the side from which the row enters the triangle; the sum along a row
//! is the integer winding number.

use std::sync::atomic::{AtomicU8, Ordering};

use rayon::prelude::*;

use super::lattice::Lattice;
use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{exact, filled, filled_with, par_try_flat_collect, CollectGuarded, GrowGuarded};
use voxshell_base::Result;
use voxshell_mesh::TriMesh;

/// Fraction bits of the coordinates, in cells. With at most 2²⁰ cells, coordinates have 51 bits and determinants 104.
const BITS: u32 = 30;

/// Returns the sign of the doubled area of (a, b, 0) as seen by a row at 0 that is moved by (ε, ε²), and that area.
///
/// (a − δ) × (b − δ) = a × b − δ × (b − a), and δ × d = ε d_z − ε² d_y.
fn orient(a: [i64; 2], b: [i64; 2]) -> (i32, f64) {
    let (p, q) = (a[0] as f64 * b[1] as f64, a[1] as f64 * b[0] as f64);
    let area = p - q;
    if area.abs() > (p.abs() + q.abs()) * 1.0e-15 {
        return (if area > 0.0 { 1 } else { -1 }, area);
    }
    let exact = i128::from(a[0]) * i128::from(b[1]) - i128::from(a[1]) * i128::from(b[0]);
    let sign = exact.signum() as i32;
    if sign != 0 {
        return (sign, exact as f64);
    }
    let tie = match (a[1] - b[1]).signum() {
        0 => (b[0] - a[0]).signum(),
        s => s,
    };
    (tie as i32, 0.0)
}

/// Calls `found(row, x, leaves)` for each crossing of a triangle with a row along `axis`: the row's position
/// (cyclically next axis fastest), the crossing in cells from the first node, and whether the row leaves the
/// triangle's inner side there. Returns the number of rows visited.
fn visit(lattice: &Lattice, triangle: &[[f64; 3]; 3], axis: usize, mut found: impl FnMut([u32; 2], f64, bool)) -> u64 {
    let unit = f64::from(1u32 << BITS) / lattice.spacing;
    let one = 1i64 << BITS;
    let axes = [axis, (axis + 1) % 3, (axis + 2) % 3];
    let p = triangle.map(|c| axes.map(|k| ((c[k] - lattice.min[k]) * unit).round() as i64));
    let range = |k: usize| {
        let (lo, hi) = (p[0][k].min(p[1][k]).min(p[2][k]), p[0][k].max(p[1][k]).max(p[2][k]));
        // First node at or above, last node at or below.
        ((lo + one - 1).div_euclid(one).max(0), hi.div_euclid(one).min(i64::from(lattice.dims[axes[k]]) - 1))
    };
    let ((j0, j1), (k0, k1)) = (range(1), range(2));
    for k in k0..=k1 {
        for j in j0..=j1 {
            let [a, b, c] = p.map(|v| [v[1] - j * one, v[2] - k * one]);
            let (sign, wa) = orient(b, c);
            let (sb, wb) = orient(c, a);
            let (sc, wc) = orient(a, b);
            if sign == 0 || sb != sign || sc != sign {
                continue;
            }
            // All of one sign and not all 0: three ties cannot agree.
            let sum = wa + wb + wc;
            let x = (wa * p[0][0] as f64 + wb * p[1][0] as f64 + wc * p[2][0] as f64) / sum;
            // The normal's x is the doubled area in (y, z): positive when the row leaves the inside.
            found([j as u32, k as u32], x / one as f64, sign > 0);
        }
    }
    1 + ((j1 - j0 + 1).max(0) * (k1 - k0 + 1).max(0)) as u64
}

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 64;

/// Calls `cut(node, axis)` for each edge of the grid, from a node to the next one along an axis, that the surface
/// passes. A crossing within a millionth of a cell of a node cuts both edges there.
pub(super) fn each_cut(
    lattice: &Lattice,
    corners: &[[[f64; 3]; 3]],
    progress: &Progress,
    cut: impl Fn([u32; 3], usize) + Sync,
) -> Result<()> {
    corners.par_chunks(CHUNK).try_for_each(|chunk| {
        let mut work = Work::new(progress);
        for (t, axis) in chunk.iter().flat_map(|t| [0, 1, 2].map(|axis| (t, axis))) {
            let looked_at = visit(lattice, t, axis, |[j, k], x, _| {
                let (from, to) = ((x - 1e-6).floor() as i64, (x + 1e-6).floor() as i64);
                for i in from.max(0)..=to.min(i64::from(lattice.dims[axis]) - 1) {
                    let mut node = [i as u32; 3];
                    node[(axis + 1) % 3] = j;
                    node[(axis + 2) % 3] = k;
                    cut(node, axis);
                }
            });
            work.add(looked_at)?;
        }
        Ok(())
    })
}

/// Returns three bits for each node of a full grid: set where the surface passes between it and the next node along
/// x, y, z.
pub(super) fn cut_edges(lattice: &Lattice, corners: &[[[f64; 3]; 3]], progress: &Progress) -> Result<Vec<AtomicU8>> {
    let dims = lattice.dims.map(|n| n as usize);
    let cut = filled_with(dims[0] * dims[1] * dims[2], || AtomicU8::new(0));
    each_cut(lattice, corners, progress, |[i, j, k], axis| {
        cut[(k as usize * dims[1] + j as usize) * dims[0] + i as usize].fetch_or(1 << axis, Ordering::Relaxed);
    })?;
    Ok(cut)
}

/// Returns an upper bound of the bytes for the crossings of all rows along x with these triangles, while they are
/// sorted and joined.
pub(super) fn bytes(mesh: &TriMesh, spacing: f64) -> u64 {
    let rows = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|p| [p[1], p[2]]);
        let side = |p: [f64; 2], q: [f64; 2]| [(q[0] - p[0]) / spacing, (q[1] - p[1]) / spacing];
        let (u, v) = (side(a, b), side(a, c));
        let longest = [u, v, side(b, c)].iter().map(|s| s[0].abs() + s[1].abs()).fold(0.0, f64::max);
        0.5 * (u[0] * v[1] - u[1] * v[0]).abs() + longest + 1.0
    };
    // A key and its weight, in a vector that may have grown to twice its need, while it is joined with another.
    (32.0 * (0..mesh.triangles.len()).map(rows).sum::<f64>()).min(1e18) as u64
}

/// The crossings of all rows along x, sorted by row and position.
pub(super) struct Crossings {
    /// row << 22 | first node beyond the crossing << 1 | (1 when the surface is left there).
    keys: Vec<u64>,
    /// Number of triangles crossed there; empty where all are 1.
    weights: Vec<u32>,
    /// Index of each row's first key, and the end.
    rows: Vec<u32>,
    dims: [u32; 3],
}

/// A walk along one row.
pub(super) struct Row<'a> {
    keys: &'a [u64],
    weights: &'a [u32],
    winding: i64,
    parity: bool,
}

impl Row<'_> {
    /// Returns whether a node is inside; nodes must be passed in ascending order.
    pub fn at(&mut self, node: u32) -> bool {
        while let Some((key, rest)) = self.keys.split_first() {
            if node_of(*key) > u64::from(node) {
                break;
            }
            let mut weight = 1;
            if let Some((w, rest)) = self.weights.split_first() {
                weight = i64::from(*w);
                self.weights = rest;
            }
            self.winding += if self.parity || key & 1 == 0 { weight } else { -weight };
            self.keys = rest;
        }
        if self.parity {
            self.winding % 2 != 0
        } else {
            self.winding > 0
        }
    }
}

/// Returns the first node beyond a crossing.
fn node_of(key: u64) -> u64 {
    key >> 1 & ((1 << 21) - 1)
}

/// Returns the crossings of all triangles, sorted; `of` converts a triangle's number and a key to the stored item.
fn all<T: Ord + Send>(
    lattice: &Lattice,
    corners: &[[[f64; 3]; 3]],
    progress: &Progress,
    of: impl Fn(usize, u64) -> T + Sync,
) -> Result<Vec<T>> {
    let [nx, ny, _] = lattice.dims;
    let mut found = par_try_flat_collect(corners.len().div_ceil(CHUNK), 1, |c, found| {
        let mut work = Work::new(progress);
        for t in c * CHUNK..corners.len().min((c + 1) * CHUNK) {
            let looked_at = visit(lattice, &corners[t], 0, |[j, k], x, leaves| {
                let node = x.ceil().clamp(0.0, f64::from(nx)) as u64;
                let row = u64::from(k) * u64::from(ny) + u64::from(j);
                found.push_guarded(of(t, row << 22 | node << 1 | u64::from(leaves)));
            });
            work.add(looked_at)?;
        }
        // `bytes` does not include spare capacity of all the vectors.
        *found = exact(std::mem::take(found));
        Ok(())
    })?;
    found.par_sort_unstable();
    Ok(found)
}

impl Crossings {
    /// Finds the crossings. `corners`: triangles in the lattice's frame and units; `weights`: number of triangles
    /// that each stands for, or empty.
    pub fn find(lattice: &Lattice, corners: &[[[f64; 3]; 3]], weights: &[u32], progress: &Progress) -> Result<Self> {
        let (keys, weights): (Vec<u64>, Vec<u32>) = if weights.is_empty() {
            (all(lattice, corners, progress, |_, key| key)?, Vec::new())
        } else {
            let all = all(lattice, corners, progress, |n, key| (key, weights[n]))?;
            (all.iter().map(|c| c.0).collect_guarded(), all.iter().map(|c| c.1).collect_guarded())
        };
        let rows = lattice.dims[1] as usize * lattice.dims[2] as usize;
        let mut starts = filled(0u32, rows + 1);
        keys.iter().for_each(|key| starts[(key >> 22) as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        Ok(Self { keys, weights, rows: starts, dims: lattice.dims })
    }

    /// Returns the row along x through nodes (j, k). `parity`: inside is where the number of crossings is odd;
    /// otherwise, where the winding number is positive.
    pub fn row(&self, j: u32, k: u32, parity: bool) -> Row<'_> {
        let row = k as usize * self.dims[1] as usize + j as usize;
        let range = self.rows[row] as usize..self.rows[row + 1] as usize;
        let weights = self.weights.get(range.clone()).unwrap_or_default();
        Row { keys: &self.keys[range], weights, winding: 0, parity }
    }

    /// Makes `values` (positive) negative inside; `parity` as for `row`.
    pub fn apply(&self, values: &mut [f32], parity: bool) {
        let [nx, ny, _] = self.dims.map(|n| n as usize);
        values.par_chunks_mut(nx * ny).enumerate().for_each(|(k, slice)| {
            for (j, line) in slice.chunks_mut(nx).enumerate() {
                let mut row = self.row(j as u32, k as u32, parity);
                let mut from = 0;
                // Runs between crossings have one sign.
                while from < nx {
                    let inside = row.at(from as u32);
                    let end = row.keys.first().map_or(nx, |&key| (node_of(key) as usize).min(nx));
                    if inside {
                        line[from..end].iter_mut().for_each(|v| *v = -*v);
                    }
                    from = end;
                }
            }
        });
    }
}
