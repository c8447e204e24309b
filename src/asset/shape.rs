//! A shape: a body's mesh, field, pointshell and mass properties.

use std::sync::{Arc, OnceLock};

use voxshell_base::math::{limits, Aabb, Progress};
use voxshell_base::memory;
use voxshell_base::{Error, Result};
use voxshell_contact::{Coverage, Geometry, Owner, MOST_FACETS};
use voxshell_cook::{self as cook, mass_from_coarse, CookOptions, FieldOptions};
use voxshell_field::{Field, MeshField, Sheet, SignReport, SignRule, SignedDistance, Surface};
use voxshell_mesh::simplify::HullHierarchy;
use voxshell_mesh::{Locator, MassProperties, Report, TriMesh};
use voxshell_pointshell::PointShell;
use voxshell_voxmap::Voxelmap;

/// A body's collision data: immutable, shared between threads, cheap to clone.
#[derive(Clone)]
pub struct Shape {
    pub mesh: Option<Arc<TriMesh>>,
    pub field: Option<Arc<Field>>,
    pub shell: Option<Arc<PointShell>>,
    /// `None` when there was no closed mesh and no field on a grid to compute it from, or when nothing is inside.
    /// Passes [`MassProperties::check`].
    pub mass: Option<MassProperties>,
    /// Report on the mesh at cooking.
    pub report: Option<Report>,
    /// The user's material numbers, one per triangle of `mesh`; see [`Shape::with_materials`].
    pub materials: Option<Arc<Vec<u32>>>,
    /// The paper's map of the body; see [`Shape::with_voxelmap`].
    pub voxelmap: Option<Arc<Voxelmap>>,
    /// Convex hulls of the surface; see [`Shape::with_hulls`].
    pub hulls: Option<Arc<HullHierarchy>>,
    /// Structures over `mesh`, `field` and `shell`, built on first use; to be reset when one of them is replaced.
    pub built: Built,
}

/// The exact surface of a shape, the hierarchy of its triangles and its box, each if it was used before. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct Built {
    bounds: Arc<OnceLock<Aabb>>,
    surface: Arc<OnceLock<Option<Arc<Surface>>>>,
    locator: Arc<OnceLock<Option<Arc<Locator>>>>,
}

impl Shape {
    /// Cooks a mesh: weld, field, pointshell, mass properties.
    ///
    /// # Errors
    /// The errors of the stages: an invalid mesh or option, too much memory (reported before it is allocated),
    /// cancellation. `TooLarge` also for a target error that is not met within the memory limit; the message has the
    /// error that was reached.
    pub fn cook(mesh: &TriMesh, options: &CookOptions, progress: &Progress) -> Result<Self> {
        progress.guard("cooking a shape", || {
            let cooked = cook::shape::cook(mesh, options, progress)?;
            Ok(Self {
                mesh: Some(cooked.mesh),
                field: cooked.field.map(Arc::new),
                shell: cooked.shell.map(Arc::new),
                mass: cooked.mass,
                report: Some(cooked.report),
                materials: None,
                voxelmap: None,
                hulls: None,
                built: Built::default(),
            })
        })
    }

    /// Makes a shape of an analytic field: exact, and usable in the voxelmap's role only.
    pub fn from_field(field: Field) -> Self {
        Self {
            mesh: None,
            field: Some(Arc::new(field)),
            shell: None,
            mass: None,
            report: None,
            materials: None,
            voxelmap: None,
            hulls: None,
            built: Built::default(),
        }
    }

    /// Makes a shape of the exact field of a mesh. Mass properties are exact where the triangles give them
    /// ([`voxshell_cook::mass_properties`]), and otherwise estimated from a coarse grid.
    ///
    /// # Errors
    /// `InvalidMesh` for a mesh without triangles, or smaller than [`voxshell_mesh::MIN_EXTENT`].
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

    /// Makes a shape of a sheet: a surface without an inside, and so without mass properties.
    ///
    /// # Errors
    /// As [`Sheet::new`], and `InvalidMesh` for a mesh smaller than [`voxshell_mesh::MIN_EXTENT`].
    pub fn from_sheet(mesh: TriMesh, depth: f64) -> Result<Self> {
        mesh.check_extent()?;
        memory::guard("making a sheet", || {
            let mesh = Arc::new(mesh);
            let field = Field::Sheet(Sheet::new(mesh.clone(), depth)?);
            Ok(Self { report: Some(mesh.report()), mesh: Some(mesh), ..Self::from_field(field) })
        })
    }

    /// Makes a shape of existing parts, shared with their other owners.
    pub fn from_parts(field: Option<Arc<Field>>, shell: Option<Arc<PointShell>>) -> Result<Self> {
        if field.is_none() && shell.is_none() {
            return Err(Error::argument("field and pointshell", "both absent", "at least one of them"));
        }
        let (voxelmap, built) = (None, Built::default());
        Ok(Self { mesh: None, field, shell, mass: None, report: None, materials: None, voxelmap, hulls: None, built })
    }

