//! The servo: the force on the hand, its limits, and the response to faults.

use nalgebra::{UnitQuaternion, Vector3};
use support::haptics::{at_height, block, floor, on_floor, DEVICE, NO_LIMITS};
use voxshell::haptics::{
    self, Coupling, DeviceState, Motion, Output, Renderer, Saturation, Servo, Settings, Simulation, Status,
};
use voxshell::math::{Pose, Twist, Wrench};

const DT: f64 = 1e-3;
const RENDERERS: [Renderer; 5] =
    [Renderer::GodObject, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse, Renderer::Vps];

/// Makes servo steps, each with a simulation round after it; returns the last output.
fn run(servo: &mut Servo, simulation: &mut Simulation, device: &DeviceState, steps: usize) -> Output {
    let mut output = Output::default();
    for _ in 0..steps {
        output = servo.step(device, DT);
        simulation.simulate();
        within_limits(&output, servo.settings());
    }
    output
}

/// Presses the tool down slowly from above and holds it.
fn press_down(servo: &mut Servo, simulation: &mut Simulation, depth: f64) -> Output {
    for n in 0..200 {
        let part = f64::from(n) / 200.0;
        let mut device = at_height(0.004 - (0.004 + depth) * part);
        device.twist.linear.y = -(0.004 + depth) / 0.2;
        run(servo, simulation, &device, 1);
    }
    run(servo, simulation, &at_height(-depth), 500)
}

/// Largest allowed change of the force in a step, N. A ramp to 8 N in 0.1 s takes 0.08, a fade in 40 ms 0.2.
const JUMP: f64 = 0.6;
/// Largest difference of outputs at rest, N.
const REST: f64 = 0.05;

fn within_limits(output: &Output, settings: &Settings) {
    let (force, torque) = (output.wrench.force.norm(), output.wrench.torque.norm());
    assert!(force <= settings.limits.force * (1.0 + 1e-12), "{force} N");
    assert!(torque <= settings.limits.torque * (1.0 + 1e-12), "{torque} N·m");
}

#[test]
fn stiffnesses_in_series_add_their_inverses() {
    for side in [1, 3, 10] {
        let (mut servo, mut simulation) = on_floor(Renderer::Penalty, side, |s| {
            s.contact.tolerance = 0.01;
            s.coupling.saturation = Saturation::Linear;
            s.limits = NO_LIMITS;
        });
        let settings = *servo.settings();
        let contacts = (side * side).min(settings.contact.average_from as usize) as f64;
        for depth in [0.001, 0.004] {
            let output = run(&mut servo, &mut simulation, &at_height(-depth), 3000);
            let series = 1.0 / (1.0 / settings.coupling.stiffness[0] + 1.0 / (contacts * settings.contact.stiffness));
            let measured = output.wrench.force.y / depth;
            assert!((measured / series - 1.0).abs() < 0.01, "{side} {depth}: {measured} N/m, expected {series}");
            assert_eq!((output.status, output.contacts), (Status::NORMAL, (side * side) as u32));
        }
    }
}

#[test]
fn clusters_make_the_stiffness_independent_of_the_sampling() {
    for side in [3, 10] {
        let (mut servo, mut simulation) = on_floor(Renderer::Penalty, side, |s| {
            (s.contact.tolerance, s.contact.max_clusters) = (0.01, 1);
            s.coupling.saturation = Saturation::Linear;
            s.limits = NO_LIMITS;
        });
        let settings = *servo.settings();
        let output = run(&mut servo, &mut simulation, &at_height(-0.002), 3000);
        let series = 1.0 / (1.0 / settings.coupling.stiffness[0] + 1.0 / settings.contact.stiffness);
        let measured = output.wrench.force.y / 0.002;
        assert!((measured / series - 1.0).abs() < 0.01, "{side}: {measured} N/m, expected {series}");
        assert_eq!((output.status, output.contacts), (Status::NORMAL, (side * side) as u32));
    }
}

