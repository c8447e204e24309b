//! Constraints that are no sample's gradient: the directions in which substeps were stopped, as long as they add
//! information.

use super::{constraint, GodObject, MAX_CUTS, NEAR};
use crate::contact::{self, contacts_of, Contact};
use crate::haptics::constraint::Constraint;
use crate::haptics::Obstacle;
use crate::Result;

impl GodObject {
    /// Keeps the cuts that still add information: the sample is near, and gets nearer across the cut, but its gradient
    /// does not show it.
    pub(super) fn keep_cuts(&mut self, bodies: &[Obstacle], time: f64) -> Result<()> {
        let probe = 4.0 * self.skin;
        let mut kept = 0;
        for k in 0..self.cuts.len() {
            let mut cut = self.cuts[k];
            let body = &bodies[cut.body as usize];
            let at = self.obstacle_pose(cut.body as usize, bodies, time);
            let (tool, other) = (self.tool.forms.geometry(), body.forms.geometry());
            let pose = self.model.pose;
            let across = nalgebra::Translation3::from(cut.normal * probe) * pose;
            let mut here = None;
            contacts_of(tool, &pose, other, &at, &[cut.feature], |_, c| here = Some(c))?;
            let mut there = f64::INFINITY;
            contacts_of(tool, &across, other, &at, &[cut.feature], |_, c| there = c.separation)?;
            let Some(c) = here else { continue };
            let says_more = c.normal.dot(&cut.normal) < 0.97;
            let blocks = there < c.separation - 0.5 * probe;
            if c.separation < NEAR * self.skin && says_more && blocks {
                cut.set_feel(body, &self.settings.surface);
                cut.point = if cut.feature & contact::FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
                self.cuts[kept] = cut;
                kept += 1;
            }
        }
        self.cuts.truncate(kept);
        Ok(())
    }

    /// Makes a constraint of the hit that ended a substep, unless there is a similar one.
    pub(super) fn cut(&mut self, body: usize, hit: &Contact, bodies: &[Obstacle]) -> bool {
        let mut cut = constraint((body as u32, &bodies[body].pose), hit, 0.0);
        cut.set_feel(&bodies[body], &self.settings.surface);
        let like =
            |c: &Constraint| c.body == cut.body && c.feature == cut.feature && c.normal.dot(&cut.normal) > 0.9999;
        if self.cuts.iter().any(like) {
            return false;
        }
        if self.cuts.len() == MAX_CUTS {
            self.cuts.remove(0);
        }
        self.cuts.push(cut);
        true
    }
}
