//! Floor 2: signed distance. Grids and analytic shapes behind one trait. Knows meshes, but nothing of samples or contacts.

mod analytic;
mod approach;
mod blocks;
mod brick;
mod clearance;
mod convex;
mod cook;
mod dense;
mod grid;
mod hull;
mod mass;
mod mesh_field;
mod report;
mod scaled;
mod scan;
mod sheet;
mod sign;
mod sphere_hull;
mod triangle;
mod trilinear;
mod wide;
mod zeros;

pub use analytic::{Capsule, Cone, Cuboid, Cylinder, HalfSpace, Sphere};
pub(crate) use approach::{Level, Ways, BRIM, CHUNK, FAR, NEVER};
pub use blocks::{mask_bit, Blocks, Cells, Free, Skip, BLOCK};
pub use brick::{BrickField, BrickHeader, BrickParts, Certificate, Pyramid, Samples, TreeForm, TreeMemory};
pub use clearance::Clearance;
pub use convex::ConvexHull;
pub use cook::{offset_surface, FieldOptions};
pub use dense::DenseField;
pub use grid::Grid;
pub use mass::{mass_from_bricks, mass_from_field};
pub(crate) use mass::{mass_from_coarse, mass_of_mesh, mass_of_samples};
pub use mesh_field::MeshField;
pub use report::{Decided, Doubt, FieldError, SignReport, SignRule, PLACES, UNCERTAIN};
pub use sheet::{Sheet, SheetAround};
pub use sphere_hull::{Ball, SphereHull, MAX_BALLS};
pub(crate) use wide::wide;
pub use wide::{force_baseline, uses_avx2};

use serde::{Deserialize, Serialize};

use crate::math::{Aabb, Vec3};

/// Any field. They are few and shared, so the size of the enum does not matter.
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
    /// Unsigned: which side is free, a query asks the other body.
    Sheet(Sheet),
    Bricks(BrickField),
}

/// What is known of a field on a grid, in either storage.
#[derive(Clone, Copy, Debug)]
pub struct Gridded<'a> {
    pub grid: &'a Grid,
    /// Certified Lipschitz constant inside the grid.
    pub lipschitz: f32,
    /// Fit to the mesh, as measured at cooking.
    pub error: FieldError,
    /// How inside was told from outside.
    pub sign: &'a SignReport,
    /// Memory held, bytes.
    pub bytes: u64,
}

impl Field {
    /// Whether it is the exact signed distance of a convex body.
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

    /// `None` for fields without a grid.
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

/// |φ(x) − φ(y)| ≤ L |x − y| + ε, for what `distance` computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulus {
    /// L.
    pub lipschitz: f32,
    /// ε, metres.
    pub rounding: f64,
}

impl Modulus {
    /// Of a field between nodes: `slack` is its rounding in the grid's box, `lipschitz` holds everywhere.
    fn of_grid(lipschitz: f32, slack: f32, reach: f64) -> Self {
        let outside = 32.0 * f64::from(f32::EPSILON) * f64::from(lipschitz) * reach;
        Self { lipschitz, rounding: 4.0 * f64::from(slack) + outside }
    }

    /// Of an exact distance whose rounding, at the numbers that enter it, is at most `slack` times their sum.
    fn of_distance(slack: f32, size: f32, reach: f64) -> Self {
        Self { lipschitz: 1.0, rounding: 2.0 * f64::from(slack) * (2.0 * reach + f64::from(size)) }
    }
}

/// Points that are asked about together.
pub const LANES: usize = 8;

/// A signed distance function φ: negative inside, positive outside, metres.
///
/// Points are f32 in the field's **local frame**: body axes, origin at [`SignedDistance::local_origin`]. Every method is
/// callable from any thread and allocates nothing.
pub trait SignedDistance: Send + Sync {
    /// Origin of the local frame in the body frame. `near` is a body-frame point near which the field will be asked:
    /// fields that are invariant under a translation (a half-space) put their origin close to it to keep precision;
    /// all others ignore it. The answer holds for the calls that follow with points relative to it.
    fn local_origin(&self, near: &Vec3) -> Vec3;

    /// Box around {φ ≤ 0}, body frame, metres; infinite where the shape is.
    fn bounds(&self) -> Aabb;

    /// φ(p).
    fn distance(&self, p: [f32; 3]) -> f32;

    /// φ(p) and the exact gradient of the function that `distance` evaluates (a one-sided one on a crease).
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]);

    /// `distance_gradient` at the first `n` of a few points, x, y and z of each; must give the same bytes.
    #[inline(always)]
    fn distance_gradient_lanes(&self, p: &[[f32; LANES]; 3], n: usize) -> ([f32; LANES], [[f32; LANES]; 3]) {
        let (mut phi, mut gradient) = ([0.0; LANES], [[0.0; LANES]; 3]);
        for i in 0..n {
            let (value, g) = self.distance_gradient([p[0][i], p[1][i], p[2][i]]);
            phi[i] = value;
            (gradient[0][i], gradient[1][i], gradient[2][i]) = (g[0], g[1], g[2]);
        }
        (phi, gradient)
    }

    /// Certified lower bound of φ over the ball (c, r): a value ≤ φ(x) for every |x − c| ≤ r, rounding included.
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32;

    /// No less than how far a motion by `m` goes against the gradient of φ, of length 1, anywhere: max −g·m, or more. Its rounding
    /// is not included.
    #[inline(always)]
    fn farthest_against(&self, m: [f32; 3]) -> f32 {
        (m[0] * m[0] + (m[1] * m[1] + m[2] * m[2])).sqrt()
    }

    /// How much φ changes between points within `reach` metres of the origin of the local frame; `None` where no bound is
    /// known, or where the function is another one with another origin.
    fn modulus(&self, _reach: f64) -> Option<Modulus> {
        None
    }

    /// Whether `distance` and `lower_bound` are straight code that is inlined: a loop over a few points is then vector
    /// instructions, and a point more costs nothing.
    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        false
    }

    /// φ at many points; must give the same bytes as `distance` at each.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        let n = out.len();
        let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
        for i in 0..n {
            out[i] = self.distance([x[i], y[i], z[i]]);
        }
    }

    /// `lower_bound` of many balls; must give the same bytes as `lower_bound` on each.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn lower_bound_batch(&self, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) {
        let n = out.len();
        let (x, y, z, r) = (&x[..n], &y[..n], &z[..n], &r[..n]);
        for i in 0..n {
            out[i] = self.lower_bound([x[i], y[i], z[i]], r[i]);
        }
    }

    /// Edge of a cell of the grid, metres; 0 for a field without one.
    #[inline(always)]
    fn voxel_size(&self) -> f32 {
        0.0
    }

    /// Bound on |φ − exact signed distance of the shape it stands for|, metres: rounding only for analytic shapes. For grids it
    /// is no proof: the largest error found at cooking ([`FieldError::max`]) and the rounding.
    fn error_bound(&self) -> f64;
}

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
