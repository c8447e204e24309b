//! The end of a step of a god-object: normals of its forces, status and wrench.

use super::{Advance, GodObject, LOCKS};
use crate::constraint::difference;
use crate::qp::Outcome;
use crate::shading::averaged_outward;
use crate::{Obstacle, Status};
use voxshell_base::math::{Pose, Vec6, Wrench};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;
use voxshell_contact as contact;

impl GodObject {
    /// Computes the normals of the forces.
    pub(super) fn shade(&mut self, bodies: &[Obstacle]) {
        let half = self.settings.surface.shading;
        if half == 0.0 {
            return;
        }
        let gathered = self.model.constraints.len().saturating_sub(self.cuts.len());
        for c in &mut self.model.constraints[..gathered] {
            let body = &bodies[c.body as usize];
            // The body from whose surface the sample is kept out.
            let (field, pose, sign) = match c.feature & contact::FEATURE_OF_B {
                0 => (&body.forms.field, &body.pose, -1.0),
                _ => (&self.tool.forms.field, &self.model.pose, 1.0),
            };
            let averaged = field.as_deref().and_then(|field| averaged_outward(field, pose, &c.point, half));
            c.shaded = averaged.map(|n| n * sign).filter(|n| n.dot(&c.normal) > 0.5).unwrap_or(c.normal);
        }
    }

    /// Returns the result of a step: the force of the constraints at the end, and the status.
    pub(super) fn outcome(
        &mut self,
        target: &Pose,
        (substeps, stuck): (u32, bool),
        least: f64,
        bodies: &[Obstacle],
    ) -> Result<Advance> {
        let mut status = Status::NORMAL;
        let mut wrench = Wrench::ZERO;
        if self.inside {
            status |= Status::PENETRATING;
        }
        let center = self.model.pose.transform_point(&self.tool.center.into()).coords;
        let pull = difference(&self.model.pose, target, &self.tool.center) * self.settings.coupling;
        self.rows.clear();
        self.rows.extend_guarded(self.model.constraints.iter().map(|c| c.row(&center)));
        let mut solution = self.solver.solve(&self.model.mass, &pull, &self.rows)?;
        if self.still >= LOCKS && solution.outcome != Outcome::Infeasible {
            let left = solution.constrained * self.model.slip(&self.solver, &solution.constrained);
            if self.length(&left) >= 2.0 * self.skin && self.lock(&left, bodies) {
                self.rows.clear();
                self.rows.extend_guarded(self.model.constraints.iter().map(|c| c.row(&center)));
                solution = self.solver.solve(&self.model.mass, &pull, &self.rows)?;
                status |= Status::LOCKED;
            }
        }
        if solution.outcome != Outcome::Free {
            let slip = self.model.slip(&self.solver, &solution.constrained);
            let held = self.model.hold(&self.solver, &solution.constrained, slip, |_, _| {});
            status |= held.status;
            let felt = if solution.outcome == Outcome::Infeasible { solution.load } else { held.felt };
            wrench = Wrench::from_column(&(felt * self.settings.stiffness));
        }
        let still = |a: &Vec6| a.dot(&(self.model.mass * a)).sqrt();
        let pulls = still(&pull) > still(&Vec6::new(self.skin, 0.0, 0.0, 0.0, 0.0, 0.0));
        if pulls && still(&solution.constrained) < 1e-6 * still(&pull) {
            self.rows.retain(|r| r.slack == 0.0);
            if self.solver.is_locked(&self.model.mass, &self.rows)? {
                status |= Status::LOCKED;
            }
        } else if pulls && stuck {
            status |= Status::LOCKED;
        }
        let constraints = self.model.constraints.len() as u32;
        Ok(Advance { pose: self.model.pose, status, wrench, constraints, substeps, clearance: least })
    }
}
