//! Largest values and slopes of a voxelmap, from which V over a ball is bounded.

use rayon::prelude::*;

use super::VoxelGrid;
use voxshell_base::memory::filled;

/// Numbers of a map that follow from its voxels. They are measured when a map is made and when it is loaded, never
/// read from a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measures {
    /// Smallest and largest σ v, metres.
    pub least: f32,
    pub most: f32,
    /// Upper bound of |V(C) − V(C′)| / |C − C′| over all pairs of voxel centres.
    pub slope: f32,
    /// Largest |∇V|/s.
    pub steepest: f32,
}

/// Planes of voxels in one task.
const PLANES: usize = 8;

/// Largest ratio of a path of steps to neighbouring centres, over faces, edges and corners, to the distance between its
/// ends: |(1, √2 − 1, √3 − √2)|, rounded up.
const CHAMFER: f32 = 1.1281;

/// Largest differences between neighbours over faces, edges and corners, the extremes, and the largest |∇V|².
#[derive(Clone, Copy)]
struct Steps {
    by: [f32; 3],
    least: f32,
    most: f32,
    steepest: f32,
}

impl Steps {
    const NONE: Self = Self { by: [0.0; 3], least: f32::INFINITY, most: f32::NEG_INFINITY, steepest: 0.0 };

    fn max(self, other: Self) -> Self {
        Self {
            by: [0, 1, 2].map(|k| self.by[k].max(other.by[k])),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            steepest: self.steepest.max(other.steepest),
        }
    }
}

impl Measures {
    /// Measures a map of `value(voxel)` σ v, metres. Every pair of centres is joined by a path of steps to neighbours. Counted as king's moves, the
    /// path is at most as long as the distance of the centres; with the steps' own lengths, at most `CHAMFER` times it.
    /// The smaller of the two bounds holds.
    pub fn of(grid: &VoxelGrid, value: impl Fn([u32; 3]) -> f32 + Sync) -> Self {
        let [nx, ny, nz] = grid.dims().map(|n| n as usize);
        let steps = (0..nz.div_ceil(PLANES))
            .into_par_iter()
            .map(|task| Planes::new(&value, [nx, ny, nz], task * PLANES).steps())
            .reduce(|| Steps::NONE, Steps::max);
        let s = grid.voxel_size();
        let [face, edge, corner] = steps.by;
        let king = face.max(edge).max(corner);
        let chamfer = CHAMFER * face.max(edge / 2f32.sqrt()).max(corner / 3f32.sqrt());
        // Three roundings of f32.
        let slope = king.min(chamfer) / s * (1.0 + 4.0 * f32::EPSILON);
        Self { least: steps.least, most: steps.most, slope, steepest: steps.steepest.sqrt() / s * 1.000_001 }
    }
}

/// The values of some planes, with the plane before and the plane after them where these exist.
struct Planes {
    dims: [usize; 3],
    /// First plane that is stored, and the planes to measure.
    from: usize,
    own: std::ops::Range<usize>,
    values: Vec<f32>,
}

impl Planes {
    fn new(value: impl Fn([u32; 3]) -> f32, [nx, ny, nz]: [usize; 3], first: usize) -> Self {
        let own = first..(first + PLANES).min(nz);
        let (from, to) = (first.saturating_sub(1), (own.end + 1).min(nz));
        let mut values = filled(0.0, nx * ny * (to - from));
        for (line, values) in values.chunks_exact_mut(nx).enumerate() {
            let (j, k) = ((line % ny) as u32, (from + line / ny) as u32);
            for (i, v) in (0u32..).zip(values) {
                *v = value([i, j, k]);
            }
        }
        Self { dims: [nx, ny, nz], from, own, values }
    }

    #[inline(always)]
    fn at(&self, [i, j, k]: [usize; 3]) -> f32 {
        self.values[((k - self.from) * self.dims[1] + j) * self.dims[0] + i]
    }

    fn steps(&self) -> Steps {
        let mut found = Steps::NONE;
        for k in self.own.clone() {
            for j in 0..self.dims[1] {
                for i in 0..self.dims[0] {
                    self.measure([i, j, k], &mut found);
                }
            }
        }
        found
    }

    /// Compares a voxel with the neighbours that follow it.
    fn measure(&self, voxel: [usize; 3], found: &mut Steps) {
        let value = self.at(voxel);
        found.least = found.least.min(value);
        found.most = found.most.max(value);
        for (x, y, z) in NEXT {
            let next = [voxel[0].wrapping_add_signed(x), voxel[1].wrapping_add_signed(y), voxel[2] + z];
            if (0..3).all(|k| next[k] < self.dims[k]) {
                let by = &mut found.by[(x != 0) as usize + (y != 0) as usize + z - 1];
                *by = by.max((self.at(next) - value).abs());
            }
        }
        let mut square = 0.0;
        for k in 0..3 {
            let (mut before, mut after) = (voxel, voxel);
            let (low, high) = (voxel[k] > 0, voxel[k] + 1 < self.dims[k]);
            before[k] -= usize::from(low);
            after[k] += usize::from(high);
            let rise = (self.at(after) - self.at(before)) * if low && high { 0.5 } else { 1.0 };
            square += rise * rise;
        }
        found.steepest = found.steepest.max(square);
    }
}

/// Half of the 26 neighbours: the others are opposite.
const NEXT: [(isize, isize, usize); 13] = [
    (1, 0, 0),
    (-1, 1, 0),
    (0, 1, 0),
    (1, 1, 0),
    (-1, -1, 1),
    (0, -1, 1),
    (1, -1, 1),
    (-1, 0, 1),
    (0, 0, 1),
    (1, 0, 1),
    (-1, 1, 1),
    (0, 1, 1),
    (1, 1, 1),
];
