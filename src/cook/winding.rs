//! Sign of open surfaces by the generalised winding number w (Jacobson et al. 2013): inside is where it exceeds one half.
//!
//! w changes by whole numbers across the surface and slowly elsewhere: no faster than the surface's boundary allows
//! ([`Boundary::steepest`](voxshell_field::sign::Boundary)). So nodes that are joined by uncut edges of the grid have
//! nearly the same w, and one of them decides for all when its w is farther from one half than w can change on the
//! path between them. That decides whole blocks far from the surface, and both sides of the surface in blocks that it
//! passes; the remaining nodes, around the holes, are evaluated one by one.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use rayon::prelude::*;

use voxshell_base::math::{Aabb, Progress, Vec3, Work};
use voxshell_base::memory::{sort_stable_by, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::Result;
use voxshell_field::sign::{Sides, WINDING_ERROR};
use voxshell_field::Grid;
use voxshell_field::{Decided, SignReport, UncertainNode, PLACES, UNCERTAIN};
use voxshell_mesh::WINDING_LANES;

/// Number of nodes along the edge of a block at the start.
const EDGE: u32 = 16;
/// Blocks that the surface passes are processed as a whole from this edge down.
const MIXED: u32 = 8;
/// Where the boundary allows too much change: a block that is this many times its half diagonal away from the surface
/// …
const CLEAR: f64 = 1.5;
/// … is decided when at its corners and centre w is farther than this from one half, on one side: w is harmonic
/// there, so it has no extremum in the block, and is nearly linear.
const MARGIN: f64 = 0.12;
/// Nodes nearer to the surface than this, in cells, count as on it.
const ON_SURFACE: f32 = 1.0e-6;

/// Data of nodes before their sign is known.
pub(super) trait Nodes: Sync {
    /// Returns a distance that is not larger than the distance from the surface, metres.
    fn distance(&self, node: [u32; 3]) -> f32;
    /// Returns whether the surface passes between a node and the next one along an axis.
    fn is_cut(&self, node: [u32; 3], axis: usize) -> bool;
}

/// The nodes of a full grid.
struct Full<'a> {
    grid: &'a Grid,
    values: &'a [f32],
    /// Per node, a bit for each axis.
    cut: &'a [AtomicU8],
}

impl Nodes for Full<'_> {
    fn distance(&self, [i, j, k]: [u32; 3]) -> f32 {
        self.values[self.grid.index(i, j, k)]
    }

    fn is_cut(&self, [i, j, k]: [u32; 3], axis: usize) -> bool {
        self.cut[self.grid.index(i, j, k)].load(Ordering::Relaxed) >> axis & 1 == 1
    }
}

/// Methods that decided the sign of some nodes, with the least certain node.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    decided: Decided,
    uncertain: u64,
    bounds: Aabb,
    /// The least certain of these nodes.
    least_sure: Option<UncertainNode>,
}

impl Tally {
    pub fn new() -> Self {
        Self { decided: Decided::default(), uncertain: 0, bounds: Aabb::empty(), least_sure: None }
    }

    /// Counts `own` nodes by their own winding number and `others` by that of a neighbour.
    fn count(&mut self, own: u64, others: u64) {
        self.decided.winding_number += own;
        self.decided.flooding += others;
    }

    fn add_uncertain(&mut self, node: UncertainNode) {
        if node.margin() < UNCERTAIN {
            self.uncertain += 1;
            self.bounds.include(&node.position);
            if self.least_sure.is_none_or(|d| node.margin() < d.margin()) {
                self.least_sure = Some(node);
            }
        }
    }

    /// Sums the tallies of parts of a grid. The order of the parts does not matter.
    pub fn report<'a>(parts: impl Iterator<Item = &'a Self> + Clone, grid: &Grid, sign: &mut SignReport) {
        for part in parts.clone() {
            sign.decided.winding_number += part.decided.winding_number;
            sign.decided.flooding += part.decided.flooding;
            sign.uncertain_nodes += part.uncertain;
            sign.uncertain_box = sign.uncertain_box.merged(&part.bounds);
        }
        let mut nodes: Vec<UncertainNode> =
            parts.filter_map(|p| p.least_sure).chain(sign.least_sure.iter().flatten().copied()).collect_guarded();
        let order = |d: &UncertainNode| [d.margin(), d.position.x, d.position.y, d.position.z];
        sort_stable_by(&mut nodes, |a, b| {
            order(a).iter().zip(order(b)).fold(std::cmp::Ordering::Equal, |o, (x, y)| o.then(x.total_cmp(&y)))
        });
        let edge = grid.dims.iter().max().map_or(0, |n| n - 1);
        let apart = f64::from(edge) * f64::from(grid.spacing) / 8.0;
        let mut kept: Vec<UncertainNode> = Vec::new();
        for d in nodes {
            if kept.len() < PLACES && kept.iter().all(|k| (k.position - d.position).norm() >= apart) {
                kept.push_guarded(d);
            }
        }
        sign.least_sure = std::array::from_fn(|n| kept.get(n).copied());
    }
}

