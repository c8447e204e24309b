//! Parameters of cooking a field, and the grid and the memory that follow from them.

use super::crossings;
use super::cull::Culler;
use voxshell_base::math::Vec3;
use voxshell_base::memory;
use voxshell_base::{Error, Result};
use voxshell_field::Grid;
use voxshell_mesh::TriMesh;

/// Parameters of cooking a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldOptions {
    /// Distance between nodes, metres.
    pub voxel_size: f64,
    /// Cells between the mesh's box and the border of the grid.
    pub padding_voxels: u32,
    /// Offset of the surface from the mesh, metres; 0 for none. With an offset, the surface is the outer one at this
    /// distance from the mesh, which may be a soup of any kind: thin sheets and patches become a solid with a rounded
    /// surface, gaps of less than twice this distance close, and enclosed space is filled. At least a voxel's
    /// diagonal. The grid grows by the offset.
    pub offset: f64,
    /// Largest memory that cooking may take, bytes.
    pub memory_limit: u64,
}

impl FieldOptions {
    /// Returns options with four cells of padding, no offset, and at most 4 GiB.
    pub fn new(voxel_size: f64) -> Self {
        Self { voxel_size, padding_voxels: 4, offset: 0.0, memory_limit: 4 << 30 }
    }

    /// Returns options for `cells` along the largest extent of the mesh's box.
    pub fn with_resolution(mesh: &TriMesh, cells: u32) -> Self {
        Self::new(mesh.bounds().extents().max() / f64::from(cells.max(1)))
    }

    /// Returns the grid for `mesh`, with nodes all around its box and centred on it, and the centre, body frame.
    /// Checks the memory of cooking a full grid.
    pub fn grid(&self, mesh: &TriMesh) -> Result<(Grid, Vec3)> {
        memory::guard("estimating memory", || self.grid_of(&mesh.without_repeats(), mesh.triangles.len()))
    }

    /// Returns the same for a mesh without repeats that had `given` triangles.
    pub(super) fn grid_of(&self, mesh: &TriMesh, given: usize) -> Result<(Grid, Vec3)> {
        let (counts, center) = self.counts(mesh)?;
        self.check_nodes(counts, mesh, given)?;
        let grid = Grid::centered(counts.map(|n| n as u32), self.voxel_size as f32);
        grid.check()?;
        Ok((grid, center))
    }

    /// Returns the numbers of nodes along the axes, whole numbers that may be too large, and the centre of the mesh's
    /// box.
    pub(super) fn counts(&self, mesh: &TriMesh) -> Result<([f64; 3], Vec3)> {
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

    /// Checks the memory of cooking a full grid; returns it, bytes.
    pub(super) fn check_nodes(&self, counts: [f64; 3], mesh: &TriMesh, given: usize) -> Result<u64> {
        let [x, y, z] = counts;
        // Samples and a byte for their edges; with an offset the samples of two surfaces.
        let each = if self.offset > 0.0 { 8.0 } else { 5.0 };
        let nodes = (each * (x * y * z)) as u64;
        let needed = nodes.saturating_add(Self::fixed_bytes(given) + crossings::bytes(mesh, self.voxel_size));
        if needed > self.memory_limit {
            let what = format!("a field of {x} x {y} x {z} nodes {} m apart", self.voxel_size);
            return Err(Error::TooLarge { what, needed, limit: self.memory_limit });
        }
        Grid::check_counts(counts)?;
        Ok(needed)
    }

    /// Refuses an offset that the grid cannot represent without holes.
    fn check_offset(&self) -> Result<()> {
        let least = 3f64.sqrt() * self.voxel_size;
        if self.offset == 0.0 || self.offset.is_finite() && self.offset >= least {
            return Ok(());
        }
        let expected =
            format!("0 for none, or at least a voxel's diagonal, {least} m: a thinner wall would leak between nodes");
        Err(Error::argument("offset", self.offset, expected))
    }

    /// Returns the memory for cooking the triangles in the forms that exist at the same time, bytes.
    pub(super) fn fixed_bytes(triangles: usize) -> u64 {
        // Culling; the repaired soup, its hierarchy and its row crossings.
        Culler::bytes(triangles as u64) + triangles as u64 * 600
    }
}

/// Returns the needed memory from the error of a refusal for memory.
pub(super) fn needed_all_the_same(error: Error) -> Result<u64> {
    match error {
        Error::TooLarge { needed, .. } | Error::TooMany { needed, .. } => Ok(needed),
        other => Err(other),
    }
}
