//! Devices: their refresh rate, their jumps, their limits, and the workspace's scale.

use support::haptics::{at_height, block, floor, on_floor};
use voxshell::haptics::{self, Limits, Renderer, Settings, Status};
use voxshell::math::Pose;

const RENDERERS: [Renderer; 4] =
    [Renderer::GodObject, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse];

/// A loop of 100 kHz over a device that refreshes its position once per millisecond. A hand that moves at 0.2 m/s and
/// presses 3 to 7 mm in feels its force.
#[test]
fn a_loop_faster_than_its_device_loses_no_force() {
    for renderer in RENDERERS {
        let (mut servo, mut simulation) = on_floor(renderer, 3, |_| {});
        let (mut sum, mut last, mut jumps) = (0.0, 0.0, 0);
        for n in 0..50_000u32 {
            let t = f64::from(n / 100) * 1e-3;
            let height = (0.03 - 0.2 * t).max(-0.005) + 0.002 * (60.0 * (t - 0.175).max(0.0)).sin();
            let mut device = at_height(height);
            device.twist.linear.y = (height - last) / 1e-3 * f64::from(u32::from(n > 100));
            let output = servo.step(&device, 1e-5);
            jumps += u32::from(output.status.contains(Status::TELEPORT));
            if n % 100 == 99 {
                simulation.simulate();
                last = height;
            }
            if t > 0.3 {
                sum += output.wrench.force.norm() / 20_000.0;
            }
        }
        assert_eq!(jumps, 0, "{renderer:?}");
        assert!(sum > 3.0, "{renderer:?}: {sum} N on average");
    }
}

#[test]
fn the_speed_limit_scales_with_the_workspace() {
    for scale in [0.1, 1.0, 13.3, 30.0] {
        let (mut servo, mut simulation) = on_floor(Renderer::GodObject, 3, |_| {});
        servo.monitor().set_scale(scale);
        // A hand of 0.9 m/s, and then one of 20 m/s.
        let mut x = 0.0;
        let mut run = |speed: f64, steps: usize| {
            let before = servo.monitor().faults();
            for _ in 0..steps {
                let mut device = at_height(0.02);
                x += scale * speed * 1e-3;
                (device.pose.translation.x, device.twist.linear.x) = (x, scale * speed);
                servo.step(&device, 1e-3);
                simulation.simulate();
            }
            let now = servo.monitor().faults();
            (now.bad_state - before.bad_state, now.teleport - before.teleport)
        };
        assert_eq!(run(0.9, 500), (0, 0), "scale {scale}");
        let (bad_state, _) = run(20.0, 100);
        assert_eq!(bad_state, 100, "scale {scale}: the device's own velocity is above the limit");
    }
}

/// The hand is read on the far side of the surface: the tool stays on its own side, and the force grows from zero.
#[test]
fn a_god_object_keeps_its_place_when_the_device_jumps() {
    let (mut servo, mut simulation) = on_floor(Renderer::GodObject, 5, |_| {});
    for _ in 0..200 {
        servo.step(&at_height(0.002), 1e-3);
        simulation.simulate();
    }
    let jumped = servo.step(&at_height(-0.2), 1e-3);
    assert!(jumped.status.contains(Status::TELEPORT) && jumped.wrench.force.norm() == 0.0, "{jumped:?}");
    let faults = servo.monitor().faults();
    assert_eq!((faults.teleport, faults.bad_state, faults.bad_time), (1, 0, 0));
    assert!((faults.last_jump.distance[0] - 0.202).abs() < 1e-12 && faults.last_jump.time >= 5e-3, "{faults:?}");
    let most = servo.settings().limits.force;
    let (ramp, mut last) = (most * 1e-3 / servo.settings().timing.ramp, 0.0);
    for n in 0..300 {
        let output = servo.step(&at_height(-0.2), 1e-3);
        simulation.simulate();
        let force = output.wrench.force.norm();
        assert!(force - last < 1.1 * ramp && force <= most * (1.0 + 1e-12), "{n}: from {last} to {force} N");
        assert!(servo.tool_pose().translation.y > 0.0, "{n}: {:?}", servo.tool_pose());
        last = force;
    }
    assert!(last > 0.99 * most, "{last} N of {most} N");
}

