//! Points in a hash of cubes, to find those near a place.

use voxshell_base::math::Vec3;
use voxshell_base::memory::{GrowGuarded, RoomGuarded};

const BUCKETS: usize = 512;
const FEW: usize = 256;
/// Marks the end of a bucket.
const NONE: u32 = u32::MAX;

/// Points, numbered in the order in which they were added. Adding one allocates nothing once there was room for as many.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Edge of a cube, metres.
    edge: f64,
    /// Last point of each bucket; empty before the first use.
    last: Vec<u32>,
    /// The point before each in its bucket.
    before: Vec<u32>,
}

impl Places {
    /// Takes room for a few points, so that the first of them take none later.
    pub fn prepare(&mut self) {
        if self.last.is_empty() {
            self.last.resize_guarded(BUCKETS, NONE);
            self.before.reserve_guarded(FEW);
        }
    }

    /// Begins anew, for questions about places within about half of `edge`, metres.
    pub fn begin(&mut self, edge: f64) {
        self.edge = if edge > 0.0 { edge } else { 1.0 };
        self.last.clear();
        self.last.resize_guarded(BUCKETS, NONE);
        self.before.clear();
    }

    pub fn push(&mut self, p: &Vec3) {
        let bucket = bucket([0, 1, 2].map(|i| self.cube(p[i])));
        let before = std::mem::replace(&mut self.last[bucket], self.before.len() as u32);
        self.before.push_guarded(before);
    }

    fn cube(&self, x: f64) -> i64 {
        (x / self.edge).floor() as i64
    }

    /// Returns whether `wanted` accepts one of the points within `radius` of `p`, metres. It is asked about others too, and
    /// about some twice.
    pub fn any_near(&self, p: &Vec3, radius: f64, mut wanted: impl FnMut(usize) -> bool) -> bool {
        let low = [0, 1, 2].map(|i| self.cube(p[i] - radius));
        let high = [0, 1, 2].map(|i| self.cube(p[i] + radius));
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let mut k = self.last[bucket([x, y, z])];
                    while k != NONE {
                        if wanted(k as usize) {
                            return true;
                        }
                        k = self.before[k as usize];
                    }
                }
            }
        }
        false
    }
}

fn bucket([x, y, z]: [i64; 3]) -> usize {
    // The primes of Teschner et al. 2003, "Optimized Spatial Hashing for Collision Detection of Deformable Objects".
    let mixed = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791);
    mixed as usize % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_near_a_place_are_found() {
        let mut state = 7u64;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut places = Places::default();
        for edge in [0.02, 0.3, 5.0] {
            places.begin(edge);
            let points: Vec<Vec3> = (0..500).map(|_| Vec3::new(unit(), unit(), unit())).collect();
            points.iter().for_each(|p| places.push(p));
            for p in &points {
                let place = p + Vec3::new(unit(), unit(), unit()) * edge;
                let mut found = vec![false; points.len()];
                places.any_near(&place, 0.5 * edge, |k| {
                    found[k] = true;
                    false
                });
                let missed = |(q, found): (&Vec3, &bool)| !found && (q - place).norm() <= 0.5 * edge;
                assert!(!points.iter().zip(&found).any(missed));
            }
        }
    }
}
