//! Queries, pairs and haptics.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};

use voxshell::capi::batch::*;
use voxshell::capi::contact_triangles::*;
use voxshell::capi::forms::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_handle::*;
use voxshell::capi::haptics_run::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::hulls::*;
use voxshell::capi::impulse::*;
use voxshell::capi::mesh_motion::*;
use voxshell::capi::motion::*;
use voxshell::capi::pair::*;
use voxshell::capi::patches::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::record::api::*;
use voxshell::capi::response::*;
use voxshell::capi::segment_intervals::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::capi::voxelmap::*;
use voxshell::capi::voxelmap_query::*;
use voxshell::capi::voxtree::*;
use voxshell::capi::voxtree_query::*;

use crate::making::{haptics_settings, triangles};
use crate::scene::*;
use crate::small_torus;

const MOBILITY: vxs_mobility = vxs_mobility { inverse_mass: 1.0, inverse_inertia: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };

fn dynamic(shape: *const vxs_shape) -> [vxs_dynamic_body; 2] {
    [0.0, 0.2].map(|x| vxs_dynamic_body { shape, kinematics: still(x) })
}

/// Returns a tool that touches one of two bodies.
fn haptics(folder: &Path, renderer: u32) -> *mut vxs_haptics {
    let shape = prepared(folder);
    let settings = haptics_settings(renderer, shape);
    let bodies = [0.2, 0.9].map(|x| vxs_body { shape, pose: pose(x) });
    let mut made = null_mut();
    ok(unsafe { vxs_haptics_create(&settings, shape, bodies.as_ptr(), bodies.len(), &mut made) });
    made
}

fn hulls() -> *mut vxs_hulls {
    let mut hulls = null_mut();
    let ((vertices, indices), options) = (triangles(&small_torus()), made(vxs_hulls_options_init));
    let (n, m) = (vertices.len(), indices.len() / 3);
    ok(unsafe { vxs_hulls_create_from_triangles(vertices.as_ptr(), n, indices.as_ptr(), m, &options, &mut hulls) });
    hulls
}

fn hand() -> vxs_device_state {
    vxs_device_state { pose: pose(0.0), twist: vxs_twist::default(), engaged: 1, reserved: 0 }
}

/// A step and a round of the simulation.
fn simulate(folder: &Path, renderer: u32) -> Run {
    let haptics = haptics(folder, renderer);
    let mut report = made(vxs_haptics_report_init);
    Box::new(move || unsafe {
        let mut output = zeroed();
        match vxs_haptics_step(haptics, &hand(), 0.001, &mut output) {
            VXS_OK => vxs_haptics_simulate(haptics, &mut report),
            refused => refused,
        }
    })
}

unsafe extern "C" fn device(_: *const vxs_wrench, _: u32, state: *mut vxs_device_state, _: *mut c_void) -> bool {
    state.write(hand());
    true
}

