//! Sampling of a mesh by each of the methods.

use rayon::prelude::*;

use super::edges::Creases;
use super::grid::PointGrid;
use super::random::Random;
use super::surface::Surface;
use super::types::Sample;
use super::uniform::{self, lattice_count};
use super::vertices::{self, Extremes};
use super::{cover, normals, projection};
use voxshell_pointshell::round_up;
use voxshell_pointshell::{tree, PointShell, Sampling, ShellOptions};

use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{
    self, filled, set_with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded, SliceGuarded,
};
use voxshell_base::{Error, Result};
use voxshell_field::SignedDistance;
use voxshell_mesh::TriMesh;

/// Radius, as a fraction of the spacing, of the disk that has a hexagonal cell's area: √(√3 / 2π).
const CELL_RADIUS: f64 = 0.525;
/// Largest number of bytes for the surface and its creases per triangle; and for each triangle of the mesh, including
/// repeats.
const BYTES_PER_TRIANGLE: u64 = 600;
const BYTES_PER_GIVEN: u64 = 200;
/// Number of random points that measure the free fraction of the area.
const PROBES: usize = 20_000;

/// Samples a mesh (body frame, metres), any triangle soup.
///
/// With every method, corners and sharp edges are sampled first, and each connected component gets at least one
/// sample, except with [`Sampling::Features`]. Normals come from `field`'s gradient where that is strong, else
/// from the triangles. `spacing` of the result is an upper bound, within 1%, of the covering radius.
///
/// The same mesh and options give the same bytes on any number of threads.
///
/// # Errors
/// `InvalidMesh` for a mesh without triangles, and with [`Sampling::Features`] for one without corners and sharp
/// edges; invalid options, too much memory, cancellation.
pub fn sample(
    mesh: &TriMesh,
    field: Option<&dyn SignedDistance>,
    options: &ShellOptions,
    progress: &Progress,
) -> Result<PointShell> {
    check(mesh, options)?;
    progress.guard("sampling a pointshell", || sample_checked(mesh, field, options, progress))
}

/// Returns the memory that [`sample`] checks against the limit, bytes: with a limit of one byte less
/// it refuses. The limit in `options` is ignored.
///
/// # Errors
/// `InvalidMesh` and invalid options, as for `sample`.
pub fn memory_needed(mesh: &TriMesh, options: &ShellOptions) -> Result<u64> {
    check(mesh, options)?;
    memory::guard("estimating memory", || memory_needed_checked(mesh, options))
}

fn check(mesh: &TriMesh, options: &ShellOptions) -> Result<()> {
    options.check_tree()?;
    options.check_sampling()?;
    if mesh.triangles.is_empty() {
        return Err(Error::InvalidMesh("it has no triangles; expected at least one to sample".into()));
    }
    mesh.check_extent()?;
    Ok(())
}

/// Samples `mesh`; the options were checked.
fn sample_checked(
    mesh: &TriMesh,
    field: Option<&dyn SignedDistance>,
    options: &ShellOptions,
    progress: &Progress,
) -> Result<PointShell> {
    progress.report("surface", 0.0)?;
    let surface = Surface::new(mesh, options.sharp_angle);
    progress.report("surface", 0.5)?;
    let creases = Creases::new(&surface, options.sharp_angle);
    let given = mesh.triangles.len();
    let sampler = Sampler { given, surface: &surface, creases: &creases, options, progress };
    let (mut samples, spacing) = sampler.run()?;
    if options.method != Sampling::Features {
        sampler.add_missing_components(&mut samples);
    }
    normals::finish(&surface, &mut samples, field, spacing);
    let points: Vec<[f64; 3]> = samples.iter().map(|s| (s.p + surface.center).into()).collect_guarded();
    let normals: Vec<[f64; 3]> = samples.iter().map(|s| s.n.into()).collect_guarded();
    progress.report("sphere tree", 0.0)?;
    let mut shell = tree::build(&points, &normals, options, progress)?;
    progress.report("covering radius", 0.0)?;
    let covered = if options.method == Sampling::Features { &creases.as_mesh(&surface) } else { mesh };
    shell.spacing = round_up(cover::covering_radius(covered, &shell, progress)?);
    Ok(shell)
}

/// Returns the memory that [`sample_checked`] checks against the limit, bytes; the options were checked.
fn memory_needed_checked(mesh: &TriMesh, options: &ShellOptions) -> Result<u64> {
    let unlimited = ShellOptions { memory_limit: u64::MAX, ..options.clone() };
    let surface = Surface::new(mesh, options.sharp_angle);
    let creases = Creases::new(&surface, options.sharp_angle);
    let progress = &Progress::none();
    let given = mesh.triangles.len();
    match (Sampler { given, surface: &surface, creases: &creases, options: &unlimited, progress }).check_size() {
        Err(Error::TooLarge { needed, .. } | Error::TooMany { needed, .. }) => Ok(needed),
        other => other,
    }
}

