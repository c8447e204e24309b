//! Access to the field for a walk along a segment: cells, and the bricks that it can skip.

use super::masks::MASK_BAND;
use super::{BrickField, CELLS, NODES, VOLUME};
use crate::approach::{approaches, Balls, Level, Node, Nodes, SegmentBatch};
use crate::{Cells, Grid, SeparationBall, Skip};
use voxshell_base::math::Vec3;

/// Bricks as the blocks of the walk.
struct Bricks<'a>(&'a BrickField);

/// Variance of the random corner for a point of a coarse brick, cells squared: ¾ 8².
const VARIANCE: f64 = 48.0;
/// Variance of the random corner for a point of a fine cell, cells squared: ¾.
const FINE_VARIANCE: f64 = 0.75;

impl Skip for Bricks<'_> {
    /// Returns the index of the brick's first sample.
    #[inline(always)]
    fn of(&self, cell: [i32; 3]) -> usize {
        self.0.index.at(cell.map(|c| c as u32 / CELLS))
    }

    /// φ is a mean of the distances that the samples represent, at corners whose root mean square distance from the
    /// middle is √(distance² + variances). See the lower bound in `sample`, also for the use of `calm`. The middle of
    /// a fine brick is a node of its own, off the seams.
    #[inline(always)]
    fn separation_ball(&self, block: usize, cell: [i32; 3], level: f64) -> SeparationBall {
        let field = self.0;
        let fine = block < field.index.coarse;
        let off = field.middle(block, cell.map(|c| c as u32 / CELLS)) - level;
        let half = field.half_coarse();
        let error_bound = if fine { field.half_fine() } else { half };
        let beyond = if self.knows(level) { [field.half_fine(), FINE_VARIANCE] } else { [half, VARIANCE] };
        let rounding = 1e-6 * f64::from(field.hot.largest);
        let radius = (off.abs() - (error_bound + beyond[0]) - rounding) * field.hot.cells_per_metre;
        let squared = radius * radius.abs() - beyond[1] - if fine { 0.0 } else { VARIANCE };
        SeparationBall { squared, certain: off.abs() > rounding, below: off <= 0.0 }
    }

    #[inline(always)]
    fn knows(&self, level: f64) -> bool {
        level.abs() <= f64::from(self.0.header.quantum) * f64::from(MASK_BAND)
            && level.abs() < 0.99 * f64::from(self.0.hot.calm)
    }

    #[inline(always)]
    fn mask(&self, block: usize) -> Option<&[u64; 8]> {
        if block < self.0.index.coarse {
            self.0.masks.get(block)
        } else {
            None
        }
    }

    fn border(&self) -> f32 {
        self.0.hot.border
    }
}

impl BrickField {
    /// Returns the largest error of a coarse sample against the distance that it represents, metres; `half_fine` is
    /// that of a fine brick, off the seams.
    #[inline(always)]
    fn half_coarse(&self) -> f64 {
        0.51 * f64::from(self.header.quantum) * f64::from(self.header.step)
    }

    #[inline(always)]
    fn half_fine(&self) -> f64 {
        0.51 * f64::from(self.header.quantum)
    }

    /// Returns φ at the middle node of a brick, or at the last node of the grid before it, metres.
    #[inline(always)]
    fn middle(&self, from: usize, place: [u32; 3]) -> f64 {
        let at = [0, 1, 2].map(|k| (CELLS / 2).min(self.header.grid.dims[k] - 1 - place[k] * CELLS));
        let value = if from < self.index.coarse {
            f64::from(self.samples[from + ((at[2] * NODES + at[1]) * NODES + at[0]) as usize])
        } else {
            self.between(from, at) as f64 / 512.0
        };
        value * f64::from(self.header.quantum)
    }

