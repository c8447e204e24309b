//! Impulses that separate the tool from all obstacles together (Ruffaldi et al. 2008): see [`Impulses`].

use super::method::{Effect, RenderingMethod, Round};
use crate::impulses::{reach, Impulses};
use crate::{Obstacle, Settings, Tool};
use voxshell_base::math::{limits, Pose};
use voxshell_base::Result;
use voxshell_contact::Workspace;

/// Separation below which a sample counts as touching, metres: impulses bring the tool to the surface except for
/// rounding.
const TOUCH: f64 = 1e-6;

pub(super) struct Impulse {
    workspace: Workspace,
    impulses: Impulses,
}

impl RenderingMethod for Impulse {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default(), impulses: Impulses::default() })
    }

    fn uses_surface() -> bool {
        true
    }

    fn begin(&mut self, round: &Round) {
        self.impulses.begin(round.settings, round.tool, round.input, round.time);
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let offset = round.settings.contact.offset;
        let motion = obstacle.kinematics();
        let radius = reach(round.tool);
        // All contacts that can touch in the time.
        let far = (round.input.body.center - motion.center).norm() + radius;
        let comes = motion.twist.linear.norm() + motion.twist.angular.norm() * far;
        let travel = self.impulses.free_displacement(radius) + comes * round.time;
        let max_separation = (offset + travel).min(limits::MAX_COORDINATE);
        let found = round.contacts(obstacle, max_separation, &mut self.workspace)?;
        self.impulses.touch(found, (effect.obstacle(), &motion), round.settings.contact.restitution);
        let touching = found.iter().filter(|c| c.separation <= offset + TOUCH).count();
        effect.count(touching, found.iter().map(|c| c.separation));
        Ok(())
    }

    fn end(&mut self, round: &Round, obstacles: &[Obstacle], effect: &mut Effect) -> Result<()> {
        self.impulses.solve()?;
        effect.stops.begin(round.input.body, round.time);
        for (stop, load) in self.impulses.stops(obstacles) {
            effect.stops.add(stop);
            effect.wrench += load;
        }
        Ok(())
    }

    /// Returns false: impulses hold for the interval for which they were computed, and ease the tool out by themselves.
    fn fades_in(&self) -> bool {
        false
    }
}
