//! A hash of numbers, and random numbers that are the same everywhere.

use nalgebra::Quaternion;
use voxshell::contact::Contact;
use voxshell::math::{Pose, Rotation, Vec3};

/// FNV-1a, 64 bits.
pub struct Hash(u64);

impl Hash {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn number(&mut self, x: f64) {
        self.bytes(&x.to_bits().to_le_bytes());
    }

    pub fn vector(&mut self, v: &Vec3) {
        v.iter().for_each(|x| self.number(*x));
    }

    pub fn pose(&mut self, pose: &Pose) {
        self.vector(&pose.translation.vector);
        pose.rotation.coords.iter().for_each(|x| self.number(*x));
    }

    pub fn contact(&mut self, c: &Contact) {
        [c.point_on_a, c.point_on_b, c.normal].iter().for_each(|v| self.vector(v));
        self.number(c.separation);
        self.number(c.toi);
        self.bytes(&c.feature.to_le_bytes());
    }

    pub fn value(&self) -> u64 {
        self.0
    }
}

/// Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators": SplitMix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number of -1 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }

    /// Returns a pose within `reach` of the origin along each axis. Only arithmetic and a square root go into it.
    pub fn pose(&mut self, reach: f64) -> Pose {
        let [x, y, z, w] = [self.unit(), self.unit(), self.unit(), 1.5 + self.unit()];
        let n = (x * x + y * y + z * z + w * w).sqrt();
        let rotation = Rotation::new_unchecked(Quaternion::new(w / n, x / n, y / n, z / n));
        Pose::from_parts((self.vector() * reach).into(), rotation)
    }
}
