//! Cooking a triangle soup into a field: exact distances (`cull`), the sign (`crossings`, `winding`, `membrane`), and the
//! fit to the mesh (`measure`). Here for a full grid, in `bricks` for bricks.

mod bricks;
mod crossings;
mod cull;
mod lattice;
mod measure;
mod membrane;
mod offset;
mod open;
mod tiles;
mod winding;

use std::sync::atomic::AtomicU64;

use super::report::SignRule;
use super::sign::Sides;
use super::zeros::zeros;
use super::{DenseField, Grid};
use crate::math::{Progress, Vec3};
use crate::memory;
use crate::mesh::TriMesh;
use crate::{Error, Result};
use crossings::Crossings;
use cull::Culler;
use lattice::Lattice;
use membrane::Membrane;
pub use offset::offset_surface;

/// How to cook a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldOptions {
    /// Distance between nodes, metres.
    pub voxel_size: f64,
    /// Cells between the mesh's box and the border of the grid.
    pub padding_voxels: u32,
    /// Metres. Not 0: the surface is the outer one at this distance from the mesh, which may be a soup of any kind: thin
    /// sheets and patches become a solid with a rounded surface, gaps of less than twice this close, and what is enclosed is
    /// filled. At least a voxel's diagonal. The grid grows by it.
    pub offset: f64,
    /// Most memory that cooking may take, bytes.
    pub memory_limit: u64,
}

impl FieldOptions {
    /// Four cells of padding, no offset, and at most 4 GiB.
    pub fn new(voxel_size: f64) -> Self {
        Self { voxel_size, padding_voxels: 4, offset: 0.0, memory_limit: 4 << 30 }
    }

    /// `cells` along the largest extent of the mesh's box.
    pub fn with_resolution(mesh: &TriMesh, cells: u32) -> Self {
        Self::new(mesh.bounds().extents().max() / f64::from(cells.max(1)))
    }

    /// The grid that `mesh` will get: nodes all around its box, centred on it; and the centre, body frame. Checks the memory
    /// of cooking a full grid.
    pub fn grid(&self, mesh: &TriMesh) -> Result<(Grid, Vec3)> {
        memory::guard("estimating memory", || self.grid_of(&mesh.without_repeats(), mesh.triangles.len()))
    }

    /// The same of a mesh without repeats that had `given` triangles.
    fn grid_of(&self, mesh: &TriMesh, given: usize) -> Result<(Grid, Vec3)> {
        let (counts, center) = self.counts(mesh)?;
        self.check_nodes(counts, mesh, given)?;
        let grid = Grid::centered(counts.map(|n| n as u32), self.voxel_size as f32);
        grid.check()?;
        Ok((grid, center))
    }

    /// Nodes along the axes, whole numbers that may be too large, and the centre of the mesh's box.
    fn counts(&self, mesh: &TriMesh) -> Result<([f64; 3], Vec3)> {
        if !(self.voxel_size.is_finite() && self.voxel_size > 0.0) {
            return Err(Error::argument("voxel_size", self.voxel_size, "a positive, finite length in metres"));
        }
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("there are no triangles; expected at least 1".into()));
        }
        mesh.check_extent()?;
        self.check_offset()?;
        let bounds = mesh.bounds();
        let extents = bounds.inflated(self.offset).extents();
        let padding = f64::from(self.padding_voxels);
        let count = |k: usize| ((extents[k] / self.voxel_size).ceil() + 2.0 * padding + 1.0).max(2.0);
        Ok(([0, 1, 2].map(count), bounds.center()))
    }

    /// Checks the memory of cooking a full grid; what it is, bytes.
    fn check_nodes(&self, counts: [f64; 3], mesh: &TriMesh, given: usize) -> Result<u64> {
        let [x, y, z] = counts;
        // Samples and a byte for their edges; with an offset those of two surfaces.
        let each = if self.offset > 0.0 { 8.0 } else { 5.0 };
        let nodes = (each * (x * y * z)) as u64;
        let needed = nodes.saturating_add(Self::fixed_bytes(given) + crossings::bytes(mesh, self.voxel_size));
        if needed > self.memory_limit || counts.iter().any(|&n| n > f64::from(1 << 20)) {
            let what = format!("a field of {x} x {y} x {z} nodes {} m apart", self.voxel_size);
            return Err(Error::TooLarge { what, needed, limit: self.memory_limit });
        }
        Ok(needed)
    }

    /// Memory for cooking the triangles in the forms that are kept at once, bytes.
    fn fixed_bytes(triangles: usize) -> u64 {
        // Culling; the repaired soup, its hierarchy and its row crossings.
        Culler::bytes(triangles as u64) + triangles as u64 * 600
    }
}

