//! Motion of an obstacle between the calls of its owner, which simulates it at a lower rate than that of the rounds.
//!
//! An obstacle that jumped to a new pose at each call would be felt as a vibration. One that moved on with the velocity of
//! the last call would react to the tool a call later: with the stiffness of a coupling that is a delay which adds energy
//! (½ J² / m for each impulse J). So the obstacle reacts at once, as the free body that it is between two steps of its
//! owner's simulation: v = v₀ + M⁻¹ J, with J the impulse of the tool since the last call. At the next call the owner's
//! pose counts, and the difference is made up evenly over the time of a call.

use super::{Load, Obstacle};
use voxshell_base::math::{from_scaled_axis, limits, scaled_axis, Mat3, Pose, Twist, Vec3, Wrench};
use voxshell_base::{Error, Result};

/// Pose, twist and mobility that the owner of an obstacle gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleMotion {
    /// Body to world.
    pub pose: Pose,
    /// Twist of the body's origin, which must be its centre of mass if it has a mobility.
    pub twist: Twist,
    /// 1/mass, 1/kg; 0 for a body that does not yield to the tool.
    pub inverse_mass: f64,
    /// Inverse of the inertia about the origin, world axes, 1/(kg·m²).
    pub inverse_inertia: Mat3,
    /// Time to the next call, seconds. The body comes to rest if there is none within twice that time.
    pub period: f64,
}

impl ObstacleMotion {
    /// # Errors
    /// `InvalidArgument` for numbers out of range.
    pub fn check(&self) -> Result<()> {
        if !(self.inverse_mass >= 0.0 && limits::is_quantity(self.inverse_mass)) {
            let value = limits::Shown(self.inverse_mass);
            return Err(Error::argument("inverse_mass", value, "a finite number, 0 to 1e18"));
        }
        let i = &self.inverse_inertia;
        let finite = i.iter().all(|x| limits::is_quantity(*x));
        let least = i.symmetric_eigenvalues();
        if !finite || (i - i.transpose()).amax() > 1e-9 * i.amax() || least.min() < -1e-9 * i.amax() {
            let value = format!("{:?}", i.as_slice());
            let expected = "a symmetric matrix without negative eigenvalues";
            return Err(Error::argument("inverse_inertia", value, expected));
        }
        if !limits::is_positive_quantity(self.period) {
            let expected = "a positive, finite number, 1e-30 to 1e18";
            return Err(Error::argument("period", limits::Shown(self.period), expected));
        }
        Ok(())
    }
}

/// State of an obstacle between two calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    given: ObstacleMotion,
    /// Time of the call, and time up to which the obstacle has moved, seconds.
    since: f64,
    clock: f64,
    /// Impulse of the tool at the call: since the start.
    before: Wrench,
    /// Velocity without the correction, at `clock`.
    twist: Twist,
    /// Velocity that makes up the difference to the owner's pose.
    correction: Twist,
}

impl Follower {
    /// Takes a call for an obstacle at the time `clock`. An obstacle that had no motion before is put at the pose.
    pub fn new(given: &ObstacleMotion, obstacle: &mut Obstacle, follows: bool, clock: f64, load: &Load) -> Self {
        let correction = if follows {
            let turn = scaled_axis(&(given.pose.rotation * obstacle.pose.rotation.inverse()));
            let shift = given.pose.translation.vector - obstacle.pose.translation.vector;
            Twist { linear: shift / given.period, angular: turn / given.period }
        } else {
            obstacle.pose = given.pose;
            Twist::ZERO
        };
        let made = Self { given: *given, since: clock, clock, before: load.impulse, twist: given.twist, correction };
        obstacle.twist = made.shown(&given.twist);
        made
    }

    fn shown(&self, twist: &Twist) -> Twist {
        Twist { linear: twist.linear + self.correction.linear, angular: twist.angular + self.correction.angular }
    }

