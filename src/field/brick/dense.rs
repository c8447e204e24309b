//! Conversion of a full grid to bricks.

use rayon::prelude::*;

use super::{bricks_of, place_of, BrickField, Draft, FineBricks, BAND, CELLS, NODES, QUANTA, STRIDE, VOLUME};
use crate::DenseField;
use voxshell_base::math::Aabb;
use voxshell_base::memory::{filled, par_flat_collect, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::{Error, Result};

/// Quanta of the largest sample; the rest of 32,767 is reserved for the rounding of coarse samples.
const RANGE: f32 = 32_000.0;

impl BrickField {
    /// Returns the same grid in bricks: fine where |φ| at a node is at most three cells or signs differ.
    ///
    /// Samples of the last bricks that are beyond the grid repeat its border, so that there φ is flatter than in the
    /// full grid; a grid with a multiple of eight cells along each axis has none.
    pub fn from_dense(dense: &DenseField) -> Result<Self> {
        let grid = *dense.grid();
        let bricks = bricks_of(&grid);
        let total = bricks.iter().map(|&n| n as usize).product::<usize>();
        if total > u32::MAX as usize {
            return Err(Error::argument(
                "grid",
                format!("{total} bricks of 8^3 cells"),
                format!("at most {}", u32::MAX),
            ));
        }
        let node = |at: [u32; 3]| {
            let [i, j, k] = [0, 1, 2].map(|a| at[a].min(grid.dims[a] - 1));
            dense.values()[grid.index(i, j, k)]
        };
        let corners = bricks.map(|n| n as usize + 1);
        let coarse: Vec<f32> = (0..corners.iter().product())
            .into_par_iter()
            .map(|n: usize| {
                node(
                    [n % corners[0], n / corners[0] % corners[1], n / (corners[0] * corners[1])]
                        .map(|i| i as u32 * CELLS),
                )
            })
            .collect_guarded();
        let values = |brick: u32| {
            let first = place_of(brick as usize, bricks).map(|i| i * CELLS);
            (0..VOLUME as u32).map(move |n| {
                let local = [n % NODES, n / NODES % NODES, n / (NODES * NODES)];
                node([0, 1, 2].map(|a| first[a] + local[a]))
            })
        };
        let band = BAND * grid.spacing;
        // The largest value in each brick that counts.
        let near: Vec<(u32, f32)> = par_flat_collect(total, 64, |b, near| {
            let (mut least, mut most, mut size) = (f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY);
            for v in values(b as u32) {
                least = least.min(v);
                most = most.max(v);
                size = size.min(v.abs());
            }
            if size <= band || (least < 0.0) != (most < 0.0) {
                near.push_guarded((b as u32, least.abs().max(most.abs())));
            }
        });
        let largest = near.iter().fold(0.0f32, |a, (_, v)| a.max(*v));
        let quantum = (grid.spacing / QUANTA).max(largest / RANGE);
        let mut samples = filled(0, near.len() * STRIDE);
        samples.par_chunks_exact_mut(STRIDE).zip(&near).for_each(|(samples, (b, _))| {
            samples.iter_mut().zip(values(*b)).for_each(|(s, v)| *s = (v / quantum).round() as i16);
        });
        let fine = FineBricks { bricks: near.iter().map(|(b, _)| *b).collect_guarded(), samples };
        let rounding = near
            .par_iter()
            .flat_map_iter(|(b, _)| values(*b))
            .filter(|v| v.abs() <= band)
            .map(|v| ((v / quantum).round() * quantum - v).abs())
            .reduce(|| 0.0, f32::max);
        let field = Self::build(Draft {
            grid,
            center: dense.center(),
            coarse,
            fine,
            quantum,
            node_lipschitz: dense.node_lipschitz().max(f32::MIN_POSITIVE),
            rounding,
            sign: *dense.sign(),
        })?;
        let mut error = dense.error();
        error.max += f64::from(rounding);
        error.rms += f64::from(rounding);
        Ok(field.described(error, &Aabb::empty()))
    }
}
