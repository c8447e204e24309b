//! A hand of 600 N/m moves a peg in a hole with 0.5 mm of play, without friction, in closed loop with rounds of a
//! scripted duration: what a round found is used from its end to the end of the next one.

use std::sync::LazyLock;

use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Pose, Progress, Rotation, Twist, Vec3, Wrench};
use voxshell::mesh::primitives;

const DT: f64 = 1e-3;
/// A tool is in free space from this distance on, metres.
const FREE: f64 = 0.5e-3;
/// Steps after which nothing of the last contact is felt there.
const SILENT: u32 = 10;
const RADIUS: f64 = 4e-3;
const PLAY: f64 = 0.5e-3;
/// Half the length of the peg, and half the height of the block, metres.
const PEG: f64 = 25e-3;
const BLOCK: f64 = 10e-3;
/// The device bears what those of CHAI3D's adapter bear in its tests.
const DEVICE: Limits = Limits { force: 12.0, torque: 0.3, stiffness: [3000.0, 20.0], damping: [40.0, 0.1] };

struct Part {
    shape: Shape,
}

impl Part {
    fn forms(&self) -> Forms {
        Forms {
            field: self.shape.field.clone(),
            shell: self.shape.shell.clone(),
            surface: self.shape.surface().unwrap().cloned(),
            ..Forms::default()
        }
    }
}

static PARTS: LazyLock<[Part; 2]> = LazyLock::new(|| {
    let options = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
    let peg = primitives::peg(RADIUS, 2.0 * PEG, 0.6e-3, 64).unwrap();
    let block = primitives::hole([20e-3, BLOCK, 20e-3], RADIUS + 0.5 * PLAY, 64).unwrap();
    [&peg, &block].map(|mesh| Part { shape: Shape::cook(mesh, &options, &Progress::none()).unwrap() })
});

/// Arm and device in each axis: a mass on a spring to a moving point, with damping, integrated in short steps.
#[derive(Clone, Copy)]
struct Hand {
    mass: f64,
    damping: f64,
    stiffness: f64,
}

/// A tensed arm with the mass of a device.
const ARM: Hand = Hand { mass: 0.7, damping: 13.0, stiffness: 600.0 };
/// The lever of the arm's rotation, metres.
const GRIP: f64 = 0.05;

/// Durations of the rounds, in steps.
#[derive(Clone, Copy, Debug)]
enum Rounds {
    Even(u32),
    /// 20 to 44 ms.
    Stale,
}

impl Rounds {
    fn steps(self, round: u32) -> u32 {
        match self {
            Self::Even(steps) => steps,
            Self::Stale => 20 + (round * 7 + round * round * 3) % 25,
        }
    }
}

/// The extremes that a run saw.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Largest energy that the hand got in a closed cycle, J.
    energy: f64,
    /// Largest change of force in a step, N.
    jump: f64,
    /// Largest force while the peg is above the block, and while the hand holds it there, N.
    free: [f64; 2],
    /// Deepest place that the hand reached, metres; the least of several runs.
    depth: f64,
}

/// Path of the hand: its aim at a fraction of the cycle, 0 to 1.
type Path = fn(f64) -> Vec3;

/// Start of each path, metres.
const START: f64 = PEG + BLOCK + 4e-3;

fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
}

/// In, against both sides of the hole, and out.
fn against_the_wall(t: f64) -> Vec3 {
    let down = smooth(t / 0.3) - smooth((t - 0.7) / 0.3);
    let aside = smooth((t - 0.3) / 0.1) - 2.0 * smooth((t - 0.4) / 0.2) + smooth((t - 0.6) / 0.1);
    Vec3::new(0.1e-3 + 15e-3 * aside, START - 25e-3 * down, 0.05e-3)
}

/// In and out beside the axis, by nearly the play and the chamfer.
fn over_the_rim(t: f64) -> Vec3 {
    let down = smooth(t / 0.5) - smooth((t - 0.5) / 0.5);
    Vec3::new(0.7e-3, START - 25e-3 * down, 0.3e-3)
}

