//! The asset. Cooking a mesh into field + pointshell + mass properties, and the versioned file that holds them.
//! Knows nothing of queries' hosts or the C ABI.

mod bricks;
mod container;
mod file;
mod map;
mod old;

use std::sync::Arc;

use crate::contact::{Geometry, Owner};
use crate::cook::target::{self, extent};
use crate::cook::{mass_from_coarse, mass_of_mesh, mass_of_samples, offset_surface, FieldOptions};
use crate::field::{BrickField, DenseField, Field, MeshField, Sheet, SignReport, SignedDistance};
use crate::math::{limits, Aabb, Progress};
use crate::memory;
use crate::mesh::{MassProperties, Report, TriMesh};
use crate::pointshell::{PointShell, Sampling, ShellOptions};
use crate::{Error, Result};
use map::{map, Mapped};

/// Which forms a shape carries.
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

/// How fine the field is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Edge of a cell, metres.
    VoxelSize(f64),
    /// Cells along the mesh's largest extent.
    Cells(u32),
    /// As coarse as the field's largest error found ([`FieldError::max`](crate::field::FieldError)) allows, metres. Of the
    /// resolutions 16, 20, 25, 32, … cells along the largest extent (each about twice the nodes of the one before), the first
    /// that meets it: a smaller target never gives a coarser field. Cooks all of them up to that one, so it takes two or three
    /// times as long as the resolution itself.
    Error(f64),
}

/// How a cooked field is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// All nodes of the grid.
    #[default]
    Dense,
    /// Bricks near the surface, coarse samples elsewhere.
    Bricks,
}

/// How the samples of a field in bricks are written to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// Small.
    #[default]
    Compressed,
    /// As they are in memory: a file that is loaded in no time, because it is mapped. See [`Shape::load`].
    Raw,
}

/// How to cook a mesh.
#[derive(Clone, Debug)]
pub struct CookOptions {
    pub forms: Forms,
    pub resolution: Resolution,
    pub storage: Storage,
    /// `voxel_size` in here is overwritten from `resolution`.
    pub field: FieldOptions,
    /// A `spacing` of NaN without a `target_count` becomes the voxel size, and so does, scaled, a `voxel_size` of NaN of the
    /// projection method.
    pub shell: ShellOptions,
    /// Vertices closer than this are merged first, metres; 0 merges equal ones only.
    pub weld_tolerance: f64,
}

impl Default for CookOptions {
    /// Both forms, 128 cells along the largest extent.
    fn default() -> Self {
        Self {
            forms: Forms::BOTH,
            resolution: Resolution::Cells(128),
            storage: Storage::default(),
            field: FieldOptions::new(f64::NAN),
            shell: ShellOptions::default(),
            weld_tolerance: 0.0,
        }
    }
}

impl CookOptions {
    /// The memory that [`Shape::cook`] checks against the limits before it begins, bytes: with `memory_limit`s of one byte less
    /// it refuses, with as much it cooks, unless an open mesh in bricks turns out to need wide membranes across its holes, or an offset surface to be large. The
    /// limits in `self` do not matter. Looks at every triangle, but computes no distance.
    ///
    /// # Errors
    /// `Unsupported` for a target error, which finds its voxel size by cooking; else an invalid mesh or option.
    pub fn memory_needed(&self, mesh: &TriMesh) -> Result<u64> {
        self.check_forms()?;
        let mesh = memory::guard("estimating memory", || Ok(mesh.welded(self.weld_tolerance)))?;
        mesh.check_extent()?;
        let voxel_size = voxel_size(&mesh.bounds(), self.resolution)?;
        let options = FieldOptions { voxel_size, ..self.field };
        let field = match self.storage {
            _ if !self.forms.field => 0,
            Storage::Dense => DenseField::memory_needed(&mesh, &options)?,
            Storage::Bricks => BrickField::memory_needed(&mesh, &options)?,
        };
        let shell = match self.forms.shell {
            true => PointShell::memory_needed(&mesh, &self.shell_options(voxel_size))?,
            false => 0,
        };
        Ok(field.max(shell))
    }

    fn check_forms(&self) -> Result<()> {
        if !self.forms.field && !self.forms.shell {
            return Err(Error::argument("forms", "empty", "a field, a pointshell or both"));
        }
        Ok(())
    }

    /// The voxel size that `resolution` comes to, and the field if it is wanted.
    fn cook_field(&self, mesh: &TriMesh, progress: &Progress) -> Result<(f64, Option<Field>)> {
        let cook =
            |voxel_size: f64| cook_field(mesh, self.storage, &FieldOptions { voxel_size, ..self.field }, progress);
        if let Resolution::Error(target) = self.resolution {
            if !self.forms.field {
                return Err(Error::argument("target_error", target, "none without a field, which it is the error of"));
            }
            let (voxel_size, field) = target::cook(&mesh.bounds(), target, cook)?;
            return Ok((voxel_size, Some(field)));
        }
        let voxel_size = voxel_size(&mesh.bounds(), self.resolution)?;
        if !self.forms.field {
            return Ok((voxel_size, None));
        }
        let (field, has_inside) = cook(voxel_size)?;
        check_inside(has_inside, voxel_size)?;
        Ok((voxel_size, Some(field)))
    }

