//! The coupling spring from the hand to a god-object, computed at the rate of the device from constraints that the
//! simulation published.

use super::constraint::{ConstraintForce, ConstraintModel};
use super::settings::within;
use super::{Coupling, Status};
use crate::math::{Mat6, Pose, Vec6, Wrench};
use crate::response::Response;

/// The spring: it has the stiffness and the maximum force of the coupling.
pub(super) struct CouplingSpring {
    force: ConstraintForce,
    coupling: Coupling,
    /// Wrench of the spring on the hand, about the tool's centre, at the last step: before surfaces turned it.
    wrench: Wrench,
    /// Pose of the hand at that step.
    last: Option<Pose>,
}

impl CouplingSpring {
    pub fn new(coupling: Coupling) -> Self {
        Self { force: ConstraintForce::new(), coupling, wrench: Wrench::ZERO, last: None }
    }

    pub fn reset(&mut self) {
        self.force.reset();
        self.wrench = Wrench::ZERO;
        self.last = None;
    }

    /// Returns the wrench on the hand, about the tool's centre. Exactly zero in free space.
    pub fn pull(&mut self, model: &ConstraintModel, is_new: bool, hand: &Pose, dt: f64) -> (Wrench, Status) {
        let before = self.last.unwrap_or(*hand);
        let fits = !is_new || self.force.adopt(model, &before).is_ok();
        let found = if fits { self.force.evaluate(model, hand, dt).ok() } else { None };
        let [felt, spring] = found.map_or([Wrench::ZERO; 2], |found| [found.wrench, found.spring]);
        let status = found.map_or(Status::NORMAL, |found| found.status);
        self.wrench = self.cut(&spring);
        self.last = Some(*hand);
        (self.cut(&felt), status)
    }

    /// Limits a wrench to the coupling's maximum.
    fn cut(&self, Wrench { force, torque }: &Wrench) -> Wrench {
        let [most, moment] = self.coupling.greatest();
        Wrench { force: force * within(force, most), torque: torque * within(torque, moment) }
    }

    /// Returns K⁻¹ W: the deflection of the spring.
    fn drawn(&self) -> Vec6 {
        let [k, kappa] = self.coupling.stiffness;
        self.wrench.column().component_div(&Vec6::new(k, k, k, kappa, kappa, kappa))
    }

    /// Returns ½ Wᵀ K⁻¹ W, J.
    pub fn energy(&self) -> f64 {
        0.5 * self.wrench.column().dot(&self.drawn())
    }

    /// Returns the last wrench as a load that is stiff along itself only: constraints do not hold the hand in other
    /// directions.
    pub fn load(&self) -> Response {
        let column = self.wrench.column();
        let twice = column.dot(&self.drawn());
        let by_pose = if twice > 1e-18 { column * column.transpose() / -twice } else { Mat6::zeros() };
        Response { wrench: self.wrench, by_pose, by_twist: Mat6::zeros() }
    }
}