#[test]
fn the_torque_is_about_the_origin_of_the_tool() {
    let (mut servo, mut simulation) = on_floor(Renderer::Penalty, 3, |s| {
        s.coupling.saturation = Saturation::Linear;
        s.limits = NO_LIMITS;
    });
    // Half of the tool over a table's edge would cause a torque. Here the floor is at an offset from the hand's own
    // frame instead: the world is rotated and shifted, so that the block is held far from its origin.
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
    let world = Pose::from_parts(Vector3::new(0.4, -0.3, 0.8).into(), turn);
    simulation.set_obstacle_pose(0, &world, &Twist::ZERO).unwrap();
    let mut device = at_height(-0.003);
    device.pose = world * device.pose;
    let output = run(&mut servo, &mut simulation, &device, 3000);
    let (mut plain, mut plain_simulation) = on_floor(Renderer::Penalty, 3, |s| {
        s.coupling.saturation = Saturation::Linear;
        s.limits = NO_LIMITS;
    });
    let expected = run(&mut plain, &mut plain_simulation, &at_height(-0.003), 3000);
    assert!((output.wrench.force - turn * expected.wrench.force).norm() < 1e-3, "{output:?} {expected:?}");
    assert!((output.wrench.torque - turn * expected.wrench.torque).norm() < 1e-5, "{output:?} {expected:?}");
    assert!(expected.wrench.force.y > 2.0 && expected.wrench.torque.norm() < 1e-6, "{expected:?}");
}

#[test]
fn without_contact_nothing_is_felt() {
    for renderer in RENDERERS {
        let (amplitude, omega) = (0.05, 8.0);
        let (mut servo, mut simulation) = on_floor(renderer, 3, |_| {});
        for n in 0..3000 {
            let t = n as f64 * DT;
            let mut device = at_height(0.5 + amplitude * (omega * t).sin());
            device.twist.linear.y = amplitude * omega * (omega * t).cos();
            let output = servo.step(&device, DT);
            simulation.simulate();
            assert_eq!(output.wrench, Wrench::ZERO, "{renderer:?} {n}");
            // The tool lags by its own inertia, and by one step with constraints.
            let lag = (servo.tool_pose().translation.y - device.pose.translation.y).abs();
            assert!(lag < 1e-3, "{renderer:?} {n}: {lag} m");
        }
    }
}

#[test]
fn forces_grow_from_zero_when_it_starts_inside() {
    for renderer in RENDERERS {
        let (mut servo, mut simulation) = on_floor(renderer, 5, |_| {});
        let mut last = 0.0;
        let device = at_height(-0.02);
        // Springs first move the tool outwards; the wrench grows during that time.
        let ramp = if renderer == Renderer::GodObject { 100i32 } else { 200 };
        for n in 0..300 {
            let output = servo.step(&device, DT);
            simulation.simulate();
            within_limits(&output, servo.settings());
            let force = output.wrench.force.norm();
            assert!((force - last).abs() < JUMP, "{renderer:?}: from {last} to {force} N in step {n}");
            assert!(
                n == 0 || (-3..30).contains(&(n - ramp)) || output.status.contains(Status::RAMPING) == (n < ramp),
                "{renderer:?} {n} {:?}",
                output.status
            );
            last = force;
        }
        assert!(last > 5.0, "{renderer:?}: {last} N in the end");
    }
}

