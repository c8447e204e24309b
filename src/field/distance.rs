//! Interface of every field: the signed distance, its gradient and certified bounds.

use voxshell_base::math::{Aabb, Vec3};

/// Constants of |φ(x) − φ(y)| ≤ L |x − y| + ε, for the φ that `distance` computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulus {
    /// L.
    pub lipschitz: f32,
    /// ε, metres.
    pub rounding: f64,
}

impl Modulus {
    /// Returns the modulus of a field between nodes: `slack` is its rounding in the grid's box, `lipschitz` holds
    /// everywhere.
    pub(super) fn of_grid(lipschitz: f32, slack: f32, reach: f64) -> Self {
        let outside = 32.0 * f64::from(f32::EPSILON) * f64::from(lipschitz) * reach;
        Self { lipschitz, rounding: 4.0 * f64::from(slack) + outside }
    }

    /// Returns the modulus of an exact distance whose rounding is at most `slack` times the sum of its input numbers.
    pub(super) fn of_distance(slack: f32, size: f32, reach: f64) -> Self {
        Self { lipschitz: 1.0, rounding: 2.0 * f64::from(slack) * (2.0 * reach + f64::from(size)) }
    }
}

/// Number of points evaluated together.
pub const LANES: usize = 8;

/// A signed distance function φ: negative inside, positive outside, metres.
///
/// Points are f32 in the field's **local frame**: body axes, origin at [`SignedDistance::local_origin`]. Every method is
/// callable from any thread and allocates nothing.
pub trait SignedDistance: Send + Sync {
    /// Returns the origin of the local frame in the body frame. `near` is a body-frame point near which the field
    /// will be evaluated. Fields that are invariant under a translation (a half-space) put their origin close to it
    /// to keep precision; all others ignore it. The origin holds for the calls that follow with points relative to
    /// it.
    fn local_origin(&self, near: &Vec3) -> Vec3;

    /// Returns the box around {φ ≤ 0}, body frame, metres; infinite where the shape is.
    fn bounds(&self) -> Aabb;

    /// Returns φ(p).
    fn distance(&self, p: [f32; 3]) -> f32;

    /// Returns φ(p) and the exact gradient of the function that `distance` evaluates (a one-sided one on a crease).
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]);

    /// Returns `distance_gradient` at the first `n` of a few points, x, y and z of each; must give the same bytes.
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

    /// Returns `distance` at the first `n` of a few points; the same bytes.
    #[inline(always)]
    fn distance_lanes(&self, p: &[[f32; LANES]; 3], n: usize) -> [f32; LANES] {
        let mut phi = [0.0; LANES];
        // Lanes beyond `n` cost nothing when all lanes are computed at once.
        for i in 0..if self.is_lanewise() { LANES } else { n } {
            phi[i] = self.distance([p[0][i], p[1][i], p[2][i]]);
        }
        phi
    }

    /// Returns `lower_bound` over the first `n` of a few balls; the same bytes.
    #[inline(always)]
    fn lower_bound_lanes(&self, c: &[[f32; LANES]; 3], r: &[f32; LANES], n: usize) -> [f32; LANES] {
        let mut bound = [0.0; LANES];
        for i in 0..if self.is_lanewise() { LANES } else { n } {
            bound[i] = self.lower_bound([c[0][i], c[1][i], c[2][i]], r[i]);
        }
        bound
    }

    /// Returns a certified lower bound of φ over the ball (c, r): a value ≤ φ(x) for every |x − c| ≤ r, rounding
    /// included.
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32;

    /// Returns an upper bound of max −g·m over all gradients g of φ, of length 1: the distance that a motion by `m`
    /// goes against the gradient. Its rounding is not included.
    #[inline(always)]
    fn farthest_against(&self, m: [f32; 3]) -> f32 {
        (m[0] * m[0] + (m[1] * m[1] + m[2] * m[2])).sqrt()
    }

    /// Returns the modulus of φ between points within `reach` metres of the origin of the local frame; `None` where
    /// no bound is known, or where another origin makes it another function.
    fn modulus(&self, _reach: f64) -> Option<Modulus> {
        None
    }

    /// Returns whether `distance` and `lower_bound` are branch-free and inlined: a loop over a few points then
    /// becomes vector instructions, and an additional point costs nothing.
    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        false
    }

    /// Computes φ at many points; must give the same bytes as `distance` at each.
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

    /// Computes `lower_bound` of many balls; must give the same bytes as `lower_bound` on each.
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

    /// Returns the edge of a cell of the grid, metres; 0 for a field without a grid.
    #[inline(always)]
    fn voxel_size(&self) -> f32 {
        0.0
    }

    /// Returns a bound on |φ − exact signed distance of the shape that it represents|, metres: only rounding for
    /// analytic shapes. For grids it is not a proof: the largest error found at cooking
    /// ([`FieldError::max`](super::FieldError::max)) plus the rounding. For an [`ExactField`](super::ExactField) it is
    /// a proof within two voxels of the surface.
    fn error_bound(&self) -> f64;
}
