//! Steps the haptic servo and its simulation with every renderer along paths that the input gives, with faults, resets
//! and moved bodies between the steps. The wrench must stay finite and within the limits of the device.
#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::haptics::{self, DeviceState, Feel, Forms, Limits, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Twist, Vec3, Wrench};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::voxmap::Offset;
use voxshell_fuzz::start;

const LIMITS: Limits = Limits { force: 8.0, torque: 0.4, stiffness: [2000.0, 20.0], damping: [20.0, 0.2] };
const RENDERERS: [Renderer; 5] =
    [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::GodObject, Renderer::Impulse];
const MOST_STEPS: usize = 64;

#[derive(Arbitrary, Debug)]
enum Step {
    /// Moves the device by tenths of a millimetre and hundredths of a radian.
    Move {
        by: [i8; 3],
        turn: [i8; 3],
    },
    /// Gives the device numbers of any size.
    Jump {
        to: [f64; 3],
        twist: [f64; 3],
    },
    /// Steps with this time step, seconds.
    Time(f64),
    Engage(bool),
    Reset,
    Scale(f64),
    /// Moves a body by millimetres.
    Obstacle {
        index: u8,
        by: [i8; 3],
    },
    Feel {
        stiffness: f64,
        friction: f64,
    },
    /// Steps without rounds of the simulation.
    Stall,
    Admittance {
        force: [i8; 3],
        torque: [i8; 3],
    },
}

#[derive(Arbitrary, Debug)]
struct Session {
    renderer: u8,
    tool: u8,
    bodies: [u8; 2],
    /// Millimetres.
    start: [i8; 3],
    passivity: bool,
    steps: Vec<Step>,
}

struct Kit {
    tools: Vec<Tool>,
    bodies: Vec<Forms>,
}

fn cook(mesh: TriMesh, cells: u32, storage: Storage) -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() };
    Shape::cook(&mesh, &options, &Progress::none()).expect("it cooks")
}

fn forms(shape: &Shape) -> Forms {
    let forms = Forms { field: shape.field.clone(), shell: shape.shell.clone(), ..Forms::default() };
    let surface = shape.surface().expect("triangles make a surface").cloned();
    Forms { surface, ..forms.with_voxmap(Offset::MCNEELY).expect("a voxmap fits") }
}

fn kit() -> &'static Kit {
    static KIT: OnceLock<Kit> = OnceLock::new();
    KIT.get_or_init(|| {
        let tools = [
            cook(primitives::sphere(0.01, 1).expect("a mesh"), 8, Storage::Dense),
            cook(primitives::cuboid([0.01, 0.006, 0.008]).expect("a mesh"), 8, Storage::Dense),
        ];
        let bodies = [
            cook(primitives::cuboid([0.05, 0.02, 0.05]).expect("a mesh"), 12, Storage::Dense),
            cook(primitives::torus(0.03, 0.012, 12, 8).expect("a mesh"), 16, Storage::Bricks),
            cook(primitives::cuboid([0.03; 3]).expect("a mesh"), 8, Storage::Exact),
        ];
        let tool = |s: &Shape| Tool::of_mass(forms(s), &s.mass.expect("a solid"), 0.1).expect("a tool");
        Kit { tools: tools.iter().map(tool).collect(), bodies: bodies.iter().map(forms).collect() }
    })
}

fn is_within_limits(wrench: &Wrench, what: &str) {
    let (force, torque) = (wrench.force.norm(), wrench.torque.norm());
    assert!(
        force <= LIMITS.force * (1.0 + 1e-9) && torque <= LIMITS.torque * (1.0 + 1e-9),
        "{what}: {force} N, {torque} N·m"
    );
}

fuzz_target!(|session: Session| {
    start();
    let kit = kit();
    let tool = kit.tools[usize::from(session.tool) % kit.tools.len()].clone();
    let renderer = RENDERERS[usize::from(session.renderer) % RENDERERS.len()];
    let mut settings = Settings::for_tool(renderer, &tool, &LIMITS).expect("settings");
    settings.passivity = session.passivity;
    let body = |n: u8, y: f64| {
        Obstacle::fixed(kit.bodies[usize::from(n) % kit.bodies.len()].clone(), Pose::translation(0.0, y, 0.0))
    };
    let obstacles = vec![body(session.bodies[0], -0.02), body(session.bodies[1], -0.08)];
    let mut poses = obstacles.iter().map(|o| o.pose).collect::<Vec<_>>();
    let (mut servo, mut simulation) = haptics::new(settings, tool, obstacles).expect("a scene");
    let at = session.start.map(|x| f64::from(x) * 1e-3);
    let mut device = DeviceState { pose: Pose::translation(at[0], at[1], at[2]), twist: Twist::ZERO, engaged: true };
    let mut rounds = true;
    for step in session.steps.iter().take(MOST_STEPS) {
        let mut dt = 1e-3;
        match step {
            Step::Move { by, turn } => {
                let [by, turn] = [by.map(|x| f64::from(x) * 1e-4), turn.map(|x| f64::from(x) * 1e-2)];
                let moved = Pose::new(by.into(), turn.into());
                device.pose.translation.vector += moved.translation.vector;
                device.pose.rotation = moved.rotation * device.pose.rotation;
                device.twist = Twist { linear: Vec3::from(by) / dt, angular: Vec3::from(turn) / dt };
            }
            Step::Jump { to, twist } => {
                let sent = DeviceState {
                    pose: Pose { translation: (*to).into(), ..device.pose },
                    twist: Twist { linear: Vec3::from(*twist), angular: Vec3::from(*twist) },
                    engaged: true,
                };
                is_within_limits(&servo.step(&sent, dt).wrench, "after a jump");
                continue;
            }
            Step::Time(time) => dt = *time,
            Step::Engage(engaged) => device.engaged = *engaged,
            Step::Reset => servo.reset(),
            Step::Scale(scale) if *scale > 1e-9 && *scale < 1e9 => servo.monitor().set_scale(*scale),
            Step::Scale(_) => {}
            Step::Obstacle { index, by } => {
                let index = usize::from(*index) % poses.len();
                poses[index].translation.vector += Vec3::from(by.map(|x| f64::from(x) * 1e-3));
                simulation.set_obstacle_pose(index, &poses[index], &Twist::ZERO).expect("a valid pose");
            }
            Step::Feel { stiffness, friction } => {
                // Numbers out of range are refused.
                let _ = simulation.set_feel(0, Feel { stiffness: *stiffness, friction: Some(*friction) });
            }
            Step::Stall => rounds = !rounds,
            Step::Admittance { force, torque } => {
                let [force, torque] = [force, torque].map(|v| Vec3::from(v.map(f64::from)) * 0.1);
                let motion = servo.step_admittance(&Wrench { force, torque }, true, dt);
                assert!(motion.pose.translation.vector.iter().all(|x| x.is_finite()), "{motion:?}");
            }
        }
        // A step of this size several times, so that contacts build up.
        for _ in 0..2 {
            let output = servo.step(&device, dt);
            is_within_limits(&output.wrench, "a step");
            assert!(output.contact.force.iter().all(|x| x.is_finite()), "{output:?}");
            if rounds {
                simulation.simulate();
            }
        }
    }
});
