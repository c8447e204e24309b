//! Exact unsigned distance at every node of a grid, by recursive culling of blocks of nodes.
//!
//! For a block of nodes with centre c take any triangle j and its distances D_k to the block's corners c + δ_k. The
//! distance to a triangle (or to a box around several) is convex, so with its value d_i and unit gradient g_i at c it
//! is at least d_i + g_i·δ everywhere. The distance to j is convex too, so it exceeds that affine function in the
//! block only if it exceeds it at a corner. So when max_k (D_k − g_i·δ_k) ≤ d_i, triangle i is nowhere closer than j
//! and is dropped for the whole block. Halving blocks from 32 or more nodes to 4 leaves a handful of triangles for
//! each node.
//!
//! Boxes around eight triangles are culled first (`boxes`); single triangles are culled when few boxes or small
//! blocks are left. Triangles that are small relative to the blocks are culled by their boxes, too, which is cheap
//! and equally effective; the others as above. Culling is f32 and keeps everything within [`EPS`] of a tie. The last
//! step computes the remaining triangles from f64 data relative to the block, so that the rounding of a distance is
//! relative to that distance. Each node depends only on its block: the result is the same on any number of threads.
//!
//! This module has the steps for a block; `grid` runs them over a whole grid, `bricks` over the region near the
//! surface.

mod boxes;
mod bricks;
mod frame;
mod grid;
mod leaf;

use std::cell::Cell;

use rayon::prelude::*;

use super::lattice::Lattice;
use boxes::{Boxes, Rival};
pub(super) use bricks::Band;
use frame::{Frame, EPS};
use leaf::{LeafNodes, Surface, LEAF};
use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::wide;
use voxshell_base::Result;
use voxshell_field::triangle::{cluster, Base, Packet, Triangle, TriangleFrame, LANES};

/// Triangles thinner than this, in the same units, are thickened to it.
const FLOOR: f64 = 1.0e-9;
/// Lists of at most this many boxes are opened into triangles.
const FEW_BOXES: usize = 24;
/// Blocks of at most this many nodes along an edge are always culled by triangles.
const TRIANGLE_BLOCK: u32 = 8;
/// Triangles count as small when the mean size of their boxes is at most this many cells ...
const SMALL: f32 = 3.0;
/// ... and the surface is at most this many cells from the block's centre: beyond that, the excess of a box over its
/// triangle hides more.
const NEAR: f32 = 16.0;
/// Small triangles farther than this many cells from a block of four or five nodes along an edge are then treated as
/// large.
const FAR: f32 = 4.0;
/// Blocks of 4³ nodes with more triangles than this are halved once more.
const LEAF_TRIANGLES: usize = 28;

/// The triangles, in clusters of eight that are close together.
pub(super) struct Culler {
    /// Triangle `lane` of cluster `c` is number `c * LANES + lane`.
    bases: Vec<Base>,
    triangles: Vec<Triangle>,
    /// Boxes around each triangle, and around the triangles of each cluster.
    boxes: Boxes,
    clusters: Boxes,
}

impl Culler {
    /// Returns a culler of `corners`: the triangles in the frame and units of the lattice whose nodes will be
    /// computed.
    pub fn new(corners: &[[[f64; 3]; 3]]) -> Self {
        let order = cluster(corners);
        let both = order.par_iter().map(|&t| {
            let frame = TriangleFrame::new(corners[t as usize], FLOOR);
            (frame.base(), frame.rounded(frame.offset))
        });
        let (bases, triangles) = both.unzip_guarded();
        let (boxes, clusters) = (Boxes::around(corners, &order, 1), Boxes::around(corners, &order, LANES));
        Self { bases, triangles, boxes, clusters }
    }

    /// Returns the bytes for `triangles` triangles while cooking. An upper bound: it counts a whole frame and a packet for
    /// each triangle, so that a memory limit admits the same meshes as before these were dropped.
    pub fn bytes(triangles: u64) -> u64 {
        let frame = size_of::<TriangleFrame>() + size_of::<Triangle>();
        let each = frame + size_of::<[[f64; 3]; 3]>() + size_of::<[f64; 3]>() + 4;
        let packets = triangles.div_ceil(LANES as u64);
        triangles * each as u64 + packets * size_of::<Packet>() as u64 + Boxes::bytes(triangles) + Boxes::bytes(packets)
    }
}

