//! Warm steps and rounds do not allocate: counted by the allocator itself.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use support::allocation::allocations;
use support::haptics::{at_height, on_floor, DEVICE};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::haptics::god_object::Budget;
use voxshell::haptics::{self, DeviceState, Forms, HeightMap, Obstacle, ObstacleMotion, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Twist, Wrench};
use voxshell::mesh::primitives;

const RENDERERS: [Renderer; 5] =
    [Renderer::GodObject, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse, Renderer::Vps];

/// A body that its owner simulates, at rest.
fn at_rest() -> ObstacleMotion {
    let inverse_inertia = Matrix3::from_diagonal_element(1e-6);
    ObstacleMotion { pose: Pose::identity(), twist: Twist::ZERO, inverse_mass: 1e-6, inverse_inertia, period: 0.005 }
}

#[test]
fn steps_and_rounds_do_not_allocate() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) > 0, "the counter counts");
    for (renderer, own) in RENDERERS.map(|r| (r, false)).into_iter().chain([(Renderer::GodObject, true)]) {
        let budget = if own { Budget { tests: 1, nanoseconds: 1 } } else { Budget::UNLIMITED };
        let (mut servo, mut simulation) = on_floor(renderer, 10, |settings| settings.budget = budget);
        if own {
            simulation
                .set_height_map(Some(HeightMap::new(Arc::new(|_, p: &Vector3<f64>| 1e-4 * p.x.sin()), 1e-5).unwrap()));
        }
        let (mut contacts, mut pressed) = (0, 0.0);
        let mut run = || {
            for n in 0..200 {
                let mut device = at_height(0.001 * (0.1 * n as f64).sin());
                device.pose.translation.x = f64::from(n) * 1e-5;
                contacts += servo.step(&device, 1e-3).contacts;
                if n % 5 == 0 {
                    simulation.set_obstacle_motion(0, &at_rest()).unwrap();
                }
                simulation.simulate();
                pressed += servo.loads().get(0).unwrap().wrench.force.norm();
            }
            let push = Wrench { force: Vector3::new(0.0, -1.0, 0.0), torque: Vector3::zeros() };
            for _ in 0..200 {
                contacts += servo.step_admittance(&push, true, 1e-3).contacts;
                simulation.simulate();
            }
            servo.reset();
            let mut broken = at_height(0.0);
            broken.pose.translation.x = f64::NAN;
            servo.step(&broken, 1e-3);
        };
        run();
        assert_eq!(allocations(&mut run), 0, "{renderer:?}: a warm loop allocated");
        assert!(contacts > 1000 && pressed > 10.0, "{renderer:?}: {contacts}, {pressed} N");
    }
}

#[test]
fn rounds_that_test_edges_do_not_allocate() {
    let options = CookOptions { resolution: Resolution::Cells(24), ..CookOptions::default() };
    let block = Shape::cook(&primitives::cuboid([0.02; 3]).unwrap(), &options, &Progress::none()).unwrap();
    let surface = block.surface().unwrap().cloned();
    let forms = Forms { field: block.field.clone(), shell: block.shell.clone(), surface, ..Forms::default() };
    for renderer in RENDERERS.into_iter().filter(|renderer| renderer.uses_surface()) {
        let tool = Tool::of_mass(forms.clone(), &block.mass.unwrap(), 0.1).unwrap();
        let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
        let obstacle = Obstacle::fixed(forms.clone(), Pose::identity());
        let (mut servo, mut simulation) = haptics::new(settings, tool, vec![obstacle]).unwrap();
        let mut contacts = 0;
        let mut run = || {
            for n in 0..400 {
                let t = 0.05 * f64::from(n);
                let pose =
                    Pose::new(Vector3::new(0.01, 0.039 + 0.002 * t.sin(), 0.0), Vector3::new(0.3 * t.cos(), 0.6, 0.0));
                contacts += servo.step(&DeviceState { pose, twist: Twist::ZERO, engaged: true }, 1e-3).contacts;
                simulation.simulate();
            }
        };
        run();
        assert_eq!(allocations(&mut run), 0, "{renderer:?}: a warm loop allocated");
        assert!(contacts > 400, "{renderer:?}: {contacts}");
    }
}
