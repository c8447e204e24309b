//! The slow half: finds contacts for the newest state of the tool, and publishes their effect on it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::constraint::Constraint;
use super::exchange::{Exchange, Readings};
use super::god_object::Waypoint;
use super::messages::{Input, Snapshot};
use super::obstacle_motion::Follower;
use super::renderers::{Effect, RenderingMethod, Round};
use super::triple_buffer::{Reader, Writer};
use super::{touched_bit, Feel, HeightMap, Loads, Monitor, Obstacle, ObstacleMotion, Settings, Status, Tool};
use voxshell_base::math::{limits, Pose, Twist, Wrench};
use voxshell_base::memory::{self, filled, CollectGuarded};
use voxshell_base::{Error, Result};

/// Assumed time of the first round, and the minimum between two rounds, seconds.
const FIRST: f64 = 1e-3;
const LEAST: f64 = 1e-6;

/// Result of a round of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// False when neither the tool nor an obstacle had moved since the last round and that round was complete: the
    /// round did nothing.
    pub fresh: bool,
    /// Time of the servo for which the result holds, seconds.
    pub clock: f64,
    pub contacts: u32,
    /// The least separation, metres; +∞ without contacts.
    pub least_separation: f64,
    /// Wrench of the contacts on the simulated tool, about its centre of mass.
    pub wrench: Wrench,
    pub status: Status,
}

/// Finds contacts. Any thread may call it, one at a time.
pub struct Simulation {
    settings: Settings,
    tool: Tool,
    obstacles: Vec<Obstacle>,
    method: Box<dyn RenderingMethod>,
    effect: Effect,
    inputs: Reader<Input>,
    snapshots: Writer<Snapshot>,
    exchange: Exchange,
    readings: Readings,
    /// Number of snapshots published.
    published: u64,
    /// Inputs that a replay took for the next rounds, and whether each was new.
    early: VecDeque<(bool, Input)>,
    /// Input of the last round, and the obstacles' poses in it.
    last: Input,
    were: Vec<Pose>,
    /// Motions of the obstacles that their owner simulates.
    motions: Vec<Option<Follower>>,
    loads: Arc<Loads>,
    monitor: Arc<Monitor>,
    /// Counts changes of obstacles and settings.
    edits: u32,
    moved: bool,
    report: Report,
}

/// What both halves share, beside their channels.
pub(super) struct Shared {
    pub loads: Arc<Loads>,
    pub monitor: Arc<Monitor>,
}

