//! Blue noise by weighted sample elimination: from many random points those in the densest places are removed until
//! the requested number is left (Yuksel 2015, "Sample elimination for generating Poisson disk sample sets").

use rayon::prelude::*;

use super::grid::{sort_spatially, thin_dense_cells, PointGrid};
use super::random::Random;
use super::surface::Surface;
use super::types::Sample;
use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{exact, filled, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::Result;

/// Random points per sample to keep; Yuksel recommends 5.
pub(super) const OVERSAMPLING: usize = 5;

/// Number of stored neighbours per random point, on average over a chunk; on a surface that is flat at the scale of
/// the spacing there are 18 on each side. Neighbours in denser chunks are searched again each time.
const KEPT_NEIGHBOURS: usize = 24;

/// Largest number of bytes per sample to keep: its random points with their stored neighbours, grid and heap.
pub(super) const BYTES_PER_SAMPLE: u64 = 1700;

/// Largest number of random points in a cell as large as the spacing, per random point and sample to keep. Denser
/// cells are thinned to it, so that the number of neighbours of a point is bounded by a constant. A flat surface has
/// at most 1.5 on each side.
const MOST_PER_CELL: f64 = 10.0;
/// Largest number of points per sample to keep; more points are thinned to it.
const MOST_PER_SAMPLE: usize = 1024;

/// Points whose normals' cosine is below this are on two sides of a thin wall and have no weight on each other.
const OTHER_SIDE: f64 = -0.3;

/// Yuksel's α and β; γ is 3/2.
const ALPHA: i32 = 8;
const BETA: f64 = 0.65;

/// Returns whether two samples have weight on each other: not if they are on two sides of a wall whose faces can be
/// distinguished.
pub(super) fn interact(sided: bool, a: &Sample, b: &Sample) -> bool {
    !sided || a.n.dot(&b.n) >= OTHER_SIDE
}

/// Returns `count` random points, evenly over the area: one at random in each of `count` equal shares of it.
pub(super) fn candidates(
    surface: &Surface,
    count: usize,
    random: &mut Random,
    progress: &Progress,
) -> Result<Vec<Sample>> {
    let mut samples = with_capacity(count);
    if surface.area <= 0.0 {
        return Ok(samples);
    }
    let mut work = Work::new(progress);
    let share = surface.area / count as f64;
    let mut below = 0.0;
    let mut wanted = share * random.unit();
    for face in &surface.faces {
        below += face.area;
        let [a, b, c] = surface.corners(face);
        while wanted < below && samples.len() < count {
            let (r, s) = (random.unit().sqrt(), random.unit());
            samples.push_guarded(surface.on_face(face, a * (1.0 - r) + b * (r * (1.0 - s)) + c * (r * s)));
            work.add(1)?;
            wanted = share * (samples.len() as f64 + random.unit());
        }
        work.add(1)?;
    }
    Ok(samples)
}

/// Thins a `pool`, from which `keep` samples are to be chosen, where it is denser than a surface can be. Returns the
/// number of `keep` that the rest stands for.
pub(super) fn thin(pool: &mut Vec<Sample>, keep: usize, spacing: f64) -> usize {
    let before = pool.len();
    let most = MOST_PER_SAMPLE.saturating_mul(keep.max(1));
    if before > most {
        sort_spatially(pool, spacing);
        *pool = (0..most).map(|i| pool[(i as u128 * before as u128 / most as u128) as usize]).collect_guarded();
    }
    let kept = pool.len();
    let ratio = (kept as f64 / keep.max(1) as f64).max(OVERSAMPLING as f64);
    thin_dense_cells(pool, spacing, (MOST_PER_CELL * ratio).ceil() as usize);
    (keep as u128 * pool.len() as u128 / kept.max(1) as u128) as usize
}

/// Removes points from `pool` until `keep` are left besides the `fixed` ones, and returns the rest.
///
/// `spacing` is that of the hexagonal lattice with the density of the wanted result: Yuksel's 2 r_max.
pub(super) fn eliminate(
    fixed: &[Sample],
    mut pool: Vec<Sample>,
    keep: usize,
    spacing: f64,
    sided: bool,
    progress: &Progress,
) -> Result<Vec<Sample>> {
    if pool.len() <= keep {
        return Ok(pool);
    }
    progress.report("blue noise", 0.0)?;
    sort_spatially(&mut pool, spacing);
    // Equation 3: distances below r_min have the same weight, so that removals do not only thin the densest spots.
    let ratio = keep as f64 / pool.len() as f64;
    let nearest = spacing * (1.0 - ratio * ratio.sqrt()) * BETA;
    let weight = |squared: f64| (1.0 - (squared.sqrt().max(nearest) / spacing).min(1.0)).powi(ALPHA) as f32;
    let around = Around { fixed, pool: &pool, spacing, sided, weight };
    let weights = NeighbourWeights::new(around, progress)?;
    let mut heap = Heap::new(weights.sums());
    let remove = pool.len() - keep;
    let mut work = Work::new(progress);
    for k in 0..remove {
        if k % 4096 == 0 {
            progress.report("blue noise", k as f64 / remove as f64)?;
        }
        let (top, steps) = heap.pop();
        let looked_at = weights.each(top, |j, weight| heap.lower(j, weight as f64));
        work.add(steps + looked_at)?;
    }
    let mut index = 0..;
    pool.retain(|_| heap.contains(index.next().expect("endless")));
    Ok(pool)
}

/// Samples, and their weights on each other.
struct Around<'a, W> {
    fixed: &'a [Sample],
    pool: &'a [Sample],
    spacing: f64,
    sided: bool,
    /// Weight as a function of the squared distance.
    weight: W,
}

