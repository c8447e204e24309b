//! For every accepted input the makers of shapes and of haptics in the C API give finite answers in bounded time:
//! numbers of every magnitude, from the smallest to the limits of the header, in every argument.

use std::ptr::{null, null_mut};
use std::time::Instant;

use support::extremes::*;
use support::rng::Rng;
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::forms::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query_options::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

#[test]
fn sizes_of_any_magnitude_give_finite_shapes_or_are_refused() {
    unsafe {
        let mut rng = Rng(6);
        for _ in 0..rounds(400) {
            let mut shape: *mut vxs_shape = null_mut();
            let mut length = || number(&mut rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE).abs().max(VXS_MIN_LENGTH);
            let lengths = [length(), length(), length(), length()];
            let made = match rng.next() % 6 {
                0 => vxs_shape_create_sphere(lengths[0], &mut shape),
                1 => vxs_shape_create_box(vxs_vec3 { x: lengths[0], y: lengths[1], z: lengths[2] }, &mut shape),
                2 => vxs_shape_create_capsule(lengths[0], lengths[1], 0, &mut shape),
                3 => vxs_shape_create_cylinder(lengths[0], lengths[1], 1, &mut shape),
                4 => vxs_shape_create_cone(lengths[0], lengths[1], 2, &mut shape),
                _ => {
                    let centers = [place(&mut rng), place(&mut rng)];
                    vxs_shape_create_sphere_hull(centers.as_ptr(), lengths.as_ptr(), 2, &mut shape)
                }
            };
            ok(made);
            let mut field = null_mut();
            ok(vxs_shape_get_field(shape, &mut field));
            for _ in 0..20 {
                let point = place(&mut rng);
                let (mut distance, mut gradient) = (f64::NAN, vxs_vec3::default());
                ok(vxs_field_distance(field, point, &mut distance, &mut gradient));
                let unit: f64 = of(&gradient).iter().map(|x| x * x).sum();
                // In a slab a billion times wider than thick, f32 represents the direction only roughly.
                assert!(
                    distance.is_finite() && (unit - 1.0).abs() < 0.1,
                    "{distance} {gradient:?} at {point:?} of {lengths:?}"
                );
                let mut hit: vxs_segment_hit = std::mem::zeroed();
                ok(vxs_shape_query_segment(shape, point, place(&mut rng), &mut hit));
                assert!(!hit.hit || is_finite(&of(&hit.point)) && is_finite(&of(&hit.normal)));
            }
            ok(vxs_field_release(field));
            ok(vxs_shape_release(shape));
        }
    }
}

#[test]
fn primitives_of_any_numbers_are_made_or_refused() {
    unsafe {
        let mut rng = Rng(8);
        let mut made = 0;
        for n in 0..rounds(56) {
            let (mut primitive, mut options): (vxs_primitive, vxs_cook_options) =
                (std::mem::zeroed(), std::mem::zeroed());
            ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), n as u32 % 14));
            ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
            // The result of the mesh does not matter here.
            (options.forms, options.sampling) = (VXS_FORM_POINTSHELL, VXS_SAMPLING_VERTICES);
            let unit = number(&mut rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE).abs();
            for k in 0..6 {
                primitive.size[k] *= unit;
                if rng.next() % 4 == 0 {
                    primitive.size[k] = number(&mut rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE).abs();
                }
            }
            if rng.next() % 4 == 0 {
                primitive.detail[rng.next() as usize % 4] = [1, 4097, u32::MAX][rng.next() as usize % 3];
            }
            let mut shape = null_mut();
            let begin = Instant::now();
            let status = vxs_shape_create_primitive(&primitive, &options, &mut shape);
            assert!(begin.elapsed() < LONGEST, "{primitive:?}");
            if status == VXS_OK {
                let mut bounds: vxs_aabb = std::mem::zeroed();
                ok(vxs_shape_get_bounds(shape, &mut bounds));
                assert!(is_finite(&of(&bounds.min)) && is_finite(&of(&bounds.max)), "{primitive:?}");
                ok(vxs_shape_release(shape));
                made += 1;
            } else {
                let refused = [VXS_INVALID_ARGUMENT, VXS_INVALID_MESH, VXS_TOO_LARGE].contains(&status);
                assert!(refused, "{status}: {primitive:?}");
            }
        }
        assert!(made > rounds(56) / 12, "{made}");
    }
}

