//! Effects of an obstacle on the simulated tool: one function for each method of turning contacts into forces.

use super::impulses::{reach, Impulses};
use super::messages::Input;
use super::{Forms, Obstacle, Renderer, Settings, Tool};
use crate::ccd::impact::{self, Path};
use crate::ccd::shell;
use crate::contact::{self, directions, Contact, Query, Roles};
use crate::math::{limits, Pose, Vec3};
use crate::response::{
    self, continuous, penalty, vps, Body, Braking, ContinuousSettings, Kinematics, On, PenaltySettings, Response, Role,
    Sweep, VpsSettings,
};
use crate::{Error, Result};

/// Scratch of all renderers. Warm ones allocate nothing.
#[derive(Default)]
pub(super) struct Scratch {
    near: contact::Workspace,
    on_the_way: shell::Workspace,
    voxels: response::Workspace,
    pub impulses: Impulses,
}

/// Effect of an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Response on the tool, about its centre.
    pub response: Response,
    pub contacts: u32,
    /// Metres; +∞ without contacts.
    pub least_separation: f64,
}

impl Found {
    fn of(response: Response, contacts: usize, least: impl Iterator<Item = f64>) -> Self {
        let least_separation = least.fold(f64::INFINITY, f64::min);
        Self { response, contacts: contacts as u32, least_separation }
    }
}

/// Separation below which impulses treat a sample as touching, metres: they bring the tool to the surface except for
/// rounding.
const TOUCH: f64 = 1e-6;

/// Time since the last round, and the poses then.
pub(super) struct Before {
    pub tool: Pose,
    pub obstacle: Pose,
    /// Seconds; positive.
    pub time: f64,
}

/// Checks that the tool and an obstacle have the forms that a renderer needs.
pub(super) fn check(renderer: Renderer, tool: &Tool, obstacle: &Forms) -> Result<()> {
    if renderer == Renderer::Vps {
        let has = tool.forms.shell.is_some() && obstacle.voxmap.is_some();
        let missing = || Error::Unsupported("Vps needs a pointshell of the tool and a voxmap of the obstacle".into());
        return if has { Ok(()) } else { Err(missing()) };
    }
    directions(&tool.forms.geometry(), &obstacle.geometry(), Roles::Auto).map(drop)
}

/// # Errors
/// As the queries; none for input that passed [`check`] and is finite.
pub(super) fn respond(
    settings: &Settings,
    tool: &Tool,
    obstacle: &Obstacle,
    input: &Input,
    before: &Before,
    scratch: &mut Scratch,
) -> Result<Found> {
    let pair = Pair { settings, tool, obstacle, input, before };
    match settings.renderer {
        Renderer::Vps => pair.vps(scratch),
        Renderer::Penalty => pair.penalty(scratch),
        Renderer::ContinuousPenalty => pair.continuous(scratch),
        Renderer::Impulse => pair.impulse(scratch),
        Renderer::GodObject => Err(Error::Unsupported("a god-object has constraints, no response".into())),
    }
}

struct Pair<'a> {
    settings: &'a Settings,
    tool: &'a Tool,
    obstacle: &'a Obstacle,
    input: &'a Input,
    before: &'a Before,
}

