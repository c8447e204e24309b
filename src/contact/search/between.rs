//! Contacts of flat faces that lie between others.
//!
//! Faces that lie on each other touch along the outline of what they share. Where edges nearly coincide, the points at which
//! they cross slide along them with the least rotation, and a corner has several contacts. A solver needs the corners of the
//! outline only: between two contacts with one normal, separations are those of the straight line between them.

use super::super::types::Contact;
use voxshell_base::math::Vec3;

/// Distance from the line between two contacts up to which a contact is between them, as a fraction of the extent of the
/// smaller body.
const NEAR: f64 = 1e-3;

/// Separation by which a contact may be less than the line between two others, as a fraction of the largest separation.
const DEEPER: f64 = 2e-3;

/// Cosine of the largest angle between normals that count as one.
const ONE_NORMAL: f64 = 1.0 - 1e-8;

/// Largest number of contacts; of more, all are kept, because the time grows with the cube of the number.
const MOST: usize = 32;

/// Removes the contacts that lie between two others, or at one. `contacts` are in ascending order, in which the first of
/// several equal ones is kept.
pub(in super::super) fn remove(contacts: &mut Vec<Contact>, extent: f64, max_separation: f64) {
    if contacts.len() > MOST {
        return;
    }
    let (near, deeper) = (NEAR * extent, DEEPER * max_separation);
    let middle = |c: &Contact| 0.5 * (c.point_on_a + c.point_on_b);
    let mut i = contacts.len();
    while i > 0 {
        i -= 1;
        let c = contacts[i];
        let is_beside = |o: &Contact| o.normal.dot(&c.normal) >= ONE_NORMAL;
        let in_plane = |v: Vec3| v - c.normal * c.normal.dot(&v);
        let at = |o: &Contact| in_plane(middle(o) - middle(&c));
        let is_between = |(j, a): (usize, &Contact)| {
            let from = at(a);
            let mut ends = contacts[j..].iter().filter(|b| !std::ptr::eq(*b, &contacts[i]) && is_beside(b));
            ends.any(|b| {
                let along = at(b) - from;
                let length = along.norm_squared();
                let share = if length > 0.0 { (-from.dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 };
                let line = a.separation + (b.separation - a.separation) * share;
                (from + along * share).norm_squared() <= near * near && c.separation >= line - deeper
            })
        };
        let mut others = contacts.iter().enumerate().filter(|(j, a)| *j != i && is_beside(a));
        if others.any(is_between) {
            contacts.remove(i);
        }
    }
}
