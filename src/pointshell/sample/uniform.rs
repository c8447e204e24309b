//! Blue noise by weighted sample elimination: of many random points those that are most crowded are taken out until
//! the number asked for is left (Yuksel 2015, "Sample elimination for generating Poisson disk sample sets").

use rayon::prelude::*;

use super::grid::{sort_spatially, PointGrid};
use super::random::Random;
use super::surface::Surface;
use super::Sample;
use crate::math::Progress;
use crate::Result;

/// Random points per sample to keep; Yuksel recommends 5.
pub(super) const OVERSAMPLING: usize = 5;

/// Per sample to keep: its random points with their neighbours, grid and heap, roughly.
pub(super) const BYTES_PER_SAMPLE: u64 = 1300;

/// Points on two sides of a thin wall, whose normals' cosine is below this, do not crowd each other.
const OTHER_SIDE: f64 = -0.3;

/// Yuksel's α and β; γ is 3/2.
const ALPHA: i32 = 8;
const BETA: f64 = 0.65;

/// Whether two samples crowd each other: not if they are on two sides of a wall whose faces can be told apart.
pub(super) fn interact(sided: bool, a: &Sample, b: &Sample) -> bool {
    !sided || a.n.dot(&b.n) >= OTHER_SIDE
}

/// `count` random points, evenly over the area: one at random in each of `count` equal shares of it.
pub(super) fn candidates(surface: &Surface, count: usize, random: &mut Random) -> Vec<Sample> {
    let mut samples = Vec::with_capacity(count);
    if surface.area <= 0.0 {
        return samples;
    }
    let share = surface.area / count as f64;
    let mut below = 0.0;
    let mut wanted = share * random.unit();
    for face in &surface.faces {
        below += face.area;
        let [a, b, c] = surface.corners(face);
        while wanted < below && samples.len() < count {
            let (r, s) = (random.unit().sqrt(), random.unit());
            samples.push(surface.on_face(face, a * (1.0 - r) + b * (r * (1.0 - s)) + c * (r * s)));
            wanted = share * (samples.len() as f64 + random.unit());
        }
    }
    samples
}

/// Takes points out of `pool` until `keep` are left besides the `fixed` ones, and gives what is left.
///
/// `spacing` is that of the hexagonal lattice as dense as the wanted result: Yuksel's 2 r_max.
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
    sort_spatially(&mut pool, spacing);
    // Equation 3: distances below r_min weigh the same, so that removals do not only thin the densest spots.
    let ratio = keep as f64 / pool.len() as f64;
    let nearest = spacing * (1.0 - ratio * ratio.sqrt()) * BETA;
    let weight = |squared: f64| (1.0 - (squared.sqrt().max(nearest) / spacing).min(1.0)).powi(ALPHA) as f32;
    let crowds = Crowds::new(fixed, &pool, spacing, sided, weight);
    let mut heap = Heap::new(crowds.sums());
    let remove = pool.len() - keep;
    for k in 0..remove {
        if k % 4096 == 0 {
            progress.report("blue noise", k as f64 / remove as f64)?;
        }
        for &(j, weight) in crowds.around(heap.pop()) {
            heap.lower(j, weight as f64);
        }
    }
    let mut index = 0..;
    pool.retain(|_| heap.contains(index.next().expect("endless")));
    Ok(pool)
}

/// Who crowds whom in a pool, in chunks that were made in parallel.
struct Crowds(Vec<Chunk>);

#[derive(Default)]
struct Chunk {
    /// Sum of the weights on each point, of the fixed samples too.
    sums: Vec<f64>,
    /// Where the neighbours of each point end.
    ends: Vec<u32>,
    /// Neighbours in the pool, with their weights.
    neighbours: Vec<(u32, f32)>,
}

const CHUNK: usize = 4096;

impl Crowds {
    fn new(fixed: &[Sample], pool: &[Sample], spacing: f64, sided: bool, weight: impl Fn(f64) -> f32 + Sync) -> Self {
        let mut grid = PointGrid::new(spacing, pool.len() + fixed.len());
        pool.iter().chain(fixed).for_each(|s| grid.insert(s.p));
        let sample = |i: u32| pool.get(i as usize).unwrap_or_else(|| &fixed[i as usize - pool.len()]);
        let chunk = |c: usize| {
            let mut chunk = Chunk::default();
            for i in c * CHUNK..pool.len().min((c + 1) * CHUNK) {
                let mut sum = 0.0;
                grid.near(&pool[i].p, spacing, |j, d| {
                    if j as usize != i && interact(sided, &pool[i], sample(j)) {
                        let weight = weight(d);
                        sum += weight as f64;
                        if (j as usize) < pool.len() {
                            chunk.neighbours.push((j, weight));
                        }
                    }
                });
                chunk.sums.push(sum);
                chunk.ends.push(chunk.neighbours.len() as u32);
            }
            chunk
        };
        Self((0..pool.len().div_ceil(CHUNK)).into_par_iter().map(chunk).collect())
    }

    fn sums(&self) -> Vec<f64> {
        self.0.iter().flat_map(|c| c.sums.iter().copied()).collect()
    }

    fn around(&self, i: u32) -> &[(u32, f32)] {
        let (chunk, k) = (&self.0[i as usize / CHUNK], i as usize % CHUNK);
        let start = if k == 0 { 0 } else { chunk.ends[k - 1] };
        &chunk.neighbours[start as usize..chunk.ends[k] as usize]
    }
}

/// Max-heap of weights that only fall; ties by index. An entry keeps the weight it was placed with, an upper bound of what
/// it weighs now, and finds its place when it comes to the top.
struct Heap {
    weights: Vec<f64>,
    is_in: Vec<bool>,
    entries: Vec<(f64, u32)>,
}

impl Heap {
    fn new(weights: Vec<f64>) -> Self {
        let entries = weights.iter().copied().zip(0..).collect();
        let mut heap = Self { is_in: vec![true; weights.len()], weights, entries };
        for place in (0..heap.entries.len() / 2).rev() {
            heap.sift_down(place);
        }
        heap
    }

    fn contains(&self, i: u32) -> bool {
        self.is_in[i as usize]
    }

    fn pop(&mut self) -> u32 {
        loop {
            let (placed_with, top) = self.entries[0];
            let weight = self.weights[top as usize];
            if weight < placed_with {
                self.entries[0].0 = weight;
                self.sift_down(0);
                continue;
            }
            self.entries.swap_remove(0);
            self.sift_down(0);
            self.is_in[top as usize] = false;
            return top;
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
            assert_eq!(heap.pop(), expected);
            assert!(!heap.contains(expected));
            living.retain(|&i| i != expected);
        }
    }
}
