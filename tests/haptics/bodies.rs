//! Random bodies: a hand with a spring pulls a random tool slowly through the middle of a random body, with each renderer.
//! The depth is that of the meshes in each other, with their edges and corners, and not that of samples in fields.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use support::haptics::DEVICE;
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Coverage, Query, Roles, Workspace};
use voxshell::haptics::god_object::Detection;
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Twist, Wrench};
use voxshell::mesh::{Locator, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::voxmap::Offset;

const DT: f64 = 1e-3;
/// Extents of body and tool, metres.
const BODY: f64 = 0.06;
const TOOL: f64 = 0.04;
/// Speed of the goal of the hand, m/s and rad/s.
const SPEED: f64 = 0.04;
const TURN: f64 = 0.4;
/// Steps between two looks at the depth: the goal moves 1 mm meanwhile.
const LOOK: usize = 25;

const RENDERERS: [Renderer; 5] =
    [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Impulse, Renderer::GodObject];

struct Body {
    mesh: TriMesh,
    shape: Shape,
}

impl Body {
    fn new(rng: &mut Rng, extent: f64) -> Self {
        let mesh = parts::body(rng).scaled_to_extent(extent);
        let options = CookOptions {
            resolution: Resolution::Cells(48),
            shell: ShellOptions { target_count: Some(1200), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        Self { mesh, shape }
    }

    fn forms(&self, detection: Detection) -> Forms {
        let mesh = (detection == Detection::Triangles).then(|| Arc::new(Locator::new(&self.mesh)));
        let (field, shell) = (self.shape.field.clone(), self.shape.shell.clone());
        let surface = self.shape.surface().unwrap().cloned();
        Forms { field, shell, surface, mesh, ..Forms::default() }
    }
}

/// Result of a pull.
struct Pulled {
    /// Depth of the meshes in each other, the greatest of all looks, metres.
    depth: f64,
    force: f64,
    touched: usize,
}

/// Pulls the tool from outside along a random line through the middle of the body.
fn pull(body: &Body, tool: &Body, (renderer, detection): (Renderer, Detection), rng: &mut Rng) -> Pulled {
    let along = rng.vector().normalize();
    let (axis, first) = (rng.vector().normalize(), rng.rotation());
    let solid = tool.shape.mass.unwrap();
    let held = Tool::of_mass(tool.forms(detection), &solid, 0.1).unwrap();
    let center = first * held.center;
    let settings = Settings { detection, ..Settings::for_tool(renderer, &held, &DEVICE).unwrap() };
    let forms = body.forms(detection).with_voxmap(Offset::MCNEELY).unwrap();
    let (mut servo, mut simulation) =
        haptics::new(settings, held, vec![Obstacle::fixed(forms, Pose::identity())]).unwrap();
    let at = |p: &Vector3<f64>, angle: f64| {
        let rotation = UnitQuaternion::from_scaled_axis(axis * angle) * first;
        Pose::from_parts((p - center).into(), rotation)
    };
    // The hand: 0.3 kg on a spring of 300 N/m to its goal.
    let (mass, spring, damping) = (0.3, 300.0, 15.0);
    let start = along * (0.5 * 3f64.sqrt() * (BODY + TOOL) + 0.002);
    let (mut hand, mut velocity, mut felt) = (start, Vector3::zeros(), Wrench::ZERO);
    let steps = ((start.norm() + 0.03) / SPEED / DT) as usize;
    let exact = [&tool.shape, &body.shape].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
    let query = Query { roles: Roles::Both, coverage: Coverage::Edges, max_separation: 0.0, ..Query::default() };
    let (mut workspace, mut pulled) = (Workspace::new(), Pulled { depth: 0.0, force: 0.0, touched: 0 });
    for n in 0..steps {
        let t = n as f64 * DT;
        let goal = start - along * (SPEED * t);
        velocity += ((goal - hand) * spring - velocity * damping + felt.force) * (DT / mass);
        hand += velocity * DT;
        let twist = Twist { linear: velocity, angular: axis * TURN };
        let output = servo.step(&DeviceState { pose: at(&hand, TURN * t), twist, engaged: true }, DT);
        simulation.simulate();
        felt = output.wrench;
        pulled.force = pulled.force.max(felt.force.norm());
        pulled.touched += usize::from(output.contacts > 0);
        if n % LOOK == 0 {
            let pose = servo.tool_pose();
            let found = contacts(exact[0], &pose, exact[1], &Pose::identity(), &query, &mut workspace).unwrap();
            pulled.depth = found.iter().map(|c| -c.separation).fold(pulled.depth, f64::max);
        }
    }
    pulled
}

/// All walls are at least 4 mm thick, except where they taper to an edge: a tool that passes through one is 2 mm deep on
/// its way. Four pairs of bodies; 400 with VOXSHELL_LONG=1.
#[test]
fn issue_19_nothing_passes_through_a_random_body() {
    let count = if support::long() { 400 } else { 4 };
    for seed in 0..count {
        let mut rng = Rng(0x19_0000 + seed);
        let (body, tool) = (Body::new(&mut rng, BODY), Body::new(&mut rng, TOOL));
        for renderer in RENDERERS {
            let pulled = pull(&body, &tool, (renderer, Detection::Continuous), &mut Rng(seed));
            println!("{seed} {renderer:?}: {:.2} um deep, {:.2} N", pulled.depth * 1e6, pulled.force);
            assert!(pulled.touched > 300 && pulled.force > 1.0, "{seed} {renderer:?}: {}", pulled.touched);
            assert!(pulled.depth < 2e-3, "{seed} {renderer:?}: {} m deep", pulled.depth);
        }
    }
}

/// Sharp edges and corners hold at their true place. One pair of bodies; 100 with VOXSHELL_LONG=1.
#[test]
fn issue_19_a_god_object_by_triangles_is_outside_random_bodies() {
    let seeds = if support::long() { 0..100 } else { 2..3 };
    for seed in seeds {
        let mut rng = Rng(0x19_0000 + seed);
        let (body, tool) = (Body::new(&mut rng, BODY), Body::new(&mut rng, TOOL));
        let pulled = pull(&body, &tool, (Renderer::GodObject, Detection::Triangles), &mut Rng(seed));
        println!("{seed}: {:e} m deep, {:.2} N", pulled.depth, pulled.force);
        assert!(pulled.touched > 300 && pulled.force > 1.0, "{seed}: {}", pulled.touched);
        assert!(pulled.depth < 1e-8, "{seed}: {} m deep", pulled.depth);
    }
}
