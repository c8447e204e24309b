//! Putting samples on a mesh. Order of precedence: corners, sharp edges, then (as the method says) vertices that stand
//! out, vertices, or points of the area.
//!
//! | file | what |
//! | --- | --- |
//! | `surface`, `orient` | the mesh as seen here: welded and oriented, with sharp edges, components and normals |
//! | `edges` | corners and sharp edges |
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

use super::{round_up, tree, PointShell, Sampling, ShellOptions};
use crate::field::SignedDistance;
use crate::math::{Progress, Vec3};
use crate::mesh::TriMesh;
use crate::Result;
use edges::Creases;
use grid::PointGrid;
use random::Random;
use surface::Surface;

/// A sample in the making, relative to the surface's centre.
#[derive(Clone, Copy, Debug)]
struct Sample {
    p: Vec3,
    /// Unit outward normal of the mesh there; zero where it has none.
    n: Vec3,
    component: u32,
}

/// A vertex that stands out is sampled unless a sample is nearer than this times the spacing.
const VERTEX_DISTANCE: f64 = 0.6;
/// Vertices that stand out by less than this times the spacing have no precedence.
const LEAST_PROMINENCE: f64 = 1e-3;
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
    sampler.add_missing_components(&mut samples);
    normals::finish(&surface, &mut samples, field, spacing);
    let points: Vec<[f64; 3]> = samples.iter().map(|s| (s.p + surface.center).into()).collect();
    let normals: Vec<[f64; 3]> = samples.iter().map(|s| s.n.into()).collect();
    progress.report("sphere tree", 0.0)?;
    let mut shell = tree::build(&points, &normals, options)?;
    progress.report("covering radius", 0.0)?;
    shell.spacing = round_up(cover::covering_radius(mesh, &shell));
    Ok(shell)
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
        }
    }

    /// Refuses what would not fit, before anything large is allocated.
    fn check_size(&self) -> Result<()> {
        let options = self.options;
        let on_area = match options.target_count {
            Some(target) => target as f64,
            None if options.spacing.is_nan() => 0.0,
            None => lattice_count(self.surface.area, options.spacing) + self.creases.length() / options.spacing,
        };
        let others = match options.method {
            Sampling::Projection { voxel_size } => lattice_count(self.surface.area, voxel_size),
            Sampling::Vertices => self.surface.vertices.len() as f64,
            _ => 0.0,
        };
        // A float too large for u64 becomes its largest value.
        options.check_memory(on_area.max(others).max(self.creases.corners.len() as f64) as u64)
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
        let mut samples = self.creases.samples(self.surface, spacing);
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

    /// Vertices that stand out, most prominent first, that keep their distance from each other and from `taken`.
    fn prominent_vertices(&self, taken: &[Sample], spacing: f64) -> Vec<Sample> {
        let surface = self.surface;
        let prominence = |i: u32| surface.prominence[i as usize];
        let least = LEAST_PROMINENCE * spacing;
        let mut order: Vec<u32> = (0..surface.vertices.len() as u32).filter(|&i| prominence(i) > least).collect();
        order.sort_unstable_by(|&a, &b| prominence(b).total_cmp(&prominence(a)).then(a.cmp(&b)));
        let reach = VERTEX_DISTANCE * spacing;
        let mut all = taken.to_vec();
        let mut grid = PointGrid::new(reach, order.len() + taken.len());
        taken.iter().for_each(|s| grid.insert(s.p));
        for i in order {
            let s = surface.at_vertex(i);
            let mut is_free = true;
            grid.near(&s.p, reach, |j, _| is_free &= !uniform::interact(surface.is_consistent, &s, &all[j as usize]));
            if is_free {
                grid.insert(s.p);
                all.push(s);
            }
        }
        all.split_off(taken.len())
    }

    fn blue_noise(&self, with_vertices: bool) -> Result<(Vec<Sample>, f64)> {
        let (surface, options) = (self.surface, self.options);
        let mut random = Random::new(options.seed);
        let probes = uniform::candidates(surface, PROBES, &mut random);
        let fixed_at = |spacing: f64| {
            let mut fixed = self.features(spacing);
            if with_vertices {
                let vertices = self.prominent_vertices(&fixed, spacing);
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

    /// How many samples a lattice has on the part of the area that is not the share of a `fixed` sample.
    fn free_count(&self, fixed: &[Sample], probes: &[Sample], spacing: f64) -> usize {
        if probes.is_empty() {
            return 0;
        }
        let reach = CELL_RADIUS * spacing;
        let mut grid = PointGrid::new(reach, fixed.len());
        fixed.iter().for_each(|s| grid.insert(s.p));
        let is_free = |probe: &&Sample| {
            let mut free = true;
            grid.near(&probe.p, reach, |j, _| {
                free &= !uniform::interact(self.surface.is_consistent, probe, &fixed[j as usize]);
            });
            free
        };
        let free = probes.iter().filter(is_free).count();
        (lattice_count(self.surface.area, spacing) * free as f64 / probes.len() as f64).round() as usize
    }

    fn fill(&self, mut fixed: Vec<Sample>, keep: usize, spacing: f64, random: &mut Random) -> Result<Vec<Sample>> {
        // Candidates in the fixed samples' shares go first, so their number is that for the whole area.
        let on_area = (lattice_count(self.surface.area, spacing).ceil() as usize).max(keep);
        let pool = uniform::candidates(self.surface, on_area * uniform::OVERSAMPLING, random);
        if keep > 0 {
            let sided = self.surface.is_consistent;
            fixed.extend(uniform::eliminate(&fixed, &pool, keep, spacing, sided, self.progress)?);
        }
        Ok(fixed)
    }

    fn vertices(&self) -> Result<(Vec<Sample>, f64)> {
        let surface = self.surface;
        let all = 0..surface.vertices.len() as u32;
        let spacing = match self.options.target_count {
            Some(target) => self.lattice_spacing(target),
            None if self.options.spacing.is_nan() => f64::INFINITY,
            None => self.options.spacing,
        };
        let (fixed, keep) = match self.options.target_count {
            // Corners stay; what else of the vertices is decided by crowding.
            Some(target) => {
                let fixed: Vec<Sample> = self.creases.corners.iter().map(|&i| surface.at_vertex(i)).collect();
                let keep = target.saturating_sub(fixed.len());
                (fixed, keep)
            }
            None => (vec![], usize::MAX),
        };
        let mut is_fixed = vec![false; surface.vertices.len()];
        if !fixed.is_empty() {
            self.creases.corners.iter().for_each(|&i| is_fixed[i as usize] = true);
        }
        let pool: Vec<Sample> = all.filter(|&i| !is_fixed[i as usize]).map(|i| surface.at_vertex(i)).collect();
        let sided = surface.is_consistent;
        let kept = uniform::eliminate(&fixed, &pool, keep, spacing, sided, self.progress)?;
        let mut samples: Vec<Sample> = fixed.into_iter().chain(kept).collect();
        if self.options.target_count.is_none() && spacing.is_finite() {
            // Long sharp edges between the vertices.
            let along = self.creases.samples(surface, spacing);
            let at_vertices: std::collections::HashSet<[u64; 3]> = samples.iter().map(|s| bits(&s.p)).collect();
            samples.extend(along.into_iter().filter(|s| !at_vertices.contains(&bits(&s.p))));
        }
        Ok((samples, spacing))
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
        let mut spacing = self.lattice_spacing(target);
        let mut best: Option<(usize, Vec<Sample>, f64)> = None;
        for _ in 0..10 {
            let samples = at(spacing, voxel_size.min(spacing / 2f64.sqrt()))?;
            let count = samples.len();
            let miss = count.abs_diff(target);
            if best.as_ref().is_none_or(|b| miss < b.0) {
                best = Some((miss, samples, spacing));
            }
            if miss * 200 <= target {
                break;
            }
            spacing *= (count as f64 / target as f64).sqrt().clamp(0.25, 4.0);
        }
        let (_, samples, spacing) = best.expect("at least one round");
        Ok((samples, spacing))
    }
}

fn bits(p: &Vec3) -> [u64; 3] {
    [p.x, p.y, p.z].map(|c| (c + 0.0).to_bits())
}
