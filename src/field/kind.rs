//! A field of any kind, and the choice of its concrete type.

use serde::{Deserialize, Serialize};

use super::analytic::{Cuboid, HalfSpace, Sphere};
use super::axial::*;
use super::brick::BrickField;
use super::clearance::Clearance;
use super::convex::ConvexHull;
use super::dense::DenseField;
use super::distance::{Modulus, SignedDistance, LANES};
use super::exact::{self, AnyField};
use super::grid::Grid;
use super::mesh_field::MeshField;
use super::report::{FieldError, SignReport};
use super::sheet::Sheet;
use super::sphere_hull::SphereHull;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::{wide, Result};

wide! {
    fn distances<F: SignedDistance>(field: &F, p: &[[f32; LANES]; 3], n: usize) -> [f32; LANES] {
        field.distance_lanes(p, n)
    }
}

wide! {
    fn lower_bounds<F: SignedDistance>(field: &F, c: &[[f32; LANES]; 3], r: &[f32; LANES], n: usize) -> [f32; LANES] {
        field.lower_bound_lanes(c, r, n)
    }
}

wide! {
    fn gradients<F: SignedDistance>(
        field: &F,
        p: &[[f32; LANES]; 3],
        n: usize,
    ) -> ([f32; LANES], [[f32; LANES]; 3]) {
        field.distance_gradient_lanes(p, n)
    }
}

/// Runs an expression with the concrete type inside a [`Field`] of the most frequent kinds, so that a loop over samples is
/// compiled for each of them. All other kinds share one copy, which chooses the kind for each lane block: with a copy
/// for each, building the contacts took twice as long. `with_common_field!(field, f => traverse(f, shell))`.
#[doc(hidden)]
#[macro_export]
macro_rules! with_common_field {
    ($field:expr, $f:ident => $body:expr) => {
        match $field {
            $crate::Field::Dense($f) => $body,
            $crate::Field::Bricks($f) => $body,
            $crate::Field::HalfSpace($f) => $body,
            $f => $body,
        }
    };
}

