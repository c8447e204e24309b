//! A segment through the cells of a grid: where the interpolant along it passes a level.
//!
//! The walk goes from plane to plane (Amanatides & Woo 1987), and neighbouring cells share the time of the plane between
//! them and, to the bit, the point on it: the interpolant that is searched is continuous, and no crossing falls between
//! two cells. Blocks of 8³ cells are skipped where a bound proves that the level is not in them.
//!
//! Rounding is paid for in advance. The level is raised by more than everything that rounding can do to φ along the
//! segment, so that what reaches the level is found; what is found reaches the level to within twice that, which is 1e-13 m
//! for a body of a metre near its origin.

use std::ops::ControlFlow;

use super::cell::Cubic;
use super::line::Line;
use super::outside;
use crate::field::{mask_bit, Cells, BLOCK};
use crate::math::Vec3;

/// The crossings of one segment so far.
pub(super) struct Walk<'a, C, F> {
    pub cells: &'a C,
    pub line: Line,
    /// The level, raised, metres.
    pub level: f64,
    /// Whether φ is at most the level where the walk is.
    pub below: bool,
    on: F,
}

/// Calls `on(t, below)` in order where φ passes `level` (metres) on the way from `from` to `to` (metres, body frame):
/// `below` says that φ ≤ level from there on. When the segment starts so, the first call is at 0.
pub(super) fn walk<C, F>(cells: &C, from: &Vec3, to: &Vec3, level: f64, on: F) -> ControlFlow<()>
where
    C: Cells,
    F: FnMut(f64, bool) -> ControlFlow<()>,
{
    let line = Line::new(cells, from, to);
    let level = level + rounding(cells, from, to, level);
    let last = cells.grid().dims.map(|n| f64::from(n - 1));
    let border = f64::from(cells.blocks().border());
    let mut walk = Walk { cells, line, level, below: false, on };
    if level < border {
        let Some((start, end)) = line.clip([0.0; 3], last) else { return ControlFlow::Continue(()) };
        if start == 0.0 {
            walk.start()?;
        }
        return if line.is_still() { ControlFlow::Continue(()) } else { walk.inside(start, end) };
    }
    // Outside φ grows with the distance from the box: it is above the level farther away than this.
    let reach = (level - border) / f64::from(cells.grid().spacing) * 1.000_001 + 1e-3;
    let Some((start, end)) = line.clip([-reach; 3], last.map(|l| l + reach)) else {
        return ControlFlow::Continue(());
    };
    if start == 0.0 {
        walk.start()?;
    }
    if line.is_still() {
        return ControlFlow::Continue(());
    }
    match line.clip([0.0; 3], last) {
        None => outside::walk(&mut walk, start, end),
        Some((enter, leave)) => {
            outside::walk(&mut walk, start, enter)?;
            walk.inside(enter, leave)?;
            outside::walk(&mut walk, leave, end)
        }
    }
}

/// More than rounding changes φ by anywhere along the segment, metres: that of a point's coordinates, which counts as often
/// as φ is steep, and that of the interpolation.
fn rounding<C: Cells>(cells: &C, from: &Vec3, to: &Vec3, level: f64) -> f64 {
    let grid = cells.grid();
    let size = (0..3).map(|a| f64::from(grid.min[a].abs()) + f64::from(grid.dims[a]) * f64::from(grid.spacing));
    let reach = from.amax() + to.amax() + cells.center().amax() + size.fold(0.0, f64::max);
    let steep = 2.0 + f64::from(cells.lipschitz_outside());
    16.0 * f64::EPSILON * (steep * reach + level.abs() + f64::from(cells.largest()))
}

