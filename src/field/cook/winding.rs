//! Sign of open surfaces by the generalised winding number w (Jacobson et al. 2013): inside is where it exceeds one half.
//!
//! w changes by whole numbers across the surface and slowly elsewhere: no faster than the surface's boundary allows
//! ([`Boundary::steepest`](super::super::sign::Boundary)). So nodes that are joined by edges of the grid which the surface
//! does not cut have nearly the same w, and one of them speaks for all when its w is farther from one half than it can
//! change on the way. That settles whole blocks far from the surface and both sides of it in blocks that it passes;
//! what is left, around the holes, is evaluated node by node.

use std::sync::atomic::{AtomicU64, AtomicU8, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::sign::{Sides, WINDING_ERROR};
use super::super::Grid;
use crate::math::{Progress, Vec3};
use crate::Result;

/// Nodes along the edge of a block at the start.
const EDGE: u32 = 16;
/// Blocks that the surface passes are looked at as a whole from this edge down.
const MIXED: u32 = 8;
/// Where the boundary allows too much: a block that is this many times its half diagonal away from the surface …
const CLEAR: f64 = 1.5;
/// … is settled when at its corners and centre w is farther than this from one half, on one side: w is harmonic there,
/// so it has no extremum in the block, and is all but linear.
const MARGIN: f64 = 0.12;
/// Evaluated nodes this close to one half are counted as uncertain.
const UNCERTAIN: f64 = 0.1;
/// Nodes nearer to the surface than this, in cells, are on it.
const ON_SURFACE: f32 = 1.0e-6;

struct Signs<'a> {
    grid: &'a Grid,
    center: Vec3,
    sides: &'a Sides,
    /// Per node, a bit for each axis: the edge to the next node is cut.
    cut: &'a [AtomicU8],
    values: &'a [f32],
    uncertain: AtomicU64,
}

/// Inside or not, for the nodes of a block.
type Bits = [u64; (EDGE * EDGE * EDGE / 64) as usize];

/// Makes `values` (unsigned distances) negative inside; gives the number of uncertain nodes.
pub(super) fn apply(
    sides: &Sides,
    grid: &Grid,
    center: Vec3,
    cut: &[AtomicU8],
    values: &mut [f32],
    progress: &Progress,
) -> Result<u64> {
    let blocks = grid.dims.map(|n| n.div_ceil(EDGE));
    let total = blocks.iter().map(|&n| n as usize).product::<usize>();
    let signs = Signs { grid, center, sides, cut, values, uncertain: AtomicU64::new(0) };
    let done = AtomicUsize::new(0);
    let inside: Vec<Bits> = (0..total)
        .into_par_iter()
        .map(|b| {
            let [nx, ny, _] = blocks.map(|n| n as usize);
            let at = [b % nx, b / nx % ny, b / (nx * ny)].map(|i| i as u32 * EDGE);
            let mut bits = Bits::default_bits();
            signs.block(at, [0; 3], EDGE, &mut bits);
            progress.report("sign", done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)?;
            Ok(bits)
        })
        .collect::<Result<_>>()?;
    let uncertain = signs.uncertain.load(Ordering::Relaxed);
    let (nx, ny) = (grid.dims[0], grid.dims[1]);
    values.par_chunks_mut(nx as usize * ny as usize).enumerate().for_each(|(k, slice)| {
        let k = k as u32;
        for j in 0..ny {
            for i in 0..nx {
                let b = ((k / EDGE) * blocks[1] + j / EDGE) as usize * blocks[0] as usize + (i / EDGE) as usize;
                if inside[b].get([i % EDGE, j % EDGE, k % EDGE]) && sides.in_box(position(grid, center, [i, j, k])) {
                    let v = &mut slice[j as usize * nx as usize + i as usize];
                    *v = -*v;
                }
            }
        }
    });
    Ok(uncertain)
}

/// A node's position, body frame.
fn position(grid: &Grid, center: Vec3, node: [u32; 3]) -> Vec3 {
    let h = f64::from(grid.spacing);
    Vec3::from([0, 1, 2].map(|k| f64::from(grid.min[k]) + f64::from(node[k]) * h)) + center
}

trait Flags {
    fn default_bits() -> Self;
    fn place(node: [u32; 3]) -> (usize, u64) {
        let n = (node[2] * EDGE + node[1]) * EDGE + node[0];
        (n as usize / 64, 1 << (n % 64))
    }
    fn get(&self, node: [u32; 3]) -> bool;
    fn set(&mut self, node: [u32; 3]);
}

impl Flags for Bits {
    fn default_bits() -> Self {
        [0; (EDGE * EDGE * EDGE / 64) as usize]
    }
    fn get(&self, node: [u32; 3]) -> bool {
        let (word, bit) = Self::place(node);
        self[word] & bit != 0
    }
    fn set(&mut self, node: [u32; 3]) {
        let (word, bit) = Self::place(node);
        self[word] |= bit;
    }
}

/// Part of a block: nodes `first` to `last`, both included.
struct Part {
    first: [u32; 3],
    last: [u32; 3],
}

impl Part {
    fn corner(&self, o: u32) -> [u32; 3] {
        [0, 1, 2].map(|k| if o >> k & 1 == 1 { self.last[k] } else { self.first[k] })
    }
}

