//! All forms of a body from its mesh: weld, field, pointshell, mass properties.

use std::sync::Arc;

use super::target::{self, extent};
use super::{bricks, dense, mass_of_mesh, mass_of_samples, offset_surface, sample, FieldOptions};
use voxshell_base::math::{Aabb, Progress};
use voxshell_base::memory;
use voxshell_base::{Error, Result};
use voxshell_field::sign::Sides;
use voxshell_field::{ExactField, Field, MeshField, SignRule, SignedDistance};
use voxshell_mesh::{MassProperties, Report, TriMesh};
use voxshell_pointshell::{PointShell, Sampling, ShellOptions};

/// Forms of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// The voxelmap: a signed distance field.
    pub field: bool,
    /// The pointshell.
    pub shell: bool,
}

impl Forms {
    pub const BOTH: Forms = Forms { field: true, shell: true };
}

/// Largest number of triangles of a mesh whose field is exact by default.
pub const FEW_TRIANGLES: usize = 1024;
/// Default number of cells along the largest extent.
pub const CELLS: u32 = 128;
/// The same in exact storage of few triangles.
pub const COARSE_CELLS: u32 = 32;

/// Resolution of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Resolution {
    /// As the storage needs it: [`COARSE_CELLS`] along the largest extent in exact storage of few triangles, where the
    /// grid only answers away from the surface, else [`CELLS`].
    #[default]
    Automatic,
    /// Edge of a cell, metres.
    VoxelSize(f64),
    /// Number of cells along the mesh's largest extent.
    Cells(u32),
    /// Largest allowed error of the field, as found at cooking ([`FieldError::max`](voxshell_field::FieldError)),
    /// metres. The field has the first of the resolutions 16, 20, 25, 32, … cells along the largest extent (each with
    /// about twice the nodes of the one before) that meets it: a smaller target never gives a coarser field. All
    /// resolutions up to that one are cooked, so it takes two or three times as long as the resolution itself.
    Error(f64),
}

/// Storage of a cooked field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Exact for a solid of at most [`FEW_TRIANGLES`] without an offset whose resolution is automatic, too: a part of
    /// flat faces is cooked and asked for less than its grid would cost. Else dense.
    #[default]
    Automatic,
    /// All nodes of the grid.
    Dense,
    /// Bricks near the surface, coarse samples elsewhere.
    Bricks,
    /// All nodes of the grid, and the triangles: exact within two voxels of the surface. For closed meshes without an
    /// offset. The grid has at least `ExactField::PADDING` cells around the mesh.
    Exact,
}

/// Parameters of cooking a mesh. A mesh that encloses a volume, but at no node of the grid, gets [`Storage::Exact`] on
/// a coarse grid, whatever was asked for; where that cannot be, the field of its triangles ([`MeshField`]), which no file can hold.
#[derive(Clone, Debug)]
pub struct CookOptions {
    pub forms: Forms,
    pub resolution: Resolution,
    pub storage: Storage,
    /// Parameters of the field; `voxel_size` is overwritten from `resolution`.
    pub field: FieldOptions,
    /// Parameters of the pointshell. A `spacing` of NaN without a `target_count` becomes the voxel size. A
    /// `voxel_size` of NaN of the projection method becomes the scaled voxel size.
    pub shell: ShellOptions,
    /// Vertices closer than this are merged first, metres; 0 merges equal ones only.
    pub weld_tolerance: f64,
}

impl Default for CookOptions {
    /// Both forms, the resolution and the storage that suit the mesh.
    fn default() -> Self {
        Self {
            forms: Forms::BOTH,
            resolution: Resolution::default(),
            storage: Storage::default(),
            field: FieldOptions::new(f64::NAN),
            shell: ShellOptions::default(),
            weld_tolerance: 0.0,
        }
    }
}