/// Weights between the points of a pool.
struct NeighbourWeights<'a, W> {
    of: Around<'a, W>,
    /// The pool, then the fixed samples.
    grid: PointGrid,
    /// Chunks of points, computed in parallel.
    chunks: Vec<Chunk>,
}

#[derive(Default)]
struct Chunk {
    /// Sum of the weights on each point, including those of the fixed samples.
    sums: Vec<f64>,
    /// End of the neighbours of each point; empty where there are too many to be stored.
    ends: Vec<u32>,
    /// Neighbours in the pool, with their weights.
    neighbours: Vec<(u32, f32)>,
}

const CHUNK: usize = 4096;

impl<'a, W: Fn(f64) -> f32 + Sync> NeighbourWeights<'a, W> {
    fn new(of: Around<'a, W>, progress: &Progress) -> Result<Self> {
        let mut grid = PointGrid::new(of.spacing, of.pool.len() + of.fixed.len());
        let mut work = Work::new(progress);
        for s in of.pool.iter().chain(of.fixed) {
            grid.insert(s.p);
            work.add(1)?;
        }
        let mut weights = Self { of, grid, chunks: Vec::new() };
        let count = weights.of.pool.len();
        let chunk = |c: usize| weights.chunk(c * CHUNK..count.min((c + 1) * CHUNK), &mut Work::new(progress));
        weights.chunks = (0..count.div_ceil(CHUNK)).into_par_iter().map(chunk).try_collect_guarded()?;
        Ok(weights)
    }

    /// Computes the chunk of the points with these numbers.
    fn chunk(&self, points: std::ops::Range<usize>, work: &mut Work) -> Result<Chunk> {
        let most = points.len() * KEPT_NEIGHBOURS;
        let mut chunk = Chunk::default();
        let mut is_kept = true;
        for i in points {
            let mut sum = 0.0;
            let looked_at = self.around(i as u32, |j, weight| {
                sum += weight as f64;
                if is_kept && (j as usize) < self.of.pool.len() {
                    chunk.neighbours.push_guarded((j, weight));
                }
            });
            work.add(looked_at)?;
            chunk.sums.push_guarded(sum);
            chunk.ends.push_guarded(chunk.neighbours.len() as u32);
            if chunk.neighbours.len() > most {
                is_kept = false;
                chunk.neighbours = Vec::new();
            }
        }
        if is_kept {
            chunk.neighbours = exact(chunk.neighbours);
        } else {
            chunk.ends = Vec::new();
        }
        Ok(chunk)
    }

