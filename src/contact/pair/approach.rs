//! Which contacts ahead of time are real. Such a contact is a guess that the other surface goes on as a plane: a point that
//! comes past an edge, or into a hole, never meets it. And where the own surface goes on towards the other body, other points
//! of it come first, in another direction.

use nalgebra::Point3;

use crate::types::{Contact, Geometry, Step, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::{Pose, Vec3};
use voxshell_field::{Clearance, Field, SignedDistance, Surface};

/// A point that slides along a surface at a distance c needs about its path over c balls.
const MOST_BALLS: usize = 24;

/// Returns whether a contact ahead of time is one that the step may bring. `margin`: distance at which bodies touch, metres.
pub(super) fn is_real(contact: &Contact, step: &Step, bodies: [(&Geometry, &Pose); 2], margin: f64) -> bool {
    !is_behind_its_face(contact, bodies) && !passes_by(contact, step, bodies, margin)
}

/// Returns whether the surface of a sample goes on towards the other body.
fn is_behind_its_face(contact: &Contact, [a, b]: [(&Geometry, &Pose); 2]) -> bool {
    if contact.feature & FEATURE_OF_EDGE != 0 {
        return false;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (point, (body, pose), ahead) =
        if of_b { (contact.point_on_b, b, -contact.normal) } else { (contact.point_on_a, a, contact.normal) };
    let Some((surface, shell)) = body.surface.zip(body.shell) else { return false };
    let point = pose.inverse_transform_point(&Point3::from(point)).coords;
    goes_on(surface, &point, &(pose.rotation.inverse() * ahead), shell.spacing.into())
}

/// Returns whether the point of a contact, moved straight through the step, passes the other body by at more than `distance`,
/// metres. False as well where that cannot be told: the other body has no field, or the point stays close to it for long.
fn passes_by(contact: &Contact, step: &Step, [a, b]: [(&Geometry, &Pose); 2], distance: f64) -> bool {
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (start, (obstacle, pose), sign) =
        if of_b { (contact.point_on_b, a, -1.0) } else { (contact.point_on_a, b, 1.0) };
    // Behind a sheet nothing is known.
    let Some(field) = obstacle.field.filter(|field| !matches!(field, Field::Sheet(_))) else { return false };
    let moves = (step.shift + step.turn.cross(&(start - step.center))) * sign;
    let from = pose.inverse_transform_point(&Point3::from(start)).coords;
    let along = pose.rotation.inverse() * moves;
    let path = along.norm();
    let origin = field.local_origin(&from);
    let mut done = (contact.separation - distance).max(0.0);
    for _ in 0..MOST_BALLS {
        if done >= path {
            return true;
        }
        let p = from + along * (done / path) - origin;
        let free = f64::from(field.clearance([p.x as f32, p.y as f32, p.z as f32], distance as f32));
        // False for NaN.
        let is_free = free > 0.0;
        if !is_free {
            return false;
        }
        done += free;
    }
    done >= path
}

/// Triangles this near to a sample are at it, as a fraction of the extent: the rounding of samples.
const AT: f64 = 1e-5;

/// Sine of the angle up to which a surface runs across a direction.
const LEAN: f64 = 0.05;

/// Returns whether a surface goes on towards `ahead`, a unit vector, from a point on it: on a face or along an edge, for at least
/// `distance`, metres. Body frame.
fn goes_on(surface: &Surface, p: &Vec3, ahead: &Vec3, distance: f64) -> bool {
    let at = AT * surface.bounds().extents().amax();
    let ends_here = |_: u32, t: &[Vec3; 3]| {
        let across = (t[1] - t[0]).cross(&(t[2] - t[0]));
        let Some(normal) = across.try_normalize(0.0) else { return true };
        let along = ahead - normal * normal.dot(ahead);
        let slope = along.norm();
        if slope > LEAN {
            let q = p + along * (distance / slope);
            if (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(q - t[i])).dot(&normal) >= 0.0) {
                return false;
            }
        }
        (0..3).all(|i| {
            let (from, to) = (t[i], t[(i + 1) % 3]);
            let edge = to - from;
            let is_on = edge.cross(&(p - from)).norm() <= at * edge.norm();
            let leads_ahead = |end: &Vec3| {
                let way = end - p;
                way.norm() >= distance && way.dot(ahead) > LEAN * way.norm()
            };
            !is_on || !(leads_ahead(&from) || leads_ahead(&to))
        })
    };
    !surface.all_within(*p, at, ends_here)
}
