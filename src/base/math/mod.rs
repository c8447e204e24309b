//! Poses, boxes and the small numerics that all other modules use. Knows nothing of meshes, fields or files.

mod aabb;
pub mod clock;
pub mod gjk;
mod interval;
pub mod limits;
pub mod miniball;
mod progress;
mod rigid;
mod rotation;
mod spatial;
pub mod wide;

pub use aabb::Aabb;
pub use interval::{Interval, IntervalMat, IntervalVec};
pub use progress::Progress;
pub use progress::Work;
pub use rigid::RigidF32;
pub use rotation::{from_scaled_axis, power, scaled_axis};
pub use spatial::{Mat6, Twist, Vec6, Wrench};

/// Vector in metres (or m/s, N … as its name says), world or body frame as documented where used.
pub type Vec3 = nalgebra::Vector3<f64>;
/// Rotation.
pub type Rotation = nalgebra::UnitQuaternion<f64>;
/// Rigid pose, body to world: unit quaternion and translation in metres.
pub type Pose = nalgebra::Isometry3<f64>;
/// Symmetric 3×3 (inertia) or rotation matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