/// Decides inside and outside, block by block.
pub(super) struct Signs<'a, N> {
    pub grid: &'a Grid,
    /// Origin of the grid's frame, body frame.
    pub center: Vec3,
    pub sides: &'a Sides,
    pub nodes: &'a N,
}

/// Inside bits of the nodes of a block.
type Bits = [u64; (EDGE * EDGE * EDGE / 64) as usize];

/// Makes `values` (unsigned distances) negative inside, and adds the numbers of decided nodes to `report`.
pub(super) fn apply(
    sides: &Sides,
    grid: &Grid,
    center: Vec3,
    cut: &[AtomicU8],
    values: &mut [f32],
    report: &mut SignReport,
    progress: &Progress,
) -> Result<()> {
    let blocks = grid.dims.map(|n| n.div_ceil(EDGE));
    let total = blocks.iter().map(|&n| n as usize).product::<usize>();
    let signs = Signs { grid, center, sides, nodes: &Full { grid, values, cut } };
    let done = AtomicUsize::new(0);
    let found: Vec<(Bits, Tally)> = (0..total)
        .into_par_iter()
        .map(|b| {
            let [nx, ny, _] = blocks.map(|n| n as usize);
            let at = [b % nx, b / nx % ny, b / (nx * ny)].map(|i| i as u32 * EDGE);
            let mut known = Known::new(progress);
            signs.block(at, [0; 3], EDGE, &mut known)?;
            progress.report("sign", done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)?;
            Ok((known.bits, known.tally))
        })
        .try_collect_guarded()?;
    Tally::report(found.iter().map(|(_, tally)| tally), grid, report);
    let (nx, ny) = (grid.dims[0], grid.dims[1]);
    values.par_chunks_mut(nx as usize * ny as usize).enumerate().for_each(|(k, slice)| {
        let k = k as u32;
        for j in 0..ny {
            for i in 0..nx {
                let b = ((k / EDGE) * blocks[1] + j / EDGE) as usize * blocks[0] as usize + (i / EDGE) as usize;
                if found[b].0.get([i % EDGE, j % EDGE, k % EDGE]) && sides.in_box(position(grid, center, [i, j, k])) {
                    let v = &mut slice[j as usize * nx as usize + i as usize];
                    *v = -*v;
                }
            }
        }
    });
    Ok(())
}

/// Returns a node's position, body frame.
pub(super) fn position(grid: &Grid, center: Vec3, node: [u32; 3]) -> Vec3 {
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

/// Results for a block.
struct Known<'a> {
    bits: Bits,
    tally: Tally,
    work: Work<'a>,
}

impl<'a> Known<'a> {
    fn new(progress: &'a Progress<'a>) -> Self {
        Self { bits: Bits::default_bits(), tally: Tally::new(), work: Work::new(progress) }
    }
}

/// Part of a block: nodes `first` to `last`, both included.
struct Part {
    first: [u32; 3],
    last: [u32; 3],
    middle: [u32; 3],
    /// Distance of the farthest node from the middle, metres.
    radius: f64,
    /// Distance of the middle from the surface or less, metres.
    distance: f64,
}

impl Part {
    /// Returns the number of its nodes.
    fn len(&self) -> u64 {
        [0, 1, 2].map(|k| u64::from(self.last[k] - self.first[k] + 1)).iter().product()
    }

    fn corner(&self, o: u32) -> [u32; 3] {
        [0, 1, 2].map(|k| if o >> k & 1 == 1 { self.last[k] } else { self.first[k] })
    }
}