    /// Moves the obstacle to the time `clock`. `load` is that of the tool on it.
    pub fn advance(&mut self, obstacle: &mut Obstacle, clock: f64, load: &Load) {
        let (period, age) = (self.given.period, clock - self.since);
        let last = std::mem::replace(&mut self.clock, clock) - self.since;
        if last >= 2.0 * period {
            obstacle.twist = Twist::ZERO;
            return;
        }
        let Wrench { force, torque } = load.impulse;
        let twist = Twist {
            linear: self.given.twist.linear + (force - self.before.force) * self.given.inverse_mass,
            angular: self.given.twist.angular + self.given.inverse_inertia * (torque - self.before.torque),
        };
        let dt = age.min(2.0 * period) - last;
        // The correction is complete after a period.
        let corrected = age.min(period) - last.min(period);
        let way = |from: &Vec3, to: &Vec3, by: &Vec3| (from + to) * (0.5 * dt) + by * corrected;
        let shift = way(&self.twist.linear, &twist.linear, &self.correction.linear);
        let turn = way(&self.twist.angular, &twist.angular, &self.correction.angular);
        let pose = &mut obstacle.pose;
        pose.translation.vector += shift;
        pose.rotation = from_scaled_axis(turn) * pose.rotation;
        pose.rotation.renormalize();
        if age >= period {
            self.correction = Twist::ZERO;
        }
        self.twist = twist;
        obstacle.twist = if age >= 2.0 * period { Twist::ZERO } else { self.shown(&twist) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_base::math::Rotation;

    const PERIOD: f64 = 0.01;

    fn given(x: f64, v: f64, inverse_mass: f64) -> ObstacleMotion {
        let twist = Twist { linear: Vec3::x() * v, angular: Vec3::zeros() };
        let inverse_inertia = Mat3::from_diagonal_element(10.0);
        ObstacleMotion { pose: Pose::translation(x, 0.0, 0.0), twist, inverse_mass, inverse_inertia, period: PERIOD }
    }

    fn pushed(force: f64, t: f64) -> Load {
        let impulse = Wrench { force: Vec3::x() * (force * t), torque: Vec3::y() * (0.1 * force * t) };
        Load { impulse, ..Load::default() }
    }

    /// Between two calls it moves as a free body under the tool's force, and the work of the tool is the energy that the
    /// owner's body gets by the impulse.
    #[test]
    fn it_moves_as_a_free_body_under_the_impulses_of_the_tool() {
        let (force, v, inverse_mass) = (3.0, 0.2, 0.5);
        let mut obstacle = Obstacle::empty();
        let mut motion = Follower::new(&given(1.0, v, inverse_mass), &mut obstacle, false, 5.0, &pushed(force, 0.0));
        let mut work = 0.0;
        for n in 1..=10 {
            let (t, before) = (1e-3 * f64::from(n), obstacle.pose.translation.x);
            motion.advance(&mut obstacle, 5.0 + t, &pushed(force, t));
            work += force * (obstacle.pose.translation.x - before);
            let expected = 1.0 + v * t + 0.5 * force * inverse_mass * t * t;
            assert!((obstacle.pose.translation.x - expected).abs() < 1e-12, "{n}");
            let speed = v + force * inverse_mass * t;
            assert!((obstacle.twist.linear.x - speed).abs() < 1e-12, "{n}");
            let turned = obstacle.pose.rotation.scaled_axis();
            assert!((turned - Vec3::y() * (0.5 * 0.1 * force * 10.0 * t * t)).norm() < 1e-12, "{n}: {turned}");
        }
        let after = v + force * PERIOD * inverse_mass;
        assert!((work - 0.5 * (after * after - v * v) / inverse_mass).abs() < 1e-12, "{work} J");
    }

    #[test]
    fn the_difference_to_the_owners_pose_is_made_up_in_a_period() {
        let mut obstacle = Obstacle::empty();
        let free = pushed(0.0, 0.0);
        let mut motion = Follower::new(&given(0.0, 0.1, 0.0), &mut obstacle, false, 0.0, &free);
        motion.advance(&mut obstacle, PERIOD, &free);
        assert!((obstacle.pose.translation.x - 1e-3).abs() < 1e-15);
        // The owner's body is 2 mm farther, and turned.
        let mut next = given(3e-3, 0.1, 0.0);
        next.pose.rotation = Rotation::from_scaled_axis(Vec3::z() * 0.05);
        let was = obstacle.pose;
        motion = Follower::new(&next, &mut obstacle, true, PERIOD, &free);
        assert_eq!(obstacle.pose, was, "no jump");
        let mut last = was.translation.x;
        for n in 1..=10 {
            motion.advance(&mut obstacle, PERIOD + 1e-3 * f64::from(n), &free);
            assert!((obstacle.pose.translation.x - last - 3e-4).abs() < 1e-12, "{n}");
            last = obstacle.pose.translation.x;
        }
        assert!((obstacle.pose.translation.x - 4e-3).abs() < 1e-12);
        assert!((obstacle.pose.rotation.scaled_axis() - Vec3::z() * 0.05).norm() < 1e-12);
        assert!((obstacle.twist.linear.x - 0.1).abs() < 1e-12, "{:?}", obstacle.twist);
        // Without another call it stops.
        motion.advance(&mut obstacle, PERIOD + 10.0, &free);
        assert!((obstacle.pose.translation.x - 5e-3).abs() < 1e-12);
        assert_eq!(obstacle.twist, Twist::ZERO);
        motion.advance(&mut obstacle, PERIOD + 20.0, &free);
        assert!((obstacle.pose.translation.x - 5e-3).abs() < 1e-12);
    }
}
