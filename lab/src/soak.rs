//! `voxshell-lab soak`: hours of simulated haptic use with all renderers in turn. A hand with springs wanders around and
//! through random bodies, at scales of the workspace from 0.1 to 30, while the simulation stalls, the device sends bad
//! samples, the hand uses its clutch, bodies move, come and go, and settings change. What must hold in every step is checked
//! in every step.

mod account;
mod edits;

use std::f64::consts::TAU;

use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::Coverage;
use voxshell::haptics::{
    self, DeviceState, Forms, Limits, Obstacle, Output, Renderer, Servo, Settings, Simulation, Status, Tool,
};
use voxshell::math::{Pose, Progress, Rotation, Twist, Vec3, Wrench};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::voxmap::Offset;
use voxshell::{Error, Result};
use voxshell_lab::device::{DeviceModel, SimulatedDevice};
use voxshell_lab::row::Row;

use crate::bench::progress::Steps;
use crate::bench::random::Random;
use crate::haptics_demo::session::{RendererName, STEP};

use account::Account;
use edits::Edits;

#[derive(clap::Args)]
pub struct Arguments {
    /// Simulated time of all renderers together, hours.
    #[arg(long, default_value_t = 10.0)]
    hours: f64,
    /// Number that determines bodies, motions and faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this session alone, with the renderer of the whole run.
    #[arg(long, value_name = "NUMBER")]
    session: Option<usize>,
    /// Renderers to use in turn; default: all.
    #[arg(long, value_enum, value_delimiter = ',')]
    renderer: Vec<RendererName>,
    /// Print one JSON object per renderer.
    #[arg(long)]
    json: bool,
}

/// Simulated time with the same bodies, seconds.
const SESSION: f64 = 60.0;
/// A desktop device: 12 N, in the device's own units.
const DEVICE: Limits = Limits { force: 12.0, torque: 0.5, stiffness: [2000.0, 20.0], damping: [20.0, 0.2] };
/// Extents of obstacles and tool, metres of the device.
const OBSTACLE: f64 = 0.1;
const TOOL: f64 = 0.05;
/// Amplitude of the hand's motion, metres and radians of the device.
const WANDER: [f64; 2] = [0.07, 0.8];
/// Mean times between stalls of the simulation, uses of the clutch and bad samples, seconds.
const STALLS: f64 = 3.0;
const CLUTCHES: f64 = 5.0;
const GLITCHES: f64 = 4.0;
/// A hand that is this far from its tool, in fractions of the coupling's reach, while they touch something, and that for
/// this long, seconds, feels a force, or a status says why not.
const DISPLACED: f64 = 0.3;
const SETTLED: f64 = 0.3;
/// Fraction of the coupling's pull that a locked god-object gives at least.
const LOCKED: f64 = 0.5;
/// Time for which a force may be missing, seconds.
const UNFELT: f64 = 0.02;
/// A tool that comes to this fraction of its distance within that time is on its way to the hand: it grazes what it touches,
/// and the coupling's pull accelerates it.
const RETURNING: f64 = 0.9;

/// Extremes over all steps of a renderer.
#[derive(Default)]
struct Tally {
    steps: u64,
    contacts: u64,
    faults: u64,
    clutches: u64,
    stalls: u64,
    edits: u64,
    /// Largest force and torque over the limit of the device.
    over_limit: f64,
    /// Largest rise in a step of a ramp over that of an even ramp to the limit.
    over_ramp: f64,
    /// Largest rise of the force in a step without a ramp, N.
    jump: f64,
    /// Largest energy that the hand got over that which sampling, faults and moving bodies explain.
    over_energy: f64,
    /// Steps in which the hand got no force and no status said why.
    silent: u64,
    /// Steps whose output was not finite.
    not_finite: u64,
    /// Largest distance of the tool from the hand, metres of the device.
    apart: f64,
    /// The first steps in which something did not hold.
    broken: Vec<String>,
}

/// Largest distance of a tool from the hand, metres of the device: bodies can hold it back by their size.
const APART: f64 = 0.5;

/// Number of steps that are described of those in which something did not hold.
const DESCRIBED: usize = 5;

impl Tally {
    fn holds(&self) -> bool {
        let within = [self.over_limit, self.over_ramp, self.over_energy].iter().all(|x| *x <= 1.0 + 1e-6);
        within && self.silent == 0 && self.not_finite == 0 && self.apart <= APART
    }

