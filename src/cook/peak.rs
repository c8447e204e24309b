//! Upper bound on the memory that cooking a mesh holds at any time. The checks against the memory limit count one stage
//! and leave out what is known late: the triangles of offset surfaces, and those of membranes across the holes of open
//! meshes. Here their areas are measured on coarse grids.
//!
//! Each constant below is a size of the arrays of a stage, or a share that `tests/cook_estimate.rs` holds against the
//! allocator.

use super::cull::Culler;
use super::lattice::Lattice;
use super::layout::Layout;
use super::options::needed_all_the_same;
use super::shape::{surface_bytes, voxel_size, with_room, CookOptions, Storage};
use super::{bricks, dense, offset, sample, FieldOptions};
use voxshell_base::math::{Progress, Vec3};
use voxshell_base::memory::{self, filled, with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::Result;
use voxshell_field::sign::Sides;
use voxshell_field::{Grid, SignRule};
use voxshell_mesh::TriMesh;

/// Memory for any mesh: the points at which the error is measured, and a batch of candidates for each of 16 threads: the answer
/// must not depend on how many there are.
const ALWAYS: f64 = 1.5e6 + 16.0 * 128e3;
/// Bytes for each vertex and triangle: the mesh, welded, without repeats and repaired.
const EACH_VERTEX: f64 = 200.0;
const EACH_TRIANGLE: f64 = 200.0;
/// Largest number of faces of voxels, per face of a voxel's area, that a surface passes.
const FACES: f64 = 1.7321;
/// Triangles of membranes per such face: those of six tetrahedra.
const MEMBRANE_TRIANGLES: f64 = 6.0;
/// Bytes for each triangle of a membrane beside those of the culler: cells and their winding numbers, the triangles while
/// they are joined, a mesh with its hierarchy.
const MEMBRANE_BYTES: f64 = 600.0;
/// Bytes for each triangle of an offset surface beside those of the culler: twice while they are joined, a mesh and its
/// cumulative areas; and for the pointshell: the triangles, the same as a mesh, and welded.
const OUTER_BYTES: f64 = 144.0 + 84.0 + 16.0;
const OUTER_MESH_BYTES: f64 = 72.0 + 84.0 + 300.0;
/// Areas measured on coarse grids may be larger on fine ones, by this factor.
const FINER: f64 = 1.5;
/// Cells along the largest extent of the grid on which membranes are measured.
const MEMBRANE_CELLS: f64 = 32.0;
/// Largest number of nodes of the grid on which an offset surface is measured.
const OFFSET_NODES: f64 = (1 << 21) as f64;

impl CookOptions {
    /// Returns an upper bound on the memory that cooking the mesh holds at any time, bytes, the copies of the mesh and the
    /// finished forms included. At least [`memory_needed`](Self::memory_needed). The limits in `self` are ignored. For an
    /// open mesh it cooks a coarse field, and for an offset it computes distances on a coarse grid.
    ///
    /// # Errors
    /// Those of [`memory_needed`](Self::memory_needed).
    pub fn peak_memory(&self, mesh: &TriMesh) -> Result<u64> {
        let checked = self.memory_needed(mesh)?;
        let peak = memory::guard("estimating memory", || {
            let welded = mesh.welded(self.weld_tolerance);
            let (resolution, storage) = self.chosen(&welded);
            let voxel_size = voxel_size(&welded.bounds(), resolution)?;
            peak(mesh, &welded, &Self { storage, ..self.clone() }, voxel_size)
        })?;
        Ok(checked.max(peak))
    }
}

/// Returns the bound for a welded mesh, bytes; `given` is the mesh before. The limits in `options` are ignored.
fn peak(given: &TriMesh, mesh: &TriMesh, options: &CookOptions, voxel_size: f64) -> Result<u64> {
    let field = FieldOptions { voxel_size, memory_limit: u64::MAX, ..options.field };
    let has_offset = field.offset != 0.0;
    let sides = Sides::new(mesh);
    let is_open = sides.rule == SignRule::WindingNumber;
    drop(sides);
    let fixed = FieldOptions::fixed_bytes(mesh.triangles.len()) as f64;
    let meshes = EACH_VERTEX * given.vertices.len() as f64 + EACH_TRIANGLE * given.triangles.len() as f64;
    let outer = if has_offset { outer(mesh, &field)? } else { 0.0 };
    let triangles = 2.0 * outer / (voxel_size * voxel_size);

    // The stages of the field, and what stays of it.
    let (mut cooking, mut kept) = (0.0, 0.0);
    if options.forms.field {
        let counts = field.counts(mesh)?.0;
        (cooking, kept) = match options.storage {
            Storage::Automatic | Storage::Dense => {
                (dense::memory_needed(mesh, &field)? as f64, 4.0 * counts.iter().product::<f64>())
            }
            Storage::Bricks => {
                let needed = bricks::memory_needed(mesh, &field)? as f64;
                (needed, needed - fixed)
            }
            Storage::Exact => {
                let counts = with_room(&field).counts(mesh)?.0;
                let surface = surface_bytes(mesh) as f64;
                (
                    dense::memory_needed(mesh, &with_room(&field))? as f64 + surface,
                    4.0 * counts.iter().product::<f64>() + surface,
                )
            }
        };
        if has_offset {
            let grid = if options.storage == Storage::Dense { 2.0 * kept } else { 0.0 };
            cooking = grid + offset_needed(mesh, &field)? + triangles * OUTER_BYTES + culler(triangles);
        } else if is_open {
            let sheets = membranes(mesh, &field)? * FACES / (voxel_size * voxel_size) * MEMBRANE_TRIANGLES;
            cooking += sheets * MEMBRANE_BYTES + culler(sheets);
        }
    }
    // Without a field, a closed mesh may need one for its mass.
    let mass = if options.forms.field || is_open || has_offset {
        fixed
    } else {
        dense::memory_needed(mesh, &FieldOptions { memory_limit: u64::MAX, ..FieldOptions::with_resolution(mesh, 64) })?
            as f64
    };
    let shell = match options.forms.shell {
        false => 0.0,
        true if has_offset => {
            let surface = triangles * OUTER_MESH_BYTES;
            let shell = sample::bytes_on(outer, triangles, voxel_size, &options.shell_options(voxel_size));
            (offset_needed(mesh, &field)? + triangles * OUTER_BYTES).max(shell) + surface
        }
        true => sample::memory_needed(mesh, &options.shell_options(voxel_size))? as f64,
    };
    // A float too large for u64 becomes its largest value.
    Ok((ALWAYS + meshes + cooking.max(kept + mass.max(shell))) as u64)
}

/// Returns the memory that is checked for an offset surface, also where its grid would have too many nodes, bytes.
fn offset_needed(mesh: &TriMesh, field: &FieldOptions) -> Result<f64> {
    Ok(offset::memory_needed(mesh, field).or_else(needed_all_the_same)? as f64)
}

/// Returns the bytes of a culler, also for more triangles than u64 can count the bytes of.
fn culler(triangles: f64) -> f64 {
    const MANY: u64 = 1 << 20;
    Culler::bytes(MANY) as f64 / MANY as f64 * triangles + Culler::bytes(1) as f64
}

/// Returns a bound on the area of the faces of voxels that the surface at the offset from a mesh passes, m².
fn outer(mesh: &TriMesh, options: &FieldOptions) -> Result<f64> {
    let sigma = options.offset;
    // The parallel surface of each triangle: Steiner's formula.
    let ball = 4.0 * std::f64::consts::PI * sigma * sigma;
    let around = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        let edges = (b - a).norm() + (c - b).norm() + (a - c).norm();
        (b - a).cross(&(c - a)).norm() + std::f64::consts::PI * sigma * edges
    };
    let steiner = FACES * ((0..mesh.triangles.len()).map(around).sum::<f64>() + ball * mesh.vertices.len() as f64);
    let Ok(Layout { all, center, .. }) = Layout::new(mesh, options) else { return Ok(steiner) };
    // The finest lattice of whole cells that a fourth of the offset allows, or the number of nodes.
    let nodes = |n: u32| all.dims.iter().map(|&d| f64::from((d - 1).div_ceil(n) + 1)).product::<f64>();
    let mut step = ((0.25 * sigma / f64::from(all.spacing)) as u32).max(1);
    while nodes(step) > OFFSET_NODES {
        step += step.div_ceil(4);
    }
    let fine = Lattice::new(&all);
    let dims = all.dims.map(|d| (d - 1).div_ceil(step) + 1);
    let lattice = Lattice { dims, spacing: fine.spacing * f64::from(step), ..fine };
    let edge = f64::from(all.spacing) * f64::from(step);
    let grid = Grid { dims, ..all };
    let mut distances = filled(0.0f32, grid.len());
    Culler::new(&fine.corners(mesh, center)).fill(&lattice, &mut distances, &Progress::none())?;
    let diagonal = 3f64.sqrt() * edge;
    if step > 1 && 4.0 * edge > sigma {
        // The surface at σ around a volume V(σ) has at most the area 3 V(σ) / σ (Kneser 1951).
        let within = distances.iter().filter(|&&d| f64::from(d) <= sigma + 0.5 * diagonal).count();
        return Ok(steiner.min(FACES * 3.0 / sigma * within as f64 * edge.powi(3)));
    }
    // Every path at distances beyond σ passes cells whose corners are all beyond this.
    let (passable, finer) = if step == 1 { (sigma, 1.05) } else { (sigma - diagonal, FINER) };
    let outside = reached(&grid, &distances, passable as f32);
    Ok(steiner.min(finer * crossed(&grid, &distances, &outside, sigma as f32) * edge * edge))
}

