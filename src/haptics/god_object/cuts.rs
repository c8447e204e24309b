//! Constraints that are no sample's gradient: the directions in which substeps were stopped, as long as they add
//! information.

use super::constraints::{constraint, Cut};
use super::{GodObject, MAX_CUTS, NEAR, REST};
use crate::Obstacle;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;
use voxshell_contact::{self as contact, contacts_of, Contact};

/// Slope of φ below which a contact's normal need not be the gradient: such a normal is a direction out of the body.
const WEAK: f64 = 0.9;
/// Slope of φ below which rounding decides on its direction.
const LEAST_SLOPE: f64 = 0.02;

impl GodObject {
    /// Keeps the cuts that still add information: the sample is near, and gets nearer across the cut, but its gradient
    /// does not show it.
    pub(super) fn keep_cuts(&mut self, bodies: &[Obstacle], time: f64) -> Result<()> {
        let probe = 4.0 * self.skin;
        let mut kept = 0;
        for k in 0..self.cuts.len() {
            let mut cut = self.cuts[k];
            let (body, feature, normal) = (cut.body(), cut.constraint.feature, cut.constraint.normal);
            let at = self.obstacle_pose(body, bodies, time);
            let Some(c) = self.sample(&bodies[body], &at, feature, &Vec3::zeros())? else { continue };
            let after = |direction: Vec3| self.sample(&bodies[body], &at, feature, &(direction * probe));
            let there = after(normal)?.map_or(f64::INFINITY, |c| c.separation);
            let says_more = c.normal.dot(&normal) < 0.97;
            let blocks = there < c.separation - 0.5 * probe
                || (cut.slope > 0.0 && after(c.normal)?.is_some_and(|along| there < along.separation));
            if c.separation < NEAR * self.skin && says_more && blocks {
                cut.constraint.set_feel(&bodies[body], &self.settings.surface);
                cut.constraint.point = if feature & contact::FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
                if cut.slope > 0.0 {
                    let height = c.separation - self.levels[body];
                    cut.rise = (REST * self.skin - height).max(0.0) / cut.slope;
                }
                self.cuts[kept] = cut;
                kept += 1;
            }
        }
        self.cuts.truncate(kept);
        Ok(())
    }

    /// Makes a constraint of the hit that ended a substep, unless there is a similar one. If the substep made no motion
    /// (`is_stuck`), the constraint is across the steepest descent of φ, in case that the normal of the hit is not.
    pub(super) fn cut(
        &mut self,
        body: usize,
        hit: &Contact,
        (bodies, time): (&[Obstacle], f64),
        is_stuck: bool,
    ) -> Result<bool> {
        let mut made =
            Cut { constraint: constraint((body as u32, &bodies[body].pose), hit, 0.0), slope: 0.0, rise: 0.0 };
        if is_stuck {
            let at = self.obstacle_pose(body, bodies, time);
            if let Some((normal, slope)) = self.descent(&bodies[body], &at, hit.feature)? {
                if slope < WEAK {
                    (made.constraint.normal, made.constraint.shaded, made.slope) = (normal, normal, slope);
                }
            }
        }
        made.constraint.set_feel(&bodies[body], &self.settings.surface);
        let like = |cut: &Cut| cut.is_of(body, hit) && cut.constraint.normal.dot(&made.constraint.normal) > 0.9999;
        if self.cuts.iter().any(like) {
            return Ok(false);
        }
        if self.cuts.len() == MAX_CUTS {
            self.cuts.remove(0);
        }
        self.cuts.push_guarded(made);
        Ok(true)
    }

    /// Returns the direction of the tool's translation along which φ of a sample falls most, and its slope there, by
    /// differences over two skins. `None` if φ does not change.
    fn descent(&self, obstacle: &Obstacle, at: &Pose, feature: u32) -> Result<Option<(Vec3, f64)>> {
        let mut falls = Vec3::zeros();
        for axis in 0..3 {
            for side in [1.0, -1.0] {
                let shift = Vec3::ith(axis, side * self.skin);
                let Some(c) = self.sample(obstacle, at, feature, &shift)? else { return Ok(None) };
                falls[axis] -= side * c.separation / (2.0 * self.skin);
            }
        }
        let slope = falls.norm();
        Ok((slope > LEAST_SLOPE).then(|| (falls / slope, slope)))
    }

    /// Returns the contact of a sample after a translation of the tool, with an obstacle at a pose.
    fn sample(&self, obstacle: &Obstacle, at: &Pose, feature: u32, shift: &Vec3) -> Result<Option<Contact>> {
        let (tool, other) = (self.tool.forms.geometry(), obstacle.forms.geometry());
        let pose = nalgebra::Translation3::from(*shift) * self.model.pose;
        let mut found = None;
        contacts_of(tool, &pose, other, at, &[feature], |_, c| found = Some(c))?;
        Ok(found)
    }
}