impl CookOptions {
    /// Returns the memory that [`Shape::cook`](voxshell_asset::Shape::cook) checks against the limits before it begins,
    /// bytes. With `memory_limit`s of one byte less it refuses; with this much it cooks, unless an open mesh in
    /// bricks needs wide membranes across its holes, or an offset surface is large. The limits in `self` are ignored.
    /// Visits every triangle, but computes no distance.
    ///
    /// # Errors
    /// `Unsupported` for a target error, which finds its voxel size by cooking; else an invalid mesh or option.
    pub fn memory_needed(&self, mesh: &TriMesh) -> Result<u64> {
        self.check_forms()?;
        let mesh = memory::guard("estimating memory", || Ok(mesh.welded(self.weld_tolerance)))?;
        mesh.check_extent()?;
        let (resolution, storage) = self.chosen(&mesh);
        let voxel_size = voxel_size(&mesh.bounds(), resolution)?;
        let options = FieldOptions { voxel_size, ..self.field };
        let field = match storage {
            _ if !self.forms.field => 0,
            Storage::Automatic | Storage::Dense => dense::memory_needed(&mesh, &options)?,
            Storage::Bricks => bricks::memory_needed(&mesh, &options)?,
            Storage::Exact => dense::memory_needed(&mesh, &with_room(&options))?.saturating_add(surface_bytes(&mesh)),
        };
        let shell = match self.forms.shell {
            true => sample::memory_needed(&mesh, &self.shell_options(voxel_size))?,
            false => 0,
        };
        Ok(field.max(shell))
    }

    /// Returns the resolution and the storage for a mesh, of which neither is automatic.
    pub fn chosen(&self, mesh: &TriMesh) -> (Resolution, Storage) {
        let is_automatic = self.resolution == Resolution::Automatic;
        let is_exact = match self.storage {
            Storage::Automatic => is_automatic && self.forms.field && self.field.offset == 0.0 && is_simple(mesh),
            storage => storage == Storage::Exact,
        };
        let cells = if is_exact && mesh.triangles.len() <= FEW_TRIANGLES { COARSE_CELLS } else { CELLS };
        let resolution = if is_automatic { Resolution::Cells(cells) } else { self.resolution };
        let storage = match self.storage {
            Storage::Automatic if is_exact => Storage::Exact,
            Storage::Automatic => Storage::Dense,
            storage => storage,
        };
        (resolution, storage)
    }

    fn check_forms(&self) -> Result<()> {
        if !self.forms.field && !self.forms.shell {
            return Err(Error::argument("forms", "empty", "a field, a pointshell or both"));
        }
        Ok(())
    }

    /// Returns the voxel size, and the field if it is wanted, with the sides of the mesh if known.
    fn cook_field(&self, mesh: &Arc<TriMesh>, progress: &Progress) -> Result<(f64, Option<Field>, Option<Sides>)> {
        let (resolution, storage) = self.chosen(mesh);
        let cooked = self.cook_chosen(mesh, resolution, storage, progress);
        match cooked {
            // A solid by its edges whose triangles cancel in places.
            Err(Error::Unsupported(_)) if self.storage == Storage::Automatic && storage == Storage::Exact => {
                self.cook_chosen(mesh, Resolution::Cells(CELLS), Storage::Dense, progress)
            }
            cooked => cooked,
        }
    }

    fn cook_chosen(
        &self,
        mesh: &Arc<TriMesh>,
        resolution: Resolution,
        storage: Storage,
        progress: &Progress,
    ) -> Result<(f64, Option<Field>, Option<Sides>)> {
        let cook = |voxel_size: f64| cook_field(mesh, storage, &FieldOptions { voxel_size, ..self.field }, progress);
        if let Resolution::Error(target) = resolution {
            if !self.forms.field {
                return Err(Error::argument("target_error", target, "none without a field, which it is the error of"));
            }
            let cook = |voxel_size: f64| cook(voxel_size).map(|(field, has_inside, _)| (field, has_inside));
            let (voxel_size, field) = target::cook(&mesh.bounds(), target, cook)?;
            return Ok((voxel_size, Some(field), None));
        }
        let voxel_size = voxel_size(&mesh.bounds(), resolution)?;
        if !self.forms.field {
            return Ok((voxel_size, None, None));
        }
        let (field, has_inside, sides) = cook(voxel_size)?;
        if has_inside {
            return Ok((voxel_size, Some(field), sides));
        }
        let triangles = self.field_of_triangles(mesh)?.ok_or_else(|| nothing_inside(voxel_size))?;
        // Near the surface an exact field is that of the triangles, and it can be stored.
        let exact = match storage {
            Storage::Exact => Ok(field),
            _ => {
                drop(field);
                // A fine grid makes it no more exact.
                let coarse = voxel_size.max(self::voxel_size(&mesh.bounds(), Resolution::Cells(COARSE_CELLS))?);
                let options = FieldOptions { voxel_size: coarse, ..self.field };
                cook_exact(mesh, &options, progress).map(|(field, _)| field)
            }
        };
        match exact {
            Err(Error::Unsupported(_) | Error::TooLarge { .. }) => Ok((voxel_size, Some(triangles), None)),
            exact => Ok((voxel_size, Some(exact?), None)),
        }
    }

