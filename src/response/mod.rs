//! Floor 4: from contacts to forces. Wrenches and impulses on a rigid body, and how they change with its pose and twist.
//! Knows contacts and bodies in the world; nothing of integration, devices or files.

use crate::math::{Mat6, Pose, Twist, Vec3, Wrench};

/// Where a body is and how it moves, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Body to world.
    pub pose: Pose,
    /// The point that the wrench is about and that `twist.linear` is of, usually the centre of mass: world frame, metres.
    pub center: Vec3,
    pub twist: Twist,
}

/// What contacts do to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// About [`Kinematics::center`].
    pub wrench: Wrench,
    /// ∂(force, torque)/∂(translation of the centre, rotation vector), both world frame: N/m, N/rad, N·m/m, N·m/rad. A
    /// rotation vector ρ takes the body from R to exp(ρ×) R about its centre, and the torque stays about the moved centre.
    pub by_pose: Mat6,
    /// ∂(force, torque)/∂(linear, angular velocity): N·s/m and so on.
    pub by_twist: Mat6,
}

impl Default for Response {
    /// None.
    fn default() -> Self {
        Self { wrench: Wrench::ZERO, by_pose: Mat6::zeros(), by_twist: Mat6::zeros() }
    }
}
