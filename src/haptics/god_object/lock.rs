//! Constraints that hold a god-object which cannot move, although the constraints of its samples allow it.
//!
//! The gradient of a field does not always tell along which motions a sample comes nearer. At the tip of a sharp edge,
//! the interpolant is flat and its second derivatives decide; the continuous query then stops each motion at its
//! beginning, and no constraint explains why. Without a constraint the hand would feel no force, however far it moved
//! away. The constraints made here are such that the hand feels the whole pull.

use nalgebra::Matrix3;

use super::GodObject;
use crate::constraint::Constraint;
use crate::qp::MAX_ROWS;
use crate::Obstacle;
use voxshell_base::math::{Vec3, Vec6};
use voxshell_base::memory::GrowGuarded;

/// Largest number of these constraints.
const MOST: usize = 3;

/// Feature of these constraints, which are not those of a sample.
const NO_SAMPLE: u32 = u32::MAX;

impl GodObject {
    /// Adds constraints that allow no part of a motion, translation of the centre and rotation vector. Returns false
    /// without an obstacle. They belong to the nearest obstacle, and the next step does not use them.
    ///
    /// The motion nearest to `left` in the metric M is then none: one row holds the translation, n·v ≤ 0 with n along
    /// v. Two rows with opposite normals ±u at the arms ±r hold the rotation, with r × u along J ω.
    pub(super) fn lock(&mut self, left: &Vec6, bodies: &[Obstacle]) -> bool {
        let height = |i: &usize| self.depths[*i] - self.levels[*i];
        let occupied = (0..bodies.len()).filter(|i| !bodies[*i].is_empty());
        let Some(nearest) = occupied.min_by(|i, k| height(i).total_cmp(&height(k))) else { return false };
        let center = self.model.pose.transform_point(&self.tool.center.into()).coords;
        let [shift, turn] = [0, 3].map(|row| left.fixed_rows::<3>(row).into_owned());
        let inertia: Matrix3<f64> = self.model.mass.fixed_view::<3, 3>(3, 3).into();
        // The constraints of the next step are gathered anew.
        self.settled = None;
        self.model.constraints.truncate(MAX_ROWS - MOST);
        let (reach, obstacle, surface) = (self.reach(), &bodies[nearest], self.settings.surface);
        let mut hold = |normal: Vec3, arm: Vec3| {
            let mut held = Constraint {
                point: center + arm,
                normal,
                gap: 0.0,
                feature: NO_SAMPLE,
                body: nearest as u32,
                shaded: normal,
                frame: obstacle.pose,
                velocity: Vec3::zeros(),
                recedes: 0.0,
                friction: 0.0,
                share: 1.0,
            };
            held.set_feel(obstacle, &surface);
            held.friction = 0.0;
            self.model.constraints.push_guarded(held);
        };
        if let Some(normal) = shift.try_normalize(1e-30) {
            hold(normal, Vec3::zeros());
        }
        if let Some(axis) = (inertia * turn).try_normalize(1e-30) {
            let arm = axis.cross(&Vec3::ith(axis.iamin(), 1.0)).normalize();
            let normal = axis.cross(&arm);
            hold(normal, arm * reach);
            hold(-normal, arm * -reach);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::god_object::GodSettings;
    use crate::qp::Row;
    use crate::{Forms, Tool};
    use voxshell_base::math::{Mat3, Pose};
    use voxshell_field::{Field, HalfSpace};

    #[test]
    fn it_holds_the_whole_of_a_motion_and_leaves_others() {
        let inertia = Mat3::new(3e-4, 2e-5, 0.0, 2e-5, 5e-4, 0.0, 0.0, 0.0, 4e-4);
        let tool = Tool { forms: Forms::default(), center: Vec3::new(0.01, 0.0, -0.02), mass: 0.4, inertia };
        let floor = Field::HalfSpace(HalfSpace::new(Vec3::z(), 0.0).unwrap());
        let floor = Forms { field: Some(Arc::new(floor)), ..Forms::default() };
        let bodies = [Obstacle::empty(), Obstacle::fixed(floor, Pose::identity())];
        let pose = Pose::new(Vec3::new(0.1, -0.2, 0.3), Vec3::new(0.4, 1.0, -0.3));
        let mut god = GodObject::new(tool, &pose, GodSettings::default()).unwrap();
        (god.depths, god.levels) = (vec![f64::INFINITY; 2], vec![0.0; 2]);
        god.go(&pose, 1.0);
        let center = pose.transform_point(&god.tool.center.into()).coords;
        for left in [
            Vec6::new(0.02, -0.01, 0.03, 0.3, -0.2, 0.5),
            Vec6::new(0.0, 0.05, 0.0, 0.0, 0.0, 0.0),
            Vec6::new(0.0, 0.0, 0.0, -0.2, 0.1, 0.0),
        ] {
            god.model.constraints.clear();
            assert!(god.lock(&left, &bodies));
            assert!(god.model.constraints.iter().all(|c| c.body == 1));
            let rows: Vec<Row> = god.model.constraints.iter().map(|c| c.row(&center)).collect();
            let held = god.solver.solve(&god.model.mass, &left, &rows).unwrap();
            let whole = god.model.mass * left;
            assert!(held.constrained.norm() < 1e-9 * left.norm(), "{}", held.constrained);
            assert!((held.load + whole).norm() < 1e-9 * whole.norm(), "{} {whole}", held.load);
            let back = god.solver.solve(&god.model.mass, &-left, &rows).unwrap();
            assert_eq!(back.constrained, -left);
        }
        assert!(!god.lock(&Vec6::zeros(), &bodies[..1]));
    }
}
