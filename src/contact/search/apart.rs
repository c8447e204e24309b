//! The distance of two surfaces that are apart, exact at any gap.

use super::super::types::{Contact, FEATURE_OF_B, FEATURE_OF_EDGE};
use super::frames::{extent, placement};
use voxshell_base::math::{Pose, Vec3};
use voxshell_field::Surface;
use voxshell_mesh::{Feature, Placement};

/// Increase of the bound that a known contact gives, as a fraction of the extent of the smaller body: samples are f32.
const SLACK: f64 = 1e-6;

/// The same as a fraction of the coordinates.
const ROUNDING: f64 = 1e-12;

/// Number of times that closest points to closest points are taken before the search.
const ROUNDS: usize = 2;

/// Distance below which the direction between two points is that of the surface, as a fraction of the same extent.
const NO_DIRECTION: f64 = 1e-9;

/// Returns two close points of A and B in the frame of B: each time the closest one to the other, from a point of A or of B on.
fn descend([a, b]: [&Surface; 2], to_b: &Placement, from: Vec3, from_b: bool) -> Option<[Vec3; 2]> {
    let on_a = |p: &Vec3, limit: f64| Some(to_b.place(&a.foot(to_b.place_back(p), limit)?.point));
    let on_b = |p: &Vec3, limit: f64| Some(b.foot(*p, limit)?.point);
    // A sample is as far from its surface as its place in the frame of the other body was rounded.
    let start = if from_b { b.foot(from, f64::INFINITY)?.point } else { on_a(&from, f64::INFINITY)? };
    let mut points = if from_b { [on_a(&start, f64::INFINITY)?, start] } else { [start, on_b(&start, f64::INFINITY)?] };
    for _ in 0..ROUNDS {
        // A little farther, so that rounding hides nothing.
        let limit = (points[1] - points[0]).norm() * (1.0 + 1e-9) + f64::MIN_POSITIVE;
        let Some(p) = on_a(&points[1], limit) else { break };
        let Some(q) = on_b(&p, limit) else { break };
        points = [p, q];
    }
    Some(points)
}

/// The closest points of two surfaces, and a bound of their distance.
pub(in super::super) struct Found {
    /// `None` beyond the limit, and so far from the origin that all digits are those of the distance between the bodies.
    pub contact: Option<Contact>,
    /// No two points of surfaces that do not intersect are nearer, metres, up to rounding.
    pub least: f64,
    /// Number of tests.
    pub tests: u64,
}

/// Finds the closest points of two surfaces that do not intersect, if they are at most `limit` metres apart. A `known` contact
/// shortens the search: the distance is at most that of its point to the other surface.
pub(in super::super) fn closest(
    [a, b]: [&Surface; 2],
    [pose_a, pose_b]: [&Pose; 2],
    limit: f64,
    known: Option<&Contact>,
) -> Found {
    let extent = extent([a, b]);
    let to_b = placement(pose_b, pose_a);
    let points = known.and_then(|known| {
        let (own, of_b) = match known.feature & FEATURE_OF_B {
            0 => (known.point_on_a, false),
            _ => (known.point_on_b, true),
        };
        let p = pose_b.inverse_transform_point(&nalgebra::Point3::from(own)).coords;
        descend([a, b], &to_b, p, of_b)
    });
    let [p, q] = points.unwrap_or([Vec3::zeros(); 2]);
    let bound = (q - p).norm() + SLACK * extent + ROUNDING * p.amax().max(q.amax());
    let limit = if points.is_some() { limit.min(bound) } else { limit };
    let (found, tests) = a.closest_between(b, &to_b, limit, q - p);
    let least = found.as_ref().map_or(limit, |found| found.distance);
    let contact = found.map(|found| {
        let [point_on_a, point_on_b] = found.points.map(|p| (pose_b * nalgebra::Point3::from(p)).coords);
        // In the frame of B, where the digits of the world's coordinates are not lost.
        let [p, q] = found.points;
        let across = if found.distance > NO_DIRECTION * extent { Some((q - p) / found.distance) } else { None };
        let towards = across.or_else(|| b.normal_at(found.triangles[1]).map(|out| -out)).unwrap_or_else(Vec3::z);
        // The name of a corner or an edge is the more stable one.
        let of_b = found.features[0] == Feature::Face;
        let side = usize::from(of_b);
        let edge = [a, b][side].edge_at(found.triangles[side], found.features[side]);
        Contact {
            point_on_a,
            point_on_b,
            normal: pose_b.rotation * towards,
            separation: found.distance,
            toi: 0.0,
            feature: edge | FEATURE_OF_EDGE | if of_b { FEATURE_OF_B } else { 0 },
            segment: 0,
        }
    });
    Found { contact, least, tests }
}
