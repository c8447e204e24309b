//! Cells along an interval of a segment in which it may pass a level: from plane to plane, as `grid_traversal`, but
//! only where another test has not proved that nothing is passed.
//!
//! A passage is computed from its cell alone, between the points where the whole segment enters and leaves it:
//! bit-identical from every start of the search.

use super::cell::Cubic;
use super::grid_line::GridLine;
use super::grid_traversal::Setting;
use voxshell_base::math::Vec3;
use voxshell_field::{mask_bit, Cells, Skip, BLOCK};

const EDGE: i32 = BLOCK as i32;

/// One segment.
pub(super) struct IntervalTraversal<'a, C> {
    cells: &'a C,
    line: GridLine,
    /// Raised level, metres.
    level: f64,
    /// The last cell.
    last: [i32; 3],
    /// Times at which the segment enters and leaves the grid.
    inside: Option<(f64, f64)>,
    /// Whether masks give the cells that may contain the level.
    masked: bool,
}

impl<'a, C: Cells> IntervalTraversal<'a, C> {
    /// Returns `None` for a segment that never enters the grid, and for one that is not finite.
    #[inline]
    pub fn new(setting: &Setting<'a, C>, from: &Vec3, to: &Vec3) -> Option<Self> {
        let (line, level) = setting.line(from, to)?;
        let cells = setting.cells;
        let last = cells.grid().dims.map(|n| n as i32 - 2);
        let inside = line.clip([0.0; 3], last.map(|n| f64::from(n + 1)));
        Some(Self { cells, line, level, last, inside, masked: cells.blocks().knows(level) })
    }

    /// Returns the cell of the grid at t, with the time at which the line enters it. The line passes no plane before this
    /// cell at a time after t.
    #[inline]
    fn cell(&self, t: f64) -> ([i32; 3], f64) {
        let (mut cell, mut enter) = ([0; 3], 0.0f64);
        for a in 0..3 {
            let x = self.line.at(a, t).max(0.0).min(f64::from(self.last[a]));
            // SAFETY: 0 ≤ x < 2²⁰ (`Grid::check`); max and min drop NaN.
            let mut i = unsafe { x.to_int_unchecked::<i32>() };
            if self.line.d[a] != 0.0 {
                let (step, near) = if self.line.d[a] > 0.0 { (1, 0) } else { (-1, 1) };
                // The point is rounded; the times of the planes decide.
                while self.line.time(a, f64::from(i + near)) > t && (0..=self.last[a]).contains(&(i - step)) {
                    i -= step;
                }
                enter = enter.max(self.line.time(a, f64::from(i + near)));
            }
            cell[a] = i;
        }
        (cell, enter)
    }

    #[inline(always)]
    fn corners(&self, cell: [i32; 3]) -> [f64; 8] {
        self.cells.corners(cell).map(|phi| f64::from(phi) - self.level)
    }

    #[inline(always)]
    fn cubic(&self, cell: [i32; 3], corners: &[f64; 8], t: f64, to: f64) -> Cubic {
        let from = [0, 1, 2].map(|a| self.line.local(a, cell[a], t));
        let end = [0, 1, 2].map(|a| self.line.local(a, cell[a], to));
        Cubic::along(corners, &from, &end)
    }

    /// Returns whether the segment starts at or below the level. The grid's border is above it.
    pub fn starts_below(&self) -> bool {
        if !self.inside.is_some_and(|(start, _)| start == 0.0) {
            return false;
        }
        let (cell, _) = self.cell(0.0);
        self.cubic(cell, &self.corners(cell), 0.0, 0.0).b[0] <= 0.0
    }

    /// Calls `on` with each time after `from`, up to `to`, at which the segment passes the level, ascending, until
    /// `on` returns false.
    pub fn passages(&self, from: f64, to: f64, mut on: impl FnMut(f64) -> bool) {
        let Some((start, end)) = self.inside else { return };
        let (begin, end) = (from.max(start), to.min(end));
        if begin > end || self.line.is_still() {
            return;
        }
        let line = &self.line;
        let blocks = self.cells.blocks();
        let (mut cell, mut enter) = self.cell(begin);
        let (mut step, mut far, mut block_far, mut inverse) = ([1; 3], [1.0; 3], [EDGE; 3], line.inverse);
        // An axis without motion has no exit.
        let mut still = [0.0; 3];
        for a in 0..3 {
            if line.d[a] < 0.0 {
                (step[a], far[a], block_far[a]) = (-1, 0.0, 0);
            } else if line.d[a] == 0.0 {
                (far[a], inverse[a], still[a]) = (f64::INFINITY, 1.0, f64::INFINITY);
            }
        }
        let leaves = |cell: [i32; 3], a: usize| (f64::from(cell[a]) + far[a] - line.o[a]) * inverse[a];
        let mut next = [0, 1, 2].map(|a| leaves(cell, a));
        'blocks: loop {
            let mask = if self.masked { blocks.mask(blocks.of(cell)) } else { None };
            if self.masked && mask.is_none() {
                // No cell of the block has the level: skip to the next block.
                let block_leaves =
                    |a: usize| (f64::from((cell[a] & -EDGE) + block_far[a]) - line.o[a]) * inverse[a] + still[a];
                let leave = block_leaves(0).min(block_leaves(1)).min(block_leaves(2)).max(enter);
                if leave >= end {
                    return;
                }
                // Every plane up to then is passed: decided by its time, not by the rounded point.
                for a in 0..3 {
                    while next[a] <= leave {
                        cell[a] += step[a];
                        if cell[a] < 0 || cell[a] > self.last[a] {
                            return;
                        }
                        next[a] = leaves(cell, a);
                    }
                }
                enter = leave;
                continue;
            }
            loop {
                let first = if next[1] < next[0] { 1 } else { 0 };
                let side = if next[2] < next[first] { 2 } else { first };
                let exit = next[side].max(enter);
                let (word, bit) = mask_bit(cell);
                let may = if self.masked { mask.is_some_and(|m| m[word] >> bit & 1 != 0) } else { true };
                if may && !self.examine(cell, enter, exit.min(1.0), from, to, &mut on) {
                    return;
                }
                if exit >= end {
                    return;
                }
                enter = exit;
                let before = cell[side];
                cell[side] += step[side];
                if cell[side] < 0 || cell[side] > self.last[side] {
                    return;
                }
                next[side] = leaves(cell, side);
                if (before ^ cell[side]) & -EDGE != 0 {
                    continue 'blocks;
                }
            }
        }
    }

    /// Reports the passages in one cell; returns false when `on` wants no more.
    #[inline]
    fn examine(
        &self,
        cell: [i32; 3],
        enter: f64,
        exit: f64,
        from: f64,
        to: f64,
        on: &mut impl FnMut(f64) -> bool,
    ) -> bool {
        let corners = self.corners(cell);
        let below = corners.iter().filter(|v| **v <= 0.0).count();
        if below == 0 || below == 8 {
            return true;
        }
        let cubic = self.cubic(cell, &corners, enter, exit);
        if cubic.keeps_its_sign() {
            return true;
        }
        for s in cubic.signs().roots() {
            let t = (enter + s * (exit - enter)).min(exit);
            if t > from && t <= to && !on(t) {
                return false;
            }
        }
        true
    }
}