    /// Returns the field of a mesh that is thinner than a voxel: the distance to its triangles. `None` unless it encloses a
    /// volume, and for an offset surface.
    fn field_of_triangles(&self, mesh: &TriMesh) -> Result<Option<Field>> {
        if self.field.offset != 0.0 {
            return Ok(None);
        }
        let field = memory::guard("making a field of triangles", || MeshField::new(mesh.copied()))?;
        Ok(field.mass_properties().is_some().then_some(Field::Mesh(field)))
    }

    /// Returns the options of the pointshell, with the open values filled in.
    pub(super) fn shell_options(&self, voxel_size: f64) -> ShellOptions {
        let mut options = self.shell.clone();
        if options.spacing.is_nan() && options.target_count.is_none() {
            // Samples as dense as the grid: neither form is then much finer than the other.
            options.spacing = voxel_size;
        }
        if let Sampling::Projection { voxel_size: own } = &mut options.method {
            if own.is_nan() {
                // √2 is the papers' ratio between the distance of samples and the grid from which they are projected.
                let from_spacing = options.spacing / std::f64::consts::SQRT_2;
                *own = if from_spacing.is_nan() { voxel_size } else { from_spacing };
            }
        }
        options
    }
}

/// Cooked forms, and the welded mesh from which they were cooked.
pub struct Cooked {
    pub mesh: Arc<TriMesh>,
    pub field: Option<Field>,
    pub shell: Option<PointShell>,
    pub mass: Option<MassProperties>,
    pub report: Report,
}

/// Returns whether a mesh is a solid of few triangles, none of which cancel.
fn is_simple(mesh: &TriMesh) -> bool {
    let is_solid = |report: Report| report.is_solid() && report.opposed_triangles == 0;
    mesh.triangles.len() <= FEW_TRIANGLES && is_solid(mesh.report())
}

/// Cooks a mesh.
pub fn cook(mesh: &TriMesh, options: &CookOptions, progress: &Progress) -> Result<Cooked> {
    options.check_forms()?;
    progress.report("weld", 0.0)?;
    let mesh = Arc::new(mesh.welded(options.weld_tolerance));
    mesh.check_extent()?;
    let report = mesh.report();
    let offset = options.field.offset;
    let (voxel_size, field, sides) = options.cook_field(&mesh, progress)?;
    // Before the pointshell, so that the sides and the samples are not in memory at the same time.
    let mass = match &field {
        // The triangles do not bound an offset surface.
        field if offset != 0.0 => field.as_ref().and_then(mass_of_samples),
        field => mass_of_mesh(&mesh, sides, field.as_ref(), options.field.memory_limit)?,
    };
    let shell = if options.forms.shell {
        let normals = field.as_ref().map(|f| f as &dyn SignedDistance);
        // Samples belong on the surface of the field.
        let field_options = FieldOptions { voxel_size, ..options.field };
        let outer = (offset != 0.0).then(|| offset_surface(&mesh, &field_options, progress)).transpose()?;
        let surface = outer.as_ref().unwrap_or(&mesh);
        Some(sample::sample(surface, normals, &options.shell_options(voxel_size), progress)?)
    } else {
        None
    };
    progress.report("done", 1.0)?;
    Ok(Cooked { mesh, field, shell, mass, report })
}

