//! Small cases of every part with unsafe code, for Miri, which finds undefined behaviour that no sanitizer sees: wrong
//! aliasing, reads of uninitialised memory, invalid values. `tests/campaign miri` runs it. Other tests run the same code at
//! full size, so this one is empty without Miri.
#![cfg(miri)]

use std::ptr::{null, null_mut};

use voxshell::asset::{Shape, Store};
use voxshell::capi::asset::*;
use voxshell::capi::create::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::motion::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::vxs_twist;
use voxshell::capi::segment_intervals::*;
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::contact::{contacts, Query, Workspace};
use voxshell::field::SignedDistance;
use voxshell::math::Pose;
use voxshell::memory::WithReserve;

/// The allocator with a reserve is unsafe code too.
#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve(std::alloc::System);

const ASSETS: [&[u8]; 3] = [
    include_bytes!("../fuzz/corpus/asset/dense.vxs"),
    include_bytes!("../fuzz/corpus/asset/bricks.vxs"),
    include_bytes!("../fuzz/corpus/asset/bricks-raw.vxs"),
];

fn ok(status: vxs_status) {
    assert_eq!(status, VXS_OK);
}

fn at(x: f64, y: f64, z: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x, y, z }, qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 }
}

/// Fields of every storage, near and far; blocks and lines of samples; a pass of a pointshell over a field.
#[test]
fn fields_and_contacts() {
    for bytes in ASSETS {
        let shape = Shape::from_bytes(bytes).unwrap();
        let field = shape.field.as_deref().unwrap();
        for n in 0..12 {
            let p = [0.21 * n as f32 - 1.3, 0.5, 0.17 * n as f32 - 0.9];
            let (phi, gradient) = field.distance_gradient(p);
            assert!(phi.is_finite() && gradient.iter().all(|g| g.is_finite()));
            assert!(field.lower_bound(p, 0.1) <= phi);
        }
        let (geometry, turned) = (shape.geometry(), Pose::new([0.9, 0.1, 0.2].into(), [0.4, 0.1, 0.0].into()));
        let mut workspace = Workspace::new();
        for _ in 0..2 {
            contacts(geometry, &Pose::identity(), geometry, &turned, &Query::default(), &mut workspace).unwrap();
        }
    }
}

/// Segments against a grid and bricks, one by one and in a batch, and their intervals of clearance.
#[test]
fn segments() {
    for bytes in ASSETS {
        // SAFETY: the pointers are those of live values.
        unsafe {
            let mut shape = null_mut();
            ok(vxs_shape_deserialize(bytes.as_ptr().cast(), bytes.len(), &mut shape));
            let from = [vxs_vec3 { x: -2.0, y: 0.4, z: 0.5 }, vxs_vec3 { x: 0.5, y: 3.0, z: 0.6 }];
            let to = [vxs_vec3 { x: 2.0, y: 0.6, z: 0.5 }, vxs_vec3 { x: 0.5, y: -1.0, z: 0.4 }];
            let mut hits: [vxs_segment_hit; 2] = std::mem::zeroed();
            ok(vxs_shape_query_segment(shape, from[0], to[0], &mut hits[0]));
            ok(vxs_shape_query_segments(shape, from.as_ptr(), to.as_ptr(), 2, hits.as_mut_ptr()));
            assert!(hits.iter().all(|hit| hit.hit));
            let (mut intervals, mut count) = ([vxs_interval { from: 0.0, to: 0.0 }; 4], 0);
            ok(vxs_shape_query_intervals(shape, from[0], to[0], null(), intervals.as_mut_ptr(), 4, &mut count));
            ok(vxs_shape_release(shape));
            assert_eq!(vxs_shape_release(shape), VXS_INVALID_HANDLE);
        }
    }
}

