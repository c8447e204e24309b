//! Loads of the tool on the bodies, and changes of bodies and settings at run time.

use nalgebra::{UnitQuaternion, Vector3};
use support::haptics::{at_height, block, floor, on_floor, DEVICE, NO_LIMITS};
use voxshell::haptics::{
    self, DeviceState, Feel, Loads, Obstacle, ObstacleMotion, Output, Renderer, Saturation, Servo, Settings,
    Simulation, Status,
};
use voxshell::math::{Pose, Twist, Wrench};

const DT: f64 = 1e-3;
const RENDERERS: [Renderer; 5] =
    [Renderer::GodObject, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse, Renderer::Vps];

fn floor_at(pose: Pose) -> Obstacle {
    Obstacle::fixed(floor().forms, pose)
}

/// A floor, a wall at x = 0.03 of normal -x, and a floor so far away that nothing touches it.
fn corner() -> Vec<Obstacle> {
    let wall = Pose::from_parts(
        Vector3::new(0.03, 0.0, 0.0).into(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.5 * std::f64::consts::PI),
    );
    vec![floor(), floor_at(wall), floor_at(Pose::translation(0.0, -1.0, 0.0))]
}

/// Returns the sum of the wrenches on the bodies, about a point.
fn sum(loads: &Loads, bodies: &[Obstacle], point: &Vector3<f64>) -> Wrench {
    let mut sum = Wrench::ZERO;
    for (i, body) in bodies.iter().enumerate() {
        sum += loads.get(i).unwrap().wrench.about(&(point - body.pose.translation.vector));
    }
    sum
}

/// A block of 3 × 3 samples that a hand moves and turns while it presses it into a corner.
fn in_the_corner(t: f64) -> DeviceState {
    let (amplitude, omega) = (0.003, 20.0);
    let sway = amplitude * (omega * t).sin();
    let turn = UnitQuaternion::from_euler_angles(0.02 * (7.0 * t).sin(), 0.1 * sway / amplitude, 0.0);
    let pose = Pose::from_parts(Vector3::new(0.010 + sway, -0.002, 0.01 * (3.0 * t).sin()).into(), turn);
    DeviceState { pose, twist: Twist::ZERO, engaged: true }
}

#[test]
fn loads_on_bodies_are_the_opposite_of_what_the_tool_feels() {
    for renderer in RENDERERS {
        let tool = block(3);
        let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
        let bodies = corner();
        // With slow rounds, replaced contacts are faded: these parts have bodies too.
        for rounds in [1, 8] {
            let (mut servo, mut simulation) = haptics::new(settings, tool.clone(), bodies.clone()).unwrap();
            let loads = servo.loads().clone();
            let (mut pressed, mut impulses) = ([0; 3], [Wrench::ZERO; 3]);
            for n in 0..1500u32 {
                let output = servo.step(&in_the_corner(f64::from(n) * DT), DT);
                if n % rounds == 0 {
                    simulation.simulate();
                }
                let origin = servo.tool_pose().translation.vector;
                let sum = sum(&loads, &bodies, &origin).column() + output.contact.column();
                let size = output.contact.column().norm();
                assert!(sum.norm() <= 1e-12 * (1.0 + size), "{renderer:?} {rounds} {n}: {sum} of {size}");
                for (i, (pressed, impulse)) in pressed.iter_mut().zip(&mut impulses).enumerate() {
                    let load = loads.get(i).unwrap();
                    *pressed += i32::from(load.wrench != Wrench::ZERO);
                    *impulse += Wrench { force: load.wrench.force * DT, torque: load.wrench.torque * DT };
                    assert!((load.impulse.column() - impulse.column()).norm() < 1e-12, "{renderer:?} {n}");
                }
            }
            assert!(pressed[0] > 30 && pressed[1] > 30 && pressed[2] == 0, "{renderer:?} {rounds}: {pressed:?}");
            // Springs push along the normals of samples, which are all on the bottom; constraints along the bodies'.
            assert!(impulses.iter().take(2).all(|i| i.force.norm() > 0.01), "{renderer:?}: {impulses:?}");
            assert!(renderer != Renderer::GodObject || impulses[1].force.x > 0.1, "{impulses:?}");
        }
    }
}

/// A god-object has no momentum: the hand feels what the bodies get.
#[test]
fn a_hand_feels_the_opposite_of_the_loads_of_a_god_object() {
    for (friction, texture) in [(0.0, 0.0), (0.6, 0.0), (0.3, 2e-4)] {
        let tool = block(3);
        let mut settings = Settings::for_tool(Renderer::GodObject, &tool, &NO_LIMITS).unwrap();
        settings.surface.friction = friction;
        (settings.surface.texture.height, settings.surface.texture.wavelength) = (texture, 5e-3);
        let (mut servo, mut simulation) = haptics::new(settings, tool.clone(), corner()).unwrap();
        let mut held = 0;
        for n in 0..1500 {
            let device = in_the_corner(f64::from(n) * DT);
            let output = servo.step(&device, DT);
            simulation.simulate();
            // After the ramp.
            if n > 250 && !output.status.contains(Status::RAMPING) && !output.status.contains(Status::DAMPED) {
                // About the tool's centre, at the hand and at the god-object.
                let felt = output.wrench.about(&(device.pose.rotation * tool.center)).column();
                let contact = output.contact.about(&(servo.tool_pose().rotation * tool.center)).column();
                assert!((felt - contact).norm() < 1e-9 * (1.0 + felt.norm()), "{friction} {n}: {felt} {contact}");
                held += i32::from(felt.norm() > 0.5);
            }
        }
        assert!(held > 300, "{held} steps");
    }
}

