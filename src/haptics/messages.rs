//! Messages between the two halves.

use super::constraint::ConstraintModel;
use super::Status;
use crate::math::{Pose, Twist, Vec6, Wrench};
use crate::response::{Kinematics, Response};

/// From the servo to the simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Counts resets: results from before a reset do not count after it.
    pub generation: u32,
    /// Time of the servo, seconds.
    pub clock: f64,
    /// Pose of the tool at the hand, and its twist; of its origin.
    pub hand: Pose,
    pub twist: Twist,
    /// The simulated tool, about its centre of mass.
    pub body: Kinematics,
    /// False until the first step.
    pub live: bool,
}

/// From the simulation to the servo.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Generation of the input from which it was computed.
    pub generation: u32,
    pub clock: f64,
    pub contacts: u32,
    pub status: Status,
    pub contact: Linearised,
    /// Constraints on the tool, if the renderer has constraints.
    pub constraints: Option<ConstraintModel>,
}

/// Effect of contacts on the tool near a state of it (Otaduy & Lin 2005, section 5.3): W₀ + K Δx + B Δv + t Ẇ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linearised {
    pub at: Kinematics,
    pub response: Response,
    /// Ẇ: from the obstacles' own motion, N/s and N·m/s.
    pub drift: Vec6,
}

impl Linearised {
    /// Returns the effect of no contacts.
    pub fn none(at: Kinematics) -> Self {
        Self { at, response: Response::default(), drift: Vec6::zeros() }
    }

    /// Adds the response to a moving obstacle: `twist` is its velocity at the tool's centre.
    pub fn add(&mut self, response: &Response, twist: &Twist) {
        self.drift -= response.by_pose * twist.column();
        self.response += *response;
    }

    /// Returns the response at another state, `age` seconds later. Contacts only push: where the linearised plane would
    /// pull the tool back, the tool has left them, and the response is zero.
    pub fn predict(&self, body: &Kinematics, age: f64) -> Response {
        let shift = body.center - self.at.center;
        let turn = (body.pose.rotation * self.at.pose.rotation.inverse()).scaled_axis();
        let change = Twist { linear: shift, angular: turn }.column();
        let faster = body.twist.column() - self.at.twist.column();
        let Response { wrench, by_pose, by_twist } = self.response;
        let column = wrench.column() + self.drift * age + by_pose * change + by_twist * faster;
        if column.dot(&wrench.column()) <= 0.0 {
            return Response::default();
        }
        Response { wrench: Wrench::from_column(&column), by_pose, by_twist }
    }
}
