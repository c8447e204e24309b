//! Error of the interpolant against the mesh from which it was cooked.

use rayon::prelude::*;

use voxshell_base::math::{Progress, Vec3};
use voxshell_base::memory::{
    par_flat_collect, set_with_capacity, sort_stable_by, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded,
};
use voxshell_base::Result;
use voxshell_field::sign::Sides;
use voxshell_field::FieldError;
use voxshell_field::SignedDistance;
use voxshell_mesh::{Bvh, TriMesh};

/// Number of points on the surface, and of points within two cells of it.
const POINTS: u64 = 8192;

/// Number of points, per cell that the surface passes, at which the search for the largest error evaluates the field. It
/// measures one in [`LOOKED_AT`] of each batch, so that the search of a coarse field takes no longer than its cooking.
const CANDIDATES_PER_CELL: f64 = 16.0;
const CANDIDATES: std::ops::RangeInclusive<u32> = 1 << 12..=1 << 16;
const LOOKED_AT: usize = 16;
/// Number of candidates from which the points to be measured are chosen at once.
const BATCH: u32 = 1 << 12;

/// Rounds of the search: number of the worst cells that are measured around their worst point, and step in cells.
/// `tests/field/error.rs` states the fraction of the largest error that this finds.
const ROUNDS: [(usize, f64); 10] = [
    (512, 0.35),
    (256, 0.25),
    (128, 0.2),
    (64, 0.15),
    (64, 0.15),
    (32, 0.1),
    (32, 0.1),
    (16, 0.05),
    (8, 0.03),
    (4, 0.015),
];

/// Axes and diagonals of a cell.
const DIRECTIONS: [[f64; 3]; 7] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [DIAGONAL, DIAGONAL, DIAGONAL],
    [-DIAGONAL, DIAGONAL, DIAGONAL],
    [DIAGONAL, -DIAGONAL, DIAGONAL],
    [DIAGONAL, DIAGONAL, -DIAGONAL],
];
const DIAGONAL: f64 = 0.577;

/// Returns a number in [0, 1) from a counter (SplitMix64, Steele et al. 2014).
fn random(counter: u64) -> f64 {
    let mut z = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Measures |φ − exact| at points spread by area over `mesh`, where exact is 0, and at points moved off it by up to
/// two cells; there exact is the distance to the mesh and to the `sheets` across its holes. `spacing` is that of the
/// grid; `center` is the origin of the field's frame in the mesh's frame.
pub(super) fn measure(
    field: &impl SignedDistance,
    spacing: f32,
    center: Vec3,
    mesh: &TriMesh,
    sheets: &TriMesh,
    sides: &Sides,
    progress: &Progress,
) -> Result<FieldError> {
    // Repairs join, drop and flip triangles: if none was dropped, the triangles are those of the mesh.
    progress.report("error", 0.0)?;
    let own = (sides.mesh.triangles.len() != mesh.triangles.len()).then(|| Bvh::build(mesh));
    let bvh = own.as_ref().unwrap_or(&sides.bvh);
    let membrane = Bvh::build(sheets);
    errors(field, spacing, center, mesh, |p, near| {
        let known = match near {
            Near::On => return Ok(Some(0.0)),
            Near::Moved(on) => Known { p: on, exact: 0.0 },
            Near::Known(known) => known,
        };
        let apart = (p - known.p).norm();
        // Not farther than from the known point, and from there.
        let most = (known.exact.abs() + apart) * (1.0 + 1e-9);
        let to = |bvh: &Bvh| {
            let (closest, looked_at) = bvh.closest_within_and_work(p, most);
            progress.work(looked_at)?;
            Ok(closest.map_or(most, |c| c.distance_squared.sqrt()))
        };
        let exact = to(bvh)?.min(to(&membrane)?);
        // No surface passes between the two.
        if known.exact != 0.0 && apart < exact.max(known.exact.abs()) * (1.0 - 1e-9) {
            return Ok(Some(exact.copysign(known.exact)));
        }
        let (inside, looked_at) = sides.inside_and_work(p);
        progress.work(looked_at)?;
        Ok(Some(if inside { -exact } else { exact }))
    })
}

/// A point and its exact distance from the surface, metres.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub p: Vec3,
    pub exact: f64,
}

