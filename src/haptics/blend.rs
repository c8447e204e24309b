//! Contacts of a slow simulation are faded in, in place of those that they replace.

use super::loads::PerBody;
use crate::math::{Vec3, Wrench};

/// Remainder of contacts that a new snapshot replaced. With a slow simulation the tool is already deep inside a body
/// when its contacts arrive: they are then faded in over the time between the snapshots, and not at once.
#[derive(Debug)]
pub(super) struct Blend {
    /// On each body.
    pub left: PerBody,
    /// Seconds.
    time: f64,
}

impl Blend {
    /// Snapshots that arrive at the rate of the steps are not blended.
    pub const STEPS: f64 = 1.5;
    /// Longest blending time, however slow the simulation is, seconds.
    const LONGEST: f64 = 0.02;

    pub fn new(bodies: usize) -> Self {
        Self { left: PerBody::new(bodies), time: 0.0 }
    }

    pub fn reset(&mut self) {
        self.left.clear();
        self.time = 0.0;
    }

    /// Returns the wrench on the tool, about its centre, to add to the contacts in a step. `apart` is the time between a
    /// new snapshot and the one before it.
    pub fn step(&mut self, apart: Option<f64>, center: &Vec3, dt: f64) -> Wrench {
        match apart {
            Some(apart) if apart <= Self::STEPS * dt => self.reset(),
            Some(apart) => self.time = apart.min(Self::LONGEST),
            None => {}
        }
        if self.time > 0.0 {
            self.left.scale((-dt / self.time).exp());
            self.left.carry(dt);
        }
        let mut sum = Wrench::ZERO;
        for (place, on_body) in self.left.iter() {
            sum += opposite(&on_body.about(&(center - place.origin)));
        }
        sum
    }
}

/// Returns the opposite of a wrench.
pub(super) fn opposite(wrench: &Wrench) -> Wrench {
    scaled(wrench, -1.0)
}

/// Returns a wrench multiplied by a factor.
pub(super) fn scaled(wrench: &Wrench, factor: f64) -> Wrench {
    Wrench { force: wrench.force * factor, torque: wrench.torque * factor }
}