/// Returns a bound on the memory for sampling an offset surface that is not yet made, bytes: its area, metres squared, the
/// number of its triangles, and the length of their edges, metres.
pub fn bytes_on(area: f64, triangles: f64, edge: f64, options: &ShellOptions) -> f64 {
    let spacing = match options.method {
        Sampling::Projection { voxel_size } => voxel_size,
        _ => options.spacing,
    };
    let on_area = options.target_count.map_or(lattice_count(area, spacing), |target| target as f64);
    // Where the surface has creases, they are as long as its triangles are dense.
    let creases = CREASED * triangles;
    let steps = match options.target_count {
        Some(target) => target as f64,
        None if spacing > 0.0 => creases * edge / spacing,
        None => 0.0,
    };
    // A closed surface has half as many vertices as triangles.
    let vertices = 0.5 * triangles;
    let (of_method, noisy) = match options.method {
        Sampling::Projection { .. } => (on_area, 0.0),
        Sampling::Features => (0.0, 0.0),
        Sampling::Vertices => (vertices, on_area.min(vertices)),
        Sampling::Uniform | Sampling::VerticesAndUniform => (on_area, on_area),
    };
    let samples = of_method + creases + Creases::MOST_PER_STEP * steps;
    let blue_noise = uniform::BYTES_PER_SAMPLE as f64 * noisy;
    samples * tree::BYTES_PER_SAMPLE as f64 + triangles * (BYTES_PER_TRIANGLE + BYTES_PER_GIVEN) as f64 + blue_noise
}

/// Largest share of the triangles of an offset surface that have a crease.
const CREASED: f64 = 0.25;

struct Sampler<'a> {
    /// Number of triangles of the mesh, including repeats.
    given: usize,
    surface: &'a Surface,
    creases: &'a Creases,
    options: &'a ShellOptions,
    progress: &'a Progress<'a>,
}

