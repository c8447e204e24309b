//! A segment against a field. Sampled: steps over free space by the field's certified bound, and where that proves nothing
//! by a fixed small step, so two crossings closer together than that step can be missed. An exact walk of the grid's cells
//! is to take this place. A sheet is asked by rays, which is exact.

use crate::field::{with_field, Field, Sheet, SignedDistance};
use crate::math::Vec3;

/// Where a segment enters a shape; body frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentHit {
    /// 0 at the segment's start (also when that is inside already), 1 at its end.
    pub fraction: f64,
    pub point: Vec3,
    /// Unit, the direction in which the distance grows; of a sheet, the normal of the triangle by its winding.
    pub normal: Vec3,
}

/// The smallest step, relative to the part of the segment that is searched.
const STEP: f64 = 1e-5;
/// Halvings of the interval around a crossing: leaves less than f32 resolves.
const BISECTIONS: usize = 30;

/// The first point of the segment at which φ ≤ 0 (for a sheet: where it meets a triangle, from either side). Ends are in the body frame, metres, and finite. Allocates nothing.
pub fn first_hit(field: &Field, from: &Vec3, to: &Vec3) -> Option<SegmentHit> {
    match field {
        Field::Sheet(sheet) => first_of_sheet(sheet, from, to),
        _ => with_field!(field, f => march(f, from, to)),
    }
}

fn first_of_sheet(sheet: &Sheet, from: &Vec3, to: &Vec3) -> Option<SegmentHit> {
    let direction = to - from;
    let (fraction, triangle) = sheet.bvh().ray_first_hit(*from, direction, 1.0)?;
    let normal = sheet.normal(triangle).or_else(|| (-direction).try_normalize(0.0)).unwrap_or_else(Vec3::z);
    Some(SegmentHit { fraction, point: from + direction * fraction, normal })
}

fn march<F: SignedDistance + ?Sized>(field: &F, from: &Vec3, to: &Vec3) -> Option<SegmentHit> {
    let direction = to - from;
    let (start, end) = clip(field, from, &direction)?;
    let origin = field.local_origin(&(from + direction * start));
    let base = from - origin;
    let at = |t: f64| {
        let p = base + direction * t;
        [p.x as f32, p.y as f32, p.z as f32]
    };
    let hit = |t: f64| {
        let (_, g) = field.distance_gradient(at(t));
        let g = Vec3::new(g[0] as f64, g[1] as f64, g[2] as f64);
        let normal = g.try_normalize(1e-12).or_else(|| (-direction).try_normalize(0.0)).unwrap_or_else(Vec3::z);
        Some(SegmentHit { fraction: t, point: from + direction * t, normal })
    };
    let length = direction.norm();
    let smallest = (end - start) * STEP;
    let mut t = start;
    loop {
        let phi = field.distance(at(t));
        if phi <= 0.0 {
            return hit(t);
        }
        if t >= end {
            return None;
        }
        let step = (free_radius(field, at(t), phi) as f64 / length).max(smallest);
        let next = (t + step).min(end);
        if field.distance(at(next)) <= 0.0 {
            let (mut free, mut inside) = (t, next);
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (free + inside);
                if field.distance(at(middle)) <= 0.0 {
                    inside = middle;
                } else {
                    free = middle;
                }
            }
            return hit(inside);
        }
        t = next;
    }
}

/// A radius around `p`, where the distance is `phi`, that is certainly free; 0 when none was found.
fn free_radius<F: SignedDistance + ?Sized>(field: &F, p: [f32; 3], phi: f32) -> f32 {
    [0.99, 0.7, 0.5, 0.3, 0.1]
        .map(|part| phi * part)
        .into_iter()
        .find(|r| field.lower_bound(p, *r) > 0.0)
        .unwrap_or(0.0)
}

/// The part of the segment, as fractions, that can be inside: within the field's box and a margin for rounding.
fn clip<F: SignedDistance + ?Sized>(field: &F, from: &Vec3, direction: &Vec3) -> Option<(f64, f64)> {
    let bounds = field.bounds();
    let size = bounds.extents().amax();
    let bounds = if size.is_finite() { bounds.inflated(1e-3 * size) } else { bounds };
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for i in 0..3 {
        if direction[i] == 0.0 {
            if from[i] < bounds.min[i] || from[i] > bounds.max[i] {
                return None;
            }
            continue;
        }
        let (near, far) = ((bounds.min[i] - from[i]) / direction[i], (bounds.max[i] - from[i]) / direction[i]);
        start = start.max(near.min(far));
        end = end.min(near.max(far));
    }
    (start <= end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{HalfSpace, Sphere};

    #[test]
    fn a_segment_meets_a_sphere_where_geometry_says() {
        let field = Field::Sphere(Sphere::new(0.5).unwrap());
        let hit = first_hit(&field, &Vec3::new(-3.0, 0.3, 0.0), &Vec3::new(5.0, 0.3, 0.0)).unwrap();
        assert!((hit.point.x + 0.4).abs() < 1e-6, "{hit:?}");
        assert!((hit.normal - Vec3::new(-0.8, 0.6, 0.0)).norm() < 1e-5, "{hit:?}");
        assert!((hit.fraction - 2.6 / 8.0).abs() < 1e-6);
        assert_eq!(first_hit(&field, &Vec3::new(-3.0, 0.51, 0.0), &Vec3::new(5.0, 0.51, 0.0)), None);
        assert_eq!(first_hit(&field, &Vec3::new(-3.0, 0.0, 0.0), &Vec3::new(-0.6, 0.0, 0.0)), None);
    }

    #[test]
    fn a_segment_that_starts_inside_hits_at_its_start_even_without_length() {
        let field = Field::Sphere(Sphere::new(0.5).unwrap());
        for to in [Vec3::zeros(), Vec3::x()] {
            assert_eq!(first_hit(&field, &Vec3::zeros(), &to).unwrap().fraction, 0.0);
        }
        assert_eq!(first_hit(&field, &Vec3::x(), &Vec3::x()), None);
    }

    #[test]
    fn a_half_space_is_met_far_from_its_origin() {
        let field = Field::HalfSpace(HalfSpace::new(Vec3::z(), 1.0).unwrap());
        let hit = first_hit(&field, &Vec3::new(1e6, 0.0, 3.0), &Vec3::new(1e6, 0.0, -1.0)).unwrap();
        assert!((hit.fraction - 0.5).abs() < 1e-6, "{hit:?}");
        assert!((hit.normal - Vec3::z()).norm() < 1e-6);
    }
}