/// Triangles that may be closest somewhere in a block.
#[derive(Default)]
struct List {
    packets: Vec<Packet>,
    ids: Vec<u32>,
}

impl List {
    fn clear(&mut self) {
        self.packets.clear();
        self.ids.clear();
    }

    /// Sets `self` to the triangles `ids`.
    fn fill(&mut self, culler: &Culler, ids: &[u32]) {
        self.clear();
        self.ids.extend_guarded(ids.iter().copied());
        for group in ids.chunks(LANES) {
            let mut packet = Packet::FAR;
            group.iter().enumerate().for_each(|(lane, &id)| packet.set(lane, &culler.triangles[id as usize]));
            self.packets.push_guarded(packet);
        }
    }

    /// Sets `self` to the triangles of `from` at `places`: their numbers, and their packets if there are more than `few`.
    fn take(&mut self, from: &Self, places: &[u32], few: usize) {
        self.clear();
        self.ids.extend_guarded(places.iter().map(|&place| from.ids[place as usize]));
        if places.len() <= few {
            return;
        }
        for group in places.chunks(LANES) {
            let mut packet = Packet::FAR;
            for (lane, &place) in group.iter().enumerate() {
                let source = &from.packets[place as usize / LANES];
                for (to, from) in packet.fields.iter_mut().zip(&source.fields) {
                    to[lane] = from[place as usize % LANES];
                }
            }
            self.packets.push_guarded(packet);
        }
    }
}

/// Distance and unit gradient at a block's centre, for eight triangles.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct AtCenter {
    d: [f32; LANES],
    g: [[f32; LANES]; 3],
}

wide! {
    /// Computes distances and gradients at `c` of all triangles of a list; returns the distance and the number of the
    /// closest.
    fn at_center(packets: &[Packet], c: [f32; 3], out: &mut Vec<AtCenter>) -> (f32, usize) {
        out.clear();
        let mut best = [f32::INFINITY; LANES];
        let mut which = [0u32; LANES];
        for (i, packet) in packets.iter().enumerate() {
            let mut a = AtCenter { d: [0.0; LANES], g: [[0.0; LANES]; 3] };
            for lane in 0..LANES {
                let (v, squared) = packet.get(lane).off_closest(c);
                let d = squared.sqrt();
                let inverse = 1.0 / (if d > 1.0e-20 { d } else { 1.0e-20 });
                a.d[lane] = d;
                for k in 0..3 {
                    a.g[k][lane] = v[k] * inverse;
                }
            }
            for lane in 0..LANES {
                let closer = a.d[lane] < best[lane];
                best[lane] = if closer { a.d[lane] } else { best[lane] };
                which[lane] = if closer { i as u32 } else { which[lane] };
            }
            out.push_guarded(a);
        }
        let lane = (1..LANES).fold(0, |b, l| if best[l] < best[b] { l } else { b });
        (best[lane], which[lane] as usize * LANES + lane)
    }
}

wide! {
    /// Writes the positions of the triangles that may be closest somewhere in the block to `chosen`, of `count` triangles;
    /// returns their number.
    fn keep(frame: Frame, corners: &[f32; 8], at: &[AtCenter], count: usize, chosen: &mut [u32]) -> usize {
        let mut kept = 0;
        for (p, a) in at.iter().enumerate() {
            let mut over = [0.0f32; LANES];
            for lane in 0..LANES {
                let w = frame.largest(corners, [a.g[0][lane], a.g[1][lane], a.g[2][lane]]);
                let d = a.d[lane];
                let inverse = 1.0 / (if d > 1.0e-20 { d } else { 1.0e-20 });
                over[lane] = (w + frame.slack(inverse)) - d;
            }
            let Some(room) = chosen.get_mut(kept..kept + LANES) else { break };
            let mut more = 0;
            for lane in 0..LANES {
                let place = p * LANES + lane;
                room[more & (LANES - 1)] = place as u32;
                // Lanes without a triangle come last.
                more += usize::from(over[lane] > 0.0 && place < count);
            }
            kept += more;
        }
        kept
    }
}