/// A tool that flies free of the hand: its momentum changes by the opposite of the impulse on the bodies.
#[test]
fn the_momentum_of_the_tool_goes_to_the_bodies() {
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse, Renderer::Vps] {
        let tool = block(3);
        let mut settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
        (settings.coupling.stiffness, settings.coupling.damping) = ([1e-20; 2], [0.0; 2]);
        settings.coupling.saturation = Saturation::Linear;
        settings.reflected_mass = tool.mass;
        let mass = tool.mass;
        let (mut servo, mut simulation) = haptics::new(settings, tool.clone(), corner()).unwrap();
        let loads = servo.loads().clone();
        let mut device = at_height(0.02);
        device.twist.linear = Vector3::new(0.05, -0.3, 0.02);
        let (mut last, mut before, mut given) = (Vector3::zeros(), None::<Vector3<f64>>, 0.0f64);
        let mut first = None;
        for n in 0..180 {
            let output = servo.step(&device, DT);
            // It is thrown once: afterwards the hand is where it was.
            device.twist = Twist::ZERO;
            simulation.simulate();
            let center = servo.tool_pose().transform_point(&tool.center.into()).coords;
            let velocity = (center - last) / DT;
            if n > 0 {
                let momentum = velocity * mass;
                if let Some(before) = before {
                    let gained = momentum - before;
                    let expected = output.contact.force * DT;
                    assert!((gained - expected).norm() < 1e-11, "{renderer:?} {n}: {gained} N·s, {expected}");
                }
                first.get_or_insert(momentum);
                before = Some(momentum);
            }
            last = center;
            given = given.max(output.contact.force.y);
        }
        let given: Vector3<f64> = (0..3).map(|i| loads.get(i).unwrap().impulse.force).sum();
        let lost = first.unwrap() - before.unwrap();
        assert!((given - lost).norm() < 1e-11, "{renderer:?}: {given} N·s, the tool lost {lost}");
        assert!(lost.y < -0.3 * mass * (1.0 - 1e-3), "{renderer:?}: it was stopped at least: {lost}");
    }
}

/// Presses the tool down and holds it; returns the last output.
fn press(scene: &mut (Servo, Simulation), depth: f64, steps: usize) -> Output {
    let mut output = Output::default();
    for _ in 0..steps {
        output = scene.0.step(&at_height(-depth), DT);
        scene.1.simulate();
    }
    output
}

#[test]
fn a_body_has_its_own_stiffness() {
    for (renderer, expected) in [
        // Springs in series: the coupling of 1000 N/m, and nine contacts of 10 kN/m, or of a hundredth of that.
        (Renderer::Penalty, 1.0 / (1.0 / 1000.0 + 1.0 / 900.0)),
        (Renderer::GodObject, 10.0),
    ] {
        let mut scene = on_floor(renderer, 3, |s| {
            s.contact.tolerance = 0.1;
            s.coupling.saturation = Saturation::Linear;
            s.limits = NO_LIMITS;
        });
        let depth = 0.003;
        let hard = press(&mut scene, depth, 1000).wrench.force.y;
        scene.1.set_feel(0, Feel { stiffness: 0.01, friction: None }).unwrap();
        let soft = press(&mut scene, depth, 3000).wrench.force.y;
        assert!(
            (soft / (expected * depth) - 1.0).abs() < 0.02,
            "{renderer:?}: {soft} N, {} expected",
            expected * depth
        );
        assert!(hard > 2.8, "{renderer:?}: {hard} N");
    }
}

#[test]
fn a_body_has_its_own_friction() {
    let tool = block(3);
    let settings = Settings::for_tool(Renderer::GodObject, &tool, &NO_LIMITS).unwrap();
    // Two floors side by side: the god-object slides along one after the other.
    for friction in [0.2, 0.5] {
        let mut scene = haptics::new(settings, tool.clone(), vec![floor()]).unwrap();
        scene.1.set_feel(0, Feel { stiffness: 1.0, friction: Some(friction) }).unwrap();
        press(&mut scene, 0.003, 500);
        let mut output = Output::default();
        for n in 0..1000 {
            let mut device = at_height(-0.003);
            device.pose.translation.x = f64::from(n) * 1e-5;
            output = scene.0.step(&device, DT);
            scene.1.simulate();
        }
        let ratio = -output.wrench.force.x / output.wrench.force.y;
        assert!((ratio / friction - 1.0).abs() < 0.01, "{ratio}, expected {friction}");
        let on_floor = scene.0.loads().get(0).unwrap().wrench.force;
        assert!((on_floor.x / -on_floor.y / friction - 1.0).abs() < 0.01, "{on_floor}");
    }
}

