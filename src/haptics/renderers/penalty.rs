//! Spring forces at the contacts of the tool's pose, or at clusters of them.

use super::method::{smallest_cell, Effect, RenderingMethod, Round};
use crate::contact::Workspace;
use crate::haptics::{Forms, Obstacle, Settings, Tool};
use crate::math::Pose;
use crate::response::{cluster, penalty_into, ClusterSettings, Clusters, On};
use crate::Result;

/// Distance within which contacts are not separated into clusters, in sample spacings of the coarser shell.
const CLUSTER_SPACINGS: f64 = 4.0;

pub(super) struct Penalty {
    workspace: Workspace,
    clusters: Clusters,
    /// Number of contacts with all obstacles.
    averaged: usize,
}

impl RenderingMethod for Penalty {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default(), clusters: Clusters::default(), averaged: 0 })
    }

    fn begin(&mut self, _: &Round) {
        self.averaged = 0;
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let settings = &round.settings.contact;
        let mut found = round.contacts(obstacle, settings.offset, &mut self.workspace)?;
        effect.count(found.len(), found.iter().map(|c| c.separation));
        if settings.max_clusters > 0 {
            let shells = [&round.tool.forms.shell, &obstacle.forms.shell];
            let spacing = shells.into_iter().flatten().map(|shell| f64::from(shell.spacing)).fold(0.0, f64::max);
            let settings = ClusterSettings {
                max_clusters: settings.max_clusters as usize,
                radius: CLUSTER_SPACINGS * spacing,
                max_separation: settings.offset,
            };
            found = cluster(found, &settings, &mut self.clusters);
        }
        self.averaged += found.iter().filter(|c| c.separation < round.settings.contact.offset).count();
        let bodies = [&round.tool_body(), &obstacle.body()];
        penalty_into(found, bodies, On::A, &round.springs(), &mut effect.contact);
        effect.end_obstacle(obstacle);
        Ok(())
    }

    fn end(&mut self, round: &Round, _: &[Obstacle], effect: &mut Effect) -> Result<()> {
        effect.average(self.averaged, round.settings.contact.average_from);
        Ok(())
    }

    fn smallest_voxel(&self, tool: &Forms, obstacles: &[Obstacle]) -> Option<f64> {
        smallest_cell(tool, obstacles)
    }
}
