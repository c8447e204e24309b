//! Messages between the two halves.

use super::constraint::ConstraintModel;
use super::linearised::Linearised;
use super::stops::Stops;
use super::{Settings, Status};
use voxshell_base::math::{Pose, Twist};
use voxshell_response::Kinematics;

/// From the servo to the simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Counts inputs, from 1; 0 before the first step.
    pub number: u64,
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
    /// Counts snapshots, from 1; 0 before the first round.
    pub number: u64,
    /// Generation of the input from which it was computed.
    pub generation: u32,
    pub clock: f64,
    pub contacts: u32,
    /// As [`Output::touched`](super::Output::touched).
    pub touched: u64,
    /// Counts changes of bodies and settings at run time, after each of which the wrench moves by a ramp.
    pub edits: u32,
    pub settings: Settings,
    /// Whether nothing acts on the tool: neither a contact, nor braking before one.
    pub is_free: bool,
    pub status: Status,
    pub contact: Linearised,
    /// Contacts that push, if the renderer is that of impulses; otherwise none.
    pub stops: Stops,
    /// Constraints on the tool, if the renderer has constraints.
    pub constraints: Option<ConstraintModel>,
}
