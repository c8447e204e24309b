//! The metric of the god-object: a rod that is pushed onto an edge of a box at one of its ends, in closed form.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use support::haptics::NO_LIMITS;
use voxshell::field::{Cuboid, Field};
use voxshell::haptics::god_object::Metric;
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Output, Renderer, Saturation, Servo, Settings, Tool};
use voxshell::math::{Pose, Twist};
use voxshell::pointshell::{PointShell, ShellOptions};

/// Length, metres, and mass, kg.
const LENGTH: f64 = 0.2;
const MASS: f64 = 0.05;
/// The hand pushes the rod down by this amount, metres.
const DOWN: f64 = 1e-3;

/// Returns a thin rod along x, with samples at its ends and in its middle.
fn rod() -> Tool {
    let points = [-0.5, 0.0, 0.5].map(|x| [x * LENGTH, 0.0, 0.0]);
    let shell = PointShell::from_samples(&points, &[[0.0, 0.0, -1.0]; 3], &ShellOptions::default()).unwrap();
    let across = MASS * LENGTH * LENGTH / 12.0;
    Tool {
        forms: Forms { shell: Some(Arc::new(shell)), ..Forms::default() },
        center: Vector3::zeros(),
        mass: MASS,
        inertia: Matrix3::from_diagonal(&Vector3::new(1e-3 * across, across, across)),
    }
}

/// Returns the wrench when the hand pushes the rod down while its end at +x is on a box, and the pose of the rod after
/// the next round of the simulation, relative to its pose before.
fn push(metric: Metric, adjust: impl Fn(&mut Settings)) -> (Settings, Output, Pose) {
    let mut settings = Settings::for_tool(Renderer::GodObject, &rod(), &NO_LIMITS).unwrap();
    (settings.metric, settings.passivity, settings.coupling.saturation) = (metric, false, Saturation::Linear);
    adjust(&mut settings);
    let cuboid = Field::Cuboid(Cuboid::new([0.02; 3]).unwrap());
    let forms = Forms { field: Some(Arc::new(cuboid)), ..Forms::default() };
    let body = Obstacle::fixed(forms, Pose::translation(0.5 * LENGTH, 0.0, -0.02));
    let (mut servo, mut simulation) = haptics::new(settings, rod(), vec![body]).unwrap();
    let step = |servo: &mut Servo, z: f64| {
        servo.step(&DeviceState { pose: Pose::translation(0.0, 0.0, z), twist: Twist::ZERO, engaged: true }, 1e-3)
    };
    for n in 0..300 {
        step(&mut servo, (1e-3 - 1e-5 * f64::from(n)).max(0.0));
        simulation.simulate();
    }
    let output = step(&mut servo, -DOWN);
    let before = servo.tool_pose();
    simulation.simulate();
    step(&mut servo, -DOWN);
    let turn = servo.tool_pose().rotation * before.rotation.inverse();
    let shift = servo.tool_pose().translation.vector - before.translation.vector;
    (settings, output, Pose::from_parts(shift.into(), turn))
}

/// Gauss' principle with M of the rod: λ = d / (1/m + (L/2)²/I) = m d / 4, so the middle goes down by 3/4 of d and the
/// rod turns by 3 d / 2 L. The spring is as stiff as the coupling times M / m.
#[test]
fn a_rod_pushed_at_its_end_turns_by_its_inertia() {
    let (settings, output, motion) = push(Metric::Mass, |_| {});
    let [linear, _] = settings.coupling.stiffness;
    let force = 0.25 * linear * DOWN;
    let (found, torque) = (output.wrench.force, output.wrench.torque);
    assert!((found - Vector3::z() * force).norm() < 0.01 * force, "{found}, expected {force} N");
    assert!((torque + Vector3::y() * 0.5 * LENGTH * force).norm() < 0.01 * LENGTH * force, "{torque}");
    // A round of the god-object goes half of the way.
    let (shift, turn) = (motion.translation.vector, motion.rotation.scaled_axis());
    assert!((shift + Vector3::z() * 0.375 * DOWN).norm() < 0.01 * DOWN, "{shift}");
    assert!((turn + Vector3::y() * 0.75 * DOWN / LENGTH).norm() < 0.01 * DOWN / LENGTH, "{turn}");
}

/// With M = K: λ = d / (1/k + (L/2)²/κ).
#[test]
fn the_metric_of_the_coupling_ignores_the_inertia() {
    for ratio in [1.0, 0.1] {
        let (settings, output, _) = push(Metric::Stiffness, |s| s.coupling.stiffness[1] *= ratio);
        let [linear, angular] = settings.coupling.stiffness;
        let force = DOWN / (1.0 / linear + 0.25 * LENGTH * LENGTH / angular);
        let found = output.wrench.force;
        assert!((found - Vector3::z() * force).norm() < 0.01 * force, "{found}, expected {force} N");
    }
}

/// A coupling that is soft against rotation softens the whole spring in the metric of mass, so that its force stays in
/// the cone of the constraints' normals (Ortega et al. 2007, footnote 1).
#[test]
fn the_metric_of_mass_is_no_stiffer_than_the_coupling() {
    let (settings, output, _) = push(Metric::Mass, |s| s.coupling.stiffness[1] *= 0.1);
    let across = LENGTH * LENGTH / 12.0;
    let linear = settings.coupling.stiffness[1] / across;
    assert!(linear < 0.5 * settings.coupling.stiffness[0]);
    let (force, found) = (0.25 * linear * DOWN, output.wrench.force);
    assert!((found - Vector3::z() * force).norm() < 0.01 * force, "{found}, expected {force} N");
}