/// Returns faulty device states, each with the status that must be reported.
fn faults() -> Vec<(&'static str, DeviceState, f64, Status)> {
    let good = at_height(-0.005);
    let with = |change: &dyn Fn(&mut DeviceState)| {
        let mut device = good;
        change(&mut device);
        device
    };
    vec![
        ("NaN position", with(&|d| d.pose.translation.x = f64::NAN), DT, Status::BAD_STATE),
        ("infinite position", with(&|d| d.pose.translation.y = f64::INFINITY), DT, Status::BAD_STATE),
        (
            "NaN rotation",
            with(&|d| {
                d.pose.rotation = UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(f64::NAN, 0.0, 0.0, 0.0))
            }),
            DT,
            Status::BAD_STATE,
        ),
        (
            "zero quaternion",
            with(&|d| d.pose.rotation = UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0))),
            DT,
            Status::BAD_STATE,
        ),
        ("NaN velocity", with(&|d| d.twist.linear.z = f64::NAN), DT, Status::BAD_STATE),
        ("NaN rate", with(&|d| d.twist.angular.z = f64::NAN), DT, Status::BAD_STATE),
        ("absurd velocity", with(&|d| d.twist.linear.z = 1e4), DT, Status::BAD_STATE),
        ("no time", good, 0.0, Status::BAD_TIME),
        ("time back", good, -DT, Status::BAD_TIME),
        ("clock jump", good, 3600.0, Status::BAD_TIME),
        ("NaN time", good, f64::NAN, Status::BAD_TIME),
        ("infinite time", good, f64::INFINITY, Status::BAD_TIME),
        ("teleport", with(&|d| d.pose.translation.x += 0.3), DT, Status::TELEPORT),
        (
            "teleport in rotation",
            with(&|d| d.pose.rotation = UnitQuaternion::from_euler_angles(2.0, 0.0, 0.0)),
            DT,
            Status::TELEPORT,
        ),
        ("hand off", with(&|d| d.engaged = false), DT, Status::DISENGAGED),
    ]
}

#[test]
fn faults_give_zero_force_a_status_and_a_ramp_never_a_spike() {
    for renderer in RENDERERS {
        for (name, fault, dt, status) in faults() {
            let (mut servo, mut simulation) = on_floor(renderer, 5, |_| {});
            let good = at_height(-0.005);
            let before = press_down(&mut servo, &mut simulation, 0.005);
            assert!(before.wrench.force.y > 3.0, "{renderer:?}: {before:?}");
            for _ in 0..3 {
                let output = servo.step(&fault, dt);
                simulation.simulate();
                if status != Status::TELEPORT {
                    assert!(output.status.contains(status), "{name}: {output:?}");
                    assert_eq!(output.wrench, Wrench::ZERO, "{name}");
                } else {
                    // Only the first time; then the device is at its new position.
                    assert!(output.wrench.force.norm() < 0.2, "{name}: {output:?}");
                }
            }
            let mut last = 0.0;
            // A god-object keeps its place when the device jumps, so that the force may meanwhile be any up to the
            // limit.
            let is_displaced = status == Status::TELEPORT && renderer == Renderer::GodObject;
            let whole = if is_displaced { servo.settings().limits.force } else { before.wrench.force.norm() };
            let ramp = whole * DT / servo.settings().timing.ramp;
            for n in 0..400 {
                let output = servo.step(&good, DT);
                simulation.simulate();
                within_limits(&output, servo.settings());
                let force = output.wrench.force.norm();
                assert!(
                    force - last < 1.1 * ramp && last - force < JUMP,
                    "{renderer:?} {name}: from {last} to {force} N, {n} steps after; the ramp is {ramp} N"
                );
                last = force;
            }
            assert!((last - before.wrench.force.norm()).abs() < REST, "{renderer:?} {name}: {last} N in the end");
        }
    }
}

