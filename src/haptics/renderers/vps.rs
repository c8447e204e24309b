//! Tangent-plane forces of the tool's samples in a voxmap (McNeely et al. 1999).

use super::method::{Effect, RenderingMethod, Round};
use crate::haptics::{Forms, Obstacle, Settings, Tool};
use crate::math::{limits, Pose};
use crate::response::{vps, Braking, Role, VpsSettings, Workspace};
use crate::{Error, Result};

pub(super) struct Vps {
    workspace: Workspace,
}

impl RenderingMethod for Vps {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default() })
    }

    fn uses_voxmap() -> bool {
        true
    }

    fn check_forms(&self, tool: &Forms, obstacle: &Forms) -> Result<()> {
        if tool.shell.is_some() && obstacle.voxmap.is_some() {
            return Ok(());
        }
        Err(Error::Unsupported("Vps needs a pointshell of the tool and a voxmap of the obstacle".into()))
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let Some(voxmap) = obstacle.forms.voxmap.as_deref() else { return Ok(()) };
        limits::check_pose("tool.pose", &round.input.body.pose)?;
        let c = &round.settings.contact;
        let braking = match c.braking {
            true => Braking::InOneStep { mass: round.tool.mass, dt: round.time },
            false => Braking::None,
        };
        let settings =
            VpsSettings { damping: c.damping, average_from: c.average_from, braking, ..VpsSettings::new(c.stiffness) };
        let (body, tool) = (obstacle.body(), round.tool_body());
        let found = vps(voxmap, &body, &tool, Role::Shell, &settings, &mut self.workspace);
        // Samples within the force layer have passed it.
        let least = if found.interior > 0 { f64::NEG_INFINITY } else { 0.0 };
        let contacts = (found.surface + found.interior) as usize;
        effect.count(contacts, (contacts > 0).then_some(least).into_iter());
        effect.add(&found.response, obstacle);
        Ok(())
    }
}
