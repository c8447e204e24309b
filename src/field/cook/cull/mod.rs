//! Exact unsigned distance at every node of a grid, by recursive culling of blocks of nodes.
//!
//! For a block of nodes with centre c take any triangle j and its distances D_k to the block's corners c + δ_k. The
//! distance to a triangle (or to a box around several) is convex, so with its value d_i and unit gradient g_i at c it is
//! at least d_i + g_i·δ everywhere, and the distance to j, convex too, exceeds that affine function in the block only if
//! it does so at a corner. So when max_k (D_k − g_i·δ_k) ≤ d_i, triangle i is nowhere closer than j and is dropped for the
//! whole block. Halving blocks from 32 or more nodes to 4 leaves a handful of triangles for each node.
//!
//! Boxes around eight triangles are culled first, single triangles when few boxes are left. Culling is f32 and keeps what
//! is within [`EPS`] of a tie; the last step takes the survivors from f64 data relative to the block, so that the
//! rounding of a distance is relative to that distance. Each node depends on its block only: the result is the same on
//! any number of threads.
//!
//! Here are the steps that blocks go through; `grid` runs them over a whole grid, `bricks` over what is near the surface.

mod bricks;
mod grid;

use rayon::prelude::*;

use super::super::triangle::{cluster, Packet, TriangleFrame, LANES};
use super::super::wide::wide;
use super::lattice::Lattice;
pub(super) use bricks::Band;

/// Absolute slack of the comparisons, in units of the lattice (half the grid's largest edge is between ½ and 1): several
/// times the rounding of an f32 distance there.
const EPS: f32 = 4.0e-6;
/// Triangles thinner than this, in the same units, are thickened to it.
const FLOOR: f64 = 1.0e-9;
/// Lists of boxes this short are opened into triangles.
const FEW_BOXES: usize = 24;
/// Blocks of this many nodes along an edge are always treated by triangles.
const TRIANGLE_BLOCK: u32 = 16;
/// Blocks of 4³ nodes with more triangles than this are halved once more.
const LEAF_TRIANGLES: usize = 28;

/// A box around the triangles of one packet.
#[derive(Clone, Copy)]
struct Cluster {
    min: [f32; 3],
    max: [f32; 3],
}

/// The triangles, in clusters of eight that are close together.
pub(super) struct Culler {
    /// Triangle `lane` of packet `p` is number `p * LANES + lane`.
    frames: Vec<TriangleFrame>,
    packets: Vec<Packet>,
    clusters: Vec<Cluster>,
}

impl Culler {
    /// `corners`: the triangles in the frame and units of the lattice whose nodes will be asked for.
    pub fn new(corners: &[[[f64; 3]; 3]]) -> Self {
        let order = cluster(corners);
        let frames: Vec<TriangleFrame> =
            order.par_iter().map(|&t| TriangleFrame::new(corners[t as usize], FLOOR)).collect();
        let packets = frames
            .par_chunks(LANES)
            .map(|chunk| {
                let mut packet = Packet::FAR;
                for (lane, frame) in chunk.iter().enumerate() {
                    packet.set(lane, &frame.rounded(frame.offset));
                }
                packet
            })
            .collect();
        let clusters = order
            .par_chunks(LANES)
            .map(|chunk| {
                let mut c = Cluster { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] };
                for p in chunk.iter().flat_map(|&t| &corners[t as usize]) {
                    for k in 0..3 {
                        c.min[k] = c.min[k].min(p[k] as f32 - 2e-7);
                        c.max[k] = c.max[k].max(p[k] as f32 + 2e-7);
                    }
                }
                c
            })
            .collect();
        Self { frames, packets, clusters }
    }

    /// Bytes for `triangles` triangles while cooking.
    pub fn bytes(triangles: u64) -> u64 {
        let each = size_of::<TriangleFrame>() + size_of::<[[f64; 3]; 3]>() + size_of::<[f64; 3]>() + 4;
        triangles * each as u64 + triangles.div_ceil(LANES as u64) * (size_of::<Packet>() + size_of::<Cluster>()) as u64
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

    #[inline(always)]
    fn push(&mut self, from: &Packet, lane: usize, id: u32) {
        let place = self.ids.len() % LANES;
        if place == 0 {
            self.packets.push(Packet::FAR);
        }
        if let Some(last) = self.packets.last_mut() {
            for (to, from) in last.fields.iter_mut().zip(&from.fields) {
                to[place] = from[lane];
            }
        }
        self.ids.push(id);
    }
}

/// Distance and unit gradient at a block's centre, for eight triangles.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct AtCenter {
    d: [f32; LANES],
    g: [[f32; LANES]; 3],
}

/// A block's centre and half edges, f32, lattice units.
#[derive(Clone, Copy)]
struct Frame {
    center: [f32; 3],
    half: [f32; 3],
}

