//! Distances at every node of a grid.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Culler, Frame, Kind, Lattice, LeafNodes, Worker, EPS, FEW_BOXES, LEAF_TRIANGLES, TRIANGLE_BLOCK};
use voxshell_base::math::Progress;
use voxshell_base::Result;

/// Blocks of 8³ nodes with at most this many triangles are not culled further.
const FEW_TRIANGLES: usize = 2;

impl Culler {
    /// Writes the distance, metres, at each node; `values` has one element for each.
    pub fn fill(&self, lattice: &Lattice, values: &mut [f32], progress: &Progress) -> Result<()> {
        self.run(lattice, values, false, progress)
    }

    /// Reduces `values`, signed, to the distance where that is smaller, and keeps their sign.
    pub fn shorten(&self, lattice: &Lattice, values: &mut [f32], progress: &Progress) -> Result<()> {
        self.run(lattice, values, true, progress)
    }

    fn run(&self, lattice: &Lattice, values: &mut [f32], shorten: bool, progress: &Progress) -> Result<()> {
        let dims = lattice.dims;
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
            || Job::new(self, lattice, &out, progress),
            |job, n| {
                let at = [n % nx, n / nx % ny, n / (nx * ny)].map(|i| i as u32 * edge);
                job.boxes(0, Block { at, edge })?;
                progress.report(stage, done.fetch_add(1, Ordering::Relaxed) as f64 / total as f64)
            },
        )
    }
}

/// The grid, written by several threads at once.
struct Out {
    values: *mut f32,
    dims: [u32; 3],
    /// Whether to keep the sign of the present value, and its magnitude where that is smaller.
    shorten: bool,
}

// SAFETY: `Out` lives as long as the exclusive borrow in `run`, jobs are disjoint blocks of nodes, and a job reads and
// writes only nodes of its own block (`Job` splits it, never goes beyond it).
unsafe impl Sync for Out {}

impl Out {
    /// Writes the nodes from `node` on along x.
    ///
    /// # Safety
    /// The nodes are in the grid, and in the block of the calling job.
    #[inline(always)]
    unsafe fn write(&self, node: [u32; 3], row: &[f32]) {
        // SAFETY: in the grid, and no other job accesses this job's nodes.
        unsafe {
            let place = self.values.add(self.index(node));
            for (n, &value) in row.iter().enumerate() {
                let place = place.add(n);
                if !self.shorten {
                    *place = value;
                } else if value < (*place).abs() {
                    *place = value.copysign(*place);
                }
            }
        }
    }

    fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        (k as usize * self.dims[1] as usize + j as usize) * self.dims[0] as usize + i as usize
    }

    /// Returns the largest magnitude in a block.
    ///
    /// # Safety
    /// The block is part of the calling job's block.
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

/// A block of `edge`³ nodes from `at`, cut at the border of the grid.
#[derive(Clone, Copy)]
struct Block {
    at: [u32; 3],
    edge: u32,
}

impl Block {
    fn children(self) -> impl Iterator<Item = Block> {
        let edge = self.edge / 2;
        (0..8u32).map(move |o| Block { at: [0, 1, 2].map(|k| self.at[k] + (o >> k & 1) * edge), edge })
    }
}

/// Work of one thread on its blocks.
struct Job<'a> {
    worker: Worker<'a>,
    out: &'a Out,
    /// Nodes of 4³ and of 2³ blocks.
    leaf: [Box<LeafNodes>; 2],
}

impl<'a> Job<'a> {
    fn new(culler: &'a Culler, lattice: &'a Lattice, out: &'a Out, progress: &'a Progress<'a>) -> Self {
        let leaf = [4, 2].map(|edge| LeafNodes::new([edge; 3], lattice.spacing as f32));
        let mut worker = Worker::new(culler, lattice, progress);
        worker.boxes[0].take(&culler.clusters, &culler.clusters.ids);
        Self { worker, out, leaf }
    }

    /// Returns `None` when no part of the block is in the grid.
    fn frame(&self, block: Block) -> Option<Frame> {
        let dims = self.out.dims;
        if (0..3).any(|k| block.at[k] >= dims[k]) {
            return None;
        }
        Some(self.worker.frame(block.at, [0, 1, 2].map(|k| (dims[k] - block.at[k]).min(block.edge))))
    }

    /// Culls boxes of triangles.
    fn boxes(&mut self, depth: usize, block: Block) -> Result<()> {
        let Some(frame) = self.frame(block) else { return Ok(()) };
        self.worker.count()?;
        let (distance, q) = self.worker.closest(depth, &frame);
        if self.out.shorten {
            let radius = frame.half.iter().map(|x| x * x).sum::<f32>().sqrt();
            // SAFETY: the block belongs to this job.
            let most = unsafe { self.out.largest(block) } * self.worker.lattice.scale as f32;
            if distance - radius - EPS > most {
                return Ok(());
            }
        }
        self.worker.keep_boxes(depth, &frame, q);
        if self.worker.boxes[depth + 1].ids.len() <= FEW_BOXES || block.edge <= TRIANGLE_BLOCK {
            let kind = self.worker.open_boxes(depth + 1, &frame, (distance, q));
            return self.triangles(kind, 0, block);
        }
        block.children().try_for_each(|child| self.boxes(depth + 1, child))
    }

    /// Culls triangles.
    fn triangles(&mut self, kind: Kind, depth: usize, block: Block) -> Result<()> {
        let Some(frame) = self.frame(block) else { return Ok(()) };
        self.worker.count()?;
        // At most so many triangles are not culled further.
        let few = match block.edge {
            2 => usize::MAX,
            4 => LEAF_TRIANGLES,
            8 => FEW_TRIANGLES,
            _ => 0,
        };
        let (kind, _) = self.worker.keep_triangles(kind, depth, &frame, few);
        let count = self.worker.list(kind, depth + 1).len();
        if block.edge == 2 || block.edge == 4 && count <= LEAF_TRIANGLES {
            self.leaf(kind, depth + 1, block);
            Ok(())
        } else if block.edge == 8 && count <= FEW_TRIANGLES {
            block.children().for_each(|child| self.leaf(kind, depth + 1, child));
            Ok(())
        } else {
            block.children().try_for_each(|child| self.triangles(kind, depth + 1, child))
        }
    }

    /// Computes the distances at the nodes of a block of 4³ or 2³.
    fn leaf(&mut self, kind: Kind, depth: usize, block: Block) {
        let (dims, at) = (self.out.dims, block.at);
        if (0..3).any(|k| at[k] >= dims[k]) {
            return;
        }
        let nodes = &mut self.leaf[usize::from(block.edge == 2)];
        self.worker.leaf(kind, depth, at, [block.edge; 3], nodes);
        nodes.finish((1.0 / self.worker.lattice.scale) as f32);
        let edge = block.edge as usize;
        let [nx, ny, nz] = [0, 1, 2].map(|k| (dims[k] - at[k]).min(block.edge) as usize);
        for k in 0..nz {
            for j in 0..ny {
                let first = (k * edge + j) * edge;
                let node = [at[0], at[1] + j as u32, at[2] + k as u32];
                // SAFETY: cut at the grid's end, and in this block, which is part of the job's block.
                unsafe { self.out.write(node, &nodes.best[first..first + nx]) };
            }
        }
    }
}