    /// Those of the pointshell, with what was left open filled in.
    fn shell_options(&self, voxel_size: f64) -> ShellOptions {
        let mut options = self.shell.clone();
        if options.spacing.is_nan() && options.target_count.is_none() {
            // Samples as dense as the grid: neither form is then much finer than the other.
            options.spacing = voxel_size;
        }
        if let Sampling::Projection { voxel_size: own } = &mut options.method {
            if own.is_nan() {
                // √2 is the papers' ratio between the distance of samples and the grid they are projected from.
                let from_spacing = options.spacing / std::f64::consts::SQRT_2;
                *own = if from_spacing.is_nan() { voxel_size } else { from_spacing };
            }
        }
        options
    }
}

/// A body's collision data: immutable, shared between threads, cheap to clone.
#[derive(Clone)]
pub struct Shape {
    pub mesh: Option<Arc<TriMesh>>,
    pub field: Option<Arc<Field>>,
    pub shell: Option<Arc<PointShell>>,
    /// `None` when nothing closed or gridded was given to compute it from, or nothing is inside. Passes
    /// [`MassProperties::check`].
    pub mass: Option<MassProperties>,
    /// What the mesh looked like when it was cooked.
    pub report: Option<Report>,
}

impl Shape {
    /// Cooks a mesh: weld, field, pointshell, mass properties.
    ///
    /// # Errors
    /// Whatever the stages say: an invalid mesh or option, too much memory (said before it is allocated), cancellation.
    /// `TooLarge` also for a target error that is not met within the memory limit; it says what was reached.
    pub fn cook(mesh: &TriMesh, options: &CookOptions, progress: &Progress) -> Result<Self> {
        progress.guard("cooking a shape", || Self::cook_forms(mesh, options, progress))
    }

    fn cook_forms(mesh: &TriMesh, options: &CookOptions, progress: &Progress) -> Result<Self> {
        options.check_forms()?;
        progress.report("weld", 0.0)?;
        let mesh = mesh.welded(options.weld_tolerance);
        mesh.check_extent()?;
        let report = mesh.report();
        let offset = options.field.offset;
        let (voxel_size, field) = options.cook_field(&mesh, progress)?;
        let shell = if options.forms.shell {
            let normals = field.as_ref().map(|f| f as &dyn SignedDistance);
            // Samples belong on the surface that the field has.
            let field_options = FieldOptions { voxel_size, ..options.field };
            let outer = (offset != 0.0).then(|| offset_surface(&mesh, &field_options, progress)).transpose()?;
            let surface = outer.as_ref().unwrap_or(&mesh);
            Some(PointShell::sample(surface, normals, &options.shell_options(voxel_size), progress)?)
        } else {
            None
        };
        let mass = match &field {
            // The triangles do not bound an offset surface.
            field if offset != 0.0 => field.as_ref().and_then(mass_of_samples),
            field => mass_of_mesh(&mesh, field.as_ref(), options.field.memory_limit)?,
        };
        progress.report("done", 1.0)?;
        Ok(Self {
            mesh: Some(Arc::new(mesh)),
            field: field.map(Arc::new),
            shell: shell.map(Arc::new),
            mass,
            report: Some(report),
        })
    }

    /// A shape around an analytic field: exact, and able to take the voxelmap's role only.
    pub fn from_field(field: Field) -> Self {
        Self { mesh: None, field: Some(Arc::new(field)), shell: None, mass: None, report: None }
    }

    /// A shape around the exact field of a mesh. Mass properties are exact where the triangles give them
    /// ([`TriMesh::mass_properties`]), and else estimated from a coarse grid.
    ///
    /// # Errors
    /// `InvalidMesh` for a mesh without triangles, or smaller than [`crate::mesh::MIN_EXTENT`].
    pub fn from_triangles(mesh: TriMesh) -> Result<Self> {
        mesh.check_extent()?;
        memory::guard("making a field of triangles", || {
            let report = mesh.report();
            let field = MeshField::new(mesh.copied())?;
            let mass = match field.mass_properties() {
                Some(mass) => Some(mass),
                None => mass_from_coarse(&mesh, FieldOptions::new(1.0).memory_limit)?,
            };
            let field = Field::Mesh(field);
            Ok(Self { mesh: Some(Arc::new(mesh)), mass, report: Some(report), ..Self::from_field(field) })
        })
    }

