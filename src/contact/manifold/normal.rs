//! Direction of a contact where the gradient of the field does not give it.
//!
//! The exact distance has a gradient of length 1 that points away from the closest point of the surface. In a grid
//! cell that the medial axis passes (inside thin walls, at creases, in narrow gaps) the interpolant mixes the
//! gradients of two surfaces: the mean is short and may point to neither of them. There the direction is found by a
//! search: among the points at distance |φ| from the sample, the closest point of the surface is the one where |φ| is
//! smallest. A walk is the step of length |φ| from the sample to such a point.

use voxshell_base::math::RigidF32;
use voxshell_base::wide;
use voxshell_field::{SignedDistance, LANES};

/// Gradients of at least this length are used as directions. Two unit vectors with a mean of this length are 52°
/// apart.
pub(crate) const STRONG_GRADIENT: f32 = 0.9;

/// Gradients of at most this length are no candidates: the normal of the sample replaces them.
const WEAK_GRADIENT: f32 = 0.25;

/// The direction of the gradient is kept when a walk along it leaves at most this fraction of |φ|: along a wall, up
/// to 29° to it.
const ACCEPTED: f32 = 0.125;

/// Largest penalty of a direction along the sample's normal relative to the opposite direction, as a fraction of |φ|:
/// in the middle of a plate the sample is pushed back against its normal.
const PREFERENCE: f32 = 1.0 / 32.0;

/// Length, in voxels, below which a walk stays in the cell and gives no information beyond its gradient.
const SHORT: f32 = 0.125;

/// Length below which a gradient has no direction.
const NO_GRADIENT: f32 = 1e-6;

/// Number of start directions of the search.
const STARTS: usize = 2 * LANES;

#[inline(always)]
pub(crate) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// Length of a gradient, to compare with [`STRONG_GRADIENT`].
#[inline(always)]
pub(crate) fn length(v: [f32; 3]) -> f32 {
    dot(v, v).sqrt()
}

#[inline(always)]
fn unit(v: [f32; 3], otherwise: [f32; 3]) -> [f32; 3] {
    let n = length(v);
    let known = n > NO_GRADIENT;
    [0, 1, 2].map(|k| if known { v[k] / n } else { otherwise[k] })
}

/// Returns the reversed normal of a sample, unit, in the local frame of the field.
#[inline(always)]
pub(crate) fn reversed(normal: [f32; 3], to_field: &RigidF32) -> [f32; 3] {
    unit(to_field.r.map(|row| -dot(row, normal)), [0.0, 1.0, 0.0])
}

/// A sample in the field, and the best direction so far.
struct Search<'a, F> {
    field: &'a F,
    point: [f32; 3],
    phi: f32,
    against: [f32; 3],
    best: [f32; 3],
    /// Rest of |φ| at the end of the best walk plus the penalty of its direction, metres.
    cost: f32,
}

impl<F: SignedDistance> Search<'_, F> {
    /// Returns the end of a walk over |φ|: against `u` outside, along `u` inside.
    #[inline(always)]
    fn end(&self, u: [f32; 3]) -> [f32; 3] {
        [0, 1, 2].map(|k| self.point[k] - self.phi * u[k])
    }

    /// Returns the distance left at the end of a walk, metres, from φ there: negative when it ends on the other side
    /// of the surface.
    #[inline(always)]
    fn left(&self, phi_at_end: f32) -> f32 {
        if self.phi < 0.0 {
            -phi_at_end
        } else {
            phi_at_end
        }
    }

    /// Returns the cost of a direction.
    #[inline(always)]
    fn cost_of(&self, u: [f32; 3], phi_at_end: f32) -> f32 {
        let preference = PREFERENCE * 0.5 * (1.0 - dot(u, self.against));
        self.left(phi_at_end) + preference * self.phi.abs()
    }

    /// Takes `u` if it is better than the best direction so far; on a tie the earlier direction stays.
    #[inline(always)]
    fn take(&mut self, u: [f32; 3], cost: f32) {
        if cost < self.cost {
            (self.cost, self.best) = (cost, u);
        }
    }

    /// Tries directions, and replaces each by the gradient direction at the end of its walk.
    #[inline(always)]
    fn walk(&mut self, directions: &mut [[[f32; LANES]; 3]; STARTS / LANES]) {
        for [x, y, z] in directions {
            let mut end = [[0.0; LANES]; 3];
            for i in 0..LANES {
                [end[0][i], end[1][i], end[2][i]] = self.end([x[i], y[i], z[i]]);
            }
            let (phi, g) = self.field.distance_gradient_lanes(&end, LANES);
            let mut cost = [0.0; LANES];
            for i in 0..LANES {
                cost[i] = self.cost_of([x[i], y[i], z[i]], phi[i]);
            }
            for i in 0..LANES {
                self.take([x[i], y[i], z[i]], cost[i]);
            }
            for i in 0..LANES {
                [x[i], y[i], z[i]] = unit([g[0][i], g[1][i], g[2][i]], [x[i], y[i], z[i]]);
            }
        }
    }

    /// Tries the direction to the surface near the end of the best walk.
    #[inline(always)]
    fn polish(&mut self) {
        let end = self.end(self.best);
        let (phi, g) = self.field.distance_gradient(end);
        let g = unit(g, self.best);
        let sign = if self.phi < 0.0 { -1.0 } else { 1.0 };
        let from = [0, 1, 2].map(|k| sign * (self.point[k] - (end[k] - phi * g[k])));
        let n = length(from);
        if n > 0.0 {
            let u = from.map(|x| x / n);
            self.take(u, self.cost_of(u, self.field.distance(self.end(u))));
        }
    }
}

wide! {
    /// Returns the direction away from the closest surface of `field` (outward on both sides of it), unit, for a sample
    /// at `point` whose φ has a `gradient` shorter than [`STRONG_GRADIENT`]. `against` is the reversed normal of the
    /// sample, unit. All are in the local frame of the field. Every caller gets the same bytes.
    #[cold]
    #[inline(never)]
    pub(crate) fn away<F: SignedDistance>(
        field: &F,
        point: [f32; 3],
        phi: f32,
        gradient: [f32; 3],
        against: [f32; 3],
    ) -> [f32; 3] {
        let strong = length(gradient) > WEAK_GRADIENT;
        let own = if strong { unit(gradient, against) } else { against };
        let distance = phi.abs();
        if distance <= SHORT * field.voxel_size() {
            return own;
        }
        let mut search = Search { field, point, phi, against, best: own, cost: f32::INFINITY };
        if strong && search.left(field.distance(search.end(own))) <= ACCEPTED * distance {
            return own;
        }
        let mut starts = [own; STARTS];
        starts[1] = against;
        for k in 0..3 {
            for (i, side) in [1.0, -1.0].into_iter().enumerate() {
                starts[2 + 2 * k + i] = [0, 1, 2].map(|axis| if axis == k { side } else { 0.0 });
            }
        }
        for (i, u) in starts[LANES..].iter_mut().enumerate() {
            *u = [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { -1.0 } else { 1.0 } / 3f32.sqrt());
        }
        let mut directions = [[[0.0; LANES]; 3]; STARTS / LANES];
        for (i, u) in starts.iter().enumerate() {
            for (k, &x) in u.iter().enumerate() {
                directions[i / LANES][k][i % LANES] = x;
            }
        }
        search.walk(&mut directions);
        search.walk(&mut directions);
        search.polish();
        search.best
    }
}