impl Simulation {
    pub(super) fn new(
        settings: Settings,
        tool: Tool,
        obstacles: Vec<Obstacle>,
        method: Box<dyn RenderingMethod>,
        (inputs, snapshots): (Reader<Input>, Writer<Snapshot>),
        Shared { loads, monitor }: Shared,
    ) -> Result<Self> {
        for (i, obstacle) in obstacles.iter().enumerate() {
            check_obstacle(i, obstacle, &tool, method.as_ref())?;
        }
        let report = Report {
            fresh: false,
            clock: 0.0,
            contacts: 0,
            least_separation: f64::INFINITY,
            wrench: Wrench::ZERO,
            status: Status::NORMAL,
        };
        let (last, were) = (*inputs.get(), obstacles.iter().map(|o| o.pose).collect_guarded());
        let effect = Effect::new(&tool, last.body, obstacles.len());
        let motions = filled(None, obstacles.len());
        let readings = Readings::new(obstacles.len());
        Ok(Self {
            settings,
            tool,
            obstacles,
            method,
            effect,
            inputs,
            snapshots,
            exchange: Exchange::default(),
            readings,
            published: 0,
            early: VecDeque::new(),
            last,
            were,
            motions,
            loads,
            monitor,
            edits: 0,
            moved: true,
            report,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the number of obstacles.
    pub fn obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// Returns the messages that the last call took and published: a round, or a change of obstacles or settings.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the numbers that the last call read while steps may have changed them.
    pub fn readings(&self) -> &[f64] {
        self.readings.values()
    }

    /// Sets the [`readings`](Self::readings) of the next call, for a replay.
    pub fn give_readings(&mut self, values: impl Iterator<Item = f64>) {
        self.readings.give(values);
    }

    /// Takes the newest input of the servo for the next round that has none yet. For a replay, in which a round that ran
    /// beside steps has to use the input that it took then.
    pub fn take_input(&mut self) {
        let input = self.newest_input();
        self.early.push_back(input);
    }

    /// Returns the newest input, and whether it is new.
    fn newest_input(&mut self) -> (bool, Input) {
        (self.inputs.update(), *self.inputs.get())
    }

    /// Returns whether a round would do something: there is a new input, or an obstacle has moved.
    pub fn is_due(&self) -> bool {
        self.inputs.is_fresh() || (self.moved && self.inputs.get().live)
    }

    fn begin(&mut self) {
        self.exchange.begin();
        self.readings.begin();
    }

    /// Returns the path of the god-object in the last round ([`GodObject::path`](super::god_object::GodObject::path));
    /// empty with every other renderer.
    pub fn path(&self) -> &[Waypoint] {
        self.method.path()
    }

    /// Returns the constraints on the tool in the last round, at the pose of the god-object at its end; empty with
    /// every other renderer.
    pub fn constraints(&self) -> &[Constraint] {
        self.method.constraints().map_or(&[], |model| &model.constraints)
    }

    /// Moves an obstacle, from the next round on. `twist` is of its origin, world frame; the servo moves contacts along
    /// with it between rounds. Ends a motion of [`Simulation::set_obstacle_motion`].
    ///
    /// # Errors
    /// `InvalidArgument` for an index without an obstacle, and for a pose or twist that is not finite.
    pub fn set_obstacle_pose(&mut self, index: usize, pose: &Pose, twist: &Twist) -> Result<()> {
        self.begin();
        check_motion(index, pose, twist)?;
        let obstacle = self.place(index)?;
        (obstacle.pose, obstacle.twist) = (*pose, *twist);
        self.motions[index] = None;
        self.moved = true;
        Ok(())
    }

    /// Moves an obstacle that its owner simulates: it goes on moving between the calls, and reacts to the tool. The first
    /// call puts it at the pose; each later one changes its path without a jump.
    ///
    /// # Errors
    /// `InvalidArgument` for an index without an obstacle, and for numbers out of range.
    pub fn set_obstacle_motion(&mut self, index: usize, motion: &ObstacleMotion) -> Result<()> {
        self.begin();
        check_motion(index, &motion.pose, &motion.twist)?;
        motion.check()?;
        self.place(index)?;
        let load = self.readings.impulse(self.loads.get(index).unwrap_or_default());
        let (follows, clock) = (self.motions[index].is_some(), self.readings.number(self.monitor.clock()));
        let obstacle = &mut self.obstacles[index];
        self.motions[index] = Some(Follower::new(motion, obstacle, follows, clock, &load));
        self.moved = true;
        Ok(())
    }

    /// Replaces an obstacle, from the next round on; an empty one ([`Obstacle::empty`]) removes it. The new one is faded
    /// in over [`Timing::ramp`](super::Timing::ramp), and the wrench on the hand changes by a ramp of that time. The first
    /// rounds with a new obstacle may allocate.
    ///
    /// # Errors
    /// `InvalidArgument` for an index out of range or numbers out of range; `Unsupported` when the tool and the obstacle
    /// lack the forms that they need to meet.
    pub fn set_obstacle(&mut self, index: usize, obstacle: Obstacle) -> Result<()> {
        self.begin();
        check_obstacle(index, &obstacle, &self.tool, self.method.as_ref())?;
        *self.place(index)? = Obstacle { entry: 0.0, ..obstacle };
        self.were[index] = self.obstacles[index].pose;
        self.motions[index] = None;
        self.saturate();
        self.edit();
        Ok(())
    }

    /// Sets how an obstacle feels, from the next round on. The wrench on the hand changes by a ramp.
    ///
    /// # Errors
    /// `InvalidArgument` for an index without an obstacle, and for numbers out of range.
    pub fn set_feel(&mut self, index: usize, feel: Feel) -> Result<()> {
        self.begin();
        feel.check()?;
        self.place(index)?.feel = feel;
        self.edit();
        Ok(())
    }

    /// Changes settings, from the next round on. The wrench on the hand changes by a ramp. Renderer, metric, masses,
    /// handle and the method of detection stay as they were at the start.
    ///
    /// # Errors
    /// `InvalidArgument` for settings out of range.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        self.begin();
        settings.check()?;
        let kept = &self.settings;
        let (renderer, metric, detection) = (kept.renderer, kept.metric, kept.detection);
        let (reflected_mass, handle) = (kept.reflected_mass, kept.handle);
        self.settings = Settings { renderer, metric, detection, reflected_mass, handle, ..*settings };
        self.method.set_settings(&self.settings)?;
        self.saturate();
        self.edit();
        Ok(())
    }

    fn place(&mut self, index: usize) -> Result<&mut Obstacle> {
        let count = self.obstacles.len();
        let expected = || format!("less than {count}, the number of obstacles");
        self.obstacles.get_mut(index).ok_or_else(|| Error::argument("index", index, expected()))
    }

    /// Limits the coupling for the smallest voxel of the scene.
    fn saturate(&mut self) {
        if let Some(voxel) = self.method.smallest_voxel(&self.tool.forms, &self.obstacles) {
            self.settings = self.settings.saturated(&self.tool, voxel);
        }
    }

    fn edit(&mut self) {
        self.edits = self.edits.wrapping_add(1);
        self.moved = true;
    }

    /// Sets a height map on the obstacles, from the next round on. For
    /// [`Renderer::GodObject`](super::Renderer::GodObject); no effect with every other renderer.
    pub fn set_height_map(&mut self, height_map: Option<HeightMap>) {
        self.method.set_height_map(height_map);
        self.moved = true;
    }

    /// Runs one round: finds contacts for the newest state of the tool and publishes them. Allocates nothing once it is
    /// warm.
    pub fn simulate(&mut self) -> Report {
        self.begin();
        let (fresh, input) = self.early.pop_front().unwrap_or_else(|| self.newest_input());
        self.exchange.taken = Some(input.number);
        if !input.live || !(fresh || self.moved) {
            self.report.fresh = false;
            return self.report;
        }
        // Until the round is complete: if it runs out of memory, the next one makes up for it.
        self.moved = true;
        // An input of another generation belongs to another motion.
        let is_first = !self.last.live || self.last.generation != input.generation;
        let passed = if self.last.live { (input.clock - self.last.clock).max(0.0) } else { 0.0 };
        self.move_obstacles(input.clock, passed);
        let touched = self.render(&input, is_first);
        self.monitor.count_round(input.clock);
        self.last = input;
        let Effect { contacts, least_separation, wrench, mut status, .. } = self.effect;
        // Some displacement is left, also for a hand at rest.
        self.moved = status.contains(Status::PARTIAL);
        if least_separation < -self.settings.contact.tolerance {
            status |= Status::PENETRATING;
        }
        self.report = Report { fresh: true, clock: input.clock, contacts, least_separation, wrench, status };
        self.published += 1;
        self.exchange.published = Some(self.published);
        let slot = self.snapshots.slot();
        slot.number = self.published;
        (slot.generation, slot.clock, slot.contacts, slot.status) = (input.generation, input.clock, contacts, status);
        slot.is_free = contacts == 0 && wrench == Wrench::ZERO;
        slot.contact.copy_from(self.effect.contact.finish());
        slot.stops.copy_from(&self.effect.stops);
        slot.touched = touched;
        (slot.edits, slot.settings) = (self.edits, self.settings);
        if let (Some(to), Some(from)) = (&mut slot.constraints, self.method.constraints()) {
            to.copy_from(from);
        }
        self.snapshots.publish();
        self.report
    }

    /// Runs one round as [`Simulation::simulate`], on a thread without a guard: a round that runs out of memory has no answer,
    /// and the next one is due at once.
    pub fn simulate_if_possible(&mut self) -> Report {
        match memory::attempt("simulating haptics", || self.simulate()) {
            Ok(report) => report,
            Err(_) => Report { fresh: false, ..self.report },
        }
    }

    /// Moves obstacles that go on by themselves to the time of a round, and fades in those that were added, `passed`
    /// seconds after the last round.
    fn move_obstacles(&mut self, clock: f64, passed: f64) {
        let ramp = self.settings.timing.ramp;
        for (i, (obstacle, motion)) in self.obstacles.iter_mut().zip(&mut self.motions).enumerate() {
            obstacle.entry = (obstacle.entry + passed / ramp).min(1.0);
            if let Some(motion) = motion {
                let load = self.readings.impulse(self.loads.get(i).unwrap_or_default());
                motion.advance(obstacle, clock, &load);
            }
        }
    }

    /// Computes the effect of all obstacles on the tool, and returns the mask of those that it touches.
    fn render(&mut self, input: &Input, is_first: bool) -> u64 {
        let (from, time) = match is_first {
            true => (input.body.pose, FIRST),
            false => (self.last.body.pose, (input.clock - self.last.clock).max(LEAST)),
        };
        let time = time.min(self.settings.timing.longest_step);
        let round = Round { settings: &self.settings, tool: &self.tool, input, is_first, from, time };
        let effect = &mut self.effect;
        effect.begin(input.body);
        self.method.begin(&round);
        let mut touched = 0;
        for (i, (obstacle, was)) in self.obstacles.iter().zip(&mut self.were).enumerate() {
            if obstacle.is_empty() {
                continue;
            }
            let before = effect.contacts;
            effect.begin_obstacle(i, obstacle);
            if self.method.add_obstacle(&round, obstacle, was, effect).is_err() {
                effect.status |= Status::BAD_STATE;
            }
            *was = obstacle.pose;
            if effect.contacts > before {
                touched |= touched_bit(i);
            }
        }
        if self.method.end(&round, &self.obstacles, effect).is_err() {
            effect.status |= Status::BAD_STATE;
        }
        if effect.contacts > 0 {
            let constraints = self.method.constraints().map_or(&[][..], |model| &model.constraints);
            touched |= constraints.iter().fold(0, |mask, c| mask | touched_bit(c.body as usize));
        }
        touched
    }
}

fn check_obstacle(index: usize, obstacle: &Obstacle, tool: &Tool, method: &dyn RenderingMethod) -> Result<()> {
    check_motion(index, &obstacle.pose, &obstacle.twist)?;
    obstacle.feel.check()?;
    if obstacle.is_empty() {
        return Ok(());
    }
    let forms = method.check_forms(&tool.forms, &obstacle.forms);
    forms.map_err(|e| Error::Unsupported(format!("tool and obstacle {index}: {e}")))
}

/// Names are made only for an error: the call must not allocate.
fn check_motion(index: usize, pose: &Pose, twist: &Twist) -> Result<()> {
    let checked = || {
        limits::check_pose("pose", pose)?;
        if (pose.rotation.coords.norm_squared() - 1.0).abs() > 1e-6 {
            let value = format!("{:?}", pose.rotation.coords.as_slice());
            return Err(Error::argument("pose.rotation", value, "a unit quaternion"));
        }
        limits::check_quantities("twist.linear", &twist.linear)?;
        limits::check_quantities("twist.angular", &twist.angular)
    };
    checked().map_err(|error| match error {
        Error::InvalidArgument { argument, value, expected } => {
            Error::InvalidArgument { argument: format!("obstacles[{index}].{argument}"), value, expected }
        }
        other => other,
    })
}
