//! Cell of a point in a grid, and the interpolant of one cell: common code of full grids and bricks.

use super::Grid;

/// Constants of a grid for sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axes {
    min: [f32; 3],
    pub inverse_spacing: f32,
    pub spacing: f32,
    /// dims − 1: the last node, in cells.
    last: [f32; 3],
    /// dims − 2: the last cell.
    last_cell: [f32; 3],
}

/// Cell of a point.
pub(super) struct Spot {
    /// Cell of the point of the grid's box that is closest to the point.
    pub cell: [i32; 3],
    /// Position of that closest point in the cell, 0 to 1.
    pub f: [f32; 3],
    /// Vector from the box to the point, metres; 0 inside.
    pub over: [f32; 3],
}

/// Returns `t` clamped to [0, hi], and 0 for NaN; one instruction for each comparison.
#[inline(always)]
fn clamp(t: f32, hi: f32) -> f32 {
    let t = if t > 0.0 { t } else { 0.0 };
    if t < hi {
        t
    } else {
        hi
    }
}

impl Axes {
    /// Returns the constants of a `grid` that was checked.
    pub fn new(grid: &Grid) -> Self {
        Self {
            min: grid.min,
            inverse_spacing: 1.0 / grid.spacing,
            spacing: grid.spacing,
            last: grid.dims.map(|n| (n - 1) as f32),
            last_cell: grid.dims.map(|n| (n - 2) as f32),
        }
    }

    /// Returns the cell of `p`: a cell of the grid for every `p`.
    #[inline(always)]
    pub fn spot(&self, p: [f32; 3]) -> Spot {
        let mut spot = Spot { cell: [0; 3], f: [0.0; 3], over: [0.0; 3] };
        for k in 0..3 {
            let t = (p[k] - self.min[k]) * self.inverse_spacing;
            let inside = clamp(t, self.last[k]);
            let whole = if inside < self.last_cell[k] { inside } else { self.last_cell[k] };
            // SAFETY: 0 ≤ whole ≤ last_cell, also for NaN and infinite p, and last_cell < 2²⁰ (`Grid::check`).
            let i = unsafe { whole.to_int_unchecked::<i32>() };
            spot.cell[k] = i;
            spot.f[k] = inside - i as f32;
            spot.over[k] = (t - inside) * self.spacing;
        }
        spot
    }

    /// Returns Σ f (1 − f) h²: the variance of the random corner for a point, with the weights as probabilities.
    #[inline(always)]
    pub fn variance(&self, f: [f32; 3]) -> f32 {
        ((f[0] * (1.0 - f[0]) + f[1] * (1.0 - f[1])) + f[2] * (1.0 - f[2])) * (self.spacing * self.spacing)
    }
}

/// Returns a bound on the rounding of φ in a grid's box, metres: of values up to `largest`, and of positions where φ
/// rises by `lipschitz` per metre.
pub(super) fn slack(grid: &Grid, largest: f32, lipschitz: f32) -> f32 {
    let max = grid.max();
    let reach = (0..3).map(|k| (max[k] - grid.min[k]) + grid.min[k].abs()).fold(0.0, f32::max);
    12.0 * f32::EPSILON * (largest + lipschitz * reach)
}

/// Returns √(1 + L²): Lipschitz constant of φ everywhere, if it is L in the box, and φ is φ(p clamped) + distance to
/// the box beyond it.
pub(super) fn lipschitz_outside(lipschitz: f32) -> f32 {
    ((f64::from(lipschitz).powi(2) + 1.0).sqrt() * (1.0 + 1e-6)) as f32
}

/// Inverse slopes of φ: of the steepest gradient (`all`) and of the values at nodes, in the box and everywhere. They
/// include the rounding of a ball's radius in a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flatness {
    pub all: f32,
    pub nodes: f32,
    pub all_outside: f32,
    pub nodes_outside: f32,
}

impl Flatness {
    pub fn new(lipschitz: f32, node_lipschitz: f32) -> Self {
        let flat = |l: f32| (1.0 - 1e-6) / (l + 8.0 * f32::EPSILON * lipschitz_outside(lipschitz));
        Self {
            all: flat(lipschitz),
            nodes: flat(node_lipschitz),
            all_outside: flat(lipschitz_outside(lipschitz)),
            nodes_outside: flat(lipschitz_outside(node_lipschitz)),
        }
    }
}

#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else {
        b
    }
}

/// Returns the largest r for which `off` is more than L r or K √(r² + variance), with `flat` = 1 / L and `node_flat`
/// = 1 / K.
#[inline(always)]
pub(super) fn reach(off: f32, flat: f32, node_flat: f32, variance: f32) -> f32 {
    let by_nodes = off * node_flat;
    let square = if by_nodes > 0.0 { by_nodes * by_nodes - variance * (1.0 + 1e-6) } else { 0.0 };
    let square = if square > 0.0 { square } else { 0.0 };
    larger(off * flat, square.sqrt() * (1.0 - 1e-6))
}

#[inline(always)]
fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + t * (b - a)
}

/// Returns the interpolant of values at the corners, x fastest: along x, then y, then z.
#[inline(always)]
pub(super) fn value(v: [f32; 8], f: [f32; 3]) -> f32 {
    let low = lerp(lerp(v[0], v[1], f[0]), lerp(v[2], v[3], f[0]), f[1]);
    let high = lerp(lerp(v[4], v[5], f[0]), lerp(v[6], v[7], f[0]), f[1]);
    lerp(low, high, f[2])
}

/// Returns the interpolant and its gradient, per edge of the cell.
#[inline(always)]
pub(super) fn gradient(v: [f32; 8], f: [f32; 3]) -> (f32, [f32; 3]) {
    // Differences along x on the four edges, then interpolated along y and z; the same for y and z.
    let dx = [v[1] - v[0], v[3] - v[2], v[5] - v[4], v[7] - v[6]];
    let gx = lerp(lerp(dx[0], dx[1], f[1]), lerp(dx[2], dx[3], f[1]), f[2]);
    let x = [v[0] + f[0] * dx[0], v[2] + f[0] * dx[1], v[4] + f[0] * dx[2], v[6] + f[0] * dx[3]];
    let dy = [x[1] - x[0], x[3] - x[2]];
    let gy = lerp(dy[0], dy[1], f[2]);
    let xy = [x[0] + f[1] * dy[0], x[2] + f[1] * dy[1]];
    let gz = xy[1] - xy[0];
    (xy[0] + f[2] * gz, [gx, gy, gz])
}

#[inline(always)]
pub(super) fn norm(v: [f32; 3]) -> f32 {
    ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]).sqrt()
}

/// Returns φ and its gradient at a point that is `over` beyond the box, from those at the closest point of the box.
#[inline(always)]
pub(super) fn beyond(phi: f32, mut g: [f32; 3], over: [f32; 3]) -> (f32, [f32; 3]) {
    let distance = norm(over);
    if distance > 0.0 {
        // Outside, φ does not change with a clamped coordinate, but the distance to the box does.
        for k in 0..3 {
            if over[k] != 0.0 {
                g[k] = over[k] / distance;
            }
        }
    }
    (phi + distance, g)
}