/// Method by which the triangles of a list are culled.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// By their boxes: lists in `Worker::small`.
    Small,
    /// By distance and gradient: lists in `Worker::lists`.
    Large,
}

/// Scratch memory of one thread, and the steps of culling. Lists are by depth: a step reads the lists of one depth
/// and writes those of the next.
struct Worker<'a> {
    culler: &'a Culler,
    lattice: &'a Lattice,
    boxes: Vec<Boxes>,
    small: Vec<Boxes>,
    lists: Vec<List>,
    at: Vec<AtCenter>,
    distances: Vec<f32>,
    /// Positions in a list.
    chosen: Vec<u32>,
    /// Number of boxes and triangles visited and not yet counted.
    looked_at: Cell<usize>,
    work: Work<'a>,
}

impl<'a> Worker<'a> {
    /// `boxes` at depth 0 must be filled: with the boxes of the whole surface, or of a sufficient part.
    fn new(culler: &'a Culler, lattice: &'a Lattice, progress: &'a Progress<'a>) -> Self {
        let [boxes, small] = [34, 40].map(|depths| (0..depths).map(|_| Boxes::default()).collect_guarded());
        let lists = (0..40).map(|_| List::default()).collect_guarded();
        let (looked_at, work) = (Cell::new(0), Work::new(progress));
        let (at, distances, chosen) = (Vec::new(), Vec::new(), Vec::new());
        Self { culler, lattice, boxes, small, lists, at, distances, chosen, looked_at, work }
    }

    /// Counts the work of the steps since the last call.
    fn count(&mut self) -> Result<()> {
        self.work.add(1 + self.looked_at.take() as u64)
    }

    fn look_at(&self, items: usize) {
        self.looked_at.set(self.looked_at.get() + items);
    }

    /// Returns the frame of `nodes` nodes along the axes from `at`.
    fn frame(&self, at: [u32; 3], nodes: [u32; 3]) -> Frame {
        let (lattice, mut center, mut half) = (self.lattice, [0.0; 3], [0.0; 3]);
        for k in 0..3 {
            let span = f64::from(nodes[k] - 1) * 0.5;
            center[k] = (lattice.min[k] + (f64::from(at[k]) + span) * lattice.spacing) as f32;
            half[k] = (span * lattice.spacing) as f32;
        }
        Frame { center, half }
    }

    /// Returns the distances from one triangle to the block's corners.
    fn corner_distances(frame: &Frame, packet: &Packet, lane: usize) -> [f32; 8] {
        let t = packet.get(lane);
        let mut out = [0.0; 8];
        for (k, o) in out.iter_mut().enumerate() {
            let side = |a: usize| if k >> a & 1 == 1 { frame.half[a] } else { -frame.half[a] };
            let p = [frame.center[0] + side(0), frame.center[1] + side(1), frame.center[2] + side(2)];
            *o = t.distance_squared(p).sqrt();
        }
        out
    }

    /// Returns the point of triangle `id` that is closest to `c`.
    fn closest_of(&self, id: usize, c: [f32; 3]) -> [f32; 3] {
        let (v, _) = self.culler.triangles[id].off_closest(c);
        [0, 1, 2].map(|k| c[k] - v[k])
    }

    /// Returns the closest point to the block's centre of the triangles in the boxes of `depth`, and its distance.
    fn closest(&mut self, depth: usize, frame: &Frame) -> (f32, [f32; 3]) {
        let (triangles, c, boxes) = (&self.culler.triangles, frame.center, &self.boxes[depth]);
        let (_, nearest) = boxes.off(c, &mut self.distances);
        let mut best = (f32::INFINITY, 0);
        self.look_at(boxes.ids.len());
        let mut look = |place: usize| {
            self.look_at(1);
            let first = boxes.ids[place] as usize * LANES;
            for (id, t) in triangles.iter().enumerate().skip(first).take(LANES) {
                let d = t.distance_squared(c);
                if d < best.0 {
                    best = (d, id);
                }
            }
            best.0
        };
        let mut limit = look(nearest);
        for (place, &d) in self.distances[..boxes.ids.len()].iter().enumerate() {
            if d < limit && place != nearest {
                limit = look(place);
            }
        }
        (best.0.sqrt(), self.closest_of(best.1, c))
    }

