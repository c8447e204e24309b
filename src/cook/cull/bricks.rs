//! Distances in the bricks that the narrow band passes, and nowhere else.
//!
//! Blocks of bricks are halved from the whole grid down, each with the boxes of triangles that count in it. A block
//! whose centre is farther from the surface than the band plus the block's radius is dropped. A brick of 8³ cells has
//! 9³ nodes: the nodes that it shares with its neighbours are computed in each, so that bricks are independent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use rayon::prelude::*;

use super::{Culler, Frame, Kind, Lattice, LeafNodes, Worker};
use super::{EPS, FEW_BOXES, LEAF, LEAF_TRIANGLES, TRIANGLE_BLOCK};
use voxshell_base::math::Progress;
use voxshell_base::memory::{concat, CollectGuarded, GrowGuarded, ParCollectGuarded, SliceGuarded};
use voxshell_base::Result;
use voxshell_field::brick::{FineBricks, CELLS, NODES, STRIDE, VOLUME};

/// Edge, in cells, of the blocks that one thread processes at a time.
const JOB: u32 = 64;
/// Number of blocks that are processed before their results are stored: few enough that their memory is negligible, and
/// enough to keep all threads busy.
const BATCH: usize = 64;

/// Parameters of the narrow band, lattice units.
#[derive(Clone, Copy)]
pub(crate) struct Band {
    /// Bricks with a node at most this far from the surface count.
    pub width: f32,
    /// Unit of the stored distances.
    pub quantum: f32,
    /// Number of bricks along the axes; the lattice has [`CELLS`] cells for each, and one more node.
    pub bricks: [u32; 3],
}

/// A block of `edge`³ cells from `at`, with the nodes on all its sides.
#[derive(Clone, Copy)]
struct Block {
    at: [u32; 3],
    edge: u32,
}

impl Culler {
    /// Returns the bricks in the band, with unsigned samples, and the largest |sample − distance| there, lattice
    /// units. The same on any number of threads.
    pub fn near(&self, lattice: &Lattice, band: Band, progress: &Progress) -> Result<(FineBricks, f32)> {
        let mut edge = CELLS;
        while band.bricks.iter().any(|&n| n * CELLS > edge) {
            edge *= 2;
        }
        let mut front = vec![(Block { at: [0; 3], edge }, Arc::new(self.clusters.ids.to_vec_guarded()))];
        while edge > JOB {
            progress.report("distance", 0.0)?;
            let parts = front
                .into_par_iter()
                .map_init(
                    || Job::new(self, lattice, band, progress),
                    |job, (block, boxes)| {
                        job.worker.boxes[0].take(&self.clusters, &boxes);
                        let kept = job.boxes_in_band(0, block).is_some();
                        job.worker.count()?;
                        let boxes = Arc::new(std::mem::take(&mut job.worker.boxes[1].ids));
                        Ok(job.children(block).filter(|_| kept).map(|c| (c, boxes.clone())).collect_guarded())
                    },
                )
                .try_collect_guarded()?;
            front = concat(parts);
            edge /= 2;
        }
        let (total, done) = (front.len(), AtomicUsize::new(0));
        let (mut all, mut rounding) = (FineBricks::default(), 0.0f32);
        for batch in front.chunks(BATCH) {
            let found: Vec<(FineBricks, f32)> = batch
                .par_iter()
                .map_init(
                    || Job::new(self, lattice, band, progress),
                    |job, (block, boxes)| {
                        job.worker.boxes[0].take(&self.clusters, boxes);
                        job.boxes(0, *block)?;
                        progress.report("distance", done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)?;
                        Ok((std::mem::take(&mut job.found), job.rounding))
                    },
                )
                .try_collect_guarded()?;
            for (mut fine, r) in found {
                rounding = rounding.max(r);
                all.bricks.append_guarded(&mut fine.bricks);
                all.samples.append_guarded(&mut fine.samples);
            }
        }
        Ok((all, rounding))
    }
}

/// Work of one thread on its blocks.
struct Job<'a> {
    worker: Worker<'a>,
    band: Band,
    /// Nodes of sub-blocks of 4 or 5 nodes along each axis (bit set: 5), and of 2 or 3.
    leaf: [[Box<LeafNodes>; 8]; 2],
    found: FineBricks,
    rounding: f32,
}

/// Returns start and number of nodes along the axes of octant `o` of a block with `nodes` nodes: of an odd number the
/// lower half gets one more.
fn halves(nodes: [u32; 3], o: u32) -> ([u32; 3], [u32; 3]) {
    let upper = |k: usize| o >> k & 1 == 1;
    let low = nodes.map(|n| n.div_ceil(2));
    let at = [0, 1, 2].map(|k| if upper(k) { low[k] } else { 0 });
    (at, [0, 1, 2].map(|k| if upper(k) { nodes[k] - low[k] } else { low[k] }))
}

impl<'a> Job<'a> {
    fn new(culler: &'a Culler, lattice: &'a Lattice, band: Band, progress: &'a Progress<'a>) -> Self {
        let leaf = [4, 2].map(|few| {
            std::array::from_fn(|o| {
                LeafNodes::new([0, 1, 2].map(|k| few + (o as u32 >> k & 1)), lattice.spacing as f32)
            })
        });
        Self { worker: Worker::new(culler, lattice, progress), band, leaf, found: FineBricks::default(), rounding: 0.0 }
    }