impl Sampler<'_> {
    /// Returns the samples and the spacing with which they were made.
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

    /// Refuses a sampling that exceeds the memory limit, before anything large is allocated; returns the needed
    /// memory, bytes.
    fn check_size(&self) -> Result<u64> {
        let options = self.options;
        let on_area = match options.target_count {
            Some(target) => target as f64,
            None if options.spacing.is_nan() => 0.0,
            None if options.method == Sampling::Features => 0.0,
            None => lattice_count(self.surface.area, options.spacing),
        };
        let others = match options.method {
            Sampling::Projection { voxel_size } => lattice_count(self.surface.area, voxel_size),
            Sampling::Vertices => self.surface.vertices.len() as f64,
            _ => 0.0,
        };
        let spacing = match options.target_count {
            Some(target) => self.creases.length() / target as f64,
            None => options.spacing,
        };
        let features = self.creases.most_samples(spacing) + self.surface.component_count as f64;
        let is_blue_noise =
            matches!(options.method, Sampling::Uniform | Sampling::VerticesAndUniform | Sampling::Vertices);
        // Vertices are thinned to fewer, never to more.
        let noisy = if options.method == Sampling::Vertices { on_area.min(others) } else { on_area };
        let blue_noise = if is_blue_noise { uniform::BYTES_PER_SAMPLE as f64 * noisy } else { 0.0 };
        let samples = on_area.max(others) + features;
        // A float too large for u64 becomes its largest value.
        let triangles = BYTES_PER_TRIANGLE * self.surface.faces.len() as u64 + BYTES_PER_GIVEN * self.given as u64;
        options.check_memory(samples as u64, tree::BYTES_PER_SAMPLE, triangles.saturating_add(blue_noise as u64))
    }

    /// Returns a start value of the spacing for `target` samples, metres.
    fn lattice_spacing(&self, target: usize) -> f64 {
        let spacing = (self.surface.area / (0.75f64.sqrt() * target as f64)).sqrt();
        let extent = self.surface.vertices.iter().map(|v| v.amax()).fold(0.0, f64::max);
        // For slivers, the edges decide, which at the spacing of the area alone would take any number of samples;
        // without edges, a fraction of the extent.
        let edges = self.creases.length() / target as f64 * 1e-2;
        spacing.max(edges).max(extent / target as f64 * 1e-3).max(f64::MIN_POSITIVE.sqrt())
    }

    /// Returns samples of corners, sharp edges, and a vertex of each component that is smaller than a sample's share.
    fn features(&self, spacing: f64) -> Result<Vec<Sample>> {
        let limit = self.options.target_count.map_or(usize::MAX, |target| target / 2);
        let mut samples = self.crease_samples(spacing, false)?;
        if samples.len() > limit {
            samples = self.crease_samples(spacing, true)?;
        }
        let mut area = filled(0.0, self.surface.component_count);
        for f in &self.surface.faces {
            area[self.surface.component[f.corners[0] as usize] as usize] += f.area;
        }
        let small: Vec<bool> = area.iter().map(|a| *a < spacing * spacing).collect_guarded();
        self.add_to_components(&mut samples, &small);
        Ok(samples)
    }

    fn crease_samples(&self, spacing: f64, thin: bool) -> Result<Vec<Sample>> {
        self.creases.samples(self.surface, spacing, thin, self.progress)
    }

    fn corner_samples(&self, spacing: f64, thin: bool) -> Result<Vec<Sample>> {
        self.creases.corner_samples(self.surface, spacing, thin, self.progress)
    }

    fn add_missing_components(&self, samples: &mut Vec<Sample>) {
        self.add_to_components(samples, &filled(true, self.surface.component_count));
    }

    /// Adds the most prominent vertex of each component among `wanted` that has no sample.
    fn add_to_components(&self, samples: &mut Vec<Sample>, wanted: &[bool]) {
        let mut missing = wanted.to_vec_guarded();
        samples.iter().for_each(|s| missing[s.component as usize] = false);
        let mut best: Vec<Option<u32>> = filled(None, missing.len());
        let prominence = |i: u32| self.surface.prominence[i as usize];
        for i in 0..self.surface.vertices.len() as u32 {
            let c = self.surface.component[i as usize] as usize;
            if missing[c] && best[c].is_none_or(|b| prominence(i) > prominence(b)) {
                best[c] = Some(i);
            }
        }
        samples.extend_guarded(best.into_iter().flatten().map(|i| self.surface.at_vertex(i)));
    }

    fn blue_noise(&self, with_vertices: bool) -> Result<(Vec<Sample>, f64)> {
        let (surface, options) = (self.surface, self.options);
        let mut random = Random::new(options.seed);
        let probes = uniform::candidates(surface, PROBES, &mut random, self.progress)?;
        let extremes = with_vertices.then(|| Extremes::new(surface, self.progress)).transpose()?;
        let fixed_at = |spacing: f64| -> Result<(Vec<Sample>, usize)> {
            let mut fixed = self.features(spacing)?;
            if let Some(extremes) = &extremes {
                fixed.extend_guarded(extremes.missing(surface, &fixed, spacing, self.progress)?);
                let vertices = vertices::prominent(surface, &fixed, spacing, self.progress)?;
                fixed.extend_guarded(vertices);
            }
            let fill = self.free_count(&fixed, &probes, spacing)?;
            Ok((fixed, fill))
        };
        let Some(target) = options.target_count else {
            let spacing = options.spacing;
            let (fixed, fill) = fixed_at(spacing)?;
            return Ok((self.fill(fixed, fill, spacing, &mut random)?, spacing));
        };
        let mut spacing = self.lattice_spacing(target);
        let (mut fixed, mut fill) = fixed_at(spacing)?;
        for round in 0..12 {
            self.progress.report("spacing", round as f64 / 12.0)?;
            let total = (fixed.len() + fill) as f64;
            if (total - target as f64).abs() <= 0.002 * target as f64 {
                break;
            }
            spacing *= (total / target as f64).sqrt().clamp(0.25, 4.0);
            (fixed, fill) = fixed_at(spacing)?;
        }
        // The vertices come last, the least prominent at the end.
        let features = self.features(spacing)?.len();
        fixed.truncate(target.max(features));
        let keep = target.saturating_sub(fixed.len());
        Ok((self.fill(fixed, keep, spacing, &mut random)?, spacing))
    }

    /// Returns which of `points` are outside the share of every `fixed` sample.
    fn are_free(&self, fixed: &[Sample], points: &[Sample], spacing: f64) -> Result<Vec<bool>> {
        let reach = CELL_RADIUS * spacing;
        let mut grid = PointGrid::new(reach, fixed.len());
        fixed.iter().for_each(|s| grid.insert(s.p));
        let is_free = |work: &mut Work, point: &Sample| {
            let sided = self.surface.is_consistent;
            let (is_taken, looked_at) =
                grid.any_near(&point.p, reach, |j| uniform::interact(sided, point, &fixed[j as usize]));
            work.add(1 + looked_at)?;
            Ok(!is_taken)
        };
        points.par_iter().map_init(|| Work::new(self.progress), is_free).try_collect_guarded()
    }

    /// Returns the number of samples of a lattice on the part of the area that is outside the share of every `fixed`
    /// sample.
    fn free_count(&self, fixed: &[Sample], probes: &[Sample], spacing: f64) -> Result<usize> {
        let free = self.are_free(fixed, probes, spacing)?.into_iter().filter(|f| *f).count();
        Ok((lattice_count(self.surface.area, spacing) * free as f64 / probes.len().max(1) as f64).round() as usize)
    }

    /// Returns `fixed` and `keep` samples of blue noise between them, fewer where the surface is already dense.
    fn fill(&self, mut fixed: Vec<Sample>, keep: usize, spacing: f64, random: &mut Random) -> Result<Vec<Sample>> {
        if keep == 0 {
            return Ok(fixed);
        }
        self.progress.report("candidates", 0.0)?;
        let on_area = (lattice_count(self.surface.area, spacing).ceil() as usize).max(keep);
        let mut pool = uniform::candidates(self.surface, on_area * uniform::OVERSAMPLING, random, self.progress)?;
        let mut free = self.are_free(&fixed, &pool, spacing)?.into_iter();
        if free.as_slice().iter().filter(|f| **f).count() >= keep {
            pool.retain(|_| free.next() == Some(true));
        }
        drop(free);
        let keep = uniform::thin(&mut pool, keep, spacing);
        fixed.extend_guarded(uniform::eliminate(
            &fixed,
            pool,
            keep,
            spacing,
            self.surface.is_consistent,
            self.progress,
        )?);
        Ok(fixed)
    }

    /// Returns every vertex, or the target number of them: corners, and the others that blue noise leaves.
    fn vertices(&self) -> Result<(Vec<Sample>, f64)> {
        let surface = self.surface;
        let mut samples: Vec<Sample> =
            (0..surface.vertices.len() as u32).map(|i| surface.at_vertex(i)).collect_guarded();
        let bits = |s: &Sample| [s.p.x, s.p.y, s.p.z].map(|c| (c + 0.0).to_bits());
        let positions = |samples: &[Sample]| {
            let mut set = set_with_capacity(samples.len());
            set.extend(samples.iter().map(bits));
            set
        };
        if let Some(target) = self.options.target_count {
            let spacing = self.lattice_spacing(target);
            if target < samples.len() {
                let thin = self.corner_samples(spacing, false)?.len() > target / 2;
                let mut fixed = self.corner_samples(spacing, thin)?;
                let taken = positions(&fixed);
                samples.retain(|s| !taken.contains(&bits(s)));
                let keep = target.saturating_sub(fixed.len());
                uniform::thin(&mut samples, keep, spacing);
                let sided = surface.is_consistent;
                fixed.extend_guarded(uniform::eliminate(&fixed, samples, keep, spacing, sided, self.progress)?);
                samples = fixed;
            }
            return Ok((samples, spacing));
        }
        if self.options.spacing.is_nan() {
            return Ok((samples, f64::INFINITY));
        }
        // Sharp edges between the vertices.
        let taken = positions(&samples);
        let along = self.crease_samples(self.options.spacing, false)?;
        samples.extend_guarded(along.into_iter().filter(|s| !taken.contains(&bits(s))));
        Ok((samples, self.options.spacing))
    }

    /// Returns corners and sharp edges, at the spacing or about as many as the target.
    fn only_features(&self) -> Result<(Vec<Sample>, f64)> {
        if self.creases.is_empty() {
            return Err(Error::InvalidMesh(format!(
                "it has no corners, open edges, or edges sharper than {} rad; expected some, to sample only those",
                self.options.sharp_angle
            )));
        }
        let Some(target) = self.options.target_count else {
            let spacing = self.options.spacing;
            return Ok((self.crease_samples(spacing, false)?, spacing));
        };
        let at = |spacing: f64| {
            let all = self.crease_samples(spacing, false)?;
            if all.len() > target && self.corner_samples(spacing, false)?.len() > target {
                return self.crease_samples(spacing, true);
            }
            Ok(all)
        };
        let spacing = (self.creases.length() / target as f64).max(f64::MIN_POSITIVE.sqrt());
        closest_to_target(target, spacing, |ratio| ratio, at)
    }

    fn projection(&self, voxel_size: f64) -> Result<(Vec<Sample>, f64)> {
        let at = |spacing: f64, voxel: f64| -> Result<Vec<Sample>> {
            let mut samples = self.features(spacing)?;
            let projected = projection::project(self.surface, &samples, voxel, spacing, self.progress)?;
            samples.extend_guarded(projected);
            Ok(samples)
        };
        let Some(target) = self.options.target_count else {
            let spacing = if self.options.spacing.is_nan() { 2f64.sqrt() * voxel_size } else { self.options.spacing };
            return Ok((at(spacing, voxel_size)?, spacing));
        };
        closest_to_target(target, self.lattice_spacing(target), f64::sqrt, |s| at(s, voxel_size.min(s / 2f64.sqrt())))
    }
}

/// Returns the samples whose number is nearest the target, and their spacing, from a few tries that start at
/// `spacing`. `growth` changes the spacing by the ratio of the present number to the target.
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
