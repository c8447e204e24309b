//! Constraints of contacts, and of the hits that stopped a substep.

use crate::constraint::Constraint;
use voxshell_base::math::{Pose, Vec3};
use voxshell_contact::{self as contact, Contact};

/// A constraint that stopped a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub constraint: Constraint,
    /// Slope of φ across the constraint where that was measured, otherwise 0.
    pub slope: f64,
    /// Distance by which the sample is to rise along the constraint, metres.
    pub rise: f64,
}

impl Cut {
    /// Returns the index of its obstacle.
    pub fn body(&self) -> usize {
        self.constraint.body as usize
    }

    /// Returns whether it belongs to the sample of a hit.
    pub fn is_of(&self, body: usize, hit: &Contact) -> bool {
        self.body() == body && self.constraint.feature == hit.feature
    }
}

/// Returns the constraint of a contact with an obstacle at a pose.
pub(super) fn constraint((body, frame): (u32, &Pose), c: &Contact, gap: f64) -> Constraint {
    let point = if c.feature & contact::FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
    let (normal, gap, frame, velocity) = (c.normal, gap.max(0.0), *frame, Vec3::zeros());
    let (recedes, friction, share) = (0.0, 0.0, 1.0);
    Constraint {
        point,
        normal,
        gap,
        feature: c.feature,
        body,
        shaded: normal,
        frame,
        velocity,
        recedes,
        friction,
        share,
    }
}
