//! Voxels that a flood from the walls of the grid cannot reach.
//!
//! McNeely et al. 1999, section 4.1: free space is found "by propagating the voxelized walls of the object's bounding
//! box inward until surface voxels are encountered", and all other voxels are interior. Here rows are cut into runs
//! between surface voxels, as in scan conversion (Kaufman & Shimony 1986), and runs that lie side by side are joined.
//!
//! The flood steps across faces of voxels only. Such a step passes from centre to centre through a box of s × s × 2s. A
//! surface that it crosses, if it is flat there and its gaps are narrower than s, has a point in that box, because a
//! disc of diameter s around the crossing fits in. So surfaces with cracks narrower than a voxel stop the flood; they
//! would not stop steps across edges and corners of voxels.

use rayon::prelude::*;

use super::bits::{next, set_run, Bits};
use super::VoxelGrid;
use voxshell_base::math::Progress;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::{Error, Result};

/// Voxels `from..to` of a row, none of them surface.
type Run = [u32; 2];

/// Sets of runs, each with a parent; a root is its own parent. Run n is element n + 1; element 0 is the outside.
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    const OUTSIDE: u32 = 0;

    fn root(&mut self, mut n: u32) -> u32 {
        while self.parent[n as usize] != n {
            let up = self.parent[self.parent[n as usize] as usize];
            self.parent[n as usize] = up;
            n = up;
        }
        n
    }

    /// Joins two sets. The smaller root stays, so that the outside is always one.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

fn runs_of(row: &[u64], n: u32, mut found: impl FnMut(Run)) {
    let mut from = next(row, 0, n, false);
    while from < n {
        let to = next(row, from, n, true);
        found([from, to]);
        from = next(row, to, n, false);
    }
}

/// Returns the voxels that are neither in `surface` nor reached from the walls.
pub(super) fn enclosed(surface: &Bits, grid: &VoxelGrid, limit: u64, progress: &Progress) -> Result<Bits> {
    let [nx, ny, nz] = grid.dims();
    let counts: Vec<usize> = (0..nz)
        .into_par_iter()
        .map(|k| {
            let mut count = 0;
            surface.slice(k).for_each(|row| runs_of(row, nx, |_| count += 1));
            count
        })
        .collect_guarded();
    let total: usize = counts.iter().sum();
    let rows = ny as usize * nz as usize;
    let each = size_of::<Run>() + size_of::<u32>();
    let needed = 2 * Bits::bytes(grid.dims()) + (total * each + rows * size_of::<u32>()) as u64;
    grid.afford("a flood", needed, limit)?;
    if total >= u32::MAX as usize {
        let expected = "voxels of which fewer than 4294967295 runs are not surface";
        return Err(Error::argument("grid", format!("{:?} with {total} runs", grid.dims()), expected));
    }

    let mut runs: Vec<Run> = with_capacity(total);
    // The first run of each row, and the end.
    let mut first: Vec<u32> = with_capacity(rows + 1);
    let mut sets = Sets { parent: (0..=total as u32).collect_guarded() };
    for k in 0..nz {
        progress.report("flood", f64::from(k) / f64::from(nz))?;
        for (j, row) in (0u32..).zip(surface.slice(k)) {
            let here = runs.len();
            first.push_guarded(here as u32);
            runs_of(row, nx, |run| runs.push_guarded(run));
            let wall = j == 0 || j == ny - 1 || k == 0 || k == nz - 1;
            for (n, run) in (here as u32 + 1..).zip(&runs[here..]) {
                if wall || run[0] == 0 || run[1] == nx {
                    sets.join(n, Sets::OUTSIDE);
                }
            }
            let this = first.len() - 1;
            let before = [(j > 0).then(|| this - 1), (k > 0).then(|| this - ny as usize)];
            for other in before.into_iter().flatten() {
                let (mut a, mut b) = (here, first[other] as usize);
                let end = first[other + 1] as usize;
                while a < runs.len() && b < end {
                    if runs[a][0] < runs[b][1] && runs[b][0] < runs[a][1] {
                        sets.join(a as u32 + 1, b as u32 + 1);
                    }
                    if runs[a][1] < runs[b][1] {
                        a += 1;
                    } else {
                        b += 1;
                    }
                }
            }
        }
    }
    first.push_guarded(runs.len() as u32);

    let mut interior = Bits::new(grid.dims());
    let words = interior.row_words();
    for (k, slice) in interior.slices_mut().enumerate() {
        for (j, row) in slice.chunks_exact_mut(words).enumerate() {
            let this = k * ny as usize + j;
            for n in first[this]..first[this + 1] {
                if sets.root(n + 1) != Sets::OUTSIDE {
                    let [from, to] = runs[n as usize];
                    set_run(row, from, to);
                }
            }
        }
    }
    progress.report("flood", 1.0)?;
    Ok(interior)
}
