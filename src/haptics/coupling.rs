//! The virtual coupling: a spring and a damper in all six directions between the hand and the simulated tool (Colgate,
//! Stanley & Brown 1995; McNeely et al. 1999, section 6.1; Otaduy & Lin 2005, section 4.3).

use crate::math::{limits, Mat3, Pose, Rotation, Twist, Vec3, Wrench};
use crate::response::{Kinematics, Response};
use crate::{Error, Result};

/// Saturation law of a spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturation {
    /// Never: f = k x.
    Linear,
    /// At x_max: f = k min(x, x_max) (Xu & Barbič 2016, section 4.1).
    Clamped,
    /// Smoothly, by a cubic that begins with slope k and ends flat at 3/2 x_max, with the same maximum force k x_max
    /// (Otaduy & Lin 2005, section 4.3).
    Cubic,
}

/// A spring and damper for translation and one for rotation; both isotropic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// N/m, N·m/rad.
    pub stiffness: [f64; 2],
    /// N·s/m, N·m·s/rad.
    pub damping: [f64; 2],
    pub saturation: Saturation,
    /// x_max: metres, radians. Not used for [`Saturation::Linear`].
    pub reach: [f64; 2],
}

impl Coupling {
    /// Returns the critical damping of a mass on a spring: b = 2 √(k m). kg and N/m, or kg·m² and N·m/rad.
    pub fn critical_damping(stiffness: f64, mass: f64) -> f64 {
        2.0 * (stiffness * mass).sqrt()
    }

    /// # Errors
    /// `InvalidArgument` for a number that is negative, not finite, or a reach that is not positive.
    pub fn check(&self) -> Result<()> {
        let fields = [("stiffness", &self.stiffness), ("damping", &self.damping), ("reach", &self.reach)];
        for (name, [linear, angular]) in fields {
            for (part, value) in [("[0]", *linear), ("[1]", *angular)] {
                let fits = match name {
                    "damping" => value >= 0.0 && limits::is_quantity(value),
                    "reach" if self.saturation == Saturation::Linear => true,
                    _ => limits::is_positive_quantity(value),
                };
                if !fits {
                    let least = if name == "damping" { "0" } else { "1e-30" };
                    let expected = format!("a positive, finite number, {least} to 1e18");
                    return Err(Error::argument(format!("coupling.{name}{part}"), limits::Shown(value), expected));
                }
            }
        }
        Ok(())
    }

    /// Returns the maximum force and torque of the springs, N and N·m; the dampers add to it.
    pub fn greatest(&self) -> [f64; 2] {
        match self.saturation {
            Saturation::Linear => [f64::INFINITY; 2],
            Saturation::Clamped | Saturation::Cubic => [0, 1].map(|i| self.stiffness[i] * self.reach[i]),
        }
    }

    /// Returns the springs' energy at this deflection, J: the work of the springs' wrench up to it.
    pub fn energy(&self, hand: &Pose, center: &Vec3, body: &Kinematics) -> f64 {
        let (shift, turn) = apart(hand, center, body);
        [shift.norm(), turn.norm()].iter().enumerate().fold(0.0, |sum, (i, r)| sum + self.stored(i, *r))
    }

    fn stored(&self, part: usize, r: f64) -> f64 {
        let (k, reach) = (self.stiffness[part], self.reach[part]);
        match self.saturation {
            Saturation::Linear => 0.5 * k * r * r,
            Saturation::Clamped => 0.5 * k * r.min(reach).powi(2) + k * reach * (r - reach).max(0.0),
            Saturation::Cubic => {
                let end = 1.5 * reach;
                let s = r.min(end);
                k * s * s * (0.5 - s * s / (12.0 * end * end)) + k * reach * (r - end).max(0.0)
            }
        }
    }

    /// Returns f(r) and f'(r) of one of the springs.
    fn spring(&self, part: usize, r: f64) -> (f64, f64) {
        let (k, reach) = (self.stiffness[part], self.reach[part]);
        match self.saturation {
            Saturation::Linear => (k * r, k),
            Saturation::Clamped if r <= reach => (k * r, k),
            Saturation::Clamped => (k * reach, 0.0),
            Saturation::Cubic => {
                let s = r / (1.5 * reach);
                if s < 1.0 {
                    (k * r * (1.0 - s * s / 3.0), k * (1.0 - s * s))
                } else {
                    (k * reach, 0.0)
                }
            }
        }
    }

