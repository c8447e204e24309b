//! Steps that search for contacts at their ends only, for comparison with the continuous query.

use super::{Advance, GodObject, STOP};
use crate::constraint::{difference, moved};
use crate::{Obstacle, Status};
use voxshell_base::math::Pose;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;

impl GodObject {
    /// Moves as far toward the goal as the contacts at the beginning allow, without testing the motion in between:
    /// [`Detection::Discrete`](super::Detection::Discrete).
    pub(super) fn step_discretely(&mut self, target: &Pose, goal: &Pose, bodies: &[Obstacle]) -> Result<Advance> {
        if self.settled.take().is_none() {
            self.gather(bodies, 1.0, STOP)?;
        }
        let center = self.tool.center;
        let at = self.model.pose.transform_point(&center.into()).coords;
        self.rows.clear();
        self.rows.extend_guarded(self.model.constraints.iter().map(|c| c.row(&at)));
        let displacement = difference(&self.model.pose, goal, &center);
        let solution = self.solver.solve(&self.model.mass, &displacement, &self.rows)?;
        let slip = self.model.slip(&self.solver, &solution.constrained);
        let to = moved(&self.model.pose, &center, &(solution.constrained * slip));
        self.go(&to, 1.0);
        self.add_waypoint(1.0);
        let least = self.gather(bodies, 1.0, STOP)?;
        self.end(bodies);
        self.settled = Some(least);
        self.shade(bodies);
        let mut advance = self.outcome(target, (1, false), least, bodies)?;
        if least <= 0.0 {
            advance.status |= Status::PENETRATING;
        }
        Ok(advance)
    }
}
