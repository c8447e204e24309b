//! Spring forces at the contacts of the tool's pose, or at clusters of them.

use super::method::{Effect, RenderingMethod, Round};
use crate::contact::Workspace;
use crate::haptics::{Obstacle, Settings, Tool};
use crate::math::Pose;
use crate::response::{cluster, penalty_into, ClusterSettings, Clusters, On};
use crate::Result;

/// Distance within which contacts are not separated into clusters, in sample spacings of the coarser shell.
const CLUSTER_SPACINGS: f64 = 4.0;

pub(super) struct Penalty {
    workspace: Workspace,
    clusters: Clusters,
}

impl RenderingMethod for Penalty {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default(), clusters: Clusters::default() })
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
        let bodies = [&round.tool_body(), &obstacle.body()];
        penalty_into(found, bodies, On::A, &round.springs(), &mut effect.contact);
        effect.end_obstacle(obstacle);
        Ok(())
    }
}