fn contacts_of(folder: &Path, adjust: impl FnOnce(&mut vxs_query)) -> Run {
    let (bodies, workspace) = (bodies(prepared(folder)), workspace());
    let (query, mut out) = (query(adjust), room::<vxs_contact>(1 << 16));
    Box::new(move || unsafe {
        let mut count = 0;
        vxs_query_contacts(&bodies[0], &bodies[1], &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
    })
}

/// Returns a step of two bodies at rest.
fn step_of_pair() -> vxs_pair_step {
    let none = vxs_vec3::default();
    vxs_pair_step { a: still(0.0), b: still(0.2), duration: 0.01, gained_by_a: none, gained_by_b: none }
}

pub const CALLS: &[Call] = &[
    Call {
        name: "vxs_query_contacts, samples",
        prepare: |folder| contacts_of(folder, |query| query.coverage = VXS_COVERAGE_SAMPLES),
    },
    Call {
        name: "vxs_query_contacts, edges",
        prepare: |folder| contacts_of(folder, |query| query.coverage = VXS_COVERAGE_EDGES),
    },
    Call { name: "vxs_query_contacts, reduced", prepare: |folder| contacts_of(folder, |query| query.max_contacts = 8) },
    Call {
        name: "vxs_query_contacts, regions",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let segmentation =
                vxs_query_segmentation { kind: VXS_SEGMENTATION_REGION, ..made(vxs_query_segmentation_init) };
            let mut out = room::<vxs_contact>(1 << 16);
            Box::new(move || unsafe {
                let query = query(|query| query.segmentation = &segmentation);
                let mut count = 0;
                vxs_query_contacts(&bodies[0], &bodies[1], &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_contacts, limited",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let limit = vxs_query_limit { max_tests: 1 << 20, ..made(vxs_query_limit_init) };
            let mut out = room::<vxs_contact>(1 << 16);
            Box::new(move || unsafe {
                let query = query(|query| query.limit = &limit);
                let mut count = 0;
                vxs_query_contacts(&bodies[0], &bodies[1], &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_contacts, step",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let step = vxs_query_step { shift: vxs_vec3 { x: 0.05, y: 0.0, z: 0.0 }, ..made(vxs_query_step_init) };
            let mut out = room::<vxs_contact>(1 << 16);
            Box::new(move || unsafe {
                let query = query(|query| query.step = &step);
                let mut count = 0;
                vxs_query_contacts(&bodies[0], &bodies[1], &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_contacts, recorded",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let (query, mut out) = (query(|_| ()), room::<vxs_contact>(1 << 16));
            let file = path(folder, &format!("query{}", std::process::id()));
            Box::new(move || unsafe {
                let mut count = 0;
                let started = vxs_record_start(file.as_ptr(), null());
                if started != VXS_OK {
                    return started;
                }
                let status = vxs_query_contacts(
                    &bodies[0],
                    &bodies[1],
                    &query,
                    workspace,
                    out.as_mut_ptr(),
                    1 << 16,
                    &mut count,
                );
                match vxs_record_stop(null_mut()) {
                    VXS_OK => status,
                    stopped => stopped,
                }
            })
        },
    },
    Call {
        name: "vxs_query_distance",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let query = query(|query| query.coverage = VXS_COVERAGE_EDGES);
            Box::new(move || unsafe {
                let (mut closest, mut found) = (zeroed(), false);
                vxs_query_distance(&bodies[0], &bodies[1], &query, workspace, &mut closest, &mut found)
            })
        },
    },
    Call {
        name: "vxs_query_features",
        prepare: |folder| {
            let bodies = bodies(prepared(folder));
            let features: Vec<u32> = (0..1000).collect();
            let mut out = room::<vxs_contact>(1000);
            Box::new(move || unsafe {
                let features = (features.as_ptr(), features.len());
                let [a, b] = &bodies;
                vxs_query_features(a, b, VXS_COVERAGE_EDGES, features.0, features.1, out.as_mut_ptr())
            })
        },
    },
    Call {
        name: "vxs_query_triangles",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let (query, mut out) = (query(|_| ()), room::<vxs_contact>(1 << 16));
            let (mut count, mut triangles) = (0, room(1 << 16));
            let [a, b] = bodies;
            ok(unsafe { vxs_query_contacts(&a, &b, &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count) });
            Box::new(move || unsafe { vxs_query_triangles(&a, &b, out.as_ptr(), count, triangles.as_mut_ptr()) })
        },
    },
    Call {
        name: "vxs_query_contacts_batch, 2 threads",
        prepare: |folder| {
            let [a, b] = bodies(prepared(folder));
            let pairs = vec![vxs_body_pair { a, b, workspace: null_mut() }; 8];
            let (query, mut batch) = (query(|_| ()), null_mut());
            ok(unsafe { vxs_batch_create(2, &mut batch) });
            let (mut out, mut offsets) = (room::<vxs_contact>(1 << 16), [0; 9]);
            Box::new(move || unsafe {
                let to = (out.as_mut_ptr(), 1 << 16, offsets.as_mut_ptr());
                vxs_query_contacts_batch(batch, pairs.as_ptr(), pairs.len(), &query, to.0, to.1, to.2)
            })
        },
    },
    Call {
        name: "vxs_pair_update",
        prepare: |folder| {
            let (shape, mut pair) = (prepared(folder), null_mut());
            ok(unsafe { vxs_pair_create(shape, shape, null(), &mut pair) });
            let step = step_of_pair();
            Box::new(move || unsafe {
                let mut manifolds = zeroed();
                vxs_pair_update(pair, &step, &mut manifolds)
            })
        },
    },
    Call {
        name: "vxs_pair_copy",
        prepare: |folder| {
            let (shape, mut pair) = (prepared(folder), null_mut());
            ok(unsafe { vxs_pair_create(shape, shape, null(), &mut pair) });
            let step = step_of_pair();
            ok(unsafe { vxs_pair_update(pair, &step, &mut zeroed()) });
            Box::new(move || unsafe {
                let mut copy = null_mut();
                vxs_pair_copy(pair, &mut copy)
            })
        },
    },
    Call {
        name: "vxs_pair_get_triangles",
        prepare: |folder| {
            let (shape, mut pair) = (prepared(folder), null_mut());
            ok(unsafe { vxs_pair_create(shape, shape, null(), &mut pair) });
            let step = step_of_pair();
            ok(unsafe { vxs_pair_update(pair, &step, &mut zeroed()) });
            let mut triangles = room::<vxs_contact_triangles>(1 << 12);
            Box::new(move || unsafe {
                let mut count = 0;
                vxs_pair_get_triangles(pair, triangles.as_mut_ptr(), 1 << 12, &mut count)
            })
        },
    },
    Call {
        name: "vxs_pairs_update, 2 threads",
        prepare: |folder| {
            let (shape, mut batch) = (prepared(folder), null_mut());
            ok(unsafe { vxs_batch_create(2, &mut batch) });
            let step = step_of_pair();
            let pairs = [(); 8].map(|()| {
                let mut pair = null_mut();
                ok(unsafe { vxs_pair_create(shape, shape, null(), &mut pair) });
                vxs_pair_in_step { pair, step }
            });
            let mut manifolds = room::<vxs_manifolds>(pairs.len());
            Box::new(move || unsafe { vxs_pairs_update(batch, pairs.as_ptr(), pairs.len(), manifolds.as_mut_ptr()) })
        },
    },
    Call {
        name: "vxs_query_time_of_impact",
        prepare: |folder| {
            let (bodies, workspace) = (moving(prepared(folder)), workspace());
            let query = made(vxs_motion_query_init);
            Box::new(move || unsafe {
                let (mut contact, mut found) = (zeroed(), false);
                vxs_query_time_of_impact(&bodies[0], &bodies[1], &query, workspace, &mut contact, &mut found)
            })
        },
    },
    Call {
        name: "vxs_query_motion_contacts",
        prepare: |folder| {
            let (bodies, workspace) = (moving(prepared(folder)), workspace());
            let (query, mut out) = (made(vxs_motion_query_init), room::<vxs_motion_contact>(1 << 16));
            Box::new(move || unsafe {
                let (mut count, [a, b]) = (0, &bodies);
                vxs_query_motion_contacts(a, b, &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_known_contacts",
        prepare: |folder| {
            let (bodies, workspace) = (moving(prepared(folder)), workspace());
            let known: Vec<u32> = (0..1000).collect();
            let mut out = room::<vxs_contact>(1 << 12);
            Box::new(move || unsafe {
                let mut query: vxs_motion_query = made(vxs_motion_query_init);
                (query.known, query.known_count) = (known.as_ptr(), known.len() as u32);
                let (mut count, [a, b]) = (0, &bodies);
                vxs_query_known_contacts(a, b, &query, workspace, out.as_mut_ptr(), 1 << 12, &mut count)
            })
        },
    },
    Call {
        name: "vxs_mesh_time_of_impact",
        prepare: |folder| {
            let (bodies, workspace) = (moving(prepared(folder)), workspace());
            let query = made(vxs_mesh_motion_query_init);
            Box::new(move || unsafe {
                let (mut impact, mut found) = (zeroed(), false);
                vxs_mesh_time_of_impact(&bodies[0], &bodies[1], &query, workspace, &mut impact, &mut found)
            })
        },
    },
    Call {
        name: "vxs_query_penalty",
        prepare: |folder| {
            let shape = prepared(folder);
            let (bodies, workspace) = (dynamic(shape), workspace());
            let mut penalty: vxs_penalty = zeroed();
            ok(unsafe { vxs_penalty_init(&mut penalty, size_of::<vxs_penalty>(), 1000.0, 1.0) });
            penalty.max_clusters = 8;
            Box::new(move || unsafe {
                let (mut on_a, mut on_b, mut count) = (zeroed(), zeroed(), 0);
                let [a, b] = &bodies;
                vxs_query_penalty(a, b, &penalty, workspace, &mut on_a, &mut on_b, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_continuous_penalty",
        prepare: |folder| {
            let (bodies, workspace) = (moving(prepared(folder)), workspace());
            let bodies = bodies.map(|body| {
                let (center, twist) = (body.motion.from.position, vxs_twist::default());
                vxs_swept_body { shape: body.shape, sweep: vxs_sweep { motion: body.motion, center, twist } }
            });
            let mut penalty: vxs_penalty = zeroed();
            ok(unsafe { vxs_penalty_init(&mut penalty, size_of::<vxs_penalty>(), 1000.0, 1.0) });
            Box::new(move || unsafe {
                let (mut on_a, mut on_b, mut count) = (zeroed(), zeroed(), 0);
                let [a, b] = &bodies;
                vxs_query_continuous_penalty(a, b, &penalty, workspace, &mut on_a, &mut on_b, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_impulse",
        prepare: |folder| {
            let shape = prepared(folder);
            let (bodies, workspace) = (dynamic(shape), workspace());
            let mut impulse = zeroed();
            ok(unsafe { vxs_impulse_init(&mut impulse, size_of::<vxs_impulse>(), 0.01) });
            Box::new(move || unsafe {
                let ([a, b], mut impulses) = (&bodies, zeroed());
                vxs_query_impulse(a, &MOBILITY, b, &MOBILITY, &impulse, workspace, &mut impulses)
            })
        },
    },
    Call {
        name: "vxs_query_patches",
        prepare: |folder| {
            let (bodies, workspace) = (bodies(prepared(folder)), workspace());
            let mut query: vxs_patch_query = zeroed();
            ok(unsafe { vxs_patch_query_init(&mut query, size_of::<vxs_patch_query>(), 1e6, 1e6) });
            let mut out = room::<vxs_patch>(64);
            Box::new(move || unsafe {
                let (mut count, [a, b]) = (0, &bodies);
                vxs_query_patches(a, b, &query, workspace, out.as_mut_ptr(), 64, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_hull_contacts",
        prepare: |_| {
            let (workspace, query) = (workspace(), made(vxs_hulls_query_init));
            let hulls = hulls();
            let bodies = [0.0, 0.2].map(|x| vxs_hulls_body { hulls, pose: pose(x) });
            let mut out = room::<vxs_contact>(1 << 12);
            Box::new(move || unsafe {
                let (mut count, [a, b]) = (0, &bodies);
                vxs_query_hull_contacts(a, b, &query, workspace, out.as_mut_ptr(), 1 << 12, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_hull_distance",
        prepare: |_| {
            let (workspace, query) = (workspace(), made(vxs_hulls_query_init));
            let hulls = hulls();
            let bodies = [0.0, 1.0].map(|x| vxs_hulls_body { hulls, pose: pose(x) });
            Box::new(move || unsafe {
                let (mut closest, mut found) = (zeroed(), false);
                vxs_query_hull_distance(&bodies[0], &bodies[1], &query, workspace, &mut closest, &mut found)
            })
        },
    },
    Call {
        name: "vxs_query_voxelmap",
        prepare: |folder| {
            let (shape, workspace) = (prepared(folder), workspace());
            let options = vxs_voxelmap_options { resolution: 64, ..made(vxs_voxelmap_options_init) };
            let (mut voxelmap, mut pointshell) = (null_mut(), null_mut());
            ok(unsafe { vxs_voxelmap_create(shape, &options, &mut voxelmap) });
            ok(unsafe { vxs_shape_get_pointshell(shape, &mut pointshell) });
            let (a, b) =
                (vxs_voxelmap_body { voxelmap, pose: pose(0.0) }, vxs_pointshell_body { pointshell, pose: pose(0.2) });
            let (query, mut out) = (made(vxs_voxelmap_query_init), room::<vxs_voxel_contact>(1 << 16));
            Box::new(move || unsafe {
                let mut answer = zeroed();
                vxs_query_voxelmap(&a, &b, &query, workspace, &mut answer, out.as_mut_ptr(), 1 << 16)
            })
        },
    },
    Call {
        name: "vxs_query_voxtrees",
        prepare: |folder| {
            let (shape, workspace) = (prepared(folder), workspace());
            let (mut options, mut voxtree) = (zeroed(), null_mut());
            ok(unsafe { vxs_voxtree_options_init(&mut options, size_of::<vxs_voxtree_options>(), 0.01) });
            ok(unsafe { vxs_voxtree_create_from_shape(shape, &options, &mut voxtree) });
            let bodies = [0.0, 0.2].map(|x| vxs_voxtree_body { voxtree, kinematics: still(x) });
            let (query, mut out) = (made(vxs_voxtree_query_init), room::<vxs_voxel_pair>(1 << 16));
            Box::new(move || unsafe {
                let (mut count, [a, b]) = (0, &bodies);
                vxs_query_voxtrees(a, b, &query, workspace, out.as_mut_ptr(), 1 << 16, &mut count)
            })
        },
    },
    Call {
        name: "vxs_query_voxtree_impulse",
        prepare: |folder| {
            let (shape, workspace) = (prepared(folder), workspace());
            let (mut options, mut voxtree) = (zeroed(), null_mut());
            ok(unsafe { vxs_voxtree_options_init(&mut options, size_of::<vxs_voxtree_options>(), 0.01) });
            ok(unsafe { vxs_voxtree_create_from_shape(shape, &options, &mut voxtree) });
            let bodies = [0.0, 0.2].map(|x| vxs_voxtree_body { voxtree, kinematics: still(x) });
            let mut impulse = zeroed();
            ok(unsafe { vxs_impulse_init(&mut impulse, size_of::<vxs_impulse>(), 0.01) });
            Box::new(move || unsafe {
                let ([a, b], mut impulses) = (&bodies, zeroed());
                vxs_query_voxtree_impulse(a, &MOBILITY, b, &MOBILITY, &impulse, workspace, &mut impulses)
            })
        },
    },
    Call {
        name: "vxs_shape_query_segments",
        prepare: |folder| {
            let shape = prepared(folder);
            let ends = [-1.0, 1.0].map(|x| vec![vxs_vec3 { x, y: 0.0, z: 0.01 }; 1000]);
            let mut out = room(1000);
            Box::new(move || unsafe {
                vxs_shape_query_segments(shape, ends[0].as_ptr(), ends[1].as_ptr(), 1000, out.as_mut_ptr())
            })
        },
    },
    Call {
        name: "vxs_shape_query_intervals",
        prepare: |folder| {
            let query = made(vxs_segment_query_init);
            let (shape, mut out) = (prepared(folder), room::<vxs_interval>(64));
            let [from, to] = [-1.0, 1.0].map(|x| vxs_vec3 { x, y: 0.0, z: 0.01 });
            Box::new(move || unsafe {
                let mut count = 0;
                vxs_shape_query_intervals(shape, from, to, &query, out.as_mut_ptr(), 64, &mut count)
            })
        },
    },
    Call {
        name: "vxs_shape_query_crossings",
        prepare: |folder| {
            let (shape, mut out) = (prepared(folder), room(64));
            let [from, to] = [-1.0, 1.0].map(|x| vxs_vec3 { x, y: 0.0, z: 0.01 });
            Box::new(move || unsafe {
                let mut count = 0;
                vxs_shape_query_crossings(shape, from, to, out.as_mut_ptr(), 64, &mut count)
            })
        },
    },
    Call { name: "vxs_haptics_simulate, voxels", prepare: |folder| simulate(folder, VXS_RENDERER_VPS) },
    Call { name: "vxs_haptics_simulate, god object", prepare: |folder| simulate(folder, VXS_RENDERER_GOD_OBJECT) },
    Call { name: "vxs_haptics_simulate, penalty", prepare: |folder| simulate(folder, VXS_RENDERER_PENALTY) },
    Call {
        name: "vxs_haptics_simulate, continuous penalty",
        prepare: |folder| simulate(folder, VXS_RENDERER_CONTINUOUS_PENALTY),
    },
    Call { name: "vxs_haptics_simulate, impulse", prepare: |folder| simulate(folder, VXS_RENDERER_IMPULSE) },
    Call {
        name: "vxs_haptics_run",
        prepare: |folder| {
            let haptics = haptics(folder, VXS_RENDERER_GOD_OBJECT);
            Box::new(move || unsafe {
                let options = made(vxs_haptics_run_options_init);
                let status = vxs_haptics_run(haptics, &options, Some(device), null_mut());
                if status != VXS_OK {
                    return status;
                }
                std::thread::sleep(std::time::Duration::from_millis(30));
                vxs_haptics_stop(haptics, null_mut())
            })
        },
    },
];