impl Pair<'_> {
    fn of_tool(&self) -> Body<'_> {
        Body { geometry: self.tool.forms.geometry(), kinematics: self.input.body }
    }

    fn of_obstacle(&self) -> Body<'_> {
        let Obstacle { pose, twist, forms } = self.obstacle;
        let kinematics = Kinematics { pose: *pose, center: pose.translation.vector, twist: *twist };
        Body { geometry: forms.geometry(), kinematics }
    }

    fn springs(&self) -> PenaltySettings {
        let c = &self.settings.contact;
        PenaltySettings {
            offset: c.offset,
            average_from: c.average_from,
            ..PenaltySettings::new(c.stiffness, c.damping)
        }
    }

    fn contacts<'s>(&self, limit: f64, scratch: &'s mut Scratch) -> Result<&'s [Contact]> {
        let query = Query { max_separation: limit, ..Query::default() };
        let (a, b) = (self.of_tool(), self.of_obstacle());
        let poses = (&self.input.body.pose, &self.obstacle.pose);
        contact::contacts(a.geometry, poses.0, b.geometry, poses.1, &query, &mut scratch.near)
    }

    /// Computes spring forces at the contacts of the tool's pose.
    fn penalty(&self, scratch: &mut Scratch) -> Result<Found> {
        let found = self.contacts(self.settings.contact.offset, scratch)?;
        let response = penalty(found, &self.of_tool(), &self.of_obstacle(), On::A, &self.springs());
        Ok(Found::of(response, found.len(), found.iter().map(|c| c.separation)))
    }

    /// Computes spring forces over the times of contact on the motion from the last round (Xu & Barbič 2016, section
    /// 4.1).
    fn continuous(&self, scratch: &mut Scratch) -> Result<Found> {
        let (tool, obstacle) = (&self.input.body, self.obstacle);
        let a = Sweep {
            geometry: self.tool.forms.geometry(),
            poses: [self.before.tool, tool.pose],
            center: self.tool.center,
            twist: tool.twist,
        };
        let b = Sweep {
            geometry: obstacle.forms.geometry(),
            poses: [self.before.obstacle, obstacle.pose],
            center: Vec3::zeros(),
            twist: obstacle.twist,
        };
        let limit = self.settings.contact.offset;
        let query = impact::Query { path: Path::Straight, max_separation: limit, ..impact::Query::default() };
        let found = impact::contacts(&a.moving(), &b.moving(), &query, &mut scratch.on_the_way)?;
        let response = continuous(found, &a, &b, On::A, &ContinuousSettings::new(self.springs()));
        Ok(Found::of(response, found.len(), found.iter().map(|c| c.contact.separation)))
    }

    /// Computes tangent-plane forces in a voxmap (McNeely et al. 1999).
    fn vps(&self, scratch: &mut Scratch) -> Result<Found> {
        let Some(voxmap) = self.obstacle.forms.voxmap.as_deref() else {
            return Ok(Found::of(Response::default(), 0, std::iter::empty()));
        };
        limits::check_pose("tool.pose", &self.input.body.pose)?;
        let c = &self.settings.contact;
        let braking = match c.braking {
            true => Braking::InOneStep { mass: self.tool.mass, dt: self.before.time },
            false => Braking::None,
        };
        let settings =
            VpsSettings { damping: c.damping, average_from: c.average_from, braking, ..VpsSettings::new(c.stiffness) };
        let found = vps(voxmap, &self.of_obstacle(), &self.of_tool(), Role::Shell, &settings, &mut scratch.voxels);
        // Samples within the force layer have passed it.
        let least = if found.interior > 0 { f64::NEG_INFINITY } else { 0.0 };
        let contacts = (found.surface + found.interior) as usize;
        Ok(Found::of(found.response, contacts, (contacts > 0).then_some(least).into_iter()))
    }

    /// Collects its contacts, which are separated together with those of all other obstacles.
    fn impulse(&self, scratch: &mut Scratch) -> Result<Found> {
        let offset = self.settings.contact.offset;
        let obstacle = self.of_obstacle().kinematics;
        let radius = reach(self.tool);
        // All contacts that can touch in the time.
        let far = (self.input.body.center - obstacle.center).norm() + radius;
        let comes = obstacle.twist.linear.norm() + obstacle.twist.angular.norm() * far;
        let travel = scratch.impulses.free_displacement(radius) + comes * self.before.time;
        let max_separation = (offset + travel).min(limits::MAX_COORDINATE);
        let query = Query { max_separation, ..Query::default() };
        let (a, b) = (self.of_tool(), self.of_obstacle());
        let poses = (&self.input.body.pose, &self.obstacle.pose);
        let Scratch { near, impulses, .. } = scratch;
        let found = contact::contacts(a.geometry, poses.0, b.geometry, poses.1, &query, near)?;
        impulses.touch(found, &obstacle, self.settings.contact.restitution);
        let touching = found.iter().filter(|c| c.separation <= offset + TOUCH).count();
        Ok(Found::of(Response::default(), touching, found.iter().map(|c| c.separation)))
    }
}
