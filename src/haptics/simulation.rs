//! The slow half: finds contacts for the newest state of the tool, and publishes their effect on it.

use super::constraint::Constraint;
use super::god_object::Waypoint;
use super::messages::{Input, Snapshot};
use super::renderers::{Effect, RenderingMethod, Round};
use super::triple_buffer::{Reader, Writer};
use super::{touched_bit, HeightMap, Obstacle, Settings, Status, Tool};
use crate::math::{limits, Pose, Twist, Wrench};
use crate::{Error, Result};

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
    /// Input of the last round, and the obstacles' poses in it.
    last: Input,
    were: Vec<Pose>,
    moved: bool,
    report: Report,
}

impl Simulation {
    pub(super) fn new(
        settings: Settings,
        tool: Tool,
        obstacles: Vec<Obstacle>,
        method: Box<dyn RenderingMethod>,
        inputs: Reader<Input>,
        snapshots: Writer<Snapshot>,
    ) -> Result<Self> {
        for (i, obstacle) in obstacles.iter().enumerate() {
            method
                .check_forms(&tool.forms, &obstacle.forms)
                .map_err(|e| Error::Unsupported(format!("tool and obstacle {i}: {e}")))?;
            check_motion(i, &obstacle.pose, &obstacle.twist)?;
        }
        let report = Report {
            fresh: false,
            clock: 0.0,
            contacts: 0,
            least_separation: f64::INFINITY,
            wrench: Wrench::ZERO,
            status: Status::NORMAL,
        };
        let (last, were) = (*inputs.get(), obstacles.iter().map(|o| o.pose).collect());
        let effect = Effect::new(&tool, last.body);
        Ok(Self { settings, tool, obstacles, method, effect, inputs, snapshots, last, were, moved: true, report })
    }

    /// Returns the number of obstacles.
    pub fn obstacles(&self) -> usize {
        self.obstacles.len()
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
    /// with it between rounds.
    ///
    /// # Errors
    /// `InvalidArgument` for an index without an obstacle, and for a pose or twist that is not finite.
    pub fn set_obstacle_pose(&mut self, index: usize, pose: &Pose, twist: &Twist) -> Result<()> {
        check_motion(index, pose, twist)?;
        let count = self.obstacles.len();
        let Some(obstacle) = self.obstacles.get_mut(index) else {
            return Err(Error::argument("index", index, format!("less than {count}, the number of obstacles")));
        };
        (obstacle.pose, obstacle.twist) = (*pose, *twist);
        self.moved = true;
        Ok(())
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
        let fresh = self.inputs.update();
        let input = *self.inputs.get();
        if !input.live || !(fresh || self.moved) {
            self.report.fresh = false;
            return self.report;
        }
        // An input of another generation belongs to another motion.
        let is_first = !self.last.live || self.last.generation != input.generation;
        let touched = self.render(&input, is_first);
        self.last = input;
        let Effect { contacts, least_separation, wrench, mut status, .. } = self.effect;
        // Some displacement is left, also for a hand at rest.
        self.moved = status.contains(Status::PARTIAL);
        if least_separation < -self.settings.contact.tolerance {
            status |= Status::PENETRATING;
        }
        self.report = Report { fresh: true, clock: input.clock, contacts, least_separation, wrench, status };
        let slot = self.snapshots.slot();
        (slot.generation, slot.clock, slot.contacts, slot.status) = (input.generation, input.clock, contacts, status);
        slot.is_free = contacts == 0 && wrench == Wrench::ZERO;
        slot.contact.copy_from(self.effect.contact.finish());
        slot.touched = touched;
        if let (Some(to), Some(from)) = (&mut slot.constraints, self.method.constraints()) {
            to.copy_from(from);
        }
        self.snapshots.publish();
        self.report
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
            let before = effect.contacts;
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

fn check_motion(index: usize, pose: &Pose, twist: &Twist) -> Result<()> {
    limits::check_pose(&format!("obstacles[{index}].pose"), pose)?;
    if (pose.rotation.coords.norm_squared() - 1.0).abs() > 1e-6 {
        let value = format!("{:?}", pose.rotation.coords.as_slice());
        return Err(Error::argument(format!("obstacles[{index}].pose.rotation"), value, "a unit quaternion"));
    }
    limits::check_quantities(&format!("obstacles[{index}].twist.linear"), &twist.linear)?;
    limits::check_quantities(&format!("obstacles[{index}].twist.angular"), &twist.angular)
}
