//! The field as a walk along a segment sees it: cells, and what of them can be skipped.

use super::masks::MASK_BAND;
use super::{corners_of, place_of, BrickField, CELLS, NODES};
use crate::field::{Cells, Free, Grid, Skip};
use crate::math::Vec3;

/// Bricks as the walk's blocks.
struct Bricks<'a>(&'a BrickField);

/// Cells squared: the variance of the corner that stands for a point of a coarse brick, ¾ 8².
const VARIANCE: f64 = 48.0;

impl Skip for Bricks<'_> {
    #[inline(always)]
    fn of(&self, cell: [i32; 3]) -> usize {
        let [i, j, k] = cell.map(|c| c as usize / CELLS as usize);
        let [nx, ny, _] = self.0.index.bricks.map(|n| n as usize);
        (k * ny + j) * nx + i
    }

    /// φ is a mean of the distances behind samples, at corners that are √(distance² + variances) from the middle in the mean;
    /// see the lower bound in `sample`. The middle of a fine brick is a node of its own, off the seams.
    #[inline(always)]
    fn free(&self, block: usize, level: f64) -> Free {
        let field = self.0;
        let (phi, fine) = field.middle(block);
        let off = phi - level;
        let half = 0.51 * f64::from(field.header.quantum) * f64::from(field.header.step);
        let doubt = half + if fine { 0.51 * f64::from(field.header.quantum) } else { half };
        let per_cell = f64::from(field.header.node_lipschitz) * f64::from(field.header.grid.spacing);
        let rounding = 1e-6 * f64::from(field.hot.largest);
        let radius = (off.abs() - doubt - rounding) / per_cell * 0.999_999;
        let squared = radius * radius.abs() - if fine { VARIANCE } else { 2.0 * VARIANCE };
        Free { squared, certain: off.abs() > rounding, below: off <= 0.0 }
    }

    #[inline(always)]
    fn knows(&self, level: f64) -> bool {
        level.abs() <= f64::from(self.0.header.quantum) * f64::from(MASK_BAND)
            && level.abs() < 0.99 * f64::from(self.0.hot.calm)
    }

    #[inline(always)]
    fn mask(&self, block: usize) -> Option<&[u64; 8]> {
        let from = self.0.first(block);
        if from < self.0.index.coarse {
            self.0.masks.get(from)
        } else {
            None
        }
    }

    fn border(&self) -> f32 {
        self.0.hot.border
    }
}

impl BrickField {
    /// φ at the middle node of a brick, or the last of the grid before it, metres; and whether the brick is fine.
    #[inline(always)]
    fn middle(&self, brick: usize) -> (f64, bool) {
        let place = place_of(brick, self.index.bricks);
        let at = [0, 1, 2].map(|k| (CELLS / 2).min(self.header.grid.dims[k] - 1 - place[k] * CELLS));
        let from = self.index.at(place);
        let fine = from < self.index.coarse;
        let value = if fine {
            f64::from(self.samples[from + ((at[2] * NODES + at[1]) * NODES + at[0]) as usize])
        } else {
            self.between(place, at) as f64 / 512.0
        };
        (value * f64::from(self.header.quantum), fine)
    }

    /// The coarse interpolant at a node of a brick, in quanta, times 512. Neighbours of a coarse brick have the same there.
    fn between(&self, place: [u32; 3], at: [u32; 3]) -> i64 {
        let corners = corners_of(self.index.bricks, place);
        let sum: i64 = (0..8)
            .map(|c| {
                let weight = |k: usize| i64::from(if c >> k & 1 == 1 { at[k] } else { CELLS - at[k] });
                i64::from(self.corner(corners[c])) * weight(0) * weight(1) * weight(2)
            })
            .sum();
        sum * i64::from(self.header.step)
    }
}

impl Cells for BrickField {
    fn grid(&self) -> &Grid {
        &self.header.grid
    }

    fn center(&self) -> Vec3 {
        self.header.center
    }

    fn blocks(&self) -> impl Skip + '_ {
        Bricks(self)
    }

    /// In a coarse brick, a part of its one cell: the interpolant of these corners is the brick's.
    #[inline]
    fn corners(&self, cell: [i32; 3]) -> [f32; 8] {
        let place = cell.map(|c| c as u32 / CELLS);
        let local = cell.map(|c| c as u32 % CELLS);
        let from = self.index.at(place);
        let corner = |c: usize| [0, 1, 2].map(|k| local[k] + (c as u32 >> k & 1));
        // Both as multiples of 1/512 quantum, so that a node has the same bits in every brick that shares it.
        let unit = self.header.quantum / 512.0;
        if from < self.index.coarse {
            std::array::from_fn(|c| {
                let [x, y, z] = corner(c);
                let sample = self.samples[from + ((z * NODES + y) * NODES + x) as usize];
                (i64::from(sample) * 512) as f32 * unit
            })
        } else {
            std::array::from_fn(|c| self.between(place, corner(c)) as f32 * unit)
        }
    }

    fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    fn largest(&self) -> f32 {
        self.hot.largest
    }
}

const _: () = assert!(CELLS == crate::field::BLOCK);
