//! How deep the hand can press a tool into a body, and what it feels beside that: the clamped coupling of McNeely et
//! al. (1999, section 5.2) and Xu & Barbič (2016, section 4.1).

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use support::haptics::{at_height, block, floor_of, DEVICE};
use voxshell::asset::{CookOptions, Forms as Cooked, Resolution, Shape};
use voxshell::field::{Field, SignedDistance};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Output, Renderer, Servo, Settings, Simulation, Tool};
use voxshell::math::{Pose, Progress, Twist};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;
use voxshell::voxmap::Offset;

const DT: f64 = 1e-3;
const COUPLED: [Renderer; 4] = [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse];

/// Makes a step with a round after it.
fn step(servo: &mut Servo, simulation: &mut Simulation, device: &DeviceState) -> Output {
    let output = servo.step(device, DT);
    simulation.simulate();
    output
}

/// Moves the device along a line at a constant speed and returns the last output.
fn drag(scene: &mut (Servo, Simulation), from: Vector3<f64>, to: Vector3<f64>, speed: f64) -> Output {
    let steps = ((to - from).norm() / speed / DT).ceil() as usize;
    let velocity = (to - from).normalize() * speed;
    let mut output = Output::default();
    for n in 0..=steps {
        let at = from + (to - from) * (n as f64 / steps as f64);
        let twist = Twist { linear: velocity, angular: Vector3::zeros() };
        let device = DeviceState { pose: Pose::translation(at.x, at.y, at.z), twist, engaged: true };
        output = step(&mut scene.0, &mut scene.1, &device);
    }
    output
}

