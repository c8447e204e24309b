//! Passivity observer and controller (Hannaford & Ryu 2002, "Time-domain passivity control of haptic interfaces").
//!
//! The wrench that is held over a step works on the hand by what the device moves in it, W[k]·Δξ[k+1]. What the hand put in
//! and has not got back, E = −Σ W[k]·Δξ[k+1], is never negative where the world is passive. Sampling leaks: a spring K whose
//! force is held over a step gives ½ Δξᵀ K Δξ too much, so E ≥ −½ Σ Δξᵀ K Δξ for any motion from rest, and over a closed
//! cycle. Springs remember no more than they store, so E is cut at that; without the cut, what friction once ate would pay
//! for an instability of any length.

use crate::math::{Pose, Twist, Vec3, Wrench};

/// How a pose changed: of the origin, and a rotation vector, world frame.
pub(super) fn motion(from: &Pose, to: &Pose) -> Twist {
    Twist {
        linear: to.translation.vector - from.translation.vector,
        angular: (to.rotation * from.rotation.inverse()).scaled_axis(),
    }
}

/// Watches the port to the hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observer {
    /// What may be missing before the controller acts, J: below it nothing is felt.
    tolerance: f64,
    /// What is held now, about the origin of the tool.
    held: Wrench,
    /// What the hand has put in and not got back, J; never above what is stored.
    energy: f64,
    /// The same over all time, without the cut.
    total: f64,
}

impl Observer {
    /// `tolerance` in J.
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// The device moved by Δξ under the wrench that was held; at most `stored` J can be in springs by now.
    pub fn moved(&mut self, change: &Twist, stored: f64) {
        let work = self.held.column().dot(&change.column());
        self.total -= work;
        self.energy = (self.energy - work).min(stored);
    }

    /// As if the hand had put in all that is stored, J: where the tool got it from is not known.
    pub fn fill(&mut self, stored: f64) {
        self.energy = stored;
    }

    /// What acts on the hand from now on.
    pub fn hold(&mut self, wrench: &Wrench) {
        self.held = *wrench;
    }

    /// E over all time, J.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// What the hand has put in and can still get back, J; negative when it got more than that.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// The wrench of a damper that takes out, in a step, what was given too much, as far as `most` (N·s/m, N·m·s/rad) allows.
    pub fn damper(&self, twist: &Twist, most: [f64; 2], dt: f64) -> Option<Wrench> {
        let power = most[0] * twist.linear.norm_squared() + most[1] * twist.angular.norm_squared();
        let missing = -self.energy - self.tolerance;
        if missing <= 0.0 || power <= 0.0 {
            return None;
        }
        let share = (missing / (power * dt)).min(1.0);
        let part = |v: &Vec3, b: f64| v * (-b * share);
        Some(Wrench { force: part(&twist.linear, most[0]), torque: part(&twist.angular, most[1]) })
    }
}
