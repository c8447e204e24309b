//! Points in hashed cells, for neighbourhood queries.

use rayon::prelude::*;

use super::random::mixed;
use super::types::Sample;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded};

const NONE: u32 = u32::MAX;
const MOST_BUCKETS: usize = 1 << 26;

/// A growing set of points in cells of equal size.
pub(super) struct PointGrid {
    cell: f64,
    /// First point of each bucket, and the next of each point.
    heads: Vec<u32>,
    next: Vec<u32>,
    points: Vec<(Vec3, [i64; 3])>,
}

impl PointGrid {
    /// Returns a grid for queries up to distance `reach` (positive, metres), and about `expected` points.
    pub fn new(reach: f64, expected: usize) -> Self {
        let buckets = (expected * 2).next_power_of_two().clamp(64, MOST_BUCKETS);
        Self { cell: reach, heads: filled(NONE, buckets), next: Vec::new(), points: with_capacity(expected) }
    }

    /// Adds a point; points are numbered in the order of insertion.
    pub fn insert(&mut self, p: Vec3) {
        if self.points.len() == self.heads.len() && self.heads.len() < MOST_BUCKETS {
            self.heads = filled(NONE, 2 * self.heads.len());
            self.next.clear();
            (0..self.points.len()).for_each(|i| self.link(i));
        }
        let cell = self.cell_of(&p);
        self.points.push_guarded((p, cell));
        self.link(self.points.len() - 1);
    }

    /// Puts point `i`, the next without a bucket, first into its own.
    fn link(&mut self, i: usize) {
        let bucket = self.bucket(&self.points[i].1);
        self.next.push_guarded(self.heads[bucket]);
        self.heads[bucket] = i as u32;
    }

    /// Calls `visit` with each point nearer than `radius` (at most the grid's reach), and its squared distance.
    /// Returns the number of points tested.
    #[inline]
    pub fn near(&self, p: &Vec3, radius: f64, mut visit: impl FnMut(u32, f64)) -> u64 {
        let goes_on = |i: u32, d: f64| {
            visit(i, d);
            false
        };
        self.find(p, radius, goes_on).1
    }

    /// Returns whether `is_it` holds for a point nearer than `radius` (at most the grid's reach), and the number of
    /// points tested. Tests the points added last first, and stops at the first point for which it holds.
    #[inline]
    pub fn any_near(&self, p: &Vec3, radius: f64, mut is_it: impl FnMut(u32) -> bool) -> (bool, u64) {
        self.find(p, radius, |i, _| is_it(i))
    }

    #[inline]
    fn find(&self, p: &Vec3, radius: f64, mut is_it: impl FnMut(u32, f64) -> bool) -> (bool, u64) {
        let mut looked_at = 0;
        let center = self.cell_of(p);
        let low = self.cell_of(&p.add_scalar(-radius));
        let high = self.cell_of(&p.add_scalar(radius));
        let limit = radius * radius;
        // Never more than the 27 cells around, in spite of rounding of far coordinates.
        let range = |a: usize| low[a].max(center[a] - 1)..=high[a].min(center[a] + 1);
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let cell = [x, y, z];
                    let mut i = self.heads[self.bucket(&cell)];
                    while i != NONE {
                        let (q, its) = &self.points[i as usize];
                        let d = (q - p).norm_squared();
                        looked_at += 1;
                        if d < limit && *its == cell && is_it(i, d) {
                            return (true, looked_at);
                        }
                        i = self.next[i as usize];
                    }
                }
            }
        }
        (false, looked_at)
    }

    fn cell_of(&self, p: &Vec3) -> [i64; 3] {
        // Clamped, so that extreme ratios share a cell instead of overflowing.
        [0, 1, 2].map(|a| (p[a] / self.cell).floor().clamp(-1e15, 1e15) as i64)
    }

    /// Neighbours along x share a cache line; colliding cells are distinguished by their coordinates.
    fn bucket(&self, cell: &[i64; 3]) -> usize {
        let row =
            (cell[1] as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (cell[2] as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        ((row >> 24).wrapping_add(cell[0] as u64)) as usize & (self.heads.len() - 1)
    }
}

/// Removes samples from cells of this size with more than `most`, so that `most` are left; a fixed pseudo-random
/// number selects them. The others keep their order.
pub(super) fn thin_dense_cells(samples: &mut Vec<Sample>, cell: f64, most: usize) {
    // The cell's number, then the rank that decides within it.
    let mut keys: Vec<(u64, u64, u32)> = samples
        .par_iter()
        .enumerate()
        .map(|(i, s)| {
            let along = |a: usize| (s.p[a] / cell).floor().clamp(-1e15, 1e15) as i64 as u64;
            let row = mixed(mixed(along(0)) ^ along(1));
            (mixed(row ^ along(2)), mixed(i as u64), i as u32)
        })
        .collect_guarded();
    keys.par_sort_unstable();
    let mut is_out: Vec<bool> = Vec::new();
    for dense in keys.chunk_by(|a, b| a.0 == b.0).filter(|c| c.len() > most) {
        is_out.resize_guarded(samples.len(), false);
        dense[most..].iter().for_each(|k| is_out[k.2 as usize] = true);
    }
    if !is_out.is_empty() {
        let mut out = is_out.into_iter();
        samples.retain(|_| out.next() == Some(false));
    }
}

/// Sorts samples so that neighbours in space are near in memory: along a Morton curve through cells of this size.
pub(super) fn sort_spatially(samples: &mut Vec<Sample>, cell: f64) {
    let mut low = Vec3::repeat(f64::INFINITY);
    samples.iter().for_each(|s| low = low.inf(&s.p));
    // 21 bits of each coordinate, two zeros between any two of them.
    let spread = |x: f64| {
        let mut bits = (x / cell).clamp(0.0, 2_097_151.0) as u64;
        for (shift, mask) in [
            (32, 0x001F_0000_0000_FFFF),
            (16, 0x001F_0000_FF00_00FF),
            (8, 0x100F_00F0_0F00_F00F),
            (4, 0x10C3_0C30_C30C_30C3),
            (2, 0x1249_2492_4924_9249),
        ] {
            bits = (bits | bits << shift) & mask;
        }
        bits
    };
    let key = |s: &Sample| {
        let d = s.p - low;
        spread(d.x) | spread(d.y) << 1 | spread(d.z) << 2
    };
    // Equal keys keep their order: no two pairs are equal.
    let mut keys: Vec<(u64, u32)> = samples.par_iter().enumerate().map(|(i, s)| (key(s), i as u32)).collect_guarded();
    keys.par_sort_unstable();
    *samples = keys.iter().map(|&(_, i)| samples[i as usize]).collect_guarded();
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    #[test]
    fn near_points_agree_with_brute_force() {
        let mut random = Random::new(3);
        let mut point = |scale: f64| Vec3::from_fn(|_, _| (random.unit() - 0.5) * scale);
        let points: Vec<Vec3> = (0..800).map(|_| point(2.0)).collect();
        let mut grid = PointGrid::new(0.25, 10);
        points.iter().for_each(|p| grid.insert(*p));
        for _ in 0..200 {
            let q = point(2.4);
            for radius in [0.25, 0.1] {
                let mut found = vec![];
                grid.near(&q, radius, |i, d| {
                    assert_eq!(d, (points[i as usize] - q).norm_squared());
                    found.push(i);
                });
                found.sort_unstable();
                let inside = |i: &u32| (points[*i as usize] - q).norm_squared() < radius * radius;
                assert_eq!(found, (0..800).filter(inside).collect::<Vec<u32>>());
            }
        }
    }
}
