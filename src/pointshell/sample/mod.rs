//! Putting samples on a mesh. Order of precedence: corners, sharp edges, a vertex of each tiny component, then (as the
//! method says) vertices that stand out, vertices, or points of the area.
//!
//! | file | what |
//! | --- | --- |
//! | `surface`, `orient` | the mesh as seen here: welded and oriented, with sharp edges, components and normals |
//! | `edges` | corners and sharp edges |
//! | `vertices` | vertices that stand out |
//! | `uniform` | blue noise |
//! | `projection` | the DLR papers' way |
//! | `normals` | outward normals of the finished samples |
//! | `cover` | the covering radius |
//! | `grid`, `random` | neighbourhoods; pseudo-random numbers |

mod cover;
mod edges;
mod grid;
mod normals;
mod orient;
mod projection;
mod random;
mod surface;
mod uniform;
mod vertices;

use std::collections::HashSet;

use rayon::prelude::*;

use super::{round_up, tree, PointShell, Sampling, ShellOptions};
use crate::field::SignedDistance;
use crate::math::{Progress, Vec3};
use crate::mesh::TriMesh;
use crate::{Error, Result};
use edges::Creases;
use grid::PointGrid;
use random::Random;
use surface::Surface;
use vertices::Extremes;

/// A sample in the making, relative to the surface's centre.
#[derive(Clone, Copy, Debug)]
struct Sample {
    p: Vec3,
    /// Unit outward normal of the mesh there; zero where it has none.
    n: Vec3,
    component: u32,
    /// On a sharp edge or at a corner, where `n` is between the faces.
    is_sharp: bool,
}

/// Radius, as a fraction of the spacing, of the disk that has a hexagonal cell's area: √(√3 / 2π).
const CELL_RADIUS: f64 = 0.525;
/// Random points that measure what part of the area is free.
const PROBES: usize = 20_000;

/// Samples `mesh`; the options were checked.
pub(super) fn sample(
    mesh: &TriMesh,
    field: Option<&dyn SignedDistance>,
    options: &ShellOptions,
    progress: &Progress,
) -> Result<PointShell> {
    progress.report("surface", 0.0)?;
    let surface = Surface::new(mesh, options.sharp_angle);
    let creases = Creases::new(&surface, options.sharp_angle);
    let sampler = Sampler { surface: &surface, creases: &creases, options, progress };
    let (mut samples, spacing) = sampler.run()?;
    if options.method != Sampling::Features {
        sampler.add_missing_components(&mut samples);
    }
    normals::finish(&surface, &mut samples, field, spacing);
    let points: Vec<[f64; 3]> = samples.iter().map(|s| (s.p + surface.center).into()).collect();
    let normals: Vec<[f64; 3]> = samples.iter().map(|s| s.n.into()).collect();
    progress.report("sphere tree", 0.0)?;
    let mut shell = tree::build(&points, &normals, options)?;
    progress.report("covering radius", 0.0)?;
    let covered = if options.method == Sampling::Features { &creases.as_mesh(&surface) } else { mesh };
    shell.spacing = round_up(cover::covering_radius(covered, &shell));
    Ok(shell)
}

/// What [`sample`] checks against the memory limit, bytes; the options were checked.
pub(super) fn memory_needed(mesh: &TriMesh, options: &ShellOptions) -> Result<u64> {
    let unlimited = ShellOptions { memory_limit: u64::MAX, ..options.clone() };
    let surface = Surface::new(mesh, options.sharp_angle);
    let creases = Creases::new(&surface, options.sharp_angle);
    let progress = &Progress::none();
    match (Sampler { surface: &surface, creases: &creases, options: &unlimited, progress }).check_size() {
        Err(Error::TooLarge { needed, .. }) => Ok(needed),
        other => other,
    }
}

/// Samples of a hexagonal lattice of this spacing on this area.
fn lattice_count(area: f64, spacing: f64) -> f64 {
    area / (0.75f64.sqrt() * spacing * spacing)
}

