//! Distances at the nodes of a small block.

use voxshell_base::memory::boxed_item;
use voxshell_base::wide;
use voxshell_field::triangle::{Base, Triangle, LANES};

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

    /// Sets `best` to the squared distance to the triangles `ids`; `center` is the block's centre, lattice units.
    pub fn all(&mut self, of: Surface, ids: &[u32], center: [f64; 3]) {
        leaf_min(of, ids, center, self);
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

/// The triangles from which the distances of a leaf are computed.
#[derive(Clone, Copy)]
pub(super) struct Surface<'a> {
    pub triangles: &'a [Triangle],
    pub bases: &'a [Base],
    /// Whether no triangle of a leaf is farther from it than the distance and its own size.
    pub small: bool,
}

/// Returns a triangle in a frame relative to `center`.
#[inline(always)]
fn placed(of: Surface, id: u32, center: [f64; 3]) -> Triangle {
    let (mut t, base) = (of.triangles[id as usize], &of.bases[id as usize]);
    t.offset = if of.small {
        // f32 is sufficient.
        t.offset_of([0, 1, 2].map(|k| (base.origin[k] - center[k]) as f32))
    } else {
        base.relative_to(center).map(|x| x as f32)
    };
    t
}

/// Does the work of [`leaf_min`] for `G` groups of nodes, whose distances stay in registers.
#[inline(always)]
fn few_min<const G: usize>(of: Surface, ids: &[u32], center: [f64; 3], nodes: &mut LeafNodes) {
    let mut best = [[f32::INFINITY; LANES]; G];
    for &id in ids {
        let t = placed(of, id, center);
        for g in 0..G {
            for lane in 0..LANES {
                let n = g * LANES + lane;
                let d = t.distance_squared([nodes.x[n], nodes.y[n], nodes.z[n]]);
                best[g][lane] = if d < best[g][lane] { d } else { best[g][lane] };
            }
        }
    }
    for g in 0..G {
        nodes.best[g * LANES..(g + 1) * LANES].copy_from_slice(&best[g]);
    }
}

wide! {
    /// Sets `best` to the smallest squared distance to the triangles `ids`, over all nodes.
    fn leaf_min(of: Surface, ids: &[u32], center: [f64; 3], nodes: &mut LeafNodes) -> () {
        match nodes.count.div_ceil(LANES) {
            1 => return few_min::<1>(of, ids, center, nodes),
            2 => return few_min::<2>(of, ids, center, nodes),
            3 => return few_min::<3>(of, ids, center, nodes),
            4 => return few_min::<4>(of, ids, center, nodes),
            _ => {}
        }
        let count = nodes.count.next_multiple_of(LANES).min(LEAF);
        let (x, y, z) = (&nodes.x[..count], &nodes.y[..count], &nodes.z[..count]);
        let best = &mut nodes.best[..count];
        best.fill(f32::INFINITY);
        for &id in ids {
            let t = placed(of, id, center);
            for n in 0..count {
                let d = t.distance_squared([x[n], y[n], z[n]]);
                best[n] = if d < best[n] { d } else { best[n] };
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_field::force_baseline;
    use voxshell_field::triangle::TriangleFrame;

    #[test]
    fn leaves_of_all_sizes_have_the_least_distance_of_each_node() {
        let mut state = 11u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for round in 0..60u32 {
            let spacing = 0.01;
            let mut corners: Vec<[[f64; 3]; 3]> = (0..37)
                .map(|_| {
                    let a = [next(), next(), next()].map(|x| x * 0.1);
                    let mut corner = || [0, 1, 2].map(|k| a[k] + next() * 0.05);
                    [a, corner(), corner()]
                })
                .collect();
            // A point, a needle, and a repeat.
            corners[5] = [corners[5][0]; 3];
            corners[6][2] = [0, 1, 2].map(|k| 0.5 * (corners[6][0][k] + corners[6][1][k]));
            corners[7] = corners[8];
            let frames: Vec<TriangleFrame> = corners.iter().map(|t| TriangleFrame::new(*t, 1e-9)).collect();
            let triangles: Vec<Triangle> = frames.iter().map(|f| f.rounded(f.offset)).collect();
            let bases: Vec<Base> = frames.iter().map(TriangleFrame::base).collect();
            let ids: Vec<u32> = (0..37).filter(|n| (n + round) % 3 != 0).collect();
            let size = [0, 1, 2].map(|k| 2 + (round / [1, 4, 16][k]) % 4);
            let center = [0.01, -0.02, 0.003];
            for (small, baseline) in [(true, true), (true, false), (false, true), (false, false)] {
                force_baseline(baseline);
                let of = Surface { triangles: &triangles, bases: &bases, small };
                let mut nodes = LeafNodes::new(size, spacing);
                nodes.all(of, &ids, center);
                for n in 0..nodes.count {
                    let p = [nodes.x[n], nodes.y[n], nodes.z[n]];
                    let to = |&id: &u32| placed(of, id, center).distance_squared(p);
                    let least = ids.iter().map(to).fold(f32::INFINITY, f32::min);
                    assert_eq!(nodes.best[n].to_bits(), least.to_bits(), "node {n} of {size:?}");
                }
                assert_eq!(nodes.count, size.iter().product::<u32>() as usize);
            }
        }
        force_baseline(false);
    }
}
