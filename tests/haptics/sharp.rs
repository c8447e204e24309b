//! Sharp edges and corners of the tool and of obstacles, where they fit between samples.

use nalgebra::{Translation3, UnitQuaternion, Vector3};
use support::haptics::DEVICE;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Coverage, Query, Workspace};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Twist, Wrench};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

const DT: f64 = 1e-3;
const RENDERERS: [Renderer; 3] = [Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse];

/// Cooks a body whose samples are 10 to 15 mm apart.
fn cook(mesh: &TriMesh) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(40),
        shell: ShellOptions { target_count: Some(100), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn forms(shape: &Shape, has_surface: bool) -> Forms {
    let surface = if has_surface { shape.surface().unwrap().cloned() } else { None };
    Forms { field: shape.field.clone(), shell: shape.shell.clone(), surface, ..Forms::default() }
}

/// Pushes the tool from 1 mm above the body 4 mm down in a second, and returns how deep it is then, and the force.
fn push(body: &Shape, tool: (&Shape, Pose), height: f64, renderer: Renderer, has_surface: bool) -> (f64, f64) {
    let (tool, turned) = tool;
    let held = Tool::of_mass(forms(tool, has_surface), &tool.mass.unwrap(), 0.1).unwrap();
    let settings = Settings::for_tool(renderer, &held, &DEVICE).unwrap();
    let obstacle = Obstacle::fixed(forms(body, has_surface), Pose::identity());
    let (mut servo, mut simulation) = haptics::new(settings, held, vec![obstacle]).unwrap();
    let mut force = 0.0;
    for step in 0..1500 {
        let down = 0.004 * (f64::from(step) * DT).min(1.0);
        let pose = Pose::from_parts(Vector3::new(0.0, 0.0, height + 0.001 - down).into(), turned.rotation);
        let output = servo.step(&DeviceState { pose, twist: Twist::ZERO, engaged: true }, DT);
        simulation.simulate();
        force = output.wrench.force.z;
    }
    let query = Query { coverage: Coverage::Edges, ..Query::default() };
    let exact = [tool, body].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
    let mut workspace = Workspace::new();
    let found = contacts(exact[0], &servo.tool_pose(), exact[1], &Pose::identity(), &query, &mut workspace).unwrap();
    (-found.iter().fold(0.0, |least: f64, contact| least.min(contact.separation)), force)
}

/// Two cubes meet edge on edge at right angles.
#[test]
fn issue_19_crossing_edges_hold() {
    let cube = cook(&primitives::cuboid([0.03; 3]).unwrap());
    let quarter = std::f64::consts::FRAC_PI_4;
    // The body's edge along x is on top, and the tool's edge along y below.
    let up = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), quarter);
    let body = cook(&rotated(&primitives::cuboid([0.03; 3]).unwrap(), &up));
    let down = Pose::from_parts(Translation3::identity(), UnitQuaternion::from_axis_angle(&Vector3::y_axis(), quarter));
    let height = 2.0 * 0.03 * 2f64.sqrt();
    for renderer in RENDERERS {
        let (depth, force) = push(&body, (&cube, down), height, renderer, true);
        let (of_samples, _) = push(&body, (&cube, down), height, renderer, false);
        println!("{renderer:?}: {:.3} mm deep, {:.2} N; {:.3} mm by samples", depth * 1e3, force, of_samples * 1e3);
        assert!(depth < 1.5e-4 && force > 1.0, "{renderer:?}: {depth} m deep, {force} N");
        assert!(of_samples > 3.0 * depth, "{renderer:?}: {of_samples} m deep by samples alone");
    }
}

fn rotated(mesh: &TriMesh, rotation: &UnitQuaternion<f64>) -> TriMesh {
    let vertices = mesh.vertices.iter().map(|v| (rotation * Vector3::from(*v)).into()).collect();
    TriMesh::new(vertices, mesh.triangles.clone()).unwrap()
}

/// The tip of a spike meets a face of the tool, between samples of it.
#[test]
fn issue_19_a_spike_does_not_enter_a_face() {
    let spike = cook(&primitives::cone(0.01, 0.06, 6).unwrap());
    let plate = cook(&primitives::cuboid([0.04, 0.04, 0.01]).unwrap());
    let top = spike.mesh.as_ref().unwrap().vertices.iter().map(|v| v[2]).fold(f64::NEG_INFINITY, f64::max);
    for renderer in RENDERERS {
        let (depth, force) = push(&spike, (&plate, Pose::identity()), top + 0.01, renderer, true);
        println!("{renderer:?}: {:.3} mm deep, {:.2} N", depth * 1e3, force);
        assert!(depth < 1e-4 && force > 1.0, "{renderer:?}: {depth} m deep, {force} N");
    }
}

/// A bar lies flat on the rim of a block, which turns it about the rim alone.
#[test]
fn issue_19_a_bar_on_a_rim_is_turned_about_the_rim() {
    let options = CookOptions { resolution: Resolution::Cells(40), ..CookOptions::default() };
    let cook = |half| Shape::cook(&primitives::cuboid(half).unwrap(), &options, &Progress::none()).unwrap();
    let (bar, block) = (cook([0.06, 0.01, 0.01]), cook([0.1; 3]));
    let aside = UnitQuaternion::from_scaled_axis(Vector3::new(1.0, 2.0, -1.0).normalize() * 0.9);
    for renderer in RENDERERS {
        let held = Tool::of_mass(forms(&bar, true), &bar.mass.unwrap(), 0.2).unwrap();
        let settings = Settings::for_tool(renderer, &held, &DEVICE).unwrap();
        let at = |p: Vector3<f64>| Pose::from_parts((aside * p).into(), aside);
        let obstacle = Obstacle::fixed(forms(&block, true), at(Vector3::new(0.13, 0.0, -0.1)));
        let (mut servo, mut simulation) = haptics::new(settings, held, vec![obstacle]).unwrap();
        let mut felt = Wrench::ZERO;
        for step in 0..2000 {
            let height = 0.011 - 0.002 * (f64::from(step) * DT).min(1.0);
            let pose = at(Vector3::new(0.0, 0.0, height));
            felt = servo.step(&DeviceState { pose, twist: Twist::ZERO, engaged: true }, DT).wrench;
            simulation.simulate();
        }
        let (force, torque) = (aside.inverse() * felt.force, aside.inverse() * felt.torque);
        println!("{renderer:?}: {force:?} {torque:?}");
        assert!(force.z > 0.3 && force.xy().norm() < 0.02 * force.z, "{renderer:?}: {force}");
        assert!(-torque.y > 0.025 * force.z && -torque.y < 0.065 * force.z, "{renderer:?}: {torque}");
        assert!(torque.x.hypot(torque.z) < 0.05 * -torque.y, "{renderer:?}: {torque}");
    }
}
