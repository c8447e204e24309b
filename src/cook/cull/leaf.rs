//! Distances at the nodes of a small block.

use crate::field::triangle::{Triangle, LANES};
use crate::field::wide;
use crate::memory::boxed_item;

/// Largest number of nodes of a leaf block: 5³, in whole lanes.
pub(super) const LEAF: usize = 128;

/// Squared distances of a leaf's nodes, and the nodes' positions relative to the block's centre, lattice units.
#[repr(C, align(32))]
pub(super) struct LeafNodes {
    x: [f32; LEAF],
    y: [f32; LEAF],
    z: [f32; LEAF],
    pub best: [f32; LEAF],
    pub count: usize,
}

impl LeafNodes {
    /// Returns `size` nodes along the axes, `spacing` apart; x fastest, then y. Lanes beyond them repeat the first
    /// node.
    pub fn new(size: [u32; 3], spacing: f32) -> Box<Self> {
        let [nx, ny, nz] = size.map(|n| n as usize);
        let count = nx * ny * nz;
        let mut nodes = boxed_item(Self { x: [0.0; LEAF], y: [0.0; LEAF], z: [0.0; LEAF], best: [0.0; LEAF], count });
        let place = |i: usize, n: usize| (i as f32 - 0.5 * (n - 1) as f32) * spacing;
        for (lane, n) in (0..count).chain(std::iter::repeat(0)).take(LEAF).enumerate() {
            nodes.x[lane] = place(n % nx, nx);
            nodes.y[lane] = place(n / nx % ny, ny);
            nodes.z[lane] = place(n / (nx * ny), nz);
        }
        nodes
    }

    /// Includes a triangle, whose frame is relative to the block's centre.
    pub fn take(&mut self, t: Triangle) {
        leaf_min(t, self);
    }

    /// Sets `best` to the distance, times `unit`.
    pub fn finish(&mut self, unit: f32) {
        leaf_finish(unit, self);
    }

    /// Sets `out` to the distances in multiples of `quantum`, rounded. Returns the smallest distance, and the largest
    /// rounding of a distance that is at most `width`.
    pub fn quantise(&mut self, quantum: f32, width: f32, out: &mut [i16; LEAF]) -> (f32, f32) {
        leaf_quanta(quantum, width, self, out)
    }
}

wide! {
    /// Sets `best` = min(`best`, squared distance to `t`), over all nodes.
    fn leaf_min(t: Triangle, nodes: &mut LeafNodes) -> () {
        let count = nodes.count.next_multiple_of(LANES).min(LEAF);
        let (x, y, z) = (&nodes.x[..count], &nodes.y[..count], &nodes.z[..count]);
        let best = &mut nodes.best[..count];
        for n in 0..count {
            let d = t.distance_squared([x[n], y[n], z[n]]);
            best[n] = if d < best[n] { d } else { best[n] };
        }
    }
}

wide! {
    fn leaf_finish(unit: f32, nodes: &mut LeafNodes) -> () {
        let count = nodes.count.next_multiple_of(LANES).min(LEAF);
        for b in &mut nodes.best[..count] {
            *b = b.sqrt() * unit;
        }
    }
}

wide! {
    fn leaf_quanta(quantum: f32, width: f32, nodes: &LeafNodes, out: &mut [i16; LEAF]) -> (f32, f32) {
        let count = nodes.count.next_multiple_of(LANES).min(LEAF);
        let inverse = 1.0 / quantum;
        let (mut least, mut most) = ([f32::INFINITY; LANES], [0.0f32; LANES]);
        for (best, out) in nodes.best[..count].chunks_exact(LANES).zip(out.chunks_exact_mut(LANES)) {
            for lane in 0..LANES {
                let d = best[lane].sqrt();
                let q = d * inverse + 0.5;
                let q = if q < 32_767.0 { q } else { 32_767.0 };
                // SAFETY: not negative, and at most the largest i16.
                let q = unsafe { q.to_int_unchecked::<i32>() };
                out[lane] = q as i16;
                let off = (q as f32 * quantum - d).abs();
                let off = if d <= width { off } else { 0.0 };
                most[lane] = if off > most[lane] { off } else { most[lane] };
                least[lane] = if d < least[lane] { d } else { least[lane] };
            }
        }
        (least.iter().fold(least[0], |a, &b| a.min(b)), most.iter().fold(most[0], |a, &b| a.max(b)))
    }
}
