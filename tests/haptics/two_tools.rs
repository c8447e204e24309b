//! Two tools in two hands that touch each other: each is a body for the other one. Their contacts are springs, whose depth
//! both see, so their forces are equal. Two god-objects would not yield to each other.

use std::sync::Arc;

use nalgebra::Vector3;
use support::haptics::DEVICE;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Output, Renderer, Servo, Settings, Simulation, Tool};
use voxshell::math::{Pose, Progress, Twist};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;

const DT: f64 = 1e-3;
const RADIUS: f64 = 0.02;

/// A ball with both forms.
fn ball() -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(40),
        shell: ShellOptions { target_count: Some(600), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(&primitives::sphere(RADIUS, 3).unwrap(), &options, &Progress::none()).unwrap()
}

/// A tool in a hand, and the other one as its only body.
struct Side {
    servo: Servo,
    simulation: Simulation,
    was: Pose,
    output: Output,
}

impl Side {
    fn new(renderer: Renderer, ball: &Shape, at: f64, other: f64) -> Self {
        let forms = || Forms { field: ball.field.clone(), shell: ball.shell.clone(), ..Forms::default() };
        let tool = Tool::of_mass(forms(), &ball.mass.unwrap(), 0.1).unwrap();
        let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
        let bodies = vec![Obstacle::fixed(forms(), Pose::translation(other, 0.0, 0.0))];
        let (servo, simulation) = haptics::new(settings, tool, bodies).unwrap();
        Self { servo, simulation, was: Pose::translation(at, 0.0, 0.0), output: Output::default() }
    }

    fn step(&mut self, x: f64, speed: f64) -> (Pose, Twist) {
        let twist = Twist { linear: Vector3::x() * speed, angular: Vector3::zeros() };
        let device = DeviceState { pose: Pose::translation(x, 0.0, 0.0), twist, engaged: true };
        self.output = self.servo.step(&device, DT);
        let pose = self.servo.tool_pose();
        let linear = (pose.translation.vector - self.was.translation.vector) / DT;
        let angular = (pose.rotation * self.was.rotation.inverse()).scaled_axis() / DT;
        self.was = pose;
        (pose, Twist { linear, angular })
    }

    fn round(&mut self, (pose, twist): &(Pose, Twist)) {
        self.simulation.set_obstacle_pose(0, pose, twist).unwrap();
        self.simulation.simulate();
    }
}

#[test]
fn two_hands_feel_the_same_force_from_each_others_tools() {
    let ball = Arc::new(ball());
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty] {
        let start = 0.03;
        let mut sides = [(-start, start), (start, -start)].map(|(at, other)| Side::new(renderer, &ball, at, other));
        let (mut largest, mut deepest) = ([0.0f64; 2], 0.0f64);
        for n in 0..2500 {
            let t = f64::from(n) * DT;
            // The hands come nearer at 1 cm/s each, and rest 6 mm beyond the surfaces. The left one then sways.
            let near = start - 0.01 * t.min(1.3);
            let speed = if t < 1.3 { 0.01 } else { 0.0 };
            let sway = if t > 1.7 { 0.002 * (6.0 * (t - 1.7)).sin() } else { 0.0 };
            let left = sides[0].step(-near + sway, speed);
            let right = sides[1].step(near, -speed);
            sides[0].round(&right);
            sides[1].round(&left);
            let gap = (right.0.translation.x - left.0.translation.x) - 2.0 * RADIUS;
            deepest = deepest.max(-gap);
            let [a, b] = [0, 1].map(|i| sides[i].output.wrench.force);
            for (largest, force) in largest.iter_mut().zip([a, b]) {
                *largest = largest.max(force.norm());
            }
            if t > 1.5 && n % 50 == 0 {
                assert!(a.x < -1.0 && (a.x + b.x).abs() < 0.02 * b.x, "{renderer:?} {n}: {a} {b}");
                // Each pushes along the normals of its own samples, which lean to the side.
                assert!([a, b].iter().all(|f| f.yz().norm() < 0.15 * f.norm()), "{renderer:?} {n}: {a} {b}");
            }
        }
        println!("{renderer:?}: {largest:?} N, {:.3} mm deep", deepest * 1e3);
        assert!(largest.iter().all(|f| (1.5..8.0).contains(f)), "{renderer:?}: {largest:?}");
        assert!(deepest < 1e-3, "{renderer:?}: {deepest} m deep");
    }
}
