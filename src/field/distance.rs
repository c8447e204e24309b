//! What every field answers: the signed distance, its gradient and certified bounds.

use crate::math::{Aabb, Vec3};

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
    pub(super) fn of_grid(lipschitz: f32, slack: f32, reach: f64) -> Self {
        let outside = 32.0 * f64::from(f32::EPSILON) * f64::from(lipschitz) * reach;
        Self { lipschitz, rounding: 4.0 * f64::from(slack) + outside }
    }

    /// Of an exact distance whose rounding, at the numbers that enter it, is at most `slack` times their sum.
    pub(super) fn of_distance(slack: f32, size: f32, reach: f64) -> Self {
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
    /// is no proof: the largest error found at cooking ([`FieldError::max`](super::FieldError::max)) and the rounding.
    fn error_bound(&self) -> f64;
}
