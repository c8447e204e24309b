//! The deepest point of a face, between the samples.
//!
//! A face that cuts through a thin part of the other body is deepest in the middle of the cut, where no sample need be. Over a
//! triangle the separation is the greatest of the planes of the other body's faces, where that is convex: each closest
//! point gives a plane, the least value of the greatest is a linear program, and its place gives the next plane (Kelley
//! 1960). Elsewhere the answer is still the true separation of a place on the face, though perhaps not of the deepest.

use nalgebra::Point3;

use super::linear::least_of_greatest;
use crate::types::{Contact, Geometry, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_field::Surface;

/// Largest number of closest points for a triangle.
const MOST: usize = 8;
/// Contacts that climb: the deepest of each body's features and octant of directions in its frame, and the deepest of those
/// that are apart from it. Neighbours would climb to the same place.
const STARTS: usize = 16;
/// Distance of contacts that are apart, tolerances.
const APART: f64 = 100.0;
/// Fraction of the tolerance by which a place must be deeper than all contacts.
const WORTH: f64 = 0.5;
/// Fraction of the tolerance up to which the deepest place is found.
const EXACT: f64 = 0.25;
/// Fraction of that by which the plane of a part of the body that is convex there may be above the deepest place: rounding.
const SAME: f64 = 1e-3;
/// Most faces that are tried at a place.
const FACES: usize = 8;
/// Most times that the search goes on to the faces beside the place.
const ROUNDS: usize = 4;
/// Distance up to which a face is at a place, as a fraction of the extent of its body.
const AT: f64 = 1e-6;
/// Coordinate beside an edge of a triangle, barycentric: the neighbour is tried, too.
const BESIDE: f64 = 1e-9;

/// A place on a face, in the other body's frame.
#[derive(Clone, Copy)]
struct Place {
    point: Vec3,
    on_other: Vec3,
    outward: Vec3,
    separation: f64,
}

/// Returns the place of a point that is no farther from the other surface than `limit`.
fn place(other: &Surface, point: Vec3, limit: f64) -> Option<Place> {
    let closest = other.closest(point, limit * (1.0 + 1e-9) + 1e-12 * point.amax())?;
    let distance = closest.distance_squared.sqrt();
    let has_direction = distance > 1e-9 * (point.amax() + closest.point.amax());
    let (is_inside, outward) = other.side(&point, &closest, None, has_direction);
    let separation = if is_inside { -distance } else { distance };
    Some(Place { point, on_other: closest.point, outward: outward?, separation })
}

/// Returns the deepest place of a triangle, up to `enough`, if one is deeper than `start` and perhaps `worth`, and whether it
/// is at the border.
fn deepest(other: &Surface, corners: &[Vec3; 3], start: &Place, [enough, worth]: [f64; 2]) -> (Option<Place>, bool) {
    let (mut planes, mut feet, mut count) = ([[0.0; 3]; MOST], [Vec3::zeros(); MOST], 0);
    let (mut best, mut found, mut at_border, mut share) = (*start, None, false, 1.0);
    let mut next = *start;
    for _ in 0..MOST {
        if next.outward.dot(&(best.point - next.on_other)) <= best.separation + SAME * enough {
            feet[count] = next.on_other;
            planes[count] = corners.map(|corner| next.outward.dot(&(corner - next.on_other)));
            (count, share) = (count + 1, 1.0);
        } else {
            // The plane of another part of the body.
            share *= 0.25;
        }
        let (least, w) = least_of_greatest(&planes[..count]);
        if least > worth.min(best.separation - enough) {
            break;
        }
        let lowest = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
        let point = best.point + (lowest - best.point) * share;
        let near = feet[..count].iter().fold(f64::INFINITY, |near, foot| near.min((foot - point).norm()));
        let Some(there) = place(other, point, near) else { break };
        if there.separation < best.separation {
            (best, found) = (there, Some(there));
            at_border = share == 1.0 && w.iter().any(|w| *w < BESIDE);
        }
        next = there;
    }
    (found, at_border)
}

/// Returns, of the directions to points that are nearly as close as the closest one, the one that is most against the face:
/// at the deepest place several faces are equally close.
fn against(other: &Surface, place: &Place, equal: f64, facing: &Vec3) -> Vec3 {
    let mut best = (place.outward.dot(facing), place.outward);
    other.near(place.point, place.separation.abs() + equal, |_, point| {
        let away = point - place.point;
        let length = away.norm();
        if length > 0.5 * place.separation.abs() && away.dot(facing) < best.0 * length {
            best = (away.dot(facing) / length, away / length);
        }
    });
    best.1
}

/// Appends the contact at the deepest place of the faces around the contacts, if that is clearly deeper than all of them.
pub(crate) fn climb(contacts: &mut Vec<Contact>, bodies: [(&Geometry, &Pose); 2], tolerance: f64) {
    let deepest = contacts.iter().fold(0.0, |least: f64, contact| least.min(contact.separation));
    let found = deeper(contacts, bodies, tolerance, deepest - WORTH * tolerance);
    contacts.extend_guarded(found);
}

/// Returns the contact at the deepest place of the faces around some contacts, if its separation is below `worth`.
pub(crate) fn deeper(
    contacts: &[Contact],
    bodies: [(&Geometry, &Pose); 2],
    tolerance: f64,
    worth: f64,
) -> Option<Contact> {
    let mut starts = [usize::MAX; 2 * STARTS];
    let place = |i: usize| contacts[i].point_on_a;
    for second in [0, STARTS] {
        for (i, contact) in contacts.iter().enumerate().filter(|(_, contact)| contact.separation < 0.0) {
            let body = usize::from(contact.feature & FEATURE_OF_B != 0);
            let local = bodies[body].1.rotation.inverse() * contact.normal;
            let octant = (0..3).fold(0, |sum, k| 2 * sum + usize::from(local[k] < 0.0));
            let slot = 8 * body + octant;
            if second > 0 && (place(i) - place(starts[slot])).norm() < APART * tolerance {
                continue;
            }
            let start = &mut starts[second + slot];
            if *start == usize::MAX || contact.separation < contacts[*start].separation {
                *start = i;
            }
        }
    }
    let climb = Climb { bodies, enough: EXACT * tolerance, worth };
    let starts = starts.iter().filter(|&&i| i != usize::MAX);
    let found = starts.filter_map(|&i| climb.from(&contacts[i]));
    found.min_by(|p, q| p.separation.total_cmp(&q.separation))
}

/// A search for a deeper place.
struct Climb<'a> {
    bodies: [(&'a Geometry<'a>, &'a Pose); 2],
    /// Difference of depths that does not matter, metres.
    enough: f64,
    /// Separation up to which a place is wanted, metres.
    worth: f64,
}

impl Climb<'_> {
    /// Returns the contact at the deepest place of the faces at a contact: those of the body that brings the sample, or of
    /// both at an edge.
    fn from(&self, contact: &Contact) -> Option<Contact> {
        let is_edge = contact.feature & FEATURE_OF_EDGE != 0;
        let is_own = |of_b: &bool| is_edge || *of_b == (contact.feature & FEATURE_OF_B != 0);
        let found = [false, true].into_iter().filter(is_own).filter_map(|of_b| self.on_faces_of(of_b, contact));
        found.min_by(|p, q| p.separation.total_cmp(&q.separation))
    }

    /// Returns the contact at the deepest place of the faces of one body at a contact.
    fn on_faces_of(&self, of_b: bool, contact: &Contact) -> Option<Contact> {
        let [(own, own_pose), (other, pose)] = if of_b { [self.bodies[1], self.bodies[0]] } else { self.bodies };
        let (own, other) = (own.surface?, other.surface?);
        let (point, on_other, outward) = match of_b {
            true => (contact.point_on_b, contact.point_on_a, contact.normal),
            false => (contact.point_on_a, contact.point_on_b, -contact.normal),
        };
        let [point, on_other] = [point, on_other].map(|p| pose.inverse_transform_point(&Point3::from(p)).coords);
        let to_other = pose.inv_mul(own_pose);
        let start = if contact.feature & FEATURE_OF_EDGE != 0 {
            // An edge may have been led out across the other body.
            let near = own.closest(to_other.inverse_transform_point(&Point3::from(point)).coords, f64::INFINITY)?;
            let point = (to_other * Point3::from(near.point)).coords;
            place(other, point, f64::INFINITY)?
        } else {
            Place { point, on_other, outward: pose.rotation.inverse() * outward, separation: contact.separation }
        };
        let (best, triangle) = self.over_faces(own, other, &to_other, start)?;
        let facing = own.normal(triangle).map(|normal| to_other.rotation * normal);
        let outward = facing.map_or(best.outward, |facing| against(other, &best, self.enough, &facing));
        let on_other = best.point - outward * best.separation;
        let [point, on_other] = [best.point, on_other].map(|p| (pose * Point3::from(p)).coords);
        let outward = pose.rotation * outward;
        let (point_on_a, point_on_b, normal) =
            if of_b { (on_other, point, outward) } else { (point, on_other, -outward) };
        // The edge at which the search began is the other body's: it does not name this place.
        let feature = match of_b == (contact.feature & FEATURE_OF_B != 0) {
            true => contact.feature,
            false => own.edge_of(triangle)? | FEATURE_OF_EDGE | if of_b { FEATURE_OF_B } else { 0 },
        };
        Some(Contact { point_on_a, point_on_b, normal, separation: best.separation, feature, ..*contact })
    }

    /// Returns the deepest place of the faces at `start`, and of those beside it if it is at their border, with its triangle.
    fn over_faces(&self, own: &Surface, other: &Surface, to_other: &Pose, start: Place) -> Option<(Place, u32)> {
        let beside = AT * own.bounds().extents().amax();
        let mut best: Option<(Place, u32)> = None;
        let mut worth = self.worth;
        let mut tried = [u32::MAX; ROUNDS * FACES];
        let mut count = 0;
        for _ in 0..ROUNDS {
            let from = best.map_or(start, |(best, _)| best);
            let known = count;
            let at = to_other.inverse_transform_point(&Point3::from(from.point)).coords;
            own.near(at, beside, |triangle, _| {
                if count < known + FACES && !tried[..count].contains(&triangle) {
                    tried[count] = triangle;
                    count += 1;
                }
            });
            let mut is_open = false;
            for &triangle in &tried[known..count] {
                let corners = own.corners(triangle).map(|c| (to_other * Point3::from(c)).coords);
                let (found, at_border) = deepest(other, &corners, &from, [self.enough, worth]);
                if let Some(found) = found.filter(|found| found.separation < worth) {
                    (best, worth) = (Some((found, triangle)), found.separation);
                    is_open = at_border;
                }
            }
            if !is_open {
                break;
            }
        }
        best
    }
}
