//! What makes a part of an edge no contact of its own: another contact in the place that is about as deep.

use super::places::Places;
use crate::types::Contact;
use voxshell_base::math::Vec3;

/// Cosine of the largest angle between the normal of a contact and that of a part of an edge that it covers.
const LIKE: f64 = 0.9;

/// How near a contact must be that covers a part of an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covering {
    /// Largest distance from the other contact to any point of the part, metres.
    pub distance: f64,
    /// Depth by which the part may be deeper, metres.
    pub tolerance: f64,
}

/// A part of an edge, as far as a contact that covers it must be like it.
#[derive(Clone, Copy)]
pub(crate) struct Cover {
    /// Whether the edge is of B.
    pub of_b: bool,
    /// A bound of the depth of the part, metres.
    pub most: f64,
    /// Middle of the part, and half its length. World frame.
    pub middle: Vec3,
    pub half: f64,
    /// Unit vectors from A to B where it begins and where it ends: a direction between them is its own.
    pub normals: [Vec3; 2],
}

/// Contacts by their places on both bodies.
#[derive(Default)]
pub(crate) struct Covers {
    on: [Places; 2],
    count: usize,
}

impl Covers {
    pub fn begin(&mut self, covering: &Covering) {
        self.on.iter_mut().for_each(|places| places.begin(2.0 * covering.distance));
        self.count = 0;
    }

    /// Returns whether one of the contacts covers a part of an edge. The contacts are those of the last call, and perhaps more.
    pub fn cover(&mut self, covering: &Covering, contacts: &[Contact], part: &Cover) -> bool {
        for contact in &contacts[self.count..] {
            self.on[0].push(&contact.point_on_a);
            self.on[1].push(&contact.point_on_b);
        }
        self.count = contacts.len();
        let reach = covering.distance - part.half;
        reach > 0.0
            && self.on[usize::from(part.of_b)].any_near(&part.middle, reach, |k| {
                let contact = &contacts[k];
                let own = if part.of_b { &contact.point_on_b } else { &contact.point_on_a };
                // What only comes near stands for no penetration.
                contact.separation <= 0.0
                    && -contact.separation >= part.most - covering.tolerance
                    && (own - part.middle).norm_squared() <= reach * reach
                    && part.normals.iter().all(|normal| contact.normal.dot(normal) >= LIKE)
            })
    }
}
