//! Certifies how far segments are off a level of a grid, eight at a time.
//!
//! A node whose value is off the level by enough has a ball around it in which φ is off the level too, and on one
//! side of it. A segment in such a ball advances to the point where it leaves the ball, finds another node there, and
//! so on (sphere tracing, Hart 1996). The first nodes are few, far apart, and fit in a cache; where their balls end,
//! the nodes around the point itself are used. The rest of a segment, from a cell or two off the surface, is left to
//! a walk from cell to cell.
//!
//! f32: the radii are reduced by more than all rounding.

/// Number of segments that advance side by side.
const LANES: usize = 8;
/// Number of segments in a batch.
pub const CHUNK: usize = 128;
/// Largest coordinate in the f32 range, cells: up to it the rounding of a position is below a quarter of [`MARGIN`].
pub const FAR: f64 = 4096.0;
/// Bound on rounding and on the error of positions, cells.
const MARGIN: f32 = 0.01;
/// φ must be above the level up to this distance from the grid's border, cells: positions are clamped to the box.
pub const BRIM: f64 = 0.05;
/// A segment whose next step is shorter than `LEAST`, cells, stops; with a step shorter than `NEAR` it uses the nodes
/// around it first.
const LEAST: f32 = 0.4;
const NEAR: f32 = 2.5;
/// Length below which a segment is outside the f32 range, cells.
const SHORT: f32 = 1e-2;

/// A fraction past the end.
pub const NEVER: f32 = f32::INFINITY;

/// Batch of segments from `from` to `from + displacement`, cells from the grid's first node, none beyond [`FAR`]; and
/// the results.
pub struct SegmentBatch {
    pub from: [[f32; CHUNK]; 3],
    pub displacement: [[f32; CHUNK]; 3],
    /// φ is off the level before this fraction; [`NEVER`] when it is off the level along the whole segment.
    pub certified: [f32; CHUNK],
    /// Side of the level: more than 0 above, less than 0 below, 0 when nothing was certified.
    pub side: [f32; CHUNK],
}

impl Default for SegmentBatch {
    fn default() -> Self {
        let zero = [0.0; CHUNK];
        Self { from: [zero; 3], displacement: [zero; 3], certified: zero, side: zero }
    }
}

/// Level that segments approach.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Value, metres.
    pub value: f64,
    /// Largest difference between this level and the raised level of a single segment, metres.
    pub error_bound: f64,
    /// Whether a segment that starts below the level stops there.
    pub stop_below: bool,
}

/// Balls around the nodes of a grid in which φ is off the level. The square of the radius is ((|φ − level| −
/// error_bound) · flat)² − spread.
#[derive(Clone, Copy)]
pub(super) struct Balls {
    pub level: f32,
    pub error_bound: f32,
    /// Cells per metre.
    pub flat: f32,
    /// Cells squared.
    pub spread: f32,
}

impl Balls {
    pub fn new(level: &Level, error_bound: f64, flat: f64, spread: f64) -> Self {
        Self {
            level: level.value as f32,
            error_bound: ((error_bound + level.error_bound + 1e-6 * level.value.abs()) * 1.000_01) as f32,
            flat: (flat * 0.999_99) as f32,
            spread: spread as f32,
        }
    }

    /// Returns the distance from p to the end of the ball around a node along `unit`; 0 outside the ball. `q` is from
    /// the node to p.
    #[inline(always)]
    fn chord(&self, value: f32, q: [f32; 3], unit: [f32; 3]) -> f32 {
        let radius = ((value - self.level).abs() - self.error_bound) * self.flat - MARGIN;
        let inside = (radius * radius - self.spread) - ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]);
        let along = (q[0] * unit[0] + q[1] * unit[1]) + q[2] * unit[2];
        // 0 wherever p is not in the ball.
        let inside = if (radius > 0.0) & (inside > 0.0) { inside } else { -(along * along) };
        let out = (along * along + inside).sqrt() - along;
        if inside > 0.0 {
            out
        } else {
            0.0
        }
    }
}

/// Value of a node, metres, and its position, cells.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub value: f32,
    pub at: [f32; 3],
}

/// Access to the nodes of a field. Positions are in the grid's box, cells.
pub(super) trait Nodes: Copy {
    /// Returns the last node, cells.
    fn last(self) -> [f32; 3];

