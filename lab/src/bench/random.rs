//! SplitMix64: the same numbers in every run.

use std::f64::consts::TAU;

use voxshell::math::Rotation;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number uniform in 0..1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number uniform in 0..n.
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() * f64::from(n)) as u32
    }

    /// Returns a uniform rotation (Shoemake 1992).
    pub fn rotation(&mut self) -> Rotation {
        let (part, a, b) = (self.next(), TAU * self.next(), TAU * self.next());
        let (p, q) = ((1.0 - part).sqrt(), part.sqrt());
        Rotation::from_quaternion(nalgebra::Quaternion::new(q * b.cos(), p * a.sin(), p * a.cos(), q * b.sin()))
    }
}
