//! Parts of a segment outside the grid's box, where φ is φ(closest point of the box) + the distance to it.
//!
//! The extended planes of the grid cut the space outside. Along the segment, in one piece, the closest point moves in
//! one cell of the border. Beyond a face the distance is linear, and the sum is a cubic as inside. Beyond an edge or
//! a corner the closest point moves linearly or not at all, and the distance is convex: the sum has one minimum.

use std::ops::ControlFlow;

use super::cell::{root, Cubic};
use super::grid_line::GridLine;
use super::grid_traversal::{above, norm, GridTraversal};
use voxshell_field::Cells;

type Flow = ControlFlow<()>;

/// Searches from `start` to `end`, with the grid's box not between them. Cells before the grid have the number −1,
/// cells behind it the number of cells of the grid.
pub(super) fn walk<C, F>(walk: &mut GridTraversal<C, F>, start: f64, end: f64) -> Flow
where
    C: Cells,
    F: FnMut(f64, bool) -> Flow,
{
    let line = walk.line;
    let grid = *walk.setting.cells.grid();
    let count = grid.dims.map(|n| n as i32 - 1);
    let per_time =
        f64::from(grid.spacing) * line.squared.sqrt() * f64::from(walk.setting.cells.lipschitz_outside()) * 1.000_001;
    let place = |from: [i32; 3], t: f64| {
        let mut cell = from;
        for a in 0..3 {
            let i = line.at(a, t).floor().clamp(-1.0, f64::from(count[a])) as i32;
            cell[a] = if line.d[a] < 0.0 { i.min(cell[a]) } else { i.max(cell[a]) };
        }
        cell
    };
    let ahead = |a: usize, c: i32| {
        let forward = line.d[a] > 0.0;
        let plane = if forward { c + 1 } else { c };
        if (0..=count[a]).contains(&plane) {
            line.time(a, f64::from(plane))
        } else {
            f64::INFINITY
        }
    };
    let least = [0, 1, 2].map(|a| if line.d[a] < 0.0 { count[a] } else { -1 });
    let (mut t, mut cell) = (start, place(least, start));
    while t < end {
        // φ cannot reach the level earlier than this. The rounding of φ is in the raised level.
        let off = above(walk, t).abs() * 0.999_999;
        let free = t + off / per_time;
        let next = [0, 1, 2].map(|a| ahead(a, cell[a]));
        let side = (0..3).fold(0, |s, a| if next[a] < next[s] { a } else { s });
        // Where f64 cannot separate the two times, far along a long segment, the walk goes from plane to plane.
        if free > t && (free > next[side] || free >= end) {
            t = free;
            cell = place(cell, t.min(end));
            continue;
        }
        let to = next[side].max(t).min(end);
        piece(walk, cell, t, to)?;
        if to >= end {
            break;
        }
        t = to;
        cell[side] += if line.d[side] < 0.0 { -1 } else { 1 };
    }
    ControlFlow::Continue(())
}

/// Reports the passages in one extended cell, from `t` to `to`.
fn piece<C: Cells, F: FnMut(f64, bool) -> Flow>(
    walk: &mut GridTraversal<C, F>,
    cell: [i32; 3],
    t: f64,
    to: f64,
) -> Flow {
    let line: GridLine = walk.line;
    let grid = walk.setting.cells.grid();
    let count = grid.dims.map(|n| n as i32 - 1);
    let spacing = f64::from(grid.spacing);
    let base = [0, 1, 2].map(|a| cell[a].clamp(0, count[a] - 1));
    let (mut from, mut end) = ([0.0; 3], [0.0; 3]);
    // Distances from the box to the line along the axes, metres, at both ends.
    let (mut over, mut over_end) = ([0.0; 3], [0.0; 3]);
    let mut outside = 0;
    for a in 0..3 {
        if cell[a] == base[a] {
            (from[a], end[a]) = (line.local(a, cell[a], t), line.local(a, cell[a], to));
        } else {
            let plane = if cell[a] < 0 { 0.0 } else { f64::from(count[a]) };
            (from[a], end[a]) = (plane - f64::from(base[a]), plane - f64::from(base[a]));
            let beyond = |x: f64| if cell[a] < 0 { x.min(plane) - plane } else { x.max(plane) - plane } * spacing;
            // At the time of the plane the line is on the plane.
            let on = |t: f64| if t == line.time(a, plane) { 0.0 } else { beyond(line.at(a, t)) };
            (over[a], over_end[a]) = (on(t), on(to));
            outside += 1;
        }
    }
    let mut cubic = Cubic::along(&walk.corners(base), &from, &end);
    let (d, e) = (norm(over), norm(over_end));
    if outside <= 1 {
        for (i, b) in cubic.b.iter_mut().enumerate() {
            *b += d + (e - d) * (i as f64 / 3.0);
        }
        return walk.examine_cubic(&cubic, t, to);
    }
    let step = [0, 1, 2].map(|a| over_end[a] - over[a]);
    let at = |s: f64| [0, 1, 2].map(|a| over[a] + s * step[a]);
    let (low, rise) = (cubic.b[0], cubic.b[3] - cubic.b[0]);
    let value = |s: f64| low + s * rise + norm(at(s));
    let slope = |s: f64| {
        let v = at(s);
        let n = norm(v);
        let along = v[0] * step[0] + v[1] * step[1] + v[2] * step[2];
        rise + if n > 0.0 { along / n } else { norm(step) }
    };
    // Bisection for the only minimum.
    let (mut left, mut right) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (left + right);
        if slope(middle) < 0.0 {
            left = middle;
        } else {
            right = middle;
        }
    }
    let ends = [0.0, 0.5 * (left + right), 1.0];
    let values = [low + d, value(ends[1]), cubic.b[3] + e];
    if (values[0] <= 0.0) != walk.below {
        walk.pass(t, values[0] <= 0.0)?;
    }
    for i in 0..2 {
        if (values[i] <= 0.0) != (values[i + 1] <= 0.0) {
            let s = root(value, slope, [ends[i], ends[i + 1]], [values[i], values[i + 1]]);
            walk.pass((t + s * (to - t)).min(to), !walk.below)?;
        }
    }
    ControlFlow::Continue(())
}
