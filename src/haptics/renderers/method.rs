//! The trait of all renderers, the input and the result of a round.

use crate::constraint::ConstraintModel;
use crate::god_object::Waypoint;
use crate::impulses::reach;
use crate::linearised::{Builder, Place};
use crate::messages::Input;
use crate::stops::Stops;
use crate::{Forms, HeightMap, Obstacle, Settings, Status, Tool};
use voxshell_base::math::{Pose, Twist, Wrench};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;
use voxshell_contact::{self as contact, directions, Contact, Query, Roles, Workspace};
use voxshell_response::{Body, Kinematics, PenaltySettings, Response, Sums};

/// A method of turning contacts into forces on the tool.
///
/// A round calls [`begin`](Self::begin), then [`add_obstacle`](Self::add_obstacle) for each obstacle in order, then
/// [`end`](Self::end). A warm round allocates nothing.
pub(crate) trait RenderingMethod: Send + Sync {
    /// Makes the renderer with its workspace.
    ///
    /// # Errors
    /// `InvalidArgument` for settings out of the method's range.
    fn new(settings: &Settings, tool: &Tool) -> Result<Self>
    where
        Self: Sized;

    /// Returns whether obstacles need a voxmap.
    fn uses_voxmap() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Returns whether the edges of bodies with an exact surface are tested.
    fn uses_surface() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Checks that the tool and an obstacle have the forms that the method needs: by default a pointshell of one and a
    /// field of the other.
    ///
    /// # Errors
    /// `Unsupported` if they lack them.
    fn check_forms(&self, tool: &Forms, obstacle: &Forms) -> Result<()> {
        directions(&tool.geometry(), &obstacle.geometry(), Roles::One, false).map(drop)
    }

    fn begin(&mut self, _round: &Round) {}

    /// Adds the effect of an obstacle, which was at the pose `from` in the last round.
    ///
    /// # Errors
    /// As the queries; none for forms that passed [`check_forms`](Self::check_forms) and finite input.
    fn add_obstacle(&mut self, _round: &Round, _obstacle: &Obstacle, _from: &Pose, _effect: &mut Effect) -> Result<()> {
        Ok(())
    }

    /// Adds the effect that all obstacles have together.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite.
    fn end(&mut self, _round: &Round, _obstacles: &[Obstacle], _effect: &mut Effect) -> Result<()> {
        Ok(())
    }

    /// Returns the edge of the smallest voxel among all bodies, metres, if the coupling is to press contacts no deeper
    /// than half of it.
    fn smallest_voxel(&self, _tool: &Forms, _obstacles: &[Obstacle]) -> Option<f64> {
        None
    }

    /// Returns whether the servo fades contacts in: after a reset, and when a new snapshot replaces the last one.
    fn fades_in(&self) -> bool {
        true
    }

    /// Returns the constraints on the tool, if the method has constraints. The servo then attaches the hand to them by
    /// a coupling spring, and does not integrate a simulated tool.
    fn constraints(&self) -> Option<&ConstraintModel> {
        None
    }

    /// Returns the path of the tool in the last round, if the method computes one.
    fn path(&self) -> &[Waypoint] {
        &[]
    }

    /// Takes over settings that changed at run time.
    ///
    /// # Errors
    /// `InvalidArgument` for settings out of the method's range.
    fn set_settings(&mut self, _settings: &Settings) -> Result<()> {
        Ok(())
    }

    /// Sets a height map on the obstacles, if the method renders surface effects.
    fn set_height_map(&mut self, _height_map: Option<HeightMap>) {}
}

/// Input of a round.
pub(crate) struct Round<'a> {
    pub settings: &'a Settings,
    pub tool: &'a Tool,
    pub input: &'a Input,
    /// True if the input does not continue the motion of the last round.
    pub is_first: bool,
    /// Pose of the simulated tool in the last round.
    pub from: Pose,
    /// Time since the last round, seconds; positive.
    pub time: f64,
}

impl Round<'_> {
    pub fn tool_body(&self) -> Body<'_> {
        Body { geometry: self.tool.forms.geometry(), kinematics: self.input.body }
    }

    /// Returns the spring and damper of each contact with an obstacle. [`Averaged`] does the averaging, over all
    /// obstacles.
    pub fn springs(&self, obstacle: &Obstacle) -> PenaltySettings {
        let (c, hardness) = (&self.settings.contact, obstacle.hardness());
        PenaltySettings { offset: c.offset, ..PenaltySettings::new(c.stiffness * hardness, c.damping * hardness) }
    }

    /// Returns the contacts of the tool, as A, with an obstacle.
    pub fn contacts<'w>(
        &self,
        obstacle: &Obstacle,
        max_separation: f64,
        workspace: &'w mut Workspace,
    ) -> Result<&'w [Contact]> {
        let query = Query { roles: Roles::One, max_separation, ..Query::default() };
        let (a, b) = (self.tool.forms.exact_geometry(), obstacle.forms.exact_geometry());
        contact::contacts(a, &self.input.body.pose, b, &obstacle.pose, &query, workspace)
    }
}

