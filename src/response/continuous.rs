//! Penalty forces averaged over the times for which samples are in contact during a step.

use super::gather::{Along, Law, Pair, Part, Sums, Touch};
use super::{Kinematics, On, PenaltySettings, Response};
use voxshell_base::math::{Mat3, Pose, Twist, Vec3};
use voxshell_ccd::impact::{Collision, Moving};
use voxshell_contact::{Geometry, FEATURE_OF_B};
use voxshell_field::{Field, SignedDistance};

/// Parameters of penalty forces over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContinuousSettings {
    /// Penalty at each time of contact.
    pub penalty: PenaltySettings,
    /// Points of the midpoint rule in each interval of contact: 5 in Xu & Barbič 2016, 20 in Xu & Barbič 2014.
    pub midpoints: u32,
}

impl ContinuousSettings {
    /// Returns settings with five midpoints, as for haptics.
    #[inline]
    pub fn new(penalty: PenaltySettings) -> Self {
        Self { penalty, midpoints: 5 }
    }
}

/// Motion of a body over a step.
#[derive(Clone, Copy)]
pub struct Sweep<'a> {
    pub geometry: Geometry<'a>,
    /// Body to world, at the start and at the end.
    pub poses: [Pose; 2],
    /// Reference point of the wrench and of `twist.linear`, body frame, metres.
    pub center: Vec3,
    /// World frame; constant over the whole step.
    pub twist: Twist,
}

impl<'a> Sweep<'a> {
    /// Returns the motion for the continuous query.
    pub fn moving(&self) -> Moving<'a> {
        Moving { geometry: self.geometry, from: self.poses[0], to: self.poses[1] }
    }
}

/// Frame of a body at the start and at the end of the step, for interpolation.
struct Frames {
    rotations: [Mat3; 2],
    poses: [Pose; 2],
    centers: [Vec3; 2],
    twist: Twist,
}

impl Frames {
    #[inline]
    fn new(sweep: &Sweep) -> Self {
        Self {
            rotations: sweep.poses.map(|pose| pose.rotation.to_rotation_matrix().into_inner()),
            poses: sweep.poses,
            centers: sweep.poses.map(|pose| pose.transform_point(&sweep.center.into()).coords),
            twist: sweep.twist,
        }
    }

    #[inline]
    fn at(&self, t: f64) -> Kinematics {
        // The pose is not used.
        Kinematics { pose: self.poses[0], center: mix(&self.centers, t), twist: self.twist }
    }
}

#[inline(always)]
fn mix(ends: &[Vec3; 2], t: f64) -> Vec3 {
    ends[0] * (1.0 - t) + ends[1] * t
}

/// Returns the penalty force on one of two bodies, averaged over a step: F* = Σ ∫ F dt / Δt and τ* = Σ ∫ r × F dt /
/// Δt over the intervals in which samples are in contact, by the midpoint rule (Xu & Barbič 2016, equations 3 to 5;
/// with the damping of 2014, equations 3 to 11). To be applied in the next step. `collisions` is the result of
/// [`impact::contacts`](voxshell_ccd::impact::contacts) for these bodies on straight paths, with `max_separation` equal
/// to the offset of the penalty.
///
/// At each time F is the force of [`penalty`](super::penalty) for the sample at that time. As in the papers, its
/// position in the world and in the field's frame, its normal, the centres and the field's axes are interpolated
/// linearly in time between the start and the end of the step. With `average_from` each interval counts as one
/// contact.
///
/// The gradients are with respect to a displacement of the body that is the same during the whole step. They omit the
/// damping of contacts that begin or end at other times because of the displacement. A contact that lasts for half of
/// the step counts half: therefore the force is continuous where the force of a discrete query jumps. Allocates
/// nothing.
pub fn continuous(collisions: &[Collision], a: &Sweep, b: &Sweep, on: On, settings: &ContinuousSettings) -> Response {
    let mut sum = Response::default();
    add(collisions, [a, b], on, (settings, Along::Normal), &settings.penalty.law(), &mut sum);
    sum.scaled(settings.penalty.share(collisions.len()))
}