    /// Returns the coupling's load on the simulated body, about its centre, with the gradients by that body's pose and
    /// twist; the hand gets the opposite. `hand` is the pose of the body's origin at the hand and `twist` its motion;
    /// `center` is the body's centre in its own frame. Of two rotations the shorter one counts, so that q and −q are
    /// the same.
    pub fn on_body(&self, hand: &Pose, twist: &Twist, center: &Vec3, body: &Kinematics) -> Response {
        let (shift, turn) = apart(hand, center, body);
        let arm = hand.rotation * center;
        let slip = twist.at(&arm) - body.twist.linear;
        let spin = twist.angular - body.twist.angular;
        let (force, by_shift) = self.pull(0, &shift);
        let (torque, by_turn) = self.pull(1, &turn);
        let mut response = Response {
            wrench: Wrench { force: force + slip * self.damping[0], torque: torque + spin * self.damping[1] },
            ..Response::default()
        };
        // The body's own motion reduces the shift, and its turn ρ makes log(exp(θ) exp(−ρ)) ≈ θ − J ρ of the turn.
        response.by_pose.fixed_view_mut::<3, 3>(0, 0).copy_from(&-by_shift);
        response.by_pose.fixed_view_mut::<3, 3>(3, 3).copy_from(&-(by_turn * inverse_right_jacobian(&turn)));
        for i in 0..3 {
            response.by_twist[(i, i)] = -self.damping[0];
            response.by_twist[(i + 3, i + 3)] = -self.damping[1];
        }
        response
    }

    /// Returns the force of a spring along `x`, and its derivative.
    fn pull(&self, part: usize, x: &Vec3) -> (Vec3, Mat3) {
        let r = x.norm();
        let (f, slope) = self.spring(part, r);
        if r < 1e-12 {
            return (x * self.stiffness[part], Mat3::identity() * self.stiffness[part]);
        }
        let along = x / r;
        let across = f / r;
        (along * f, Mat3::identity() * across + along * along.transpose() * (slope - across))
    }
}

/// Returns a pose after some time of a constant twist of its origin.
pub(super) fn carried(pose: &Pose, twist: &Twist, time: f64) -> Pose {
    let turn = Rotation::from_scaled_axis(twist.angular * time);
    Pose::from_parts((pose.translation.vector + twist.linear * time).into(), turn * pose.rotation)
}

/// Returns the difference from the body to its pose at the hand: shift of the centre and rotation vector, world frame.
fn apart(hand: &Pose, center: &Vec3, body: &Kinematics) -> (Vec3, Vec3) {
    let shift = hand.transform_point(&(*center).into()).coords - body.center;
    (shift, (hand.rotation * body.pose.rotation.inverse()).scaled_axis())
}