/// Returns the nodes that a path of edges joins to the border of the grid, over nodes that are farther than `distance`.
fn reached(grid: &Grid, distances: &[f32], distance: f32) -> Vec<bool> {
    let mut reached = filled(false, grid.len());
    let mut work = Vec::new();
    let mut visit = |node: [u32; 3], work: &mut Vec<[u32; 3]>| {
        let n = grid.index(node[0], node[1], node[2]);
        if distances[n] > distance && !std::mem::replace(&mut reached[n], true) {
            work.push_guarded(node);
        }
    };
    let [nx, ny, nz] = grid.dims;
    for node in (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k]))) {
        if (0..3).any(|a| node[a] == 0 || node[a] + 1 == grid.dims[a]) {
            visit(node, &mut work);
        }
    }
    while let Some(node) = work.pop() {
        for (a, up) in [(0, false), (0, true), (1, false), (1, true), (2, false), (2, true)] {
            let mut next = node;
            next[a] = if up { node[a] + 1 } else { node[a].wrapping_sub(1) };
            if next[a] < grid.dims[a] {
                visit(next, &mut work);
            }
        }
    }
    reached
}

/// Returns the number of edges of a grid from the outside to nodes within a distance.
fn crossed(grid: &Grid, distances: &[f32], outside: &[bool], distance: f32) -> f64 {
    let [nx, ny, nz] = grid.dims;
    let mut count = 0u64;
    for [i, j, k] in (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k]))) {
        let leaves = |n: usize, m: usize| distances[n] <= distance && distances[m] > distance && outside[m];
        let n = grid.index(i, j, k);
        for (is_in, step) in [(i + 1 < nx, [1, 0, 0]), (j + 1 < ny, [0, 1, 0]), (k + 1 < nz, [0, 0, 1])] {
            let m = if is_in { grid.index(i + step[0], j + step[1], k + step[2]) } else { n };
            count += u64::from(leaves(n, m) || leaves(m, n));
        }
    }
    count as f64
}

