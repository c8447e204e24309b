//! Springs and dampers at the contacts of a discrete query.

use super::gather::{Along, Law, Pair, Part, Sums, Touch};
use super::{Body, On, Response};
use voxshell_base::math::Vec3;
use voxshell_contact::{Contact, FEATURE_OF_B};
use voxshell_field::{Field, SignedDistance};

/// Parameters of penalty forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltySettings {
    /// Stiffness of each contact, N/m.
    pub stiffness: f64,
    /// Damping of each contact, against the relative velocity of the bodies along the force, N·s/m. A contact never
    /// pulls.
    pub damping: f64,
    /// Drag of each contact, against all relative velocity there, N·s/m (Xu & Barbič 2014, equation 10); 0 for no
    /// friction.
    pub drag: f64,
    /// φ at which the force begins, metres: the force layer extends this far outside the surface. The contact query
    /// must use at least this separation.
    pub offset: f64,
    /// Above this number of contacts, the total force is the average force times this number, so that stiffness stops
    /// growing with the number of samples: 10 in McNeely et al. 1999, section 5.2. `u32::MAX`: always the sum.
    pub average_from: u32,
}

impl PenaltySettings {
    /// Returns settings for sums of springs and dampers that begin at the surface.
    pub fn new(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping, drag: 0.0, offset: 0.0, average_from: u32::MAX }
    }

    pub(super) fn law(&self) -> Law {
        Law { stiffness: self.stiffness, damping: self.damping, drag: self.drag }
    }

    /// Returns the factor for sums over `count` contacts.
    pub(super) fn share(&self, count: usize) -> f64 {
        if count as u64 > u64::from(self.average_from) {
            f64::from(self.average_from) / count as f64
        } else {
            1.0
        }
    }
}

/// Returns the penalty force on one of two bodies, with its gradients with respect to that body's pose and twist; the
/// other body's are held.
///
/// Each contact with φ below `settings.offset` pushes with F = k (offset − φ) − b u·v along u, the inward normal of
/// its sample: unlike the field's gradient it does not jump where the sample passes the medial axis (Sagardia et al.
/// 2014, equations 2 and 3; Xu & Barbič 2016, section 4.1). `contacts` is the result of
/// [`contact::contacts`](voxshell_contact::contacts()) for these bodies at these poses; the contacts of both directions
/// are summed. The force of a contact whose sample is not among the given shells is along the contact's normal, which
/// is fixed to the other body: a plane (Otaduy & Lin 2005, equation 21). The gradient of a sample's depth is the
/// gradient of the field, if a field is given.
///
/// The gradients are exact except where contacts begin and end, and between two cells of a grid. Allocates nothing.
pub fn penalty(contacts: &[Contact], a: &Body, b: &Body, on: On, settings: &PenaltySettings) -> Response {
    let mut sum = Response::default();
    let count = add(contacts, [a, b], on, (settings.offset, Along::Normal), &settings.law(), &mut sum);
    sum.scaled(settings.share(count))
}

/// Adds the force of [`penalty`] to the sums, contact by contact, but in the field of a convex analytic shape, which brings no
/// samples of its own, along its gradient, except at samples that are on their way out of the far side.
pub fn penalty_into(
    contacts: &[Contact],
    bodies: [&Body; 2],
    on: On,
    settings: &PenaltySettings,
    sums: &mut impl Sums,
) {
    let count = contacts.iter().filter(|c| settings.offset - c.separation > 0.0).count();
    let law = settings.law().scaled(settings.share(count));
    add(contacts, bodies, on, (settings.offset, Along::Face), &law, sums);
}

/// Adds the forces of the contacts below `offset`, and returns the number of these contacts.
fn add<S: Sums>(
    contacts: &[Contact],
    [a, b]: [&Body; 2],
    on: On,
    (offset, along): (f64, Along),
    law: &Law,
    sums: &mut S,
) -> usize {
    let mut count = 0;
    for contact in contacts {
        let depth = offset - contact.separation;
        if depth > 0.0 {
            let of_b = contact.feature & FEATURE_OF_B != 0;
            let (sample, field) = if of_b { (b, a) } else { (a, b) };
            let pair = Pair { sample: &sample.kinematics, field: &field.kinematics };
            let part = if of_b == (on == On::B) { Part::Sample } else { Part::Field };
            let mut touch = touch(contact, depth, [sample, field], along);
            touch.gradient = S::gradient(&touch.gradient, &touch.push);
            law.add(&touch, &pair, part, sums.of(&touch.point, &(touch.push * part.sign())));
            count += 1;
        }
    }
    count
}

/// Converts a contact to the form that `Law::add` takes.
fn touch(contact: &Contact, depth: f64, [sample, field]: [&Body; 2], along: Along) -> Touch {
    let of_b = contact.feature & FEATURE_OF_B != 0;
    let (point, outward) =
        if of_b { (contact.point_on_b, contact.normal) } else { (contact.point_on_a, -contact.normal) };
    let index = (contact.feature & !FEATURE_OF_B) as usize;
    let (gradient, push, turns_with_sample) = match sample.geometry.shell.filter(|shell| index < shell.len()) {
        Some(shell) => {
            let normal = Vec3::from(shell.normal(index).map(f64::from));
            let gradient = gradient_at(&point, field).unwrap_or(outward);
            let inward = sample.kinematics.pose.rotation * -normal;
            let (push, turns_with_sample) = along.push(field.geometry.field, &gradient, &inward);
            (gradient, push, turns_with_sample)
        }
        None => (outward, outward, false),
    };
    Touch { point, depth, gradient, push, turns_with_sample, depth_by_turn: Vec3::zeros() }
}

/// Returns ∇φ at a point of the world; `None` without a field, or for a field that cannot tell the side of a sample.
fn gradient_at(point: &Vec3, body: &Body) -> Option<Vec3> {
    let field = body.geometry.field.filter(|field| !matches!(field, Field::Sheet(_)))?;
    let pose = &body.kinematics.pose;
    let point = pose.inverse_transform_point(&(*point).into()).coords;
    let local = (point - field.local_origin(&point)).map(|c| c as f32);
    let (_, gradient) = field.distance_gradient(local.into());
    Some(pose.rotation * Vec3::from(gradient.map(f64::from)))
}