/// J with log(exp(θ) exp(ρ)) = θ + J ρ + O(ρ²), |θ| < π (Solà, Deray & Atchuthan 2018, equation 144).
fn inverse_right_jacobian(theta: &Vec3) -> Mat3 {
    let cross = theta.cross_matrix();
    let angle = theta.norm();
    // At half a turn there is no derivative: the direction of the shorter rotation changes.
    let angle = angle.min(0.999 * std::f64::consts::PI);
    let c = if angle < 1e-4 { 1.0 / 12.0 } else { (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle) };
    Mat3::identity() + cross * 0.5 + cross * cross * c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec6;

    fn coupling(saturation: Saturation) -> Coupling {
        Coupling { stiffness: [1000.0, 8.0], damping: [3.0, 0.02], saturation, reach: [0.004, 0.2] }
    }

    /// Returns hand, twist, centre and body, separated by this many reaches.
    fn scene(c: &Coupling, reaches: f64, body_shift: &Vec6, body_twist: &Vec6) -> (Pose, Twist, Vec3, Kinematics) {
        let center = Vec3::new(0.01, -0.02, 0.03);
        let hand = Pose::new(Vec3::new(0.1, 0.2, -0.1), Vec3::new(0.5, 1.0, -0.3));
        let twist = Twist { linear: Vec3::new(0.02, -0.05, 0.03), angular: Vec3::new(0.4, 0.1, -0.7) };
        let at = |v: Vec3, n: f64| v.normalize() * n;
        let shift = at(Vec3::new(0.3, 0.8, -0.5), reaches * c.reach[0]);
        let turn = at(Vec3::new(-0.6, 0.2, 0.4), reaches * c.reach[1]);
        let rotation = Rotation::from_scaled_axis(body_shift.fixed_rows::<3>(3).into_owned())
            * Rotation::from_scaled_axis(turn)
            * hand.rotation;
        let at = hand.transform_point(&center.into()).coords + shift + body_shift.fixed_rows::<3>(0);
        let pose = Pose::from_parts((at - rotation * center).into(), rotation);
        let still = Vec6::new(0.1, 0.0, -0.2, 0.3, -0.4, 0.2);
        (hand, twist, center, Kinematics { pose, center: at, twist: Twist::from_column(&(still + body_twist)) })
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        for saturation in [Saturation::Linear, Saturation::Clamped, Saturation::Cubic] {
            let c = coupling(saturation);
            for reaches in [0.0, 1e-6, 0.1, 0.7, 1.2, 3.0] {
                let wrench = |pose: &Vec6, twist: &Vec6| {
                    let (hand, hand_twist, center, body) = scene(&c, reaches, pose, twist);
                    c.on_body(&hand, &hand_twist, &center, &body)
                };
                let here = wrench(&Vec6::zeros(), &Vec6::zeros());
                for k in 0..6 {
                    let mut step = Vec6::zeros();
                    step[k] = 1e-7;
                    let column = |a: Response, b: Response| (a.wrench.column() - b.wrench.column()) / 2e-7;
                    let by_pose = column(wrench(&step, &Vec6::zeros()), wrench(&-step, &Vec6::zeros()));
                    let by_twist = column(wrench(&Vec6::zeros(), &step), wrench(&Vec6::zeros(), &-step));
                    let size = here.by_pose.column(k).norm().max(1.0);
                    let (dp, dt) = (by_pose - here.by_pose.column(k), by_twist - here.by_twist.column(k));
                    assert!(dp.norm() < 1e-4 * size, "{saturation:?} {reaches} {k}: {by_pose} {}", here.by_pose);
                    assert!(dt.norm() < 1e-6 * size, "{saturation:?} {reaches} {k}: {by_twist}");
                }
            }
        }
    }

    #[test]
    fn springs_saturate_at_k_x_max_and_never_above() {
        for saturation in [Saturation::Clamped, Saturation::Cubic] {
            let mut c = coupling(saturation);
            c.damping = [0.0; 2];
            let (force, torque) = (c.greatest()[0], c.greatest()[1]);
            let mut last = 0.0;
            for n in 1..400 {
                let reaches = n as f64 * 0.02;
                let (hand, _, center, body) = scene(&c, reaches, &Vec6::zeros(), &Vec6::zeros());
                let wrench = c.on_body(&hand, &Twist::ZERO, &center, &body).wrench;
                let (f, t) = (wrench.force.norm(), wrench.torque.norm());
                assert!(f <= force * (1.0 + 1e-12) && t <= torque * (1.0 + 1e-12), "{reaches}: {f} {t}");
                assert!(f >= last - 1e-12, "falls at {reaches}");
                last = f;
            }
            assert!((last - force).abs() < 1e-9, "{last} {force}");
        }
    }

    #[test]
    fn the_energy_is_the_work_of_the_spring() {
        for saturation in [Saturation::Linear, Saturation::Clamped, Saturation::Cubic] {
            let c = coupling(saturation);
            let (mut work, steps) = ([0.0; 2], 4000);
            for part in [0, 1] {
                let step = 2.5 * c.reach[part] / steps as f64;
                for n in 0..steps {
                    work[part] += c.spring(part, (n as f64 + 0.5) * step).0 * step;
                    let stored = c.stored(part, (n + 1) as f64 * step);
                    assert!((stored - work[part]).abs() < 1e-5 * work[part], "{saturation:?} {n}");
                }
            }
        }
    }

    #[test]
    fn a_quaternion_and_its_opposite_are_the_same_pose() {
        let c = coupling(Saturation::Linear);
        let (hand, twist, center, body) = scene(&c, 0.5, &Vec6::zeros(), &Vec6::zeros());
        let here = c.on_body(&hand, &twist, &center, &body).wrench;
        let mut flipped = hand;
        flipped.rotation = Rotation::new_unchecked(-hand.rotation.into_inner());
        let there = c.on_body(&flipped, &twist, &center, &body).wrench;
        assert!((here.column() - there.column()).norm() < 1e-9, "{here:?} {there:?}");
    }
}
