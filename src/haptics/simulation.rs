//! The slow half: finds contacts for the newest state of the tool, and publishes their effect on it.

use super::god_object::{GodObject, GodSettings, Waypoint};
use super::messages::{Input, Linearised, Snapshot};
use super::renderers::{check, respond, Before, Scratch};
use super::triple_buffer::{Reader, Writer};
use super::{HeightMap, Obstacle, Renderer, Settings, Status, Tool};
use crate::math::{limits, Mat3, Pose, Twist, Wrench};
use crate::response::{Kinematics, Response};
use crate::{Error, Result};

/// Assumed time of the first round, and the minimum between two rounds, seconds.
const FIRST: f64 = 1e-3;
const LEAST: f64 = 1e-6;

/// Tools smaller than this count as points, metres.
const POINT: f64 = 1e-3;

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
    /// For [`Renderer::GodObject`].
    god: Option<GodObject>,
    inputs: Reader<Input>,
    snapshots: Writer<Snapshot>,
    scratch: Scratch,
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
        god: Option<GodObject>,
        inputs: Reader<Input>,
        snapshots: Writer<Snapshot>,
    ) -> Result<Self> {
        for (i, obstacle) in obstacles.iter().enumerate() {
            check(settings.renderer, &tool, &obstacle.forms)
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
        let scratch = Scratch::default();
        Ok(Self { settings, tool, obstacles, god, inputs, snapshots, scratch, last, were, moved: true, report })
    }

    /// Returns the number of obstacles.
    pub fn obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// Returns the path of the god-object in the last round ([`GodObject::path`]); empty with every other renderer.
    pub fn path(&self) -> &[Waypoint] {
        self.god.as_ref().map_or(&[], |god| god.path())
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
        if let Some(god) = &mut self.god {
            god.set_height_map(height_map);
        }
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
        self.moved = false;
        self.report = Report {
            fresh: true,
            clock: input.clock,
            contacts: 0,
            least_separation: f64::INFINITY,
            wrench: Wrench::ZERO,
            status: Status::NORMAL,
        };
        // An input of another generation belongs to another motion.
        let is_first = !self.last.live || self.last.generation != input.generation;
        let time = input.clock - self.last.clock;
        let mut contact = Linearised::none(input.body);
        if self.god.is_some() {
            self.advance(&input, is_first);
        } else {
            self.gather(&input, (!is_first).then_some(time), &mut contact);
        }
        self.last = input;
        if self.report.least_separation < -self.settings.contact.tolerance {
            self.report.status |= Status::PENETRATING;
        }
        let Report { contacts, status, .. } = self.report;
        let slot = self.snapshots.slot();
        (slot.generation, slot.clock, slot.contacts, slot.status) = (input.generation, input.clock, contacts, status);
        slot.contact = contact;
        if let (Some(constraints), Some(god)) = (&mut slot.constraints, &self.god) {
            constraints.copy_from(god.model());
        }
        self.snapshots.publish();
        self.report
    }

    /// Collects the effects of all obstacles on the tool; `time` is since the last round, if there was one.
    fn gather(&mut self, input: &Input, time: Option<f64>, contact: &mut Linearised) {
        let tool = if time.is_none() { input.body.pose } else { self.last.body.pose };
        let longest = self.settings.timing.longest_step;
        let time = time.map_or(FIRST, |time| time.max(LEAST)).min(longest);
        let impulses = self.settings.renderer == Renderer::Impulse;
        if impulses {
            self.scratch.impulses.begin(&self.settings, &self.tool, input, time);
        }
        for (obstacle, was) in self.obstacles.iter().zip(&mut self.were) {
            let before = Before { tool, obstacle: *was, time };
            match respond(&self.settings, &self.tool, obstacle, input, &before, &mut self.scratch) {
                Ok(found) => {
                    self.report.contacts += found.contacts;
                    self.report.least_separation = self.report.least_separation.min(found.least_separation);
                    contact.add(&found.response, &at_center(obstacle, &input.body));
                }
                Err(_) => self.report.status |= Status::BAD_STATE,
            }
            *was = obstacle.pose;
        }
        if impulses {
            match self.scratch.impulses.load() {
                Ok(load) => contact.response = Response::constant(load),
                Err(_) => self.report.status |= Status::BAD_STATE,
            }
        }
        self.report.wrench = contact.response.wrench;
    }

    /// Moves the god-object toward the hand.
    fn advance(&mut self, input: &Input, is_first: bool) {
        let Some(god) = &mut self.god else { return };
        if is_first {
            god.reset(&input.hand);
        }
        match god.advance(&input.hand, &self.obstacles) {
            Ok(advance) => {
                self.report.contacts = advance.constraints;
                self.report.least_separation = if advance.constraints > 0 { advance.clearance } else { f64::INFINITY };
                self.report.wrench = advance.wrench;
                self.report.status |= advance.status;
                // Some displacement is left, also for a hand at rest.
                self.moved |= advance.status.contains(Status::PARTIAL);
            }
            Err(_) => self.report.status |= Status::BAD_STATE,
        }
    }
}

/// Makes a god-object whose force is as stiff as the coupling: of a tool with M = K / (k_s k_h), so that its
/// quasi-static motion along constraints minimises the energy of the springs.
pub(super) fn god_object(settings: &Settings, tool: &Tool) -> Result<GodObject> {
    // A point has no size to which a skin could be relative.
    let size = tool.forms.shell.as_ref().map_or(0.0, |shell| shell.bounds().extents().norm());
    let skin = (size < POINT).then_some(2e-5 * POINT);
    let Settings { detection, budget, surface, .. } = *settings;
    let god = GodSettings { skin, detection, budget, surface, ..GodSettings::default() };
    let share = god.coupling * god.stiffness;
    let [linear, angular] =
        settings.coupling.stiffness.map(|k| (k / share).clamp(limits::MIN_QUANTITY, limits::MAX_QUANTITY));
    let as_stiff = Tool { mass: linear, inertia: Mat3::from_diagonal_element(angular), ..tool.clone() };
    GodObject::new(as_stiff, &Pose::identity(), god)
}

/// Returns the velocity that the obstacle's motion has at the tool's centre.
fn at_center(obstacle: &Obstacle, body: &Kinematics) -> Twist {
    let arm = body.center - obstacle.pose.translation.vector;
    Twist { linear: obstacle.twist.at(&arm), angular: obstacle.twist.angular }
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