    /// Returns the coarse interpolant at a node of a coarse brick, in quanta, times 512. Its neighbours have the same
    /// value there.
    #[inline(always)]
    fn between(&self, from: usize, at: [u32; 3]) -> i64 {
        let (row, slice) = (self.hot.row, self.hot.slice);
        let sum: i64 = (0..8)
            .map(|c| {
                let weight = |k: usize| i64::from(if c >> k & 1 == 1 { at[k] } else { CELLS - at[k] });
                let sample = self.samples[from + ((c & 1) + (c >> 1 & 1) * row + (c >> 2) * slice)];
                i64::from(sample) * weight(0) * weight(1) * weight(2)
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

    /// In a coarse brick, returns the corners of a piece of its one cell: their interpolant is that of the brick.
    #[inline]
    fn corners(&self, cell: [i32; 3]) -> [f32; 8] {
        let from = self.index.at(cell.map(|c| c as u32 / CELLS));
        let local = cell.map(|c| c as u32 % CELLS);
        // Both as multiples of 1/512 quantum, so that a node has the same bits in every brick that shares it.
        let unit = self.header.quantum / 512.0;
        if from < self.index.coarse {
            let n = NODES as usize;
            let samples = &self.samples[from..from + VOLUME];
            let [x, y, z] = local.map(|i| i as usize);
            let first = (z * n + y) * n + x;
            std::array::from_fn(|c| {
                let sample = samples[first + ((c & 1) + (c >> 1 & 1) * n + (c >> 2) * (n * n))];
                (f32::from(sample) * 512.0) * unit
            })
        } else {
            let corner = |c: usize| [0, 1, 2].map(|k| local[k] + (c as u32 >> k & 1));
            std::array::from_fn(|c| self.between(from, corner(c)) as f32 * unit)
        }
    }

    fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    fn largest(&self) -> f32 {
        self.hot.largest
    }

    fn approach(&self, level: &Level, batch: &mut SegmentBatch, count: usize) {
        approaches(Around::new(self, level), level, batch, count);
    }
}

/// The nodes around points, for segments that approach a level.
#[derive(Clone, Copy)]
struct Around<'a> {
    field: &'a BrickField,
    last: [f32; 3],
    coarse: Balls,
    fine: Balls,
    /// Distance around a coarse brick up to which φ is also off the level, cells; negative where φ may reach the
    /// level in the brick.
    rim: f32,
}

impl<'a> Around<'a> {
    fn new(field: &'a BrickField, level: &Level) -> Self {
        let hot = &field.hot;
        let rounding = 1e-6 * f64::from(hot.largest);
        let calm = Bricks(field).knows(level.value);
        // Error and variance where φ can reach the level: off the seams in fine bricks, or anywhere.
        let [half, spread] = if calm { [field.half_fine(), FINE_VARIANCE] } else { [field.half_coarse(), VARIANCE] };
        let balls = |own: f64| Balls::new(level, own + half + rounding, hot.cells_per_metre, spread);
        let room = f64::from(hot.calm).min(1e30) - level.value.abs() - level.error_bound - rounding;
        let steep = f64::from(hot.lipschitz.max(hot.node_lipschitz)) * f64::from(field.header.grid.spacing);
        Self {
            field,
            last: field.header.grid.dims.map(|n| (n - 1) as f32),
            coarse: balls(field.half_coarse()),
            fine: balls(field.half_fine()),
            rim: if calm { (0.99 * room / steep).min(1e3) as f32 - 0.02 } else { -1.0 },
        }
    }
}

impl Nodes for Around<'_> {
    #[inline(always)]
    fn last(self) -> [f32; 3] {
        self.last
    }

    #[inline(always)]
    fn coarse_balls(&self) -> &Balls {
        &self.coarse
    }

    #[inline(always)]
    fn fine_balls(&self) -> &Balls {
        &self.fine
    }

    /// Returns the closest corner of the brick.
    #[inline(always)]
    fn coarse(self, p: [f32; 3]) -> (u32, [f32; 3]) {
        let (mut corner, mut at) = ([0u32; 3], [0.0; 3]);
        for a in 0..3 {
            // SAFETY: 0 ≤ p ≤ the last node < 2²⁰ (`Grid::check`).
            let i = unsafe { (p[a] * (1.0 / CELLS as f32) + 0.5).to_int_unchecked::<i32>() };
            corner[a] = i as u32;
            at[a] = i as f32 * CELLS as f32;
        }
        let [nx, ny, _] = self.field.index.bricks;
        ((corner[2] * (ny + 1) + corner[1]) * (nx + 1) + corner[0], at)
    }

    #[inline(always)]
    fn coarse_value(self, number: u32) -> f32 {
        let field = self.field;
        f32::from(field.samples[field.index.coarse + number as usize]) * field.coarse_quantum()
    }

    /// Returns the closest node off the seams in a fine brick; treats a coarse brick as a whole.
    #[inline(always)]
    fn fine(self, p: [f32; 3], inverse: [f32; 3]) -> (Node, f32) {
        let field = self.field;
        // SAFETY: as above.
        let node = p.map(|x| unsafe { (x + 0.5).to_int_unchecked::<i32>() });
        let (mut brick, mut local) = ([0u32; 3], [0i32; 3]);
        for a in 0..3 {
            // SAFETY: as above.
            let cell = unsafe { p[a].to_int_unchecked::<i32>() };
            brick[a] = ((cell / CELLS as i32) as u32).min(field.index.bricks[a] - 1);
            local[a] = (node[a] - brick[a] as i32 * CELLS as i32).clamp(1, CELLS as i32 - 1);
        }
        let from = field.index.at(brick);
        let n = NODES as usize;
        if from < field.index.coarse {
            let [x, y, z] = local.map(|i| i as usize);
            let value = f32::from(field.samples[from + (z * n + y) * n + x]) * field.header.quantum;
            let at = [0, 1, 2].map(|a| (brick[a] as i32 * CELLS as i32 + local[a]) as f32);
            return (Node { value, at }, 0.0);
        }
        // φ is off the level in the whole brick, and no steeper than its Lipschitz constant around it.
        let mut exit = f32::INFINITY;
        for a in 0..3 {
            let low = (brick[a] * CELLS) as f32 - self.rim;
            let high = ((brick[a] + 1) * CELLS) as f32 + self.rim;
            let to = ((if inverse[a] > 0.0 { high } else { low }) - p[a]) * inverse[a];
            exit = if to < exit { to } else { exit };
        }
        (Node { value: self.fine.level, at: p }, if self.rim > 0.0 { exit } else { 0.0 })
    }
}

approaches!(Around);

const _: () = assert!(CELLS == crate::BLOCK);
