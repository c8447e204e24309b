//! Spring forces over the times of contact on the motion from the last round (Xu & Barbič 2016, section 4.1).

use super::method::{smallest_cell, Effect, RenderingMethod, Round};
use crate::ccd::impact::{self, Path};
use crate::ccd::shell::Workspace;
use crate::contact::Roles;
use crate::haptics::{Forms, Obstacle, Settings, Tool};
use crate::math::{Pose, Vec3};
use crate::response::{continuous_into, ContinuousSettings, On, Sweep};
use crate::Result;

pub(super) struct ContinuousPenalty {
    workspace: Workspace,
    /// Number of contacts with all obstacles.
    averaged: usize,
}

impl RenderingMethod for ContinuousPenalty {
    fn new(_: &Settings, _: &Tool) -> Result<Self> {
        Ok(Self { workspace: Workspace::default(), averaged: 0 })
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
        let settings = ContinuousSettings::new(round.springs(obstacle));
        continuous_into(found, [&a, &b], On::A, &settings, &mut effect.contact);
        effect.end_obstacle(obstacle);
        self.averaged += found.len();
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
