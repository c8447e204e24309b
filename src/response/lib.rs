//! From contacts to forces: wrenches and impulses on a rigid body, and their derivatives with respect to its pose and
//! twist. Depends on contacts and on bodies in the world; independent of integration, devices and files.
//!
//! | file | content |
//! | --- | --- |
//! | `gather` | sums the forces of single contacts, with their gradients |
//! | `penalty` | springs and dampers at the contacts of a discrete query |
//! | `continuous` | the same over the times of contact of a step |
//! | `voxels` | tangent-plane forces with braking, and the DLR's penalty |
//! | `voxel_query` | a pointshell in a voxelmap: manifold, force, torque, distance |
//! | `impulse` | impulses, deepest first |
//! | `voxel_pairs` | contacts of the voxel pairs of implicit sphere trees |
//! | `cluster` | reduces many contacts to a few |
//! | `patches` | regions of contact with pressure, area, wrench and outline |

mod cluster;
mod continuous;
mod gather;
mod impulse;
mod patches;
mod penalty;
mod voxel_pairs;
mod voxel_query;
mod voxels;

pub use cluster::{cluster, ClusterSettings, Clusters, CLUSTER_FEATURE};
pub use continuous::continuous_into;
pub use continuous::{continuous, ContinuousSettings, Sweep};
pub use gather::Sums;
pub use impulse::{impulse, ImpulseSettings, Impulses, Mobility};
pub use patches::{patches, Patch, PatchCell, PatchSettings, PatchWorkspace};
pub use penalty::penalty_into;
pub use penalty::{penalty, PenaltySettings};
pub use voxel_pairs::voxel_contacts;
pub use voxel_query::{voxel_query, VoxelAnswer, VoxelContact, VoxelQuery, VoxelWorkspace};
pub use voxels::{dlr, vps, Braking, Depths, Role, VpsResponse, VpsSettings, Workspace};

use voxshell_base::math::{Mat6, Pose, Twist, Vec3, Wrench};
use voxshell_contact::Geometry;

/// Pose and velocity of a body, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Body to world.
    pub pose: Pose,
    /// Reference point of the wrench and of `twist.linear`, usually the centre of mass: world frame, metres.
    pub center: Vec3,
    pub twist: Twist,
}

impl Kinematics {
    /// Returns the kinematics of a body at rest, with its origin as the centre.
    pub fn still(pose: &Pose) -> Self {
        Self { pose: *pose, center: pose.translation.vector, twist: Twist::ZERO }
    }
}

/// Geometry and kinematics of a body for a response.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    pub geometry: Geometry<'a>,
    pub kinematics: Kinematics,
}

/// Which of two bodies a response is on. The responses of the two are not opposite to each other: each is about its
/// own centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    A,
    B,
}

/// Wrench of the contacts on a body, and its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Wrench about [`Kinematics::center`].
    pub wrench: Wrench,
    /// ∂(force, torque)/∂(translation of the centre, rotation vector), both world frame: N/m, N/rad, N·m/m, N·m/rad.
    /// A rotation vector ρ rotates the body from R to exp(ρ×) R about its centre, and the torque stays about the
    /// moved centre.
    pub by_pose: Mat6,
    /// ∂(force, torque)/∂(linear, angular velocity): N·s/m and so on.
    pub by_twist: Mat6,
}

impl Default for Response {
    /// Returns the zero response.
    fn default() -> Self {
        Self::NONE
    }
}

impl Response {
    /// No load.
    pub const NONE: Self = Self {
        wrench: Wrench::ZERO,
        by_pose: Mat6::from_array_storage(nalgebra::ArrayStorage([[0.0; 6]; 6])),
        by_twist: Mat6::from_array_storage(nalgebra::ArrayStorage([[0.0; 6]; 6])),
    };

    /// Returns a load that does not change with the body.
    pub fn constant(wrench: Wrench) -> Self {
        Self { wrench, ..Self::default() }
    }

    /// Returns the response multiplied by `factor`.
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