#[test]
fn cooking_with_any_numbers_ends() {
    unsafe {
        let mut rng = Rng(10);
        let faces = [0u32, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
        let mut made = 0;
        for _ in 0..rounds(150) {
            let size = number(&mut rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE).abs();
            let points = [[0.0, 0.0, 0.0], [size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
            let points = points.map(|[x, y, z]| vxs_vec3 { x, y, z });
            let mut options: vxs_cook_options = std::mem::zeroed();
            ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
            (options.resolution, options.memory_limit) = (8, 4 << 20);
            let mut length = || number(&mut rng, VXS_MIN_LENGTH, VXS_MAX_COORDINATE).abs();
            let numbers = [length(), length(), length(), length()];
            match rng.next() % 8 {
                0 => options.voxel_size = numbers[0],
                1 => options.spacing = numbers[0],
                2 => options.weld_tolerance = numbers[0],
                3 => options.offset = numbers[0],
                4 => options.sample_count = rng.next() as u32,
                5 => (options.resolution, options.padding_voxels) = (rng.next() as u32 % 64 + 1, rng.next() as u32),
                6 => (options.voxel_size, options.spacing) = (numbers[0], numbers[1]),
                _ => options.sampling = rng.next() as u32 % 5,
            }
            options.field_storage = rng.next() as u32 % 3;
            let mut shape = null_mut();
            let begin = Instant::now();
            let status = vxs_shape_create_from_triangles(points.as_ptr(), 4, faces.as_ptr(), 4, &options, &mut shape);
            assert!(begin.elapsed() < LONGEST, "{size:e} {options:?}");
            if status != VXS_OK {
                let refused = [VXS_INVALID_ARGUMENT, VXS_INVALID_MESH, VXS_TOO_LARGE].contains(&status);
                let message = std::ffi::CStr::from_ptr(vxs_last_error());
                assert!(refused, "{status}, {message:?}: {size:e} {options:?}");
                continue;
            }
            made += 1;
            let (mut field, mut distance, mut gradient) = (null_mut(), f64::NAN, vxs_vec3::default());
            ok(vxs_shape_get_field(shape, &mut field));
            for _ in 0..20 {
                let point = place(&mut rng);
                ok(vxs_field_distance(field, point, &mut distance, &mut gradient));
                assert!(distance.is_finite() && is_finite(&of(&gradient)), "{point:?}: {size:e} {options:?}");
            }
            ok(vxs_field_release(field));
            ok(vxs_shape_release(shape));
        }
        assert!(made > 20, "{made}");
    }
}

#[test]
fn haptics_of_any_quantities_gives_finite_answers() {
    unsafe {
        let mut rng = Rng(7);
        let bodies = bodies();
        let tool = Body::cooked(VXS_STORAGE_DENSE);
        let mut worked = 0;
        for n in 0..rounds(60) {
            let renderer = n as u32 % 5;
            let others: Vec<&Body> = bodies.iter().filter(|b| renderer != VXS_RENDERER_VPS || b.has_shell).collect();
            let other = others[rng.next() as usize % others.len()];
            let mut settings: vxs_haptics_settings = std::mem::zeroed();
            ok(vxs_haptics_settings_init(
                &mut settings,
                size_of::<vxs_haptics_settings>(),
                renderer,
                tool.shape,
                1.0,
                null(),
            ));
            if rng.next() % 3 != 0 {
                settings.mass = positive(&mut rng);
                settings.reflected_mass = positive(&mut rng);
                settings.center_of_mass = place(&mut rng);
                let i = positive(&mut rng);
                settings.inertia = [i, i, i, 0.0, 0.0, 0.0];
            }
            if rng.next() % 3 != 0 {
                settings.coupling.stiffness = [positive(&mut rng), positive(&mut rng)];
                settings.coupling.damping = [not_negative(&mut rng), not_negative(&mut rng)];
                settings.coupling.reach = [positive(&mut rng), positive(&mut rng)];
                settings.coupling.point = place(&mut rng);
                settings.coupling.saturation = rng.next() as u32 % 3;
            }
            if rng.next() % 3 != 0 {
                settings.contact.stiffness = positive(&mut rng);
                settings.contact.damping = not_negative(&mut rng);
                settings.contact.offset = number(&mut rng, 1e-18, VXS_MAX_COORDINATE);
                settings.contact.tolerance = not_negative(&mut rng);
            }
            settings.speed = [positive(&mut rng), positive(&mut rng)];
            if rng.next() % 2 == 0 {
                settings.timing.longest_step = positive(&mut rng);
                settings.timing.stale_after = positive(&mut rng);
                settings.timing.fade = positive(&mut rng);
                settings.timing.ramp = positive(&mut rng);
                settings.handle.mass = positive(&mut rng);
                settings.handle.inertia = positive(&mut rng);
                settings.handle.damping = [not_negative(&mut rng), not_negative(&mut rng)];
            }
            settings.surface.friction = not_negative(&mut rng);
            settings.surface.shading = not_negative(&mut rng);
            settings.surface.texture.wavelength = positive(&mut rng);
            settings.surface.texture.height = not_negative(&mut rng);
            let from = pose(&mut rng);
            let body = vxs_body { shape: other.shape, pose: from };
            let mut haptics = null_mut();
            ok(vxs_haptics_create(&settings, tool.shape, &body, 1, &mut haptics));
            let mut device = pose_near(&mut rng, &from, 2.0);
            let admittance = rng.next() % 3 == 0;
            if admittance {
                ok(vxs_haptics_reset(haptics, &device));
            }
            for step in 0..12 {
                let what = || format!("{} at {from:?}, device at {device:?}, {settings:?}, step {step}", other.name);
                let dt = [1e-3, 1e-3, positive(&mut rng), 1e300][rng.next() as usize % 4];
                if admittance {
                    let hand = vxs_wrench { force: quantities(&mut rng), torque: quantities(&mut rng) };
                    let mut motion: vxs_haptics_motion = std::mem::zeroed();
                    timed(&what, || vxs_haptics_step_admittance(haptics, &hand, true, dt, &mut motion));
                    let numbers =
                        [motion.pose.position, motion.twist.linear, motion.twist.angular, motion.tool.position];
                    assert!(
                        numbers.iter().all(|v| is_finite(&of(v))) && motion.age.is_finite(),
                        "{motion:?}: {}",
                        what()
                    );
                } else {
                    let state = vxs_device_state { pose: device, twist: vxs_twist::default(), engaged: 1, reserved: 0 };
                    let mut output: vxs_haptics_output = std::mem::zeroed();
                    timed(&what, || vxs_haptics_step(haptics, &state, dt, &mut output));
                    let numbers = [output.wrench.force, output.wrench.torque, output.tool.position];
                    assert!(
                        numbers.iter().all(|v| is_finite(&of(v))) && output.age.is_finite(),
                        "{output:?}: {}",
                        what()
                    );
                    worked += u32::from(output.status & VXS_HAPTICS_BAD_STATE == 0);
                }
                let mut report: vxs_haptics_report = std::mem::zeroed();
                ok(vxs_haptics_report_init(&mut report, size_of::<vxs_haptics_report>()));
                timed(&what, || vxs_haptics_simulate(haptics, &mut report));
                let wrench = [report.wrench.force, report.wrench.torque];
                assert!(wrench.iter().all(|v| is_finite(&of(v))), "{report:?}: {}", what());
                if rng.next() % 3 == 0 {
                    let moved = pose_near(&mut rng, &device, 2.0);
                    let twist = twist(&mut rng);
                    timed(&what, || vxs_haptics_set_body_pose(haptics, 0, &moved, &twist));
                }
                if rng.next() % 4 == 0 {
                    device = pose_near(&mut rng, &device, 1e-3);
                }
            }
            ok(vxs_haptics_release(haptics));
        }
        assert!(worked > 50, "{worked}");
    }
}
