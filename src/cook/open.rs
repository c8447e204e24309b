//! Inside and outside of an open surface in bricks, and the membranes across its holes.
//!
//! The winding number is evaluated in the tiles of 8³ nodes that the surface passes, and the signs of the bricks'
//! corners are known. From there the membranes, where it passes one half, are followed: a tile is evaluated when a
//! node beside it differs in sign from the corner that stands for the whole tile. Off the surface the winding number
//! is harmonic, so each connected set of nodes of one sign reaches the surface or the border of the grid. Suppose
//! nodes of a tile that is never evaluated differed in sign from its corner. They would be connected to an evaluated
//! tile by nodes of their sign, and the last step of this connection would have caused the evaluation of their tile.
//! So none is missed.

use std::sync::atomic::{AtomicU64, AtomicU8, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::crossings;
use super::lattice::Lattice;
use super::membrane::{corner, Cell, Membrane};
use super::tiles::{Tiles, TILE};
use super::winding::{self, Nodes, Signs, Tally};
use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::{filled, filled_with, par_try_flat_collect, with_capacity, GrowGuarded, ParCollectGuarded};
use voxshell_base::Result;
use voxshell_field::brick::{corners_of, place_of, FineBricks, BAND, CELLS, NODES, STRIDE, VOLUME};
use voxshell_field::sign::Sides;
use voxshell_field::Grid;
use voxshell_field::SignReport;

/// Distances in bricks.
pub(super) struct Distances<'a> {
    /// All nodes of the bricks.
    pub grid: &'a Grid,
    pub bricks: [u32; 3],
    /// Distances at the bricks' corners, metres, unsigned or signed.
    pub coarse: &'a [f32],
    /// Unsigned distances in the bricks in the band.
    pub fine: &'a FineBricks,
    /// Quantum, metres.
    pub quantum: f32,
    /// Largest number of bytes that the triangles of membranes may take.
    pub limit: u64,
}

/// [`Distances`] and the cut edges, by node.
struct Near<'a> {
    of: Distances<'a>,
    sides: &'a Sides,
    center: Vec3,
    /// For each brick its index among the fine ones.
    slot: Vec<u32>,
    /// For each fine brick and node of its tile a bit for each axis: set where the edge to the next node is cut.
    cut: Vec<AtomicU8>,
}

const COARSE: u32 = u32::MAX;
/// Number of nodes of a tile.
const NUMBER: usize = (TILE * TILE * TILE) as usize;
const _: () = assert!(TILE == CELLS);

impl<'a> Near<'a> {
    fn new(
        of: Distances<'a>,
        sides: &'a Sides,
        center: Vec3,
        lattice: &Lattice,
        corners: &[[[f64; 3]; 3]],
        progress: &Progress,
    ) -> Result<Self> {
        let mut slot = filled(COARSE, of.bricks.iter().map(|&n| n as usize).product());
        (0..).zip(&of.fine.bricks).for_each(|(n, &brick)| slot[brick as usize] = n);
        let cut = filled_with(of.fine.bricks.len() * NUMBER, || AtomicU8::new(0));
        let near = Self { of, sides, center, slot, cut };
        crossings::each_cut(lattice, corners, progress, |node, axis| {
            if let Some(place) = near.place(node) {
                near.cut[place].fetch_or(1 << axis, Ordering::Relaxed);
            }
        })?;
        Ok(near)
    }

    /// Returns the distance from the surface, metres.
    fn exact(&self, node: [u32; 3]) -> f32 {
        let p = winding::position(self.of.grid, self.center, node);
        self.sides.bvh.closest_point(p).distance_squared.sqrt() as f32
    }

    fn number(&self, at: [u32; 3]) -> usize {
        let [nx, ny, _] = self.of.bricks.map(|n| n as usize);
        (at[2] as usize * ny + at[1] as usize) * nx + at[0] as usize
    }

    /// Returns the index of a node in `cut`.
    fn place(&self, node: [u32; 3]) -> Option<usize> {
        let at = node.map(|i| i / TILE);
        let own = (0..3).all(|k| at[k] < self.of.bricks[k]);
        let slot = own.then(|| self.slot[self.number(at)]).filter(|&s| s != COARSE)?;
        let [x, y, z] = node.map(|i| (i % TILE) as usize);
        Some(slot as usize * NUMBER + (z * TILE as usize + y) * TILE as usize + x)
    }
}