impl Frame {
    /// Slack for an item at distance `d`: that of the distances, and that of the direction, which is as uncertain as the
    /// distance is small.
    #[inline(always)]
    fn slack(&self, inverse: f32) -> f32 {
        EPS + EPS * ((self.half[0] + self.half[1]) + self.half[2]) * inverse
    }

    /// max_k (D_k − g·δ_k).
    #[inline(always)]
    fn largest(&self, corners: &[f32; 8], g: [f32; 3]) -> f32 {
        let (x, y, z) = (g[0] * self.half[0], g[1] * self.half[1], g[2] * self.half[2]);
        let (pp, pm) = (x + y, x - y);
        let max = |a: f32, b: f32| if a > b { a } else { b };
        // Corner k is at (±x, ±y, ±z), bit set for plus: subtracting g·δ adds where the bit is clear.
        let low = max(max(corners[0] + pp, corners[1] - pm), max(corners[2] + pm, corners[3] - pp)) + z;
        let high = max(max(corners[4] + pp, corners[5] - pm), max(corners[6] + pm, corners[7] - pp)) - z;
        max(low, high)
    }
}

wide! {
    /// Distances and gradients at `c` of all triangles of a list; number of the closest.
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
            out.push(a);
        }
        let lane = (1..LANES).fold(0, |b, l| if best[l] < best[b] { l } else { b });
        (best[lane], which[lane] as usize * LANES + lane)
    }
}

wide! {
    /// Appends to `kept` what may be closest somewhere in the block.
    fn keep(frame: Frame, corners: &[f32; 8], from: &List, at: &[AtCenter], kept: &mut List) -> () {
        for (p, (packet, a)) in from.packets.iter().zip(at).enumerate() {
            let mut over = [0.0f32; LANES];
            for lane in 0..LANES {
                let w = frame.largest(corners, [a.g[0][lane], a.g[1][lane], a.g[2][lane]]);
                let d = a.d[lane];
                let inverse = 1.0 / (if d > 1.0e-20 { d } else { 1.0e-20 });
                over[lane] = (w + frame.slack(inverse)) - d;
            }
            for (lane, &over) in over.iter().enumerate() {
                if over > 0.0 {
                    if let Some(&id) = from.ids.get(p * LANES + lane) {
                        kept.push(packet, lane, id);
                    }
                }
            }
        }
    }
}

/// Most nodes of a leaf block: 5³, in whole lanes.
const LEAF: usize = 128;

/// Squared distances of a leaf's nodes, and the nodes' places relative to the block's centre, lattice units.
#[repr(C, align(32))]
struct LeafNodes {
    x: [f32; LEAF],
    y: [f32; LEAF],
    z: [f32; LEAF],
    best: [f32; LEAF],
    count: usize,
}

impl LeafNodes {
    /// `size` nodes along the axes, `spacing` apart; x fastest, then y.
    fn new(size: [u32; 3], spacing: f32) -> Box<Self> {
        let [nx, ny, nz] = size.map(|n| n as usize);
        let count = nx * ny * nz;
        let mut nodes = Box::new(Self { x: [0.0; LEAF], y: [0.0; LEAF], z: [0.0; LEAF], best: [0.0; LEAF], count });
        let place = |i: usize, n: usize| (i as f32 - 0.5 * (n - 1) as f32) * spacing;
        for n in 0..count {
            nodes.x[n] = place(n % nx, nx);
            nodes.y[n] = place(n / nx % ny, ny);
            nodes.z[n] = place(n / (nx * ny), nz);
        }
        nodes
    }
}

wide! {
    /// `best` = min(`best`, squared distance to `t`), over all nodes.
    fn leaf_min(t: super::super::triangle::Triangle, nodes: &mut LeafNodes) -> () {
        // Whole lanes: what is beyond the count is never read.
        let count = nodes.count.next_multiple_of(LANES).min(LEAF);
        let (x, y, z) = (&nodes.x[..count], &nodes.y[..count], &nodes.z[..count]);
        let best = &mut nodes.best[..count];
        for n in 0..count {
            let d = t.distance_squared([x[n], y[n], z[n]]);
            best[n] = if d < best[n] { d } else { best[n] };
        }
    }
}

/// A triangle of the culler: of which packet, and which of the eight.
type Member = (u32, usize);

/// One thread's scratch, and the steps of culling. Lists are by depth: a step reads those of one depth and writes those of
/// the next.
struct Worker<'a> {
    culler: &'a Culler,
    lattice: &'a Lattice,
    boxes: Vec<Vec<u32>>,
    lists: Vec<List>,
    at: Vec<AtCenter>,
    distances: Vec<(f32, [f32; 3])>,
}

