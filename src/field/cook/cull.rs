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

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::super::triangle::{cluster, Packet, TriangleFrame, LANES};
use super::super::wide::wide;
use super::lattice::Lattice;
use crate::math::Progress;
use crate::Result;

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
pub(super) struct Culler<'a> {
    lattice: &'a Lattice,
    /// Triangle `lane` of packet `p` is number `p * LANES + lane`.
    frames: Vec<TriangleFrame>,
    packets: Vec<Packet>,
    clusters: Vec<Cluster>,
}

impl<'a> Culler<'a> {
    /// `corners`: the triangles in the lattice's frame and units.
    pub fn new(lattice: &'a Lattice, corners: &[[[f64; 3]; 3]]) -> Self {
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
        Self { lattice, frames, packets, clusters }
    }

    /// Bytes for `triangles` triangles while cooking.
    pub fn bytes(triangles: u64) -> u64 {
        let each = size_of::<TriangleFrame>() + size_of::<[[f64; 3]; 3]>() + size_of::<[f64; 3]>() + 4;
        triangles * each as u64 + triangles.div_ceil(LANES as u64) * (size_of::<Packet>() + size_of::<Cluster>()) as u64
    }

    /// Writes the distance, metres, at each node; `values` has one place for each.
    pub fn fill(&self, values: &mut [f32], progress: &Progress) -> Result<()> {
        self.run(values, false, progress)
    }

    /// Shortens `values`, signed, to the distance where that is less, and keeps their sign.
    pub fn shorten(&self, values: &mut [f32], progress: &Progress) -> Result<()> {
        self.run(values, true, progress)
    }

    fn run(&self, values: &mut [f32], shorten: bool, progress: &Progress) -> Result<()> {
        let dims = self.lattice.dims;
        assert_eq!(values.len(), dims.iter().map(|&n| n as usize).product::<usize>());
        let mut edge = 32u32;
        let jobs = |edge: u32| dims.map(|n| n.div_ceil(edge) as usize);
        while jobs(edge).iter().product::<usize>() > 4096 {
            edge *= 2;
        }
        let [nx, ny, nz] = jobs(edge);
        let total = nx * ny * nz;
        let out = Out { values: values.as_mut_ptr(), dims, shorten };
        let done = AtomicUsize::new(0);
        let stage = if shorten { "membrane" } else { "distance" };
        (0..total).into_par_iter().try_for_each_init(
            || Worker::new(self),
            |worker, job| {
                let at = [job % nx, job / nx % ny, job / (nx * ny)].map(|i| i as u32 * edge);
                worker.boxes(0, Block { at, edge }, &out);
                progress.report(stage, done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)
            },
        )
    }
}

/// The grid, written by several threads at once.
struct Out {
    values: *mut f32,
    dims: [u32; 3],
    /// Keep the sign of what is there, and its magnitude where it is less.
    shorten: bool,
}

// SAFETY: `Out` lives as long as the exclusive borrow in `run`, jobs are disjoint blocks of nodes, and a job reads and
// writes only nodes of its own block (`Worker` splits it, never goes beyond it).
unsafe impl Sync for Out {}

impl Out {
    /// # Safety
    /// The node is in the grid, and in the block of the calling job.
    #[inline(always)]
    unsafe fn write(&self, node: [u32; 3], value: f32) {
        let place = unsafe { self.values.add(self.index(node)) };
        // SAFETY: in the grid, and nobody else looks at this job's nodes.
        unsafe {
            let old = *place;
            *place = if !self.shorten {
                value
            } else if value < old.abs() {
                value.copysign(old)
            } else {
                old
            };
        }
    }

    fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        (k as usize * self.dims[1] as usize + j as usize) * self.dims[0] as usize + i as usize
    }

    /// Largest magnitude in a block.
    ///
    /// # Safety
    /// The block is part of the calling job's.
    unsafe fn largest(&self, block: Block) -> f32 {
        let last = [0, 1, 2].map(|k| (block.at[k] + block.edge).min(self.dims[k]));
        let mut most = 0.0f32;
        for k in block.at[2]..last[2] {
            for j in block.at[1]..last[1] {
                for i in block.at[0]..last[0] {
                    // SAFETY: clamped to the grid.
                    most = most.max(unsafe { *self.values.add(self.index([i, j, k])) }.abs());
                }
            }
        }
        most
    }
}

/// `edge`³ nodes from `at`, less what is beyond the grid.
#[derive(Clone, Copy)]
struct Block {
    at: [u32; 3],
    edge: u32,
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

/// Nodes of a leaf block.
const LEAF: usize = 64;

/// Squared distances of a leaf's nodes, and the nodes' places relative to the block's centre.
#[repr(C, align(32))]
struct LeafNodes {
    x: [f32; LEAF],
    y: [f32; LEAF],
    z: [f32; LEAF],
    best: [f32; LEAF],
}

wide! {
    /// `best` = min(`best`, squared distance to `t`), over the first `count` nodes.
    fn leaf_min(t: super::super::triangle::Triangle, nodes: &mut LeafNodes, count: usize) -> () {
        let count = count.min(LEAF);
        let (x, y, z) = (&nodes.x[..count], &nodes.y[..count], &nodes.z[..count]);
        let best = &mut nodes.best[..count];
        for n in 0..count {
            let d = t.distance_squared([x[n], y[n], z[n]]);
            best[n] = if d < best[n] { d } else { best[n] };
        }
    }
}

/// One thread's scratch.
struct Worker<'a> {
    culler: &'a Culler<'a>,
    boxes: Vec<Vec<u32>>,
    lists: Vec<List>,
    at: Vec<AtCenter>,
    distances: Vec<(f32, [f32; 3])>,
    /// Nodes of 4³ and of 2³ blocks.
    leaf: [Box<LeafNodes>; 2],
}

impl<'a> Worker<'a> {
    fn new(culler: &'a Culler<'a>) -> Self {
        let h = culler.lattice.spacing as f32;
        let leaf = [4usize, 2].map(|edge| {
            let mut nodes = Box::new(LeafNodes { x: [0.0; 64], y: [0.0; 64], z: [0.0; 64], best: [0.0; 64] });
            let middle = 0.5 * (edge - 1) as f32;
            for n in 0..edge * edge * edge {
                nodes.x[n] = ((n % edge) as f32 - middle) * h;
                nodes.y[n] = ((n / edge % edge) as f32 - middle) * h;
                nodes.z[n] = ((n / (edge * edge)) as f32 - middle) * h;
            }
            nodes
        });
        let everything: Vec<u32> = (0..culler.clusters.len() as u32).collect();
        let mut boxes: Vec<Vec<u32>> = (0..34).map(|_| Vec::new()).collect();
        boxes[0] = everything;
        let lists = (0..40).map(|_| List::default()).collect();
        Self { culler, boxes, lists, at: Vec::new(), distances: Vec::new(), leaf }
    }

    fn frame(&self, block: Block) -> Option<Frame> {
        let lattice = self.culler.lattice;
        let (mut center, mut half) = ([0.0; 3], [0.0; 3]);
        for k in 0..3 {
            let nodes = lattice.dims[k].checked_sub(block.at[k]).filter(|&n| n > 0)?.min(block.edge);
            let span = f64::from(nodes - 1) * 0.5;
            center[k] = (lattice.min[k] + (f64::from(block.at[k]) + span) * lattice.spacing) as f32;
            half[k] = (span * lattice.spacing) as f32;
        }
        Some(Frame { center, half })
    }