    /// Keeps the boxes of `depth` that may hold the closest triangle of some node; `q` is any point of the surface.
    fn keep_boxes(&mut self, depth: usize, frame: &Frame, q: [f32; 3]) {
        self.look_at(self.boxes[depth].ids.len());
        let (from, to) = self.boxes.split_at_mut(depth + 1);
        to[0].keep(&Rival::new(frame, q), &from[depth], 0);
    }

    /// Fills the list of depth 0 with the triangles of the boxes of `depth` that may be closest somewhere in the
    /// block. The last argument is the result of `closest`.
    fn open_boxes(&mut self, depth: usize, frame: &Frame, (distance, q): (f32, [f32; 3])) -> Kind {
        self.look_at(self.boxes[depth].ids.len() * LANES);
        let (culler, small) = (self.culler, &mut self.small[0]);
        small.keep_of_groups(&Rival::new(frame, q), &culler.boxes, &self.boxes[depth].ids);
        let sizes: f32 = (0..small.ids.len()).map(|i| small.size(i)).sum();
        let unit = self.lattice.spacing as f32;
        if sizes <= small.ids.len() as f32 * SMALL * unit && distance <= NEAR * unit {
            return Kind::Small;
        }
        self.lists[0].fill(culler, &small.ids);
        Kind::Large
    }

    /// Keeps the triangles of the list of `depth` that may be closest to some node, in the list of the next depth.
    /// Returns the kind of that list, and a lower bound of the distance of all triangles from the block's centre. If at
    /// most `few` are left, the list has their numbers alone, which suffice for a leaf.
    fn keep_triangles(&mut self, kind: Kind, depth: usize, frame: &Frame, few: usize) -> (Kind, f32) {
        self.look_at(2 * self.list(kind, depth).len());
        if kind == Kind::Small {
            let (squared, nearest) = self.small[depth].off(frame.center, &mut self.distances);
            let q = self.closest_of(self.small[depth].ids[nearest] as usize, frame.center);
            let (from, to) = self.small.split_at_mut(depth + 1);
            let distance = squared.sqrt();
            let unit = self.lattice.spacing as f32;
            let stays = distance < FAR * unit || frame.half[0] > 2.5 * unit || frame.half[0] < 1.2 * unit;
            to[0].keep(&Rival::new(frame, q), &from[depth], if stays { few } else { usize::MAX });
            if stays {
                return (Kind::Small, distance);
            }
            let list = &mut self.lists[depth];
            list.fill(self.culler, &to[0].ids);
        }
        let (from, to) = self.lists.split_at_mut(depth + 1);
        let (from, kept) = (&from[depth], &mut to[0]);
        let (distance, best) = at_center(&from.packets, frame.center, &mut self.at);
        let corners = Self::corner_distances(frame, &from.packets[best / LANES], best % LANES);
        self.chosen.resize_guarded((self.at.len() + 1) * LANES, 0);
        let count = keep(*frame, &corners, &self.at, from.ids.len(), &mut self.chosen);
        kept.take(from, &self.chosen[..count], few);
        (Kind::Large, distance)
    }

    /// Returns the triangles of a list.
    fn list(&self, kind: Kind, depth: usize) -> &[u32] {
        match kind {
            Kind::Small => &self.small[depth].ids,
            Kind::Large => &self.lists[depth].ids,
        }
    }

    /// Computes the squared distances, lattice units, at the `nodes` of a block of `size` nodes from `at`, by the
    /// list of `depth`.
    #[inline]
    fn leaf(&self, kind: Kind, depth: usize, at: [u32; 3], size: [u32; 3], nodes: &mut LeafNodes) {
        let lattice = self.lattice;
        let middle = |k: usize| f64::from(at[k]) + 0.5 * f64::from(size[k] - 1);
        let center = [0, 1, 2].map(|k| lattice.min[k] + middle(k) * lattice.spacing);
        let ids = self.list(kind, depth);
        self.look_at(ids.len() * nodes.count.div_ceil(LANES));
        let Culler { triangles, bases, .. } = self.culler;
        nodes.all(Surface { triangles, bases, small: kind == Kind::Small }, ids, center);
    }
}