/// Samples in contact with one or two bodies, for any restitution: at rest no contacts come and go.
#[test]
fn impulses_hold_what_rests() {
    for restitution in [0.0, 0.5, 1.0] {
        for floors in [1, 2] {
            let mut settings = Settings::for_tool(Renderer::Impulse, &block(5), &DEVICE).unwrap();
            settings.contact.restitution = restitution;
            let (mut servo, mut simulation) = haptics::new(settings, block(5), vec![floor(); floors]).unwrap();
            let before = press_down(&mut servo, &mut simulation, 0.005);
            // Flat, and on an edge.
            for tilt in [0.0, 0.1] {
                let mut device = at_height(-0.005);
                device.pose.rotation = UnitQuaternion::from_euler_angles(tilt, 0.0, 0.0);
                let rests = run(&mut servo, &mut simulation, &device, 1000);
                let (mut last, mut pose) = (rests, servo.tool_pose());
                for n in 0..200 {
                    let output = run(&mut servo, &mut simulation, &device, 1);
                    let change = (output.wrench.column() - last.wrench.column()).norm();
                    assert!(change < 1e-4, "{restitution} {floors} {tilt}: {change} in step {n}");
                    let moved = (servo.tool_pose().translation.vector - pose.translation.vector).norm();
                    assert!(moved < 1e-7, "{restitution} {floors} {tilt}: {moved} m in step {n}");
                    (last, pose) = (output, servo.tool_pose());
                }
                assert!(tilt > 0.0 || (last.wrench.force.y / before.wrench.force.y - 1.0).abs() < 1e-3, "{last:?}");
                let bottom = [-0.02, 0.02].map(|z| (servo.tool_pose() * nalgebra::Point3::new(0.0, 0.0, z)).y);
                assert!(bottom.iter().all(|y| (-1e-6..0.005).contains(y)), "{bottom:?}");
                assert!(bottom[0].min(bottom[1]) < 1e-6, "{bottom:?}");
            }
        }
    }
}

/// Pressed into a groove of two slopes above a floor while it slides along it: the force changes as smoothly as the
/// hand moves.
#[test]
fn impulses_change_as_evenly_as_the_hand_moves() {
    for rate in [1000.0, 300.0, 100.0, 60.0] {
        let settings = Settings::for_tool(Renderer::Impulse, &block(5), &DEVICE).unwrap();
        let mut groove = vec![floor(), floor(), floor()];
        for (side, turn) in groove.iter_mut().zip([0.5, -0.5, 0.0]) {
            side.pose = Pose::from_parts(
                Vector3::new(-0.03 * f64::sin(turn), 0.0, 0.0).into(),
                UnitQuaternion::from_euler_angles(0.0, 0.0, turn),
            );
        }
        let (mut servo, mut simulation) = haptics::new(settings, block(5), groove).unwrap();
        let (mut last, mut next, mut most, mut held) = (Vector3::zeros(), 0.0, 0.0f64, 0.0f64);
        for n in 0..3000 {
            let t = f64::from(n) * DT;
            let lift = (1.0 - 2.0 * t).max(0.0);
            let mut device = at_height(0.0158 + 0.03 * lift * lift + 0.001 * (3.0 * t).sin());
            device.pose.translation.z = 0.01 * (2.0 * t).sin();
            device.twist.linear = Vector3::new(0.0, 0.003 * (3.0 * t).cos() - 0.12 * lift, 0.02 * (2.0 * t).cos());
            let output = servo.step(&device, DT);
            within_limits(&output, servo.settings());
            if t >= next {
                simulation.simulate();
                next = t + 1.0 / rate - 0.5 * DT;
            }
            if t > 1.0 {
                most = most.max((output.wrench.force - last).norm());
                held = held.max(output.wrench.force.norm());
            }
            last = output.wrench.force;
        }
        println!("{rate} Hz: {most} N in a step, {held} N held");
        assert!(held > 2.0 && most < 0.1, "{rate} Hz: {most} N in a step, {held} N held");
    }
}

#[test]
fn a_teleport_is_one_at_once() {
    let (mut servo, mut simulation) = on_floor(Renderer::Penalty, 5, |_| {});
    run(&mut servo, &mut simulation, &at_height(-0.005), 500);
    let output = servo.step(&at_height(0.5), DT);
    assert_eq!((output.status, output.wrench), (Status::TELEPORT, Wrench::ZERO));
    let output = run(&mut servo, &mut simulation, &at_height(0.5), 300);
    assert_eq!((output.status, output.contacts), (Status::NORMAL, 0));
    assert!(output.wrench.force.norm() < 1e-9);
}

