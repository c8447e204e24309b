//! The layered voxelmap: the number of voxels from each voxel to the surface.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bits::{has, Bits};
use super::{Branching, LayerTree, VoxelGrid, VoxelModel, VoxelTree};
use voxshell_base::math::Progress;
use voxshell_base::memory::{boxed, filled, with_capacity, GrowGuarded};
use voxshell_base::Result;

/// Layer of every voxel: 0 on the surface, n in the n-th layer inside, −n in the n-th outside. Immutable; shared by any
/// number of threads.
///
/// A voxel's layer is the smallest number of steps to a surface voxel, a step leading to one of the 26 neighbours that
/// share a face, an edge or a corner (the neighbours of McNeely et al. 1999, section 4.1; Sagardia et al. 2014 leave
/// theirs open). So with real distance d from the centre and s the voxel size, (|v| − ½)·s ≤ |d| ≤ √3 (|v| + ½)·s.
///
/// Sagardia et al. 2014, section 2.1.1.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerMap {
    grid: VoxelGrid,
    /// x fastest, then y.
    layers: Box<[i16]>,
    memory_limit: u64,
}

/// A layer above that of any voxel: more than [`VoxelGrid::MOST`], and one more is still a 16-bit number.
const FAR: i16 = i16::MAX - 1;

impl LayerMap {
    /// Counts the layers of a model. Two bytes per voxel.
    pub fn new(model: &VoxelModel, progress: &Progress) -> Result<Self> {
        let grid = *model.grid();
        let lines = rayon::current_num_threads() as u64 * u64::from(grid.dims().into_iter().max().unwrap_or(0)) * 16;
        grid.afford("a layered voxelmap", grid.len() as u64 * 2 + lines, model.memory_limit())?;
        progress.guard("counting layers", || {
            progress.report("layers", 0.0)?;
            let mut layers = filled(FAR, grid.len()).into_boxed_slice();
            let [nx, ny, nz] = grid.dims().map(|n| n as usize);
            along_z(model.surface(), &mut layers, [nx, ny]);
            progress.report("layers", 0.3)?;
            let done = AtomicUsize::new(0);
            layers.par_chunks_mut(nx * ny).zip(0u32..nz as u32).try_for_each_init(
                || Envelope::new(nx.max(ny)),
                |envelope, (slice, k)| {
                    for line in slice.chunks_exact_mut(nx) {
                        envelope.line(line, 0, 1, nx);
                    }
                    for i in 0..nx {
                        envelope.line(slice, i, nx, ny);
                    }
                    for (line, interior) in slice.chunks_exact_mut(nx).zip(model.interior().slice(k)) {
                        for (layer, i) in line.iter_mut().zip(0u32..) {
                            if !has(interior, i) {
                                *layer = -*layer;
                            }
                        }
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed);
                    progress.report("layers", 0.3 + 0.7 * done as f64 / nz as f64)
                },
            )?;
            Ok(Self { grid, layers, memory_limit: model.memory_limit() })
        })
    }

    /// Makes a map of given layers, one for each voxel.
    pub(super) fn of_layers(grid: VoxelGrid, layers: Vec<i16>) -> Self {
        Self { grid, layers: boxed(layers), memory_limit: 4 << 30 }
    }

    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// Layers of all voxels; x fastest, then y.
    pub fn layers(&self) -> &[i16] {
        &self.layers
    }

