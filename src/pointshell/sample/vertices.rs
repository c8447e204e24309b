//! Which vertices take precedence over other points of the surface: those that planes meet first, and those that stick
//! out at the scale of the spacing.

use rayon::prelude::*;

use super::grid::PointGrid;
use super::random::Random;
use super::surface::{unit_or_zero, Surface};
use super::uniform::{candidates, interact};
use super::{lattice_count, Sample};
use crate::math::Vec3;

/// A vertex that stands out is sampled unless a sample is nearer than this times the spacing.
const DISTANCE: f64 = 0.75;
/// Vertices that stand out by less than this times the spacing have no precedence.
const LEAST_PROMINENCE: f64 = 1e-3;
/// Directions tried for planes, and the share of the samples that may go to what meets them first.
const DIRECTIONS: usize = 2000;
const EXTREME_SHARE: f64 = 0.2;
/// Random points of the surface per sample, at most so many, and how many of them make a neighbourhood.
const PROBES_PER_SAMPLE: f64 = 8.0;
const MOST_PROBES: f64 = 200_000.0;
const NEIGHBOURHOOD: f64 = 25.0;

/// Vertices that stand out, most prominent first, that keep their distance from each other and from `taken`.
pub(super) fn prominent(surface: &Surface, taken: &[Sample], spacing: f64) -> Vec<Sample> {
    let prominence = prominences(surface, spacing);
    let least = LEAST_PROMINENCE * spacing;
    let mut order: Vec<u32> = (0..prominence.len() as u32).filter(|&i| prominence[i as usize] > least).collect();
    order.sort_unstable_by(|&a, &b| prominence[b as usize].total_cmp(&prominence[a as usize]).then(a.cmp(&b)));
    let reach = DISTANCE * spacing;
    let mut all = taken.to_vec();
    let mut grid = PointGrid::new(reach, order.len() + taken.len());
    taken.iter().for_each(|s| grid.insert(s.p));
    for i in order {
        let s = surface.at_vertex(i);
        let mut is_free = true;
        grid.near(&s.p, reach, |j, _| is_free &= !interact(surface.is_consistent, &s, &all[j as usize]));
        if is_free {
            grid.insert(s.p);
            all.push(s);
        }
    }
    all.split_off(taken.len())
}

/// How far each vertex stands out over the mean of the surface around it, along its mean normal; metres.
fn prominences(surface: &Surface, spacing: f64) -> Vec<f64> {
    if surface.area <= 0.0 {
        return vec![];
    }
    let count = (PROBES_PER_SAMPLE * lattice_count(surface.area, spacing)).clamp(100.0, MOST_PROBES);
    let probes = candidates(surface, count as usize, &mut Random::new(0));
    let reach = (NEIGHBOURHOOD * surface.area / (std::f64::consts::PI * count)).sqrt();
    let mut grid = PointGrid::new(reach, probes.len());
    probes.iter().for_each(|s| grid.insert(s.p));
    let over = |i: usize| {
        let vertex = surface.at_vertex(i as u32);
        let (mut sum, mut normals, mut number) = (Vec3::zeros(), vertex.n, 0.0);
        grid.near(&vertex.p, reach, |j, _| {
            let probe = &probes[j as usize];
            if interact(surface.is_consistent, &vertex, probe) {
                sum += probe.p;
                normals += probe.n;
                number += 1.0;
            }
        });
        if number > 0.0 {
            unit_or_zero(normals).dot(&(vertex.p - sum / number))
        } else {
            0.0
        }
    };
    (0..surface.vertices.len()).into_par_iter().map(over).collect()
}

/// Directions in which a plane can come, and the vertex that meets it first.
pub(super) struct Extremes(Vec<Extreme>);

struct Extreme {
    direction: Vec3,
    vertex: u32,
    height: f64,
}

impl Extremes {
    pub fn new(surface: &Surface) -> Self {
        let extreme = |i: usize| {
            // A Fibonacci lattice on the sphere.
            let z = 1.0 - (2 * i + 1) as f64 / DIRECTIONS as f64;
            let (s, phi) = ((1.0 - z * z).sqrt(), i as f64 * 2.399963229728653);
            let direction = Vec3::new(s * libm::cos(phi), s * libm::sin(phi), z);
            let mut best = Extreme { direction, vertex: 0, height: f64::NEG_INFINITY };
            for (k, v) in surface.vertices.iter().enumerate() {
                let height = v.dot(&direction);
                if height > best.height {
                    best = Extreme { direction, vertex: k as u32, height };
                }
            }
            best
        };
        Self((0..DIRECTIONS).into_par_iter().map(extreme).collect())
    }

    /// Vertices to add to `taken`, so that planes from all directions meet a sample nearly as soon as the mesh: always the
    /// extreme vertex of the direction in which a plane could go deepest.
    pub fn missing(&self, surface: &Surface, taken: &[Sample], spacing: f64) -> Vec<Sample> {
        let budget = EXTREME_SHARE * lattice_count(surface.area, spacing);
        let support = |e: &Extreme| taken.iter().map(|s| s.p.dot(&e.direction)).fold(f64::NEG_INFINITY, f64::max);
        let mut gaps: Vec<f64> = self.0.par_iter().map(|e| e.height - support(e)).collect();
        let mut added = vec![];
        while (added.len() as f64) < budget {
            let deepest = (1..gaps.len()).fold(0, |best, i| if gaps[i] > gaps[best] { i } else { best });
            if gaps[deepest] <= LEAST_PROMINENCE * spacing {
                break;
            }
            let sample = surface.at_vertex(self.0[deepest].vertex);
            for (gap, e) in gaps.iter_mut().zip(&self.0) {
                *gap = gap.min(e.height - sample.p.dot(&e.direction));
            }
            added.push(sample);
        }
        added
    }
}
