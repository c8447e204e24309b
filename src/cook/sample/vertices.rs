//! Vertices that take precedence over other points of the surface: the vertices that planes meet first, and those
//! that protrude at the scale of the spacing.

use rayon::prelude::*;

use super::grid::{thin_dense_cells, PointGrid};
use super::random::Random;
use super::surface::{unit_or_zero, Surface};
use super::types::Sample;
use super::uniform::{candidates, interact, lattice_count};
use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::{CollectGuarded, GrowGuarded, ParCollectGuarded, SliceGuarded};
use voxshell_base::Result;

/// A protruding vertex is sampled unless a sample is nearer than this times the spacing.
const DISTANCE: f64 = 0.75;
/// Vertices that protrude by less than this times the spacing have no precedence.
const LEAST_PROMINENCE: f64 = 1e-3;
/// Number of directions tried for planes, and share of the samples that may go to the vertices that planes meet
/// first.
const DIRECTIONS: usize = 2000;
const EXTREME_SHARE: f64 = 0.2;
/// Number of vertices between two counts of work.
const CHUNK: usize = 4096;
/// Random points of the surface per sample, the largest number of them, and the number that makes a neighbourhood.
const PROBES_PER_SAMPLE: f64 = 8.0;
const MOST_PROBES: f64 = 200_000.0;
const NEIGHBOURHOOD: f64 = 25.0;
/// Largest number of points that count in a cell as large as the neighbourhood's radius; a flat side has 10 points
/// there.
const MOST_PER_CELL: usize = 64;

/// Returns the protruding vertices, most prominent first, that keep their distance from each other and from `taken`.
pub(super) fn prominent(surface: &Surface, taken: &[Sample], spacing: f64, progress: &Progress) -> Result<Vec<Sample>> {
    let prominence = prominences(surface, spacing, progress)?;
    let least = LEAST_PROMINENCE * spacing;
    let mut order: Vec<u32> =
        (0..prominence.len() as u32).filter(|&i| prominence[i as usize] > least).collect_guarded();
    order.sort_unstable_by(|&a, &b| prominence[b as usize].total_cmp(&prominence[a as usize]).then(a.cmp(&b)));
    let reach = DISTANCE * spacing;
    let mut all = taken.to_vec_guarded();
    let mut grid = PointGrid::new(reach, order.len() + taken.len());
    taken.iter().for_each(|s| grid.insert(s.p));
    let mut work = Work::new(progress);
    for i in order {
        let s = surface.at_vertex(i);
        let (is_taken, looked_at) =
            grid.any_near(&s.p, reach, |j| interact(surface.is_consistent, &s, &all[j as usize]));
        work.add(1 + looked_at)?;
        if !is_taken {
            grid.insert(s.p);
            all.push_guarded(s);
        }
    }
    Ok(all[taken.len()..].to_vec_guarded())
}

/// Returns the height of each vertex over the mean of the surface around it, along its mean normal; metres.
fn prominences(surface: &Surface, spacing: f64, progress: &Progress) -> Result<Vec<f64>> {
    if surface.area <= 0.0 {
        return Ok(Vec::new());
    }
    let count = (PROBES_PER_SAMPLE * lattice_count(surface.area, spacing)).clamp(100.0, MOST_PROBES);
    let mut probes = candidates(surface, count as usize, &mut Random::new(0), progress)?;
    let reach = (NEIGHBOURHOOD * surface.area / (std::f64::consts::PI * count)).sqrt();
    thin_dense_cells(&mut probes, reach, MOST_PER_CELL);
    let mut grid = PointGrid::new(reach, probes.len());
    probes.iter().for_each(|s| grid.insert(s.p));
    let over = |work: &mut Work, i: usize| {
        let vertex = surface.at_vertex(i as u32);
        let (mut sum, mut normals, mut number) = (Vec3::zeros(), vertex.n, 0.0);
        let looked_at = grid.near(&vertex.p, reach, |j, _| {
            let probe = &probes[j as usize];
            if interact(surface.is_consistent, &vertex, probe) {
                sum += probe.p;
                normals += probe.n;
                number += 1.0;
            }
        });
        work.add(1 + looked_at)?;
        Ok(if number > 0.0 { unit_or_zero(normals).dot(&(vertex.p - sum / number)) } else { 0.0 })
    };
    (0..surface.vertices.len()).into_par_iter().map_init(|| Work::new(progress), over).try_collect_guarded()
}

/// Directions from which a plane can come, and the vertex that it meets first.
pub(super) struct Extremes(Vec<Extreme>);

struct Extreme {
    direction: Vec3,
    vertex: u32,
    height: f64,
}

impl Extremes {
    pub fn new(surface: &Surface, progress: &Progress) -> Result<Self> {
        let extreme = |work: &mut Work, i: usize| {
            // A Fibonacci lattice on the sphere.
            let z = 1.0 - (2 * i + 1) as f64 / DIRECTIONS as f64;
            let (s, phi) = ((1.0 - z * z).sqrt(), i as f64 * 2.399963229728653);
            let direction = Vec3::new(s * libm::cos(phi), s * libm::sin(phi), z);
            let mut best = Extreme { direction, vertex: 0, height: f64::NEG_INFINITY };
            for (chunk, vertices) in surface.vertices.chunks(CHUNK).enumerate() {
                for (k, v) in vertices.iter().enumerate() {
                    let height = v.dot(&direction);
                    if height > best.height {
                        best = Extreme { direction, vertex: (chunk * CHUNK + k) as u32, height };
                    }
                }
                // Eight vertices take as long as one item of any other work.
                work.add(1 + vertices.len() as u64 / 8)?;
            }
            Ok(best)
        };
        let extremes = (0..DIRECTIONS).into_par_iter().map_init(|| Work::new(progress), extreme);
        Ok(Self(extremes.try_collect_guarded()?))
    }

    /// Returns vertices to add to `taken`, so that planes from all directions meet a sample nearly as early as the
    /// mesh: always the extreme vertex of the direction in which a plane could go deepest.
    pub fn missing(
        &self,
        surface: &Surface,
        taken: &[Sample],
        spacing: f64,
        progress: &Progress,
    ) -> Result<Vec<Sample>> {
        let budget = EXTREME_SHARE * lattice_count(surface.area, spacing);
        let gap = |work: &mut Work, e: &Extreme| {
            let mut support = f64::NEG_INFINITY;
            for samples in taken.chunks(CHUNK) {
                support = samples.iter().map(|s| s.p.dot(&e.direction)).fold(support, f64::max);
                work.add(1 + samples.len() as u64 / 8)?;
            }
            Ok(e.height - support)
        };
        let gaps = self.0.par_iter().map_init(|| Work::new(progress), gap);
        let mut gaps: Vec<f64> = gaps.try_collect_guarded()?;
        let mut work = Work::new(progress);
        let mut added = Vec::new();
        while (added.len() as f64) < budget {
            let deepest = (1..gaps.len()).fold(0, |best, i| if gaps[i] > gaps[best] { i } else { best });
            if gaps[deepest] <= LEAST_PROMINENCE * spacing {
                break;
            }
            let sample = surface.at_vertex(self.0[deepest].vertex);
            for (gap, e) in gaps.iter_mut().zip(&self.0) {
                *gap = gap.min(e.height - sample.p.dot(&e.direction));
            }
            work.add(DIRECTIONS as u64 / 4)?;
            added.push_guarded(sample);
        }
        Ok(added)
    }
}