impl Nodes for Near<'_> {
    fn distance(&self, node: [u32; 3]) -> f32 {
        let Distances { grid, bricks, coarse, fine, quantum, .. } = &self.of;
        let at = [0, 1, 2].map(|k| (node[k] / CELLS).min(bricks[k] - 1));
        let local = [0, 1, 2].map(|k| node[k] - at[k] * CELLS);
        let slot = self.slot[self.number(at)];
        if slot != COARSE {
            let n = ((local[2] * NODES + local[1]) * NODES + local[0]) as usize;
            return match fine.samples[slot as usize * STRIDE + n] {
                // Perhaps on the surface.
                0 => self.exact(node),
                // Rounded to the nearest quantum.
                s => (f32::from(s) - 0.501) * quantum,
            };
        }
        let from = |c: usize, d: f32| {
            let to = [0, 1, 2].map(|k| local[k].abs_diff((c as u32 >> k & 1) * CELLS) as f32);
            d.abs() - (to[0] * to[0] + to[1] * to[1] + to[2] * to[2]).sqrt() * 1.0001 * grid.spacing
        };
        let by_corners = (0..8).zip(corners_of(*bricks, at)).map(|(c, n)| from(c, coarse[n]));
        by_corners.fold(BAND * grid.spacing, f32::max)
    }

    fn is_cut(&self, node: [u32; 3], axis: usize) -> bool {
        // On the grid's upper sides, which belong to no brick, nothing is known.
        let beyond = (0..3).any(|k| node[k] / TILE == self.of.bricks[k]);
        beyond || self.place(node).is_some_and(|n| self.cut[n].load(Ordering::Relaxed) >> axis & 1 == 1)
    }
}

/// An open surface in bricks.
pub(super) struct Open {
    /// Nodes that are inside.
    pub inside: Tiles,
    /// Membranes, lattice frame and units.
    pub sheets: Corners,
    /// The triangles of the membranes within [`RIM`] of the surface.
    pub rim: Corners,
}

/// Distance from the surface, cells.
const RIM: f32 = 6.0;

impl Open {
    /// `distances.coarse`: signed; `corners`: the repaired soup's triangles in the lattice's frame. Adds the numbers
    /// of decided nodes to `report`.
    pub fn new(
        sides: &Sides,
        distances: Distances,
        lattice: &Lattice,
        corners: &[[[f64; 3]; 3]],
        center: Vec3,
        report: &mut SignReport,
        progress: &Progress,
    ) -> Result<Self> {
        let near = Near::new(distances, sides, center, lattice, corners, progress)?;
        let Distances { grid, coarse, fine, bricks, .. } = near.of;
        // A tile's first node is a corner of bricks, and each corner is the first node of one tile.
        let mut inside = Tiles::uniform(grid.dims, |tile| coarse[tile] < 0.0);
        let signs = Signs { grid, center, sides, nodes: &near };
        let mut front = first_front(&inside, fine, bricks);
        let mut seen = filled(false, inside.len());
        front.iter().for_each(|&tile| seen[tile] = true);
        let (mut tallies, done) = (Vec::new(), AtomicUsize::new(0));
        while !front.is_empty() {
            let found: Vec<([u64; 8], Tally)> = front
                .par_iter()
                .map(|&tile| {
                    let (mut bits, tally) = signs.tile(inside.place(tile).map(|i| i * TILE), progress)?;
                    // The first node was decided before, together with the other corners.
                    bits[0] = bits[0] & !1 | u64::from(coarse[tile] < 0.0);
                    let done = done.fetch_add(1, Ordering::Relaxed);
                    progress.report("sign", 0.5 + 0.5 * (done as f64 / seen.len() as f64).min(1.0))?;
                    Ok((bits, tally))
                })
                .try_collect_guarded()?;
            for (&tile, (bits, tally)) in front.iter().zip(found) {
                inside.set_bits(tile, bits);
                tallies.push_guarded(tally);
            }
            let mut next = Vec::new();
            for other in front.iter().flat_map(|&tile| inside.unlike(tile)) {
                if !std::mem::replace(&mut seen[other], true) {
                    next.push_guarded(other);
                }
            }
            next.sort_unstable();
            front = next;
        }
        Tally::report(tallies.iter(), grid, report);
        report.decided.flooding += (inside.len() - inside.mixed()) as u64;
        let (limit, count) = (near.of.limit, AtomicU64::new(0));
        let membrane = Membrane { sides, lattice, center, spacing: grid.spacing, limit, count };
        let (sheets, rim) = sheets(&membrane, &near, &inside, progress)?;
        Ok(Self { inside, sheets, rim })
    }

    /// Makes samples negative inside.
    pub fn apply(&self, bricks: [u32; 3], fine: &mut FineBricks) {
        fine.samples.par_chunks_exact_mut(STRIDE).zip(&fine.bricks).for_each(|(samples, &brick)| {
            let first = place_of(brick as usize, bricks).map(|i| i * CELLS);
            for (n, v) in (0..).zip(&mut samples[..VOLUME]) {
                let local = [n % NODES, n / NODES % NODES, n / (NODES * NODES)];
                if self.inside.get([0, 1, 2].map(|k| first[k] + local[k])) {
                    *v = -*v;
                }
            }
        });
    }
}