/// Adds the force of [`continuous`] to the sums, contact by contact, along the directions of
/// [`penalty_into`](super::penalty_into).
pub fn continuous_into(
    collisions: &[Collision],
    bodies: [&Sweep; 2],
    on: On,
    settings: &ContinuousSettings,
    sums: &mut impl Sums,
) {
    let law = settings.penalty.law().scaled(settings.penalty.share(collisions.len()));
    add(collisions, bodies, on, (settings, Along::Face), &law, sums);
}

fn add<S: Sums>(
    collisions: &[Collision],
    [a, b]: [&Sweep; 2],
    on: On,
    (settings, along): (&ContinuousSettings, Along),
    law: &Law,
    sums: &mut S,
) {
    let frames = [a, b].map(Frames::new);
    let n = settings.midpoints.max(1);
    for collision in collisions {
        let of_b = usize::from(collision.contact.feature & FEATURE_OF_B != 0);
        let (sample, field) = ([a, b][of_b], [a, b][1 - of_b]);
        let part = if (of_b == 1) == (on == On::B) { Part::Sample } else { Part::Field };
        let Some(path) = Path::new(collision, sample, field, [&frames[of_b], &frames[1 - of_b]]) else { continue };
        let (from, length) = (collision.contact.toi, collision.until - collision.contact.toi);
        let weight = length / f64::from(n);
        let law = law.scaled(weight);
        let at = |i: u32| {
            let t = from + length * ((f64::from(i) + 0.5) / f64::from(n));
            Some((t, path.touch(t, settings.penalty.offset, along)?))
        };
        let mut touches = (0..n).filter_map(at).peekable();
        let Some((point, push)) = touches.peek().map(|(_, touch)| (touch.point, touch.push)) else { continue };
        let sum = sums.of(&point, &(push * part.sign()));
        for (t, mut touch) in touches {
            touch.gradient = S::gradient(&touch.gradient, &touch.push);
            let [sample, field] = [of_b, 1 - of_b].map(|k| frames[k].at(t));
            law.add(&touch, &Pair { sample: &sample, field: &field }, part, sum);
        }
    }
}

/// Path of a sample through the world and through the field.
struct Path<'a> {
    field: &'a Field,
    /// Positions and inward normals, world frame.
    places: [Vec3; 2],
    inward: [Vec3; 2],
    /// Positions, field's body frame.
    within: [Vec3; 2],
    axes: &'a [Mat3; 2],
}

impl<'a> Path<'a> {
    #[inline]
    fn new(
        collision: &Collision,
        sample: &'a Sweep,
        field: &'a Sweep,
        [of_sample, of_field]: [&'a Frames; 2],
    ) -> Option<Self> {
        let shell = sample.geometry.shell?;
        let index = (collision.contact.feature & !FEATURE_OF_B) as usize;
        if index >= shell.len() {
            return None;
        }
        let point = shell.position(index);
        let normal = Vec3::from(shell.normal(index).map(f64::from));
        let places = of_sample.poses.map(|pose| pose.transform_point(&point.into()).coords);
        let inward = [0, 1].map(|k| of_sample.rotations[k] * -normal);
        let within = [0, 1].map(|k| of_field.poses[k].inverse_transform_point(&places[k].into()).coords);
        Some(Self { field: field.geometry.field?, places, inward, within, axes: &of_field.rotations })
    }

    /// Returns the contact at a time, if there is one.
    #[inline(always)]
    fn touch(&self, t: f64, offset: f64, along: Along) -> Option<Touch> {
        let within = mix(&self.within, t);
        let local = (within - self.field.local_origin(&within)).map(|c| c as f32);
        let (phi, gradient) = self.field.distance_gradient(local.into());
        let depth = offset - f64::from(phi);
        if depth <= 0.0 {
            return None;
        }
        let inward = mix(&self.inward, t).try_normalize(0.0)?;
        let gradient = Vec3::from(gradient.map(f64::from));
        let gradient = mix(&[self.axes[0] * gradient, self.axes[1] * gradient], t);
        let gradient = match self.field {
            // A sheet has two sides; the sample is on the side from which its body came.
            Field::Sheet(_) if gradient.dot(&inward) < 0.0 => -gradient,
            _ => gradient,
        };
        let (push, turns_with_sample) = along.push(Some(self.field), &gradient, &inward);
        Some(Touch {
            point: mix(&self.places, t),
            depth,
            gradient,
            push,
            turns_with_sample,
            depth_by_turn: Vec3::zeros(),
        })
    }
}