    /// v: returns the layer of a voxel.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn layer(&self, voxel: [u32; 3]) -> i32 {
        i32::from(self.layers[self.grid.index(voxel)])
    }

    /// v(P): returns the layer of the voxel that holds a point. Beyond the grid, it is that of the nearest voxel, minus
    /// one for each voxel between. Local frame, metres; allocates nothing; callable from any thread.
    #[inline]
    pub fn layer_at(&self, p: [f32; 3]) -> i32 {
        let (voxel, over) = self.grid.clamp(self.grid.cell(p));
        self.layer(voxel).saturating_sub(over)
    }

    /// V(P) = n·e + v(P)·s: returns the penetration at a point, metres, positive inside. `n` is the unit normal of the
    /// pointshell's sample at `p` into the sample's own body, that is, out of this one; e leads from `p` to the centre
    /// of its voxel.
    ///
    /// Sagardia et al. 2014, equation 4 with σ = s.
    #[inline]
    pub fn penetration(&self, p: [f32; 3], n: [f32; 3]) -> f32 {
        let cell = self.grid.cell(p);
        let (voxel, over) = self.grid.clamp(cell);
        let v = self.layer(voxel).saturating_sub(over);
        self.grid.local(cell, p, n) + v as f32 * self.grid.voxel_size()
    }

    /// Outermost and innermost layer.
    pub fn range(&self) -> (i32, i32) {
        let all = self.layers.par_iter().map(|&v| (v, v)).reduce(|| (0, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        (i32::from(all.0), i32::from(all.1))
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.layers.len() * 2) as u64
    }

    /// Returns the same layers in a tree, layers beyond ±`limit` as ±`limit`: "a layered voxelmap can be easily
    /// compressed". With limits of 1, 7 and 127 a voxel of a mixed block takes 2, 4 and 8 bits.
    pub fn compact(&self, limit: u8, branching: Branching) -> Result<LayerTree> {
        LayerTree::build(limit, |bits, code| {
            VoxelTree::build(&self.grid, branching, bits, self.memory_limit, |v| code(self.layer(v)))
        })
    }
}

/// Counts the steps along z to the next surface voxel.
fn along_z(surface: &Bits, layers: &mut [i16], [nx, ny]: [usize; 2]) {
    let size = nx * ny;
    let slices = layers.len() / size;
    let step = |to: &mut [i16], from: &[i16]| {
        to.par_iter_mut().zip(from).with_min_len(4096).for_each(|(to, &from)| *to = (*to).min((from + 1).min(FAR)));
    };
    layers.par_chunks_mut(size).zip(0u32..slices as u32).for_each(|(slice, k)| {
        for (line, row) in slice.chunks_exact_mut(nx).zip(surface.slice(k)) {
            line.iter_mut().zip(0u32..).filter(|(_, i)| has(row, *i)).for_each(|(layer, _)| *layer = 0);
        }
    });
    for k in 1..slices {
        let (before, rest) = layers.split_at_mut(k * size);
        step(&mut rest[..size], &before[(k - 1) * size..]);
    }
    for k in (1..slices).rev() {
        let (before, rest) = layers.split_at_mut(k * size);
        step(&mut before[(k - 1) * size..], &rest[..size]);
    }
}

/// Adds one axis to a chessboard distance: h(x) = min over i of max(|x − i|, g(i)), in linear time.
///
/// Meijster, Roerdink & Hesselink 2000, "A general algorithm for computing distance transforms in linear time".
struct Envelope {
    g: Vec<i32>,
    /// Indices i that give the minimum somewhere, and the start of the interval where they do.
    least: Vec<(i32, i32)>,
}

impl Envelope {
    fn new(longest: usize) -> Self {
        Self { g: with_capacity(longest), least: with_capacity(longest) }
    }

    /// Transforms `n` numbers of `data` from `first` on that are `step` apart.
    fn line(&mut self, data: &mut [i16], first: usize, step: usize, n: usize) {
        self.g.clear();
        self.g.extend_guarded(data[first..].iter().step_by(step).take(n).map(|&v| i32::from(v)));
        let g = &self.g;
        let f = |x: i32, i: i32| (x - i).abs().max(g[i as usize]);
        self.least.clear();
        for u in 0..n as i32 {
            while self.least.last().is_some_and(|&(i, from)| f(from, i) > f(from, u)) {
                self.least.pop();
            }
            let from = match self.least.last() {
                None => 0,
                // First x at which u gives less than i.
                Some(&(i, _)) => {
                    let (gi, gu, middle) = (g[i as usize], g[u as usize], (i + u) / 2);
                    1 + if gi <= gu { (i + gu).max(middle) } else { (u - gi).min(middle) }
                }
            };
            if from < n as i32 {
                self.least.push_guarded((u, from));
            }
        }
        let mut end = n as i32;
        for &(i, from) in self.least.iter().rev() {
            for x in from..end {
                data[first + x as usize * step] = f(x, i) as i16;
            }
            end = from;
        }
    }
}
