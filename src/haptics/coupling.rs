//! The virtual coupling: a spring and a damper in all six directions between the hand and the simulated tool (Colgate,
//! Stanley & Brown 1995; McNeely et al. 1999, section 6.1; Otaduy & Lin 2005, section 4.3).

use nalgebra::{Matrix3x6, Matrix6};

use voxshell_base::math::{from_scaled_axis, limits, scaled_axis, Mat3, Mat6, Pose, Twist, Vec3, Wrench};
use voxshell_base::{Error, Result};
use voxshell_dynamics::Link;
use voxshell_response::{Kinematics, Response};

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
    /// Point at which the springs hold the tool, body frame, metres: usually its centre of mass.
    pub point: Vec3,
}

impl Coupling {
    /// Returns the critical damping of a mass on a spring: b = 2 √(k m). kg and N/m, or kg·m² and N·m/rad.
    pub fn critical_damping(stiffness: f64, mass: f64) -> f64 {
        2.0 * (stiffness * mass).sqrt()
    }

    /// # Errors
    /// `InvalidArgument` for a number that is negative, not finite, or a reach that is not positive.
    pub fn check(&self) -> Result<()> {
        limits::check_point("coupling.point", &self.point)?;
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

    /// Returns the maximum force and torque, N and N·m. Dampers oppose a spring that relaxes, and add nothing to a
    /// saturated one.
    pub fn greatest(&self) -> [f64; 2] {
        match self.saturation {
            Saturation::Linear => [f64::INFINITY; 2],
            Saturation::Clamped | Saturation::Cubic => [0, 1].map(|i| self.stiffness[i] * self.reach[i]),
        }
    }

    /// Returns the springs' energy at this deflection, J: the work of the springs' wrench up to it.
    pub fn energy(&self, hand: &Pose, body: &Kinematics) -> f64 {
        let (shift, turn) = self.apart(hand, body);
        [shift.norm(), turn.norm()].iter().enumerate().fold(0.0, |sum, (i, r)| sum + self.stored(i, *r))
    }

    /// Returns the energy of each spring at the deflection at which it saturates, J.
    pub fn most_stored(&self) -> [f64; 2] {
        match self.saturation {
            Saturation::Linear => [f64::INFINITY; 2],
            Saturation::Clamped => [0, 1].map(|i| self.stored(i, self.reach[i])),
            Saturation::Cubic => [0, 1].map(|i| self.stored(i, 1.5 * self.reach[i])),
        }
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
    /// twist. `hand` is the pose of the body's origin at the hand and `twist` its motion. Of two rotations the shorter
    /// one counts, so that q and −q are the same.
    ///
    /// Otaduy & Lin 2005, equations 12 to 20, with r the arm of the coupling's point about the centre.
    pub fn on_body(&self, hand: &Pose, twist: &Twist, body: &Kinematics) -> Response {
        let Kinematics { twist: Twist { linear, angular }, .. } = body;
        let (shift, turn) = self.apart(hand, body);
        let arm = self.arm(body);
        let slip = twist.at(&(hand.rotation * self.point)) - (linear + angular.cross(&arm));
        let spin = twist.angular - angular;
        let (force, by_shift) = self.pull(0, &shift);
        let (torque, by_turn) = self.pull(1, &turn);
        let (rx, [b, beta]) = (arm.cross_matrix(), self.damping);
        let mut force = Pull::new(force + slip * b);
        // The body's motion ξ, ρ reduces the shift by ξ + ρ × r, and makes log(exp(θ) exp(−ρ)) ≈ θ − J ρ of the turn.
        force.set(
            &-by_shift,
            &(by_shift * rx + angular.cross_matrix() * rx * b),
            &Mat3::from_diagonal_element(-b),
            &(rx * b),
        );
        let mut torque = Pull::new(torque + spin * beta);
        let zero = Mat3::zeros();
        torque.set(&zero, &-(by_turn * inverse_right_jacobian(&turn)), &zero, &Mat3::from_diagonal_element(-beta));
        // The damper of a hand that moves away would otherwise pull the tool through what the spring cannot.
        let [most, moment] = self.greatest();
        force.bound(most);
        torque.bound(moment);
        let mut response = Response {
            wrench: Wrench { force: force.value, torque: torque.value + arm.cross(&force.value) },
            ..Response::default()
        };
        for (sum, force, torque) in [
            (&mut response.by_pose, &force.by_pose, &torque.by_pose),
            (&mut response.by_twist, &force.by_twist, &torque.by_twist),
        ] {
            sum.fixed_rows_mut::<3>(0).copy_from(force);
            sum.fixed_rows_mut::<3>(3).copy_from(&(torque + rx * force));
        }
        let mut turned = response.by_pose.fixed_view_mut::<3, 3>(3, 3);
        turned += force.value.cross_matrix() * rx;
        response
    }

    /// Returns the coupling's wrench on the hand, about its origin: opposite to that on the body, at the same point.
    pub fn on_hand(&self, hand: &Pose, twist: &Twist, body: &Kinematics) -> Wrench {
        let Wrench { force, torque } = self.on_body(hand, twist, body).wrench;
        let opposite = Wrench { force: -force, torque: -torque };
        opposite.about(&self.arm(body)).about(&-(hand.rotation * self.point))
    }

    /// Returns the coupling's loads on two bodies that it holds together, with the gradients by the motion of both. Their
    /// forces are opposite; their torques are opposite about the coupling's point.
    pub fn between(&self, bodies: [&Kinematics; 2]) -> Link {
        let [a, b] = bodies;
        let on = [self.on_body(&b.pose, &origin_twist(b), a), self.on_body(&a.pose, &origin_twist(a), b)];
        let arms = bodies.map(|body| self.arm(body));
        let (mut by_pose, mut by_twist) = ([on.map(|load| load.by_pose); 2], [on.map(|load| load.by_twist); 2]);
        for (i, j) in [(0, 1), (1, 0)] {
            // The load on body i by the motion of body j: opposite to that on body j, with the arm of body i.
            let force = on[j].wrench.force.cross_matrix();
            let mut turned = Matrix6::zeros();
            turned.fixed_view_mut::<3, 3>(3, 3).copy_from(&(force * arms[j].cross_matrix()));
            by_pose[i][j] = across(&(by_pose[j][j] - turned), &(arms[j] - arms[i]));
            by_twist[i][j] = across(&by_twist[j][j], &(arms[j] - arms[i]));
        }
        Link { wrench: on.map(|load| load.wrench), by_pose, by_twist }
    }

    /// Returns the arm from the body's centre to the coupling's point, world frame.
    fn arm(&self, body: &Kinematics) -> Vec3 {
        body.pose.transform_point(&self.point.into()).coords - body.center
    }

    /// Returns the difference from the body to its pose at the hand: shift of the coupling's point and rotation vector,
    /// world frame.
    fn apart(&self, hand: &Pose, body: &Kinematics) -> (Vec3, Vec3) {
        let [held, point] = [hand, &body.pose].map(|pose| pose.transform_point(&self.point.into()).coords);
        (held - point, scaled_axis(&(hand.rotation * body.pose.rotation.inverse())))
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

/// Returns the derivatives of the opposite force and torque, with the torque about a point that is `shift` from the first.
fn across(by: &Mat6, shift: &Vec3) -> Mat6 {
    let mut opposite = -by;
    let force: Matrix3x6<f64> = by.fixed_rows::<3>(0).into();
    let mut torque = opposite.fixed_rows_mut::<3>(3);
    torque += shift.cross_matrix() * force;
    opposite
}

/// Returns the twist of a body's origin.
pub(super) fn origin_twist(body: &Kinematics) -> Twist {
    let linear = body.twist.at(&(body.pose.translation.vector - body.center));
    Twist { linear, angular: body.twist.angular }
}

/// A force or a torque, and its derivatives with respect to pose and twist.
struct Pull {
    value: Vec3,
    by_pose: Matrix3x6<f64>,
    by_twist: Matrix3x6<f64>,
}

impl Pull {
    fn new(value: Vec3) -> Self {
        Self { value, by_pose: Matrix3x6::zeros(), by_twist: Matrix3x6::zeros() }
    }

    /// Sets the derivatives by translation, rotation, linear and angular velocity.
    fn set(&mut self, by_shift: &Mat3, by_turn: &Mat3, by_velocity: &Mat3, by_spin: &Mat3) {
        for (all, first, last) in [(&mut self.by_pose, by_shift, by_turn), (&mut self.by_twist, by_velocity, by_spin)] {
            all.fixed_columns_mut::<3>(0).copy_from(first);
            all.fixed_columns_mut::<3>(3).copy_from(last);
        }
    }

    /// Shortens it to a length.
    fn bound(&mut self, most: f64) {
        let size = self.value.norm();
        if size > most {
            let along = self.value / size;
            let keep = (Mat3::identity() - along * along.transpose()) * (most / size);
            self.value = along * most;
            self.by_pose = keep * self.by_pose;
            self.by_twist = keep * self.by_twist;
        }
    }
}

/// Returns a pose after some time of a constant twist of its origin.
pub(super) fn carried(pose: &Pose, twist: &Twist, time: f64) -> Pose {
    let turn = from_scaled_axis(twist.angular * time);
    Pose::from_parts((pose.translation.vector + twist.linear * time).into(), turn * pose.rotation)
}

/// J with log(exp(θ) exp(ρ)) = θ + J ρ + O(ρ²), |θ| < π (Solà, Deray & Atchuthan 2018, equation 144).
fn inverse_right_jacobian(theta: &Vec3) -> Mat3 {
    let cross = theta.cross_matrix();
    let angle = theta.norm();
    // At half a turn there is no derivative: the direction of the shorter rotation changes.
    let angle = angle.min(0.999 * std::f64::consts::PI);
    let c = if angle < 1e-4 { 1.0 / 12.0 } else { (1.0 - 0.5 * angle / libm::tan(0.5 * angle)) / (angle * angle) };
    Mat3::identity() + cross * 0.5 + cross * cross * c
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_base::math::{Rotation, Vec6};

    fn coupling(saturation: Saturation) -> Coupling {
        Coupling { stiffness: [1000.0, 8.0], damping: [3.0, 0.02], saturation, reach: [0.004, 0.2], point: CENTER }
    }

    const CENTER: Vec3 = Vec3::new(0.01, -0.02, 0.03);

    /// Returns hand, twist and body, their centres separated by this many reaches.
    fn scene(c: &Coupling, reaches: f64, body_shift: &Vec6, body_twist: &Vec6) -> (Pose, Twist, Kinematics) {
        let center = CENTER;
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
        (hand, twist, Kinematics { pose, center: at, twist: Twist::from_column(&(still + body_twist)) })
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let [linear, clamped, cubic] = [Saturation::Linear, Saturation::Clamped, Saturation::Cubic].map(coupling);
        // At a point other than the centre, and with dampers that bring the coupling to its bound.
        let aside = [linear, cubic].map(|c| Coupling { point: Vec3::new(-0.03, 0.01, 0.05), ..c });
        let damped = Coupling { damping: [60.0, 2.0], ..aside[1] };
        for c in [linear, clamped, cubic, aside[0], aside[1], damped] {
            let saturation = c.saturation;
            for reaches in [0.0, 1e-6, 0.1, 0.7, 1.2, 3.0] {
                let wrench = |pose: &Vec6, twist: &Vec6| {
                    let (hand, hand_twist, body) = scene(&c, reaches, pose, twist);
                    c.on_body(&hand, &hand_twist, &body)
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
    fn gradients_between_two_bodies_are_those_of_finite_differences() {
        for saturation in [Saturation::Linear, Saturation::Cubic] {
            let c = Coupling { point: Vec3::new(-0.03, 0.01, 0.05), ..coupling(saturation) };
            // Body 1 is the body of the scene; body 0 is at the hand, about another centre.
            let center = Vec3::new(0.02, 0.04, -0.01);
            let bodies = |moved: usize, pose: &Vec6, twist: &Vec6| {
                let still = Vec6::zeros();
                let (hand, hand_twist, body) = match moved {
                    0 => scene(&c, 0.6, &still, &still),
                    _ => scene(&c, 0.6, pose, twist),
                };
                let arm = hand.rotation * center;
                let (mut first, mut motion) =
                    (hand.translation.vector + arm, Twist { linear: hand_twist.at(&arm), ..hand_twist });
                let mut rotation = hand.rotation;
                if moved == 0 {
                    first += pose.fixed_rows::<3>(0);
                    rotation = Rotation::from_scaled_axis(pose.fixed_rows::<3>(3).into_owned()) * rotation;
                    motion = Twist::from_column(&(motion.column() + twist));
                }
                let pose = Pose::from_parts((first - rotation * center).into(), rotation);
                c.between([&Kinematics { pose, center: first, twist: motion }, &body])
            };
            let here = bodies(0, &Vec6::zeros(), &Vec6::zeros());
            for (moved, i, k) in (0..2).flat_map(|j| (0..2).flat_map(move |i| (0..6).map(move |k| (j, i, k)))) {
                let mut step = Vec6::zeros();
                step[k] = 1e-7;
                let column = |a: Link, b: Link| (a.wrench[i].column() - b.wrench[i].column()) / 2e-7;
                let still = Vec6::zeros();
                let by_pose = column(bodies(moved, &step, &still), bodies(moved, &-step, &still));
                let by_twist = column(bodies(moved, &still, &step), bodies(moved, &still, &-step));
                let (pose, twist) = (here.by_pose[i][moved].column(k), here.by_twist[i][moved].column(k));
                assert!((by_pose - pose).norm() < 1e-4 * pose.norm().max(1.0), "{i} {moved} {k}: {by_pose} {pose}");
                assert!((by_twist - twist).norm() < 1e-6 * twist.norm().max(1.0), "{i} {moved} {k}: {by_twist}");
            }
            let [first, second] = here.wrench.map(|wrench| wrench.force);
            assert!((first + second).norm() < 1e-12 * first.norm());
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
                let (hand, _, body) = scene(&c, reaches, &Vec6::zeros(), &Vec6::zeros());
                let wrench = c.on_body(&hand, &Twist::ZERO, &body).wrench;
                let (f, t) = (wrench.force.norm(), wrench.torque.norm());
                assert!(f <= force * (1.0 + 1e-12) && t <= torque * (1.0 + 1e-12), "{reaches}: {f} {t}");
                assert!(f >= last - 1e-12, "falls at {reaches}");
                last = f;
            }
            assert!((last - force).abs() < 1e-9, "{last} {force}");
        }
    }

    #[test]
    fn dampers_do_not_pull_harder_than_a_saturated_spring() {
        for saturation in [Saturation::Clamped, Saturation::Cubic] {
            let c = Coupling { damping: [30.0, 2.0], ..coupling(saturation) };
            for reaches in [0.3, 0.9, 2.0] {
                let (hand, _, body) = scene(&c, reaches, &Vec6::zeros(), &Vec6::zeros());
                // The hand flees along the springs.
                let (shift, turn) = c.apart(&hand, &body);
                let angular = body.twist.angular + turn * 50.0;
                let linear = body.twist.linear + shift * 500.0 - angular.cross(&(hand.rotation * c.point));
                let wrench = c.on_body(&hand, &Twist { linear, angular }, &body).wrench;
                let [most, moment] = c.greatest();
                assert!((wrench.force.norm() / most - 1.0).abs() < 1e-9, "{reaches}: {}", wrench.force.norm());
                assert!((wrench.torque.norm() / moment - 1.0).abs() < 1e-9, "{reaches}: {}", wrench.torque.norm());
            }
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
    fn hand_and_body_get_opposite_wrenches_at_the_point_of_the_coupling() {
        let c = Coupling { point: Vec3::new(-0.03, 0.01, 0.05), ..coupling(Saturation::Cubic) };
        let (hand, _, body) = scene(&c, 0.6, &Vec6::zeros(), &Vec6::zeros());
        let still = Kinematics { twist: Twist::ZERO, ..body };
        let on_body = c.on_body(&hand, &Twist::ZERO, &still).wrench;
        let on_hand = c.on_hand(&hand, &Twist::ZERO, &still);
        // About the origin of the world, the two differ by the moment of the force over the shift between the points.
        let of_body = on_body.about(&-still.center);
        let of_hand = on_hand.about(&-hand.translation.vector);
        let (shift, _) = c.apart(&hand, &still);
        let gap = of_body.torque + of_hand.torque - shift.cross(&on_hand.force);
        assert!((on_body.force + on_hand.force).norm() < 1e-12 && gap.norm() < 1e-12, "{gap}");
        // A pull along the line through point and centre does not turn the body, any other one does.
        let arm = c.arm(&still);
        let torque = on_body.torque - arm.cross(&on_body.force);
        let turn = c.apart(&hand, &still).1;
        assert!(torque.cross(&turn).norm() < 1e-12 * torque.norm() && arm.cross(&on_body.force).norm() > 1e-3);
    }

    #[test]
    fn a_quaternion_and_its_opposite_are_the_same_pose() {
        let c = coupling(Saturation::Linear);
        let (hand, twist, body) = scene(&c, 0.5, &Vec6::zeros(), &Vec6::zeros());
        let here = c.on_body(&hand, &twist, &body).wrench;
        let mut flipped = hand;
        flipped.rotation = Rotation::new_unchecked(-hand.rotation.into_inner());
        let there = c.on_body(&flipped, &twist, &body).wrench;
        assert!((here.column() - there.column()).norm() < 1e-9, "{here:?} {there:?}");
    }
}
