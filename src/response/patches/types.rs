//! Pressure laws, and patches.

use voxshell_base::math::limits::{self, Shown};
use voxshell_base::math::Vec3;
use voxshell_base::{Error, Result};

/// Pressure laws of both bodies, and the resolution of the contact surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSettings {
    /// Stiffness k of A and of B, Pa/mᵐ where m is the exponent: the pressure at depth d is k dᵐ. Infinity for a rigid body, whose
    /// surface then is the contact surface; at most one of the two.
    pub stiffness: [f64; 2],
    /// Exponent m of both laws, 1/4 to 4. 1: linear.
    pub exponent: f64,
    /// Edge of the smallest cells of the contact surface, metres: patches narrower than this may be missed. 0: 1/200 of the
    /// largest extent of the smaller body, or twice that, four times and so on where there would be too many cells.
    pub resolution: f64,
}

impl PatchSettings {
    /// Returns linear laws at the default resolution.
    pub fn new(stiffness: [f64; 2]) -> Self {
        Self { stiffness, exponent: 1.0, resolution: 0.0 }
    }

    pub(super) fn check(&self) -> Result<()> {
        for (name, k) in ["stiffness_a", "stiffness_b"].into_iter().zip(self.stiffness) {
            if !(k >= limits::MIN_QUANTITY && (k <= limits::MAX_QUANTITY || k == f64::INFINITY)) {
                return Err(Error::argument(name, Shown(k), "a positive number of 1e-30 to 1e18, or infinity"));
            }
        }
        if self.stiffness == [f64::INFINITY; 2] {
            return Err(Error::argument("stiffness_b", "infinite", "a finite stiffness of one of the bodies"));
        }
        if !(0.25..=4.0).contains(&self.exponent) {
            return Err(Error::argument("exponent", Shown(self.exponent), "0.25 to 4"));
        }
        if self.resolution != 0.0 && !limits::is_length(self.resolution) {
            let expected = "a positive length of 1e-18 to 1e18 m, or 0 for the default";
            return Err(Error::argument("resolution", Shown(self.resolution), expected));
        }
        Ok(())
    }

    pub(super) fn surface(&self) -> Surface {
        let [a, b] = self.stiffness.map(|k| libm::pow(k, 1.0 / self.exponent));
        // Divided by the larger one, which may be infinite.
        let (w, s) =
            if a <= b { (a / b / (1.0 + a / b), a / (1.0 + a / b)) } else { (1.0 / (1.0 + b / a), b / (1.0 + b / a)) };
        Surface { weight: w, stiffness: s, exponent: self.exponent }
    }
}

/// The contact surface { w φᴬ = (1 − w) φᴮ } and the pressure on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// w = sᴬ / (sᴬ + sᴮ).
    pub weight: f64,
    /// s.
    pub stiffness: f64,
    /// m.
    pub exponent: f64,
}

impl Surface {
    pub fn weights(&self) -> [f64; 2] {
        [self.weight, 1.0 - self.weight]
    }

    /// Returns the pressure of an overlap, Pa.
    pub fn pressure(&self, overlap: f64) -> f64 {
        let linear = self.stiffness * overlap.max(0.0);
        if self.exponent == 1.0 {
            linear
        } else {
            libm::pow(linear, self.exponent)
        }
    }

    /// Returns the change of the pressure with the overlap, Pa/m.
    pub fn slope(&self, overlap: f64) -> f64 {
        if self.exponent == 1.0 {
            self.stiffness
        } else if overlap > 0.0 {
            self.exponent * self.pressure(overlap) / overlap
        } else {
            0.0
        }
    }
}

/// A region of contact. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Area of the contact surface, m².
    pub area: f64,
    /// Force on B, N; the force on A is opposite.
    pub force: Vec3,
    /// Torque on B about `center`, N m.
    pub torque: Vec3,
    /// Centre of pressure, metres.
    pub center: Vec3,
    /// Direction of the force: a unit vector from A to B.
    pub normal: Vec3,
    /// Mean and largest pressure, Pa.
    pub mean_pressure: f64,
    pub max_pressure: f64,
    /// Mean distance from `center` in the plane across `normal`, weighted by pressure, metres. Under friction of coefficient μ the
    /// patch resists spinning about `normal` with μ times this times the force.
    pub friction_arm: f64,
    /// Change of the force along `normal` per distance by which the bodies come closer along it, N/m.
    pub stiffness: f64,
    /// Mean place of that change, metres, and the second moments about it: xx, yy, zz, xy, xz, yz, m².
    pub stiffness_center: Vec3,
    pub stiffness_moments: [f64; 6],
}

/// A flat piece of a patch. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchCell {
    /// Metres.
    pub center: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// m².
    pub area: f64,
    /// Mean pressure, Pa.
    pub pressure: f64,
}