#[test]
fn a_quaternions_sign_makes_no_difference() {
    for renderer in RENDERERS {
        let [mut one, mut other] = [(), ()].map(|()| on_floor(renderer, 5, |_| {}));
        press_down(&mut one.0, &mut one.1, 0.005);
        press_down(&mut other.0, &mut other.1, 0.005);
        let mut pressed = 0.0f64;
        for n in 0..800 {
            let mut good = at_height(-0.005);
            let t = f64::from(n) * DT;
            good.pose.rotation = UnitQuaternion::from_euler_angles(0.05 * t, 0.5 * t, -0.02 * t);
            let mut flipped = good;
            if n % 3 != 0 {
                flipped.pose.rotation = UnitQuaternion::new_unchecked(-good.pose.rotation.into_inner());
            }
            let [expected, output] = [(&mut one, good), (&mut other, flipped)].map(|((servo, simulation), device)| {
                let output = servo.step(&device, DT);
                simulation.simulate();
                output
            });
            assert_eq!(output.status, expected.status, "{renderer:?} {n}");
            let apart = (output.wrench.column() - expected.wrench.column()).norm();
            assert!(apart < 1e-6, "{renderer:?}: {apart} in step {n}");
            pressed = pressed.max(output.wrench.force.norm());
        }
        assert!(pressed > 1.0, "{renderer:?}");
    }
}

#[test]
fn after_a_reset_the_wrench_grows_from_zero() {
    for renderer in RENDERERS {
        let (mut servo, mut simulation) = on_floor(renderer, 5, |_| {});
        let before = press_down(&mut servo, &mut simulation, 0.005);
        servo.reset();
        let mut last = 0.0;
        for _ in 0..400 {
            let output = servo.step(&at_height(-0.005), DT);
            simulation.simulate();
            let force = output.wrench.force.norm();
            assert!((force - last).abs() < JUMP, "{renderer:?}: from {last} to {force} {output:?}");
            last = force;
        }
        assert!((last - before.wrench.force.norm()).abs() < REST);
    }
}

/// The device presses, slides and turns while the simulation runs at `rate` and stalls for 100 ms.
#[test]
fn slow_and_stalling_simulations_stay_bounded_and_do_not_jump() {
    for renderer in RENDERERS {
        for rate in [60.0, 100.0, 300.0] {
            let (mut servo, mut simulation) = on_floor(renderer, 5, |_| {});
            let (mut last, mut next, mut was_stale, mut most_jump) = (Vector3::zeros(), 0.0, false, 0.0f64);
            for n in 0..3000 {
                let t = n as f64 * DT;
                // From 1 mm above at the start.
                let depth = 0.0015 - 0.0025 * (3.0 * t).cos();
                let mut device = at_height(-depth);
                device.pose.translation.x = 0.02 * (2.0 * t).sin();
                device.twist.linear = Vector3::new(0.04 * (2.0 * t).cos(), -0.0075 * (3.0 * t).sin(), 0.0);
                let output = servo.step(&device, DT);
                within_limits(&output, servo.settings());
                let stalls = (1.5..1.6).contains(&t);
                if t >= next && !stalls {
                    simulation.simulate();
                    next = t + 1.0 / rate;
                }
                if stalls && t > 1.595 {
                    assert!(output.status.contains(Status::STALE) && output.wrench.force.norm() < 1e-9, "{output:?}");
                    was_stale = true;
                }
                if !stalls {
                    assert!(
                        n < 2 || (1.6..1.64).contains(&t) || !output.status.contains(Status::STALE),
                        "{rate} {t} {output:?}"
                    );
                }
                most_jump = most_jump.max((output.wrench.force - last).norm());
                last = output.wrench.force;
            }
            assert!(was_stale);
            // 8 N fade in 40 ms: 0.2 N per step.
            println!("{renderer:?} {rate} Hz: {most_jump} N in a step");
            assert!(most_jump < 1.4 * JUMP, "{renderer:?} {rate} Hz: {most_jump} N in a step");
        }
    }
}