/// What is known of a point that is to be measured.
#[derive(Clone, Copy)]
pub(super) enum Near {
    /// It is on the mesh, up to rounding.
    On,
    /// It was moved from this point of the mesh.
    Moved(Vec3),
    /// It is near this point.
    Known(Known),
}

/// Measures against the distance `exact(point, near)`; a point whose distance is `None` does not count.
pub(super) fn errors(
    field: &impl SignedDistance,
    spacing: f32,
    center: Vec3,
    mesh: &TriMesh,
    exact: impl Fn(Vec3, Near) -> Result<Option<f64>> + Sync,
) -> Result<FieldError> {
    let surface = Surface::new(mesh, 2.0 * f64::from(spacing));
    // φ belongs to the point rounded to f32, so the error is that of the rounded point.
    let at = |p: Vec3, near: Near| {
        let local = (p - center).map(|x| x as f32);
        let p = local.map(f64::from) + center;
        let phi = f64::from(field.distance(local.into()));
        let measured = |exact: f64| Measured { error: (phi - exact).abs(), at: Known { p, exact } };
        Ok(exact(p, near)?.map(measured))
    };
    let errors: Vec<Option<f64>> = (0..2 * POINTS as usize)
        .into_par_iter()
        .map(|n| {
            let n = n as u64;
            let Some((on, moved)) = surface.spread(n) else { return Ok(None) };
            let measured = if n < POINTS { at(on, Near::On) } else { at(moved, Near::Moved(on)) };
            Ok(measured?.map(|m: Measured| m.error))
        })
        .try_collect_guarded()?;
    let errors: Vec<f64> = errors.into_iter().flatten().collect_guarded();
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    let sought = worst(field, f64::from(spacing), center, &surface, at)?;
    Ok(FieldError {
        max: errors.iter().fold(sought, |a, &e| a.max(e)),
        rms: (squares / errors.len().max(1) as f64).sqrt(),
        samples: errors.len() as u32,
    })
}

/// Numbered points on a mesh and near it.
struct Surface<'a> {
    mesh: &'a TriMesh,
    /// Cumulative sums of the doubled areas, m², and of the edge lengths of the triangles, metres.
    area: Vec<f64>,
    length: Vec<f64>,
    /// Largest distance of a moved point from its point of the mesh, metres.
    reach: f64,
}

impl<'a> Surface<'a> {
    fn new(mesh: &'a TriMesh, reach: f64) -> Self {
        let triangles = mesh.triangles.len();
        let (mut area, mut length) = (with_capacity(triangles), with_capacity(triangles));
        let (mut a, mut l) = (0.0, 0.0);
        for t in 0..triangles {
            let p = mesh.corners(t).map(Vec3::from);
            a += (p[1] - p[0]).cross(&(p[2] - p[0])).norm();
            l += (0..3).map(|k| (p[(k + 1) % 3] - p[k]).norm()).sum::<f64>();
            area.push_guarded(a);
            length.push_guarded(l);
        }
        Self { mesh, area, length, reach }
    }

    /// Returns the corners of the triangle at fraction `part` of the whole, 0 to 1; `None` without triangles.
    fn triangle(&self, upto: &[f64], part: f64) -> Option<[Vec3; 3]> {
        let at = part * upto.last()?;
        let t = upto.partition_point(|&sum| sum <= at).min(upto.len() - 1);
        Some(self.mesh.corners(t).map(Vec3::from))
    }

    /// Returns `on` moved along each axis by up to `most`, by three numbers in [0, 1).
    fn moved(on: Vec3, r: [f64; 3], most: f64) -> Vec3 {
        on + (Vec3::from(r) - Vec3::repeat(0.5)) * (2.0 * most)
    }

    /// Returns the n-th of the points that are spread by area, and the same moved.
    fn spread(&self, n: u64) -> Option<(Vec3, Vec3)> {
        let r = |i: u64| random(n * 8 + i + 1);
        let [a, b, c] = self.triangle(&self.area, r(0))?;
        let (s, u) = (r(1).sqrt(), r(2));
        let on = a * (1.0 - s) + b * (s * (1.0 - u)) + c * (s * u);
        Some((on, Self::moved(on, [r(3), r(4), r(5)], self.reach / 3f64.sqrt())))
    }

