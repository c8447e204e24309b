//! How far the interpolant is from the mesh it was cooked from.

use rayon::prelude::*;

use super::super::report::FieldError;
use super::super::sign::Sides;
use super::super::SignedDistance;
use crate::math::Vec3;
use crate::mesh::{Bvh, TriMesh};

/// Points on the surface, and as many within two cells of it.
const POINTS: u64 = 8192;

/// A number in [0, 1) from a counter (SplitMix64, Steele et al. 2014).
fn random(counter: u64) -> f64 {
    let mut z = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// |φ − exact| at points spread by area over `mesh`, where exact is 0, and at points moved off it by up to two cells; there
/// exact is the distance to the mesh and to the `sheets` across its holes.
/// `spacing`: of the grid; `center`: origin of the field's frame in the mesh's.
pub(super) fn measure(
    field: &impl SignedDistance,
    spacing: f32,
    center: Vec3,
    mesh: &TriMesh,
    sheets: &TriMesh,
    sides: &Sides,
) -> FieldError {
    // Repairs join, drop and turn: where none was dropped, the triangles are those of the mesh.
    let own = (sides.mesh.triangles.len() != mesh.triangles.len()).then(|| Bvh::build(mesh));
    let bvh = own.as_ref().unwrap_or(&sides.bvh);
    let membrane = Bvh::build(sheets);
    errors(field, spacing, center, mesh, |p, phi, on| {
        let Some(on) = on else { return Some(phi) };
        // No farther than the point it was moved off.
        let most = (p - on).norm() * (1.0 + 1e-9);
        let to = |bvh: &Bvh| bvh.closest_within(p, most).map_or(most, |c| c.distance_squared.sqrt());
        let exact = to(bvh).min(to(&membrane));
        Some(if sides.inside(p) { phi + exact } else { phi - exact })
    })
}

/// The same with the error at a point given by `error(point, φ, on)`, where `on` is the point of `mesh` that it was moved
/// off, if it was; where the error is `None` the point does not count.
pub(super) fn errors(
    field: &impl SignedDistance,
    spacing: f32,
    center: Vec3,
    mesh: &TriMesh,
    error: impl Fn(Vec3, f64, Option<Vec3>) -> Option<f64> + Sync,
) -> FieldError {
    let mut upto = Vec::with_capacity(mesh.triangles.len());
    let mut area = 0.0;
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        area += (b - a).cross(&(c - a)).norm();
        upto.push(area);
    }
    let reach = 2.0 * f64::from(spacing);
    let errors: Vec<f64> = (0..2 * POINTS)
        .into_par_iter()
        .filter_map(|n| {
            let r = |i: u64| random(n * 8 + i + 1);
            let t = upto.partition_point(|&a| a <= r(0) * area).min(upto.len().checked_sub(1)?);
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let (s, u) = (r(1).sqrt(), r(2));
            let on = a * (1.0 - s) + b * (s * (1.0 - u)) + c * (s * u);
            let near = n >= POINTS;
            let off = Vec3::new(r(3) - 0.5, r(4) - 0.5, r(5) - 0.5) * (2.0 * reach / 3f64.sqrt());
            let p = if near { on + off } else { on } - center;
            let local = [p.x as f32, p.y as f32, p.z as f32];
            let p = Vec3::from(local.map(f64::from)) + center;
            error(p, f64::from(field.distance(local)), near.then_some(on)).map(f64::abs)
        })
        .collect();
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    FieldError {
        max: errors.iter().fold(0.0, |a, &e| a.max(e)),
        rms: (squares / errors.len().max(1) as f64).sqrt(),
        samples: errors.len() as u32,
    }
}