    fn coarse_balls(&self) -> &Balls;

    fn fine_balls(&self) -> &Balls;

    /// Returns number and position of the coarse node for a point.
    fn coarse(self, p: [f32; 3]) -> (u32, [f32; 3]);

    fn coarse_value(self, number: u32) -> f32;

    /// Returns a node close to p. Where there is none, returns the distance over which φ is certainly off the level
    /// along a direction, whose inverse is given, on the side of the coarse node.
    fn fine(self, p: [f32; 3], inverse: [f32; 3]) -> (Node, f32);
}

/// The segments of a batch as rays: unit directions, lengths in cells.
struct Rays {
    unit: [[f32; CHUNK]; 3],
    inverse: [[f32; CHUNK]; 3],
    /// Interval of the part in the grid's box.
    start: [f32; CHUNK],
    end: [f32; CHUNK],
    /// Fraction per cell; 0 for segments outside the f32 range.
    per_cell: [f32; CHUNK],
}

impl Rays {
    #[inline(always)]
    fn new(batch: &SegmentBatch, count: usize, last: [f32; 3]) -> Self {
        let zero = [0.0; CHUNK];
        let mut rays = Self { unit: [zero; 3], inverse: [zero; 3], start: zero, end: zero, per_cell: zero };
        let max = |a: f32, b: f32| if a > b { a } else { b };
        let min = |a: f32, b: f32| if a < b { a } else { b };
        for i in 0..count.next_multiple_of(LANES) {
            let d = [batch.displacement[0][i], batch.displacement[1][i], batch.displacement[2][i]];
            let length = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
            let long = length > SHORT;
            let per_cell = if long { 1.0 / length } else { 0.0 };
            let (mut start, mut end) = (0.0, length);
            for a in 0..3 {
                let u = d[a] * per_cell;
                // Nearly zero counts as zero, within the error of positions.
                let flat = u.abs() < 1e-9;
                let inverse = 1.0 / if flat { 1e-9 } else { u };
                let (t, s) = ((0.0 - batch.from[a][i]) * inverse, (last[a] - batch.from[a][i]) * inverse);
                start = max(start, min(t, s));
                end = min(end, max(t, s));
                rays.unit[a][i] = u;
                rays.inverse[a][i] = inverse;
            }
            (rays.start[i], rays.end[i], rays.per_cell[i]) = (start, end, per_cell);
        }
        rays
    }
}

/// The segments that advance side by side.
struct Lanes {
    from: [[f32; LANES]; 3],
    unit: [[f32; LANES]; 3],
    inverse: [[f32; LANES]; 3],
    /// Present position and end: cells along the segment.
    at: [f32; LANES],
    end: [f32; LANES],
    side: [f32; LANES],
    /// Numbers of the segments; [`IDLE`] for none.
    number: [usize; LANES],
}

const IDLE: usize = usize::MAX;

impl Lanes {
    /// Loads the next of the first `count` segments that can advance into a lane, and writes the results of those
    /// that cannot.
    #[inline(always)]
    fn load(&mut self, k: usize, batch: &mut SegmentBatch, rays: &Rays, next: &mut usize, count: usize) {
        self.number[k] = IDLE;
        while *next < count {
            let i = *next;
            *next += 1;
            if rays.per_cell[i] == 0.0 {
                continue;
            }
            if rays.start[i] > rays.end[i] {
                (batch.certified[i], batch.side[i]) = (NEVER, 1.0);
                continue;
            }
            for a in 0..3 {
                self.from[a][k] = batch.from[a][i];
                self.unit[a][k] = rays.unit[a][i];
                self.inverse[a][k] = rays.inverse[a][i];
            }
            (self.at[k], self.end[k], self.side[k], self.number[k]) = (rays.start[i], rays.end[i], 0.0, i);
            return;
        }
    }
}