    /// Returns the n-th candidate: a point on a face, on an edge or a corner in turn, and the same moved. Creases are
    /// edges and corners.
    fn candidate(&self, n: u64) -> Option<(Vec3, Vec3)> {
        self.area.last()?;
        let n = n + 2 * POINTS;
        let r = |i: u64| random(n * 8 + i + 1);
        let on = match n % 3 {
            0 => self.spread(n)?.0,
            1 => {
                let p = self.triangle(&self.length, r(0))?;
                let k = (3.0 * r(1)) as usize;
                p[k].lerp(&p[(k + 1) % 3], r(2))
            }
            _ => {
                let t = (r(0) * self.mesh.triangles.len() as f64) as usize;
                Vec3::from(self.mesh.corners(t)[(3.0 * r(1)) as usize])
            }
        };
        let p = Self::moved(on, [r(3), r(4), r(5)], self.reach);
        ((p - on).norm() <= self.reach).then_some((on, p))
    }
}

/// A point near the surface and its error, metres.
#[derive(Clone, Copy)]
struct Measured {
    error: f64,
    at: Known,
}

/// Returns the largest error near the surface that a search finds. The exact distance has a gradient of length 1;
/// where the surface bends or the closest point jumps, the interpolant's gradient is shorter or longer. So the search
/// measures the points whose gradient length is farthest from 1. Then it measures points around the worst of these,
/// each in a cell of its own, with fewer cells in each round.
fn worst(
    field: &impl SignedDistance,
    spacing: f64,
    center: Vec3,
    surface: &Surface,
    measure: impl Fn(Vec3, Near) -> Result<Option<Measured>> + Sync,
) -> Result<f64> {
    let cells = surface.area.last().copied().unwrap_or(0.0) * 0.5 / (spacing * spacing);
    let candidates = ((CANDIDATES_PER_CELL * cells) as u32).clamp(*CANDIDATES.start(), *CANDIDATES.end());
    // In batches, so that few candidates are in memory at once; on a tie the first, for any number of threads.
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let suspects: Vec<(f64, u32)> = par_flat_collect(candidates.div_ceil(BATCH) as usize, 1, |n, worst| {
        let mut batch: Vec<(f64, u32)> = with_capacity(BATCH as usize);
        for n in n as u32 * BATCH..(n as u32 + 1) * BATCH {
            let Some((_, p)) = surface.candidate(u64::from(n)) else { continue };
            let (_, gradient) = field.distance_gradient((p - center).map(|x| x as f32).into());
            batch.push_guarded(((Vec3::from(gradient.map(f64::from)).norm() - 1.0).abs(), n));
        }
        let most = BATCH as usize / LOOKED_AT;
        if batch.len() > most {
            batch.select_nth_unstable_by(most, order);
            batch.truncate(most);
        }
        batch.sort_unstable_by(order);
        worst.extend_guarded(batch);
    });
    let measured: Vec<Option<Measured>> = suspects
        .into_par_iter()
        .map(|(_, n)| {
            let Some((on, p)) = surface.candidate(u64::from(n)) else { return Ok(None) };
            measure(p, Near::Moved(on))
        })
        .try_collect_guarded()?;
    let mut measured: Vec<Measured> = measured.into_iter().flatten().collect_guarded();
    let descending = |a: &Measured, b: &Measured| b.error.total_cmp(&a.error);
    sort_stable_by(&mut measured, descending);
    let mut cells = set_with_capacity(measured.len());
    measured.retain(|m| cells.insert(((m.at.p - center) / spacing).map(|x| x.floor() as i64)));
    for (round, (cells, step)) in ROUNDS.into_iter().enumerate() {
        measured.truncate(cells);
        measured.par_iter_mut().try_for_each(|m| {
            let (from, mut best) = (m.at, *m);
            let directions = if round % 2 == 0 { &DIRECTIONS[..3] } else { &DIRECTIONS[3..] };
            let around = directions.iter().flat_map(|d| [*d, d.map(|x| -x)]);
            for p in around.map(|d| from.p + Vec3::from(d) * (step * spacing)) {
                match measure(p, Near::Known(from))? {
                    Some(found) if found.error > best.error && found.at.exact.abs() <= surface.reach => best = found,
                    _ => {}
                }
            }
            *m = best;
            Ok(())
        })?;
        sort_stable_by(&mut measured, descending);
    }
    Ok(measured.first().map_or(0.0, |m| m.error))
}