    /// Calls `visit` with each sample that has weight on point `i`, and this weight. Returns the number of samples
    /// tested.
    fn around(&self, i: u32, mut visit: impl FnMut(u32, f32)) -> u64 {
        let Around { fixed, pool, spacing, sided, weight } = &self.of;
        let sample = |j: u32| pool.get(j as usize).unwrap_or_else(|| &fixed[j as usize - pool.len()]);
        let own = &pool[i as usize];
        self.grid.near(&own.p, *spacing, |j, d| {
            if j != i && interact(*sided, own, sample(j)) {
                visit(j, weight(d));
            }
        })
    }

    fn sums(&self) -> Vec<f64> {
        self.chunks.iter().flat_map(|c| c.sums.iter().copied()).collect_guarded()
    }

    /// Does the same with the points of the pool only, always in the same order.
    fn each(&self, i: u32, mut visit: impl FnMut(u32, f32)) -> u64 {
        let (chunk, k) = (&self.chunks[i as usize / CHUNK], i as usize % CHUNK);
        let Some(&end) = chunk.ends.get(k) else {
            return self.around(i, |j, weight| {
                if (j as usize) < self.of.pool.len() {
                    visit(j, weight);
                }
            });
        };
        let start = if k == 0 { 0 } else { chunk.ends[k - 1] };
        let kept = &chunk.neighbours[start as usize..end as usize];
        kept.iter().for_each(|&(j, weight)| visit(j, weight));
        kept.len() as u64
    }
}

/// Max-heap of weights that only fall; ties by index. An entry keeps the weight with which it was placed, an upper
/// bound of its present weight, and is placed again when it comes to the top.
struct Heap {
    weights: Vec<f64>,
    is_in: Vec<bool>,
    entries: Vec<(f64, u32)>,
}

impl Heap {
    fn new(weights: Vec<f64>) -> Self {
        let entries = weights.iter().copied().zip(0..).collect_guarded();
        let mut heap = Self { is_in: filled(true, weights.len()), weights, entries };
        for place in (0..heap.entries.len() / 2).rev() {
            heap.sift_down(place);
        }
        heap
    }

    fn contains(&self, i: u32) -> bool {
        self.is_in[i as usize]
    }

    /// Removes the heaviest entry; returns its number, and the number of entries that were placed again.
    fn pop(&mut self) -> (u32, u64) {
        let mut steps = 1;
        loop {
            let (placed_with, top) = self.entries[0];
            let weight = self.weights[top as usize];
            if weight < placed_with {
                self.entries[0].0 = weight;
                self.sift_down(0);
                steps += 1;
                continue;
            }
            self.entries.swap_remove(0);
            self.sift_down(0);
            self.is_in[top as usize] = false;
            return (top, steps);
        }
    }

    fn lower(&mut self, i: u32, by: f64) {
        self.weights[i as usize] -= by;
    }

    fn sift_down(&mut self, mut place: usize) {
        let is_heavier = |a: (f64, u32), b: (f64, u32)| a.0 > b.0 || a.0 == b.0 && a.1 < b.1;
        loop {
            let mut largest = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.entries.len() && is_heavier(self.entries[child], self.entries[largest]) {
                    largest = child;
                }
            }
            if largest == place {
                return;
            }
            self.entries.swap(place, largest);
            place = largest;
        }
    }
}

/// Returns the number of samples of a hexagonal lattice of this spacing on this area.
pub(super) fn lattice_count(area: f64, spacing: f64) -> f64 {
    area / (0.75f64.sqrt() * spacing * spacing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_pops_the_heaviest_while_weights_fall() {
        let mut random = Random::new(9);
        let mut weights: Vec<f64> = (0..300).map(|_| (random.unit() * 20.0).floor()).collect();
        let mut heap = Heap::new(weights.clone());
        let mut living: Vec<u32> = (0..300).collect();
        while !living.is_empty() {
            for _ in 0..5 {
                let i = (random.next_u64() % 300) as u32;
                let by = (random.unit() * 3.0).floor();
                weights[i as usize] -= by;
                heap.lower(i, by);
            }
            let heavier = |a: &u32, b: &u32| weights[*a as usize].total_cmp(&weights[*b as usize]).then(b.cmp(a));
            let expected = *living.iter().max_by(|a, b| heavier(a, b)).unwrap();
            assert_eq!(heap.pop().0, expected);
            assert!(!heap.contains(expected));
            living.retain(|&i| i != expected);
        }
    }
}
