//! Passivity observer and controller (Hannaford & Ryu 2002, "Time-domain passivity control of haptic interfaces").
//!
//! The wrench that is held over a step does the work W[k]·Δξ[k+1] on the hand, where Δξ is the device's motion in the
//! step. The energy that the hand put in and has not got back, E = −Σ W[k]·Δξ[k+1], is never negative where the world
//! is passive. Sampling leaks: a spring K whose force is held over a step gives ½ Δξᵀ K Δξ too much, so E ≥ −½ Σ Δξᵀ K
//! Δξ for any motion from rest, and over a closed cycle. Springs return no more energy than they store, so E is limited
//! to that; without the limit, energy that friction dissipated earlier would cover an instability of any length.

use voxshell_base::math::{scaled_axis, Pose, Twist, Vec3, Wrench};

/// Returns the change of a pose: of the origin, and a rotation vector, world frame.
pub(super) fn motion(from: &Pose, to: &Pose) -> Twist {
    Twist {
        linear: to.translation.vector - from.translation.vector,
        angular: scaled_axis(&(to.rotation * from.rotation.inverse())),
    }
}

/// Observes the energy at the port to the hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observer {
    /// Deficit up to which the controller does not act, J: the hand does not feel less.
    tolerance: f64,
    /// Present wrench, about the origin of the tool.
    held: Wrench,
    /// Energy that the hand has put in and not got back, J; never above the stored energy.
    energy: f64,
    /// The same over all time, without the limit.
    total: f64,
    /// Wrench of the damper.
    damped: Wrench,
}

/// Time constant with which the damper comes and goes, seconds: at once, it would be felt as a blow.
const SMOOTHING: f64 = 5e-3;
/// N, N·m: less of it than this is not felt.
const FELT: f64 = 1e-3;

impl Observer {
    /// Makes an observer with `tolerance` in J.
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Adds the work of the device's motion Δξ under the wrench that was held; at most `stored` J can now be in
    /// springs.
    pub fn moved(&mut self, change: &Twist, stored: f64) {
        let work = self.held.column().dot(&change.column());
        self.total -= work;
        self.energy = (self.energy - work).min(stored);
    }

    /// Sets the energy as if the hand had put in all that is stored, J: the origin of the tool's energy is not known.
    pub fn fill(&mut self, stored: f64) {
        self.energy = stored;
    }

    /// Sets the wrench that acts on the hand from now on.
    pub fn hold(&mut self, wrench: &Wrench) {
        self.held = *wrench;
    }

    /// Returns E over all time, J.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns the energy that the hand has put in and can still get back, J; negative when it got more than that.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// Ends the damper at once: it does not act.
    pub fn rest(&mut self) {
        self.damped = Wrench::ZERO;
    }

    /// Returns the wrench of a damper that takes out the excess energy in a step, as far as `most` (N·s/m, N·m·s/rad)
    /// allows.
    pub fn damper(&mut self, twist: &Twist, most: [f64; 2], dt: f64) -> Option<Wrench> {
        let power = most[0] * twist.linear.norm_squared() + most[1] * twist.angular.norm_squared();
        let missing = -self.energy - self.tolerance;
        if missing <= 0.0 && self.damped == Wrench::ZERO {
            return None;
        }
        let share = if missing > 0.0 && power > 0.0 { (missing / (power * dt)).min(1.0) } else { 0.0 };
        let part = |v: &Vec3, b: f64| v * (-b * share);
        let wanted = Wrench { force: part(&twist.linear, most[0]), torque: part(&twist.angular, most[1]) };
        let follows = 1.0 - libm::exp(-dt / SMOOTHING);
        self.damped.force += (wanted.force - self.damped.force) * follows;
        self.damped.torque += (wanted.torque - self.damped.torque) * follows;
        if share == 0.0 && self.damped.force.norm() < FELT && self.damped.torque.norm() < FELT {
            self.damped = Wrench::ZERO;
            return None;
        }
        Some(self.damped)
    }
}
