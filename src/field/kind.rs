//! A field of any kind, and the choice of its concrete type.

use serde::{Deserialize, Serialize};

use super::analytic::{Capsule, Cone, Cuboid, Cylinder, HalfSpace, Sphere};
use super::brick::BrickField;
use super::convex::ConvexHull;
use super::dense::DenseField;
use super::distance::{Modulus, SignedDistance};
use super::grid::Grid;
use super::mesh_field::MeshField;
use super::report::{FieldError, SignReport};
use super::sheet::Sheet;
use super::sphere_hull::SphereHull;
use crate::math::{Aabb, Vec3};

/// A field of any kind. Fields are few and shared, so the size of the enum does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Field {
    Dense(DenseField),
    HalfSpace(HalfSpace),
    Sphere(Sphere),
    Cuboid(Cuboid),
    Capsule(Capsule),
    Cylinder(Cylinder),
    Cone(Cone),
    ConvexHull(ConvexHull),
    SphereHull(SphereHull),
    Mesh(MeshField),
    /// Unsigned: the other body of a query decides the side.
    Sheet(Sheet),
    Bricks(BrickField),
}

/// Properties of a field on a grid, in either storage.
#[derive(Clone, Copy, Debug)]
pub struct Gridded<'a> {
    pub grid: &'a Grid,
    /// Certified Lipschitz constant inside the grid.
    pub lipschitz: f32,
    /// Error against the mesh, as measured at cooking.
    pub error: FieldError,
    /// Report of the sign rule.
    pub sign: &'a SignReport,
    /// Memory held, bytes.
    pub bytes: u64,
}

impl Field {
    /// Returns whether the field is the exact signed distance of a convex body.
    pub fn is_convex(&self) -> bool {
        match self {
            Field::HalfSpace(_)
            | Field::Sphere(_)
            | Field::Cuboid(_)
            | Field::Capsule(_)
            | Field::Cylinder(_)
            | Field::Cone(_)
            | Field::ConvexHull(_)
            | Field::SphereHull(_) => true,
            Field::Dense(_) | Field::Bricks(_) | Field::Mesh(_) | Field::Sheet(_) => false,
        }
    }

    /// Returns `None` for fields without a grid.
    pub fn gridded(&self) -> Option<Gridded<'_>> {
        match self {
            Field::Dense(f) => Some(Gridded {
                grid: f.grid(),
                lipschitz: f.lipschitz(),
                error: f.error(),
                sign: f.sign(),
                bytes: f.bytes(),
            }),
            Field::Bricks(f) => Some(Gridded {
                grid: f.grid(),
                lipschitz: f.lipschitz(),
                error: f.error(),
                sign: f.sign(),
                bytes: f.bytes(),
            }),
            _ => None,
        }
    }
}

/// Runs an expression with the concrete type inside a [`Field`], so that a loop over samples is compiled for each kind
/// and the choice is made once: `with_field!(field, f => traverse(f, shell))`.
macro_rules! with_field {
    ($field:expr, $f:ident => $body:expr) => {
        match $field {
            $crate::field::Field::Dense($f) => $body,
            $crate::field::Field::HalfSpace($f) => $body,
            $crate::field::Field::Sphere($f) => $body,
            $crate::field::Field::Cuboid($f) => $body,
            $crate::field::Field::Capsule($f) => $body,
            $crate::field::Field::Cylinder($f) => $body,
            $crate::field::Field::Cone($f) => $body,
            $crate::field::Field::ConvexHull($f) => $body,
            $crate::field::Field::SphereHull($f) => $body,
            $crate::field::Field::Mesh($f) => $body,
            $crate::field::Field::Sheet($f) => $body,
            $crate::field::Field::Bricks($f) => $body,
        }
    };
}

pub(crate) use with_field;

impl SignedDistance for Field {
    fn local_origin(&self, near: &Vec3) -> Vec3 {
        with_field!(self, f => f.local_origin(near))
    }
    fn bounds(&self) -> Aabb {
        with_field!(self, f => f.bounds())
    }
    fn distance(&self, p: [f32; 3]) -> f32 {
        with_field!(self, f => f.distance(p))
    }
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        with_field!(self, f => f.distance_gradient(p))
    }
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        with_field!(self, f => f.lower_bound(c, r))
    }
    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        with_field!(self, f => f.distance_batch(x, y, z, out))
    }
    fn lower_bound_batch(&self, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) {
        with_field!(self, f => f.lower_bound_batch(x, y, z, r, out))
    }
    fn voxel_size(&self) -> f32 {
        with_field!(self, f => f.voxel_size())
    }
    fn error_bound(&self) -> f64 {
        with_field!(self, f => f.error_bound())
    }
    fn modulus(&self, reach: f64) -> Option<Modulus> {
        with_field!(self, f => f.modulus(reach))
    }
}
