//! From contacts to forces. Wrenches and impulses on a rigid body, and how they change with its pose and
//! twist. Knows contacts and bodies in the world; nothing of integration, devices or files.
//!
//! | file | what |
//! | --- | --- |
//! | `gather` | sums the forces of single contacts, with their gradients |
//! | `penalty` | springs and dampers at the contacts of a discrete query |
//! | `continuous` | the same over the times of contact of a step |
//! | `voxels` | tangent-plane forces with braking, and the DLR's penalty |
//! | `impulse` | impulses, deepest first |
//! | `cluster` | few contacts for many |

mod cluster;
mod continuous;
mod gather;
mod impulse;
mod penalty;
mod voxels;

pub use cluster::{cluster, ClusterSettings, Clusters, CLUSTER_FEATURE};
pub use continuous::{continuous, ContinuousSettings, Sweep};
pub use impulse::{impulse, ImpulseSettings, Impulses, Mobility};
pub use penalty::{penalty, PenaltySettings};
pub use voxels::{dlr, vps, Braking, Depths, Role, VpsResponse, VpsSettings, Workspace};

use crate::contact::Geometry;
use crate::math::{Mat6, Pose, Twist, Vec3, Wrench};

/// Where a body is and how it moves, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Body to world.
    pub pose: Pose,
    /// The point that the wrench is about and that `twist.linear` is of, usually the centre of mass: world frame,
    /// metres.
    pub center: Vec3,
    pub twist: Twist,
}

impl Kinematics {
    /// Of a body that rests, about its origin.
    pub fn still(pose: &Pose) -> Self {
        Self { pose: *pose, center: pose.translation.vector, twist: Twist::ZERO }
    }
}

/// A body as a response sees it.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    pub geometry: Geometry<'a>,
    pub kinematics: Kinematics,
}

/// Which of two bodies a response is on. What the other gets is not its opposite alone: each is about its own centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    A,
    B,
}

/// What contacts do to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// About [`Kinematics::center`].
    pub wrench: Wrench,
    /// ∂(force, torque)/∂(translation of the centre, rotation vector), both world frame: N/m, N/rad, N·m/m, N·m/rad. A
    /// rotation vector ρ takes the body from R to exp(ρ×) R about its centre, and the torque stays about the moved
    /// centre.
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

impl Response {
    /// A load that does not change with the body.
    pub fn constant(wrench: Wrench) -> Self {
        Self { wrench, ..Self::default() }
    }

    /// `factor` times as strong.
    pub fn scaled(&self, factor: f64) -> Self {
        let Wrench { force, torque } = self.wrench;
        let wrench = Wrench { force: force * factor, torque: torque * factor };
        Self { wrench, by_pose: self.by_pose * factor, by_twist: self.by_twist * factor }
    }
}

impl std::ops::AddAssign for Response {
    fn add_assign(&mut self, other: Self) {
        self.wrench += other.wrench;
        self.by_pose += other.by_pose;
        self.by_twist += other.by_twist;
    }
}
