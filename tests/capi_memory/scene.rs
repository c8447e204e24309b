//! Bodies of the calls, and helpers that make their arguments.

use std::ffi::CString;
use std::path::Path;
use std::ptr::{null, null_mut};

use voxshell::capi::asset::*;
use voxshell::capi::materials::*;
use voxshell::capi::motion::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

/// A call with its arguments. It may be repeated.
pub type Run = Box<dyn FnMut() -> vxs_status>;

/// A call of the C interface.
pub struct Call {
    pub name: &'static str,
    /// Makes the arguments of the call from the files in a folder.
    pub prepare: fn(&Path) -> Run,
}

pub fn ok(status: vxs_status) {
    assert_eq!(status, VXS_OK, "{}", crate::last_error());
}

/// Returns a struct that its `init` function has filled.
pub fn made<T>(init: unsafe extern "C" fn(*mut T, usize) -> vxs_status) -> T {
    unsafe {
        let mut value = std::mem::zeroed();
        ok(init(&mut value, size_of::<T>()));
        value
    }
}

/// Returns an output of a call.
pub fn zeroed<T>() -> T {
    unsafe { std::mem::zeroed() }
}

/// Returns room for an array of outputs.
pub fn room<T>(n: usize) -> Vec<T> {
    Vec::with_capacity(n)
}

pub fn path(folder: &Path, name: &str) -> CString {
    CString::new(folder.join(name).to_str().unwrap()).unwrap()
}

pub fn torus(folder: &Path) -> *mut vxs_shape {
    let mut shape = null_mut();
    ok(unsafe { vxs_shape_load(path(folder, "torus.vxs").as_ptr(), &mut shape) });
    shape
}

/// Returns the torus with all that its queries prepare, so that they themselves run out of memory.
pub fn prepared(folder: &Path) -> *mut vxs_shape {
    let shape = torus(folder);
    unsafe {
        ok(vxs_shape_prepare_coverage(shape, VXS_COVERAGE_EDGES));
        ok(vxs_shape_prepare_triangles(shape));
        ok(vxs_shape_prepare_extremes(shape));
    }
    shape
}

pub fn workspace() -> *mut vxs_workspace {
    let mut workspace = null_mut();
    ok(unsafe { vxs_workspace_create(&mut workspace) });
    workspace
}

pub fn pose(x: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x, y: 0.01, z: -0.02 }, qx: 0.0, qy: 0.0, qz: 0.6, qw: 0.8 }
}

/// Returns two bodies of a shape: the second is half-way in the first.
pub fn bodies(shape: *const vxs_shape) -> [vxs_body; 2] {
    [0.0, 0.2].map(|x| vxs_body { shape, pose: pose(x) })
}

pub fn still(x: f64) -> vxs_kinematics {
    let pose = pose(x);
    vxs_kinematics { pose, center: pose.position, twist: vxs_twist::default() }
}

/// Returns two bodies that move into each other.
pub fn moving(shape: *const vxs_shape) -> [vxs_moving_body; 2] {
    let of = |from, to| vxs_moving_body { shape, motion: vxs_motion { from: pose(from), to: pose(to) } };
    [of(0.0, 0.01), of(0.81, 0.6)]
}

/// Settings of a query of all contacts.
pub fn query(adjust: impl FnOnce(&mut vxs_query)) -> vxs_query {
    let mut query = made(vxs_query_init);
    (query.roles, query.max_separation) = (VXS_ROLES_BOTH, 0.02);
    (query.preferred, query.limit) = (null(), null());
    adjust(&mut query);
    query
}
