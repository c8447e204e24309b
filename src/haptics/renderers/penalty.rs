//! Spring forces at the contacts of the tool's pose, or at clusters of them.

use super::method::{smallest_cell, Effect, RenderingMethod, Round};
use crate::{ContactSource, Forms, Obstacle, Settings, Tool};
use voxshell_base::math::Pose;
use voxshell_base::{Error, Result};
use voxshell_contact::{self as contact, directions, HullQuery, HullWorkspace, Roles, Workspace};
use voxshell_response::{cluster, penalty_into, ClusterSettings, Clusters, On};

/// Distance within which contacts are not separated into clusters, in sample spacings of the coarser shell.
const CLUSTER_SPACINGS: f64 = 4.0;
/// The same for contacts of hulls, in radii of the tool.
const CLUSTER_RADII: f64 = 0.1;

pub(super) struct Penalty {
    source: ContactSource,
    workspace: Workspace,
    hulls: HullWorkspace,
    clusters: Clusters,
    /// Number of contacts with all obstacles.
    averaged: usize,
}

impl RenderingMethod for Penalty {
    fn new(settings: &Settings, _: &Tool) -> Result<Self> {
        let (workspace, hulls, clusters) = Default::default();
        Ok(Self { source: settings.contact.source, workspace, hulls, clusters, averaged: 0 })
    }

    fn uses_surface() -> bool {
        true
    }

    fn check_forms(&self, tool: &Forms, obstacle: &Forms) -> Result<()> {
        match self.source {
            ContactSource::Samples => directions(&tool.geometry(), &obstacle.geometry(), Roles::One, false).map(drop),
            ContactSource::Hulls { .. } if tool.hulls.is_some() && obstacle.hulls.is_some() => Ok(()),
            ContactSource::Hulls { .. } => Err(Error::Unsupported(
                "contacts of hulls need a hierarchy of hulls of the tool and of the obstacle".into(),
            )),
        }
    }

    fn begin(&mut self, _: &Round) {
        self.averaged = 0;
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, _: &Pose, effect: &mut Effect) -> Result<()> {
        let settings = &round.settings.contact;
        let (mut tool, mut other) = (round.tool_body(), obstacle.body());
        let mut radius = 0.0f64;
        let mut found = match self.source {
            ContactSource::Hulls { tolerance } => {
                let (Some(a), Some(b)) = (&round.tool.forms.hulls, &obstacle.forms.hulls) else { return Ok(()) };
                let query = HullQuery { max_separation: settings.offset, tolerance };
                radius = CLUSTER_RADII * a.nodes[0].radius;
                // The contacts are planes: their features are no samples of the shells.
                (tool.geometry, other.geometry) = Default::default();
                let bodies = [(&**a, &round.input.body.pose), (&**b, &obstacle.pose)];
                contact::hull_contacts(bodies, &query, &mut self.hulls)?
            }
            ContactSource::Samples => {
                let shells = [&round.tool.forms.shell, &obstacle.forms.shell];
                for shell in shells.into_iter().flatten() {
                    radius = radius.max(CLUSTER_SPACINGS * f64::from(shell.spacing));
                }
                round.contacts(obstacle, settings.offset, &mut self.workspace)?
            }
        };
        effect.count(found.len(), found.iter().map(|c| c.separation));
        if settings.max_clusters > 0 {
            let settings = ClusterSettings {
                max_clusters: settings.max_clusters as usize,
                radius,
                max_separation: settings.offset,
            };
            found = cluster(found, &settings, &mut self.clusters);
        }
        self.averaged += found.iter().filter(|c| c.separation < round.settings.contact.offset).count();
        penalty_into(found, [&tool, &other], On::A, &round.springs(obstacle), &mut effect.contact);
        effect.end_obstacle(obstacle);
        Ok(())
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        let source = settings.contact.source;
        if std::mem::discriminant(&source) != std::mem::discriminant(&self.source) {
            let expected = "the source with which the renderer was made; its tolerance may change";
            return Err(Error::argument("contact.source", format!("{source:?}"), expected));
        }
        self.source = source;
        Ok(())
    }

    fn end(&mut self, round: &Round, _: &[Obstacle], effect: &mut Effect) -> Result<()> {
        effect.average(self.averaged, round.settings.contact.average_from);
        Ok(())
    }

    fn smallest_voxel(&self, tool: &Forms, obstacles: &[Obstacle]) -> Option<f64> {
        match self.source {
            ContactSource::Samples => smallest_cell(tool, obstacles),
            ContactSource::Hulls { .. } => None,
        }
    }
}