/// Returns a cooked body: the field alone, or the pointshell too.
fn cooked(mesh: &voxshell::mesh::TriMesh, cells: u32, samples: Option<usize>) -> Shape {
    let options = CookOptions {
        forms: Cooked { field: true, shell: samples.is_some() },
        resolution: Resolution::Cells(cells),
        shell: ShellOptions { target_count: samples, ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns an obstacle of a cuboid of these half edges whose top is the plane y = 0, and its voxel.
fn plate(half: [f64; 3], x: f64, cells: u32) -> (Obstacle, f64) {
    let mesh = primitives::cuboid(half).unwrap();
    let field = cooked(&mesh, cells, None).field.unwrap();
    let voxel = f64::from(field.gridded().unwrap().grid.spacing);
    let forms = Forms { field: Some(field), ..Forms::default() }.with_voxmap(Offset::MCNEELY).unwrap();
    (Obstacle::fixed(forms, Pose::translation(x, -half[1], 0.0)), voxel)
}

/// Returns a ball of 5 mm with a pointshell.
fn ball(mass: f64) -> Tool {
    let shape = cooked(&primitives::sphere(0.005, 3).unwrap(), 24, Some(600));
    let forms = Forms { shell: shape.shell, ..Forms::default() };
    Tool::of_mass(forms, &shape.mass.unwrap(), mass).unwrap()
}

fn scene(renderer: Renderer, tool: &Tool, obstacles: Vec<Obstacle>) -> (Servo, Simulation) {
    let settings = Settings::for_tool(renderer, tool, &DEVICE).unwrap();
    haptics::new(settings, tool.clone(), obstacles).unwrap()
}

#[test]
fn issue_19_vps_holds_one_sample_against_a_quasi_static_hand() {
    let mut scene = scene(Renderer::Vps, &block(1), vec![floor_of(0.0005, 41)]);
    let y = Vector3::y();
    drag(&mut scene, y * 0.003, y * -0.025, 0.00375);
    let output = step(&mut scene.0, &mut scene.1, &at_height(-0.025));
    let height = scene.0.tool_pose().translation.y;
    println!("one sample: {:.3} mm, {:.3} N", height * 1e3, output.wrench.force.y);
    // McNeely's force layer is two voxels off the surface voxels.
    assert!(height > 0.0005, "the tool is at {height} m");
    // One sample bears its stiffness times half a voxel, of which a tenth is kept back.
    let most = 0.9 * scene.0.settings().contact.stiffness * 0.00025;
    assert!((output.wrench.force.y / most - 1.0).abs() < 0.02, "{} N, of {most} N", output.wrench.force.y);
}

#[test]
fn issue_19_no_renderer_lets_a_ball_through_a_plate() {
    let tool = ball(0.05);
    for renderer in COUPLED {
        for tilt in [0.0, 0.6] {
            let (mut body, voxel) = plate([0.02, 0.005, 0.02], 0.0, 64);
            let turn = UnitQuaternion::from_euler_angles(tilt, 0.0, 0.7 * tilt);
            body.pose = Pose::from_parts((turn * body.pose.translation.vector).into(), turn);
            let field = body.forms.field.clone().unwrap();
            let pose = body.pose;
            let mut scene = scene(renderer, &tool, vec![body]);
            let along = turn * Vector3::y();
            drag(&mut scene, along * 0.009, along * -0.04, 0.02);
            let center = scene.0.tool_pose().translation.vector;
            let depth = 0.005 - center.dot(&along);
            let deepest = deepest(&tool, &scene.0.tool_pose(), &field, &pose);
            println!(
                "{renderer:?} {tilt}: {:.3} mm deep, samples {:.3} mm, voxel {:.3}",
                depth * 1e3,
                deepest * 1e3,
                voxel * 1e3
            );
            let limit = if renderer == Renderer::Vps { -voxel } else { 0.5 * voxel };
            assert!(deepest <= limit, "{renderer:?} {tilt}: a sample is {deepest} m deep, voxels are {voxel} m");
        }
    }
}

/// Returns the depth of the deepest sample of a tool in a field, metres; negative outside.
fn deepest(tool: &Tool, at: &Pose, field: &Arc<Field>, body: &Pose) -> f64 {
    let shell = tool.forms.shell.as_ref().unwrap();
    let depth = |i: usize| {
        let p = body.inverse_transform_point(&(at * nalgebra::Point3::from(shell.position(i)))).coords;
        let local = (p - field.local_origin(&p)).map(|c| c as f32);
        -f64::from(field.distance(local.into()))
    };
    (0..shell.len()).map(depth).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn penalty_forces_hold_the_tool_within_half_a_voxel() {
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty] {
        let (body, voxel) = plate([0.02, 0.005, 0.02], 0.0, 80);
        let mut scene = scene(renderer, &block(1), vec![body]);
        drag(&mut scene, Vector3::y() * 0.003, Vector3::y() * -0.03, 0.02);
        let depth = -scene.0.tool_pose().translation.y;
        println!("{renderer:?}: {:.2} voxels", depth / voxel);
        assert!(depth <= 0.5 * voxel, "{renderer:?}: {} voxels", depth / voxel);
        assert!(depth > 0.2 * voxel, "{renderer:?}: the hand presses: {} voxels", depth / voxel);
    }
}

#[test]
fn splitting_a_body_in_two_does_not_stiffen_it() {
    for renderer in [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty] {
        let (whole, voxel) = plate([0.04, 0.01, 0.04], 0.0, 80);
        let halves = [-0.02, 0.02].map(|x| plate([0.02, 0.01, 0.04], x, 80).0);
        let rests = [vec![whole], halves.into()].map(|obstacles| {
            let mut settings = Settings::for_tool(renderer, &block(10), &DEVICE).unwrap();
            // Averaged so much that the depth is a fraction of a millimetre.
            settings.contact.average_from = 1;
            let mut scene = haptics::new(settings, block(10), obstacles).unwrap();
            drag(&mut scene, Vector3::y() * 0.004, Vector3::y() * -0.002, 0.02);
            let height = |scene: &mut (Servo, Simulation), y: f64| {
                for _ in 0..400 {
                    step(&mut scene.0, &mut scene.1, &at_height(y));
                }
                scene.0.tool_pose().translation.y
            };
            let force = step(&mut scene.0, &mut scene.1, &at_height(-0.002)).wrench.force.y;
            (height(&mut scene, -0.002), force)
        });
        println!("{renderer:?}: {rests:?}, voxel {voxel}");
        let [(one, _), (two, _)] = rests;
        assert!(one < -1e-4 || renderer == Renderer::Vps, "{one}");
        assert!((one - two).abs() < 0.02 * one.abs(), "{renderer:?}: {one} m whole, {two} m in two");
    }
}

#[test]
fn free_space_is_silent_at_any_mass_of_the_tool() {
    for renderer in COUPLED {
        for mass in [0.01, 0.3, 2.0] {
            let mut scene = scene(renderer, &ball(mass), vec![floor_of(0.002, 21)]);
            // 0.3 m in 0.15 s and back: up to 65 m/s².
            let (amplitude, omega) = (0.15, 20.9);
            let mut most = 0.0f64;
            for n in 0..2000 {
                let (sin, cos) = (omega * n as f64 * DT).sin_cos();
                let mut device = at_height(0.5 + amplitude * sin);
                device.twist.linear.y = amplitude * omega * cos;
                most = most.max(step(&mut scene.0, &mut scene.1, &device).wrench.force.norm());
            }
            println!("{renderer:?} {mass} kg: {most:.3} N at {:.0} m/s²", amplitude * omega * omega);
            assert!(most == 0.0, "{renderer:?} {mass} kg: {most} N");
        }
    }
}

#[test]
fn the_default_coupling_is_critically_damped() {
    for mass in [0.002, 0.05, 0.3, 3.0] {
        for damping in [[20.0, 0.5], [5.0, 0.01], [1000.0, 10.0]] {
            let device = haptics::Limits { damping, ..DEVICE };
            // The tool is released 2 mm from a hand at rest: a critically damped one does not overshoot.
            let mut settings = Settings::for_tool(Renderer::Penalty, &ball(mass), &device).unwrap();
            settings.passivity = false;
            let mut scene = haptics::new(settings, ball(mass), vec![floor_of(0.002, 21)]).unwrap();
            let (mut least, dt) = (0.0f64, 1e-4);
            let mut at = at_height(0.5);
            scene.0.step(&at, dt);
            at.pose.translation.y += 0.0009;
            let mut slowest = 0.0f64;
            for n in 0..3000 {
                scene.0.step(&at, dt);
                scene.1.simulate();
                let left = at.pose.translation.y - scene.0.tool_pose().translation.y;
                least = least.min(left);
                slowest = if n == 2999 { left } else { slowest };
            }
            println!("{mass} kg, {damping:?}: overshoot {:.4}, left {:.5}", -least / 0.0009, slowest / 0.0009);
            assert!(-least < 0.002 * 0.0009, "{mass} kg {damping:?}: overshoots by {}", -least / 0.0009);
            assert!(slowest < 0.01 * 0.0009, "{mass} kg {damping:?}: {slowest} m are left");
        }
    }
}

#[test]
fn vps_slides_on_a_flat_face_without_friction() {
    let (body, _) = plate([0.03, 0.005, 0.03], 0.0, 64);
    let mut scene = scene(Renderer::Vps, &ball(0.3), vec![body]);
    let down = Vector3::new(-0.02, 0.003, 0.004);
    drag(&mut scene, Vector3::new(-0.02, 0.012, 0.004), down, 0.05);
    let (mut aside, mut lean, mut up) = (0.0f64, 0.0f64, 0.0f64);
    for n in 0..400 {
        // 0.1 m/s along x.
        let mut device = at_height(down.y);
        device.pose.translation.vector += Vector3::new(down.x + 1e-4 * f64::from(n), 0.0, down.z);
        device.twist.linear.x = 0.1;
        let force = step(&mut scene.0, &mut scene.1, &device).wrench.force;
        let (sideways, normal) = (force.x.hypot(force.z), force.y);
        aside = aside.max(sideways);
        lean = lean.max(sideways.atan2(normal).to_degrees());
        up = up.max(normal);
    }
    println!("slide: {aside:.3} N sideways of {up:.3} N, lean {lean:.2}°");
    assert!(up > 1.0 && aside < 0.15 * up, "{aside} N sideways of {up} N");
}
