//! Contacts ahead of time at which nothing is stopped, because the point grazes the other body past an edge of it.

use nalgebra::Point3;

use crate::types::{Contact, Geometry, Step, FEATURE_OF_B};
use voxshell_base::math::{Pose, Vec3};
use voxshell_field::{Field, SignedDistance};

/// Depth to which a point may graze the other body, as a fraction of the extent of the smaller one.
const DEPTH: f64 = 1.0 / 2000.0;

/// Cosine of the least angle from a right one between the normal of a contact and the face that its point grazes.
const ASIDE: f64 = 0.4;

/// Cosine of the largest angle between what forces add to a motion and the inward direction of a face that they press on.
const PRESSED: f64 = 0.8;

/// Cosine of the same angle from which on a contact carries by itself: no face that is pressed on is aside of it, 66° - 37°.
const CARRIES: f64 = 0.87;

/// Way beyond the end of a step up to which a point is followed, in depths.
const FOLLOWED: f64 = 8.0;

/// Way from one place at which a point is looked at to the next, in depths: between, it is no deeper than half of that. And the
/// largest number of places.
const STRIDE: f64 = 8.0;
const MOST_LOOKS: u32 = 64;

/// Returns the depth to which a point may graze one of two bodies, metres.
pub(super) fn depth(bodies: [&Geometry; 2]) -> f64 {
    let extent = |body: &Geometry| match (body.field, body.shell) {
        (Some(field), _) => field.bounds().extents().amax(),
        (None, Some(shell)) => shell.bounds().extents().amax(),
        (None, None) => 0.0,
    };
    DEPTH * extent(bodies[0]).min(extent(bodies[1]))
}

/// Returns whether the point of a contact comes past an edge of the other body, hardly deeper in it than `depth`, metres, and then
/// below a face that carries it: one on which the forces of the step press, so that its own contact with the point, or a third
/// body beside it, withstands them. A box that slides from tile to tile does not stop at each. Where bodies of one size lie on
/// each other, the side faces that their edges graze carry nothing.
pub(super) fn is_carried(contact: &Contact, step: &Step, [a, b]: [(&Geometry, &Pose); 2], depth: f64) -> bool {
    let gained = step.gained[0] - step.gained[1];
    if contact.separation < -depth || gained == Vec3::zeros() || step.gap(contact) >= contact.separation {
        return false;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (start, (obstacle, pose), sign) =
        if of_b { (contact.point_on_b, a, -1.0) } else { (contact.point_on_a, b, 1.0) };
    let Some(field) = obstacle.field.filter(|field| !matches!(field, Field::Sheet(_) | Field::HalfSpace(_))) else {
        return false;
    };
    let along = step.shift - gained + step.turn.cross(&(start - step.center));
    let (path, towards) = (along.norm(), contact.normal.dot(&along));
    // Part of the way after which the point would be certainly below the face that it meets; a little farther than the step if
    // it ends before that.
    let below = ((contact.separation + 2.0 * depth) / towards).min(1.0 + FOLLOWED * depth / path);
    if towards <= 0.0 || below * towards < contact.separation {
        return false;
    }
    let to_body = |v: Vec3| pose.rotation.inverse() * v * sign;
    let (outward, pressing, along) = (-to_body(contact.normal), to_body(gained).normalize(), to_body(along));
    if outward.dot(&pressing) <= -CARRIES {
        return false;
    }
    let from = pose.inverse_transform_point(&Point3::from(start)).coords;
    let from = from - field.local_origin(&from);
    let (mut is_carried, mut at) = (false, below.max(1.0));
    // From the end, where most points are deep.
    for _ in 0..MOST_LOOKS {
        let (phi, gradient) = field.distance_gradient((from + along * at).map(|x| x as f32).into());
        let phi = f64::from(phi);
        if phi < -depth {
            return false;
        }
        if phi <= depth {
            let face = Vec3::from(gradient.map(f64::from)).try_normalize(0.0).unwrap_or(outward);
            if face.dot(&outward).abs() <= ASIDE && face.dot(&pressing) <= -PRESSED {
                is_carried = true;
            } else if phi < 0.0 {
                return false;
            }
        }
        if at <= below {
            return is_carried;
        }
        at = (at - phi.max(STRIDE * depth) / path).max(below);
    }
    false
}
