//! Membranes across the holes of open surfaces.
//!
//! Where the winding number passes one half in a hole, φ would jump from +d to −d within a cell, and no ball that
//! reaches there could be bounded. So the level w = ½ becomes part of the surface: it is extracted where neighbouring
//! nodes have opposite signs but are too far from the mesh for it to pass between them, and φ is the distance to both
//! surfaces.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::lattice::Lattice;
use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::{concat, with_capacity, GrowGuarded, ParCollectGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::sign::Sides;
use voxshell_field::Grid;
use voxshell_mesh::WINDING_LANES;

/// The six tetrahedra of a cell around its diagonal, as corner numbers (Kuhn 1960): neighbouring cells' faces match.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// Returns the corners of the cell above a node, x fastest.
pub(super) fn corner([i, j, k]: [u32; 3], c: usize) -> [u32; 3] {
    let c = c as u32;
    [i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)]
}

/// A cell that a membrane may pass.
pub(super) struct Cell {
    /// The node below it.
    pub node: [u32; 3],
    /// Signed distances at its corners, metres.
    pub v: [f32; 8],
}

/// Winding numbers, less one half, at the corners of cells. Neighbouring cells share corners, so each is evaluated once.
struct Corners {
    /// Sorted; z, y, x.
    nodes: Vec<[u32; 3]>,
    w: Vec<f64>,
}

impl Corners {
    fn new(membrane: &Membrane, cells: &[Cell], work: &mut Work) -> Result<Self> {
        let mut nodes = with_capacity(8 * cells.len());
        for cell in cells {
            nodes.extend_guarded((0..8).map(|c| Self::key(corner(cell.node, c))));
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut w = with_capacity(nodes.len());
        for batch in nodes.chunks(WINDING_LANES) {
            let mut points = [Vec3::zeros(); WINDING_LANES];
            for (p, node) in points.iter_mut().zip(batch) {
                *p = Vec3::from(membrane.place(Self::key(*node))) / membrane.lattice.scale + membrane.center;
            }
            let of_batch = membrane.sides.winding_numbers_counted(&points[..batch.len()], work)?;
            w.extend_guarded(of_batch[..batch.len()].iter().map(|w| w - 0.5));
        }
        Ok(Self { nodes, w })
    }

    /// Reverses the order of the coordinates.
    fn key([x, y, z]: [u32; 3]) -> [u32; 3] {
        [z, y, x]
    }

    fn winding(&self, node: [u32; 3]) -> f64 {
        self.nodes.binary_search(&Self::key(node)).map_or(f64::NAN, |n| self.w[n])
    }
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
                let mut cells = Vec::new();
                let mut work = Work::new(progress);
                for j in 0..ny - 1 {
                    work.add(u64::from(nx))?;
                    for i in 0..nx - 1 {
                        let v: [f32; 8] = std::array::from_fn(|c| {
                            let [i, j, k] = corner([i, j, k], c);
                            values[grid.index(i, j, k)]
                        });
                        if v.iter().any(|&x| x < 0.0) && v.iter().any(|&x| x >= 0.0) && self.may_have(&v, 0.0) {
                            cells.push_guarded(Cell { node: [i, j, k], v });
                        }
                    }
                }
                let mut out = Vec::new();
                self.triangles(&cells, &mut work, |_, found| out.extend_guarded(found.iter().copied()))?;
                Ok(out)
            })
            .try_collect_guarded()?;
        Ok(concat(slices))
    }

    /// Calls `found` with each cell and its triangles, in the order of the cells. The cells have a triangle
    /// ([`Membrane::may_have`] without slack).
    pub fn triangles(
        &self,
        cells: &[Cell],
        work: &mut Work,
        mut found: impl FnMut(&Cell, &[[[f64; 3]; 3]]),
    ) -> Result<()> {
        let corners = Corners::new(self, cells, work)?;
        let most = self.limit / BYTES;
        let mut out = Vec::new();
        for cell in cells {
            out.clear();
            let at: [[f64; 3]; 8] = std::array::from_fn(|c| self.place(corner(cell.node, c)));
            let w = std::array::from_fn(|c| corners.winding(corner(cell.node, c)));
            for t in TETRAHEDRA.iter().filter(|t| has_jump(t, &cell.v, self.spacing)) {
                cut(t, &cell.v, &w, &at, self.spacing, &mut out);
            }
            let added = out.len() as u64;
            if self.count.fetch_add(added, Ordering::Relaxed) + added > most {
                let what = format!("a field with membranes of more than {most} triangles across the holes of the mesh");
                return Err(Error::TooLarge { what, needed: (most + 1) * BYTES, limit: self.limit });
            }
            found(cell, &out);
        }
        Ok(())
    }

    /// Returns the position of a node, lattice frame and units.
    fn place(&self, node: [u32; 3]) -> [f64; 3] {
        [0, 1, 2].map(|a| self.lattice.min[a] + f64::from(node[a]) * self.lattice.spacing)
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

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_mesh::TriMesh;

    #[test]
    fn cells_that_share_corners_have_the_triangles_of_each_alone() {
        // A cube without its top, and a needle, a repeat and a triangle without area beside it.
        let mut vertices: Vec<[f64; 3]> = (0..8).map(|c| [0, 1, 2].map(|k| f64::from(c >> k & 1))).collect();
        vertices.extend([[2.0, 0.0, 0.0], [2.5, 0.5, 1e-9], [3.0, 1.0, 0.0]]);
        let faces = [[0, 2, 1], [1, 2, 3], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5]];
        let others = [[3, 7, 5], [8, 9, 10], [0, 2, 1], [8, 8, 9]];
        let mesh = TriMesh::new(vertices, faces.into_iter().chain(others).collect()).unwrap();
        let sides = Sides::new(&mesh);
        let grid = Grid::centered([21; 3], 0.1);
        let (lattice, center) = (Lattice::new(&grid), Vec3::new(0.6, 0.5, 0.7));
        let (limit, count) = (u64::MAX, AtomicU64::new(0));
        let membrane = Membrane { sides: &sides, lattice: &lattice, center, spacing: 0.1, limit, count };
        let mut state = 9u64;
        let cells: Vec<Cell> = (0..4000)
            .map(|n| {
                let v = std::array::from_fn(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 40) as f32 / (1 << 24) as f32 * 0.4 - 0.2
                });
                Cell { node: [n % 20, n / 20 % 20, n / 400], v }
            })
            .filter(|cell| membrane.may_have(&cell.v, 0.0))
            .collect();
        let progress = Progress::none();
        let mut work = Work::new(&progress);
        let (mut seen, mut total) = (0, 0);
        let check = |cell: &Cell, found: &[[[f64; 3]; 3]]| {
            assert_eq!(cell.node, cells[seen].node);
            let at: [[f64; 3]; 8] = std::array::from_fn(|c| membrane.place(corner(cell.node, c)));
            let w = at.map(|p| sides.winding_number(Vec3::from(p) / lattice.scale + center) - 0.5);
            let mut alone = Vec::new();
            TETRAHEDRA
                .iter()
                .filter(|t| has_jump(t, &cell.v, 0.1))
                .for_each(|t| cut(t, &cell.v, &w, &at, 0.1, &mut alone));
            assert_eq!(found, alone, "{:?}", cell.node);
            (seen, total) = (seen + 1, total + found.len());
        };
        membrane.triangles(&cells, &mut work, check).unwrap();
        assert!(seen == cells.len() && total > 5000, "{seen} cells, {total} triangles");
        assert_eq!(membrane.count.load(Ordering::Relaxed), total as u64);
    }
}
