//! Which contacts ahead of time are real. Such a contact is a guess that the other surface goes on as a plane: a point that
//! comes past an edge, or into a hole, never meets it. And where the own surface goes on towards the other body, other points
//! of it come first, in another direction: a box over a floor is not stopped by the points of the floor beside it.

use nalgebra::Point3;

use super::graze;
use crate::types::{Contact, Geometry, Step, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_field::{Clearance, Field, Foot, SignedDistance, Surface};

/// A point that slides along a surface at a distance c needs about its path over c balls.
const MOST_BALLS: usize = 24;

/// Removes the contacts ahead of time that are not real, except those of the `preferred` features unless they graze. `contacts` are sorted by
/// their separations; those up to `touching`, metres, stay.
///
/// A contact is not real if the own surface is flat up to below the other body's point, and leans against the contact's normal: if
/// the bodies are nearer there. Unless all edges are searched (`touching` is above 0), a contact within `distance` metres must
/// show it. Neither is one farther than half of `step.max_gap` if its point passes the other body by.
pub(in super::super) fn keep_real(
    contacts: &mut Vec<Contact>,
    nearest: &mut Nearest,
    (step, preferred): (&Step, &[u32]),
    bodies: [(&Geometry, &Pose); 2],
    [touching, distance]: [f64; 2],
) {
    // Where all edges are searched, those of the own face are among the contacts.
    let all = touching > 0.0;
    let depth = graze::depth(bodies.map(|body| body.0));
    nearest.0.clear();
    contacts.retain(|contact| {
        if graze::is_carried(contact, step, bodies, depth) {
            return false;
        }
        if all && contact.separation <= touching {
            return true;
        }
        let passes = || contact.separation > CLOSE * step.max_gap.max(0.0) && passes_by(contact, step, bodies);
        let is_behind = || {
            let Some(own) = own_normal(contact, bodies).filter(|own| contact.normal.dot(own) <= LEAN) else {
                return false;
            };
            let limit = contact.separation - NEARER * contact.separation.abs();
            let height = || over_face(contact, &own, bodies).unwrap_or(f64::INFINITY);
            (all || nearest.has(&contact.point_on_a, &own, distance, limit))
                && height().abs() <= LEAN * contact.separation.abs()
        };
        let is_ahead = step.gap(contact) < contact.separation;
        if is_ahead && (passes() || is_behind()) && preferred.binary_search(&contact.feature).is_err() {
            return false;
        }
        if !all {
            nearest.add(contact, 0.5 * distance);
        }
        true
    });
}

/// The nearest contacts of each direction and place.
#[derive(Default)]
pub(in super::super) struct Nearest(Vec<Near>);

#[derive(Clone, Copy)]
struct Near {
    point: Vec3,
    normal: Vec3,
    separation: f64,
}

impl Nearest {
    /// Returns whether a contact of this normal is nearer than `limit` and within `reach` of a point.
    fn has(&self, point: &Vec3, normal: &Vec3, reach: f64, limit: f64) -> bool {
        let is_like = |c: &Near| {
            c.normal.dot(normal) >= LIKE && (c.point - point).norm_squared() <= reach * reach && c.separation < limit
        };
        self.0.iter().any(is_like)
    }

    /// Adds a contact, no nearer than those before, if none of its normal is within `reach` and there is room.
    fn add(&mut self, contact: &Contact, reach: f64) {
        if self.0.len() < MOST_NEAREST && !self.has(&contact.point_on_a, &contact.normal, reach, f64::INFINITY) {
            let &Contact { point_on_a: point, normal, separation, .. } = contact;
            self.0.push_guarded(Near { point, normal, separation });
        }
    }
}

/// Cosine of the least angle between the normal of a contact and the own face that comes first.
const LEAN: f64 = 0.99995;

/// Cosine of the largest angle between the own face and the normal of a nearer contact.
const LIKE: f64 = 0.9999;

/// Fraction of a separation by which another contact is nearer.
const NEARER: f64 = 0.03;

/// Number of nearest contacts that are remembered.
const MOST_NEAREST: usize = 64;

/// Returns the direction from A to B along the normal of a contact's own sample, world frame; `None` for an edge.
fn own_normal(contact: &Contact, [(a, pose_a), (b, pose_b)]: [(&Geometry, &Pose); 2]) -> Option<Vec3> {
    if contact.feature & FEATURE_OF_EDGE != 0 {
        return None;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (shell, pose, sign) = if of_b { (b.shell?, pose_b, -1.0) } else { (a.shell?, pose_a, 1.0) };
    let normal = Vec3::from(shell.normal((contact.feature & !FEATURE_OF_B) as usize).map(f64::from));
    Some(pose.rotation * normal * sign)
}

/// Returns how high the closest point of the other body is over the own flat face of a sample, metres; `None` unless the face goes
/// on to below that point. `own` is [`own_normal`].
fn over_face(contact: &Contact, own: &Vec3, [a, b]: [(&Geometry, &Pose); 2]) -> Option<f64> {
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let ((body, pose), from, to, sign) = match of_b {
        true => (b, contact.point_on_b, contact.point_on_a, -1.0),
        false => (a, contact.point_on_a, contact.point_on_b, 1.0),
    };
    let [from, to] = [from, to].map(|p| pose.inverse_transform_point(&Point3::from(p)).coords);
    below(body.surface?, &from, &(pose.rotation.inverse() * own * sign), &to)
}

/// Part of the largest gap by which a point that passes a surface by is farther from it.
const ASIDE: f64 = 0.3;

/// Part of the largest gap up to which a contact is one whatever its point passes.
const CLOSE: f64 = 0.5;

/// Part of the separation of a sample that certainly is free: fields are off by less than a voxel from four on.
const FREE: f64 = 0.75;

/// Returns whether the point of a contact, moved straight through the step, passes the other body by. False as well where that
/// cannot be told: for an edge, without triangles or a field, and where the point stays close to a field for long.
fn passes_by(contact: &Contact, step: &Step, [a, b]: [(&Geometry, &Pose); 2]) -> bool {
    if contact.feature & FEATURE_OF_EDGE != 0 {
        return false;
    }
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (start, (obstacle, pose), sign) =
        if of_b { (contact.point_on_b, a, -1.0) } else { (contact.point_on_a, b, 1.0) };
    let turned = step.turn.cross(&(start - step.center));
    let from = pose.inverse_transform_point(&Point3::from(start)).coords;
    step.shifts().all(|shift| {
        let along = pose.rotation.inverse() * ((shift + turned) * sign);
        passes_along(contact, step, (obstacle, pose), (from, along, sign))
    })
}

/// Returns whether the point of a contact, moved along a straight way, passes the other body by. `from` and `along` are in the frame
/// of that body; `sign` is that of its side.
fn passes_along(
    contact: &Contact,
    step: &Step,
    (obstacle, pose): (&Geometry, &Pose),
    (from, along, sign): (Vec3, Vec3, f64),
) -> bool {
    if let Some(surface) = obstacle.surface {
        let aside = ASIDE * step.max_gap.max(0.0);
        let start = from + pose.rotation.inverse() * contact.normal * (sign * aside);
        // No triangle is in a ball around the sample.
        let free = (FREE * contact.separation - aside).max(0.0) / along.norm();
        return free >= 1.0 || !surface.meets(start + along * free, along * (1.0 - free));
    }
    // Nothing passes a half-space by, and behind a sheet nothing is known.
    let can_pass = |field: &&Field| !matches!(field, Field::Sheet(_) | Field::HalfSpace(_));
    let Some(field) = obstacle.field.filter(can_pass) else { return false };
    let path = along.norm();
    let origin = field.local_origin(&from);
    let mut done = (contact.separation - step.max_gap).max(0.0);
    for _ in 0..MOST_BALLS {
        if done >= path {
            return true;
        }
        let p = from + along * (done / path) - origin;
        let free = f64::from(field.clearance([p.x as f32, p.y as f32, p.z as f32], step.max_gap as f32));
        // False for NaN. Balls that are smaller do not get far.
        let is_free = free > path / MOST_BALLS as f64;
        if !is_free {
            return false;
        }
        done += free;
    }
    done >= path
}

/// Triangles this near to a sample are at it, as a fraction of the extent: the rounding of samples.
const AT: f64 = 1e-5;

/// Returns the height of `other` over a flat face, metres, if `p` is on the face, with this normal, and it goes on from there to below
/// that point. Body frame.
fn below(surface: &Surface, p: &Vec3, normal: &Vec3, other: &Vec3) -> Option<f64> {
    let at = AT * surface.bounds().extents().amax();
    let below = surface.foot(other - normal * normal.dot(&(other - p)), at)?;
    let face = surface.certain_normal(below.triangle)?;
    let is_on = face.dot(&(p - below.point)).abs() <= at;
    let own = Foot { point: *p, triangle: Foot::UNKNOWN, distance: 0.0 };
    (is_on && surface.has_segment(&below, &own, at)).then(|| face.dot(&(other - p)))
}
