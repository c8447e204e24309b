//! Inputs and outputs of a god-object.

use super::budget::Budget;
use crate::shading::Surface;
use crate::Status;
use voxshell_base::math::{Pose, Wrench};
use voxshell_base::{Error, Result};
use voxshell_contact::{Geometry, Roles};

/// Settings of a god-object's motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GodSettings {
    /// k_s: fraction of the displacement to the hand that it moves in a step; above 0, at most 1. Xu & Barbič use 0.5.
    pub coupling: f64,
    /// k_h, 1/s²: the hand feels the stiffness k_s k_h M.
    pub stiffness: f64,
    /// Smallest distance of samples from the surface, metres: above 0. By default 2e-5 of the size of the largest body,
    /// tool or obstacle: the radius of its samples or of its field's box. At rest, samples are 1.3 of it above the
    /// surface.
    pub skin: Option<f64>,
    pub detection: Detection,
    /// Selects the body whose samples count.
    pub roles: Option<Roles>,
    /// Largest number of substeps in a step: after each it slides on along other constraints.
    pub substeps: u32,
    /// Limits of a step's cost: [`Status::PARTIAL`] where they end the step. While obstacles move, the step goes on
    /// until they are at their new poses.
    pub budget: Budget,
    /// Largest number of constraints with an obstacle: the deepest, and those that span the largest area.
    pub contacts: usize,
    /// Surface effects. Friction holds the god-object on obstacles at rest; on moving obstacles it slips.
    pub surface: Surface,
}

impl Default for GodSettings {
    /// Uses both bodies' samples where both bodies have the forms for it.
    fn default() -> Self {
        Self {
            coupling: 0.5,
            stiffness: 2000.0,
            skin: None,
            detection: Detection::Continuous,
            roles: None,
            substeps: 12,
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
        if self.contacts == 0 || self.substeps == 0 {
            return Err(Error::argument("contacts, substeps", 0, "at least 1"));
        }
        self.surface.check()
    }

    /// Returns the body, or both, whose samples count for the tool and an obstacle.
    pub(super) fn roles_of(&self, tool: &Geometry, body: &Geometry) -> Roles {
        let both = tool.shell.is_some() && body.field.is_some() && body.shell.is_some() && tool.field.is_some();
        self.roles.unwrap_or(if both { Roles::Both } else { Roles::One })
    }
}

/// Metric of the motion that constraints leave: it is the nearest one to the wanted motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The mass matrix of the tool, by Gauss' principle of least constraint (Ortega et al. 2007, equation 1): a tool
    /// that is pushed at its end turns as much as its inertia lets it. The force k_s k_h M (x_s − x_h) has the
    /// coupling's stiffness against translation; against rotation it has that stiffness × inertia / mass. Where that
    /// is more than the coupling's own about an axis, both are reduced in proportion.
    #[default]
    Mass,
    /// The stiffness of the coupling, the same in all directions of translation and about all axes: the energy of the
    /// springs is least, and the tool's mass and inertia have no effect.
    Stiffness,
}

/// Method of finding contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// Over the whole motion of each step, which is certified to be free of contacts.
    #[default]
    Continuous,
    /// The same, by the triangles of both bodies in place of samples, as Ortega, Redon & Coquillart 2007: vertices
    /// against faces and edges against edges. Sharp edges hold at their true place. The distances of features take the
    /// place of those of samples in all statements. It costs as much as the triangles that are near. Bodies without a
    /// [`Forms::mesh`](crate::Forms::mesh) keep their samples, and so does an obstacle that the tool is inside
    /// of.
    Triangles,
    /// At the ends of steps only, without certification: for comparison (Xu & Barbič 2016, section 5, figure 11).
    /// Samples that are then within a skin of the surface, or inside, are the constraints J a ≤ 0 of the next step,
    /// each with the field's gradient at its position. Nothing pushes them out: once inside, the god-object passes
    /// through thin parts, and deep inside the gradients point in all directions and lock it.
    Discrete,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// x_s, body to world.
    pub pose: Pose,
    /// `LOCKED`: the constraints allow no motion, though the hand pulls. `PENETRATING`: samples are inside, because the
    /// step began there or obstacles left no room, and there is no way out nearby; the god-object goes no deeper, and
    /// holds the hand as any constraint does. `PARTIAL`: the budget ended the step. `BAD_HEIGHT`: a height was not
    /// finite.
    pub status: Status,
    /// F_c = k_h M (a_c − a_u), on the hand, about the tool's centre.
    pub wrench: Wrench,
    /// Number of constraints at the end.
    pub constraints: u32,
    /// Number of substeps of the step.
    pub substeps: u32,
    /// φ of the nearest sample at the end if it is less than three skins, otherwise three skins: metres.
    pub clearance: f64,
}

/// Pose of a god-object at a time of its last step: a waypoint of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// 0 to 1; obstacles were then on their own paths, see [`Moving::pose`](voxshell_ccd::impact::Moving::pose).
    pub time: f64,
    /// Body to world.
    pub pose: Pose,
}
