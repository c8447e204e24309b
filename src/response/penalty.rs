//! Springs and dampers at the contacts of a discrete query.

use super::gather::{Law, Pair, Part, Touch};
use super::{Body, On, Response};
use crate::contact::{Contact, FEATURE_OF_B};
use crate::field::{Field, SignedDistance};
use crate::math::Vec3;

/// How hard contacts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltySettings {
    /// Of each contact, N/m.
    pub stiffness: f64,
    /// Of each contact, against what two bodies move through each other along the force, N·s/m. A contact never pulls.
    pub damping: f64,
    /// Of each contact, against all relative velocity there, N·s/m (Xu & Barbič 2014, equation 10); 0 for no friction.
    pub drag: f64,
    /// φ at which a force begins, metres: the force layer is this far outside of the surface. Contacts must be asked
    /// for up to there.
    pub offset: f64,
    /// From this many contacts on, the sum of all forces is the average times this number, so that stiffness stops to
    /// grow with the number of samples: 10 in McNeely et al. 1999, section 5.2. `u32::MAX` for the sum, whatever it is.
    pub average_from: u32,
}

impl PenaltySettings {
    /// Sums of springs and dampers, from the surface on.
    pub fn new(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping, drag: 0.0, offset: 0.0, average_from: u32::MAX }
    }

    pub(super) fn law(&self) -> Law {
        Law { stiffness: self.stiffness, damping: self.damping, drag: self.drag }
    }

    /// What sums over `count` contacts are multiplied by.
    pub(super) fn share(&self, count: usize) -> f64 {
        if count as u64 > u64::from(self.average_from) {
            f64::from(self.average_from) / count as f64
        } else {
            1.0
        }
    }
}

/// The penalty force on one of two bodies, with its gradients by that body's pose and twist, the other body's held.
///
/// Each contact with φ below `settings.offset` pushes with F = k (offset − φ) − b u·v along u, the inward normal of its
/// sample: unlike the field's gradient it does not jump where the sample passes the medial axis (Sagardia et al. 2014,
/// equations 2 and 3; Xu & Barbič 2016, section 4.1). `contacts` are of
/// [`contact::contacts`](crate::contact::contacts()) for these bodies at these poses; those of both directions add up.
/// The force of a contact whose sample is not among the given shells is along its normal, fixed to the other body: a
/// plane (Otaduy & Lin 2005, equation 21). The gradient of a sample's depth is the field's where that is given.
///
/// The gradients are exact but where contacts begin and end, and between two cells of a grid. Allocates nothing.
pub fn penalty(contacts: &[Contact], a: &Body, b: &Body, on: On, settings: &PenaltySettings) -> Response {
    let law = settings.law();
    let (mut sum, mut count) = (Response::default(), 0);
    for contact in contacts {
        let depth = settings.offset - contact.separation;
        if depth > 0.0 {
            let of_b = contact.feature & FEATURE_OF_B != 0;
            let (sample, field) = if of_b { (b, a) } else { (a, b) };
            let pair = Pair { sample: &sample.kinematics, field: &field.kinematics };
            let part = if of_b == (on == On::B) { Part::Sample } else { Part::Field };
            law.add(&touch(contact, depth, sample, field), &pair, part, &mut sum);
            count += 1;
        }
    }
    sum.scaled(settings.share(count))
}

/// What a contact is to its sample and its field.
fn touch(contact: &Contact, depth: f64, sample: &Body, field: &Body) -> Touch {
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (point, outward) =
        if of_b { (contact.point_on_b, contact.normal) } else { (contact.point_on_a, -contact.normal) };
    let index = (contact.feature & !FEATURE_OF_B) as usize;
    let (gradient, push, turns_with_sample) = match sample.geometry.shell.filter(|shell| index < shell.len()) {
        Some(shell) => {
            let normal = Vec3::from(shell.normal(index).map(f64::from));
            (gradient_at(&point, field).unwrap_or(outward), sample.kinematics.pose.rotation * -normal, true)
        }
        None => (outward, outward, false),
    };
    Touch { point, depth, gradient, push, turns_with_sample, depth_by_turn: Vec3::zeros() }
}

/// ∇φ at a point of the world; `None` where there is no field, or one that does not know which side a sample is on.
fn gradient_at(point: &Vec3, body: &Body) -> Option<Vec3> {
    let field = body.geometry.field.filter(|field| !matches!(field, Field::Sheet(_)))?;
    let pose = &body.kinematics.pose;
    let point = pose.inverse_transform_point(&(*point).into()).coords;
    let local = (point - field.local_origin(&point)).map(|c| c as f32);
    let (_, gradient) = field.distance_gradient(local.into());
    Some(pose.rotation * Vec3::from(gradient.map(f64::from)))
}
