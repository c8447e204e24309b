//! The plain structs and opaque handles of the C API. Layouts are asserted in layout.rs.

use crate::math::{limits, Pose};

/// Largest accepted magnitude of a coordinate, a length or a distance, metres. It applies to poses, points, motions and
/// the sizes of bodies. Larger values are refused with VXS_INVALID_ARGUMENT (in a mesh with VXS_INVALID_MESH).
pub const VXS_MAX_COORDINATE: f64 = 1e18;
/// Smallest accepted size of a body, metres.
pub const VXS_MIN_LENGTH: f64 = 1e-18;
/// Largest accepted magnitude of every other physical number, SI units: velocities, forces, stiffnesses, masses, times.
pub const VXS_MAX_QUANTITY: f64 = 1e18;
/// Smallest accepted value of a physical number that must be positive, SI units: masses, inertias, times, stiffnesses
/// of springs.
pub const VXS_MIN_QUANTITY: f64 = 1e-30;
/// Largest accepted number of iterations.
pub const VXS_MAX_ITERATIONS: u32 = 65536;

// The header generator needs literals.
const _: () = assert!(VXS_MAX_COORDINATE == limits::MAX_COORDINATE && VXS_MIN_LENGTH == limits::MIN_LENGTH);
const _: () = assert!(VXS_MAX_QUANTITY == limits::MAX_QUANTITY && VXS_MIN_QUANTITY == limits::MIN_QUANTITY);
const _: () = assert!(VXS_MAX_ITERATIONS == limits::MAX_ITERATIONS);

/// A shape: a field, a pointshell, or both, with the properties measured during cooking. Immutable and shared: any
/// number of threads may use one at once. Each handle is released once by `vxs_shape_release`.
pub struct vxs_shape {
    _opaque: [u8; 0],
}

/// A point, vector or set of lengths along x, y, z.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vxs_vec3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// Pose of a body: transforms body coordinates to world coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_pose {
    /// Position of the body's origin, metres, world frame.
    pub position: vxs_vec3,
    /// Orientation: quaternion x of x, y, z, w; its norm must be 1 to within 1e-6.
    pub qx: f64,
    pub qy: f64,
    pub qz: f64,
    pub qw: f64,
}

/// An axis-aligned box, metres. Sides may be infinite (half-space).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_aabb {
    pub min: vxs_vec3,
    pub max: vxs_vec3,
}

impl From<Pose> for vxs_pose {
    fn from(pose: Pose) -> Self {
        let q = pose.rotation.coords;
        Self { position: pose.translation.vector.into(), qx: q.x, qy: q.y, qz: q.z, qw: q.w }
    }
}