/// Cooks the field, and returns whether any of it is inside, and the sides of the mesh if they are at hand.
fn cook_field(
    mesh: &Arc<TriMesh>,
    storage: Storage,
    options: &FieldOptions,
    progress: &Progress,
) -> Result<(Field, bool, Option<Sides>)> {
    match storage {
        Storage::Automatic | Storage::Dense => {
            let (field, sides) = dense::dense_and_sides(mesh, options, progress)?;
            let has_inside = field.values().iter().any(|&phi| phi < 0.0);
            Ok((Field::Dense(field), has_inside, sides))
        }
        Storage::Bricks => {
            let (field, sides) = bricks::bricks_and_sides(mesh, options, progress)?;
            let has_inside = field.has_inside();
            Ok((Field::Bricks(field), has_inside, sides))
        }
        Storage::Exact => cook_exact(mesh, options, progress).map(|(field, has_inside)| (field, has_inside, None)),
    }
}

/// Cooks a field that is exact near the surface.
fn cook_exact(mesh: &Arc<TriMesh>, options: &FieldOptions, progress: &Progress) -> Result<(Field, bool)> {
    let beside = "in exact storage; expected a closed mesh without an offset, or another storage";
    if options.offset != 0.0 {
        return Err(Error::Unsupported(format!("an offset surface has no triangles to be kept {beside}")));
    }
    let kept = surface_bytes(mesh);
    let limit = options.memory_limit.saturating_sub(kept);
    let grid = dense::dense_field(mesh, &FieldOptions { memory_limit: limit, ..with_room(options) }, progress);
    let grid = grid.map_err(|error| match error {
        Error::TooLarge { what, needed, .. } => {
            Error::TooLarge { what, needed: needed.saturating_add(kept), limit: options.memory_limit }
        }
        other => other,
    })?;
    if !matches!(grid.sign().rule, SignRule::Crossings | SignRule::Parity) {
        return Err(Error::Unsupported(format!("the mesh is open, so that its distance has no sign {beside}")));
    }
    let has_inside = grid.values().iter().any(|&phi| phi < 0.0);
    progress.report("exact", 0.0)?;
    let field = progress.guard("making a field exact near the surface", || ExactField::of_cooked(grid, mesh.clone()));
    let field = field.map_err(|error| match error {
        // Triangles that cancel each other have a distance, but no surface.
        Error::InvalidArgument { .. } => {
            Error::Unsupported(format!("some triangles of the mesh lie on others that face the other way {beside}"))
        }
        other => other,
    })?;
    progress.report("exact", 1.0)?;
    Ok((Field::Exact(field), has_inside))
}

/// Returns the options of the grid of a field that is exact near the surface.
pub(super) fn with_room(options: &FieldOptions) -> FieldOptions {
    FieldOptions { padding_voxels: options.padding_voxels.max(ExactField::PADDING), ..*options }
}

/// Returns a bound on the memory of the exact surface, while it is built, bytes.
pub(super) fn surface_bytes(mesh: &TriMesh) -> u64 {
    1000 * mesh.triangles.len() as u64
}

/// The error of a field without an inside, which could never report a contact.
fn nothing_inside(voxel_size: f64) -> Error {
    Error::InvalidMesh(format!(
        "no node of its field is inside at a voxel size of {voxel_size} m; expected a mesh that encloses a volume, or, of an open \
         one, an offset that thickens it, such as {} m, or no field",
        2.0 * voxel_size
    ))
}

pub(super) fn voxel_size(bounds: &Aabb, resolution: Resolution) -> Result<f64> {
    match resolution {
        Resolution::Automatic => Ok(extent(bounds)? / f64::from(CELLS)),
        Resolution::VoxelSize(h) if h > 0.0 && h.is_finite() => Ok(h),
        Resolution::VoxelSize(h) => Err(Error::argument("voxel_size", h, "a positive, finite length in metres")),
        Resolution::Cells(0) => Err(Error::argument("resolution", 0, "at least 1 cell along the largest extent")),
        Resolution::Cells(n) => Ok(extent(bounds)? / f64::from(n)),
        Resolution::Error(_) => Err(Error::Unsupported(
            "the memory for a target error is known once it is cooked; expected a voxel size or a number of cells"
                .into(),
        )),
    }
}