impl<'a> Worker<'a> {
    /// `boxes` at depth 0 are those of the whole surface.
    fn new(culler: &'a Culler, lattice: &'a Lattice) -> Self {
        let mut boxes: Vec<Vec<u32>> = (0..34).map(|_| Vec::new()).collect();
        boxes[0] = (0..culler.clusters.len() as u32).collect();
        let lists = (0..40).map(|_| List::default()).collect();
        Self { culler, lattice, boxes, lists, at: Vec::new(), distances: Vec::new() }
    }

    /// Of `nodes` nodes along the axes from `at`.
    fn frame(&self, at: [u32; 3], nodes: [u32; 3]) -> Frame {
        let (lattice, mut center, mut half) = (self.lattice, [0.0; 3], [0.0; 3]);
        for k in 0..3 {
            let span = f64::from(nodes[k] - 1) * 0.5;
            center[k] = (lattice.min[k] + (f64::from(at[k]) + span) * lattice.spacing) as f32;
            half[k] = (span * lattice.spacing) as f32;
        }
        Frame { center, half }
    }

    /// Distances from one triangle to the block's corners.
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

    /// The closest triangle to the block's centre below the boxes of `depth`, and its distance: that of the nearest box, or
    /// of one nearer than it.
    fn closest(&mut self, depth: usize, frame: &Frame) -> (f32, Member) {
        let culler = self.culler;
        let c = frame.center;
        self.distances.clear();
        let mut nearest = (f32::INFINITY, 0);
        for &id in &self.boxes[depth] {
            let b = &culler.clusters[id as usize];
            let v = [0, 1, 2].map(|k| c[k] - c[k].max(b.min[k]).min(b.max[k]));
            let d = ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]).sqrt();
            self.distances.push((d, v));
            if d < nearest.0 {
                nearest = (d, id);
            }
        }
        let mut best = (f32::INFINITY, 0, 0);
        let mut look = |id: u32| {
            for (lane, d) in culler.packets[id as usize].distance_squared(c).into_iter().enumerate() {
                if d < best.0 {
                    best = (d, id, lane);
                }
            }
            best.0.sqrt()
        };
        let mut limit = look(nearest.1);
        for (&id, &(d, _)) in self.boxes[depth].iter().zip(&self.distances) {
            if d < limit && id != nearest.1 {
                limit = look(id);
            }
        }
        (limit, (best.1, best.2))
    }

    /// Keeps the boxes of `depth`, just looked through by `closest`, that may hold the closest triangle of some node.
    fn keep_boxes(&mut self, depth: usize, frame: &Frame, closest: Member) {
        let corners = Self::corner_distances(frame, &self.culler.packets[closest.0 as usize], closest.1);
        let (from, to) = self.boxes.split_at_mut(depth + 1);
        let kept = &mut to[0];
        kept.clear();
        for (&id, &(d, v)) in from[depth].iter().zip(&self.distances) {
            let inverse = 1.0 / d.max(1.0e-20);
            if frame.largest(&corners, v.map(|x| x * inverse)) + frame.slack(inverse) > d {
                kept.push(id);
            }
        }
    }

    /// The triangles of the boxes of `depth` become the list of depth 0.
    fn open_boxes(&mut self, depth: usize) {
        let (culler, list) = (self.culler, &mut self.lists[0]);
        list.clear();
        for &id in &self.boxes[depth] {
            let first = id as usize * LANES;
            for lane in 0..LANES.min(culler.frames.len() - first) {
                list.push(&culler.packets[id as usize], lane, (first + lane) as u32);
            }
        }
    }

    /// Keeps the triangles of the list of `depth` that may be closest to some node; gives the distance of the block's centre.
    fn keep_triangles(&mut self, depth: usize, frame: &Frame) -> f32 {
        let (from, to) = self.lists.split_at_mut(depth + 1);
        let (from, kept) = (&from[depth], &mut to[0]);
        let (distance, best) = at_center(&from.packets, frame.center, &mut self.at);
        let corners = Self::corner_distances(frame, &from.packets[best / LANES], best % LANES);
        kept.clear();
        keep(*frame, &corners, from, &self.at, kept);
        distance
    }

    /// Squared distances, lattice units, at the `nodes` of a block of `size` nodes from `at`, by the list of `depth`.
    fn leaf(&self, depth: usize, at: [u32; 3], size: [u32; 3], nodes: &mut LeafNodes) {
        let lattice = self.lattice;
        let middle = |k: usize| f64::from(at[k]) + 0.5 * f64::from(size[k] - 1);
        let center = [0, 1, 2].map(|k| lattice.min[k] + middle(k) * lattice.spacing);
        nodes.best = [f32::INFINITY; LEAF];
        let list = &self.lists[depth];
        for (n, &id) in list.ids.iter().enumerate() {
            let mut t = list.packets[n / LANES].get(n % LANES);
            t.offset = self.culler.frames[id as usize].relative_to(center).map(|x| x as f32);
            leaf_min(t, nodes);
        }
    }
}