struct Sampler<'a> {
    surface: &'a Surface,
    creases: &'a Creases,
    options: &'a ShellOptions,
    progress: &'a Progress<'a>,
}

impl Sampler<'_> {
    /// The samples and the spacing they were made with.
    fn run(&self) -> Result<(Vec<Sample>, f64)> {
        self.check_size()?;
        match self.options.method {
            Sampling::Projection { voxel_size } => self.projection(voxel_size),
            Sampling::Vertices => self.vertices(),
            Sampling::Uniform => self.blue_noise(false),
            Sampling::VerticesAndUniform => self.blue_noise(true),
            Sampling::Features => self.only_features(),
        }
    }

    /// Refuses what would not fit, before anything large is allocated; what it takes, bytes.
    fn check_size(&self) -> Result<u64> {
        let options = self.options;
        let on_area = match options.target_count {
            Some(target) => target as f64,
            None if options.spacing.is_nan() => 0.0,
            None => {
                let area = if options.method == Sampling::Features { 0.0 } else { self.surface.area };
                lattice_count(area, options.spacing) + self.creases.length() / options.spacing
            }
        };
        let others = match options.method {
            Sampling::Projection { voxel_size } => lattice_count(self.surface.area, voxel_size),
            Sampling::Vertices => self.surface.vertices.len() as f64,
            _ => 0.0,
        };
        let bytes = match options.method {
            Sampling::Uniform | Sampling::VerticesAndUniform => tree::BYTES_PER_SAMPLE + uniform::BYTES_PER_SAMPLE,
            _ => tree::BYTES_PER_SAMPLE,
        };
        // A float too large for u64 becomes its largest value.
        options.check_memory(on_area.max(others) as u64, bytes)
    }

    /// A spacing from which to start looking for `target` samples, metres.
    fn lattice_spacing(&self, target: usize) -> f64 {
        let spacing = (self.surface.area / (0.75f64.sqrt() * target as f64)).sqrt();
        let extent = self.surface.vertices.iter().map(|v| v.amax()).fold(0.0, f64::max);
        // Without an area, the edges; without those, anything.
        spacing.max(extent / target as f64 * 1e-3).max(f64::MIN_POSITIVE.sqrt())
    }

    /// Corners, sharp edges, and a vertex of each component that is smaller than a sample's share.
    fn features(&self, spacing: f64) -> Vec<Sample> {
        let limit = self.options.target_count.map_or(usize::MAX, |target| target / 2);
        let thin = self.creases.samples(self.surface, spacing, false).len() > limit;
        let mut samples = self.creases.samples(self.surface, spacing, thin);
        let mut area = vec![0.0; self.surface.component_count];
        for f in &self.surface.faces {
            area[self.surface.component[f.corners[0] as usize] as usize] += f.area;
        }
        let small: Vec<bool> = area.iter().map(|a| *a < spacing * spacing).collect();
        self.add_to_components(&mut samples, &small);
        samples
    }

    fn add_missing_components(&self, samples: &mut Vec<Sample>) {
        self.add_to_components(samples, &vec![true; self.surface.component_count]);
    }

    /// The most prominent vertex of each component among `wanted` that has no sample.
    fn add_to_components(&self, samples: &mut Vec<Sample>, wanted: &[bool]) {
        let mut missing = wanted.to_vec();
        samples.iter().for_each(|s| missing[s.component as usize] = false);
        let mut best: Vec<Option<u32>> = vec![None; missing.len()];
        let prominence = |i: u32| self.surface.prominence[i as usize];
        for i in 0..self.surface.vertices.len() as u32 {
            let c = self.surface.component[i as usize] as usize;
            if missing[c] && best[c].is_none_or(|b| prominence(i) > prominence(b)) {
                best[c] = Some(i);
            }
        }
        samples.extend(best.into_iter().flatten().map(|i| self.surface.at_vertex(i)));
    }

    fn blue_noise(&self, with_vertices: bool) -> Result<(Vec<Sample>, f64)> {
        let (surface, options) = (self.surface, self.options);
        let mut random = Random::new(options.seed);
        let probes = uniform::candidates(surface, PROBES, &mut random);
        let extremes = with_vertices.then(|| Extremes::new(surface));
        let fixed_at = |spacing: f64| {
            let mut fixed = self.features(spacing);
            if let Some(extremes) = &extremes {
                fixed.extend(extremes.missing(surface, &fixed, spacing));
                let vertices = vertices::prominent(surface, &fixed, spacing);
                fixed.extend(vertices);
            }
            let fill = self.free_count(&fixed, &probes, spacing);
            (fixed, fill)
        };
        let Some(target) = options.target_count else {
            let spacing = options.spacing;
            let (fixed, fill) = fixed_at(spacing);
            return Ok((self.fill(fixed, fill, spacing, &mut random)?, spacing));
        };
        let mut spacing = self.lattice_spacing(target);
        let (mut fixed, mut fill) = fixed_at(spacing);
        for round in 0..12 {
            self.progress.report("spacing", round as f64 / 12.0)?;
            let total = (fixed.len() + fill) as f64;
            if (total - target as f64).abs() <= 0.002 * target as f64 {
                break;
            }
            spacing *= (total / target as f64).sqrt().clamp(0.25, 4.0);
            (fixed, fill) = fixed_at(spacing);
        }
        // The vertices come last, the least prominent at the end.
        let features = self.features(spacing).len();
        fixed.truncate(target.max(features));
        let keep = target.saturating_sub(fixed.len());
        Ok((self.fill(fixed, keep, spacing, &mut random)?, spacing))
    }

    /// Which of `points` are not in the share of a `fixed` sample.
    fn are_free(&self, fixed: &[Sample], points: &[Sample], spacing: f64) -> Vec<bool> {
        let reach = CELL_RADIUS * spacing;
        let mut grid = PointGrid::new(reach, fixed.len());
        fixed.iter().for_each(|s| grid.insert(s.p));
        let is_free = |point: &Sample| {
            let mut free = true;
            grid.near(&point.p, reach, |j, _| {
                free &= !uniform::interact(self.surface.is_consistent, point, &fixed[j as usize]);
            });
            free
        };
        points.par_iter().map(is_free).collect()
    }

    /// How many samples a lattice has on the part of the area that is not the share of a `fixed` sample.
    fn free_count(&self, fixed: &[Sample], probes: &[Sample], spacing: f64) -> usize {
        let free = self.are_free(fixed, probes, spacing).into_iter().filter(|f| *f).count();
        (lattice_count(self.surface.area, spacing) * free as f64 / probes.len().max(1) as f64).round() as usize
    }

    /// `fixed` and `keep` samples of blue noise between them.
    fn fill(&self, mut fixed: Vec<Sample>, keep: usize, spacing: f64, random: &mut Random) -> Result<Vec<Sample>> {
        if keep == 0 {
            return Ok(fixed);
        }
        let on_area = (lattice_count(self.surface.area, spacing).ceil() as usize).max(keep);
        let mut pool = uniform::candidates(self.surface, on_area * uniform::OVERSAMPLING, random);
        let mut free = self.are_free(&fixed, &pool, spacing).into_iter();
        if free.as_slice().iter().filter(|f| **f).count() >= keep {
            pool.retain(|_| free.next() == Some(true));
        }
        fixed.extend(uniform::eliminate(&fixed, pool, keep, spacing, self.surface.is_consistent, self.progress)?);
        Ok(fixed)
    }

    /// Every vertex, or the target number of them: corners, and of the others what blue noise leaves.
    fn vertices(&self) -> Result<(Vec<Sample>, f64)> {
        let surface = self.surface;
        let mut samples: Vec<Sample> = (0..surface.vertices.len() as u32).map(|i| surface.at_vertex(i)).collect();
        let bits = |s: &Sample| [s.p.x, s.p.y, s.p.z].map(|c| (c + 0.0).to_bits());
        let positions = |samples: &[Sample]| samples.iter().map(bits).collect::<HashSet<_>>();
        if let Some(target) = self.options.target_count {
            let spacing = self.lattice_spacing(target);
            if target < samples.len() {
                let thin = self.creases.corner_samples(surface, spacing, false).len() > target / 2;
                let mut fixed = self.creases.corner_samples(surface, spacing, thin);
                let taken = positions(&fixed);
                samples.retain(|s| !taken.contains(&bits(s)));
                let keep = target.saturating_sub(fixed.len());
                let sided = surface.is_consistent;
                fixed.extend(uniform::eliminate(&fixed, samples, keep, spacing, sided, self.progress)?);
                samples = fixed;
            }
            return Ok((samples, spacing));
        }
        if self.options.spacing.is_nan() {
            return Ok((samples, f64::INFINITY));
        }
        // Sharp edges between the vertices.
        let taken = positions(&samples);
        let along = self.creases.samples(surface, self.options.spacing, false);
        samples.extend(along.into_iter().filter(|s| !taken.contains(&bits(s))));
        Ok((samples, self.options.spacing))
    }

    /// Corners and sharp edges, at the spacing or about as many as the target.
    fn only_features(&self) -> Result<(Vec<Sample>, f64)> {
        if self.creases.is_empty() {
            return Err(Error::InvalidMesh(format!(
                "it has no corners, open edges, or edges sharper than {} rad; expected some, to sample only those",
                self.options.sharp_angle
            )));
        }
        let Some(target) = self.options.target_count else {
            let spacing = self.options.spacing;
            return Ok((self.creases.samples(self.surface, spacing, false), spacing));
        };
        let at = |spacing: f64| {
            let all = self.creases.samples(self.surface, spacing, false);
            let is_thin =
                all.len() > target && self.creases.corner_samples(self.surface, spacing, false).len() > target;
            if is_thin {
                self.creases.samples(self.surface, spacing, true)
            } else {
                all
            }
        };
        let spacing = (self.creases.length() / target as f64).max(f64::MIN_POSITIVE.sqrt());
        closest_to_target(target, spacing, |ratio| ratio, |s| Ok(at(s)))
    }

    fn projection(&self, voxel_size: f64) -> Result<(Vec<Sample>, f64)> {
        let at = |spacing: f64, voxel: f64| -> Result<Vec<Sample>> {
            let mut samples = self.features(spacing);
            let projected = projection::project(self.surface, &samples, voxel, spacing, self.progress)?;
            samples.extend(projected);
            Ok(samples)
        };
        let Some(target) = self.options.target_count else {
            let spacing = if self.options.spacing.is_nan() { 2f64.sqrt() * voxel_size } else { self.options.spacing };
            return Ok((at(spacing, voxel_size)?, spacing));
        };
        closest_to_target(target, self.lattice_spacing(target), f64::sqrt, |s| at(s, voxel_size.min(s / 2f64.sqrt())))
    }
}

/// The samples whose number is nearest the target, and their spacing: of a few tries that start at `spacing`, which
/// `growth` changes by the ratio of what there was to what there should be.
fn closest_to_target(
    target: usize,
    mut spacing: f64,
    growth: fn(f64) -> f64,
    at: impl Fn(f64) -> Result<Vec<Sample>>,
) -> Result<(Vec<Sample>, f64)> {
    let mut best: Option<(usize, Vec<Sample>, f64)> = None;
    for _ in 0..10 {
        let samples = at(spacing)?;
        let count = samples.len();
        let miss = count.abs_diff(target);
        if best.as_ref().is_none_or(|b| miss < b.0) {
            best = Some((miss, samples, spacing));
        }
        if miss * 200 <= target {
            break;
        }
        spacing *= growth(count as f64 / target as f64).clamp(0.25, 4.0);
    }
    let (_, samples, spacing) = best.expect("at least one round");
    Ok((samples, spacing))
}
