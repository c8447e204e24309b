//! The spring from the hand to a god-object, made at the rate of the device from constraints that the simulation published.

use super::constraint::{ConstraintForce, ConstraintModel};
use super::settings::within;
use super::{Coupling, Status};
use crate::math::{Mat6, Pose, Vec6, Wrench};
use crate::response::Response;

/// The spring: as stiff as the coupling, as strong as it gets.
pub(super) struct Tether {
    force: ConstraintForce,
    coupling: Coupling,
    /// Of the spring on the hand, about the tool's centre, at the last step: before surfaces turned it.
    wrench: Wrench,
    /// Where the hand was then.
    last: Option<Pose>,
}

impl Tether {
    pub fn new(coupling: Coupling) -> Self {
        Self { force: ConstraintForce::new(), coupling, wrench: Wrench::ZERO, last: None }
    }

    pub fn reset(&mut self) {
        self.force.reset();
        self.wrench = Wrench::ZERO;
        self.last = None;
    }

    /// What the hand feels, about the tool's centre. None in free space, exactly.
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

    /// As strong as the coupling gets.
    fn cut(&self, Wrench { force, torque }: &Wrench) -> Wrench {
        let [most, moment] = self.coupling.greatest();
        Wrench { force: force * within(force, most), torque: torque * within(torque, moment) }
    }

    /// K⁻¹ W: how far the spring is drawn.
    fn drawn(&self) -> Vec6 {
        let [k, kappa] = self.coupling.stiffness;
        self.wrench.column().component_div(&Vec6::new(k, k, k, kappa, kappa, kappa))
    }

    /// ½ Wᵀ K⁻¹ W, J.
    pub fn energy(&self) -> f64 {
        0.5 * self.wrench.column().dot(&self.drawn())
    }

    /// The last pull as a load, stiff along itself only: constraints let go of the hand in all other directions.
    pub fn load(&self) -> Response {
        let column = self.wrench.column();
        let twice = column.dot(&self.drawn());
        let by_pose = if twice > 1e-18 { column * column.transpose() / -twice } else { Mat6::zeros() };
        Response { wrench: self.wrench, by_pose, by_twist: Mat6::zeros() }
    }
}
