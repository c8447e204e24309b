//! A god-object inside obstacles moves out, or stays no deeper than it is.
//!
//! A step may begin inside, because the tool was placed there or because obstacles moved into it. The god-object then
//! moves out by the smallest motion, if there is one nearby. If there is none, as in a press fit, the surface of each
//! obstacle that it is inside of is replaced by the level of its deepest sample there. All certificates of the step
//! then hold for these levels. Later steps raise them, and lower them only where the obstacle moves into the tool, or
//! to the first level, on the way to a hand that is outside. Moreover each sample inside has a constraint that holds
//! it.

use super::{GodObject, FLOOR, HARD, LOW, NEAR, REST};
use crate::constraint::{difference, moved};
use crate::qp::{Outcome, Row};
use crate::Obstacle;
use voxshell_base::math::{Pose, Vec6};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;
use voxshell_contact as contact;

impl GodObject {
    /// Returns whether the god-object is inside an obstacle, without a way out.
    pub(super) fn is_held_inside(&self) -> bool {
        self.levels.iter().any(|level| *level < 0.0)
    }

    /// Returns φ of the nearest sample as it was gathered last.
    pub(super) fn deepest(&self) -> f64 {
        self.depths.iter().copied().fold(NEAR * self.skin, f64::min)
    }

    /// Returns the height of a constraint's sample for rows that ask for [`REST`]. A sample inside is not asked out,
    /// only not to go deeper, unless it is less than that above the level.
    pub(super) fn height(&self, i: usize) -> f64 {
        let (separation, rest) = (self.separations[i], REST * self.skin);
        match self.levels[self.model.constraints[i].body as usize] {
            level if level < 0.0 && separation < rest => (separation - level).min(rest),
            _ => separation,
        }
    }

    /// Gathers the constraints of a step. Moves the god-object out first if it is inside, or sets the levels to stay
    /// above. Returns the least height.
    pub(super) fn come_out(&mut self, bodies: &[Obstacle], time: f64) -> Result<f64> {
        self.last_levels.clone_from(&self.levels);
        self.levels.fill(0.0);
        let mut least = self.gather(bodies, time, NEAR)?;
        if least <= FLOOR * self.skin && !self.is_known_to_be_held(bodies) {
            least = self.push_out(bodies, time, least)?;
            self.no_way_out = Some(self.model.pose);
        }
        if least > HARD * self.skin {
            self.no_way_out = None;
            self.first_levels.fill(0.0);
        } else {
            for i in 0..bodies.len() {
                let (depth, last) = (self.depths[i], self.last_levels[i]);
                if depth <= FLOOR * self.skin {
                    let level = depth - REST * self.skin;
                    let is_above = last < 0.0 && depth > last + HARD * self.skin;
                    self.levels[i] = if is_above { level.max(last) } else { level };
                    self.first_levels[i] = self.first_levels[i].min(self.levels[i]);
                }
            }
            least = self.gather(bodies, time, NEAR)?;
        }
        Ok(least)
    }

    /// Returns whether no way out was found from about this pose. Obstacles that move may make one.
    fn is_known_to_be_held(&self, bodies: &[Obstacle]) -> bool {
        let from = |pose: &Pose| self.length(&difference(pose, &self.model.pose, &self.tool.center));
        self.no_way_out.is_some_and(|pose| from(&pose) < self.skin) && !self.obstacles_move(bodies)
    }

    /// Returns a motion for a god-object that the samples inside hold, and the least height. A hand at a pose outside
    /// all obstacles has pulled the tool out: the tool may follow by any motion on which no sample gets deeper than the
    /// deepest was when the tool came inside. So a tool that was placed across a thin wall gets off it. `None` if the
    /// hand is inside an obstacle.
    pub(super) fn leaving(
        &mut self,
        target: &Pose,
        displacement: &Vec6,
        (bodies, time): (&[Obstacle], f64),
    ) -> Result<Option<(Vec6, f64)>> {
        if !self.is_free_at(target, bodies)? {
            return Ok(None);
        }
        self.levels.clone_from(&self.first_levels);
        let least = self.gather(bodies, time, NEAR)?;
        let center = self.model.pose.transform_point(&self.tool.center.into()).coords;
        self.rows.clear();
        // Inside, gradients tell no way out beyond the middle of a wall: there the certificate alone holds.
        let outside = self.model.constraints.iter().filter(|c| self.levels[c.body as usize] == 0.0);
        self.rows.extend_guarded(outside.map(|c| c.row(&center)));
        let solution = self.solver.solve(&self.model.mass, displacement, &self.rows)?;
        Ok((solution.outcome != Outcome::Infeasible).then_some((solution.constrained, least)))
    }

    /// Returns whether the tool would be outside all obstacles at a pose.
    fn is_free_at(&mut self, pose: &Pose, bodies: &[Obstacle]) -> Result<bool> {
        for (body, near) in bodies.iter().zip(&mut self.near).filter(|(body, _)| !body.is_empty()) {
            let (tool, other) = (self.tool.forms.geometry(), body.forms.geometry());
            let query = contact::Query {
                roles: self.settings.roles_of(&tool, &other),
                max_separation: HARD * self.skin,
                max_contacts: 1,
                owners: Some([self.tool.forms.owner(), body.forms.owner()]),
                ..contact::Query::default()
            };
            let found = !contact::contacts(tool, pose, other, &body.pose, &query, near)?.is_empty();
            self.spent.tests += near.stats();
            if found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves the god-object out, from inside or from too near, by repeated smallest motions. `least` is the
    /// least height, and the gathered constraints are those of the present pose; the result is that of the end pose.
    pub(super) fn push_out(&mut self, bodies: &[Obstacle], time: f64, mut least: f64) -> Result<f64> {
        let center = self.tool.center;
        let (start, waypoints) = (self.model.pose, self.path.len());
        if least <= HARD * self.skin {
            self.cuts.clear();
        }
        let mut gathered = if least <= HARD * self.skin { 0.0 } else { NEAR };
        for _ in 0..if least > HARD * self.skin { 3 } else { 24 } {
            if least > LOW * self.skin {
                break;
            }
            // Deep inside, constraints matter that are as far ahead as the depth.
            let near = NEAR + 2.0 * (-least / self.skin).max(0.0);
            if near != gathered {
                self.gather(bodies, time, near)?;
            }
            let at = self.model.pose.transform_point(&center.into()).coords;
            self.rows.clear();
            for (i, c) in self.model.constraints.iter().enumerate() {
                self.rows.push_guarded(Row { slack: self.height(i) - REST * self.skin, ..c.row(&at) });
            }
            let out = self.solver.solve(&self.model.mass, &Vec6::zeros(), &self.rows)?;
            let far =
                out.constrained.fixed_rows::<3>(0).norm() + out.constrained.fixed_rows::<3>(3).norm() * self.reach();
            if out.outcome != Outcome::Constrained || far > self.reach() {
                break;
            }
            let to = moved(&self.model.pose, &center, &out.constrained);
            if least > HARD * self.skin && self.first_hit(&to, bodies, [time, time], HARD * self.skin)?.is_some() {
                break;
            }
            self.go(&to, 1.0);
            self.add_waypoint(time);
            least = self.gather(bodies, time, NEAR)?;
            gathered = NEAR;
        }
        if least <= FLOOR * self.skin {
            self.go(&start, 1.0);
            self.path.truncate(waypoints);
            least = self.gather(bodies, time, NEAR)?;
        }
        Ok(least)
    }
}
