//! Tangent-plane forces of the tool's samples in a voxmap (McNeely et al. 1999).

use super::method::{Averaged, Effect, RenderingMethod, Round};
use crate::{Forms, Obstacle, Settings, Tool};
use voxshell_base::math::{limits, Pose};
use voxshell_base::{Error, Result};
use voxshell_response::{vps, Braking, Response, Role, VpsResponse, VpsSettings, Workspace};

pub(super) struct Vps {
    workspace: Workspace,
    /// Samples in the force layers, samples inside of them, and braking.
    layer: Averaged,
    inside: Averaged,
    braking: Averaged,
}

/// Returns the braking of an approach with a coefficient b of each sample of at most m/Δt: what stops the tool in a round.
/// The coefficient of [`Braking::InOneStep`] has no bound where the tool turns and few samples approach, slowly.
/// Linearised at such a coefficient, the smallest change of the tool's motion would be a force that throws it.
fn within_mass(found: &VpsResponse, round: &Round) -> Response {
    // The derivative by the velocity is −b Σ n nᵀ, and each n is unit.
    let sum = -found.braking.by_twist.fixed_view::<3, 3>(0, 0).trace();
    let most = f64::from(found.braked) * round.tool.mass / round.time;
    found.braking.scaled(if sum > most { most / sum } else { 1.0 })
}

impl RenderingMethod for Vps {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        let [layer, inside, braking] = Default::default();
        Ok(Self { workspace: Workspace::default(), layer, inside, braking })
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

    fn begin(&mut self, _: &Round) {
        for sum in [&mut self.layer, &mut self.inside, &mut self.braking] {
            sum.clear();
        }
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let Some(voxmap) = obstacle.forms.voxmap.as_deref() else { return Ok(()) };
        limits::check_pose("tool.pose", &round.input.body.pose)?;
        let c = &round.settings.contact;
        let braking = match c.braking {
            true => Braking::InOneStep { mass: round.tool.mass, dt: round.time },
            false => Braking::None,
        };
        let hardness = obstacle.hardness();
        let (stiffness, damping) = (c.stiffness * hardness, c.damping * hardness);
        let settings = VpsSettings { damping, braking, interior: true, ..VpsSettings::new(stiffness) };
        let (body, tool) = (obstacle.body(), round.tool_body());
        let found = vps(voxmap, &body, &tool, Role::Shell, &settings, &mut self.workspace);
        // Samples within the force layer have passed it.
        let least = if found.interior > 0 { f64::NEG_INFINITY } else { 0.0 };
        let contacts = (found.surface + found.interior) as usize;
        effect.count(contacts, (contacts > 0).then_some(least).into_iter());
        let i = effect.obstacle();
        self.layer.push(i, &found.layer, found.surface as usize);
        self.inside.push(i, &found.inside, found.interior as usize);
        self.braking.push(i, &within_mass(&found, round), found.braked as usize);
        Ok(())
    }

    /// Averages the samples in the layers only: else the many that touch would take the force of the few that are pushed
    /// through, and of those that are wedged between two walls.
    fn end(&mut self, round: &Round, obstacles: &[Obstacle], effect: &mut Effect) -> Result<()> {
        let from = round.settings.contact.average_from;
        self.layer.end(from, obstacles, effect);
        self.inside.end(u32::MAX, obstacles, effect);
        self.braking.end(u32::MAX, obstacles, effect);
        Ok(())
    }

    fn smallest_voxel(&self, _: &Forms, obstacles: &[Obstacle]) -> Option<f64> {
        let voxels = obstacles.iter().filter_map(|o| o.forms.voxmap.as_deref());
        voxels.map(|v| f64::from(v.grid().voxel_size())).min_by(f64::total_cmp)
    }
}