    /// Describes a step in which something did not hold.
    fn describe(&mut self, what: &str, time: f64, output: &Output, last: &Wrench) {
        if self.broken.len() < DESCRIBED {
            let sizes = |w: &Wrench| format!("{:.4} N, {:.5} N·m", w.force.norm(), w.torque.norm());
            let (now, before, status) = (sizes(&output.wrench), sizes(last), output.status.0);
            self.broken.push(format!("at {time:.3} s {what}: {now} after {before}, status {status:#x}"));
        }
    }

    fn row(&self, renderer: RendererName) -> Row {
        Row::new(format!("haptics/soak/{}/hours", renderer.name()), self.steps as f64 * STEP / 3600.0, "h")
            .with("contact_share", self.contacts as f64 / self.steps.max(1) as f64)
            .with("faults", self.faults)
            .with("clutches", self.clutches)
            .with("stalls", self.stalls)
            .with("scene_changes", self.edits)
            .with("force_over_limit", self.over_limit)
            .with("rise_over_ramp", self.over_ramp)
            .with("energy_over_bound", self.over_energy)
            .with("max_rise_n", self.jump)
            .with("silent_losses", self.silent)
            .with("not_finite", self.not_finite)
            .with("max_apart_mm", self.apart * 1e3)
            .with("holds", self.holds())
    }
}

/// Runs the sessions and prints a row for each renderer.
///
/// # Errors
/// `Unsupported` if something did not hold; the errors of cooking.
pub fn run(arguments: &Arguments) -> Result<()> {
    let renderers = match arguments.renderer.as_slice() {
        [] => &RendererName::ALL[..],
        some => some,
    };
    let sessions = (arguments.hours * 3600.0 / SESSION).ceil().max(1.0) as usize;
    let mut tallies: Vec<Tally> = renderers.iter().map(|_| Tally::default()).collect();
    let bar = Steps::new(sessions);
    for session in arguments.session.map_or(0..sessions, |session| session..session + 1) {
        let i = session % renderers.len();
        bar.next(renderers[i].name());
        let mut random = Random::new(arguments.seed.wrapping_mul(1 << 20).wrapping_add(session as u64));
        let seconds = SESSION.min(arguments.hours * 3600.0);
        let known = tallies[i].broken.len();
        let edits = Edits::of_session(session, arguments.seed);
        Session::new(renderers[i], &mut random, edits)?.run(seconds, &mut random, &mut tallies[i])?;
        for broken in &tallies[i].broken[known..] {
            eprintln!("{}, session {session}, {broken}", renderers[i].name());
        }
    }
    drop(bar);
    let rows: Vec<Row> = renderers.iter().zip(&tallies).map(|(renderer, tally)| tally.row(*renderer)).collect();
    if arguments.json {
        rows.iter().for_each(|row| println!("{row}"));
    } else {
        voxshell_lab::row::print(&rows);
        for (renderer, tally) in renderers.iter().zip(&tallies) {
            println!("{}: {}", renderer.name(), if tally.holds() { "all holds" } else { "broken, see --json" });
        }
    }
    match tallies.iter().all(Tally::holds) {
        true => Ok(()),
        false => Err(Error::Unsupported("a promise was broken: see the rows".into())),
    }
}

/// One set of bodies, settings and motions.
struct Session {
    servo: Servo,
    simulation: Simulation,
    device: SimulatedDevice,
    /// Metres of the world per metre of the device.
    scale: f64,
    /// Point of the tool that the coupling pulls to the hand, body frame.
    pulled: Vec3,
    /// Limits in the world.
    limits: Limits,
    wander: Wander,
    /// Distance from the wandering at the start; the hand comes within a second.
    away: Vec3,
    /// Time between rounds of the simulation, seconds.
    round: f64,
    /// Pose of the second obstacle at the start, and its motion if it moves.
    home: Pose,
    moves: Option<Wander>,
    edits: Option<Edits>,
}

