//! Blue noise by weighted sample elimination: of many random points those that are most crowded are taken out until
//! the number asked for is left (Yuksel 2015, "Sample elimination for generating Poisson disk sample sets").

use rayon::prelude::*;

use super::grid::PointGrid;
use super::random::Random;
use super::surface::Surface;
use super::Sample;
use crate::math::Progress;
use crate::Result;

/// Random points per sample to keep; Yuksel recommends 5.
pub(super) const OVERSAMPLING: usize = 5;

/// Points on two sides of a thin wall, whose normals' cosine is below this, do not crowd each other.
const OTHER_SIDE: f64 = -0.3;

/// Yuksel's α, β and γ.
const ALPHA: i32 = 8;
const BETA: f64 = 0.65;
const GAMMA: f64 = 1.5;

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

/// Takes points out of `pool` until `keep` are left besides the `fixed` ones, and gives what is left in order.
///
/// `spacing` is that of the hexagonal lattice as dense as the wanted result: Yuksel's 2 r_max.
pub(super) fn eliminate(
    fixed: &[Sample],
    pool: &[Sample],
    keep: usize,
    spacing: f64,
    sided: bool,
    progress: &Progress,
) -> Result<Vec<Sample>> {
    if pool.len() <= keep {
        return Ok(pool.to_vec());
    }
    let mut grid = PointGrid::new(spacing, pool.len() + fixed.len());
    pool.iter().chain(fixed).for_each(|s| grid.insert(s.p));
    let sample = |i: u32| pool.get(i as usize).unwrap_or_else(|| &fixed[i as usize - pool.len()]);
    // Equation 3: distances below r_min weigh the same, so that removals do not only thin the densest spots.
    let nearest = spacing * (1.0 - (keep as f64 / pool.len() as f64).powf(GAMMA)) * BETA;
    let weight = |squared: f64| (1.0 - (squared.sqrt().max(nearest) / spacing).min(1.0)).powi(ALPHA);
    let crowd = |i: usize| {
        let mut sum = 0.0;
        grid.near(&pool[i].p, spacing, |j, d| {
            if j as usize != i && interact(sided, &pool[i], sample(j)) {
                sum += weight(d);
            }
        });
        sum
    };
    let weights: Vec<f64> = (0..pool.len()).into_par_iter().map(crowd).collect();
    let mut heap = Heap::new(weights);
    let remove = pool.len() - keep;
    for k in 0..remove {
        if k % 4096 == 0 {
            progress.report("blue noise", k as f64 / remove as f64)?;
        }
        let top = heap.pop();
        let gone = &pool[top as usize];
        grid.near(&gone.p, spacing, |j, d| {
            if (j as usize) < pool.len() && interact(sided, gone, sample(j)) {
                heap.lower(j, weight(d));
            }
        });
    }
    Ok((0..pool.len()).filter(|&i| heap.contains(i as u32)).map(|i| pool[i]).collect())
}

/// Max-heap of weights with the place of each entry; ties by index.
struct Heap {
    weights: Vec<f64>,
    entries: Vec<u32>,
    places: Vec<u32>,
}

impl Heap {
    fn new(weights: Vec<f64>) -> Self {
        let n = weights.len() as u32;
        let mut heap = Self { weights, entries: (0..n).collect(), places: (0..n).collect() };
        for place in (0..heap.entries.len() / 2).rev() {
            heap.sift_down(place);
        }
        heap
    }

    fn contains(&self, i: u32) -> bool {
        self.places[i as usize] != u32::MAX
    }

    fn pop(&mut self) -> u32 {
        let top = self.entries.swap_remove(0);
        self.places[top as usize] = u32::MAX;
        if !self.entries.is_empty() {
            self.places[self.entries[0] as usize] = 0;
            self.sift_down(0);
        }
        top
    }

    /// Lowers the weight of entry `i`, if it is still there.
    fn lower(&mut self, i: u32, by: f64) {
        self.weights[i as usize] -= by;
        if self.contains(i) {
            self.sift_down(self.places[i as usize] as usize);
        }
    }

    fn is_heavier(&self, a: u32, b: u32) -> bool {
        let (wa, wb) = (self.weights[a as usize], self.weights[b as usize]);
        wa > wb || wa == wb && a < b
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut largest = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.entries.len() && self.is_heavier(self.entries[child], self.entries[largest]) {
                    largest = child;
                }
            }
            if largest == place {
                return;
            }
            self.entries.swap(place, largest);
            self.places[self.entries[place] as usize] = place as u32;
            self.places[self.entries[largest] as usize] = largest as u32;
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
