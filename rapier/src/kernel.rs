//! Points and lines against the triangles of a body, and closest points of two parts.
//!
//! The field of a grid is an upper bound of the distance outside the grid. A ball larger than the border of the grid would
//! sink in: its centre is compared with the triangles instead.

use parry3d::shape::PackedFeatureId;
use voxshell::asset;
use voxshell::field::Field;
use voxshell::math::{Pose as Pose64, Vec3};

use crate::body::{Exact, Part};
use crate::convert::{inverse_transform, transform};
use crate::pair::{Found, PartPair, NUMBER};
use crate::shape_queries::{has_triangles, nearest, value};

/// Steps from surface to surface towards the closest points.
const STEPS: usize = 64;

/// Steps of the search between two samples, each of which leaves this part of the interval.
const SECTIONS: usize = 16;
const GOLDEN: f64 = 0.618;

/// Points of a kernel against a body with triangles.
pub(crate) struct Kernel<'a> {
    asset: &'a asset::Shape,
    points: &'a [Vec3],
    /// Pose of the kernel in the frame of the body.
    relative: Pose64,
    /// Pose of the body in the frame of the first shape.
    pose: Pose64,
    /// Whether the body is the second of the pair.
    is_flipped: bool,
    margins: [f64; 2],
    subshapes: [u32; 2],
    number: u32,
}

impl<'a> Kernel<'a> {
    /// Returns the kernel of a pair if one part is a kernel and the other one has triangles.
    pub fn of(pair: &PartPair<'a>) -> Option<Self> {
        let find = |body: &'a Part, other: &'a Part| match (&body.exact, &other.kernel) {
            (Exact::Asset(asset), Some(points)) if has_triangles(asset) => Some((&**asset, &**points)),
            _ => None,
        };
        let forward = find(pair.a, pair.b).map(|found| (found, false));
        let ((asset, points), is_flipped) = forward.or_else(|| find(pair.b, pair.a).map(|found| (found, true)))?;
        let (pose, other) = if is_flipped { (pair.pose_b, pair.pose_a) } else { (pair.pose_a, pair.pose_b) };
        Some(Self {
            asset,
            points,
            relative: pose.inv_mul(&other),
            pose,
            is_flipped,
            margins: [pair.a.margin, pair.b.margin],
            subshapes: [pair.a.subshape, pair.b.subshape],
            number: pair.number as u32,
        })
    }

    /// Returns the contact of a point of the kernel, with a number as its feature.
    fn contact(&self, point: &Vec3, i: usize) -> Option<Found> {
        let p = transform(&self.relative, point);
        let found = nearest(self.asset, &p)?;
        let offset = p - found.point;
        let distance = offset.norm();
        let (distance, outward) = match found.is_inside {
            true => (-distance, offset / -distance),
            false => (distance, offset / distance),
        };
        let gradient = || self.asset.field.as_deref().map_or_else(Vec3::y, |field| value(field, &p).1);
        let is_sure = distance.abs() > 1e-9;
        let outward = if is_sure { outward } else { gradient().try_normalize(1e-6).unwrap_or_else(Vec3::y) };
        let outward = self.pose.rotation * outward;
        let [on_body, on_kernel] = [found.point, p].map(|point| transform(&self.pose, &point));
        let own = PackedFeatureId::vertex(i as u32 & NUMBER);
        let body = PackedFeatureId::face(self.number & NUMBER);
        let (normal, points, features) = match self.is_flipped {
            true => (-outward, [on_kernel, on_body], [own, body]),
            false => (outward, [on_body, on_kernel], [body, own]),
        };
        Some(Found {
            point1: points[0] + normal * self.margins[0],
            point2: points[1] - normal * self.margins[1],
            normal,
            distance: distance - self.margins[0] - self.margins[1],
            gap: distance - self.margins[0] - self.margins[1],
            subshapes: self.subshapes,
            features,
        })
    }

    /// Calls `on` for the contacts up to a limit, which it may lower by its answer. Points are skipped as long as they are
    /// nearer to the last one than that one was too far away.
    pub fn each(&self, mut limit: f64, mut on: impl FnMut(Found) -> f64) {
        let mut last: Option<(usize, f64)> = None;
        let mut best: Option<(usize, f64)> = None;
        for i in 0..self.points.len() {
            if last.is_some_and(|(j, distance)| (self.points[i] - self.points[j]).norm() < distance - limit) {
                continue;
            }
            let Some(found) = self.contact(&self.points[i], i) else { continue };
            last = Some((i, found.distance));
            best = best.filter(|(_, least)| *least <= found.distance).or(last);
            if found.distance <= limit {
                limit = on(found);
            }
        }
        let between = best.filter(|_| self.points.len() > 1).and_then(|(i, least)| self.deepest_near(i, least));
        if let Some(found) = between.filter(|found| found.distance <= limit) {
            on(found);
        }
    }

    /// Returns the contact of the deepest point of the line beside a sample, if it is deeper than the sample: an edge of the
    /// body can be between two samples. Golden section. Its feature is the same in each step.
    fn deepest_near(&self, i: usize, least: f64) -> Option<Found> {
        let (before, after) = (i.saturating_sub(1), (i + 1).min(self.points.len() - 1));
        let point = |t: f64| match t < 0.0 {
            true => self.points[i] + (self.points[before] - self.points[i]) * -t,
            false => self.points[i] + (self.points[after] - self.points[i]) * t,
        };
        let at = |t: f64| self.contact(&point(t), self.points.len());
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..SECTIONS {
            let (s, t) = (high - (high - low) * GOLDEN, low + (high - low) * GOLDEN);
            if at(s)?.distance < at(t)?.distance {
                high = t;
            } else {
                low = s;
            }
        }
        at(0.5 * (low + high)).filter(|found| found.distance < least)
    }
}

/// Returns the closest point of the surface of a part to a point outside it, part's frame.
fn project(part: &Part, p: &Vec3) -> Option<Vec3> {
    match &part.exact {
        Exact::Asset(asset) if has_triangles(asset) => {
            nearest(asset, p).filter(|found| !found.is_inside).map(|found| found.point)
        }
        _ => {
            let field = part.field.as_deref().filter(|field| field.is_convex() || matches!(field, Field::Sheet(_)))?;
            let (phi, gradient) = value(field, p);
            (phi >= 0.0).then(|| p - gradient * phi)
        }
    }
}

/// Moves the closest points of two parts that are apart along both surfaces, until they come no closer: samples are not
/// exactly the closest points.
pub(crate) fn refine(pair: &PartPair, mut found: Found) -> Found {
    let margin = pair.margin();
    let mut p2 = found.point2 + found.normal * pair.b.margin;
    if found.distance + margin <= 0.0 {
        return found;
    }
    for _ in 0..STEPS {
        let on_a = project(pair.a, &inverse_transform(&pair.pose_a, &p2));
        let Some(next1) = on_a.map(|p| transform(&pair.pose_a, &p)) else { return found };
        let on_b = project(pair.b, &inverse_transform(&pair.pose_b, &next1));
        let Some(next2) = on_b.map(|p| transform(&pair.pose_b, &p)) else { return found };
        let p1 = next1;
        p2 = next2;
        let offset = p2 - p1;
        let distance = offset.norm();
        if !(distance > 1e-9 && distance - margin < found.distance - 1e-8) {
            return found;
        }
        let normal = offset / distance;
        found.point1 = p1 + normal * pair.a.margin;
        found.point2 = p2 - normal * pair.b.margin;
        (found.normal, found.distance, found.gap) = (normal, distance - margin, distance - margin);
    }
    found
}