impl<N: Nodes> Signs<'_, N> {
    fn winding(&self, node: [u32; 3], work: &mut Work) -> Result<f64> {
        self.sides.winding_number_counted(position(self.grid, self.center, node), work)
    }

    /// Evaluates nodes one by one, except those on the surface, which are outside.
    fn each(&self, at: [u32; 3], nodes: impl Iterator<Item = [u32; 3]>, known: &mut Known) -> Result<()> {
        let (mut batch, mut count) = ([[0; 3]; WINDING_LANES], 0);
        for node in nodes {
            if self.nodes.distance(node) < ON_SURFACE * self.grid.spacing {
                known.tally.count(0, 1);
                continue;
            }
            batch[count] = node;
            count += 1;
            if count == WINDING_LANES {
                self.evaluate(at, &batch, known)?;
                count = 0;
            }
        }
        self.evaluate(at, &batch[..count], known)
    }

    /// Decides at most [`WINDING_LANES`] nodes by their own winding numbers.
    fn evaluate(&self, at: [u32; 3], nodes: &[[u32; 3]], known: &mut Known) -> Result<()> {
        let mut positions = [Vec3::zeros(); WINDING_LANES];
        for (p, node) in positions.iter_mut().zip(nodes) {
            *p = position(self.grid, self.center, *node);
        }
        let w = self.sides.winding_numbers_counted(&positions[..nodes.len()], &mut known.work)?;
        for ((node, position), winding_number) in nodes.iter().zip(positions).zip(w) {
            if winding_number > 0.5 {
                known.bits.set([0, 1, 2].map(|k| node[k] - at[k]));
            }
            known.tally.count(1, 0);
            known.tally.add_uncertain(UncertainNode { position, winding_number });
        }
        Ok(())
    }

    /// Returns the inside bits of the nodes `at` + 0..8 along each axis, x fastest, a word for each z.
    pub fn tile(&self, at: [u32; 3], progress: &Progress) -> Result<([u64; 8], Tally)> {
        let mut known = Known::new(progress);
        self.block(at, [0; 3], MIXED, &mut known)?;
        let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|z| {
            let inside = |n: u32| {
                let local = [n % 8, n / 8, z];
                let node = [0, 1, 2].map(|k| at[k] + local[k]);
                known.bits.get(local) && self.sides.in_box(position(self.grid, self.center, node))
            };
            (0..64).filter(|&n| inside(n)).fold(0, |word, n| word | 1 << n)
        });
        Ok((words, known.tally))
    }

    /// Decides the nodes `at` + `from` + 0..edge; `edge` is at least 2.
    fn block(&self, at: [u32; 3], from: [u32; 3], edge: u32, known: &mut Known) -> Result<()> {
        let Some(part) = self.part(at, from, edge) else { return Ok(()) };
        let w = match part.distance > part.radius {
            true => self.winding(part.middle, &mut known.work)?,
            false => f64::NAN,
        };
        self.block_of(at, from, edge, &part, w, known)
    }

    /// Returns the nodes `at` + `from` + 0..edge; `None` beyond the grid.
    fn part(&self, at: [u32; 3], from: [u32; 3], edge: u32) -> Option<Part> {
        let first = [0, 1, 2].map(|k| at[k] + from[k]);
        if (0..3).any(|k| first[k] >= self.grid.dims[k]) {
            return None;
        }
        let last = [0, 1, 2].map(|k| (first[k] + edge - 1).min(self.grid.dims[k] - 1));
        let h = f64::from(self.grid.spacing);
        let middle = [0, 1, 2].map(|k| (first[k] + last[k]) / 2);
        let span = |k: usize| f64::from((last[k] - middle[k]).max(middle[k] - first[k]));
        let radius = (span(0).powi(2) + span(1).powi(2) + span(2).powi(2)).sqrt() * h;
        Some(Part { first, last, middle, radius, distance: f64::from(self.nodes.distance(middle)) })
    }

    /// Decides a block. `w`: winding number of its middle if the surface is farther from there than the radius.
    fn block_of(&self, at: [u32; 3], from: [u32; 3], edge: u32, part: &Part, w: f64, known: &mut Known) -> Result<()> {
        let &Part { middle, radius, distance, .. } = part;
        let slope = self.sides.boundary.steepest(&position(self.grid, self.center, middle), radius);
        let mut settled = false;
        if distance > radius {
            let w = w - 0.5;
            let by_one = w.abs() > slope * radius + WINDING_ERROR;
            settled = by_one || distance > CLEAR * radius && w.abs() > MARGIN;
            if settled && !by_one {
                let corners =
                    std::array::from_fn::<_, 8, _>(|o| position(self.grid, self.center, part.corner(o as u32)));
                let of_corners = self.sides.winding_numbers_counted(&corners, &mut known.work)?;
                settled = of_corners[..8].iter().all(|c| (c - 0.5) * w.signum() > MARGIN);
            }
            if settled {
                let own = if by_one { 1 } else { part.len().min(9) };
                known.tally.count(own, part.len() - own);
            }
            if settled && w > 0.0 {
                for k in part.first[2]..=part.last[2] {
                    for j in part.first[1]..=part.last[1] {
                        for i in part.first[0]..=part.last[0] {
                            known.bits.set([i - at[0], j - at[1], k - at[2]]);
                        }
                    }
                }
            }
        } else if edge <= MIXED {
            settled = self.sides_of_surface(at, part, slope * f64::from(self.grid.spacing), edge <= 4, known)?;
        }
        if settled {
            return Ok(());
        }
        if edge == 2 {
            let nodes = (0..8).map(|o| [0, 1, 2].map(|k| part.first[k] + (o >> k & 1)));
            return self.each(at, nodes.filter(|n| (0..3).all(|k| n[k] < self.grid.dims[k])), known);
        }
        self.halves(at, from, edge / 2, known)
    }

    /// Decides the eight blocks of `edge` nodes from `at` + `from` on.
    fn halves(&self, at: [u32; 3], from: [u32; 3], edge: u32, known: &mut Known) -> Result<()> {
        let from: [[u32; 3]; 8] = std::array::from_fn(|o| [0, 1, 2].map(|k| from[k] + (o as u32 >> k & 1) * edge));
        let parts = from.map(|from| self.part(at, from, edge));
        // The winding numbers of all middles that need one.
        let (mut middles, mut count) = ([Vec3::zeros(); 8], 0);
        for part in parts.iter().flatten().filter(|part| part.distance > part.radius) {
            middles[count] = position(self.grid, self.center, part.middle);
            count += 1;
        }
        let w = self.sides.winding_numbers_counted(&middles[..count], &mut known.work)?;
        let mut w = w[..count].iter();
        for (from, part) in from.into_iter().zip(&parts) {
            let Some(part) = part else { continue };
            let w = if part.distance > part.radius { w.next().copied() } else { None };
            self.block_of(at, from, edge, part, w.unwrap_or(f64::NAN), known)?;
        }
        Ok(())
    }

    /// Decides each set of nodes that are joined by uncut edges by one of them; `slope` is the largest change of w
    /// along an edge. Other sets are evaluated node by node, or, unless `all`, left: then the answer is `false`.
    fn sides_of_surface(&self, at: [u32; 3], part: &Part, slope: f64, all: bool, known: &mut Known) -> Result<bool> {
        const SIZE: usize = (MIXED * MIXED * MIXED) as usize;
        let local = |n: [u32; 3]| {
            let d = [0, 1, 2].map(|k| n[k] - part.first[k]);
            ((d[2] * MIXED + d[1]) * MIXED + d[0]) as usize
        };
        let on_surface = |n: [u32; 3]| self.nodes.distance(n) < ON_SURFACE * self.grid.spacing;
        let before = known.tally.decided;
        let mut seen = [false; SIZE];
        // The present set, and the number of edges from its first node to each node.
        let mut set = [([0u32; 3], 0u32); SIZE];
        for k in part.first[2]..=part.last[2] {
            for j in part.first[1]..=part.last[1] {
                for i in part.first[0]..=part.last[0] {
                    let start = [i, j, k];
                    if seen[local(start)] {
                        continue;
                    }
                    seen[local(start)] = true;
                    if on_surface(start) {
                        known.tally.count(0, 1);
                        continue;
                    }
                    set[0] = (start, 0);
                    let (mut next, mut count) = (0, 1);
                    while next < count {
                        let (node, steps) = set[next];
                        next += 1;
                        for axis in 0..3 {
                            let mut join = |lower: [u32; 3], other: [u32; 3]| {
                                if !seen[local(other)] && !self.nodes.is_cut(lower, axis) && !on_surface(other) {
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
                    let w = self.winding(start, &mut known.work)? - 0.5;
                    if w.abs() > slope * f64::from(reach) + WINDING_ERROR {
                        known.tally.count(1, count as u64 - 1);
                        if w > 0.0 {
                            set.iter().for_each(|(n, _)| known.bits.set([0, 1, 2].map(|k| n[k] - at[k])));
                        }
                    } else if all {
                        self.each(at, set.iter().map(|(n, _)| *n), known)?;
                    } else {
                        known.tally.decided = before;
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}
