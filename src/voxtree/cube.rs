//! Cube against cube, exactly: separating axes.

use voxshell_base::math::{Mat3, Vec3};

/// Returns the penetration depth of two closed cubes, metres: the shortest translation that separates them, 0 if they
/// only touch, `None` if they have no point in common.
///
/// `half`: half of the edges of A and of B, metres. `rotation`, `offset`: axes and centre of B in the frame of A. The depth
/// of two convex polyhedra is the least overlap along the normals of their faces and the products of their edges
/// (Gottschalk, Lin & Manocha 1996).
pub fn cube_overlap(half: [f64; 2], rotation: &Mat3, offset: &Vec3) -> Option<f64> {
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let mut least = f64::INFINITY;
    let mut admits = |axis: Vec3| {
        let length = axis.norm();
        // Parallel edges: their product is no direction of its own.
        if length < 1e-9 {
            return true;
        }
        let axis = axis / length;
        let reach = half[0] * axis.abs().sum() + half[1] * rotation.tr_mul(&axis).abs().sum();
        let overlap = reach - axis.dot(offset).abs();
        least = least.min(overlap.max(0.0));
        // Cubes that touch exactly stay in contact when the numbers round.
        overlap >= -1e-14 * (reach + offset.norm())
    };
    let columns = [0, 1, 2].map(|k| rotation.column(k).into_owned());
    let meets = axes.iter().all(|a| admits(*a))
        && columns.iter().all(|b| admits(*b))
        && axes.iter().all(|a| columns.iter().all(|b| admits(a.cross(b))));
    meets.then_some(least)
}