    /// Returns the octants of a block that are in the grid.
    fn children(&self, block: Block) -> impl Iterator<Item = Block> {
        let cells = self.band.bricks.map(|n| n * CELLS);
        let edge = block.edge / 2;
        (0..8u32)
            .map(move |o| Block { at: [0, 1, 2].map(|k| block.at[k] + (o >> k & 1) * edge), edge })
            .filter(move |b| (0..3).all(|k| b.at[k] < cells[k]))
    }

    fn frame(&self, block: Block) -> Frame {
        let dims = self.worker.lattice.dims;
        self.worker.frame(block.at, [0, 1, 2].map(|k| (dims[k] - block.at[k]).min(block.edge + 1)))
    }

    /// Returns whether a block with this distance at its centre may have a node in the band.
    fn in_band(&self, frame: &Frame, distance: f32) -> bool {
        let radius = frame.half.iter().map(|x| x * x).sum::<f32>().sqrt();
        distance <= self.band.width + radius * (1.0 + 1e-6) + EPS
    }

    /// Culls boxes of triangles, from the list of `depth` to that of the next depth. Returns the closest point to the
    /// block's centre and its distance, or `None` when the block is out of the band.
    fn boxes_in_band(&mut self, depth: usize, block: Block) -> Option<(Frame, (f32, [f32; 3]))> {
        let frame = self.frame(block);
        let (distance, q) = self.worker.closest(depth, &frame);
        self.in_band(&frame, distance).then(|| {
            self.worker.keep_boxes(depth, &frame, q);
            (frame, (distance, q))
        })
    }

    fn boxes(&mut self, depth: usize, block: Block) -> Result<()> {
        self.worker.count()?;
        let Some((frame, closest)) = self.boxes_in_band(depth, block) else { return Ok(()) };
        if self.worker.boxes[depth + 1].ids.len() <= FEW_BOXES || block.edge <= TRIANGLE_BLOCK {
            let kind = self.worker.open_boxes(depth + 1, &frame, closest);
            return self.triangles(kind, 0, block);
        }
        self.children(block).try_for_each(|child| self.boxes(depth + 1, child))
    }

    /// Culls triangles.
    fn triangles(&mut self, kind: Kind, depth: usize, block: Block) -> Result<()> {
        let frame = self.frame(block);
        self.worker.count()?;
        let (kind, distance) = self.worker.keep_triangles(kind, depth, &frame, 0);
        if !self.in_band(&frame, distance) {
            return Ok(());
        }
        if block.edge == CELLS {
            return self.brick(kind, depth + 1, block.at);
        }
        self.children(block).try_for_each(|child| self.triangles(kind, depth + 1, child))
    }

    /// Computes the distances at the nodes of a brick; keeps the brick if one of its nodes is in the band.
    fn brick(&mut self, kind: Kind, depth: usize, at: [u32; 3]) -> Result<()> {
        let start = self.found.samples.len();
        self.found.samples.resize_guarded(start + STRIDE, 0);
        let mut nearest = f32::INFINITY;
        for o in 0..8 {
            let (from, size) = halves([NODES; 3], o);
            let first = [0, 1, 2].map(|k| at[k] + from[k]);
            self.worker.count()?;
            let frame = self.worker.frame(first, size);
            let (kind, _) = self.worker.keep_triangles(kind, depth, &frame, LEAF_TRIANGLES);
            if self.worker.list(kind, depth + 1).len() <= LEAF_TRIANGLES {
                nearest = nearest.min(self.leaf(kind, depth + 1, first, size, from, start));
                continue;
            }
            for p in 0..8 {
                let (more, size) = halves(size, p);
                let (first, from) = ([0, 1, 2].map(|k| first[k] + more[k]), [0, 1, 2].map(|k| from[k] + more[k]));
                let frame = self.worker.frame(first, size);
                let (kind, _) = self.worker.keep_triangles(kind, depth + 1, &frame, usize::MAX);
                nearest = nearest.min(self.leaf(kind, depth + 2, first, size, from, start));
            }
        }
        if nearest <= self.band.width {
            let [nx, ny, _] = self.band.bricks;
            let [i, j, k] = at.map(|c| c / CELLS);
            self.found.bricks.push_guarded((k * ny + j) * nx + i);
        } else {
            self.found.samples.truncate(start);
        }
        Ok(())
    }

    /// Computes the distances at `size` nodes from `first`; `from` is the first node of the brick whose samples begin
    /// at `start`. Returns the smallest.
    fn leaf(&mut self, kind: Kind, depth: usize, first: [u32; 3], size: [u32; 3], from: [u32; 3], start: usize) -> f32 {
        let few = usize::from(size[0] < 4);
        let odd = size.iter().enumerate().map(|(k, n)| ((n & 1) as usize) << k).sum::<usize>();
        let nodes = &mut self.leaf[few][odd];
        self.worker.leaf(kind, depth, first, size, nodes);
        let mut quanta = [0; LEAF];
        let (nearest, rounding) = nodes.quantise(self.band.quantum, self.band.width, &mut quanta);
        self.rounding = self.rounding.max(rounding);
        let [nx, ny, _] = size.map(|n| n as usize);
        let (n, from) = (NODES as usize, from.map(|i| i as usize));
        let out = &mut self.found.samples[start..start + VOLUME];
        for (row, q) in quanta[..nodes.count].chunks_exact(nx).enumerate() {
            let place = ((from[2] + row / ny) * n + from[1] + row % ny) * n + from[0];
            out[place..place + nx].copy_from_slice(q);
        }
        nearest
    }
}
