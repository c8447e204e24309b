//! Which contacts ahead of time are real. Such a contact is a guess that the other surface goes on as a plane: a point that
//! comes past an edge, or into a hole, never meets it. And where the own surface goes on towards the other body, other points
//! of it come first, in another direction: a box over a floor is not stopped by the points of the floor beside it.

use std::cell::Cell;

use nalgebra::Point3;

use crate::types::{Contact, Geometry, Step, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::{Pose, Vec3};
use voxshell_field::{Clearance, Field, Foot, SignedDistance, Surface};

/// A point that slides along a surface at a distance c needs about its path over c balls.
const MOST_BALLS: usize = 24;

/// Removes the contacts ahead of time that are not real, except those of the `preferred` features. `contacts` are sorted by
/// their separations; those up to `touching`, metres, stay.
///
/// A contact is not real if the own surface is flat up to below the other body's point, and leans against the contact's normal: if
/// the bodies are nearer there. Unless all edges are searched (`touching` is above 0), a contact within `distance` metres must
/// show it. Neither is one farther than `step.max_gap` if its point passes the other body by.
pub(in super::super) fn keep_real(
    contacts: &mut Vec<Contact>,
    (step, preferred): (&Step, &[u32]),
    bodies: [(&Geometry, &Pose); 2],
    [touching, distance]: [f64; 2],
) {
    // Where all edges are searched, those of the own face are among the contacts.
    let all = touching > 0.0;
    for i in (0..contacts.len()).rev() {
        let contact = contacts[i];
        if all && contact.separation <= touching {
            break;
        }
        let is_ahead = step.gap(&contact) < contact.separation;
        let nearer = || {
            let is_near = |c: &&Contact| (c.point_on_a - contact.point_on_a).norm_squared() <= distance * distance;
            let limit = contact.separation - NEARER * contact.separation.abs();
            contacts[..i].iter().take_while(move |c| c.separation < limit).filter(is_near)
        };
        let is_behind = || {
            if !all && nearer().next().is_none() {
                return false;
            }
            let Some((height, normal)) = over_face(&contact, bodies) else { return false };
            height.abs() <= LEAN * contact.separation.abs() && (all || nearer().any(|c| c.normal.dot(&normal) >= LIKE))
        };
        let passes = || contact.separation > step.max_gap.max(0.0) && passes_by(&contact, step, bodies);
        if is_ahead && (is_behind() || passes()) && preferred.binary_search(&contact.feature).is_err() {
            contacts[i].separation = f64::NAN;
        }
    }
    contacts.retain(|contact| !contact.separation.is_nan());
}

/// Cosine of the least angle between the normal of a contact and the own face that comes first.
const LEAN: f64 = 0.99995;

/// Cosine of the largest angle between that face and the normal of a nearer contact.
const LIKE: f64 = 0.9999;

/// Fraction of a separation by which another contact is nearer.
const NEARER: f64 = 0.03;

/// Returns how high the closest point of the other body is over the own flat face of a sample, metres, and the direction from A to
/// B there, world frame; `None` unless the face goes on to below that point.
fn over_face(contact: &Contact, [a, b]: [(&Geometry, &Pose); 2]) -> Option<(f64, Vec3)> {
    if contact.feature & FEATURE_OF_EDGE != 0 {
        return None;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let ((body, pose), own, other, sign) = match of_b {
        true => (b, contact.point_on_b, contact.point_on_a, -1.0),
        false => (a, contact.point_on_a, contact.point_on_b, 1.0),
    };
    let [own, other] = [own, other].map(|p| pose.inverse_transform_point(&Point3::from(p)).coords);
    let (height, outward) = below(body.surface?, &own, &other)?;
    Some((height, pose.rotation * outward * sign))
}

/// Part of the largest gap by which a point that passes a surface by is farther from it.
const ASIDE: f64 = 0.3;

/// Returns whether the point of a contact, moved straight through the step, passes the other body by. False as well where that
/// cannot be told: for an edge, without triangles or a field, and where the point stays close to a field for long.
fn passes_by(contact: &Contact, step: &Step, [a, b]: [(&Geometry, &Pose); 2]) -> bool {
    if contact.feature & FEATURE_OF_EDGE != 0 {
        return false;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (start, (obstacle, pose), sign) =
        if of_b { (contact.point_on_b, a, -1.0) } else { (contact.point_on_a, b, 1.0) };
    let moves = (step.shift + step.turn.cross(&(start - step.center))) * sign;
    let from = pose.inverse_transform_point(&Point3::from(start)).coords;
    let along = pose.rotation.inverse() * moves;
    if let Some(surface) = obstacle.surface {
        let aside = pose.rotation.inverse() * contact.normal * (sign * ASIDE * step.max_gap.max(0.0));
        return !surface.meets(from, along) && !surface.meets(from + aside, along);
    }
    // Behind a sheet nothing is known.
    let Some(field) = obstacle.field.filter(|field| !matches!(field, Field::Sheet(_))) else { return false };
    let path = along.norm();
    let origin = field.local_origin(&from);
    let mut done = (contact.separation - step.max_gap).max(0.0);
    for _ in 0..MOST_BALLS {
        if done >= path {
            return true;
        }
        let p = from + along * (done / path) - origin;
        let free = f64::from(field.clearance([p.x as f32, p.y as f32, p.z as f32], step.max_gap as f32));
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

/// Returns the height of `other` over a flat face, metres, and the normal of the face, if `p` is on the face and it goes on from
/// there to below that point. Body frame.
fn below(surface: &Surface, p: &Vec3, other: &Vec3) -> Option<(f64, Vec3)> {
    let at = AT * surface.bounds().extents().amax();
    let found = Cell::new(None);
    let is_none_below = |triangle: u32, _: &[Vec3; 3]| {
        let Some(normal) = surface.certain_normal(triangle) else { return true };
        let height = normal.dot(&(other - p));
        let foot = Foot { point: *p, triangle, distance: 0.0 };
        let q = other - normal * height;
        let goes_on = || surface.foot(q, at).is_some_and(|to| surface.has_segment(&foot, &to, at));
        let is_below = goes_on();
        if is_below {
            found.set(Some((height, normal)));
        }
        !is_below
    };
    surface.all_within(*p, at, is_none_below);
    found.get()
}
