//! The slow half: finds contacts for the newest state of the tool, and publishes what they do to it.

use super::exchange::{Reader, Writer};
use super::snapshot::{Input, Linearised, Snapshot};
use super::{Obstacle, Renderer, Settings, Status, Tool};
use crate::contact::{self, check_pose, directions, Query, Roles, Workspace};
use crate::math::{Pose, Twist, Wrench};
use crate::response::{penalty, Body, Kinematics, On, PenaltySettings, Response};
use crate::{Error, Result};

/// What a round of the simulation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// False when neither the tool nor an obstacle had moved since the last round: nothing was done.
    pub fresh: bool,
    /// Time of the servo that it is for, seconds.
    pub clock: f64,
    pub contacts: u32,
    /// The least separation, metres; +∞ without contacts.
    pub least_separation: f64,
    /// What the contacts do to the simulated tool, about its centre of mass.
    pub wrench: Wrench,
    pub status: Status,
}

/// Finds contacts. One thread at a time; which one does not matter.
pub struct Simulation {
    settings: Settings,
    tool: Tool,
    obstacles: Vec<Obstacle>,
    inputs: Reader<Input>,
    snapshots: Writer<Snapshot>,
    workspace: Workspace,
    moved: bool,
    report: Report,
}

impl Simulation {
    pub(super) fn new(
        settings: Settings,
        tool: Tool,
        obstacles: Vec<Obstacle>,
        inputs: Reader<Input>,
        snapshots: Writer<Snapshot>,
    ) -> Result<Self> {
        if settings.renderer != Renderer::Penalty {
            return Err(Error::Unsupported(format!("the renderer {:?}; expected Penalty", settings.renderer)));
        }
        for (i, obstacle) in obstacles.iter().enumerate() {
            directions(&tool.forms.geometry(), &obstacle.forms.geometry(), Roles::Auto)
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
        Ok(Self { settings, tool, obstacles, inputs, snapshots, workspace: Workspace::new(), moved: true, report })
    }

    /// Number of obstacles.
    pub fn obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// Moves an obstacle, from the next round on. `twist` is of its origin, world frame; the servo lets contacts go along with
    /// it between rounds.
    ///
    /// # Errors
    /// `InvalidArgument` for a number that there is no obstacle of, and for a pose or twist that is not finite.
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

    /// One round: finds contacts for the newest state of the tool and publishes them. Allocates nothing once it is warm.
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
        let mut contact = Linearised::none(input.body);
        for i in 0..self.obstacles.len() {
            let response = self.penalty(i, &input);
            let twist = at_center(&self.obstacles[i], &input.body);
            contact.add(&response, &twist);
        }
        if self.report.least_separation < -self.settings.contact.tolerance {
            self.report.status |= Status::PENETRATING;
        }
        self.report.wrench = contact.response.wrench;
        let Report { contacts, status, .. } = self.report;
        self.snapshots.write(Snapshot { generation: input.generation, clock: input.clock, contacts, status, contact });
        self.report
    }

    /// Springs at the contacts where the tool is.
    fn penalty(&mut self, i: usize, input: &Input) -> Response {
        let obstacle = &self.obstacles[i];
        let c = &self.settings.contact;
        let query = Query { max_separation: c.offset, ..Query::default() };
        let (a, b) = (self.tool.forms.geometry(), obstacle.forms.geometry());
        let found = contact::contacts(a, &input.body.pose, b, &obstacle.pose, &query, &mut self.workspace);
        let Ok(found) = found else {
            self.report.status |= Status::BAD_STATE;
            return Response::default();
        };
        self.report.contacts += found.len() as u32;
        let least = found.iter().fold(f64::INFINITY, |least, c| least.min(c.separation));
        self.report.least_separation = self.report.least_separation.min(least);
        let of_obstacle =
            Kinematics { pose: obstacle.pose, center: obstacle.pose.translation.vector, twist: obstacle.twist };
        let (a, b) = (Body { geometry: a, kinematics: input.body }, Body { geometry: b, kinematics: of_obstacle });
        let settings = PenaltySettings {
            stiffness: c.stiffness,
            damping: c.damping,
            drag: 0.0,
            offset: c.offset,
            average_from: c.average_from,
        };
        penalty(found, &a, &b, On::A, &settings)
    }
}

/// How an obstacle moves the space where the tool's centre is.
fn at_center(obstacle: &Obstacle, body: &Kinematics) -> Twist {
    let arm = body.center - obstacle.pose.translation.vector;
    Twist { linear: obstacle.twist.at(&arm), angular: obstacle.twist.angular }
}

fn check_motion(index: usize, pose: &Pose, twist: &Twist) -> Result<()> {
    check_pose(&format!("obstacles[{index}].pose"), pose)?;
    if (pose.rotation.coords.norm_squared() - 1.0).abs() > 1e-6 {
        let value = format!("{:?}", pose.rotation.coords.as_slice());
        return Err(Error::argument(format!("obstacles[{index}].pose.rotation"), value, "a unit quaternion"));
    }
    if !twist.is_finite() {
        let value = format!("{:?}", twist.column().as_slice());
        return Err(Error::argument(format!("obstacles[{index}].twist"), value, "finite numbers"));
    }
    Ok(())
}