/// Returns the tiles of bricks in the band, and the tiles beside a tile whose corner has the other sign.
fn first_front(inside: &Tiles, fine: &FineBricks, bricks: [u32; 3]) -> Vec<usize> {
    let mut front: Vec<usize> = Vec::new();
    for &brick in &fine.bricks {
        let at = place_of(brick as usize, bricks);
        // The nodes on the grid's upper sides are tiles of their own.
        let last = [0, 1, 2].map(|k| u32::from(at[k] + 1 == bricks[k]));
        let with_last = (0..8u32).filter(|o| (0..3).all(|k| o >> k & 1 <= last[k]));
        front.extend_guarded(with_last.filter_map(|o| inside.tile([0, 1, 2].map(|k| i64::from(at[k] + (o >> k & 1))))));
    }
    for tile in 0..inside.len() {
        for axis in 0..3 {
            let mut next = inside.place(tile).map(i64::from);
            next[axis] += 1;
            if let Some(next) = inside.tile(next).filter(|&n| inside.one_value(n) != inside.one_value(tile)) {
                front.extend_guarded([tile, next]);
            }
        }
    }
    front.sort_unstable();
    front.dedup();
    front
}

/// Triangles, lattice frame and units.
type Corners = Vec<[[f64; 3]; 3]>;

/// Returns the membranes' triangles, in the cells above the nodes of all tiles where signs may differ: all, and those
/// at the rim.
fn sheets(membrane: &Membrane, near: &Near, inside: &Tiles, progress: &Progress) -> Result<(Corners, Corners)> {
    let bricks = near.of.bricks;
    let number = bricks.iter().map(|&n| n as usize).product::<usize>();
    let found: Vec<(Corners, Corners)> = par_try_flat_collect(number, 8, |brick, found| {
        let at = place_of(brick, bricks);
        let mixed = (0..8u32).any(|o| {
            let tile = inside.tile([0, 1, 2].map(|k| i64::from(at[k] + (o >> k & 1))));
            tile.is_some_and(|tile| inside.one_value(tile).is_none())
        });
        if mixed {
            found.push_guarded(sheets_in(membrane, near, inside, at.map(|i| i * CELLS), &mut Work::new(progress))?);
        }
        Ok(())
    })?;
    let room = |n: fn(&(Corners, Corners)) -> usize| with_capacity(found.iter().map(n).sum());
    let (mut all, mut rim) = (room(|f| f.0.len()), room(|f| f.1.len()));
    for (mut a, mut r) in found {
        all.append_guarded(&mut a);
        rim.append_guarded(&mut r);
    }
    Ok((all, rim))
}

/// Appends the triangles in the brick whose first node is `first`.
fn sheets_in(
    membrane: &Membrane,
    near: &Near,
    inside: &Tiles,
    first: [u32; 3],
    work: &mut Work,
) -> Result<(Corners, Corners)> {
    let mut cells = Vec::new();
    let within: [bool; VOLUME] = std::array::from_fn(|n| {
        let n = n as u32;
        let local = [n % NODES, n / NODES % NODES, n / (NODES * NODES)];
        inside.get([0, 1, 2].map(|k| first[k] + local[k]))
    });
    let quantum = near.of.quantum;
    for n in 0..CELLS * CELLS * CELLS {
        let local = [n % CELLS, n / CELLS % CELLS, n / (CELLS * CELLS)];
        let side: [bool; 8] = std::array::from_fn(|c| {
            let [x, y, z] = corner(local, c);
            within[((z * NODES + y) * NODES + x) as usize]
        });
        if side == [side[0]; 8] {
            continue;
        }
        let node = [0, 1, 2].map(|k| first[k] + local[k]);
        let signed = |c: usize, d: f32| if side[c] { -d } else { d };
        let v: [f32; 8] = std::array::from_fn(|c| signed(c, near.distance(corner(node, c))));
        // Samples are lower than the distance by at most a quantum.
        if !membrane.may_have(&v, 1.01 * quantum) {
            continue;
        }
        let exact = std::array::from_fn(|c| {
            if v[c].abs() > membrane.clear() {
                return v[c];
            }
            signed(c, near.exact(corner(node, c)))
        });
        if membrane.may_have(&exact, 0.0) {
            cells.push_guarded(Cell { node, v: exact });
        }
    }
    let (mut all, mut rim) = (Vec::new(), Vec::new());
    membrane.triangles(&cells, work, |cell, found| {
        all.extend_guarded(found.iter().copied());
        if cell.v.iter().any(|d| d.abs() < RIM * membrane.spacing) {
            rim.extend_guarded(found.iter().copied());
        }
    })?;
    Ok((all, rim))
}
