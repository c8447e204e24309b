//! Deterministic random numbers for tests.

use nalgebra::{UnitQuaternion, Vector3};

/// SplitMix64, independent of the library's generators.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number uniform in -1..1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Returns a number uniform in 0..1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a vector uniform in the unit ball, except near its middle.
    pub fn vector(&mut self) -> Vector3<f64> {
        loop {
            let v = Vector3::new(self.unit(), self.unit(), self.unit());
            let n = v.norm();
            if n > 1e-3 && n <= 1.0 {
                return v;
            }
        }
    }

    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        loop {
            let q = nalgebra::Quaternion::new(self.unit(), self.unit(), self.unit(), self.unit());
            if q.norm() > 1e-2 && q.norm() <= 1.0 {
                return UnitQuaternion::from_quaternion(q);
            }
        }
    }
}