#[test]
fn an_obstacle_that_moves_pushes_between_rounds() {
    let (mut servo, mut simulation) = on_floor(Renderer::Penalty, 5, |s| s.coupling.saturation = Saturation::Linear);
    // The floor rises at 1 cm/s under a still hand; rounds come every 20 ms.
    let twist = Twist { linear: Vector3::new(0.0, 0.01, 0.0), angular: Vector3::zeros() };
    let (mut last, mut most) = (0.0, 0.0f64);
    for n in 0..600 {
        let output = servo.step(&at_height(0.0), DT);
        let y = 0.01 * n as f64 * DT;
        if n % 20 == 0 {
            simulation.set_obstacle_pose(0, &Pose::translation(0.0, y, 0.0), &twist).unwrap();
            simulation.simulate();
        }
        if n > 200 {
            most = most.max(f64::abs(output.wrench.force.y - last));
        }
        last = output.wrench.force.y;
    }
    let stiffness = servo.settings().coupling.stiffness[0];
    assert!((last / (stiffness * 0.006) - 1.0).abs() < 0.05, "{last} N");
    // Without extrapolation between rounds it would rise by the amount of 20 steps at once.
    assert!(most < 4.0 * stiffness * 0.01 * DT, "{most} N in a step");
}

fn press(servo: &mut Servo, simulation: &mut Simulation, wrench: &Wrench, steps: usize) -> Motion {
    let mut motion = servo.step_admittance(wrench, true, DT);
    for _ in 1..steps {
        simulation.simulate();
        motion = servo.step_admittance(wrench, true, DT);
        assert!(motion.pose.translation.vector.norm().is_finite());
    }
    motion
}

#[test]
fn admittance_rests_where_the_springs_balance_the_hand() {
    for renderer in RENDERERS {
        let (mut servo, mut simulation) = on_floor(renderer, 3, |_| {});
        servo.reset_to(&Pose::translation(0.0, 0.01, 0.0));
        let down = Wrench { force: Vector3::new(0.0, -2.0, 0.0), torque: Vector3::zeros() };
        let motion = press(&mut servo, &mut simulation, &down, 6000);
        let s = *servo.settings();
        let depth = -motion.pose.translation.y;
        assert!(motion.twist.linear.norm() < 2e-3, "{renderer:?}: {motion:?}");
        // The cubic is slightly softer than its slope at zero; the contact is stiff.
        let linear = 2.0 / s.coupling.stiffness[0] + 2.0 / (9.0 * s.contact.stiffness);
        // Voxels push from the middle of their layer, 3 mm above the floor.
        let layer = if renderer == Renderer::Vps { 0.003 } else { 0.0 };
        let depth = depth + layer;
        assert!(depth > 0.9 * linear && depth < 1.2 * linear, "{renderer:?}: {depth} m, {linear} m");
        assert_eq!(motion.status, Status::NORMAL);
        let up = Wrench { force: Vector3::new(0.0, 2.0, 0.0), torque: Vector3::zeros() };
        let motion = press(&mut servo, &mut simulation, &up, 300);
        assert!(motion.pose.translation.y > 0.005, "{renderer:?}: leaves freely: {motion:?}");
        // When the hand lets go, it stays.
        let held = servo.step_admittance(&up, false, DT);
        let later = servo.step_admittance(&up, false, DT);
        assert!(held.status.contains(Status::DISENGAGED) && held.twist == Twist::ZERO);
        assert_eq!(held.pose, later.pose);
    }
}

#[test]
fn issue_19_admittance_keeps_the_momentum_of_handle_and_tool() {
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse] {
        let (mut servo, mut simulation) = on_floor(renderer, 3, |s| s.handle.damping = [0.0; 2]);
        servo.reset_to(&Pose::translation(0.0, 1.0, 0.0));
        // The push is about the origin, and turns both bodies too.
        let push = Wrench { force: Vector3::new(0.1, 0.05, 0.0), torque: Vector3::new(0.0, 1e-4, 0.0) };
        let mut momentum = |steps: usize| {
            press(&mut servo, &mut simulation, &push, steps);
            let place = |pose: &Pose| pose.transform_point(&block(3).center.into()).coords;
            let tool = place(&servo.tool_pose());
            let motion = press(&mut servo, &mut simulation, &push, 1);
            let of_tool = (place(&servo.tool_pose()) - tool) / DT * servo.settings().reflected_mass;
            motion.twist.at(&(motion.pose.rotation * block(3).center)) * servo.settings().handle.mass + of_tool
        };
        let (first, last) = (momentum(300), momentum(500));
        let given = push.force * (501.0 * DT);
        assert!((last - first - given).norm() < 1e-9 * given.norm(), "{renderer:?}: {}", last - first - given);
    }
}