impl Signs<'_> {
    fn winding(&self, node: [u32; 3]) -> f64 {
        self.sides.winding_number(position(self.grid, self.center, node))
    }

    fn distance(&self, node: [u32; 3]) -> f32 {
        self.values[self.grid.index(node[0], node[1], node[2])]
    }

    fn single(&self, at: [u32; 3], node: [u32; 3], bits: &mut Bits) {
        if self.distance(node) < ON_SURFACE * self.grid.spacing {
            return;
        }
        let w = self.winding(node);
        if w > 0.5 {
            bits.set([0, 1, 2].map(|k| node[k] - at[k]));
        }
        if (w - 0.5).abs() < UNCERTAIN {
            self.uncertain.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Settles nodes `at` + `from` + 0..edge.
    fn block(&self, at: [u32; 3], from: [u32; 3], edge: u32, bits: &mut Bits) {
        let first = [0, 1, 2].map(|k| at[k] + from[k]);
        if (0..3).any(|k| first[k] >= self.grid.dims[k]) {
            return;
        }
        let part = Part { first, last: [0, 1, 2].map(|k| (first[k] + edge - 1).min(self.grid.dims[k] - 1)) };
        if edge == 1 {
            return self.single(at, first, bits);
        }
        let h = f64::from(self.grid.spacing);
        let middle = [0, 1, 2].map(|k| (part.first[k] + part.last[k]) / 2);
        let span = |k: usize| f64::from((part.last[k] - middle[k]).max(middle[k] - part.first[k]));
        let radius = (span(0).powi(2) + span(1).powi(2) + span(2).powi(2)).sqrt() * h;
        let slope = self.sides.boundary.steepest(&position(self.grid, self.center, middle), radius);
        let distance = f64::from(self.distance(middle));
        let mut settled = false;
        if distance > radius {
            let w = self.winding(middle) - 0.5;
            settled = w.abs() > slope * radius + WINDING_ERROR
                || distance > CLEAR * radius
                    && w.abs() > MARGIN
                    && (0..8).all(|o| (self.winding(part.corner(o)) - 0.5) * w.signum() > MARGIN);
            if settled && w > 0.0 {
                for k in part.first[2]..=part.last[2] {
                    for j in part.first[1]..=part.last[1] {
                        for i in part.first[0]..=part.last[0] {
                            bits.set([i - at[0], j - at[1], k - at[2]]);
                        }
                    }
                }
            }
        } else if edge <= MIXED {
            settled = self.sides_of_surface(at, &part, slope * h, edge <= 4, bits);
        }
        if !settled {
            let half = edge / 2;
            for o in 0..8 {
                self.block(at, [0, 1, 2].map(|k| from[k] + (o >> k & 1) * half), half, bits);
            }
        }
    }

    /// Settles each set of nodes that are joined by uncut edges by one of them; `slope` is the most that w can change
    /// along an edge. Sets that cannot be settled so are evaluated node by node, or, unless `all`, left: then the answer
    /// is `false`.
    fn sides_of_surface(&self, at: [u32; 3], part: &Part, slope: f64, all: bool, bits: &mut Bits) -> bool {
        const SIZE: usize = (MIXED * MIXED * MIXED) as usize;
        let local = |n: [u32; 3]| {
            let d = [0, 1, 2].map(|k| n[k] - part.first[k]);
            ((d[2] * MIXED + d[1]) * MIXED + d[0]) as usize
        };
        let index = |n: [u32; 3]| self.grid.index(n[0], n[1], n[2]);
        let mut seen = [false; SIZE];
        // The set in hand, and how many edges each node is from the first.
        let mut set = [([0u32; 3], 0u32); SIZE];
        for k in part.first[2]..=part.last[2] {
            for j in part.first[1]..=part.last[1] {
                for i in part.first[0]..=part.last[0] {
                    let start = [i, j, k];
                    if seen[local(start)] {
                        continue;
                    }
                    seen[local(start)] = true;
                    if self.distance(start) < ON_SURFACE * self.grid.spacing {
                        continue;
                    }
                    set[0] = (start, 0);
                    let (mut next, mut count) = (0, 1);
                    while next < count {
                        let (node, steps) = set[next];
                        next += 1;
                        for axis in 0..3 {
                            let mut join = |lower: [u32; 3], other: [u32; 3]| {
                                let free = self.cut[index(lower)].load(Ordering::Relaxed) >> axis & 1 == 0;
                                if free && !seen[local(other)] && self.distance(other) >= ON_SURFACE * self.grid.spacing
                                {
                                    seen[local(other)] = true;
                                    set[count] = (other, steps + 1);
                                    count += 1;
                                }
                            };
                            let mut other = node;
                            if node[axis] > part.first[axis] {
                                other[axis] -= 1;
                                join(other, other);
                            }
                            if node[axis] < part.last[axis] {
                                other[axis] = node[axis] + 1;
                                join(node, other);
                            }
                        }
                    }
                    let set = &set[..count];
                    let reach = set.last().map_or(0, |s| s.1);
                    let w = self.winding(start) - 0.5;
                    if w.abs() > slope * f64::from(reach) + WINDING_ERROR {
                        if w > 0.0 {
                            set.iter().for_each(|(n, _)| bits.set([0, 1, 2].map(|k| n[k] - at[k])));
                        }
                    } else if all {
                        set.iter().for_each(|(n, _)| self.single(at, *n, bits));
                    } else {
                        return false;
                    }
                }
            }
        }
        true
    }
}
