//! φ, its gradient and its bounds at a point.

use super::constants::Hot;
use super::masks::slot;
use super::{BrickField, CELLS, NODES};
use crate::clearance::batches;
use crate::trilinear::{beyond, gradient, norm, reach, value, Spot};
use crate::{Modulus, SignedDistance, LANES};
use voxshell_base::math::{Aabb, Vec3};

/// Trilinear cell of a point: a cell of a fine brick, or a whole coarse brick.
struct Place {
    fine: bool,
    /// Whether all corners are off the seams because they are inside a fine brick.
    inner: bool,
    /// Index of the brick's first sample.
    brick: usize,
    /// Index of the cell's first corner, and strides to the next along y and z.
    first: usize,
    row: usize,
    slice: usize,
    /// Position in the cell, 0 to 1.
    f: [f32; 3],
    /// From the box to the point, metres; 0 inside.
    over: [f32; 3],
    /// Metres per unit of the samples.
    unit: f32,
}

/// Returns the two samples of a pair.
#[inline(always)]
fn apart(both: u32) -> [f32; 2] {
    [((both << 16) as i32 >> 16) as f32, (both as i32 >> 16) as f32]
}

/// Arguments of the kernels.
#[derive(Clone, Copy)]
struct View<'a> {
    hot: &'a Hot,
    index: &'a [u32],
    samples: &'a [i16],
    rises: &'a [u16],
}

impl<'a> View<'a> {
    #[inline(always)]
    fn of(field: &'a BrickField) -> Self {
        Self { hot: &field.hot, index: &field.index.entries, samples: &field.samples, rises: &field.rises }
    }

    #[inline(always)]
    fn place(self, p: [f32; 3]) -> Place {
        let h = self.hot;
        let Spot { cell, mut f, over } = h.axes.spot(p);
        let (brick, local) = (cell.map(|i| (i >> 3) as u32), cell.map(|i| i & 7));
        let inner = [0, 1, 2].map(|k| brick[k].wrapping_sub(h.first[k]));
        let from = if (inner[0] < h.size[0]) & (inner[1] < h.size[1]) & (inner[2] < h.size[2]) {
            let [i, j, k] = inner.map(|i| i as usize);
            let number = (k * h.brick_slice + i) + j * h.brick_row;
            debug_assert!(number < self.index.len());
            // SAFETY: `index` has an entry for each brick of the box.
            unsafe { *self.index.get_unchecked(number) }
        } else {
            let [i, j, k] = brick.map(|i| i as usize);
            h.coarse + ((k * h.slice + i) + j * h.row) as u32
        };
        let fine = from < h.coarse;
        let n = NODES as i32;
        let inner = if fine { (local[2] * n + local[1]) * n + local[0] } else { 0 };
        for k in 0..3 {
            f[k] = if fine { f[k] } else { (local[k] as f32 + f[k]) * (1.0 / CELLS as f32) };
        }
        let brick = from as usize;
        let amid = |i: i32| (i - 1) as u32 <= 5;
        Place {
            fine,
            inner: fine & amid(local[0]) & amid(local[1]) & amid(local[2]),
            brick,
            first: brick + inner as usize,
            row: if fine { NODES as usize } else { h.row },
            slice: if fine { (NODES * NODES) as usize } else { h.slice },
            f,
            over,
            unit: if fine { h.quantum } else { h.coarse_quantum },
        }
    }

    /// Returns the corners of a cell, x fastest, in units of its samples.
    #[inline(always)]
    fn corners(self, place: &Place) -> [f32; 8] {
        let Place { first, row, slice, .. } = *place;
        debug_assert!(first + slice + row + 1 < self.samples.len());
        let [a, b] = apart(self.pair(first));
        let [c, d] = apart(self.pair(first + row));
        let [e, f] = apart(self.pair(first + slice));
        let [g, h] = apart(self.pair(first + slice + row));
        [a, b, c, d, e, f, g, h]
    }

