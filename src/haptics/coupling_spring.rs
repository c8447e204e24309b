//! The coupling spring from the hand to a god-object, computed at the rate of the device from constraints that the
//! simulation published.

use super::blend::{opposite, scaled, size};
use super::constraint::{difference, Constraint, ConstraintForce, ConstraintModel};
use super::linearised::Place;
use super::loads::{Ledger, PerBody};
use super::settings::within;
use super::{Coupling, Status};
use voxshell_base::math::{Mat6, Pose, Vec3, Vec6, Wrench};
use voxshell_response::Response;

/// The spring: it has the stiffness and the maximum force of the coupling.
pub(super) struct CouplingSpring {
    force: ConstraintForce,
    coupling: Coupling,
    /// Wrench of the spring on the hand, about the tool's centre, at the last step: before surfaces turned it.
    wrench: Wrench,
    /// Deflection of the spring at that step: (k_s k_h M)⁻¹ W.
    drawn: Vec6,
    /// Pose of the hand at that step.
    last: Option<Pose>,
    /// Wrench of the constraints with each body on the tool at that step, about the tool's centre, and before it was
    /// limited to the coupling's maximum.
    parts: PerBody,
    release: Release,
}

impl CouplingSpring {
    /// Makes the spring for a number of bodies.
    pub fn new(coupling: Coupling, bodies: usize) -> Self {
        let (force, parts) = (ConstraintForce::new(), PerBody::new(bodies));
        Self {
            force,
            coupling,
            wrench: Wrench::ZERO,
            drawn: Vec6::zeros(),
            last: None,
            parts,
            release: Release::default(),
        }
    }

    pub fn set_coupling(&mut self, coupling: Coupling) {
        self.coupling = coupling;
    }

    pub fn reset(&mut self) {
        self.force.reset();
        self.release = Release::default();
        (self.wrench, self.drawn) = (Wrench::ZERO, Vec6::zeros());
        self.last = None;
    }

    /// Returns the wrench on the hand, about the tool's centre. Exactly zero in free space. `ledger` gets the wrench on
    /// each body: that of its constraints, which hold the tool against the hand. `dt` is the time since the last step, and
    /// `age` that since the model was made.
    pub fn pull(
        &mut self,
        model: &ConstraintModel,
        is_new: bool,
        hand: &Pose,
        [dt, age]: [f64; 2],
        ledger: &mut Ledger,
    ) -> (Wrench, Status) {
        let before = self.last.unwrap_or(*hand);
        let parts = &mut self.parts;
        parts.clear();
        let fits = !is_new || self.force.adopt(model, &before).is_ok();
        let each = |c: &Constraint, wrench: &Wrench| {
            let origin = c.frame.translation.vector + c.velocity * age;
            parts.add(&Place { body: c.body, origin, velocity: c.velocity }, wrench);
        };
        let found = if fits { self.force.evaluate_each(model, hand, [dt, age], each).ok() } else { None };
        let [mut felt, mut spring] = found.map_or([Wrench::ZERO; 2], |found| [found.wrench, found.spring]);
        let status = found.map_or(Status::NORMAL, |found| found.status);
        self.last = Some(*hand);
        let [most, moment] = self.coupling.greatest();
        let [force, torque] = [within(&felt.force, most), within(&felt.torque, moment)];
        let center = model.pose.transform_point(&model.center.into()).coords;
        for (place, part) in self.parts.iter() {
            let on_body = Wrench { force: -part.force * force, torque: -part.torque * torque };
            ledger.add(place, &on_body.about(&(place.origin - center)));
        }
        if is_new {
            let stretch = difference(&before, hand, &model.center) * (model.coupling * model.stiffness);
            let lever = (model.mass.fixed_view::<3, 3>(3, 3).trace() / (3.0 * model.mass[(0, 0)])).sqrt();
            self.release.begin(&felt, &Wrench::from_column(&(model.mass * stretch)), lever);
        }
        let left = self.release.step(&felt, dt);
        felt += left;
        spring += left;
        self.wrench = self.cut(&spring);
        self.drawn = drawn(model, &self.wrench);
        (self.cut(&felt), status)
    }

    /// Limits a wrench to the coupling's maximum.
    fn cut(&self, Wrench { force, torque }: &Wrench) -> Wrench {
        let [most, moment] = self.coupling.greatest();
        Wrench { force: force * within(force, most), torque: torque * within(torque, moment) }
    }

    /// Returns ½ Wᵀ (k_s k_h M)⁻¹ W, J.
    pub fn energy(&self) -> f64 {
        0.5 * self.wrench.column().dot(&self.drawn)
    }

    /// Returns the last wrench as a load that is stiff along itself only: constraints do not hold the hand in other
    /// directions.
    pub fn load(&self) -> Response {
        let column = self.wrench.column();
        let twice = column.dot(&self.drawn);
        let by_pose = if twice > 1e-18 { column * column.transpose() / -twice } else { Mat6::zeros() };
        Response { wrench: self.wrench, by_pose, by_twist: Mat6::zeros() }
    }
}

/// Lets go of the hand where the constraints of a round no longer hold it as those of the one before did: the slower the
/// rounds, the farther the god-object has moved on in the meantime, and the spring would slacken within a step. What the
/// new model takes from the wrench beyond what the hand's own motion explains fades out instead, as constraints that
/// arrive fade in. The bodies do not feel it.
#[derive(Clone, Copy, Debug, Default)]
struct Release {
    /// The part of the wrench that has not faded out yet.
    left: Wrench,
    /// The whole wrench at the last step.
    last: Wrench,
}

/// Time in which what is left falls to about a third (1/e), seconds.
const FADE: f64 = 5e-3;
/// N and N·m: less than this is not felt as a blow.
const FELT: [f64; 2] = [0.05, 0.001];

impl Release {
    /// Takes what a new model, whose wrench is `felt`, takes at once. `stretched` is the change of the wrench of a spring that
    /// is held while the hand moves as it did; torques count by the force that they are at a lever, metres.
    fn begin(&mut self, felt: &Wrench, stretched: &Wrench, lever: f64) {
        let mut taken = self.last;
        taken += opposite(felt);
        let (change, own) = (size(&taken, lever), size(stretched, lever));
        let falls = size(&self.last, lever) > size(felt, lever);
        self.left = scaled(&taken, if falls && change > own { 1.0 - own / change } else { 0.0 });
    }

    /// Returns what is left beside the wrench `felt`.
    fn step(&mut self, felt: &Wrench, dt: f64) -> Wrench {
        self.last = *felt;
        if self.left == Wrench::ZERO {
            return self.left;
        }
        // At once, so that each step of the fading is smaller than the one before it.
        self.left = scaled(&self.left, libm::exp(-dt / FADE));
        if self.left.force.norm() < FELT[0] && self.left.torque.norm() < FELT[1] {
            self.left = Wrench::ZERO;
        }
        self.last += self.left;
        self.left
    }
}

/// Returns the deflection at which the spring of a model, with the stiffness k_s k_h M, has a wrench.
fn drawn(model: &ConstraintModel, wrench: &Wrench) -> Vec6 {
    if *wrench == Wrench::ZERO {
        return Vec6::zeros();
    }
    let inertia = model.mass.fixed_view::<3, 3>(3, 3).into_owned();
    let shift = wrench.force / model.mass[(0, 0)];
    let turn = inertia.cholesky().map_or_else(Vec3::zeros, |factor| factor.solve(&wrench.torque));
    let share = model.coupling * model.stiffness;
    Vec6::new(shift.x, shift.y, shift.z, turn.x, turn.y, turn.z) / share
}