/// Makes the enum, and every function that depends on the kind, from one table:
/// `Variant(Type) = number of VXS_FIELD_NAME, NAME, class;`. The order of the variants is that of the asset file.
///
/// The class is
/// - `convex`: exact distance of a convex body;
/// - `distance`: exact distance, so no two points differ by more than a metre per metre;
/// - `own`: implements [`Clearance`] itself.
macro_rules! field_kinds {
    ($d:tt $($(#[$doc:meta])* $kind:ident($field:ty) = $number:literal, $name:literal, $class:ident;)*) => {
        /// A field of any kind. Fields are few and shared, so the size of the enum does not matter.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Field {
            $($(#[$doc])* $kind($field),)*
        }

        /// Runs an expression with the concrete type inside a [`Field`].
        macro_rules! with_field {
            ($d field:expr, $d f:ident => $d body:expr) => {
                match $d field {
                    $($crate::Field::$kind($d f) => $d body,)*
                }
            };
        }

        $(class!(clearance $class $field);)*

        impl Field {
            /// Number and name of each kind: `VXS_FIELD_` constants of the C API.
            pub const KINDS: &'static [(u32, &'static str)] = &[$(($number, $name)),*];

            /// Returns the number of the kind, see [`Field::KINDS`].
            pub fn kind(&self) -> u32 {
                match self {
                    $(Field::$kind(_) => $number,)*
                }
            }

            /// Returns whether the field is the exact signed distance of a convex body.
            pub fn is_convex(&self) -> bool {
                match self {
                    $(Field::$kind(_) => class!(convexity $class),)*
                }
            }

            /// Returns the field of the body scaled by a positive, finite `factor` about its origin: φ'(x) = factor ·
            /// φ(x / factor), up to the rounding of parameters and samples. Powers of two change no digit.
            ///
            /// # Errors
            /// If a number leaves its range.
            pub fn scaled(&self, factor: f64) -> Result<Self> {
                Ok(match self {
                    $(Field::$kind(f) => Field::$kind(f.scaled(factor)?),)*
                })
            }
        }
    };
}

macro_rules! class {
    (clearance own $field:ty) => {};
    (clearance $class:ident $field:ty) => {
        impl Clearance for $field {}
    };
    (convexity convex) => {
        true
    };
    (convexity $class:ident) => {
        false
    };
}

field_kinds! { $
    Dense(DenseField) = 1, "DENSE", own;
    HalfSpace(HalfSpace) = 2, "HALF_SPACE", convex;
    Sphere(Sphere) = 3, "SPHERE", convex;
    Cuboid(Cuboid) = 4, "BOX", convex;
    Capsule(Capsule) = 5, "CAPSULE", convex;
    Cylinder(Cylinder) = 6, "CYLINDER", convex;
    Cone(Cone) = 7, "CONE", convex;
    ConvexHull(ConvexHull) = 8, "CONVEX_HULL", convex;
    SphereHull(SphereHull) = 10, "SPHERE_HULL", convex;
    Mesh(MeshField) = 9, "TRIANGLES", own;
    /// Unsigned. The query takes the side from the other body.
    Sheet(Sheet) = 11, "SHEET", distance;
    Bricks(BrickField) = 12, "BRICKS", own;
    Torus(Torus) = 13, "TORUS", distance;
    Exact(ExactField) = 14, "EXACT", own;
}

/// A field that is exact near the surface of a closed mesh, and that of a grid farther away.
pub type ExactField = exact::ExactField<Field>;

impl AnyField for Field {
    fn of_grid(grid: DenseField) -> Self {
        Field::Dense(grid)
    }

    #[inline]
    fn grid(&self) -> &DenseField {
        match self {
            Field::Dense(grid) => grid,
            _ => unreachable!("made by `of_grid`"),
        }
    }
}

/// Properties of a field on a grid, in either storage.
#[derive(Clone, Copy, Debug)]
pub struct Gridded<'a> {
    pub grid: &'a Grid,
    /// Certified Lipschitz constant inside the grid.
    pub lipschitz: f32,
    /// Error against the mesh: as measured at cooking, or a proven bound if the field is exact near the surface.
    pub error: FieldError,
    /// Report of the sign rule.
    pub sign: &'a SignReport,
    /// Memory held, bytes.
    pub bytes: u64,
}

impl Field {
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
            Field::Exact(f) => Some(Gridded {
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

impl SignedDistance for Field {
    #[inline]
    fn local_origin(&self, near: &Vec3) -> Vec3 {
        with_field!(self, f => f.local_origin(near))
    }
    fn bounds(&self) -> Aabb {
        with_field!(self, f => f.bounds())
    }
    #[inline]
    fn distance(&self, p: [f32; 3]) -> f32 {
        with_field!(self, f => f.distance(p))
    }
    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        with_field!(self, f => f.distance_gradient(p))
    }
    fn distance_gradient_lanes(&self, p: &[[f32; LANES]; 3], n: usize) -> ([f32; LANES], [[f32; LANES]; 3]) {
        with_field!(self, f => gradients(f, p, n))
    }
    fn distance_lanes(&self, p: &[[f32; LANES]; 3], n: usize) -> [f32; LANES] {
        with_field!(self, f => distances(f, p, n))
    }
    fn lower_bound_lanes(&self, c: &[[f32; LANES]; 3], r: &[f32; LANES], n: usize) -> [f32; LANES] {
        with_field!(self, f => lower_bounds(f, c, r, n))
    }
    fn farthest_against(&self, m: [f32; 3]) -> f32 {
        with_field!(self, f => f.farthest_against(m))
    }
    fn is_lanewise(&self) -> bool {
        with_field!(self, f => f.is_lanewise())
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

impl Clearance for Field {
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        with_field!(self, f => f.clearance(c, level))
    }
    fn clearance_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: f32, out: &mut [f32]) {
        with_field!(self, f => f.clearance_batch(x, y, z, level, out))
    }
    fn side_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: [f32; 2], out: &mut [f32]) {
        with_field!(self, f => f.side_batch(x, y, z, level, out))
    }
}
