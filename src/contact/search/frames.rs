//! Frames and sizes of two bodies.

use voxshell_base::math::Pose;
use voxshell_field::Surface;
use voxshell_mesh::Placement;

/// Returns the placement of a body in the frame of another.
pub(in super::super) fn placement(to: &Pose, from: &Pose) -> Placement {
    let relative = to.inv_mul(from);
    let rotation = relative.rotation.to_rotation_matrix().into_inner();
    Placement { rotation, translation: relative.translation.vector }
}

/// Returns the extent of the smaller of two surfaces, metres.
pub(in super::super) fn extent(surfaces: [&Surface; 2]) -> f64 {
    surfaces.map(|surface| surface.bounds().extents().amax()).into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns half the diagonal of the box of a surface, metres.
pub(in super::super) fn radius(surface: &Surface) -> f64 {
    0.5 * surface.bounds().extents().norm()
}
