//! A segment through the cells of a grid: times at which the interpolant along it passes a level.
//!
//! The walk goes from plane to plane (Amanatides & Woo 1987). Neighbouring cells share the time of the plane between
//! them and the point on it, which is bit-identical in both: the interpolant that is searched is continuous, and no
//! crossing falls between two cells. Blocks of 8³ cells are skipped where a bound proves that the level is not in them.
//!
//! Rounding is included in advance: the level is raised by more than the rounding error of φ along the segment, so
//! that every point that reaches the level is found. A reported point reaches the level to within twice that amount,
//! which is 1e-13 m for a body of a metre near its origin.

use std::ops::ControlFlow;

use super::cell::Cubic;
use super::grid_line::GridLine;
use voxshell_base::math::Vec3;
use voxshell_field::{mask_bit, Cells, Level, SegmentBatch, SeparationBall, Skip, BLOCK, BRIM, FAR};

const EDGE: i32 = BLOCK as i32;

/// Data that all walks against one level of one field share.
pub(super) struct Setting<'a, C> {
    pub cells: &'a C,
    /// Level as given, metres.
    level: f64,
    /// The grid's first node, body frame, metres.
    origin: Vec3,
    pub inverse_spacing: f64,
    /// The last node, in cells.
    pub last: [f64; 3],
    /// Rounding error of φ for a segment at the origin of the body frame, metres; and its growth for each metre off
    /// the origin.
    rounding: [f64; 2],
    /// Level for the batch that certifies the start of segments; `None` if the field does not allow it.
    pub batch_level: Option<Level>,
    /// Whether each cell is searched by [`Cubic::bisection`], which misses passages.
    pub bisection: bool,
}

/// Certified start of a segment. It shortens the walk and does not change the result.
#[derive(Clone, Copy)]
pub(super) struct CertifiedStart {
    /// φ is off the level before this time; infinite when it is off the level to the end.
    pub until: f64,
    /// Positive: φ is above the level there; negative: below.
    pub side: f32,
}

impl<'a, C: Cells> Setting<'a, C> {
    pub fn new(cells: &'a C, level: f64) -> Self {
        let grid = cells.grid();
        let min = Vec3::from(grid.min.map(f64::from));
        let last = grid.dims.map(|n| f64::from(n - 1));
        let size = (0..3).map(|a| min[a].abs() + last[a] * f64::from(grid.spacing)).fold(0.0, f64::max);
        // Rounding of a point's coordinates, which counts times the slope of φ, and of the interpolation.
        let part = 16.0 * f64::EPSILON;
        let steep = part * (2.0 + f64::from(cells.lipschitz_outside()));
        let still = steep * (cells.center().amax() + size) + part * (level.abs() + f64::from(cells.largest()));
        let (origin, spacing) = (cells.center() + min, f64::from(grid.spacing));
        // For segments in the f32 range.
        let error_bound = still + steep * (2.0 * origin.amax() + 3.0 * FAR * spacing);
        let brim = BRIM * spacing * f64::from(cells.lipschitz_outside());
        let fits = last.iter().all(|l| *l <= FAR) && level + error_bound + brim < f64::from(cells.blocks().border());
        Self {
            cells,
            level,
            origin,
            inverse_spacing: 1.0 / spacing,
            last,
            rounding: [still, steep],
            batch_level: fits.then_some(Level { value: level, error_bound, stop_below: false }),
            bisection: false,
        }
    }

    /// Adds a segment to the f32 batch. Segments outside the f32 range are stored with zero length and get no
    /// certified start.
    #[inline(always)]
    pub fn put(&self, batch: &mut SegmentBatch, i: usize, from: &Vec3, to: &Vec3) {
        let (mut o, mut d, mut near) = ([0.0; 3], [0.0; 3], true);
        for a in 0..3 {
            o[a] = (from[a] - self.origin[a]) * self.inverse_spacing;
            d[a] = (to[a] - from[a]) * self.inverse_spacing;
            // False for NaN.
            near &= (o[a].abs() <= FAR) & (d[a].abs() <= FAR);
        }
        for a in 0..3 {
            batch.from[a][i] = if near { o[a] as f32 } else { 0.0 };
            batch.displacement[a][i] = if near { d[a] as f32 } else { 0.0 };
        }
    }