/// Returns a bound on the area of the membranes across the holes of an open welded mesh, m².
fn membranes(mesh: &TriMesh, options: &FieldOptions) -> Result<f64> {
    let coarse = mesh.bounds().extents().max() / MEMBRANE_CELLS;
    let voxel_size = options.voxel_size.max(coarse);
    // Membranes are within the convex hull of the mesh.
    let padding_voxels = options.padding_voxels.min(2);
    let options = FieldOptions { padding_voxels, ..*options };
    let measured = dense::dense_field(mesh, &FieldOptions { voxel_size, ..options }, &Progress::none())?;
    let unseen = if voxel_size > options.voxel_size { narrow_holes(mesh, voxel_size) } else { 0.0 };
    Ok(FINER * measured.sign().membrane_area + unseen)
}

/// Returns a bound on the area of the holes that are not wider than `width`, metres and m²: for each connected part of the
/// border, the area of a disk with its length, or of a strip of this width.
fn narrow_holes(mesh: &TriMesh, width: f64) -> f64 {
    let mut edges: Vec<[u32; 2]> = with_capacity(3 * mesh.triangles.len());
    for t in &mesh.triangles {
        edges.extend_guarded((0..3).map(|k| [t[k], t[(k + 1) % 3]]).map(|[a, b]| [a.min(b), a.max(b)]));
    }
    edges.sort_unstable();
    // For each vertex another one of the same part of the border, or itself.
    let mut parent: Vec<u32> = (0..mesh.vertices.len() as u32).collect_guarded();
    let root = |parent: &mut [u32], mut i: u32| {
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i
    };
    let borders = || edges.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]);
    for [a, b] in borders() {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a as usize] = b;
    }
    let mut lengths = filled(0.0, mesh.vertices.len());
    for [a, b] in borders() {
        let [p, q] = [a, b].map(|i| Vec3::from(mesh.vertices[i as usize]));
        lengths[root(&mut parent, a) as usize] += (q - p).norm();
    }
    lengths.iter().map(|l| (l * l / (4.0 * std::f64::consts::PI)).min(l * width)).sum()
}