    /// Returns the body scaled by a positive, finite `factor` about its origin, in all its forms; samples keep their
    /// numbers. The result is a copy: only the material numbers are shared. Except for rounding its answers are those of the original,
    /// scaled.
    ///
    /// # Errors
    /// `InvalidArgument` for a factor that is not positive and finite, or that takes a length of the shape out of its
    /// range.
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
                materials: self.materials.clone(),
                // Layers and scaled distances do not scale: it is made anew.
                voxelmap: None,
                hulls: None,
                built: Built::default(),
            })
        })?;
        // A half-space is infinite.
        let bounds = scaled.bounds();
        let ends = || bounds.min.iter().chain(&bounds.max).filter(|x| x.is_finite());
        if ends().all(|x| limits::is_coordinate(*x)) && !bounds.extents().iter().all(|e| *e < limits::MIN_LENGTH) {
            return Ok(scaled);
        }
        let expected = "one that leaves the shape within 1e18 m of its origin, and larger than 1e-18 m";
        Err(Error::argument("factor", limits::Shown(factor), expected))
    }

    /// Returns a shape that shares all data of this one and has a hierarchy of hulls, in place of any other. Files do not contain it, and
    /// scaled copies do not keep it.
    pub fn with_hulls(&self, hulls: Arc<HullHierarchy>) -> Self {
        Self { hulls: Some(hulls), ..self.clone() }
    }

    /// Returns the geometry for queries of samples alone.
    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { field: self.field.as_deref(), shell: self.shell.as_deref(), surface: None }
    }

    /// Returns the geometry for queries of a coverage: with the exact surface, if they need it. [`Coverage::Facets`] takes
    /// meshes of up to [`MOST_FACETS`] triangles, those whose edges may be tested alone; ask for [`Coverage::of_surfaces`] if
    /// a discrete query is to miss no intersection of larger ones.
    ///
    /// # Errors
    /// As [`Shape::surface`].
    pub fn geometry_for(&self, coverage: Coverage) -> Result<Geometry<'_>> {
        Ok(Geometry { surface: self.surface_for(coverage)?.map(Arc::as_ref), ..self.geometry() })
    }

    /// Returns the exact surface if queries of a coverage need it: [`Shape::surface`], and with [`Coverage::Facets`] that of
    /// meshes of up to [`MOST_FACETS`] triangles.
    ///
    /// # Errors
    /// As [`Shape::surface`].
    pub fn surface_for(&self, coverage: Coverage) -> Result<Option<&Arc<Surface>>> {
        match coverage {
            Coverage::Samples => Ok(None),
            Coverage::Facets if self.mesh.as_ref().is_none_or(|mesh| mesh.triangles.len() > MOST_FACETS) => Ok(None),
            Coverage::Facets | Coverage::Edges => self.surface(),
        }
    }

    /// Returns the exact surface of the mesh; `None` without a mesh, and if the field is not that of a closed mesh. The
    /// first call builds it, which takes about 2 µs per triangle; copies of the shape share it. A field that is exact
    /// near the surface has it already.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn surface(&self) -> Result<Option<&Arc<Surface>>> {
        if let Some(Field::Exact(field)) = self.field.as_deref() {
            return Ok(Some(field.surface()));
        }
        let built = &self.built.surface;
        if built.get().is_none() {
            let mesh = self.mesh.as_deref().filter(|_| self.is_field_of_closed_mesh());
            let surface = memory::guard("building a surface", || Ok(mesh.and_then(Surface::new).map(Arc::new)))?;
            // Another thread may have been faster, with the same result.
            let _ = built.set(surface);
        }
        Ok(built.get().and_then(Option::as_ref))
    }

    /// Finds the extreme samples of the pointshell, which queries with [`Step::extremes_only`](voxshell_contact::Step) need;
    /// otherwise the first of them does so.
    pub fn prepare_extremes(&self) {
        if let Some(shell) = &self.shell {
            shell.extremes();
        }
    }

    /// Returns the hierarchy of the triangles of the mesh; `None` without a mesh. The first call builds it, which takes
    /// about 1 µs per triangle; copies of the shape share it.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn locator(&self) -> Result<Option<&Arc<Locator>>> {
        let built = &self.built.locator;
        if built.get().is_none() {
            let locator = memory::guard("building a hierarchy of triangles", || {
                Ok(self.mesh.as_deref().map(|mesh| Arc::new(Locator::new(mesh))))
            })?;
            // Another thread may have been faster, with the same result.
            let _ = built.set(locator);
        }
        Ok(built.get().and_then(Option::as_ref))
    }

    /// Returns the same if it was built before.
    pub fn prepared_locator(&self) -> Option<&Arc<Locator>> {
        self.built.locator.get().and_then(Option::as_ref)
    }

    /// Returns whether the field is zero on the mesh, and not on an offset surface or on a membrane.
    fn is_field_of_closed_mesh(&self) -> bool {
        match self.field.as_deref() {
            Some(Field::Mesh(_)) => true,
            _ => self.sign_report().is_some_and(|s| matches!(s.rule, SignRule::Crossings | SignRule::Parity)),
        }
    }

    /// Returns the owner, by which a workspace recognises the shape again, with the exact surface if it was used before.
    pub fn owner(&self) -> Owner<'_> {
        let surface = match self.field.as_deref() {
            Some(Field::Exact(field)) => Some(field.surface()),
            _ => self.built.surface.get().and_then(Option::as_ref),
        };
        Owner { field: self.field.as_ref(), shell: self.shell.as_ref(), surface }
    }

    /// Box around the shape, body frame, metres: of all its forms together. Infinite for a half-space. Computed once, because
    /// hosts ask for it in each step.
    pub fn bounds(&self) -> Aabb {
        *self.built.bounds.get_or_init(|| self.find_bounds())
    }

    fn find_bounds(&self) -> Aabb {
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

    /// Returns how the field's sign was decided, for a cooked field.
    pub fn sign_report(&self) -> Option<&SignReport> {
        self.field.as_deref().and_then(Field::gridded).map(|f| f.sign)
    }
}

fn checked(mass: MassProperties) -> Result<MassProperties> {
    mass.check().map(|()| mass).map_err(|reason| Error::argument("mass", "out of range", reason))
}
