//! A cube without friction that is pressed onto a face at an angle: the face pushes along its normal, whatever the
//! directions of the cube's own faces.

use std::sync::{Arc, LazyLock};

use support::haptics::{floor, DEVICE};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::field::{Cuboid, Field};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Rotation, Twist, Vec3};
use voxshell::mesh::primitives;

const HALF: f64 = 0.02;
const DT: f64 = 1e-3;

fn cook(half: [f64; 3]) -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(32), ..CookOptions::default() };
    Shape::cook(&primitives::cuboid(half).unwrap(), &options, &Progress::none()).unwrap()
}

fn forms(shape: &Shape, with_edges: bool) -> Forms {
    let surface = if with_edges { shape.surface().unwrap().cloned() } else { None };
    Forms { field: shape.field.clone(), shell: shape.shell.clone(), surface, ..Forms::default() }
}

static CUBE: LazyLock<Shape> = LazyLock::new(|| cook([HALF; 3]));
static SLAB: LazyLock<Shape> = LazyLock::new(|| cook([0.06, 0.02, 0.06]));

/// Presses the cube down by a depth at a fixed angle, and returns the force on the hand.
fn pressed(
    renderer: Renderer,
    obstacle: Obstacle,
    (turn, aside): (&Rotation, f64),
    depth: f64,
    with_edges: bool,
) -> Vec3 {
    let tool = Tool::of_mass(forms(&CUBE, with_edges), &CUBE.mass.unwrap(), 0.1).unwrap();
    let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
    let (mut servo, mut simulation) = haptics::new(settings, tool, vec![obstacle]).unwrap();
    // Half the height of the turned cube.
    let m = turn.to_rotation_matrix();
    let reach: f64 = (0..3).map(|k| HALF * m[(1, k)].abs()).sum();
    let mut force = Vec3::zeros();
    for n in 0..900 {
        let part = (f64::from(n) / 400.0).min(1.0);
        let y = reach + 1e-3 - (1e-3 + depth) * part;
        let linear = Vec3::y() * if n < 400 { -(1e-3 + depth) / 0.4 } else { 0.0 };
        let pose = Pose::from_parts(Vec3::new(aside, y, 0.0).into(), *turn);
        let device = DeviceState { pose, twist: Twist { linear, angular: Vec3::zeros() }, engaged: true };
        force = servo.step(&device, DT).wrench.force;
        simulation.simulate();
    }
    force
}

/// An analytic box whose top is at y = 0.
fn table() -> Obstacle {
    let field = Field::Cuboid(Cuboid::new([0.06, 0.02, 0.06]).unwrap());
    let forms = Forms { field: Some(Arc::new(field)), ..Forms::default() };
    Obstacle::fixed(forms, Pose::translation(0.0, -0.02, 0.0))
}

#[test]
fn a_tilted_cube_is_pushed_along_the_normal_of_the_face() {
    let slab = || Obstacle::fixed(forms(&SLAB, true), Pose::translation(0.0, -0.02, 0.0));
    let plain = || Obstacle::fixed(Forms { field: floor().forms.field, ..Forms::default() }, Pose::identity());
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty] {
        for (name, obstacle, edges) in [("floor", plain(), false), ("box", table(), false), ("slab", slab(), true)] {
            let skew = Vec3::new(1.0, 0.3, 0.6);
            for (axis, degrees) in [(Vec3::z(), 10.0), (Vec3::z(), 25.0), (Vec3::z(), 45.0), (skew, 40.0)] {
                let turn = Rotation::from_scaled_axis(axis.normalize() * f64::to_radians(degrees));
                let force = pressed(renderer, obstacle.clone(), (&turn, 0.0), 3e-3, edges);
                let sideways = Vec3::new(force.x, 0.0, force.z).norm() / force.y;
                assert!(force.y > 2.0 && sideways < 1e-3, "{renderer:?} {name} {degrees}: {force:?}");
            }
        }
    }
}

/// Half of the cube stands over the edge of the box, whose side faces are nearest to few of its samples.
#[test]
fn a_cube_on_an_edge_is_pushed_up() {
    for renderer in [Renderer::Penalty, Renderer::ContinuousPenalty] {
        for depth in [0.2e-3, 1e-3, 3e-3] {
            let force = pressed(renderer, table(), (&Rotation::identity(), 0.06), depth, false);
            assert!(force.y > 0.1 && force.x.hypot(force.z) < 0.02 * force.y, "{renderer:?} {depth}: {force:?}");
        }
    }
}
