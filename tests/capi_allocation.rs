//! Once a workspace is warm, no query through the C ABI allocates.

use std::ptr::{null, null_mut};

use support::allocation::{allocations, Counting};
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::forms::*;
use voxshell::capi::pair::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn pose(x: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x, y: 0.01, z: -0.02 }, qx: 0.0, qy: 0.0, qz: 0.6, qw: 0.8 }
}

#[test]
fn warm_queries_do_not_allocate() {
    unsafe {
        let mut primitive = std::mem::zeroed();
        let mut options = std::mem::zeroed();
        let mut query = std::mem::zeroed();
        let (mut torus, mut sphere) = (null_mut(), null_mut());
        let (mut workspace, mut field) = (null_mut(), null_mut());
        let ok = |status| assert_eq!(status, VXS_OK);
        ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), VXS_PRIMITIVE_TORUS));
        ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
        ok(vxs_query_init(&mut query, size_of::<vxs_query>()));
        options.resolution = 32;
        query.roles = VXS_ROLES_BOTH;
        query.max_separation = 0.02;
        query.max_contacts = 8;
        ok(vxs_shape_create_primitive(&primitive, &options, &mut torus));
        ok(vxs_shape_create_sphere(0.3, &mut sphere));
        ok(vxs_workspace_create(&mut workspace));
        ok(vxs_shape_get_field(torus, &mut field));
        let mut pair = null_mut();
        ok(vxs_pair_create(torus, torus, null(), &mut pair));
        let mut manifolds = vxs_manifolds { data: null(), count: 0 };

        let mut contacts: Vec<vxs_contact> = Vec::with_capacity(1 << 16);
        let out = contacts.as_mut_ptr();
        let (mut count, mut found, mut hits) = (0, false, 0);
        let (mut closest, mut hit) = (std::mem::zeroed(), std::mem::zeroed());
        for warm in [false, true] {
            let quiet = |name: &str, step: i32, call: &mut dyn FnMut()| {
                let allocations = allocations(call);
                assert!(!warm || allocations == 0, "{name}, step {step}: {allocations} allocations");
            };
            ok(vxs_pair_reset(pair));
            for step in 0..20 {
                let (a, b) = (pose(0.0), pose(0.05 * step as f64));
                let still =
                    |pose: vxs_pose| vxs_kinematics { pose, center: pose.position, twist: vxs_twist::default() };
                // Each answer is searched, and then kept.
                for _ in 0..2 {
                    let step_of_pair = vxs_pair_step {
                        a: still(a),
                        b: still(b),
                        duration: 0.01,
                        gained_by_a: vxs_vec3::default(),
                        gained_by_b: vxs_vec3::default(),
                    };
                    quiet("update of a pair", step, &mut || {
                        ok(vxs_pair_update(pair, &step_of_pair, &mut manifolds));
                    });
                    hits += manifolds.count;
                }
                quiet("all contacts", step, &mut || {
                    ok(vxs_query_contacts(
                        &vxs_body { shape: torus, pose: a },
                        &vxs_body { shape: torus, pose: b },
                        null(),
                        workspace,
                        out,
                        1 << 16,
                        &mut count,
                    ));
                });
                hits += count;
                quiet("reduced contacts of both", step, &mut || {
                    ok(vxs_query_contacts(
                        &vxs_body { shape: torus, pose: a },
                        &vxs_body { shape: torus, pose: b },
                        &query,
                        workspace,
                        out,
                        1 << 16,
                        &mut count,
                    ));
                });
                quiet("contacts with a sphere", step, &mut || {
                    ok(vxs_query_contacts(
                        &vxs_body { shape: sphere, pose: a },
                        &vxs_body { shape: torus, pose: b },
                        null(),
                        workspace,
                        out,
                        1 << 16,
                        &mut count,
                    ));
                });
                let features = [0, 7, 1 << 31];
                quiet("contacts of features", step, &mut || {
                    ok(vxs_query_features(
                        &vxs_body { shape: torus, pose: a },
                        &vxs_body { shape: torus, pose: b },
                        VXS_COVERAGE_EDGES,
                        features.as_ptr(),
                        features.len(),
                        out,
                    ));
                });
                quiet("distance", step, &mut || {
                    ok(vxs_query_distance(
                        &vxs_body { shape: torus, pose: a },
                        &vxs_body { shape: torus, pose: b },
                        &query,
                        workspace,
                        &mut closest,
                        &mut found,
                    ));
                });
                quiet("segment", step, &mut || {
                    ok(vxs_shape_query_segment(torus, a.position, b.position, &mut hit));
                });
                quiet("field", step, &mut || {
                    ok(vxs_field_distance(field, b.position, &mut closest.separation, null_mut()));
                });
            }
        }
        assert!(hits > 0);

        ok(vxs_pair_release(pair));
        ok(vxs_field_release(field));
        ok(vxs_workspace_destroy(workspace));
        ok(vxs_shape_release(sphere));
        ok(vxs_shape_release(torus));
    }
}
