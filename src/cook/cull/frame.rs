//! The frame of a block of nodes, in which the bounds of culling are computed.

/// Absolute slack of the comparisons, in units of the lattice (half the grid's largest edge is between ½ and 1): several
/// times the rounding of an f32 distance there.
pub(super) const EPS: f32 = 4.0e-6;

/// A block's centre and half edges, f32, lattice units.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub center: [f32; 3],
    pub half: [f32; 3],
}

impl Frame {
    /// Returns the slack for an item at distance `d`: of the distances, and of the direction, whose uncertainty is
    /// inverse to the distance. `inverse` is 1 / d.
    #[inline(always)]
    pub fn slack(&self, inverse: f32) -> f32 {
        EPS + EPS * ((self.half[0] + self.half[1]) + self.half[2]) * inverse
    }

    /// Returns max_k (D_k − g·δ_k).
    #[inline(always)]
    pub fn largest(&self, corners: &[f32; 8], g: [f32; 3]) -> f32 {
        let (x, y, z) = (g[0] * self.half[0], g[1] * self.half[1], g[2] * self.half[2]);
        let (pp, pm) = (x + y, x - y);
        let max = |a: f32, b: f32| if a > b { a } else { b };
        // Corner k is at (±x, ±y, ±z), bit set for plus: subtracting g·δ adds where the bit is clear.
        let low = max(max(corners[0] + pp, corners[1] - pm), max(corners[2] + pm, corners[3] - pp)) + z;
        let high = max(max(corners[4] + pp, corners[5] - pm), max(corners[6] + pm, corners[7] - pp)) - z;
        max(low, high)
    }
}