/// Handles, workspaces, queries, a motion and haptic steps through the C interface.
#[test]
fn the_c_interface() {
    // SAFETY: the pointers are those of live values.
    unsafe {
        let (mut cube, mut ball, mut read, mut workspace) = (null_mut(), null_mut(), null_mut(), null_mut());
        ok(vxs_shape_create_box(vxs_vec3 { x: 0.5, y: 0.5, z: 0.5 }, &mut cube));
        ok(vxs_shape_create_sphere(0.5, &mut ball));
        ok(vxs_shape_deserialize(ASSETS[0].as_ptr().cast(), ASSETS[0].len(), &mut read));
        ok(vxs_workspace_create(&mut workspace));
        let (a, b) =
            (vxs_body { shape: read, pose: at(0.0, 0.0, 0.0) }, vxs_body { shape: cube, pose: at(0.2, 1.4, 0.1) });
        let (mut found, mut count): ([vxs_contact; 8], _) = (std::mem::zeroed(), 0);
        let status = vxs_query_contacts(&a, &b, null(), workspace, found.as_mut_ptr(), 8, &mut count);
        assert!(matches!(status, VXS_OK | VXS_TRUNCATED) && count > 0);
        let motion = vxs_motion { from: at(0.2, 3.0, 0.1), to: at(0.2, 1.0, 0.1) };
        let rest = vxs_motion { from: at(0.0, 0.0, 0.0), to: at(0.0, 0.0, 0.0) };
        let (a, b) = (vxs_moving_body { shape: read, motion: rest }, vxs_moving_body { shape: cube, motion });
        let mut hits = false;
        ok(vxs_query_time_of_impact(&a, &b, null(), workspace, &mut found[0], &mut hits));
        assert!(hits);
        let mut size = 0;
        assert_eq!(vxs_shape_serialize(read, null_mut(), 0, &mut size), VXS_TRUNCATED);
        let mut bytes = vec![0u8; size];
        ok(vxs_shape_serialize(read, bytes.as_mut_ptr().cast(), size, &mut size));
        ok(vxs_workspace_destroy(workspace));
        assert_eq!(vxs_workspace_destroy(workspace), VXS_INVALID_HANDLE);
        steps(read, ball);
        for shape in [cube, ball, read] {
            ok(vxs_shape_release(shape));
        }
    }
}

/// A god-object in the hand touches a ball.
unsafe fn steps(tool: *mut vxs_shape, ball: *mut vxs_shape) {
    let limits = vxs_haptics_limits { force: 8.0, torque: 0.4, stiffness: [2000.0, 20.0], damping: [40.0, 0.2] };
    let mut settings = std::mem::zeroed();
    let size = size_of::<vxs_haptics_settings>();
    ok(vxs_haptics_settings_init(&mut settings, size, VXS_RENDERER_GOD_OBJECT, tool, 0.2, &limits));
    let body = vxs_body { shape: ball, pose: at(0.5, -0.6, 0.5) };
    let mut haptics = null_mut();
    ok(vxs_haptics_create(&settings, tool, &body, 1, &mut haptics));
    let nowhere = vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 };
    for i in 0..4 {
        let state = vxs_device_state {
            pose: at(0.0, -0.01 * f64::from(i), 0.0),
            twist: vxs_twist { linear: nowhere, angular: nowhere },
            engaged: 1,
            reserved: 0,
        };
        let mut output = std::mem::zeroed();
        ok(vxs_haptics_step(haptics, &state, 1e-3, &mut output));
        ok(vxs_haptics_simulate(haptics, null_mut()));
    }
    ok(vxs_haptics_release(haptics));
}

/// Samples that are used in place in the bytes of a file.
#[test]
fn a_raw_file_is_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw.vxs");
    Shape::from_bytes(ASSETS[1]).unwrap().save_as(&path, Store::Raw).unwrap();
    let shape = Shape::load(&path).unwrap();
    let copy = shape.clone();
    drop(shape);
    let (phi, _) = copy.field.as_deref().unwrap().distance_gradient([0.1, 0.2, 0.3]);
    assert!(phi.is_finite());
}
