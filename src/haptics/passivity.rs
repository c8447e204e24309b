//! Passivity observer and controller (Hannaford & Ryu 2002, "Time-domain passivity control of haptic interfaces").
//!
//! The wrench that is held over a step does the work W[k]·Δξ[k+1] on the hand, where Δξ is the device's motion in the
//! step. The energy that the hand put in and has not got back, E = −Σ W[k]·Δξ[k+1], is never negative where the world
//! is passive. Sampling leaks: a spring K whose force is held over a step gives ½ Δξᵀ K Δξ too much, so E ≥ −½ Σ Δξᵀ K
//! Δξ for any motion from rest, and over a closed cycle. Springs return no more energy than they store, so E is limited
//! to that; without the limit, energy that friction dissipated earlier would cover an instability of any length.

use crate::math::{Pose, Twist, Vec3, Wrench};

/// Returns the change of a pose: of the origin, and a rotation vector, world frame.
pub(super) fn motion(from: &Pose, to: &Pose) -> Twist {
    Twist {
        linear: to.translation.vector - from.translation.vector,
        angular: (to.rotation * from.rotation.inverse()).scaled_axis(),
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
    /// The same, but without what the hand got while bodies moved: it may be their work.
    own: f64,
    /// The energy over all time, without the limit.
    total: f64,
}

impl Observer {
    /// Makes an observer with `tolerance` in J.
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Adds the work of the device's motion Δξ under the wrench that was held; at most `stored` J can now be in
    /// springs. `is_driven` tells whether bodies move, which do work on the hand.
    pub fn moved(&mut self, change: &Twist, stored: f64, is_driven: bool) {
        let work = self.held.column().dot(&change.column());
        self.total -= work;
        self.energy = (self.energy - work).min(stored);
        let least = if is_driven { self.own.min(0.0) } else { f64::NEG_INFINITY };
        self.own = (self.own - work).max(least).min(stored);
    }

    /// Sets the energy as if the hand had put in all that is stored, J: the origin of the tool's energy is not known.
    pub fn fill(&mut self, stored: f64) {
        (self.energy, self.own) = (stored, stored);
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

    /// Returns the wrench to add to the present one, so that excess energy is taken out in a step: that of a damper, as
    /// far as `most` (N·s/m, N·m·s/rad) allows. What it leaves is taken from the power that force and torque give to the
    /// hand, if no moving body explains it: contacts that pull at a saturated spring from its other end drive the hand
    /// with more power than the damper takes out.
    pub fn control(&self, wrench: &Wrench, twist: &Twist, most: [f64; 2], dt: f64) -> Option<Wrench> {
        let [missing, own] = [self.energy, self.own].map(|energy| (-energy - self.tolerance) / dt);
        let squares = [twist.linear.norm_squared(), twist.angular.norm_squared()];
        if missing <= 0.0 || squares == [0.0; 2] {
            return None;
        }
        let power = most[0] * squares[0] + most[1] * squares[1];
        let damped = if power > 0.0 { (missing / power).min(1.0) } else { 0.0 };
        let drives = [wrench.force.dot(&twist.linear), wrench.torque.dot(&twist.angular)].map(|p| p.max(0.0));
        let (left, drive) = (own - damped * power, drives[0] + drives[1]);
        let taken = if drive > 0.0 { (left / drive).clamp(0.0, 1.0) } else { 0.0 };
        let along = |i: usize| if squares[i] > 0.0 { taken * drives[i] / squares[i] } else { 0.0 };
        let part = |v: &Vec3, i: usize| v * -(most[i] * damped + along(i));
        Some(Wrench { force: part(&twist.linear, 0), torque: part(&twist.angular, 1) })
    }
}
