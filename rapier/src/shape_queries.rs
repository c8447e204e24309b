//! Rays and points against a shape.

use parry3d::math::{Real, Vector};
use parry3d::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use parry3d::shape::FeatureId;
use voxshell::asset;
use voxshell::ccd::segment::{crossings, first_hit, Segment, SegmentHit, Start};
use voxshell::field::{Field, SignRule, SignedDistance};
use voxshell::math::{Aabb, Vec3};

use crate::convert::{is_finite, vec3, vector};
use crate::shape::VoxshellShape;

/// Largest number of steps towards the surface of a field without triangles.
const STEPS: usize = 16;

/// The point of a surface that is closest to another point, body frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub point: Vec3,
    pub is_inside: bool,
}

/// Returns the distance and its gradient at a point of the body's frame.
pub(crate) fn value(field: &Field, p: &Vec3) -> (f64, Vec3) {
    let local = p - field.local_origin(p);
    let (phi, gradient) = field.distance_gradient([local.x as f32, local.y as f32, local.z as f32]);
    (phi.into(), Vec3::from(gradient.map(f64::from)))
}

/// Returns whether the surface of the field is that of the mesh.
fn is_field_of_mesh(asset: &asset::Shape) -> bool {
    match asset.field.as_deref() {
        None | Some(Field::Mesh(_) | Field::Sheet(_)) => true,
        Some(_) => asset.sign_report().is_some_and(|s| matches!(s.rule, SignRule::Crossings | SignRule::Parity)),
    }
}

/// Returns whether the closest points of a shape are those of its triangles.
pub(crate) fn has_triangles(asset: &asset::Shape) -> bool {
    asset.mesh.is_some() && is_field_of_mesh(asset)
}

/// Returns the closest point of the mesh. The field decides the side where it is sure, and near the surface the triangle
/// does.
fn nearest_on_mesh(asset: &asset::Shape, p: &Vec3) -> Option<Nearest> {
    let mesh = asset.mesh.as_deref().filter(|_| is_field_of_mesh(asset))?;
    let locator = asset.locator().ok()??;
    let field = asset.field.as_deref().filter(|field| !matches!(field, Field::Sheet(_)));
    let (phi, gradient) = field.map_or((0.0, Vec3::zeros()), |field| value(field, p));
    let direction = gradient.try_normalize(1e-6).unwrap_or_else(Vec3::z);
    let located = locator.locate(*p, &direction, field.is_none())?;
    let corners = mesh.corners(located.triangle as usize).map(Vec3::from);
    let point = (0..3).fold(Vec3::zeros(), |sum, i| sum + corners[i] * located.barycentric[i]);
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    let is_inside = match field {
        Some(field) if phi.abs() > f64::from(field.voxel_size()) => phi < 0.0,
        Some(_) => (p - point).dot(&normal) < 0.0,
        None => false,
    };
    Some(Nearest { point, is_inside })
}

/// Returns the closest point of the surface of a field, by steps of its distance along its gradient.
fn nearest_on_field(field: &Field, p: &Vec3) -> Nearest {
    let (first, _) = value(field, p);
    let small = 1e-7 * field.bounds().extents().norm();
    let mut point = *p;
    for _ in 0..STEPS {
        let (phi, gradient) = value(field, &point);
        let squared = gradient.norm_squared();
        if phi.abs() <= small || squared < 1e-6 {
            break;
        }
        point -= gradient * (phi / squared);
    }
    Nearest { point, is_inside: first < 0.0 }
}

/// Returns the closest sample of a shape that has only samples.
fn nearest_sample(asset: &asset::Shape, p: &Vec3) -> Option<Nearest> {
    let shell = asset.shell.as_deref()?;
    let distance = |i: &usize| (shell.position(*i) - p).norm_squared();
    let i = (0..shell.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)))?;
    let (point, normal) = (shell.position(i), Vec3::from(shell.normal(i).map(f64::from)));
    Some(Nearest { point, is_inside: (p - point).dot(&normal) < 0.0 })
}

/// Returns the closest point of the surface; `None` for a point that is not finite.
pub(crate) fn nearest(asset: &asset::Shape, p: &Vec3) -> Option<Nearest> {
    if !is_finite(p) {
        return None;
    }
    let on_field = || asset.field.as_deref().map(|field| nearest_on_field(field, p));
    let found = nearest_on_mesh(asset, p).or_else(on_field).or_else(|| nearest_sample(asset, p))?;
    is_finite(&found.point).then_some(found)
}

impl PointQuery for VoxshellShape {
    fn project_local_point(&self, pt: Vector, solid: bool) -> PointProjection {
        match nearest(self.asset(), &vec3(pt)) {
            Some(found) if found.is_inside && solid => PointProjection::new(true, pt),
            Some(found) => PointProjection::new(found.is_inside, vector(&found.point)),
            // A point that is not finite has no projection.
            None => PointProjection::new(false, pt),
        }
    }

    fn project_local_point_and_get_feature(&self, pt: Vector) -> (PointProjection, FeatureId) {
        (self.project_local_point(pt, false), FeatureId::Unknown)
    }
}

/// Returns the part of a ray, up to `most`, in a box, as two parameters of the ray.
fn clip(origin: &Vec3, direction: &Vec3, most: f64, bounds: &Aabb) -> Option<[f64; 2]> {
    let (mut from, mut to) = (0.0f64, most);
    for i in 0..3 {
        if direction[i] == 0.0 {
            if origin[i] < bounds.min[i] || origin[i] > bounds.max[i] {
                return None;
            }
            continue;
        }
        let (p, q) = ((bounds.min[i] - origin[i]) / direction[i], (bounds.max[i] - origin[i]) / direction[i]);
        (from, to) = (from.max(p.min(q)), to.min(p.max(q)));
    }
    (from <= to).then_some([from, to])
}

impl RayCast for VoxshellShape {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max_time_of_impact: Real,
        solid: bool,
    ) -> Option<RayIntersection> {
        let field = self.asset().field.as_deref()?;
        let (origin, direction) = (vec3(ray.origin), vec3(ray.dir));
        if !is_finite(&origin) || !is_finite(&direction) || max_time_of_impact.is_nan() {
            return None;
        }
        // A ray may be endless: only the part in the box, with some room for rounding, is a segment for the field.
        let bounds = self.asset().bounds();
        let room = bounds.inflated(1e-3 * bounds.extents().norm());
        let [start, end] = clip(&origin, &direction, max_time_of_impact.into(), &room)?;
        let segment = Segment::new(origin + direction * start, origin + direction * end);
        let intersection = |hit: &SegmentHit, side: f64| {
            let time = start + hit.fraction * (end - start);
            RayIntersection::new(time as Real, vector(&(hit.normal * side)), FeatureId::Unknown)
        };
        let hit = first_hit(field, &segment, 0.0, Start::Hit)?;
        if start > 0.0 || hit.fraction > 0.0 || matches!(field, Field::Sheet(_)) {
            return Some(intersection(&hit, 1.0));
        }
        // The ray starts inside.
        if solid {
            return Some(RayIntersection::new(0.0, Vector::ZERO, FeatureId::Unknown));
        }
        let mut exit = None;
        crossings(field, &segment, 0.0, |hit| {
            exit.get_or_insert(hit);
        });
        exit.map(|hit| intersection(&hit, -1.0))
    }
}