/// Runs two cycles, each of so many steps, along a path that is moved aside.
fn run(renderer: Renderer, rounds: Rounds, (path, cycle): (Path, u32), aside: Vec3) -> Seen {
    let [peg, block] = &*PARTS;
    let tool = Tool::of_mass(peg.forms(), &peg.shape.mass.unwrap(), 0.2).unwrap();
    let settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
    let block = Obstacle::fixed(block.forms(), Pose::identity());
    let (mut servo, mut simulation) = haptics::new(settings, tool, vec![block]).unwrap();
    let (mut position, mut velocity) = (aside + path(0.0), Vec3::zeros());
    let (mut rotation, mut spin) = (Rotation::identity(), Vec3::zeros());
    let (mut seen, mut last, mut energy) = (Seen::default(), Wrench::ZERO, 0.0);
    let (mut due, mut round, mut above) = (0, 0, 0);
    for n in 0..2 * cycle {
        let aim = aside + path(f64::from(n % cycle) / f64::from(cycle));
        let (from, turned) = (position, rotation);
        for _ in 0..100 {
            let h = DT / 100.0;
            let force = last.force + (aim - position) * ARM.stiffness - velocity * ARM.damping;
            velocity += force * (h / ARM.mass);
            position += velocity * h;
            let torque = last.torque - (rotation.scaled_axis() * ARM.stiffness + spin * ARM.damping) * (GRIP * GRIP);
            spin += torque * (h / (ARM.mass * GRIP * GRIP));
            rotation = Rotation::from_scaled_axis(spin * h) * rotation;
        }
        energy += last.force.dot(&(position - from)) + last.torque.dot(&(rotation * turned.inverse()).scaled_axis());
        if n == due && n > 0 {
            simulation.simulate();
        }
        let pose = Pose::from_parts(position.into(), rotation);
        let twist = Twist { linear: velocity, angular: spin };
        let output = servo.step(&DeviceState { pose, twist, engaged: true }, DT);
        if n == due {
            simulation.take_input();
            due += rounds.steps(round);
            round += 1;
        }
        let (before, force) = (last.force, output.wrench.force);
        last = output.wrench;
        let tool = servo.tool_pose();
        let up = (tool.rotation * Vec3::y()).y;
        // The lowest point of a cylinder.
        let lowest = tool.translation.y - PEG * up - RADIUS * (1.0 - up * up).max(0.0).sqrt();
        above = if lowest > BLOCK + FREE { above + 1 } else { 0 };
        if above > SILENT {
            seen.free[0] = seen.free[0].max(force.norm());
        }
        if position.y > PEG + BLOCK + 1e-3 {
            seen.free[1] = seen.free[1].max(force.norm());
        }
        // Not while the force grows from zero at the start.
        if n > 200 {
            seen.jump = seen.jump.max((force - before).norm());
        }
        seen.depth = seen.depth.max(PEG + BLOCK - position.y);
        if (n + 1) % cycle == 0 {
            seen.energy = seen.energy.max(energy);
            energy = 0.0;
        }
    }
    seen
}

/// Returns the largest of each that was seen on a path and on others beside it.
fn worst(renderer: Renderer, rounds: Rounds, path: (Path, u32)) -> Seen {
    let aside = |k: u32| Vec3::new(20e-6 * f64::from(k), 0.0, 30e-6 * f64::from(k * 5 % 8));
    let larger = |a: Seen, b: Seen| Seen {
        energy: a.energy.max(b.energy),
        jump: a.jump.max(b.jump),
        free: [0, 1].map(|i| a.free[i].max(b.free[i])),
        depth: a.depth.min(b.depth),
    };
    (0..4).map(|k| run(renderer, rounds, path, aside(k))).reduce(larger).unwrap()
}

/// Paths, and the steps of their cycles.
const WALL: (Path, u32) = (against_the_wall, 1000);
const SLOW_WALL: (Path, u32) = (against_the_wall, 3000);
const RIM: (Path, u32) = (over_the_rim, 1000);
const SLOW_RIM: (Path, u32) = (over_the_rim, 3000);

/// The impulses of a round end with its contacts: a tool that has left them is not pulled on by newtons, and the hand gets no
/// energy. A plane at the rim may still hold it for a round, beside the end of its edge.
#[test]
fn impulses_end_with_their_contacts() {
    for (rounds, free, energy) in
        [(Rounds::Even(10), 0.3, 1e-5), (Rounds::Even(16), 0.3, 1e-5), (Rounds::Stale, 0.6, 2e-4)]
    {
        for path in [WALL, SLOW_WALL, RIM, SLOW_RIM] {
            let seen = worst(Renderer::Impulse, rounds, path);
            assert!(seen.free.iter().all(|force| *force < free), "{rounds:?} {}: {seen:?}", path.1);
            assert!(seen.energy < energy, "{rounds:?} {}: {seen:?}", path.1);
        }
    }
}

/// Where the contacts of a round grow stale, the spring is drawn at a part of its force. The hand gets back no more than
/// it put in when the force returns.
#[test]
fn stale_rounds_of_a_god_object_give_no_energy() {
    for path in [WALL, SLOW_WALL, RIM, SLOW_RIM] {
        let seen = worst(Renderer::GodObject, Rounds::Stale, path);
        assert!(seen.energy < 2e-4, "{}: {seen:?}", path.1);
    }
}

/// The god-object has moved on when a round ends: neither the spring that it lets go of, nor the damper of the passivity
/// controller, changes the force at once.
#[test]
fn a_god_object_lets_go_of_the_hand_without_a_blow() {
    for (rounds, path, jump) in [
        (Rounds::Even(1), WALL, 0.7),
        (Rounds::Even(10), WALL, 1.6),
        (Rounds::Even(16), WALL, 4.0),
        (Rounds::Even(10), SLOW_RIM, 0.3),
        (Rounds::Even(16), SLOW_RIM, 0.4),
    ] {
        let seen = worst(Renderer::GodObject, rounds, path);
        assert!(seen.jump < jump && seen.depth > 20e-3, "{rounds:?} {}: {seen:?}", path.1);
    }
}