/// Advances the first `count` segments.
#[inline(always)]
pub(super) fn approach<V: Nodes>(nodes: V, level: &Level, batch: &mut SegmentBatch, count: usize) {
    let last = nodes.last();
    let rays = Rays::new(batch, count, last);
    batch.certified = [0.0; CHUNK];
    batch.side = [0.0; CHUNK];
    let zero = [0.0; LANES];
    let mut lanes = Lanes {
        from: [zero; 3],
        unit: [zero; 3],
        inverse: [zero; 3],
        at: zero,
        end: zero,
        side: zero,
        number: [IDLE; LANES],
    };
    let mut next = 0;
    for k in 0..LANES {
        lanes.load(k, batch, &rays, &mut next, count);
    }
    let stop = if level.stop_below { -0.5 } else { f32::NEG_INFINITY };
    let mut busy = lanes.number.iter().filter(|n| **n != IDLE).count();
    while busy > 0 {
        let (mut p, mut at) = ([zero; 3], [zero; 3]);
        let (mut value, mut far, mut number) = (zero, zero, [0; LANES]);
        for k in 0..LANES {
            for a in 0..3 {
                let x = lanes.from[a][k] + lanes.at[k] * lanes.unit[a][k];
                let x = if x > 0.0 { x } else { 0.0 };
                p[a][k] = if x < last[a] { x } else { last[a] };
            }
            let node = nodes.coarse([p[0][k], p[1][k], p[2][k]]);
            number[k] = node.0;
            for a in 0..3 {
                at[a][k] = node.1[a];
            }
        }
        for k in 0..LANES {
            value[k] = nodes.coarse_value(number[k]);
        }
        let side_of = |value: f32, level: f32| if value > level { 1.0 } else { -1.0 };
        let (coarse, fine) = (nodes.coarse_balls(), nodes.fine_balls());
        // Lanes that use the nodes around them. All tests that certify a side agree on it.
        let (mut side, mut close) = (zero, 0u32);
        for k in 0..LANES {
            let unit = [lanes.unit[0][k], lanes.unit[1][k], lanes.unit[2][k]];
            let q = [p[0][k] - at[0][k], p[1][k] - at[1][k], p[2][k] - at[2][k]];
            far[k] = coarse.chord(value[k], q, unit);
            side[k] = side_of(value[k], coarse.level);
            lanes.side[k] = if far[k] > 0.0 { side[k] } else { lanes.side[k] };
            close |= u32::from(far[k] < NEAR) << k;
            value[k] = fine.level;
        }
        let mut exit = zero;
        for k in bits(close) {
            let inverse = [lanes.inverse[0][k], lanes.inverse[1][k], lanes.inverse[2][k]];
            let (node, out) = nodes.fine([p[0][k], p[1][k], p[2][k]], inverse);
            (value[k], exit[k]) = (node.value, out);
            if out > 0.0 {
                lanes.side[k] = side[k];
            }
            for a in 0..3 {
                at[a][k] = node.at[a];
            }
        }
        let mut done = 0u32;
        for k in 0..LANES {
            let unit = [lanes.unit[0][k], lanes.unit[1][k], lanes.unit[2][k]];
            let q = [p[0][k] - at[0][k], p[1][k] - at[1][k], p[2][k] - at[2][k]];
            let near = fine.chord(value[k], q, unit);
            let known = if near > 0.0 { side_of(value[k], fine.level) } else { lanes.side[k] };
            let step = if near > far[k] { near } else { far[k] };
            let step = if exit[k] > step { exit[k] } else { step };
            let next = lanes.at[k] + step;
            (lanes.side[k], lanes.at[k]) = (known, next);
            let stopped = u32::from(step < LEAST) | u32::from(next > lanes.end[k]) | u32::from(known < stop);
            done |= stopped << k;
        }
        for k in bits(done) {
            let i = lanes.number[k];
            if i != IDLE {
                let over = lanes.at[k] > lanes.end[k];
                batch.certified[i] = if over { NEVER } else { lanes.at[k] * rays.per_cell[i] };
                batch.side[i] = lanes.side[k];
                lanes.load(k, batch, &rays, &mut next, count);
                busy -= usize::from(lanes.number[k] == IDLE);
            }
        }
    }
}

/// Returns the positions of the set bits.
#[inline(always)]
fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            place
        })
    })
}

/// Defines `approaches` for the nodes of a field.
macro_rules! approaches {
    ($nodes:ident) => {
        voxshell_base::wide! {
            fn approaches(nodes: $nodes, level: &Level, batch: &mut SegmentBatch, count: usize) -> () {
                $crate::approach::approach(nodes, level, batch, count)
            }
        }
    };
}
pub(super) use approaches;
