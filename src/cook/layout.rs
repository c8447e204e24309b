//! Positions of the bricks of a field, and the memory that cooking them takes.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::crossings::{self, cut_edges};
use super::lattice::Lattice;
use super::options::FieldOptions;
use super::winding;
use voxshell_base::math::{Aabb, Progress, Vec3};
use voxshell_base::memory::{filled_with, CollectGuarded, SliceGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::brick::{bricks_of, BAND, CELLS, STRIDE};
use voxshell_field::sign::Sides;
use voxshell_field::Grid;
use voxshell_mesh::{triangle, TriMesh};

/// Grid and bricks of a field.
pub(super) struct Layout {
    /// Grid of the field, and grid of all nodes of the bricks that cover it.
    pub grid: Grid,
    pub all: Grid,
    pub center: Vec3,
    pub bricks: [u32; 3],
}

impl Layout {
    /// Checks everything that can be checked before the computation begins.
    pub fn new(mesh: &TriMesh, options: &FieldOptions) -> Result<Self> {
        let (counts, center) = options.counts(mesh)?;
        let numbers = counts.map(|n| ((n - 1.0) / f64::from(CELLS)).ceil());
        let total = numbers.iter().product::<f64>();
        // An entry and a corner for each brick, and the corner's distance.
        let needed = 10.0 * total + FieldOptions::fixed_bytes(mesh.triangles.len()) as f64;
        if needed > options.memory_limit as f64 {
            let [x, y, z] = counts;
            let what = format!("a field of {x} x {y} x {z} nodes {} m apart, in bricks", options.voxel_size);
            return Err(Error::TooLarge { what, needed: needed as u64, limit: options.memory_limit });
        }
        Grid::check_counts(counts).and_then(|()| check_bricks(total)).map_err(|error| match error {
            Error::TooMany { what, expected, .. } => Error::TooMany { what, expected, needed: needed as u64 },
            other => other,
        })?;
        let grid = Grid::centered(counts.map(|n| n as u32), options.voxel_size as f32);
        grid.check()?;
        let bricks = bricks_of(&grid);
        let all = Grid { dims: bricks.map(|n| n * CELLS + 1), ..grid };
        all.check()?;
        Ok(Self { grid, all, center, bricks })
    }

    /// Makes the distances at the bricks' corners negative inside an open surface, whose repaired triangles are `corners`.
    pub fn sign_corners(
        &self,
        sides: &Sides,
        corners: &[[[f64; 3]; 3]],
        coarse: &mut [f32],
        progress: &Progress,
    ) -> Result<()> {
        let grid = Grid { dims: self.bricks.map(|n| n + 1), spacing: self.all.spacing * CELLS as f32, ..self.all };
        let cut = cut_edges(&Lattice::new(&self.all).every(CELLS), corners, progress)?;
        // The node counts of the report come from `Open`.
        let mut report = sides.report;
        winding::apply(sides, &grid, self.center, &cut, coarse, &mut report, progress)
    }

    /// Returns the memory that depends on the triangles, bytes. `distinct`: the mesh without repeats.
    pub fn fixed_bytes(&self, mesh: &TriMesh, distinct: &TriMesh, open: bool) -> u64 {
        let crossings = if open { 0 } else { crossings::bytes(distinct, f64::from(self.grid.spacing)) };
        FieldOptions::fixed_bytes(mesh.triangles.len()) + crossings
    }

    /// Checks the memory of cooking against the limit: `fixed` bytes, and those of the bricks that may be in the band
    /// of `corners`, the triangles of the soup and of membranes. Returns the memory, bytes.
    pub fn check_memory(
        &self,
        lattice: &Lattice,
        corners: &[[[f64; 3]; 3]],
        fixed: u64,
        open: bool,
        options: &FieldOptions,
    ) -> Result<u64> {
        let total = self.bricks.iter().map(|&n| n as usize).product::<usize>();
        let fine = near_at_most(lattice, corners, self.bricks, f64::from(BAND));
        let rows = self.all.dims[1] as usize * self.all.dims[2] as usize;
        // Samples; and crossings of half of a brick's 64 rows, twice while they are joined, or for an open surface
        // the cut edges of its 512 nodes, their signs and tallies.
        let each = 4 + STRIDE * 2 + if open { 768 } else { 32 * 16 };
        let needed = fixed + (10 * total + 4 * rows + each * fine) as u64;
        let samples = fine * STRIDE + total;
        let [x, y, z] = self.grid.dims;
        if needed > options.memory_limit {
            let what = format!("a field of {x} x {y} x {z} nodes, {fine} bricks of them at the surface,");
            return Err(Error::TooLarge { what, needed, limit: options.memory_limit });
        }
        if samples > u32::MAX as usize {
            let what = format!("the bricks of a field of {x} x {y} x {z} nodes have {samples} samples");
            let expected = format!("at most {}: try a larger voxel size", u32::MAX);
            return Err(Error::TooMany { what, expected, needed });
        }
        Ok(needed)
    }
}

/// Refuses more bricks than their numbers allow.
fn check_bricks(total: f64) -> Result<()> {
    let most = u32::MAX / 2;
    if total <= f64::from(most) {
        return Ok(());
    }
    let what = format!("the grid has {total} bricks of {CELLS} x {CELLS} x {CELLS} voxels");
    Err(Error::TooMany { what, expected: format!("at most {most}: try a larger voxel size"), needed: 0 })
}

/// Returns an upper bound on the number of bricks in the band: bricks that meet a triangle when they are grown by the
/// band. `width`: half the width of the band, cells.
pub(super) fn near_at_most(lattice: &Lattice, corners: &[[[f64; 3]; 3]], bricks: [u32; 3], width: f64) -> usize {
    let words = (bricks[0] as usize).div_ceil(64);
    let marked = filled_with(words * bricks[1] as usize * bricks[2] as usize, || AtomicU64::new(0));
    let edge = lattice.spacing * f64::from(CELLS);
    // Bricks grown by a wide band are tested against triangles grown by its remainder alone, and the whole bricks of
    // its width are added afterwards. Otherwise the time would grow with triangles times bricks.
    let whole = (lattice.spacing * width * 1.001 / edge) as u32;
    let band = lattice.spacing * width * 1.001 - f64::from(whole) * edge;
    corners.par_iter().for_each(|t| {
        let t = t.map(Vec3::from);
        let reach = |k: usize| {
            let (lo, hi) = (t[0][k].min(t[1][k]).min(t[2][k]) - band, t[0][k].max(t[1][k]).max(t[2][k]) + band);
            let place = |x: f64| ((x - lattice.min[k]) / edge).floor().clamp(0.0, f64::from(bricks[k] - 1)) as u32;
            (place(lo), place(hi))
        };
        let [(i0, i1), (j0, j1), (k0, k1)] = [0, 1, 2].map(reach);
        let few = (i1 - i0 + 1) * (j1 - j0 + 1) * (k1 - k0 + 1) <= 12;
        for k in k0..=k1 {
            for j in j0..=j1 {
                for i in i0..=i1 {
                    let min = Vec3::from([0, 1, 2].map(|a| lattice.min[a] + f64::from([i, j, k][a]) * edge));
                    let grown = Aabb { min, max: min.add_scalar(edge) }.inflated(band);
                    if few || triangle::overlaps_box(&t, &grown) {
                        let row = (k as usize * bricks[1] as usize + j as usize) * words;
                        marked[row + i as usize / 64].fetch_or(1 << (i % 64), Ordering::Relaxed);
                    }
                }
            }
        }
    });
    let mut marked: Vec<u64> = marked.into_iter().map(AtomicU64::into_inner).collect_guarded();
    spread(&mut marked, bricks, whole as usize);
    marked.into_iter().map(|bits| bits.count_ones() as usize).sum()
}

/// Marks the bricks that are at most `by` positions along each axis from a marked one. A row of bricks along x starts
/// with a word of its own.
fn spread(marked: &mut [u64], bricks: [u32; 3], by: usize) {
    let [nx, ny, nz] = bricks.map(|n| n as usize);
    let words = nx.div_ceil(64);
    let reach_x = by.min(nx);
    for row in marked.chunks_exact_mut(words).filter(|row| by > 0 && row.iter().any(|&word| word != 0)) {
        let before = row.to_vec_guarded();
        let is_marked = |i: usize| before[i / 64] >> (i % 64) & 1 == 1;
        // End, exclusive, of the reach of the bricks before this one.
        let mut until = 0;
        for i in 0..nx + reach_x {
            if i < nx && is_marked(i) {
                until = i + 2 * reach_x + 1;
            }
            // The row is written `reach_x` positions behind the current brick.
            if i >= reach_x && i < until {
                row[(i - reach_x) / 64] |= 1 << ((i - reach_x) % 64);
            }
        }
    }
    for (n, stride) in [(ny, words), (nz, words * ny)] {
        let mut reach = 0;
        while reach < by.min(n) {
            let step = (2 * reach + 1).min(by.min(n) - reach);
            let before = marked.to_vec_guarded();
            for (row, words) in marked.chunks_exact_mut(stride).enumerate() {
                // At the border, the present words cover those that would come from beyond.
                for at in [(row % n).saturating_sub(step), (row % n + step).min(n - 1)] {
                    let from = (row - row % n + at) * stride;
                    words.iter_mut().zip(&before[from..from + stride]).for_each(|(word, other)| *word |= other);
                }
            }
            reach += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading_marks_the_bricks_within_so_many_places() {
        for (bricks, by) in [([70u32, 5, 9], 3), ([3, 130, 2], 7), ([65, 1, 40], 0), ([130, 4, 4], 100), ([1, 1, 1], 5)]
        {
            let [nx, ny, nz] = bricks.map(|n| n as usize);
            let words = nx.div_ceil(64);
            let seeds = [[0, 0, 0], [nx / 2, ny - 1, nz / 3], [nx - 1, ny / 2, nz - 1]];
            let place = |[i, j, k]: [usize; 3]| ((k * ny + j) * words + i / 64, 1u64 << (i % 64));
            let mut marked = vec![0u64; words * ny * nz];
            for (word, bit) in seeds.map(place) {
                marked[word] |= bit;
            }
            spread(&mut marked, bricks, by);
            let mut count = 0;
            for n in 0..nx * ny * nz {
                let at = [n % nx, n / nx % ny, n / (nx * ny)];
                let expected = seeds.iter().any(|s| (0..3).all(|a| s[a].abs_diff(at[a]) <= by));
                let (word, bit) = place(at);
                assert_eq!(marked[word] & bit != 0, expected, "{at:?} of {bricks:?}, spread by {by}");
                count += u32::from(expected);
            }
            // No bits behind the rows.
            assert_eq!(marked.iter().map(|word| word.count_ones()).sum::<u32>(), count);
        }
    }
}