/// Result of a round: the effect of all obstacles on the tool.
pub(crate) struct Effect {
    /// Loads on the simulated tool, for the servo.
    pub contact: Builder,
    /// Contacts of impulses, which the servo ends.
    pub stops: Stops,
    pub contacts: u32,
    /// Metres; +∞ without contacts.
    pub least_separation: f64,
    /// Wrench on the simulated tool, about its centre of mass.
    pub wrench: Wrench,
    pub status: Status,
}

impl Effect {
    /// Makes the effect of no contacts on a tool among a number of obstacles.
    pub fn new(tool: &Tool, body: Kinematics, obstacles: usize) -> Self {
        Self {
            contact: Builder::new(body, reach(tool), obstacles),
            stops: Stops::none(body),
            contacts: 0,
            least_separation: f64::INFINITY,
            wrench: Wrench::ZERO,
            status: Status::NORMAL,
        }
    }

    /// Starts a round: no contacts on the tool with this motion.
    pub fn begin(&mut self, body: Kinematics) {
        self.contact.begin(body);
        self.stops.begin(body, 1.0);
        (self.contacts, self.least_separation) = (0, f64::INFINITY);
        (self.wrench, self.status) = (Wrench::ZERO, Status::NORMAL);
    }

    /// Counts contacts.
    pub fn count(&mut self, contacts: usize, separations: impl Iterator<Item = f64>) {
        self.contacts += contacts as u32;
        self.least_separation = separations.fold(self.least_separation, f64::min);
    }

    /// Begins the contacts with an obstacle.
    pub fn begin_obstacle(&mut self, index: usize, obstacle: &Obstacle) {
        let (origin, velocity) = (obstacle.pose.translation.vector, obstacle.twist.linear);
        self.contact.begin_obstacle(Place { body: index as u32, origin, velocity });
    }

    /// Returns the index of the obstacle that was begun last.
    pub fn obstacle(&self) -> usize {
        self.contact.obstacle()
    }

    /// Adds the response of all contacts with an obstacle together, about the tool's centre.
    pub fn add(&mut self, response: &Response, obstacle: &Obstacle) {
        let push = response.wrench.force.try_normalize(0.0).unwrap_or_default();
        let center = self.contact.at().center;
        *self.contact.of(&center, &push) += *response;
        self.end_obstacle(obstacle);
    }

    /// Ends an obstacle whose contacts were added to [`contact`](Self::contact).
    pub fn end_obstacle(&mut self, obstacle: &Obstacle) {
        // Velocity that the obstacle's motion has at the tool's centre.
        let arm = self.contact.at().center - obstacle.pose.translation.vector;
        self.contact.end_obstacle(&Twist { linear: obstacle.twist.at(&arm), angular: obstacle.twist.angular });
        self.wrench = self.contact.wrench();
    }

    /// Replaces the sum of this number of contacts, with all obstacles, by their average times `average_from` if there
    /// are more.
    pub fn average(&mut self, contacts: usize, average_from: u32) {
        let (from, contacts) = (f64::from(average_from), contacts as f64);
        if contacts > from {
            self.contact.scale(from / contacts);
            self.wrench = self.contact.wrench();
        }
    }
}

/// Responses of the contacts with each obstacle, for an average over the contacts of all.
#[derive(Default)]
pub(super) struct Averaged {
    /// Index of the obstacle and the response, where there is one.
    responses: Vec<(usize, Response)>,
    contacts: u64,
}

impl Averaged {
    pub fn clear(&mut self) {
        self.responses.clear();
        self.contacts = 0;
    }

    /// Adds the response to this number of contacts with an obstacle.
    pub fn push(&mut self, obstacle: usize, response: &Response, contacts: usize) {
        if *response != Response::NONE {
            self.responses.push_guarded((obstacle, *response));
        }
        self.contacts += contacts as u64;
    }

    /// Adds to the effect the sum of all contacts, and above `average_from` contacts their average times that number.
    pub fn end(&self, average_from: u32, obstacles: &[Obstacle], effect: &mut Effect) {
        let (from, contacts) = (f64::from(average_from), self.contacts as f64);
        let share = if contacts > from { from / contacts } else { 1.0 };
        for (i, response) in &self.responses {
            effect.begin_obstacle(*i, &obstacles[*i]);
            effect.add(&response.scaled(share), &obstacles[*i]);
        }
    }
}

/// Returns the edge of the smallest cell of the gridded fields in which the queries between the tool and the obstacles
/// look up samples, metres.
pub(super) fn smallest_cell(tool: &Forms, obstacles: &[Obstacle]) -> Option<f64> {
    let tool = tool.geometry();
    let used = obstacles.iter().flat_map(|obstacle| {
        let body = obstacle.forms.geometry();
        let (in_body, in_tool) = directions(&tool, &body, Roles::One, false).unwrap_or_default();
        [body.field.filter(|_| in_body), tool.field.filter(|_| in_tool)]
    });
    used.flatten().filter_map(|f| Some(f64::from(f.gridded()?.grid.spacing))).min_by(f64::total_cmp)
}