type Change = fn(&mut Simulation);

#[test]
fn no_change_at_run_time_moves_the_force_faster_than_a_ramp() {
    let empty: Change = |s| s.set_obstacle(0, Obstacle::empty()).unwrap();
    let changes: [(&str, Change); 6] = [
        ("a body is removed", empty),
        ("a body comes in that the tool is 2 mm inside of", |s| {
            s.set_obstacle(1, floor_at(Pose::translation(0.0, 0.002, 0.0))).unwrap()
        }),
        ("one is replaced by a lower one", |s| {
            s.set_obstacle(0, floor_at(Pose::translation(0.0, -0.001, 0.0))).unwrap()
        }),
        ("it gets soft", |s| s.set_feel(0, Feel { stiffness: 0.05, friction: Some(0.4) }).unwrap()),
        ("the coupling gets soft", |s| {
            let mut settings = *s.settings();
            settings.coupling.stiffness = settings.coupling.stiffness.map(|k| 0.3 * k);
            s.set_settings(&settings).unwrap();
        }),
        ("the contacts get stiff", |s| {
            let mut settings = *s.settings();
            settings.contact.stiffness *= 3.0;
            s.set_settings(&settings).unwrap();
        }),
    ];
    for renderer in RENDERERS {
        for (name, change) in changes {
            let tool = block(5);
            let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
            let bodies = vec![floor(), Obstacle::empty()];
            let mut scene = haptics::new(settings, tool, bodies).unwrap();
            // The hand goes down slowly, and rests.
            for n in 0..600 {
                scene.0.step(&at_height(0.006 - 0.009 * (f64::from(n) / 400.0).min(1.0)), DT);
                scene.1.simulate();
            }
            let before = press(&mut scene, 0.003, 300).wrench;
            assert!(before.force.y > 1.0, "{renderer:?}: {before:?}");
            change(&mut scene.1);
            let (mut last, mut largest) = (before, 0.0f64);
            for n in 0..600 {
                let output = press(&mut scene, 0.003, 1);
                let step = (output.wrench.force - last.force).norm();
                largest = largest.max(step);
                // Twice as fast with each ramp time after the first one.
                let share = 0.01 * (0.01 * f64::from(n) - 1.0).max(0.0).exp2();
                let most = share * DEVICE.force + 0.03;
                assert!(step <= most, "{renderer:?}, {name}: {step} N in step {n}");
                assert!(output.wrench.force.norm() <= DEVICE.force * (1.0 + 1e-12), "{renderer:?}, {name}");
                last = output.wrench;
            }
            let after = press(&mut scene, 0.003, 600).wrench.force.y;
            println!("{renderer:?}, {name}: {:.2} to {after:.2} N, {largest:.3} N in a step", before.force.y);
            if name == "a body is removed" {
                assert_eq!(after, 0.0, "{renderer:?}");
            } else {
                assert!(after > 0.1, "{renderer:?}, {name}: {after} N");
            }
        }
    }
}

#[test]
fn invalid_changes_are_refused() {
    let mut scene = on_floor(Renderer::Penalty, 3, |_| {});
    let motion = ObstacleMotion {
        pose: Pose::identity(),
        twist: Twist::ZERO,
        inverse_mass: 1.0,
        inverse_inertia: nalgebra::Matrix3::identity(),
        period: 0.01,
    };
    assert!(scene.1.set_obstacle_motion(0, &motion).is_ok());
    assert!(scene.1.set_obstacle_motion(1, &motion).is_err());
    assert!(scene.1.set_obstacle_motion(0, &ObstacleMotion { inverse_mass: -1.0, ..motion }).is_err());
    assert!(scene.1.set_obstacle_motion(0, &ObstacleMotion { period: 0.0, ..motion }).is_err());
    let twisted = nalgebra::Matrix3::new(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    assert!(scene.1.set_obstacle_motion(0, &ObstacleMotion { inverse_inertia: twisted, ..motion }).is_err());
    assert!(scene.1.set_obstacle(1, floor()).is_err());
    assert!(scene.1.set_feel(0, Feel { stiffness: 0.0, friction: None }).is_err());
    assert!(scene.1.set_feel(0, Feel { stiffness: 1.0, friction: Some(-0.1) }).is_err());
    assert!(scene.0.loads().get(1).is_none());
}

#[test]
fn rates_are_those_of_the_two_loops() {
    let (mut servo, mut simulation) = on_floor(Renderer::Penalty, 3, |_| {});
    for n in 0..1000 {
        servo.step(&at_height(0.01 + 1e-6 * f64::from(n)), 5e-4);
        if n % 4 == 0 {
            simulation.simulate();
        }
    }
    let rates = servo.monitor().rates();
    assert!((rates.servo / 2000.0 - 1.0).abs() < 1e-6, "{rates:?}");
    assert!((rates.simulation / 500.0 - 1.0).abs() < 1e-2, "{rates:?}");
    assert_eq!((rates.steps, rates.rounds), (1000, 250));
    assert!((rates.clock - 0.5).abs() < 1e-12);
}