    /// Returns a segment in the grid's coordinates, and the level raised for it; `None` where its coordinates
    /// overflow.
    #[inline]
    pub fn line(&self, from: &Vec3, to: &Vec3) -> Option<(GridLine, f64)> {
        let line = GridLine::new(&self.origin, self.inverse_spacing, from, to);
        let [still, steep] = self.rounding;
        line.is_finite().then(|| (line, self.level + (still + steep * (from.amax() + to.amax()))))
    }
}

/// State of the walk along one segment.
pub(super) struct GridTraversal<'a, C, F> {
    pub setting: &'a Setting<'a, C>,
    pub line: GridLine,
    /// The level, raised, metres.
    pub level: f64,
    /// Whether φ is at most the level at the present point of the walk.
    pub below: bool,
    pub on: F,
}

impl<C: Cells, F: FnMut(f64, bool) -> ControlFlow<()>> GridTraversal<'_, C, F> {
    /// Reports a passage of the level.
    #[inline]
    pub fn pass(&mut self, t: f64, below: bool) -> ControlFlow<()> {
        self.below = below;
        (self.on)(t, below)
    }

    /// Tests the start of the segment.
    #[inline]
    pub fn start(&mut self) -> ControlFlow<()> {
        if self.sign_by_block().unwrap_or_else(|| above(self, 0.0) <= 0.0) {
            self.pass(0.0, true)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns whether the start is below the level, if its block alone decides it; the samples themselves are
    /// farther away in memory.
    #[inline]
    fn sign_by_block(&self) -> Option<bool> {
        let Setting { cells, last, .. } = self.setting;
        let blocks = cells.blocks();
        if (0..3).any(|a| self.line.o[a] < 0.0 || self.line.o[a] > last[a]) {
            return None;
        }
        let cell = self.advance([0; 3], [true; 3], 0.0);
        let block = blocks.of(cell);
        let ball = blocks.separation_ball(block, cell, self.level);
        let mut from_middle = 0.0;
        for a in 0..3 {
            let q = self.line.o[a] - self.middle(cell[a], a);
            from_middle += q * q;
        }
        let whole = ball.certain && blocks.knows(self.level) && blocks.mask(block).is_none();
        (from_middle < ball.squared || whole).then_some(ball.below)
    }

    /// Returns the corner values of a cell minus the level.
    #[inline(always)]
    pub fn corners(&self, cell: [i32; 3]) -> [f64; 8] {
        let corners = self.setting.cells.corners(cell);
        let mut out = [0.0; 8];
        for i in 0..8 {
            out[i] = f64::from(corners[i]) - self.level;
        }
        out
    }

    /// Returns the middle node of the block of a cell, along one axis.
    #[inline(always)]
    fn middle(&self, cell: i32, axis: usize) -> f64 {
        f64::from((cell & -EDGE) + EDGE / 2).min(self.setting.last[axis])
    }

    /// Returns the cell of the grid at t, not before `from` in the line's direction.
    #[inline(always)]
    fn advance(&self, from: [i32; 3], forward: [bool; 3], t: f64) -> [i32; 3] {
        let mut cell = from;
        for a in 0..3 {
            let x = self.line.at(a, t).max(0.0).min(self.setting.last[a] - 1.0);
            // SAFETY: 0 ≤ x < 2²⁰ (`Grid::check`); max and min drop NaN.
            let i = unsafe { x.to_int_unchecked::<i32>() };
            cell[a] = if forward[a] { i.max(cell[a]) } else { i.min(cell[a]) };
        }
        cell
    }

    /// Does the same as `advance`, decided by the times at which the segment passes the planes of the grid: a segment
    /// along a plane stays within rounding of both sides for a long time.
    #[inline(always)]
    fn enter(&self, from: [i32; 3], forward: [bool; 3], t: f64) -> [i32; 3] {
        let mut cell = self.advance(from, forward, t);
        for a in 0..3 {
            let (plane, back) = if forward[a] { (cell[a], -1) } else { (cell[a] + 1, 1) };
            if (f64::from(plane) - self.line.o[a]) * self.line.inverse[a] > t && cell[a] != from[a] {
                cell[a] += back;
            }
        }
        cell
    }

    /// Walks from `start` to `end`, both in the grid's box, off the level before `certified`. No plane of the box is
    /// passed, since `end` is not after any of them.
    ///
    /// A skip does not change the result: a cell is searched from the point where the segment enters it, wherever in
    /// it a skip ends.
    pub fn inside(&mut self, start: f64, certified: f64, end: f64) -> ControlFlow<()> {
        let Setting { cells, last, .. } = *self.setting;
        let blocks = cells.blocks();
        let masked = blocks.knows(self.level);
        let line = self.line;
        let inverse_squared = 1.0 / line.squared;
        // For each axis: the direction, the distance from its lower corner at which a block and a cell end, and the
        // inverse that goes with it (1 for an axis without motion, where they never end).
        let (mut forward, mut step, mut first) = ([true; 3], [1; 3], [0; 3]);
        let (mut block_end, mut cell_end, mut inverse) = ([f64::from(EDGE); 3], [1.0; 3], line.inverse);
        for a in 0..3 {
            if line.d[a] < 0.0 {
                (forward[a], step[a], first[a]) = (false, -1, last[a] as i32 - 1);
                (block_end[a], cell_end[a]) = (0.0, 0.0);
            } else if line.d[a] == 0.0 {
                (block_end[a], cell_end[a], inverse[a]) = (f64::INFINITY, f64::INFINITY, 1.0);
            }
        }
        let mut t = start.max(certified);
        let mut cell = self.enter(first, forward, t);
        // At the end of a certified part of the segment, the level is near.
        let mut near = certified > start;
        loop {
            let block = blocks.of(cell);
            let ball = if near { SeparationBall::NONE } else { blocks.separation_ball(block, cell, self.level) };
            near = false;
            if ball.squared > 0.0 {
                let (mut along, mut from_middle) = (0.0, 0.0);
                for a in 0..3 {
                    let q = line.at(a, t) - self.middle(cell[a], a);
                    along += q * line.d[a];
                    from_middle += q * q;
                }
                // Only from within the ball: its other side may be behind a part of the surface.
                if from_middle < ball.squared {
                    let inner = along * along + line.squared * (ball.squared - from_middle);
                    let leaves = t + (inner.sqrt() - along) * inverse_squared;
                    if leaves >= end {
                        return ControlFlow::Continue(());
                    }
                    if leaves > t {
                        t = leaves;
                        cell = self.enter(cell, forward, t);
                        if blocks.of(cell) != block {
                            continue;
                        }
                    }
                }
            }
            let mask = if masked { blocks.mask(block) } else { None };
            if masked && mask.is_none() {
                // No cell of the block has the level: skip to the next block.
                let mut exit = [0.0; 3];
                for a in 0..3 {
                    exit[a] = (f64::from(cell[a] & -EDGE) + block_end[a] - line.o[a]) * inverse[a];
                }
                let side = least(exit);
                if exit[side] >= end {
                    return ControlFlow::Continue(());
                }
                t = t.max(exit[side]);
                cell[side] = if forward[side] { (cell[side] & -EDGE) + EDGE } else { (cell[side] & -EDGE) - 1 };
                cell = self.enter(cell, forward, t);
                continue;
            }
            // From cell to cell.
            let (mut next, mut entry) = ([0.0; 3], start);
            for a in 0..3 {
                next[a] = (f64::from(cell[a]) + cell_end[a] - line.o[a]) * inverse[a];
                entry = entry.max((f64::from(cell[a]) + (1.0 - cell_end[a]) - line.o[a]) * inverse[a]);
            }
            // Not after the end of the skip.
            t = t.min(entry);
            loop {
                let side = least(next);
                let to = next[side].max(t);
                let (word, bit) = mask_bit(cell);
                if mask.is_none_or(|m| m[word] >> bit & 1 != 0) {
                    self.examine(cell, t, to.min(end))?;
                }
                if to >= end {
                    return ControlFlow::Continue(());
                }
                t = to;
                let before = cell[side];
                cell[side] += step[side];
                if (before ^ cell[side]) & -EDGE != 0 {
                    break;
                }
                next[side] = (f64::from(cell[side]) + cell_end[side] - line.o[side]) * inverse[side];
            }
        }
    }

    /// Reports the passages in one cell, from `t` to `to`.
    #[inline]
    fn examine(&mut self, cell: [i32; 3], t: f64, to: f64) -> ControlFlow<()> {
        let corners = self.corners(cell);
        if corners.iter().all(|v| (*v <= 0.0) == self.below) {
            return ControlFlow::Continue(());
        }
        let (mut from, mut end) = ([0.0; 3], [0.0; 3]);
        for a in 0..3 {
            from[a] = self.line.local(a, cell[a], t);
            end[a] = self.line.local(a, cell[a], to);
        }
        self.examine_cubic(&Cubic::along(&corners, &from, &end), t, to)
    }

    /// Reports the passages of a cubic over `t` to `to`.
    pub fn examine_cubic(&mut self, cubic: &Cubic, t: f64, to: f64) -> ControlFlow<()> {
        if self.setting.bisection {
            return self.bisect(cubic, t, to);
        }
        let signs = cubic.signs();
        // Never in the grid, where neighbours are bit-identical; on its box the two forms of φ may differ by a
        // rounding.
        if signs.starts_below != self.below {
            self.pass(t, signs.starts_below)?;
        }
        for s in signs.roots() {
            self.pass((t + s * (to - t)).min(to), !self.below)?;
        }
        ControlFlow::Continue(())
    }
}

impl<C: Cells, F: FnMut(f64, bool) -> ControlFlow<()>> GridTraversal<'_, C, F> {
    /// Reports the passage that the papers' bisection finds in a cell.
    #[cold]
    fn bisect(&mut self, cubic: &Cubic, t: f64, to: f64) -> ControlFlow<()> {
        let starts_below = cubic.b[0] <= 0.0;
        if starts_below != self.below {
            self.pass(t, starts_below)?;
        }
        match cubic.bisection() {
            Some(s) => self.pass((t + s * (to - t)).min(to), !self.below),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Returns the axis of the smallest of three times.
#[inline(always)]
fn least(t: [f64; 3]) -> usize {
    let first = if t[1] < t[0] { 1 } else { 0 };
    if t[2] < t[first] {
        2
    } else {
        first
    }
}

/// Returns φ − level at t, anywhere.
pub(super) fn above<C: Cells, F: FnMut(f64, bool) -> ControlFlow<()>>(walk: &GridTraversal<C, F>, t: f64) -> f64 {
    let grid = walk.setting.cells.grid();
    let p = [0, 1, 2].map(|a| walk.line.at(a, t));
    let last = grid.dims.map(|n| f64::from(n - 1));
    let inside = [0, 1, 2].map(|a| p[a].clamp(0.0, last[a]));
    let cell = [0, 1, 2].map(|a| (inside[a] as i32).min(grid.dims[a] as i32 - 2));
    let local = [0, 1, 2].map(|a| inside[a] - f64::from(cell[a]));
    let value = Cubic::along(&walk.corners(cell), &local, &local).b[0];
    value + norm([0, 1, 2].map(|a| p[a] - inside[a])) * f64::from(grid.spacing)
}

pub(super) fn norm(v: [f64; 3]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}
