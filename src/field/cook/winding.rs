//! Sign of open surfaces by the generalised winding number (Jacobson et al. 2013): inside is where it exceeds one half.
//!
//! It is harmonic away from the surface, so it has no extremum there, and in a block whose distance to the surface is a
//! multiple of its size it is all but linear. Such blocks are decided by a few of their nodes when these agree by a
//! margin; others are halved, down to single nodes.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::Grid;
use crate::math::{Progress, Vec3};
use crate::mesh::Bvh;
use crate::Result;

/// Nodes along a block's edge at the start, and one more than that in cells.
const EDGE: u32 = 16;
/// A block is decided as a whole when the winding number is farther than this from one half at its corners and centre …
const MARGIN: f64 = 0.12;
/// … and the surface is farther from its centre than this many times its half diagonal.
const CLEAR: f64 = 1.5;
/// Nodes this close to the threshold are counted as uncertain.
const UNCERTAIN: f64 = 0.1;

struct Signs<'a> {
    grid: &'a Grid,
    center: Vec3,
    bvh: &'a Bvh,
    values: &'a [f32],
    uncertain: AtomicU64,
}

/// Makes `values` (unsigned distances) negative inside; gives the number of uncertain nodes.
pub(super) fn apply(bvh: &Bvh, grid: &Grid, center: Vec3, values: &mut [f32], progress: &Progress) -> Result<u64> {
    let blocks = grid.dims.map(|n| n.div_ceil(EDGE));
    let total = blocks.iter().map(|&n| n as usize).product::<usize>();
    let signs = Signs { grid, center, bvh, values, uncertain: AtomicU64::new(0) };
    let done = AtomicUsize::new(0);
    // For each block, one bit per node: inside.
    let inside: Vec<[u64; 64]> = (0..total as u32)
        .into_par_iter()
        .map(|b| {
            let at = [b % blocks[0], b / blocks[0] % blocks[1], b / (blocks[0] * blocks[1])].map(|i| i * EDGE);
            let mut bits = [0; 64];
            signs.block(at, [0; 3], EDGE, &mut bits);
            progress.report("sign", done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)?;
            Ok(bits)
        })
        .collect::<Result<_>>()?;
    let uncertain = signs.uncertain.load(Ordering::Relaxed);
    let (nx, ny) = (grid.dims[0], grid.dims[1]);
    values.par_chunks_mut((nx * ny) as usize).enumerate().for_each(|(k, slice)| {
        for j in 0..ny {
            for i in 0..nx {
                let b = ((k as u32 / EDGE) * blocks[1] + j / EDGE) * blocks[0] + i / EDGE;
                let n = bit([i % EDGE, j % EDGE, k as u32 % EDGE]);
                if inside[b as usize][n / 64] >> (n % 64) & 1 == 1 {
                    let v = &mut slice[(j * nx + i) as usize];
                    *v = -*v;
                }
            }
        }
    });
    Ok(uncertain)
}

fn bit([i, j, k]: [u32; 3]) -> usize {
    ((k * EDGE + j) * EDGE + i) as usize
}

impl Signs<'_> {
    fn winding(&self, node: [u32; 3]) -> f64 {
        let h = f64::from(self.grid.spacing);
        let p = Vec3::from([0, 1, 2].map(|k| f64::from(self.grid.min[k]) + f64::from(node[k]) * h));
        self.bvh.winding_number(p + self.center)
    }

    /// Nodes `at` + `from` + 0..edge.
    fn block(&self, at: [u32; 3], from: [u32; 3], edge: u32, bits: &mut [u64; 64]) {
        let first = [0, 1, 2].map(|k| at[k] + from[k]);
        if (0..3).any(|k| first[k] >= self.grid.dims[k]) {
            return;
        }
        let last = [0, 1, 2].map(|k| (first[k] + edge - 1).min(self.grid.dims[k] - 1));
        if edge == 1 {
            let w = self.winding(first);
            if w > 0.5 {
                let n = bit(from);
                bits[n / 64] |= 1 << (n % 64);
            }
            if (w - 0.5).abs() < UNCERTAIN {
                self.uncertain.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        if edge > 2 {
            let middle = [0, 1, 2].map(|k| (first[k] + last[k]) / 2);
            let span = |k: usize| f64::from((last[k] - middle[k]).max(middle[k] - first[k]));
            let radius = (span(0).powi(2) + span(1).powi(2) + span(2).powi(2)).sqrt() * f64::from(self.grid.spacing);
            let distance = f64::from(self.values[self.grid.index(middle[0], middle[1], middle[2])]);
            if distance > CLEAR * radius {
                let center = self.winding(middle);
                let side = (center - 0.5).signum();
                let agrees = |w: f64| (w - 0.5) * side > MARGIN;
                let corner = |o: u32| [0, 1, 2].map(|k| if o >> k & 1 == 1 { last[k] } else { first[k] });
                if agrees(center) && (0..8).all(|o| agrees(self.winding(corner(o)))) {
                    if side > 0.0 {
                        for k in 0..edge {
                            for j in 0..edge {
                                for i in 0..edge {
                                    let n = bit([from[0] + i, from[1] + j, from[2] + k]);
                                    bits[n / 64] |= 1 << (n % 64);
                                }
                            }
                        }
                    }
                    return;
                }
            }
        }
        let half = edge / 2;
        for o in 0..8 {
            self.block(at, [0, 1, 2].map(|k| from[k] + (o >> k & 1) * half), half, bits);
        }
    }
}