/// A device of 12 N and 3 kN/m, at any scale of its workspace: pressed hard, the god-object reaches 12 N and never more,
/// and any other renderer the force of its coupling. A device without a limit gets 10 N.
#[test]
fn forces_reach_the_devices_limit_at_every_scale() {
    for renderer in RENDERERS {
        for scale in [0.1, 0.3, 1.0, 3.0, 5.0, 13.3, 30.0] {
            let device = Limits {
                force: 12.0,
                torque: 0.3 * scale,
                stiffness: [3000.0 / scale, 40.0 * scale],
                damping: [20.0 / scale, 0.1 * scale],
            };
            let settings = Settings::for_tool(renderer, &block(3), &device).unwrap();
            let stiffness = settings.coupling.stiffness[0];
            assert!((settings.coupling.greatest()[0] / 12.0 - 1.0).abs() < 1e-12, "{:?}", settings.coupling);
            let (mut servo, mut simulation) = haptics::new(settings, block(3), vec![floor()]).unwrap();
            servo.monitor().set_scale(scale);
            // Through twice the distance at which the spring saturates.
            let (from, to, steps) = (0.004, -2.0 * 12.0 / stiffness, 1000);
            let mut most = 0.0f64;
            for n in 0..steps + 500 {
                let part = f64::from(n.min(steps)) / f64::from(steps);
                let mut hand = at_height(from + (to - from) * part);
                hand.twist.linear.y = if n < steps { to - from } else { 0.0 };
                most = most.max(servo.step(&hand, 1e-3).wrench.force.norm());
                simulation.simulate();
            }
            let greatest = match renderer {
                Renderer::GodObject => 12.0,
                _ => servo.settings().coupling.greatest()[0],
            };
            assert!(most > 0.99 * greatest, "{renderer:?} {scale}: {most} N of {greatest}");
            assert!(most <= 12.0 * (1.0 + 1e-12), "{renderer:?} {scale}: {most} N of 12");
        }
    }
    let unlimited = Settings::for_tool(Renderer::GodObject, &block(3), &support::haptics::NO_LIMITS).unwrap();
    assert!((unlimited.coupling.greatest()[0] - 10.0).abs() < 1e-12, "{:?}", unlimited.coupling);
}

/// A stop of the loop is no jump: the hand has moved on, at the speed of a hand.
#[test]
fn motion_during_a_pause_is_no_jump() {
    let (mut servo, mut simulation) = on_floor(Renderer::GodObject, 3, |_| {});
    for _ in 0..50 {
        servo.step(&at_height(0.02), 1e-3);
        simulation.simulate();
    }
    let away = |x: f64| {
        let mut device = at_height(0.02);
        device.pose = Pose::translation(x, 0.02, 0.0);
        device
    };
    let paused = servo.step(&away(0.3), 0.5);
    assert_eq!(paused.status, Status::BAD_TIME);
    let after = servo.step(&away(0.301), 1e-3);
    assert!(!after.status.contains(Status::TELEPORT), "{:?}", after.status);
    let faults = servo.monitor().faults();
    assert_eq!((faults.teleport, faults.bad_time), (0, 1));
}

/// A floor far below and one at the tool: the mask names the one that the tool touches.
#[test]
fn the_touched_bodies_are_named() {
    for renderer in RENDERERS {
        let settings = Settings::for_tool(renderer, &block(3), &support::haptics::DEVICE).unwrap();
        let mut far = floor();
        far.pose = Pose::translation(0.0, -1.0, 0.0);
        let (mut servo, mut simulation) = haptics::new(settings, block(3), vec![far, floor()]).unwrap();
        for (height, expected) in [(0.01, 0), (-0.002, haptics::touched_bit(1))] {
            let mut touched = u64::MAX;
            for _ in 0..400 {
                touched = servo.step(&at_height(height), 1e-3).touched;
                simulation.simulate();
            }
            assert_eq!(touched, expected, "{renderer:?} at {height} m");
        }
    }
    assert_eq!([0, 62, 63, 1000].map(haptics::touched_bit), [1, 1 << 62, 1 << 63, 1 << 63]);
}
