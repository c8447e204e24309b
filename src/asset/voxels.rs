//! The voxelmap of a shape.

use std::sync::Arc;

use super::Shape;
use voxshell_base::math::Progress;
use voxshell_base::memory;
use voxshell_base::{Error, Result};
use voxshell_field::{Field, MeshField, SignRule, SignedDistance};
use voxshell_mesh::TriMesh;
use voxshell_voxmap::{MapForm, VoxelModel, VoxelOptions, Voxelmap};

/// Form and resolution of a voxelmap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelmapOptions {
    pub form: MapForm,
    /// Edge s of a voxel, metres; 0: by `resolution`.
    pub voxel_size: f64,
    /// Voxels along the largest extent of the body.
    pub resolution: u32,
    /// Voxels between the body's box and the border of the grid.
    pub padding_voxels: u32,
    /// Memory limit of each stage, bytes.
    pub memory_limit: u64,
}

impl Default for VoxelmapOptions {
    /// 16-bit layers, 128 voxels along the largest extent, four voxels of padding, 4 GiB.
    fn default() -> Self {
        Self { form: MapForm::Layers, voxel_size: 0.0, resolution: 128, padding_voxels: 4, memory_limit: 4 << 30 }
    }
}

impl VoxelmapOptions {
    /// Makes the map of a mesh; its distances are those to the triangles.
    ///
    /// # Errors
    /// Those of [`VoxelModel::from_mesh`] and [`Voxelmap::new`].
    pub fn of_mesh(&self, mesh: &TriMesh, progress: &Progress) -> Result<Voxelmap> {
        mesh.check_extent()?;
        if !self.needs_field() {
            return self.of_parts(Some(mesh), None, progress);
        }
        let field = memory::guard("making a field of triangles", || MeshField::new(mesh.copied()))?;
        self.of_parts(Some(mesh), Some(&Field::Mesh(field)), progress)
    }

    fn needs_field(&self) -> bool {
        matches!(self.form, MapForm::Scaled { .. } | MapForm::Real)
    }

    /// Makes the map on the mesh's voxels, or else on those of the field.
    fn of_parts(&self, mesh: Option<&TriMesh>, field: Option<&Field>, progress: &Progress) -> Result<Voxelmap> {
        let bounds = match (mesh, field) {
            (Some(mesh), _) => mesh.bounds(),
            (None, Some(field)) => field.bounds(),
            (None, None) => {
                return Err(Error::Unsupported(
                    "a voxelmap is made from triangles or a field; the shape has neither".into(),
                ))
            }
        };
        if bounds.is_empty() || !bounds.min.iter().chain(&bounds.max).all(|x| x.is_finite()) {
            return Err(Error::Unsupported("a voxelmap needs a finite body".into()));
        }
        let voxel_size = match self.voxel_size {
            0.0 => bounds.extents().max() / f64::from(self.resolution.max(1)),
            given => given,
        };
        let options = VoxelOptions { voxel_size, padding_voxels: self.padding_voxels, memory_limit: self.memory_limit };
        let model = match (mesh, field) {
            (Some(mesh), _) => VoxelModel::from_mesh(mesh, &options, progress)?,
            (None, Some(field)) => {
                VoxelModel::from_field(field, options.grid_around(&bounds)?, self.memory_limit, progress)?
            }
            (None, None) => unreachable!("checked above"),
        };
        Voxelmap::new(&model, field, self.form, progress)
    }
}

impl Shape {
    /// Makes a voxelmap of the shape: of its triangles or, if it has none or its field is at an offset from them, of its
    /// field. Distances are those of the field; without one those to the triangles.
    ///
    /// # Errors
    /// `Unsupported` for a shape that has neither triangles nor a field, or is infinite; those of [`Voxelmap::new`].
    pub fn make_voxelmap(&self, options: &VoxelmapOptions, progress: &Progress) -> Result<Voxelmap> {
        let is_offset = self.sign_report().is_some_and(|report| report.rule == SignRule::Offset);
        match (self.mesh.as_deref().filter(|_| !is_offset), self.field.as_deref()) {
            (Some(mesh), None) => options.of_mesh(mesh, progress),
            (mesh, field) => options.of_parts(mesh, field, progress),
        }
    }

    /// Returns a shape that shares all data of this one and has a voxelmap, in place of any other.
    pub fn with_voxelmap(&self, map: Arc<Voxelmap>) -> Self {
        Self { voxelmap: Some(map), ..self.clone() }
    }
}
