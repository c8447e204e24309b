//! A cooked Voxshell shape as a shape of parry.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use parry3d::bounding_volume::{Aabb, BoundingSphere};
use parry3d::mass_properties::MassProperties;
use parry3d::math::{Matrix, Real, Vector};
use parry3d::shape::{Shape, ShapeType, SharedShape, TypedShape};
use voxshell::asset;
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::{Error, Result};

use crate::body::{Body, Part};
use crate::convert::{points64, vector};

/// A shape of parry that collides by Voxshell. It shares its data: a clone costs nothing.
///
/// Parry's own dispatcher does not know it. Use [`VoxshellDispatcher`](crate::VoxshellDispatcher).
#[derive(Clone)]
pub struct VoxshellShape {
    asset: Arc<asset::Shape>,
    /// Number of the shape and its clones. No other shape of the program has it.
    pub(crate) number: u64,
    pub(crate) body: Arc<Body>,
    aabb: Aabb,
    sphere: BoundingSphere,
    thickness: Real,
}

impl VoxshellShape {
    /// Makes a shape of a cooked shape, which should have a field and a pointshell. A shape with one of them collides only
    /// with shapes that have the other one.
    ///
    /// # Errors
    /// `InvalidArgument` for a half-space, which has no box, and for a shape without forms. Parry's own `HalfSpace`
    /// collides with all Voxshell shapes.
    pub fn new(asset: Arc<asset::Shape>) -> Result<Self> {
        let bounds = asset.bounds();
        let is_finite = bounds.min.iter().chain(&bounds.max).all(|x| x.is_finite() && x.abs() < f64::from(Real::MAX));
        let part = Part::of_asset(&asset).filter(|_| is_finite && !bounds.is_empty());
        let Some(part) = part else {
            return Err(Error::argument("shape", "unbounded or empty", "a shape with a finite box"));
        };
        let aabb = Aabb::new(vector(&bounds.min), vector(&bounds.max));
        let sphere = BoundingSphere::new(vector(&bounds.center()), radius(&asset, &bounds.center()) as Real);
        let thickness = thickness(&asset) as Real;
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { asset, number, body: Arc::new(Body { parts: vec![part] }), aabb, sphere, thickness })
    }

    /// Returns the shape for `ColliderBuilder::new` and for parry's compounds.
    ///
    /// # Errors
    /// As [`VoxshellShape::new`].
    pub fn shared(asset: Arc<asset::Shape>) -> Result<SharedShape> {
        Ok(SharedShape::new(Self::new(asset)?))
    }

    /// Cooks a triangle mesh. Cooking takes seconds for a large mesh: write the shape to a file by
    /// `voxshell::asset::Shape::write` and read it in the next run.
    ///
    /// # Errors
    /// As [`voxshell::asset::Shape::cook`] and [`VoxshellShape::new`].
    pub fn cook(vertices: &[Vector], triangles: &[[u32; 3]], options: &asset::CookOptions) -> Result<Self> {
        let mesh = TriMesh::new(points64(vertices), triangles.to_vec())?;
        Self::new(Arc::new(asset::Shape::cook(&mesh, options, &Progress::none())?))
    }

    /// Returns the cooked shape.
    pub fn asset(&self) -> &Arc<asset::Shape> {
        &self.asset
    }
}

/// Returns the radius of the ball around a point that holds the shape, metres.
fn radius(asset: &asset::Shape, center: &Vec3) -> f64 {
    let bounds = asset.bounds();
    // The surface of a cooked field can be outside the mesh by its error. The box holds both.
    let half_diagonal = 0.5 * bounds.extents().norm();
    let of_points =
        |points: &mut dyn Iterator<Item = Vec3>| points.fold(0.0, |most: f64, point| most.max((point - center).norm()));
    let Some(mesh) = &asset.mesh else { return half_diagonal };
    let mut reach = of_points(&mut mesh.vertices.iter().map(|v| Vec3::from(*v)));
    if let Some(shell) = &asset.shell {
        reach = reach.max(of_points(&mut (0..shell.len()).map(|i| shell.position(i))));
    }
    if let Some(field) = asset.field.as_deref().and_then(|field| field.gridded()) {
        reach += field.error.max;
    }
    reach.min(half_diagonal)
}

/// Returns half the thickness of the body, metres: that of a plate with the same volume and area, and at most half the
/// smallest extent of the box. It decides from which speed on the engine looks for impacts within the step.
fn thickness(asset: &asset::Shape) -> f64 {
    let half = 0.5 * asset.bounds().extents().min();
    match (&asset.mass, &asset.mesh) {
        (Some(mass), Some(mesh)) => half.min(mass.volume / mesh.area()),
        (Some(_), None) => half,
        (None, _) => 0.0,
    }
}

impl Shape for VoxshellShape {
    fn compute_local_aabb(&self) -> Aabb {
        self.aabb
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.sphere
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    /// Scales by a positive factor that is the same along all axes; `None` for any other.
    fn scale_dyn(&self, scale: Vector, _num_subdivisions: u32) -> Option<Box<dyn Shape>> {
        if scale.x != scale.y || scale.y != scale.z {
            return None;
        }
        let scaled = self.asset.scaled(scale.x.into()).ok()?;
        Some(Box::new(Self::new(Arc::new(scaled)).ok()?))
    }

    /// Returns the mass properties that cooking computed, times the density; zero for a body without an inside.
    fn mass_properties(&self, density: Real) -> MassProperties {
        let Some(mass) = &self.asset.mass else { return MassProperties::default() };
        let total = mass.volume * f64::from(density);
        let [xx, yy, zz, xy, xz, yz] = mass.inertia.map(|i| (i * total) as Real);
        let inertia = Matrix::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
        MassProperties::with_inertia_matrix(vector(&mass.center_of_mass.into()), total as Real, inertia)
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> Real {
        self.thickness
    }

    fn ccd_angular_thickness(&self) -> Real {
        std::f32::consts::FRAC_PI_4
    }
}
