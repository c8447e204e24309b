//! Contacts of a slow simulation are faded in, in place of those that they replace.

use super::linearised::Place;
use super::loads::PerBody;
use voxshell_base::math::{Vec3, Wrench};

/// Remainder of contacts that a new snapshot replaced. With a slow simulation the tool is already deep inside a body
/// when its contacts arrive: they are then faded in over the time between the snapshots, and not at once.
#[derive(Debug)]
pub(super) struct Blend {
    /// On each body.
    pub left: PerBody,
    /// Seconds.
    time: f64,
    /// Fraction of `left` that acts in a step.
    share: f64,
}

impl Blend {
    /// Snapshots that arrive at the rate of the steps are not blended.
    pub const STEPS: f64 = 1.5;
    /// Longest blending time, however slow the simulation is, seconds.
    const LONGEST: f64 = 0.02;

    pub fn new(bodies: usize) -> Self {
        Self { left: PerBody::new(bodies), time: 0.0, share: 1.0 }
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
            self.left.scale(libm::exp(-dt / self.time));
            self.left.carry(dt);
        }
        let mut sum = Wrench::ZERO;
        for (place, on_body) in self.left.iter() {
            sum += opposite(&on_body.about(&(center - place.origin)));
        }
        sum
    }

    /// Returns the part of the remainder `left` of a step that acts, all about the tool's centre: it is no larger than
    /// the contacts, so that it does not push a tool that has left them. `contacts` is their size, N, and `lever` weights
    /// torques, metres.
    pub fn limit(&mut self, left: &Wrench, contacts: f64, lever: f64) -> Wrench {
        let all = size(left, lever);
        self.share = if all > contacts { contacts / all } else { 1.0 };
        scaled(left, self.share)
    }

    /// Returns the wrench on each body that acts in this step.
    pub fn acting(&self) -> impl Iterator<Item = (&Place, Wrench)> {
        self.left.iter().map(|(place, on_body)| (place, scaled(on_body, self.share)))
    }
}

/// Returns the size of a wrench, N: torques count by the force that they are at a lever, metres.
pub(super) fn size(wrench: &Wrench, lever: f64) -> f64 {
    wrench.force.norm() + wrench.torque.norm() / lever.max(1e-9)
}

/// Returns the opposite of a wrench.
pub(super) fn opposite(wrench: &Wrench) -> Wrench {
    scaled(wrench, -1.0)
}

/// Returns a wrench multiplied by a factor.
pub(super) fn scaled(wrench: &Wrench, factor: f64) -> Wrench {
    Wrench { force: wrench.force * factor, torque: wrench.torque * factor }
}