/// For each triangle of a membrane, while it is joined with others, and again as a mesh with its hierarchy, bytes.
const SHEET_BYTES: u64 = 600;

impl DenseField {
    /// The field of a mesh. Exact distance at every node; see [`SignReport`] for the sign. The same input gives the same
    /// bytes on any number of threads (rayon's current pool).
    pub fn cook(mesh: &TriMesh, options: &FieldOptions, progress: &Progress) -> Result<Self> {
        progress.guard("cooking a field on a full grid", || {
            if options.offset != 0.0 {
                return Self::cook_offset(mesh, options, progress);
            }
            let distinct = mesh.without_repeats();
            let (grid, center) = options.grid_of(&distinct, mesh.triangles.len())?;
            Self::cook_on(mesh, &distinct, grid, center, options.memory_limit, progress)
        })
    }

    /// The memory that [`DenseField::cook`] checks against the limit, bytes: with a limit of one byte less it refuses. The
    /// limit in `options` does not matter.
    pub fn memory_needed(mesh: &TriMesh, options: &FieldOptions) -> Result<u64> {
        let unlimited = FieldOptions { memory_limit: u64::MAX, ..*options };
        let counts = unlimited.counts(mesh)?.0;
        let nodes = memory::guard("estimating memory", || {
            unlimited.check_nodes(counts, &mesh.without_repeats(), mesh.triangles.len())
        });
        let surface = if options.offset != 0.0 {
            memory::guard("estimating memory", || offset::memory_needed(mesh, &unlimited))
        } else {
            Ok(0)
        };
        Ok(nodes.or_else(needed_all_the_same)?.max(surface.or_else(needed_all_the_same)?))
    }

    /// On a grid whose memory has been checked; `distinct`: the mesh without repeats.
    fn cook_on(
        mesh: &TriMesh,
        distinct: &TriMesh,
        grid: Grid,
        center: Vec3,
        limit: u64,
        progress: &Progress,
    ) -> Result<Self> {
        let mut values = zeros(grid.len())
            .ok_or(Error::OutOfMemory { what: "cooking a field on a full grid", bytes: grid.len() as u64 * 4 })?;
        let lattice = Lattice::new(&grid);
        Culler::new(&lattice.corners(distinct, center)).fill(&lattice, &mut values, progress)?;

        progress.report("sign", 0.0)?;
        let sides = Sides::new(mesh);
        let mut sign = sides.report;
        let corners = lattice.corners(&sides.mesh, center);
        let mut sheets = Vec::new();
        if sides.rule == SignRule::WindingNumber {
            let cut = crossings::cut_edges(&lattice, &corners, progress)?;
            winding::apply(&sides, &grid, center, &cut, &mut values, &mut sign, progress)?;
            drop(cut);
            let count = AtomicU64::new(0);
            let membrane = Membrane { sides: &sides, lattice: &lattice, center, spacing: grid.spacing, limit, count };
            sheets = membrane.of_grid(&grid, &values, progress)?;
            if !sheets.is_empty() {
                let needed = 4 * grid.len() as u64
                    + FieldOptions::fixed_bytes(mesh.triangles.len())
                    + sheets.len() as u64 * SHEET_BYTES
                    + Culler::bytes(sheets.len() as u64);
                if needed > limit {
                    let what = format!("a field with membranes of {} triangles across its holes", sheets.len());
                    return Err(Error::TooLarge { what, needed, limit });
                }
                Culler::new(&sheets).shorten(&lattice, &mut values, progress)?;
            }
        } else {
            let crossings = Crossings::find(&lattice, &corners, &sides.weights, progress)?;
            crossings.apply(&mut values, sides.rule == SignRule::Parity);
            sign.decided.crossings = grid.len() as u64;
        }
        drop(corners);

        progress.report("error", 0.0)?;
        let sheets = lattice.mesh(&sheets, center);
        // Not −0, which the sum of nothing is.
        sign.membrane_area = sheets.area() + 0.0;
        let field = Self::assemble(grid, values.into(), center, sign)?;
        let error = measure::measure(&field, grid.spacing, center, distinct, &sheets, &sides, progress)?;
        progress.report("error", 1.0)?;
        Ok(field.described(error, &mesh.bounds()))
    }
}

/// Of a refusal for memory, how much it would take.
fn needed_all_the_same(error: Error) -> Result<u64> {
    match error {
        Error::TooLarge { needed, .. } => Ok(needed),
        other => Err(other),
    }
}
