//! Floor 2: signed distance. Grids and analytic shapes behind one trait. Knows meshes, but nothing of samples or contacts.

use crate::math::{Aabb, Vec3};

/// Any field.
pub enum Field {}

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

    /// Certified lower bound of φ over the ball (c, r): a value ≤ φ(x) for every |x − c| ≤ r, rounding included.
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32;

    /// φ at many points; must give the same bytes as `distance` at each.
    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        for i in 0..out.len() {
            out[i] = self.distance([x[i], y[i], z[i]]);
        }
    }

    /// `lower_bound` of many balls; must give the same bytes as `lower_bound` on each.
    fn lower_bound_batch(&self, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) {
        for i in 0..out.len() {
            out[i] = self.lower_bound([x[i], y[i], z[i]], r[i]);
        }
    }

    /// Bound on |φ − exact signed distance of the shape it stands for|, metres: measured at cooking for grids, rounding
    /// only for analytic shapes.
    fn error_bound(&self) -> f64;
}
