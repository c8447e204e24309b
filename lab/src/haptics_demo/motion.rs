//! The motion of the hand: from pose to pose, with the smoothness of a human arm.

use voxshell::math::{Pose, Rotation, Twist, Vec3};

/// Poses and the times at which they are reached; the hand is at rest at each.
#[derive(Clone)]
pub struct Motion {
    keys: Vec<(f64, Pose)>,
}

impl Motion {
    pub fn from(pose: Pose) -> Self {
        Self { keys: vec![(0.0, pose)] }
    }

    /// Appends a motion to `pose` within the given seconds.
    pub fn to(mut self, seconds: f64, pose: Pose) -> Self {
        let from = self.duration();
        self.keys.push((from + seconds, pose));
        self
    }

    /// Appends a rest at the last pose.
    pub fn rest(self, seconds: f64) -> Self {
        let pose = self.keys[self.keys.len() - 1].1;
        self.to(seconds, pose)
    }

    /// Returns the same motion with all times multiplied by `factor`.
    pub fn slower(mut self, factor: f64) -> Self {
        self.keys.iter_mut().for_each(|key| key.0 *= factor);
        self
    }

    /// Returns the duration, seconds.
    pub fn duration(&self) -> f64 {
        self.keys[self.keys.len() - 1].0
    }

    /// Returns the pose at `t` seconds, and the twist of the origin. Each piece follows the minimum-jerk profile (Flash
    /// & Hogan 1985), with the rotation about one axis.
    pub fn at(&self, t: f64) -> (Pose, Twist) {
        let next = self.keys.iter().position(|key| key.0 > t);
        let Some(next) = next else { return (self.keys[self.keys.len() - 1].1, Twist::ZERO) };
        let ((begin, from), (end, to)) = (self.keys[next.saturating_sub(1)], self.keys[next]);
        if next == 0 || end <= begin {
            return (to, Twist::ZERO);
        }
        let u = (t - begin) / (end - begin);
        let share = u * u * u * (10.0 + u * (6.0 * u - 15.0));
        let rate = 30.0 * u * u * (1.0 - u) * (1.0 - u) / (end - begin);
        let displacement: Vec3 = to.translation.vector - from.translation.vector;
        let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
        let rotation = Rotation::from_scaled_axis(turn * share) * from.rotation;
        let pose = Pose::from_parts((from.translation.vector + displacement * share).into(), rotation);
        (pose, Twist { linear: displacement * rate, angular: turn * rate })
    }
}

/// Returns the pose that turns a body by `rotation` and moves its point `p` to `q`.
pub fn placing(p: Vec3, q: Vec3, rotation: Rotation) -> Pose {
    Pose::from_parts((q - rotation * p).into(), rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_reaches_its_poses_and_its_twist_is_its_derivative() {
        let turned = Pose::new(Vec3::new(0.1, -0.2, 0.3), Vec3::new(0.4, 1.1, -0.7));
        let motion = Motion::from(Pose::translation(0.0, 0.1, 0.0)).to(0.5, turned).rest(0.2).to(0.3, Pose::identity());
        let motion = motion.slower(2.0);
        assert!((motion.duration() - 2.0).abs() < 1e-12);
        for (t, pose) in [
            (0.0, Pose::translation(0.0, 0.1, 0.0)),
            (1.0, turned),
            (1.3, turned),
            (2.0, Pose::identity()),
            (9.0, Pose::identity()),
        ] {
            let (at, twist) = motion.at(t);
            assert!(
                (at.translation.vector - pose.translation.vector).norm() < 1e-12
                    && at.rotation.angle_to(&pose.rotation) < 1e-7
            );
            assert!(twist.linear.norm() + twist.angular.norm() < 1e-9, "at rest at {t}");
        }
        let h = 1e-6;
        for t in [0.11, 0.37, 0.93, 1.21, 1.5, 1.77] {
            let ((before, _), (after, _), (_, twist)) = (motion.at(t - h), motion.at(t + h), motion.at(t));
            let linear = (after.translation.vector - before.translation.vector) / (2.0 * h);
            let angular = (after.rotation * before.rotation.inverse()).scaled_axis() / (2.0 * h);
            assert!((linear - twist.linear).norm() < 1e-6 && (angular - twist.angular).norm() < 1e-6, "at {t}");
        }
    }

    #[test]
    fn placing_brings_the_point_there() {
        let (p, q) = (Vec3::new(0.1, 0.2, 0.3), Vec3::new(-1.0, 2.0, 0.5));
        let pose = placing(p, q, Rotation::from_scaled_axis(Vec3::new(0.3, -0.4, 0.9)));
        assert!(((pose * nalgebra::Point3::from(p)).coords - q).norm() < 1e-12);
    }
}