    /// Returns two neighbours along x as one number: a corner of the cell with the smaller x, and the next one.
    #[inline(always)]
    fn pair(self, corner: usize) -> u32 {
        debug_assert!(corner + 1 < self.samples.len());
        // SAFETY: `corner` is a node of a fine brick that has a next node along each axis (`local` of a place is at most
        // 7), or the corner of a coarse brick: the cell is a cell of the grid, which the bricks cover. `Index::new` stored
        // only such indices as entries, `from_parts` checked that all of them have samples, and neither changes afterwards.
        // So samples `corner` and `corner` + 1 exist.
        let both = unsafe { self.samples.as_ptr().add(corner).cast::<u32>().read_unaligned() };
        if cfg!(target_endian = "big") {
            both.rotate_left(16)
        } else {
            both
        }
    }

    /// Returns φ at the point of the box that is closest to the place's point.
    #[inline(always)]
    fn value(self, place: &Place) -> f32 {
        value(self.corners(place), place.f) * place.unit
    }

    #[inline(always)]
    fn distance(self, p: [f32; 3]) -> f32 {
        let place = self.place(p);
        self.value(&place) + norm(place.over)
    }

    /// Returns φ and its gradient at a few points: the operations of `place`, `gradient` and `beyond` in their order,
    /// each for all points and without a branch. So they become vector instructions; only the table look-ups between
    /// them are scalar.
    #[inline(always)]
    fn sloped(self, p: &[[f32; LANES]; 3]) -> ([f32; LANES], [[f32; LANES]; 3]) {
        let h = self.hot;
        let (mut cell, mut f, mut over) = ([[0; LANES]; 3], [[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        for i in 0..LANES {
            let spot = h.axes.spot([p[0][i], p[1][i], p[2][i]]);
            for k in 0..3 {
                (cell[k][i], f[k][i], over[k][i]) = (spot.cell[k], spot.f[k], spot.over[k]);
            }
        }
        let (mut number, mut corner) = ([0u32; LANES], [u32::MAX; LANES]);
        for i in 0..LANES {
            let brick = [0, 1, 2].map(|k| (cell[k][i] >> 3) as u32);
            let inner = [0, 1, 2].map(|k| brick[k].wrapping_sub(h.first[k]));
            let entered = (inner[0] < h.size[0]) & (inner[1] < h.size[1]) & (inner[2] < h.size[2]);
            let layer = inner[2].wrapping_mul(h.brick_slice as u32).wrapping_add(inner[0]);
            let entry = layer.wrapping_add(inner[1].wrapping_mul(h.brick_row as u32));
            number[i] = if entered { entry } else { u32::MAX };
            corner[i] = h.coarse + ((brick[2] * h.slice as u32 + brick[0]) + brick[1] * h.row as u32);
        }
        let mut from = corner;
        for i in 0..LANES {
            if number[i] != u32::MAX {
                debug_assert!((number[i] as usize) < self.index.len());
                // SAFETY: `index` has an entry for each brick of the box.
                from[i] = unsafe { *self.index.get_unchecked(number[i] as usize) };
            }
        }
        let mut first = [[0u32; LANES]; 4];
        let (mut unit, mut per_metre) = ([0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let fine = from[i] < h.coarse;
            let local = [0, 1, 2].map(|k| cell[k][i] & 7);
            let n = NODES as i32;
            let lowest = from[i] + if fine { (local[2] * n + local[1]) * n + local[0] } else { 0 } as u32;
            for k in 0..3 {
                f[k][i] = if fine { f[k][i] } else { (local[k] as f32 + f[k][i]) * (1.0 / CELLS as f32) };
            }
            let row = if fine { NODES } else { h.row as u32 };
            let slice = if fine { NODES * NODES } else { h.slice as u32 };
            (first[0][i], first[1][i]) = (lowest, lowest + row);
            (first[2][i], first[3][i]) = (lowest + slice, lowest + slice + row);
            unit[i] = if fine { h.quantum } else { h.coarse_quantum };
            per_metre[i] = unit[i] * (h.axes.inverse_spacing * if fine { 1.0 } else { 1.0 / CELLS as f32 });
        }
        let mut both = [[0u32; LANES]; 4];
        for (both, first) in both.iter_mut().zip(&first) {
            for i in 0..LANES {
                both[i] = self.pair(first[i] as usize);
            }
        }
        let (mut phi, mut slope) = ([0.0; LANES], [[0.0; LANES]; 3]);
        for i in 0..LANES {
            let [[a, b], [c, d], [e, g], [j, k]] = [0, 1, 2, 3].map(|n| apart(both[n][i]));
            let (value, grad) = gradient([a, b, c, d, e, g, j, k], [f[0][i], f[1][i], f[2][i]]);
            let distance = norm([over[0][i], over[1][i], over[2][i]]);
            phi[i] = value * unit[i] + distance;
            for k in 0..3 {
                let outside = (distance > 0.0) & (over[k][i] != 0.0);
                slope[k][i] = if outside { over[k][i] / distance } else { grad[k] * per_metre[i] };
            }
        }
        (phi, slope)
    }

    /// Returns the largest excess of the samples around a point over the distances that they represent, metres.
    #[inline(always)]
    fn rise(self, place: &Place) -> f32 {
        let at = if place.fine { slot(place.brick) } else { 0 };
        debug_assert!(at < self.rises.len());
        // SAFETY: there is a number for the slot of each fine brick, and never none at all.
        let rise = f32::from(unsafe { *self.rises.get_unchecked(at) });
        if place.fine {
            rise * self.hot.quantum
        } else {
            0.5 * self.hot.coarse_quantum
        }
    }

    /// Returns a lower bound of φ in a ball: the best of several.
    ///
    /// The first is by the steepest gradient: φ(c) − L r. The others are by the distances d that the samples
    /// represent, as for a full grid (`dense::View::bound`, which defines X, Y and K). φ(c) is the mean of d at a
    /// random corner X of c's cell, plus the excess of the samples there over d (stored for each brick; half a unit
    /// without a seam). φ(x) is the mean of d at some Y, less half a unit. Where x is in a fine cell off the seams
    /// Var Y ≤ ¾ h². A sample on a seam is itself such a mean, over the corners of the coarse face, so that anywhere
    /// else Var Y ≤ ¾ (8 h)² (¾ h² + ½ (8 h)² at a seam).
    ///
    /// The bound for fine cells is far better, and mostly it is sufficient: let `fine` be the bound on points in fine
    /// cells off the seams. If it is positive, no such point is on the level 0, and no other point can be, since |φ|
    /// ≥ `calm` there. φ is continuous, so the whole ball has the sign of c, and the rest of it is at least `calm`.
    ///
    /// Outside the box as for a full grid.
    #[inline(always)]
    fn bound(self, c: [f32; 3], r: f32) -> f32 {
        let h = self.hot;
        let place = self.place(c);
        let (inside, over, f) = (self.value(&place), norm(place.over), place.f);
        let spread = h.axes.variance(f);
        let coarse_half = 0.5 * h.coarse_quantum;
        let rise = self.rise(&place);
        let spread = if place.fine { spread } else { 64.0 * spread };
        let square = r * r + spread;
        let sure = inside - rise;
        let fine = (sure - 0.5 * h.quantum) - h.node_lipschitz * (square + h.variance).sqrt();
        let wide = (square + h.coarse_variance).sqrt();
        let any = (sure - coarse_half) - h.node_lipschitz * wide;
        let calm = if fine < h.calm { fine } else { h.calm };
        let max = |a: f32, b: f32| if a > b { a } else { b };
        let slack = h.slack + 8.0 * f32::EPSILON * (over + r * h.lipschitz_outside);
        let near = max(if fine > slack { max(any, calm) } else { any }, inside - h.lipschitz * r);
        let far = (sure - coarse_half) - h.node_lipschitz_outside * wide;
        let far = over + max(far, inside - h.lipschitz_outside * r);
        max(near, far) - slack
    }

    /// Returns the radius up to which `bound` is above the level: each of its terms solved for r. If the border is
    /// above the level, all points outside that are nearer than the box are above it too.
    #[inline(always)]
    fn clearance(self, c: [f32; 3], level: f32) -> f32 {
        let place = self.place(c);
        self.above(&place, self.value(&place), level)
    }

    #[inline(always)]
    fn above(self, place: &Place, inside: f32, level: f32) -> f32 {
        let h = self.hot;
        let (over, f) = (norm(place.over), place.f);
        let spread = h.axes.variance(f);
        let coarse_half = 0.5 * h.coarse_quantum;
        let rise = self.rise(place);
        let spread = if place.fine { spread } else { 64.0 * spread };
        let max = |a: f32, b: f32| if a > b { a } else { b };
        let error_bound = h.slack + 8.0 * f32::EPSILON * (over + level.abs());
        let sure = (inside - rise) - error_bound;
        let any = (sure - coarse_half) - level;
        let wide = spread + h.coarse_variance;
        let near = (inside - error_bound) - level;
        // The argument by `calm` needs points that are above 0 as well as above the level.
        let fine = reach((sure - 0.5 * h.quantum) - max(level, 0.0), 0.0, h.flat.nodes, spread + h.variance);
        let calm = h.calm > level + (error_bound + 8.0 * f32::EPSILON * (fine * h.lipschitz_outside));
        let inner = max(if calm { fine } else { 0.0 }, max(near * h.flat.all, reach(any, 0.0, h.flat.nodes, wide)));
        let outer = max((near + over) * h.flat.all_outside, reach(any + over, 0.0, h.flat.nodes_outside, wide));
        let to_box = if h.border > level + error_bound { over } else { 0.0 };
        max(max(inner, outer), to_box * (1.0 - 1e-6))
    }

    /// Returns the radius around a point within which φ is at most the level.
    ///
    /// As in the bound from below: φ(c) is the mean of d at a random corner X of c's cell, up to half a unit, and off
    /// the seams φ(x) is the mean at some Y with Var Y ≤ ¾ h². Inside a fine brick, or where |φ(c)| < `calm`, c is
    /// off the seams too; otherwise a corner in a fine brick can be on a seam, and Var X ≤ ¾ h² + ½ (8 h)². When no Y
    /// can reach 0, no point of the ball can: the rest of it is `calm`. The ball ends before the box does, since φ is
    /// above 0 on the border of the box.
    #[inline(always)]
    fn depth(self, place: &Place, inside: f32, level: f32) -> f32 {
        let h = self.hot;
        let own = h.axes.variance(place.f);
        let clear = place.inner | (place.fine & (inside.abs() + h.slack < h.calm));
        let spread = if place.fine { own + if clear { 0.0 } else { 0.67 * h.coarse_variance } } else { 64.0 * own };
        let half = 0.5 * if clear { h.quantum } else { h.coarse_quantum };
        let error_bound = h.slack + 8.0 * f32::EPSILON * level.abs();
        let top = if level < 0.0 { level } else { 0.0 };
        let off = (((top - inside) - half) - 0.5 * h.quantum) - error_bound;
        let known = (h.border > error_bound) & (-h.calm < level - error_bound) & (norm(place.over) == 0.0);
        if known {
            reach(off, 0.0, h.flat.nodes, spread + h.variance)
        } else {
            0.0
        }
    }

    /// Evaluates [`Clearance::side_batch`](crate::Clearance::side_batch) at one point.
    #[inline(always)]
    fn side(self, c: [f32; 3], [low, high]: [f32; 2]) -> f32 {
        let place = self.place(c);
        let inside = self.value(&place);
        let (above, depth) = (self.above(&place, inside, high), self.depth(&place, inside, low));
        if above > 0.0 {
            above
        } else if depth > 0.0 {
            -depth
        } else {
            0.0
        }
    }
}

/// Assumption of the shifts and masks of `place`.
const _: () = assert!(CELLS == 8);

batches!(View of BrickField);

impl SignedDistance for BrickField {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.header.center
    }

    fn bounds(&self) -> Aabb {
        self.header.bounds
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        View::of(self).distance(p)
    }

    #[inline(always)]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let view = View::of(self);
        let place = view.place(p);
        let cells = if place.fine { 1.0 } else { 1.0 / CELLS as f32 };
        let per_metre = place.unit * (self.hot.axes.inverse_spacing * cells);
        let (phi, g) = gradient(view.corners(&place), place.f);
        beyond(phi * place.unit, g.map(|g| g * per_metre), place.over)
    }

    #[inline(always)]
    fn distance_gradient_lanes(&self, p: &[[f32; LANES]; 3], _n: usize) -> ([f32; LANES], [[f32; LANES]; 3]) {
        View::of(self).sloped(p)
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        View::of(self).bound(c, r)
    }

    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        distances(View::of(self), x, y, z, out);
    }

    fn lower_bound_batch(&self, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) {
        bounds(View::of(self), x, y, z, r, out);
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_grid(self.hot.lipschitz_outside, self.hot.slack, reach))
    }

    fn voxel_size(&self) -> f32 {
        self.header.grid.spacing
    }

    fn error_bound(&self) -> f64 {
        self.header.error.max + f64::from(self.hot.slack)
    }
}
