//! Spring forces over the times of contact on the motion from the last round (Xu & Barbič 2016, section 4.1).

use super::method::{smallest_cell, Effect, RenderingMethod, Round};
use crate::{Forms, Obstacle, Settings, Tool};
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::Result;
use voxshell_ccd::impact::{self, Path};
use voxshell_ccd::shell;
use voxshell_contact::{self as contact, Geometry, Roles};
use voxshell_response::{continuous_into, penalty_into, Body, ContinuousSettings, Kinematics, On, Sweep};

pub(super) struct ContinuousPenalty {
    workspace: shell::Workspace,
    edges: contact::Workspace,
    /// Number of contacts with all obstacles.
    averaged: usize,
}

impl ContinuousPenalty {
    /// Adds the contacts of edges and corners, as they are in the middle of the motion.
    fn add_edges(&mut self, round: &Round, obstacle: &Obstacle, [a, b]: [&Sweep; 2], effect: &mut Effect) {
        let (Some(of_tool), Some(of_other)) = (&round.tool.forms.surface, &obstacle.forms.surface) else { return };
        let [tool, other] = [a, b].map(|sweep| {
            let pose = sweep.moving().pose(0.5);
            let center = pose.transform_point(&sweep.center.into()).coords;
            // Edges are no samples: their contacts are planes.
            Body { geometry: Geometry::default(), kinematics: Kinematics { pose, center, twist: sweep.twist } }
        });
        let poses = [&tool.kinematics.pose, &other.kinematics.pose];
        let offset = round.settings.contact.offset;
        let found = contact::edge_contacts([of_tool, of_other], poses, offset, &mut self.edges);
        effect.count(found.len(), found.iter().map(|c| c.separation));
        penalty_into(found, [&tool, &other], On::A, &round.springs(obstacle), &mut effect.contact);
        self.averaged += found.len();
    }
}

impl RenderingMethod for ContinuousPenalty {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Default::default(), edges: Default::default(), averaged: 0 })
    }

    fn uses_surface() -> bool {
        true
    }

    fn begin(&mut self, _: &Round) {
        self.averaged = 0;
    }

    fn add_obstacle(&mut self, round: &Round, obstacle: &Obstacle, from: &Pose, effect: &mut Effect) -> Result<()> {
        let tool = &round.input.body;
        let a = Sweep {
            geometry: round.tool.forms.geometry(),
            poses: [round.from, tool.pose],
            center: round.tool.center,
            twist: tool.twist,
        };
        let b = Sweep {
            geometry: obstacle.forms.geometry(),
            poses: [*from, obstacle.pose],
            center: Vec3::zeros(),
            twist: obstacle.twist,
        };
        let max_separation = round.settings.contact.offset;
        let query =
            impact::Query { roles: Roles::One, path: Path::Straight, max_separation, ..impact::Query::default() };
        let found = impact::contacts(&a.moving(), &b.moving(), &query, &mut self.workspace)?;
        effect.count(found.len(), found.iter().map(|c| c.contact.separation));
        let springs = round.springs(obstacle);
        continuous_into(found, [&a, &b], On::A, &ContinuousSettings::new(springs), &mut effect.contact);
        self.averaged += found.len();
        self.add_edges(round, obstacle, [&a, &b], effect);
        effect.end_obstacle(obstacle);
        Ok(())
    }

    fn end(&mut self, round: &Round, _: &[Obstacle], effect: &mut Effect) -> Result<()> {
        effect.average(self.averaged, round.settings.contact.average_from);
        if !round.is_first {
            let center = round.from.transform_point(&round.tool.center.into()).coords;
            effect.contact.refer_to_middle(&round.from, &center, round.time);
        }
        Ok(())
    }

    fn smallest_voxel(&self, tool: &Forms, obstacles: &[Obstacle]) -> Option<f64> {
        smallest_cell(tool, obstacles)
    }
}
