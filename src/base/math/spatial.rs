//! Velocities and loads of rigid bodies.

use super::Vec3;

/// 6×6 matrix of two twists or of a wrench against one: translation first, rotation second.
pub type Mat6 = nalgebra::Matrix6<f64>;
/// A twist or a wrench as a column: translation or force first, rotation or torque second.
pub type Vec6 = nalgebra::Vector6<f64>;

/// Velocity of a rigid body, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Velocity of the reference point that the user of the twist names, m/s.
    pub linear: Vec3,
    /// Angular velocity, rad/s.
    pub angular: Vec3,
}

impl Twist {
    pub const ZERO: Self = Self { linear: Vec3::new(0.0, 0.0, 0.0), angular: Vec3::new(0.0, 0.0, 0.0) };

    /// Returns the velocity of the point at `arm` from the reference point of `linear`, m/s.
    #[inline]
    pub fn at(&self, arm: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(arm)
    }

    #[inline]
    pub fn column(&self) -> Vec6 {
        Vec6::new(self.linear.x, self.linear.y, self.linear.z, self.angular.x, self.angular.y, self.angular.z)
    }

    #[inline]
    pub fn from_column(column: &Vec6) -> Self {
        Self { linear: column.fixed_rows::<3>(0).into(), angular: column.fixed_rows::<3>(3).into() }
    }

    #[inline]
    pub fn is_finite(&self) -> bool {
        self.linear.iter().chain(self.angular.iter()).all(|v| v.is_finite())
    }
}

/// Force and torque on a rigid body, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force, N.
    pub force: Vec3,
    /// Torque about the reference point that the user of the wrench names, N·m.
    pub torque: Vec3,
}

impl Wrench {
    pub const ZERO: Self = Self { force: Vec3::new(0.0, 0.0, 0.0), torque: Vec3::new(0.0, 0.0, 0.0) };

    /// Returns the wrench of a force that acts at `arm` from the reference point of the torque.
    #[inline]
    pub fn of_force(force: Vec3, arm: &Vec3) -> Self {
        Self { force, torque: arm.cross(&force) }
    }

    /// Returns the same load, with its torque about a point at `arm` from the previous reference point.
    #[inline]
    pub fn about(&self, arm: &Vec3) -> Self {
        Self { force: self.force, torque: self.torque - arm.cross(&self.force) }
    }

    #[inline]
    pub fn column(&self) -> Vec6 {
        Vec6::new(self.force.x, self.force.y, self.force.z, self.torque.x, self.torque.y, self.torque.z)
    }

    #[inline]
    pub fn from_column(column: &Vec6) -> Self {
        Self { force: column.fixed_rows::<3>(0).into(), torque: column.fixed_rows::<3>(3).into() }
    }

    #[inline]
    pub fn is_finite(&self) -> bool {
        self.force.iter().chain(self.torque.iter()).all(|v| v.is_finite())
    }
}

impl std::ops::AddAssign for Wrench {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrench_about_another_point_does_the_same_work() {
        let (arm, twist) = (
            Vec3::new(0.3, -0.2, 0.5),
            Twist { linear: Vec3::new(1.0, 2.0, -0.5), angular: Vec3::new(0.1, -3.0, 2.0) },
        );
        let wrench = Wrench { force: Vec3::new(4.0, -1.0, 2.0), torque: Vec3::new(0.2, 0.7, -0.9) };
        let moved = wrench.about(&arm);
        let there = Twist { linear: twist.at(&arm), ..twist };
        let (here, there) = (wrench.column().dot(&twist.column()), moved.column().dot(&there.column()));
        assert!((here - there).abs() < 1e-12, "{here} {there}");
        assert!((Wrench::of_force(wrench.force, &arm).about(&arm).torque).norm() < 1e-12);
    }
}
