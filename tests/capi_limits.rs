//! For every accepted input the queries of the C API answer with finite numbers and in bounded time: numbers of every
//! magnitude, from the smallest to the limits of the header, in every argument.

use std::ptr::null_mut;

use support::extremes::*;
use support::rng::Rng;
use voxshell::capi::cook_options::*;
use voxshell::capi::forms::*;
use voxshell::capi::impulse::*;
use voxshell::capi::motion::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

#[test]
fn poses_of_any_magnitude_give_finite_contacts_and_distances() {
    unsafe {
        let mut workspace = null_mut();
        ok(vxs_workspace_create(&mut workspace));
        let mut contacts: Vec<vxs_contact> = Vec::with_capacity(1 << 16);
        pairs(1, 60, |a, b, rng| {
            let pose_a = pose(rng);
            let pose_b = pose_near(rng, &pose_a, size(a, b));
            let mut query: vxs_query = std::mem::zeroed();
            ok(vxs_query_init(&mut query, size_of::<vxs_query>()));
            query.max_separation = number(rng, 1e-18, VXS_MAX_COORDINATE);
            let mut segmentation: vxs_query_segmentation = std::mem::zeroed();
            ok(vxs_query_segmentation_init(&mut segmentation, size_of::<vxs_query_segmentation>()));
            let mut limit: vxs_query_limit = std::mem::zeroed();
            ok(vxs_query_limit_init(&mut limit, size_of::<vxs_query_limit>()));
            let mut step: vxs_query_step = std::mem::zeroed();
            ok(vxs_query_step_init(&mut step, size_of::<vxs_query_step>()));
            (query.segmentation, query.limit) = (&segmentation, &limit);
            segmentation.kind = rng.next() as u32 % 3;
            segmentation.distance = number(rng, 1e-18, VXS_MAX_COORDINATE).abs();
            limit.accuracy = if rng.next() % 3 == 0 { number(rng, 1e-18, VXS_MAX_COORDINATE).abs() } else { 0.0 };
            query.max_contacts = rng.next() as u32 % 20;
            if rng.next() % 3 == 0 && b.name != "sheet" {
                (step.dense_above, limit.accuracy) = (8, 0.0);
                (step.center, step.shift, step.turn) = (place(rng), place(rng), quantities(rng));
                query.step = &step;
            }
            query.max_depth = [f64::INFINITY, 1e300, 0.0, 1e18][rng.next() as usize % 4];
            query.max_distance = [f64::INFINITY, 1e300, f64::MAX, -1e300][rng.next() as usize % 4];
            let what = || {
                format!(
                    "{} and {}: {pose_a:?} {pose_b:?} {query:?} {segmentation:?} {limit:?} {step:?}",
                    a.name, b.name
                )
            };
            let mut count = 0;
            timed(&what, || {
                let out = contacts.as_mut_ptr();
                vxs_query_contacts(
                    &vxs_body { shape: a.shape, pose: pose_a },
                    &vxs_body { shape: b.shape, pose: pose_b },
                    &query,
                    workspace,
                    out,
                    1 << 16,
                    &mut count,
                )
            });
            contacts.set_len(count.min(1 << 16));
            for c in &contacts {
                assert!(
                    is_contact(c) && c.separation <= query.max_separation.max(0.0) * 1.000_001 + 1e-30
                        || c.separation <= query.max_separation,
                    "{c:?}: {}",
                    what()
                );
            }
            let (mut closest, mut found) = (std::mem::zeroed(), false);
            timed(&what, || {
                let (closest, found) = (&mut closest, &mut found);
                vxs_query_distance(
                    &vxs_body { shape: a.shape, pose: pose_a },
                    &vxs_body { shape: b.shape, pose: pose_b },
                    &query,
                    workspace,
                    closest,
                    found,
                )
            });
            assert_eq!(
                found,
                query.max_distance > 0.0 || found && closest.separation < query.max_distance,
                "{}",
                what()
            );
            if found {
                assert!(is_contact(&closest), "{closest:?}: {}", what());
                let [p, q] = [of(&pose_a.position), of(&pose_b.position)];
                let apart = (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt();
                let slack = size(a, b) * 1.001 + 1e-6 * (apart + size(a, b));
                let near = (closest.separation - apart).abs() <= slack;
                assert!(near || !b.radius.is_finite(), "{} for {apart}: {}", closest.separation, what());
            }
            let features = [0, 1, closest.feature];
            let mut of_features: [vxs_contact; 3] = std::mem::zeroed();
            let n = if found { 3 } else { 2 };
            timed(&what, || {
                let out = of_features.as_mut_ptr();
                vxs_query_features(
                    &vxs_body { shape: a.shape, pose: pose_a },
                    &vxs_body { shape: b.shape, pose: pose_b },
                    VXS_COVERAGE_EDGES,
                    features.as_ptr(),
                    n,
                    out,
                )
            });
            // Edges and the far side of a body that touches a sheet have no contacts.
            let is_expected = |c: &vxs_contact| {
                is_contact(c) != (c.feature & VXS_FEATURE_OF_EDGE != 0 && c.separation == f64::INFINITY)
            };
            assert!(of_features[..n].iter().all(is_expected) || b.name == "sheet", "{of_features:?}: {}", what());
        });
        ok(vxs_workspace_destroy(workspace));
    }
}

#[test]
fn motions_of_any_magnitude_end_and_give_finite_contacts() {
    unsafe {
        let mut workspace = null_mut();
        ok(vxs_workspace_create(&mut workspace));
        let mut contacts: Vec<vxs_motion_contact> = Vec::with_capacity(1 << 16);
        pairs(2, 12, |a, b, rng| {
            let from = pose(rng);
            let motion_a = vxs_motion { from, to: pose_near(rng, &from, 3.0 * size(a, b)) };
            let motion_b = vxs_motion {
                from: pose_near(rng, &motion_a.from, 3.0 * size(a, b)),
                to: pose_near(rng, &motion_a.to, 3.0 * size(a, b)),
            };
            let mut query: vxs_motion_query = std::mem::zeroed();
            ok(vxs_motion_query_init(&mut query, size_of::<vxs_motion_query>()));
            query.path = rng.next() as u32 % 2;
            query.max_separation = if rng.next() % 2 == 0 { 0.0 } else { number(rng, 1e-18, VXS_MAX_COORDINATE) };
            query.tolerance = number(rng, 1e-300, VXS_MAX_COORDINATE).abs();
            let what = || format!("{} and {}: {motion_a:?} {motion_b:?} {query:?}", a.name, b.name);
            let (mut count, mut found, mut contact) = (0, false, std::mem::zeroed());
            timed(&what, || {
                let (contact, found) = (&mut contact, &mut found);
                vxs_query_time_of_impact(
                    &vxs_moving_body { shape: a.shape, motion: motion_a },
                    &vxs_moving_body { shape: b.shape, motion: motion_b },
                    &query,
                    workspace,
                    contact,
                    found,
                )
            });
            assert!(!found || is_contact(&contact), "{contact:?}: {}", what());
            timed(&what, || {
                let (out, most, count) = (contacts.as_mut_ptr(), 1 << 16, &mut count);
                vxs_query_motion_contacts(
                    &vxs_moving_body { shape: a.shape, motion: motion_a },
                    &vxs_moving_body { shape: b.shape, motion: motion_b },
                    &query,
                    workspace,
                    out,
                    most,
                    count,
                )
            });
            contacts.set_len(count.min(1 << 16));
            for c in &contacts {
                assert!(is_contact(&c.contact) && (0.0..=1.0).contains(&c.until), "{c:?}: {}", what());
            }
            assert!(found || contacts.is_empty() || query.path == VXS_PATH_SCREW, "{}", what());
            let known = [0, 3];
            let query = vxs_motion_query { known: known.as_ptr(), known_count: 2, ..query };
            let mut still: [vxs_contact; 2] = std::mem::zeroed();
            timed(&what, || {
                let (out, count) = (still.as_mut_ptr(), &mut count);
                vxs_query_known_contacts(
                    &vxs_moving_body { shape: a.shape, motion: motion_a },
                    &vxs_moving_body { shape: b.shape, motion: motion_b },
                    &query,
                    workspace,
                    out,
                    2,
                    count,
                )
            });
            assert!(still[..count.min(2)].iter().all(is_contact), "{still:?}: {}", what());
            let mut between = motion_a.from;
            ok(vxs_motion_pose(&motion_a, rng.fraction(), &mut between));
            assert!(is_finite(&of(&between.position)) && is_finite(&[between.qx, between.qy, between.qz, between.qw]));
        });
        ok(vxs_workspace_destroy(workspace));
    }
}

#[test]
fn points_and_segments_of_any_magnitude_give_finite_answers() {
    unsafe {
        let bodies = bodies();
        let mut rng = Rng(3);
        let mut hits = [std::mem::zeroed(); 64];
        for body in &bodies {
            let mut field = null_mut();
            ok(vxs_shape_get_field(body.shape, &mut field));
            for _ in 0..rounds(300) {
                let (from, to) = (place(&mut rng), place(&mut rng));
                let what = || format!("{}: {from:?} {to:?}", body.name);
                let (mut distance, mut gradient) = (f64::NAN, vxs_vec3 { x: f64::NAN, y: 0.0, z: 0.0 });
                timed(&what, || vxs_field_distance(field, from, &mut distance, &mut gradient));
                assert!(distance.is_finite() && is_finite(&of(&gradient)), "{distance} {gradient:?}: {}", what());
                let far = of(&from).iter().map(|x| x * x).sum::<f64>().sqrt();
                let near = (distance - far).abs() <= body.radius + 1e-6 * (far + body.radius);
                assert!(near || body.radius.is_infinite(), "{distance} for {far}: {}", what());
                let mut hit: vxs_segment_hit = std::mem::zeroed();
                timed(&what, || vxs_shape_query_segment(body.shape, from, to, &mut hit));
                let is_hit = |h: &vxs_segment_hit| {
                    (0.0..=1.0).contains(&h.fraction) && is_finite(&of(&h.point)) && is_finite(&of(&h.normal))
                };
                assert!(!hit.hit || is_hit(&hit), "{hit:?}: {}", what());
                timed(&what, || vxs_shape_query_segments(body.shape, &from, &to, 1, hits.as_mut_ptr()));
                assert_eq!(hits[0].hit, hit.hit, "{}", what());
                let mut count = 0;
                timed(&what, || vxs_shape_query_crossings(body.shape, from, to, hits.as_mut_ptr(), 64, &mut count));
                assert!(hits[..count.min(64)].iter().all(is_hit), "{}", what());
            }
            ok(vxs_field_release(field));
        }
    }
}

#[test]
fn responses_to_any_quantities_are_finite() {
    unsafe {
        let mut workspace = null_mut();
        ok(vxs_workspace_create(&mut workspace));
        pairs(4, 25, |a, b, rng| {
            let from = pose(rng);
            let kinematics = |rng: &mut Rng| vxs_kinematics {
                pose: pose_near(rng, &from, size(a, b)),
                center: place(rng),
                twist: twist(rng),
            };
            let (at_a, at_b) = (kinematics(rng), kinematics(rng));
            let mut penalty: vxs_penalty = std::mem::zeroed();
            ok(vxs_penalty_init(&mut penalty, size_of::<vxs_penalty>(), not_negative(rng), not_negative(rng)));
            penalty.drag = not_negative(rng);
            penalty.offset = number(rng, 1e-18, VXS_MAX_COORDINATE);
            penalty.cluster_radius = number(rng, 1e-18, VXS_MAX_COORDINATE).abs();
            penalty.max_clusters = [0, 3][rng.next() as usize % 2];
            let what = || format!("{} and {}: {at_a:?} {at_b:?} {penalty:?}", a.name, b.name);
            let is_response = |r: &vxs_response| {
                is_finite(&of(&r.wrench.force))
                    && is_finite(&of(&r.wrench.torque))
                    && is_finite(&r.by_pose)
                    && is_finite(&r.by_twist)
            };
            let (mut on_a, mut on_b, mut count) = (std::mem::zeroed(), std::mem::zeroed(), 0);
            timed(&what, || {
                let (on_a, on_b, count) = (&mut on_a, &mut on_b, &mut count);
                vxs_query_penalty(
                    &vxs_dynamic_body { shape: a.shape, kinematics: at_a },
                    &vxs_dynamic_body { shape: b.shape, kinematics: at_b },
                    &penalty,
                    workspace,
                    on_a,
                    on_b,
                    count,
                )
            });
            assert!(is_response(&on_a) && is_response(&on_b), "{on_a:?} {on_b:?} {}", what());

            let sweep = |rng: &mut Rng| vxs_sweep {
                motion: vxs_motion { from: pose_near(rng, &from, size(a, b)), to: pose_near(rng, &from, size(a, b)) },
                center: place(rng),
                twist: twist(rng),
            };
            let (of_a, of_b) = (sweep(rng), sweep(rng));
            penalty.max_clusters = 0;
            let what = || format!("{} and {}: {of_a:?} {of_b:?} {penalty:?}", a.name, b.name);
            timed(&what, || {
                let (on_a, on_b, count) = (&mut on_a, &mut on_b, &mut count);
                vxs_query_continuous_penalty(
                    &vxs_swept_body { shape: a.shape, sweep: of_a },
                    &vxs_swept_body { shape: b.shape, sweep: of_b },
                    &penalty,
                    workspace,
                    on_a,
                    on_b,
                    count,
                )
            });
            assert!(is_response(&on_a) && is_response(&on_b), "{on_a:?} {on_b:?} {}", what());

            let mut impulse: vxs_impulse = std::mem::zeroed();
            ok(vxs_impulse_init(&mut impulse, size_of::<vxs_impulse>(), positive(rng)));
            (impulse.restitution, impulse.max_speed) = (rng.fraction(), not_negative(rng));
            impulse.max_separation = number(rng, 1e-18, VXS_MAX_COORDINATE);
            impulse.iterations = [64, 1, 3000][rng.next() as usize % 3];
            // Includes invalid inertias.
            let mobility = |rng: &mut Rng| vxs_mobility {
                inverse_mass: not_negative(rng),
                inverse_inertia: std::array::from_fn(
                    |i| if i < 3 { not_negative(rng) } else { number(rng, 1e-30, 1e18) },
                ),
            };
            let (of_a, of_b) = (mobility(rng), mobility(rng));
            let what = || format!("{} and {}: {at_a:?} {at_b:?} {of_a:?} {of_b:?} {impulse:?}", a.name, b.name);
            let mut impulses: vxs_impulses = std::mem::zeroed();
            timed(&what, || {
                let out = &mut impulses;
                vxs_query_impulse(
                    &vxs_dynamic_body { shape: a.shape, kinematics: at_a },
                    &of_a,
                    &vxs_dynamic_body { shape: b.shape, kinematics: at_b },
                    &of_b,
                    &impulse,
                    workspace,
                    out,
                )
            });
            let on = [impulses.on_a, impulses.on_b];
            assert!(
                on.iter().all(|w| is_finite(&of(&w.force)) && is_finite(&of(&w.torque))),
                "{impulses:?} {}",
                what()
            );
            assert!(impulses.count <= impulse.iterations);
        });
        ok(vxs_workspace_destroy(workspace));
    }
}

#[test]
fn the_largest_number_of_impulses_ends() {
    unsafe {
        let (mut workspace, mut impulses, mut impulse) =
            (null_mut(), std::mem::zeroed::<vxs_impulses>(), std::mem::zeroed());
        let body = Body::cooked(VXS_STORAGE_DENSE);
        ok(vxs_workspace_create(&mut workspace));
        ok(vxs_impulse_init(&mut impulse, size_of::<vxs_impulse>(), 1e-3));
        let none = vxs_vec3::default();
        let identity = vxs_pose { position: none, qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 };
        let still = vxs_kinematics { pose: identity, center: none, twist: vxs_twist::default() };
        let mobility = vxs_mobility { inverse_mass: 1.0, inverse_inertia: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
        impulse.iterations = VXS_MAX_ITERATIONS;
        // At the same place: no motion separates all contacts.
        timed(&|| "the same place".into(), || {
            let (a, out) = (body.shape, &mut impulses);
            vxs_query_impulse(
                &vxs_dynamic_body { shape: a, kinematics: still },
                &mobility,
                &vxs_dynamic_body { shape: a, kinematics: still },
                &mobility,
                &impulse,
                workspace,
                out,
            )
        });
        assert_eq!(impulses.resolved, 0);
        impulse.iterations = u32::MAX;
        let (a, out) = (body.shape, &mut impulses);
        let status = vxs_query_impulse(
            &vxs_dynamic_body { shape: a, kinematics: still },
            &mobility,
            &vxs_dynamic_body { shape: a, kinematics: still },
            &mobility,
            &impulse,
            workspace,
            out,
        );
        assert_eq!(status, VXS_INVALID_ARGUMENT);
        ok(vxs_workspace_destroy(workspace));
    }
}