    fn children(block: Block) -> impl Iterator<Item = Block> {
        let edge = block.edge / 2;
        (0..8u32).map(move |o| Block { at: [0, 1, 2].map(|k| block.at[k] + (o >> k & 1) * edge), edge })
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

    /// Culls boxes of triangles: those of `self.boxes[depth]`.
    fn boxes(&mut self, depth: usize, block: Block, out: &Out) {
        let Some(frame) = self.frame(block) else { return };
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
        // The closest triangle: that of the nearest box, or of one nearer than it.
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
        if out.shorten {
            let radius = frame.half.iter().map(|x| x * x).sum::<f32>().sqrt();
            // SAFETY: the block is this job's.
            let most = unsafe { out.largest(block) } * culler.lattice.scale as f32;
            if limit - radius - EPS > most {
                return;
            }
        }
        let corners = Self::corner_distances(&frame, &culler.packets[best.1 as usize], best.2);
        let (from, to) = self.boxes.split_at_mut(depth + 1);
        let kept = &mut to[0];
        kept.clear();
        for (&id, &(d, v)) in from[depth].iter().zip(&self.distances) {
            let inverse = 1.0 / d.max(1.0e-20);
            if frame.largest(&corners, v.map(|x| x * inverse)) + frame.slack(inverse) > d {
                kept.push(id);
            }
        }
        if kept.len() <= FEW_BOXES || block.edge <= TRIANGLE_BLOCK {
            let list = &mut self.lists[0];
            list.clear();
            for &id in kept.iter() {
                let first = id as usize * LANES;
                for lane in 0..LANES.min(culler.frames.len() - first) {
                    list.push(&culler.packets[id as usize], lane, (first + lane) as u32);
                }
            }
            self.triangles(0, block, out);
        } else {
            for child in Self::children(block) {
                self.boxes(depth + 1, child, out);
            }
        }
    }

    /// Culls triangles: those of `self.lists[depth]`.
    fn triangles(&mut self, depth: usize, block: Block, out: &Out) {
        let Some(frame) = self.frame(block) else { return };
        let (from, to) = self.lists.split_at_mut(depth + 1);
        let (from, kept) = (&from[depth], &mut to[0]);
        let (_, best) = at_center(&from.packets, frame.center, &mut self.at);
        let corners = Self::corner_distances(&frame, &from.packets[best / LANES], best % LANES);
        kept.clear();
        keep(frame, &corners, from, &self.at, kept);
        let count = kept.ids.len();
        if block.edge == 2 || block.edge == 4 && count <= LEAF_TRIANGLES {
            self.leaf(depth + 1, block, out);
        } else if block.edge == 8 && count <= 2 {
            for child in Self::children(block) {
                self.leaf(depth + 1, child, out);
            }
        } else {
            for child in Self::children(block) {
                self.triangles(depth + 1, child, out);
            }
        }
    }

    /// Distances at the nodes of a block of 4³ or 2³.
    fn leaf(&mut self, depth: usize, block: Block, out: &Out) {
        let lattice = self.culler.lattice;
        if (0..3).any(|k| block.at[k] >= lattice.dims[k]) {
            return;
        }
        let nodes = &mut self.leaf[usize::from(block.edge == 2)];
        let edge = block.edge as usize;
        let count = edge * edge * edge;
        let middle = 0.5 * f64::from(block.edge - 1);
        let center = [0, 1, 2].map(|k| lattice.min[k] + (f64::from(block.at[k]) + middle) * lattice.spacing);
        nodes.best = [f32::INFINITY; LEAF];
        let list = &self.lists[depth];
        for (n, &id) in list.ids.iter().enumerate() {
            let mut t = list.packets[n / LANES].get(n % LANES);
            t.offset = self.culler.frames[id as usize].relative_to(center).map(|x| x as f32);
            leaf_min(t, nodes, count);
        }
        let unit = (1.0 / lattice.scale) as f32;
        for n in 0..count {
            let at = [0, 1, 2].map(|k| block.at[k] + [n % edge, n / edge % edge, n / (edge * edge)][k] as u32);
            if (0..3).all(|k| at[k] < lattice.dims[k]) {
                // SAFETY: in the grid as just checked, and in this block, which is part of the job's.
                unsafe { out.write(at, nodes.best[n].sqrt() * unit) };
            }
        }
    }
}
