//! The f32 transform of the inner loops.

use super::{Pose, Vec3};

/// `p' = R p + t` in f32, between two local frames. Composed in f64 and rounded once, so that its error does not depend
/// on where the objects are in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidF32 {
    /// Rows of the rotation matrix.
    pub r: [[f32; 3]; 3],
    /// Translation in metres.
    pub t: [f32; 3],
}

impl RigidF32 {
    /// Returns the transform from frame `from` (origin given in its body's frame) to frame `to`, where `relative` takes
    /// body `from` to body `to`.
    #[inline]
    pub fn between(relative: &Pose, from_origin: &Vec3, to_origin: &Vec3) -> Self {
        let m = relative.rotation.to_rotation_matrix();
        let t = relative * nalgebra::Point3::from(*from_origin) - to_origin;
        let row = |i: usize| [m[(i, 0)] as f32, m[(i, 1)] as f32, m[(i, 2)] as f32];
        Self { r: [row(0), row(1), row(2)], t: [t[0] as f32, t[1] as f32, t[2] as f32] }
    }

    /// Returns the image of a point. The order of operations is fixed, so the same input gives the same bytes
    /// everywhere.
    #[inline(always)]
    pub fn point(&self, p: [f32; 3]) -> [f32; 3] {
        let row = |i: usize| ((self.r[i][0] * p[0] + self.r[i][1] * p[1]) + self.r[i][2] * p[2]) + self.t[i];
        [row(0), row(1), row(2)]
    }
}
