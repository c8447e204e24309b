//! Membranes across the holes of open surfaces.
//!
//! Where the winding number passes one half in a hole, φ would jump from +d to −d within a cell, and no ball that
//! reaches there could be bounded. So the level w = ½ becomes part of the surface: it is extracted where neighbouring
//! nodes have opposite signs but are too far from the mesh for it to pass between them, and φ is the distance to both
//! surfaces.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::lattice::Lattice;
use crate::field::sign::Sides;
use crate::field::Grid;
use crate::math::{Progress, Vec3, Work};
use crate::memory::{concat, CollectGuarded, GrowGuarded, ParCollectGuarded};
use crate::{Error, Result};

/// The six tetrahedra of a cell around its diagonal, as corner numbers (Kuhn 1960): neighbouring cells' faces match.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// Returns the corners of the cell above a node, x fastest.
pub(super) fn corner([i, j, k]: [u32; 3], c: usize) -> [u32; 3] {
    let c = c as u32;
    [i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)]
}

/// Parameters of the extraction of membranes, and a counter of their triangles.
pub(super) struct Membrane<'a> {
    pub sides: &'a Sides,
    pub lattice: &'a Lattice,
    /// Origin of the lattice's frame, body frame.
    pub center: Vec3,
    /// Distance between nodes, metres.
    pub spacing: f32,
    /// Largest number of bytes that the triangles may take.
    pub limit: u64,
    /// Number of triangles so far.
    pub count: AtomicU64,
}

/// Bytes for each triangle, while it is joined with the others.
const BYTES: u64 = 4 * size_of::<[[f64; 3]; 3]>() as u64;

impl Membrane<'_> {
    /// Extracts the membranes over a full grid; `values`: signed distances to the mesh, metres. Triangles are in the
    /// lattice's frame and units.
    pub fn of_grid(&self, grid: &Grid, values: &[f32], progress: &Progress) -> Result<Vec<[[f64; 3]; 3]>> {
        let [nx, ny, nz] = grid.dims;
        let slices: Vec<Vec<[[f64; 3]; 3]>> = (0..nz - 1)
            .into_par_iter()
            .map(|k| {
                let mut out = Vec::new();
                let mut work = Work::new(progress);
                for j in 0..ny - 1 {
                    work.add(u64::from(nx))?;
                    for i in 0..nx - 1 {
                        let v: [f32; 8] = std::array::from_fn(|c| {
                            let [i, j, k] = corner([i, j, k], c);
                            values[grid.index(i, j, k)]
                        });
                        if v.iter().any(|&x| x < 0.0) && v.iter().any(|&x| x >= 0.0) {
                            self.cell([i, j, k], &v, &mut out, &mut work)?;
                        }
                    }
                }
                Ok(out)
            })
            .try_collect_guarded()?;
        Ok(concat(slices))
    }

    /// Appends the triangles in the cell above a node; `v`: signed distances at its corners.
    pub fn cell(&self, node: [u32; 3], v: &[f32; 8], out: &mut Vec<[[f64; 3]; 3]>, work: &mut Work) -> Result<()> {
        let jumps: Vec<&[usize; 4]> = TETRAHEDRA.iter().filter(|t| has_jump(t, v, self.spacing)).collect_guarded();
        if jumps.is_empty() {
            return Ok(());
        }
        let Self { sides, lattice, center, spacing, .. } = self;
        let at: [[f64; 3]; 8] = std::array::from_fn(|c| {
            let n = corner(node, c);
            [0, 1, 2].map(|a| lattice.min[a] + f64::from(n[a]) * lattice.spacing)
        });
        let mut w = [0.0; 8];
        for (w, at) in w.iter_mut().zip(at) {
            *w = sides.winding_number_counted(Vec3::from(at) / lattice.scale + center, work)? - 0.5;
        }
        let before = out.len();
        for t in jumps {
            cut(t, v, &w, &at, *spacing, out);
        }
        let added = (out.len() - before) as u64;
        let most = self.limit / BYTES;
        if self.count.fetch_add(added, Ordering::Relaxed) + added > most {
            let what = format!("a field with membranes of more than {most} triangles across the holes of the mesh");
            return Err(Error::TooLarge { what, needed: (most + 1) * BYTES, limit: self.limit });
        }
        Ok(())
    }

    /// Returns whether a cell may have triangles if its distances may be larger by `slack` than `v`.
    pub fn may_have(&self, v: &[f32; 8], slack: f32) -> bool {
        let larger = v.map(|x| if x < 0.0 { x - slack } else { x + slack });
        TETRAHEDRA.iter().any(|t| has_jump(t, &larger, self.spacing))
    }

    /// Returns a distance from the mesh, metres: a node that is farther is never joined to a node of the other sign
    /// by an edge of a cell that the mesh may cut.
    pub fn clear(&self) -> f32 {
        1.8 * self.spacing
    }
}

/// Returns whether the signs are opposite and the mesh cannot pass between: the sum of the distances exceeds the
/// length of the edge.
fn is_jump(a: usize, b: usize, v: &[f32; 8], h: f32) -> bool {
    let length = f32::sqrt((a ^ b).count_ones() as f32) * h;
    (v[a] < 0.0) != (v[b] < 0.0) && v[a].abs() + v[b].abs() > 1.0001 * length
}

fn has_jump(t: &[usize; 4], v: &[f32; 8], h: f32) -> bool {
    (0..4).any(|i| (0..i).any(|j| is_jump(t[i], t[j], v, h)))
}

/// Appends the one or two triangles that separate the signs of a tetrahedron's corners.
fn cut(t: &[usize; 4], v: &[f32; 8], w: &[f64; 8], at: &[[f64; 3]; 8], h: f32, out: &mut Vec<[[f64; 3]; 3]>) {
    let cross = |a: usize, b: usize| {
        // At the mesh, by the distances; in the hole, by the winding number.
        let (x, y) = if is_jump(a, b, v, h) { (w[a], w[b]) } else { (f64::from(v[a]), f64::from(v[b])) };
        let s = if x == y { 0.5 } else { (x / (x - y)).clamp(0.01, 0.99) };
        [0, 1, 2].map(|k| at[a][k] + s * (at[b][k] - at[a][k]))
    };
    let (inner, outer): (Vec<usize>, Vec<usize>) = t.iter().copied().partition(|&c| v[c] < 0.0);
    match (inner.as_slice(), outer.as_slice()) {
        ([a], [b, c, d]) | ([b, c, d], [a]) => out.push_guarded([cross(*a, *b), cross(*a, *c), cross(*a, *d)]),
        ([a, b], [c, d]) => {
            let (ac, ad, bc, bd) = (cross(*a, *c), cross(*a, *d), cross(*b, *c), cross(*b, *d));
            out.extend_guarded([[ac, ad, bd], [ac, bd, bc]]);
        }
        _ => {}
    }
}
