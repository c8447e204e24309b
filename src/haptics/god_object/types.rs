//! What goes in and out of a god-object.

use super::budget::Budget;
use crate::contact::Roles;
use crate::haptics::shading::Surface;
use crate::haptics::Status;
use crate::math::{Pose, Wrench};
use crate::{Error, Result};

/// How a god-object moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GodSettings {
    /// k_s: of the way to the hand, what it goes in a step; above 0, at most 1. Xu & Barbič use 0.5.
    pub coupling: f64,
    /// k_h, 1/s²: k_s k_h M is the stiffness that is felt.
    pub stiffness: f64,
    /// How near samples come, metres: above 0. By default 2e-5 of the size of the largest body, tool or obstacle: the radius
    /// of its samples or of its field's box. What counts as rest is 1.3 of it above the surface.
    pub skin: Option<f64>,
    pub detection: Detection,
    /// Which body's samples count.
    pub roles: Option<Roles>,
    /// Stretches in a step: after each it slides on along other constraints.
    pub stretches: u32,
    /// What a step may cost: [`Status::PARTIAL`] where that ends it. While obstacles move it goes on until they are where they
    /// are to be.
    pub budget: Budget,
    /// Constraints with an obstacle: the deepest, and those that span the largest area.
    pub contacts: usize,
    /// What it feels. Friction holds it on obstacles at rest; on those that move it slips.
    pub surface: Surface,
}

impl Default for GodSettings {
    /// Both bodies' samples where both have what it needs.
    fn default() -> Self {
        Self {
            coupling: 0.5,
            stiffness: 2000.0,
            skin: None,
            detection: Detection::Continuous,
            roles: None,
            stretches: 12,
            budget: Budget::UNLIMITED,
            contacts: 48,
            surface: Surface::default(),
        }
    }
}

impl GodSettings {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.coupling > 0.0 && self.coupling <= 1.0) {
            return Err(Error::argument("coupling", self.coupling, "a part of the way, above 0 and at most 1"));
        }
        if !(self.stiffness >= 0.0 && self.stiffness.is_finite()) {
            return Err(Error::argument("stiffness", self.stiffness, "a finite number, 0 or more"));
        }
        if self.skin.is_some_and(|s| !(s > 0.0 && s.is_finite())) {
            return Err(Error::argument("skin", self.skin.unwrap_or(0.0), "a positive, finite length in metres"));
        }
        if self.contacts == 0 || self.stretches == 0 {
            return Err(Error::argument("contacts, stretches", 0, "at least 1"));
        }
        self.surface.check()
    }
}

/// How contacts are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// On the whole way of each step, which is certified to be free.
    #[default]
    Continuous,
    /// At the ends of steps only, and nothing is certified: to compare with (Xu & Barbič 2016, section 5, figure 11). Samples that are
    /// then within a skin of the surface, or inside, are the constraints J a ≤ 0 of the next step, each with the field's
    /// gradient where it is. Nothing pushes them out: once inside, what is thin is passed, and deep inside gradients point all ways
    /// and hold it fast.
    Discrete,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// x_s, body to world.
    pub pose: Pose,
    /// `LOCKED`: nothing that the constraints allow leads anywhere, though the hand pulls. `PENETRATING`: samples are inside,
    /// because the step began there or obstacles left no room; the god-object then follows the hand, without force, until it
    /// is out. `PARTIAL`: the budget ended it. `BAD_HEIGHT`: a height was not finite.
    pub status: Status,
    /// F_c = k_h M (a_c − a_u), on the hand, about the tool's centre.
    pub wrench: Wrench,
    /// Constraints at the end.
    pub constraints: u32,
    /// Stretches that the step took.
    pub stretches: u32,
    /// φ of the nearest sample at the end where it is less than three skins, else that: metres.
    pub clearance: f64,
}

/// Where a god-object was at a time of its last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// 0 to 1; obstacles were then on their own ways, as [`Moving::pose`] says.
    pub time: f64,
    /// Body to world.
    pub pose: Pose,
}
