//! The plain structs and opaque handles of the C API. Layouts are asserted in layout.rs and `tests/c/layout.c`.

use std::ffi::{c_char, c_void};

use crate::math::limits;

/// Largest magnitude of a coordinate, a length or a distance that is accepted, metres: of poses, points, motions and the sizes of
/// bodies. Anything larger is refused with VXS_INVALID_ARGUMENT (in a mesh with VXS_INVALID_MESH).
pub const VXS_MAX_COORDINATE: f64 = 1e18;
/// Smallest size of a body that is accepted, metres.
pub const VXS_MIN_LENGTH: f64 = 1e-18;
/// Largest magnitude of every other physical number that is accepted, SI units: velocities, forces, stiffnesses, masses, times.
pub const VXS_MAX_QUANTITY: f64 = 1e18;
/// Smallest of those that must be positive, SI units: masses, inertias, times, stiffnesses of springs.
pub const VXS_MIN_QUANTITY: f64 = 1e-30;
/// Largest number of iterations that can be asked for.
pub const VXS_MAX_ITERATIONS: u32 = 65536;

// The header generator needs literals.
const _: () = assert!(VXS_MAX_COORDINATE == limits::MAX_COORDINATE && VXS_MIN_LENGTH == limits::MIN_LENGTH);
const _: () = assert!(VXS_MAX_QUANTITY == limits::MAX_QUANTITY && VXS_MIN_QUANTITY == limits::MIN_QUANTITY);
const _: () = assert!(VXS_MAX_ITERATIONS == limits::MAX_ITERATIONS);

/// A shape: a field, a pointshell, or both, with what was measured when they were cooked. Immutable and shared: any number
/// of threads may use one at once. Each handle is released once by `vxs_shape_release`.
pub struct vxs_shape {
    _opaque: [u8; 0],
}

/// A signed distance field. Immutable and shared, like the shape it came from.
pub struct vxs_field {
    _opaque: [u8; 0],
}

/// Surface samples with normals under a sphere tree. Immutable and shared, like the shape it came from.
pub struct vxs_pointshell {
    _opaque: [u8; 0],
}

/// Scratch memory of queries: one per thread. Once warm, queries neither allocate nor lock.
pub struct vxs_workspace {
    _opaque: [u8; 0],
}

/// A tool in a hand, and the bodies that it touches. In two halves for two threads: steps answer the device, the simulation
/// finds contacts; neither waits for the other.
pub struct vxs_haptics {
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

/// Where a body is: takes body coordinates to world coordinates.
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

/// Called while a shape is cooked, from threads of the library, one call at a time.
///
/// @param stage     what is being done, such as "field"; valid during the call only
/// @param fraction  how much of the stage is done, 0 to 1
/// @param user      `progress_user` of the options
/// @return true to go on, false to cancel: it is not called again, and the cooking call returns VXS_CANCELLED. It must not
///         throw. It may call the library, but what cooks, scales, saves or loads returns VXS_BUSY, since other threads wait for it.
pub type vxs_progress_fn = Option<unsafe extern "C" fn(stage: *const c_char, fraction: f64, user: *mut c_void) -> bool>;

/// One contact of two bodies A and B. World frame, metres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_contact {
    /// The point on the surface of A, and the one on B.
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
    /// Unit vector from A to B.
    pub normal: vxs_vec3,
    /// Signed distance of the sample to the other body: negative when penetrating.
    pub separation: f64,
    /// Fraction of the motion at which they touch, 0 to 1; 0 for discrete queries.
    pub toi: f64,
    /// Which sample of the pointshell this is, the same from call to call; bit 31 is set for a sample of B.
    pub feature: u32,
    /// Zero.
    pub reserved: u32,
}

/// Mass properties of a solid of uniform density; body frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_mass_properties {
    /// Enclosed volume, m³.
    pub volume: f64,
    /// Centre of mass, metres.
    pub center_of_mass: vxs_vec3,
    /// Inertia tensor per unit mass about the centre of mass, m²: xx, yy, zz, xy, xz, yz. The last three are entries of the
    /// tensor, so they carry its minus sign. Multiply by the mass in kg.
    pub inertia: [f64; 6],
    /// True when integrated exactly over the triangles that bound the inside, false when estimated from the inside of the field.
    pub exact: bool,
}

/// Where a segment enters a shape; body frame, metres. Without a hit all but `hit` is NaN.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_segment_hit {
    /// Where along the segment: 0 at `from` (also when it starts inside), 1 at `to`.
    pub fraction: f64,
    pub point: vxs_vec3,
    /// Unit outward normal of the shape there; of a sheet, the one that the triangle's winding gives.
    pub normal: vxs_vec3,
    /// Whether the segment meets the shape at all.
    pub hit: bool,
}
