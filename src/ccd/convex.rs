//! A segment against a convex shape. The signed distance to a convex set is convex (inside as well, where it is the
//! largest of the distances to the planes that support the set), so a segment is at or below any level on one
//! interval.
//!
//! Newton's method from a side where a convex function is above the level never steps past the root, and where the
//! slope turns upwards there is none. So each end of the interval is found, or proved not to exist, without small
//! steps.

use super::types::Segment;
use voxshell_base::math::Vec3;
use voxshell_field::{Field, HalfSpace, SignedDistance, Sphere};

/// Returns the interval of the segment on which φ ≤ `level`, metres, as fractions; `field` is the field of a convex
/// shape.
pub(super) fn interval(field: &Field, segment: &Segment, level: f64) -> Option<[f64; 2]> {
    let clip = |[from, to]: [f64; 2]| {
        let (from, to) = (from.max(0.0), to.min(1.0));
        (from <= to).then_some([from, to])
    };
    match field {
        Field::HalfSpace(plane) => half_space(plane, segment, level).and_then(clip),
        Field::Sphere(sphere) => ball(sphere, segment, level).and_then(clip),
        _ => by_newton(field, segment, level),
    }
}

fn half_space(plane: &HalfSpace, segment: &Segment, level: f64) -> Option<[f64; 2]> {
    let height = plane.normal().dot(&segment.from) - plane.offset() - level;
    let rise = plane.normal().dot(&segment.displacement());
    let at = -height / rise;
    match (rise < 0.0, rise > 0.0) {
        (true, _) => Some([at, f64::INFINITY]),
        (_, true) => Some([f64::NEG_INFINITY, at]),
        _ => (height <= 0.0).then_some([0.0, 1.0]),
    }
}

/// Returns the interval within the radius around the centre. Computed from the point of the line that is closest to
/// the centre, which reduces cancellation.
fn ball(sphere: &Sphere, segment: &Segment, level: f64) -> Option<[f64; 2]> {
    let (displacement, radius) = (segment.displacement(), sphere.radius() + level);
    let squared = displacement.norm_squared();
    let middle = if squared > 0.0 { -segment.from.dot(&displacement) / squared } else { 0.0 };
    let closest = (segment.from + displacement * middle).norm();
    if closest.is_nan() || closest > radius {
        return None;
    }
    let half = ((radius - closest) * (radius + closest) / squared).sqrt();
    Some(if squared > 0.0 { [middle - half, middle + half] } else { [0.0, 1.0] })
}

/// Returns the interval for a field in f32, exact to a few of its roundings: a millionth of the input numbers.
fn by_newton(field: &Field, segment: &Segment, level: f64) -> Option<[f64; 2]> {
    let (start, end) = segment.clip(&field.bounds().inflated(level.max(0.0)), field.error_bound())?;
    let from = first(field, segment, level, start, end)?;
    let back = Segment { from: segment.to, to: segment.from };
    // If rounding misses the end from behind, the start found from ahead stands for it.
    let to = first(field, &back, level, 1.0 - end, 1.0 - from).map_or(from, |t| 1.0 - t);
    Some([from, to.max(from)])
}

/// Newton's method converges quadratically; to a tangent, by halves.
const STEPS: usize = 200;

/// Returns the first t in [`start`, `end`] at which φ ≤ `level`.
fn first(field: &Field, segment: &Segment, level: f64, start: f64, end: f64) -> Option<f64> {
    let displacement = segment.displacement();
    let length = displacement.norm();
    let origin = field.local_origin(&segment.at(start));
    // Error bound of a slope in f32.
    let slope_error = 4e-6 * length;
    let mut t = start;
    for _ in 0..STEPS {
        let p = segment.at(t) - origin;
        let p = [p.x as f32, p.y as f32, p.z as f32];
        let (phi, gradient) = field.distance_gradient(p);
        let off = f64::from(phi) - level;
        let rounding = 2.0 * field.error_bound() + 8e-7 * f64::from(p[0].abs() + p[1].abs() + p[2].abs());
        let slope = Vec3::from(gradient.map(f64::from)).dot(&displacement);
        if off <= rounding {
            // Within the precision of f32; where the slope is clear, one more step to the root.
            let rest = if off > 0.0 && slope < -0.1 * length { -off / slope } else { 0.0 };
            return Some((t + rest).min(end));
        }
        let descent = slope_error - slope;
        if descent <= 0.0 {
            return None;
        }
        // From the lowest possible value with the steepest possible slope: φ is above the level until there.
        t += (off - 0.5 * rounding) / descent;
        if t > end {
            return None;
        }
    }
    Some(t)
}