impl<C: Cells, F: FnMut(f64, bool) -> ControlFlow<()>> Walk<'_, C, F> {
    /// Reports a passage of the level.
    #[inline]
    pub fn pass(&mut self, t: f64, below: bool) -> ControlFlow<()> {
        self.below = below;
        (self.on)(t, below)
    }

    /// Looks where the segment starts.
    fn start(&mut self) -> ControlFlow<()> {
        let below = outside::above(self, 0.0) <= 0.0;
        if below {
            self.pass(0.0, true)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Corners of a cell above the level.
    #[inline(always)]
    pub fn corners(&self, cell: [i32; 3]) -> [f64; 8] {
        self.cells.corners(cell).map(|v| f64::from(v) - self.level)
    }

    /// The cell of the grid at t, not before `from` in the line's direction.
    #[inline(always)]
    fn advance(&self, from: [i32; 3], t: f64) -> [i32; 3] {
        let dims = self.cells.grid().dims;
        let mut cell = from;
        for a in 0..3 {
            // To an integer by truncation, which saturates, and so also holds NaN.
            let i = (self.line.at(a, t).max(0.0) as i32).min(dims[a] as i32 - 2);
            cell[a] = if self.line.d[a] < 0.0 { i.min(cell[a]) } else { i.max(cell[a]) };
        }
        cell
    }

    /// From `start` to `end`, both in the grid's box.
    fn inside(&mut self, start: f64, end: f64) -> ControlFlow<()> {
        let blocks = self.cells.blocks();
        let masked = blocks.knows(self.level);
        let line = self.line;
        let last = self.cells.grid().dims.map(|n| n as i32 - 2);
        let inverse_squared = 1.0 / line.squared;
        let steps = line.d.map(|d| if d < 0.0 { -1 } else { 1 });
        let least = [0, 1, 2].map(|a| if line.d[a] < 0.0 { last[a] } else { 0 });
        let (mut t, mut cell) = (start, self.advance(least, start));
        loop {
            // Where the line leaves the block, and by which side.
            let block = blocks.of(cell);
            let first = cell.map(|c| c / BLOCK as i32 * BLOCK as i32);
            let (mut exit, mut side) = (f64::INFINITY, 0);
            for a in 0..3 {
                let plane = if steps[a] > 0 { (first[a] + BLOCK as i32).min(last[a] + 1) } else { first[a] };
                let time = line.time(a, f64::from(plane));
                if time < exit {
                    (exit, side) = (time, a);
                }
            }
            let (radius_squared, _) = blocks.free_squared(block, self.level);
            if radius_squared > 0.0 {
                // Where the line leaves the free ball.
                let (mut along, mut from_middle) = (0.0, 0.0);
                for a in 0..3 {
                    let middle = (first[a] + BLOCK as i32 / 2).min(last[a] + 1);
                    let q = line.at(a, t) - f64::from(middle);
                    along += q * line.d[a];
                    from_middle += q * q;
                }
                // Only from within the ball: its other side may be behind something.
                let inner = along * along + line.squared * (radius_squared - from_middle);
                let free = if from_middle < radius_squared { t + (inner.sqrt() - along) * inverse_squared } else { t };
                if free > t {
                    if free >= end {
                        return ControlFlow::Continue(());
                    }
                    t = free;
                    cell = self.advance(cell, t);
                    if blocks.of(cell) != block {
                        continue;
                    }
                }
            }
            if masked && blocks.mask(block).is_none() {
                // No cell of the block has the level.
                if exit >= end {
                    return ControlFlow::Continue(());
                }
                t = t.max(exit);
                cell[side] =
                    if steps[side] > 0 { (first[side] + BLOCK as i32).min(last[side] + 1) } else { first[side] - 1 };
                if !(0..=last[side]).contains(&cell[side]) {
                    return ControlFlow::Continue(());
                }
                cell = self.advance(cell, t);
                continue;
            }
            // From cell to cell.
            let mask = blocks.mask(block).filter(|_| masked);
            let ahead = |a: usize, c: i32| line.time(a, f64::from(if steps[a] > 0 { c + 1 } else { c }));
            let mut next = [0, 1, 2].map(|a| ahead(a, cell[a]));
            loop {
                let side = if next[0] <= next[1] {
                    if next[0] <= next[2] {
                        0
                    } else {
                        2
                    }
                } else if next[1] <= next[2] {
                    1
                } else {
                    2
                };
                let to = next[side].max(t);
                let (word, bit) = mask_bit(cell);
                if mask.is_none_or(|m| m[word] >> bit & 1 != 0) {
                    self.examine(cell, t, to.min(end))?;
                }
                if to >= end {
                    return ControlFlow::Continue(());
                }
                t = to;
                cell[side] += steps[side];
                if !(0..=last[side]).contains(&cell[side]) {
                    return ControlFlow::Continue(());
                }
                next[side] = ahead(side, cell[side]);
                if blocks.of(cell) != block {
                    break;
                }
            }
        }
    }

    /// Passages in one cell, from `t` to `to`.
    #[inline]
    fn examine(&mut self, cell: [i32; 3], t: f64, to: f64) -> ControlFlow<()> {
        let corners = self.corners(cell);
        if corners.map(|v| v <= 0.0) == [self.below; 8] {
            return ControlFlow::Continue(());
        }
        let from = [0, 1, 2].map(|a| self.line.local(a, cell[a], t));
        let end = [0, 1, 2].map(|a| self.line.local(a, cell[a], to));
        self.examine_cubic(&Cubic::along(&corners, &from, &end), t, to)
    }

    /// Passages of a cubic over `t` to `to`.
    pub fn examine_cubic(&mut self, cubic: &Cubic, t: f64, to: f64) -> ControlFlow<()> {
        let signs = cubic.signs();
        // Never in the grid, where neighbours agree to the bit; on its box the two forms of φ may differ by a rounding.
        if signs.starts_below != self.below {
            self.pass(t, signs.starts_below)?;
        }
        for s in signs.roots() {
            self.pass((t + s * (to - t)).min(to), !self.below)?;
        }
        ControlFlow::Continue(())
    }
}