impl Session {
    fn new(renderer: RendererName, random: &mut Random, mut edits: Option<Edits>) -> Result<Self> {
        let scale = 0.1 * 300f64.powf(random.next());
        let mut obstacle = |at: Vec3| -> Result<Obstacle> {
            let forms = forms(scale, random)?;
            Ok(Obstacle::fixed(forms, Pose::from_parts((at * scale).into(), random.rotation())))
        };
        let mut obstacles = vec![obstacle(Vec3::zeros())?, obstacle(Vec3::new(0.09, 0.02, 0.0))?];
        if let Some(edits) = &mut edits {
            edits.prepare(scale, &mut obstacles)?;
        }
        let home = obstacles[1].pose;
        let options = CookOptions {
            resolution: Resolution::Cells(32),
            shell: ShellOptions { target_count: Some(500), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let shape = Shape::cook(&part(random)?.scaled_to_extent(TOOL * scale), &options, &Progress::none())?;
        let Some(solid) = shape.mass else { return Err(Error::InvalidMesh("the tool has no inside".into())) };
        let surface = shape.surface_for(Coverage::Facets)?.cloned();
        let forms = Forms { field: shape.field, shell: shape.shell, surface, ..Forms::default() };
        let tool = Tool::of_mass(forms, &solid, 0.05 * 10f64.powf(random.next()))?;
        let limits = Limits {
            force: DEVICE.force,
            torque: DEVICE.torque * scale,
            stiffness: [DEVICE.stiffness[0] / scale, DEVICE.stiffness[1] * scale],
            damping: [DEVICE.damping[0] / scale, DEVICE.damping[1] * scale],
        };
        let settings = Settings::for_tool(renderer.renderer(), &tool, &limits)?;
        // The spring of a god-object acts at its centre of mass.
        let pulled = if settings.renderer == Renderer::GodObject { tool.center } else { settings.coupling.point };
        let (servo, simulation) = haptics::new(settings, tool, obstacles)?;
        servo.monitor().set_scale(scale);
        let model = DeviceModel { resolution: [2e-5, 2e-4], ..DeviceModel::new(0.3, 1.0).held() };
        let wander = Wander::new(WANDER, random);
        // One session in eight begins inside the bodies.
        let away = if random.below(8) == 0 { Vec3::zeros() } else { Vec3::new(0.0, 0.3, 0.0) };
        let start = Pose::from_parts((wander.at(0.0).translation.vector + away).into(), wander.at(0.0).rotation);
        let device = SimulatedDevice::new(model, start);
        let round = 1e-3 * 16f64.powf(random.next());
        let moves = (random.below(2) == 0).then(|| Wander::new([0.01 * scale, 0.1], random));
        Ok(Self { servo, simulation, device, scale, pulled, limits, wander, away, round, home, moves, edits })
    }

    fn run(&mut self, seconds: f64, random: &mut Random, tally: &mut Tally) -> Result<()> {
        let mut base = Vec3::zeros();
        let (mut felt, mut last) = (Wrench::ZERO, Wrench::ZERO);
        let (mut next_round, mut stalled, mut clutched) = (0.0, 0.0, 0.0);
        let mut held: Option<Vec3> = None;
        let (mut displaced_since, mut unfelt, mut unfelt_from) = (None, 0.0, 0.0);
        let lever = 0.5 * TOOL * self.scale;
        let mut account = Account::new(self.servo.settings(), lever, &self.device.pose(), self.moves.is_some());
        for step in 0..(seconds / STEP) as u64 {
            let t = step as f64 * STEP;
            self.device.wanted = self.wanted(t);
            self.device.step(&felt, STEP);
            let mut state = in_world(&self.device.state(), &base, self.scale);

            // The clutch: the device moves on while the place in the world stays.
            if held.is_none() && happens(random, CLUTCHES) {
                held = Some(state.pose.translation.vector);
                clutched = t + 0.1 + 0.4 * random.next();
                tally.clutches += 1;
            }
            if let Some(place) = held {
                base += place - state.pose.translation.vector;
                state = in_world(&self.device.state(), &base, self.scale);
                if t < clutched {
                    (state.twist.linear, state.engaged) = (Vec3::zeros(), false);
                } else {
                    held = None;
                }
            }
            let mut dt = STEP;
            if held.is_none() && happens(random, GLITCHES) {
                spoil(&mut state, &mut dt, self.scale, random);
                tally.faults += 1;
            }
            let output = self.servo.step(&state, dt);
            if t >= stalled && happens(random, STALLS) {
                stalled = t + 0.02 + 0.18 * random.next();
                tally.stalls += 1;
            }
            let (mut contacts, mut is_edited) = (output.contacts, false);
            if t >= next_round && t >= stalled {
                if let Some(moves) = &self.moves {
                    let pose = moved(&self.home, &moves.at(t));
                    let before = moved(&self.home, &moves.at(t - STEP));
                    let twist = Twist {
                        linear: (pose.translation.vector - before.translation.vector) / STEP,
                        angular: (pose.rotation * before.rotation.inverse()).scaled_axis() / STEP,
                    };
                    self.simulation.set_obstacle_pose(1, &pose, &twist)?;
                }
                if let Some(edits) = self.edits.as_mut().filter(|edits| edits.are_due(t)) {
                    edits.apply(&mut self.simulation, self.scale, &mut self.home)?;
                    is_edited = true;
                    tally.edits += 1;
                }
                let report = self.simulation.simulate();
                contacts = contacts.max(report.contacts);
                account.round(report.least_separation, is_edited);
                next_round = t + self.round - 0.5 * STEP;
            }

            tally.steps += 1;
            tally.contacts += u64::from(contacts > 0);
            self.check(t, &output, &last, &mut account, tally);
            let pulled = [state.pose, self.servo.tool_pose()].map(|pose| pose.transform_point(&self.pulled.into()));
            let displacement = (pulled[0] - pulled[1]).norm();
            if displacement / self.scale > APART && tally.apart <= APART {
                tally.describe(&format!("the tool is {displacement:.3} m from the hand"), t, &output, &last);
            }
            tally.apart = tally.apart.max(displacement / self.scale);
            // A god-object may lag behind along its constraints, which is not felt. One that is locked holds the hand
            // with the whole pull.
            let settings = self.servo.settings();
            let (is_god_object, is_near) =
                (settings.renderer == Renderer::GodObject, displacement <= DISPLACED * settings.coupling.reach[0]);
            let is_pressed = match is_god_object {
                true => output.status == Status::LOCKED,
                false => output.status == Status::NORMAL && output.contacts > 0,
            };
            displaced_since = if is_pressed && !is_near { displaced_since.or(Some(t)) } else { None };
            if displaced_since.is_some_and(|since| t - since > SETTLED) {
                // A coupling gives no more than at its reach.
                let drawn = if is_god_object { displacement } else { displacement.min(settings.coupling.reach[0]) };
                let expected = (settings.coupling.stiffness[0] * drawn).min(self.limits.force);
                let torque = output.wrench.torque.norm() / self.limits.torque;
                // The force of a soft body's constraints is a part of the pull.
                let softest = self.edits.as_ref().map_or(1.0, Edits::softest);
                let share = if is_god_object { LOCKED * softest } else { 0.05 };
                // For some steps, the coupling's damper may balance its spring.
                let is_felt =
                    output.wrench.force.norm() > share * expected || (!is_god_object && torque > share * DISPLACED);
                if is_felt || displacement < RETURNING * unfelt_from {
                    (unfelt, unfelt_from) = (0.0, displacement);
                } else {
                    unfelt += STEP;
                }
                if unfelt > UNFELT {
                    tally.silent += 1;
                    tally.describe(&format!("{displacement:.4} m of displacement are not felt"), t, &output, &last);
                }
            }
            last = output.wrench;
            felt = Wrench { force: output.wrench.force, torque: output.wrench.torque / self.scale };
            account.held = output.wrench;
            if is_edited {
                // The servo learns of it in its next step.
                account.edit();
            }
        }
        Ok(())
    }

    /// Returns where the hand wants to be.
    fn wanted(&self, t: f64) -> Pose {
        let pose = self.wander.at(t);
        Pose::from_parts((pose.translation.vector + self.away * (1.0 - t).max(0.0)).into(), pose.rotation)
    }

    /// Checks the output of a step.
    fn check(&self, time: f64, output: &Output, last: &Wrench, account: &mut Account, tally: &mut Tally) {
        let Wrench { force, torque } = &output.wrench;
        if !output.wrench.is_finite() {
            tally.not_finite += 1;
            return;
        }
        let over = (force.norm() / self.limits.force).max(torque.norm() / self.limits.torque);
        tally.over_limit = tally.over_limit.max(over);
        let is_fault = [Status::BAD_STATE, Status::BAD_TIME, Status::TELEPORT, Status::DISENGAGED, Status::STALE]
            .into_iter()
            .any(|status| output.status.contains(status));
        account.since = if is_fault { 0.0 } else { account.since + STEP };
        // The slope of a ramp that takes longer than its time doubles with each further time.
        let time_of_ramp = self.servo.settings().timing.ramp;
        let ramp = STEP / time_of_ramp * (account.since / time_of_ramp - 1.0).max(0.0).exp2();
        let rise = [
            (force.norm() - last.force.norm()) / (self.limits.force * ramp),
            (torque.norm() - last.torque.norm()) / (self.limits.torque * ramp),
        ];
        // The damper of the passivity controller acts and ends at once.
        let is_damped = output.status.contains(Status::DAMPED);
        let is_even = !is_damped & !std::mem::replace(&mut account.was_damped, is_damped);
        if is_even && (output.status.contains(Status::RAMPING) || account.glides()) {
            let rise = rise[0].max(rise[1]);
            tally.over_ramp = tally.over_ramp.max(rise);
            if rise > 1.0 + 1e-6 {
                tally.describe("the ramp is too steep", time, output, last);
            }
        } else if output.status == Status::NORMAL {
            tally.jump = tally.jump.max(force.norm() - last.force.norm());
        }
        account.step(&self.device, self.scale, is_fault);
        let ratio = account.ratio();
        if ratio > 1.0 + 1e-6 && tally.over_energy <= 1.0 + 1e-6 {
            tally.describe(&format!("the hand got {ratio:.3} of the energy that is explained"), time, output, last);
        }
        tally.over_energy = tally.over_energy.max(ratio);
    }
}

/// A smooth motion about a place: a sum of waves.
struct Wander {
    amplitude: [f64; 2],
    waves: [[(f64, f64); 3]; 6],
}

impl Wander {
    fn new(amplitude: [f64; 2], random: &mut Random) -> Self {
        let waves = [(); 6].map(|()| [(); 3].map(|()| (TAU * (0.1 + 1.2 * random.next()), TAU * random.next())));
        Self { amplitude, waves }
    }

    fn at(&self, t: f64) -> Pose {
        let sum = |i: usize| self.waves[i].iter().map(|(rate, phase)| (rate * t + phase).sin()).sum::<f64>() / 3.0;
        let [far, turn] = self.amplitude;
        Pose::new(Vec3::new(sum(0), sum(1), sum(2)) * far, Vec3::new(sum(3), sum(4), sum(5)) * turn)
    }
}

/// Returns the forms of a random obstacle.
fn forms(scale: f64, random: &mut Random) -> Result<Forms> {
    let mesh = part(random)?.scaled_to_extent(OBSTACLE * scale);
    let options = CookOptions {
        resolution: Resolution::Cells(48),
        storage: if random.below(2) == 0 { Storage::Dense } else { Storage::Bricks },
        shell: ShellOptions { target_count: Some(800), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(&mesh, &options, &Progress::none())?;
    let surface = shape.surface_for(Coverage::Facets)?.cloned();
    let forms = Forms { field: shape.field, shell: shape.shell, surface, ..Forms::default() };
    forms.with_voxmap(if random.below(2) == 0 { Offset::MCNEELY } else { Offset::SURFACE })
}

/// Returns a random part, of any size.
fn part(random: &mut Random) -> Result<TriMesh> {
    match random.below(7) {
        0 => primitives::cuboid([0.5, 0.1 + 0.4 * random.next(), 0.05 + 0.4 * random.next()]),
        1 => primitives::hole([0.5, 0.1 + 0.3 * random.next(), 0.5], 0.1 + 0.3 * random.next(), 24),
        2 => primitives::gear(6 + random.below(10), 0.5, 0.4, 0.1 + 0.3 * random.next(), 0.1),
        3 => primitives::cone(0.1 + 0.4 * random.next(), 1.0, 24),
        4 => primitives::torus_knot(2, 3, 0.35, 0.12, 96, 12),
        5 => primitives::bowl(0.5, 0.1 + 0.1 * random.next(), 32),
        _ => primitives::blob(3),
    }
}

/// Returns whether something happens in this step that happens every `mean` seconds.
fn happens(random: &mut Random, mean: f64) -> bool {
    random.next() < STEP / mean
}

fn in_world(state: &DeviceState, base: &Vec3, scale: f64) -> DeviceState {
    let DeviceState { pose, twist, engaged } = state;
    let position = base + pose.translation.vector * scale;
    DeviceState {
        pose: Pose::from_parts(position.into(), pose.rotation),
        twist: Twist { linear: twist.linear * scale, angular: twist.angular },
        engaged: *engaged,
    }
}

fn moved(home: &Pose, by: &Pose) -> Pose {
    let rotation = by.rotation * home.rotation;
    Pose::from_parts((home.translation.vector + by.translation.vector).into(), rotation)
}

/// Makes a sample of the device bad in one of the ways in which devices are.
fn spoil(state: &mut DeviceState, dt: &mut f64, scale: f64, random: &mut Random) {
    match random.below(7) {
        0 => state.pose.translation.vector.x = f64::NAN,
        1 => state.twist.linear.y = f64::INFINITY,
        2 => state.pose.rotation = Rotation::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0)),
        3 => *dt = 0.0,
        4 => *dt = f64::NAN,
        5 => state.pose.translation.vector.z += scale * (0.05 + 0.1 * random.next()),
        _ => state.pose.rotation = Rotation::new_unchecked(-state.pose.rotation.into_inner()),
    }
}