    /// A shape around a sheet: a surface without an inside, and so without mass properties.
    ///
    /// # Errors
    /// As [`Sheet::new`], and `InvalidMesh` for a mesh smaller than [`crate::mesh::MIN_EXTENT`].
    pub fn from_sheet(mesh: TriMesh, depth: f64) -> Result<Self> {
        mesh.check_extent()?;
        memory::guard("making a sheet", || {
            let mesh = Arc::new(mesh);
            let field = Field::Sheet(Sheet::new(mesh.clone(), depth)?);
            Ok(Self { report: Some(mesh.report()), mesh: Some(mesh), ..Self::from_field(field) })
        })
    }

    /// A shape from parts that exist, shared with whoever else holds them.
    pub fn from_parts(field: Option<Arc<Field>>, shell: Option<Arc<PointShell>>) -> Result<Self> {
        if field.is_none() && shell.is_none() {
            return Err(Error::argument("field and pointshell", "both absent", "at least one of them"));
        }
        Ok(Self { mesh: None, field, shell, mass: None, report: None })
    }

    /// The body scaled by a positive, finite `factor` about its origin, in all its forms; samples keep their numbers. A
    /// copy: nothing is shared. But for rounding its answers are those of the original, scaled.
    ///
    /// # Errors
    /// `InvalidArgument` for a factor that is no such number, or that takes a length of the shape out of its range.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::argument("factor", limits::Shown(factor), "a positive, finite number"));
        }
        let unfit = |e: Error| match e {
            Error::OutOfMemory { .. } => e,
            e => Error::argument(
                "factor",
                limits::Shown(factor),
                format!("one that keeps the shape in range, where {e}"),
            ),
        };
        let scaled = memory::guard("scaling a shape", || {
            Ok(Self {
                mesh: self.mesh.as_ref().map(|m| Arc::new(m.scaled(factor))),
                field: self.field.as_ref().map(|f| f.scaled(factor)).transpose().map_err(unfit)?.map(Arc::new),
                shell: self.shell.as_ref().map(|s| s.scaled(factor)).transpose().map_err(unfit)?.map(Arc::new),
                mass: self.mass.map(|m| m.scaled(factor)).map(checked).transpose().map_err(unfit)?,
                report: self.report.as_ref().map(|r| r.scaled(factor)),
            })
        })?;
        // A half-space has no ends.
        let bounds = scaled.bounds();
        let ends = || bounds.min.iter().chain(&bounds.max).filter(|x| x.is_finite());
        if ends().all(|x| limits::is_coordinate(*x)) && !bounds.extents().iter().all(|e| *e < limits::MIN_LENGTH) {
            return Ok(scaled);
        }
        let expected = "one that leaves the shape within 1e18 m of its origin, and larger than 1e-18 m";
        Err(Error::argument("factor", limits::Shown(factor), expected))
    }

    /// What the queries look at.
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { field: self.field.as_deref(), shell: self.shell.as_deref() }
    }

    /// By whom a workspace knows the shape again.
    pub fn owner(&self) -> Owner<'_> {
        Owner { field: self.field.as_ref(), shell: self.shell.as_ref() }
    }

    /// Box around the shape, body frame, metres: of all its forms together. Infinite for a half-space.
    pub fn bounds(&self) -> Aabb {
        let mut bounds = Aabb::empty();
        if let Some(mesh) = &self.mesh {
            bounds = bounds.merged(&mesh.bounds());
        }
        if let Some(shell) = &self.shell {
            bounds = bounds.merged(&shell.bounds());
        }
        if let Some(field) = &self.field {
            bounds = bounds.merged(&field.bounds());
        }
        bounds
    }

    /// How the field's sign was decided, for a cooked field.
    pub fn sign_report(&self) -> Option<&SignReport> {
        self.field.as_deref().and_then(Field::gridded).map(|f| f.sign)
    }
}

/// The field, and whether any of it is inside.
fn cook_field(mesh: &TriMesh, storage: Storage, options: &FieldOptions, progress: &Progress) -> Result<(Field, bool)> {
    match storage {
        Storage::Dense => {
            let field = DenseField::cook(mesh, options, progress)?;
            let has_inside = field.values().iter().any(|&phi| phi < 0.0);
            Ok((Field::Dense(field), has_inside))
        }
        Storage::Bricks => {
            let field = BrickField::cook(mesh, options, progress)?;
            let has_inside = field.has_inside();
            Ok((Field::Bricks(field), has_inside))
        }
    }
}

fn checked(mass: MassProperties) -> Result<MassProperties> {
    mass.check().map(|()| mass).map_err(|reason| Error::argument("mass", "out of range", reason))
}

/// A field without an inside could only ever say that nothing touches it.
fn check_inside(has_inside: bool, voxel_size: f64) -> Result<()> {
    if has_inside {
        return Ok(());
    }
    Err(Error::InvalidMesh(format!(
        "no node of its field is inside at a voxel size of {voxel_size} m; expected a mesh that encloses a volume thicker \
         than a voxel, or to be cooked without a field"
    )))
}

fn voxel_size(bounds: &Aabb, resolution: Resolution) -> Result<f64> {
    match resolution {
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