#[test]
fn admittance_faults_stop_the_handle() {
    let (mut servo, mut simulation) = on_floor(Renderer::Penalty, 3, |_| {});
    servo.reset_to(&Pose::translation(0.0, 1.0, 0.0));
    let push = Wrench { force: Vector3::new(1.0, 0.0, 0.0), torque: Vector3::zeros() };
    let before = press(&mut servo, &mut simulation, &push, 200);
    for (wrench, dt, status) in [
        (Wrench { force: Vector3::new(f64::NAN, 0.0, 0.0), ..push }, DT, Status::BAD_STATE),
        (Wrench { torque: Vector3::new(0.0, f64::INFINITY, 0.0), ..push }, DT, Status::BAD_STATE),
        (push, 0.0, Status::BAD_TIME),
        (push, 10.0, Status::BAD_TIME),
        (push, f64::NAN, Status::BAD_TIME),
    ] {
        let motion = servo.step_admittance(&wrench, true, dt);
        assert!(motion.status.contains(status) && motion.twist == Twist::ZERO, "{motion:?}");
        assert_eq!(motion.pose, before.pose);
    }
    // For any push it moves no faster than a hand.
    let hard = Wrench { force: Vector3::new(1e9, 0.0, 0.0), torque: Vector3::new(0.0, 1e9, 0.0) };
    let motion = press(&mut servo, &mut simulation, &hard, 100);
    assert!(motion.status.contains(Status::LIMITED));
    assert!(motion.twist.angular.norm() <= servo.settings().speed[1] * (1.0 + 1e-9));
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let tool = block(3);
    let good = Settings::for_tool(Renderer::Penalty, &tool, &DEVICE).unwrap();
    good.check().unwrap();
    type Change = fn(&mut Settings);
    let cases: [(&str, Change); 13] = [
        ("coupling.stiffness[0]", |s| s.coupling.stiffness[0] = 0.0),
        ("coupling.stiffness[0]", |s| s.coupling.stiffness[0] = 1e4),
        ("coupling.stiffness[1]", |s| s.coupling.stiffness[1] = f64::NAN),
        ("coupling.damping[1]", |s| s.coupling.damping[1] = -1.0),
        ("coupling.reach[0]", |s| s.coupling.reach[0] = 0.0),
        ("limits.force", |s| s.limits.force = 0.0),
        ("limits.damping[1]", |s| s.limits.damping[1] = f64::NAN),
        ("contact.stiffness", |s| s.contact.stiffness = f64::INFINITY),
        ("contact.average_from", |s| s.contact.average_from = 0),
        ("contact.max_clusters", |s| s.contact.max_clusters = 1025),
        ("timing.ramp", |s| s.timing.ramp = 0.0),
        ("speed[1]", |s| s.speed[1] = -1.0),
        ("handle.mass", |s| s.handle.mass = 0.0),
    ];
    for (name, change) in cases {
        let mut bad = good;
        change(&mut bad);
        let error = haptics::new(bad, tool.clone(), vec![floor()]).err().expect(name).to_string();
        assert!(error.starts_with(name), "{name}: {error}");
    }
    let mut weightless = tool.clone();
    weightless.mass = 0.0;
    assert!(haptics::new(good, weightless, vec![floor()]).is_err());
    let blind = haptics::new(good, tool.clone(), vec![haptics::Obstacle::fixed(tool.forms.clone(), Pose::identity())]);
    assert!(blind.err().expect("two shells cannot meet").to_string().contains("obstacle 0"));
    let damping = Coupling::critical_damping(1000.0, 0.1);
    assert!((damping - 20.0).abs() < 1e-12);
}
