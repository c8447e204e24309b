//! Exact contacts of the samples that are far from the surface of the other body, where a search takes those of the field. Beyond
//! the border of its grid, the field overestimates the distance, and where two faces are about as far it rounds the edge
//! between them off.

use nalgebra::Point3;

use super::exact::REACH;
use crate::types::{Contact, Geometry, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::Pose;
use voxshell_field::Field;

/// Returns the contact of a sample with the closest point of the other body's triangles; `None` for an edge, for a sample near the
/// surface, and if the other body has no triangles.
pub(crate) fn exact(contact: &Contact, [a, b]: [(&Geometry, &Pose); 2]) -> Option<Contact> {
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (own, (other, pose)) = if of_b { (contact.point_on_b, a) } else { (contact.point_on_a, b) };
    let surface = other.surface.filter(|_| contact.feature & FEATURE_OF_EDGE == 0)?;
    let voxel = f64::from(other.field.and_then(Field::gridded)?.grid.spacing);
    if contact.separation.abs() <= REACH * voxel {
        return None;
    }
    let p = pose.inverse_transform_point(&Point3::from(own)).coords;
    let closest = surface.closest(p, f64::INFINITY)?;
    let side = contact.separation.signum();
    let outward = pose.rotation * (p - closest.point).try_normalize(0.0)? * side;
    let separation = closest.distance_squared.sqrt() * side;
    let on_surface = (pose * Point3::from(closest.point)).coords;
    let (point_on_a, point_on_b, normal) = if of_b { (on_surface, own, outward) } else { (own, on_surface, -outward) };
    Some(Contact { point_on_a, point_on_b, normal, separation, ..*contact })
}
