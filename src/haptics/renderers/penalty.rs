//! Spring forces at the contacts of the tool's pose.

use super::method::{Effect, RenderingMethod, Round};
use crate::contact::Workspace;
use crate::haptics::{Obstacle, Settings, Tool};
use crate::math::Pose;
use crate::response::{penalty, On};
use crate::Result;

pub(super) struct Penalty {
    workspace: Workspace,
}

impl RenderingMethod for Penalty {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default() })
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let found = round.contacts(obstacle, round.settings.contact.offset, &mut self.workspace)?;
        effect.count(found.len(), found.iter().map(|c| c.separation));
        effect.add(&penalty(found, &round.tool_body(), &obstacle.body(), On::A, &round.springs()), obstacle);
        Ok(())
    }
}
