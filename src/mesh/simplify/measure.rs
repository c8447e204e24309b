//! Errors of the levels: Hausdorff distances with certified bounds, and support areas (Otaduy & Lin 2003, section 4.5).

use rayon::prelude::*;

use super::hull::Hull;
use super::lattice::{side, Lattice, Point};
use crate::triangle::{closest_point, is_sliver, Corners};
use crate::{Bvh, TriMesh};
use voxshell_base::math::gjk::{nearest, Extreme, Separation};
use voxshell_base::math::{Progress, Vec3};
use voxshell_base::memory::{filled, with_capacity, GrowGuarded, ParCollectGuarded};
use voxshell_base::Result;

/// A triangle is divided while its bound is larger than this factor times the largest distance that one of its points is
/// known to have, and larger than that distance by the second number times the largest known distance of the whole surface.
const SLACK: f64 = 1.1;
const SLACK_OF_ALL: f64 = 0.1;
const MOST_DIVISIONS: u32 = 3;
/// Largest number of triangles in the support area of a vertex.
const MOST_SUPPORT: usize = 512;

/// Returns for each triangle of `mesh` a bound on the distance of its points to the surface under `other`, metres.
pub fn deviations(mesh: &TriMesh, other: &TriMesh, bvh: &Bvh, small: f64, progress: &Progress) -> Result<Vec<f64>> {
    let first = |t: usize| {
        progress.work(64)?;
        Ok(bounds(&mesh.corners(t).map(Vec3::from), other, bvh))
    };
    let count = mesh.triangles.len();
    let found: Vec<(f64, f64)> = (0..count).into_par_iter().map(first).try_collect_guarded()?;
    let small = small.max(SLACK_OF_ALL * found.iter().map(|f| f.0).fold(0.0, f64::max));
    let refined = |t: usize| {
        if found[t].1 <= SLACK * found[t].0 + small {
            return Ok(found[t].1);
        }
        progress.work(512)?;
        Ok(divided(&mesh.corners(t).map(Vec3::from), other, bvh, small, found[t].1, MOST_DIVISIONS))
    };
    (0..count).into_par_iter().map(refined).try_collect_guarded()
}

/// Returns the largest distance that a point of a triangle is known to have from a surface, and a bound on that of all its
/// points. The distance to one triangle of the surface is convex, so its largest value is at a corner.
fn bounds(t: &Corners, other: &TriMesh, bvh: &Bvh) -> (f64, f64) {
    let middle = (t[0] + t[1] + t[2]) / 3.0;
    let near = [t[0], t[1], t[2], middle].map(|p| bvh.closest_point(p));
    let known = near.iter().map(|n| n.distance_squared.sqrt()).fold(0.0, f64::max);
    let around = t.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max);
    let bound = near
        .iter()
        .map(|n| {
            let face = other.corners(n.triangle as usize).map(Vec3::from);
            let sliver = is_sliver(&face);
            t.iter().map(|p| (closest_point(&face, sliver, p).0 - p).norm()).fold(0.0, f64::max)
        })
        .fold(near[3].distance_squared.sqrt() + around, f64::min);
    (known, bound)
}

/// Returns the bound of a triangle from those of its quarters.
fn divided(t: &Corners, other: &TriMesh, bvh: &Bvh, small: f64, bound: f64, divisions: u32) -> f64 {
    let m = [(t[0] + t[1]) * 0.5, (t[1] + t[2]) * 0.5, (t[2] + t[0]) * 0.5];
    [[t[0], m[0], m[2]], [m[0], t[1], m[1]], [m[2], m[1], t[2]], m]
        .iter()
        .map(|part| {
            let (known, bound) = bounds(part, other, bvh);
            if bound <= SLACK * known + small || divisions == 1 {
                return bound;
            }
            divided(part, other, bvh, small, bound, divisions - 1)
        })
        .fold(0.0, f64::max)
        .min(bound)
}

/// Returns a bound on the distance of points from a hull, metres; 0 if it contains them all, exactly.
pub fn reach(hull: &Hull, points: impl Iterator<Item = Point>, lattice: &Lattice, local: &[Vec3]) -> f64 {
    // Planes in floating point, to find a bound first.
    let solid = |p: &Point| {
        hull.faces.iter().all(|f| side(f.corners.map(|v| &hull.points[v as usize]), p) <= 0)
            && !hull.faces.is_empty()
            && hull.is_solid
    };
    let size = local.iter().map(Vec3::amax).fold(lattice.step, f64::max);
    let (mut most, mut is_out) = (0.0f64, false);
    for p in points {
        if solid(&p) {
            continue;
        }
        is_out = true;
        let b = lattice.local(&p);
        let support = |d: &Vec3| {
            let (mut best, mut at) = (f64::NEG_INFINITY, 0);
            for (i, v) in local.iter().enumerate() {
                let along = v.dot(d);
                if along > best {
                    (best, at) = (along, i);
                }
            }
            Extreme { a: local[at], b, ids: [at as u32, 0] }
        };
        if let Separation::Near(found) = nearest(&(b - local[0]), f64::INFINITY, size.max(b.amax()), support) {
            most = most.max(found.distance);
        }
    }
    if is_out {
        // Rounding is far below a step of the lattice.
        most * (1.0 + 1e-12) + lattice.step
    } else {
        0.0
    }
}

/// Returns the support area of each vertex, m²: the area, projected along the vertex's normal, of the triangles around it
/// that face outward and have all corners within `depth` of its tangent plane.
pub fn support_areas(mesh: &TriMesh, depth: f64, progress: &Progress) -> Result<Vec<f64>> {
    let count = mesh.vertices.len();
    let mut starts = filled(0u32, count + 1);
    mesh.triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
    (0..count).for_each(|v| starts[v + 1] += starts[v]);
    let mut next = starts.clone();
    let mut fans = filled(0u32, 3 * mesh.triangles.len());
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for &v in corners {
            fans[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    let fan = |v: u32| &fans[starts[v as usize] as usize..starts[v as usize + 1] as usize];
    let normal = |t: u32| {
        let [a, b, c] = mesh.corners(t as usize).map(Vec3::from);
        (b - a).cross(&(c - a)) * 0.5
    };
    let area = |seen: &mut Vec<u32>, v: usize| {
        progress.work(MOST_SUPPORT as u64)?;
        let own: Vec3 = fan(v as u32).iter().map(|&t| normal(t)).sum();
        let (Some(n), p) = (own.try_normalize(0.0), Vec3::from(mesh.vertices[v])) else { return Ok(0.0) };
        let mut found: Vec<u32> = with_capacity(MOST_SUPPORT);
        let is_part = |t: u32| {
            normal(t).dot(&n) > 0.0
                && mesh.corners(t as usize).iter().all(|q| (Vec3::from(*q) - p).dot(&n).abs() <= depth)
        };
        let mut total = 0.0;
        let mut add = |t: u32, found: &mut Vec<u32>| {
            let is_new = seen[t as usize] != v as u32;
            seen[t as usize] = v as u32;
            if is_new && found.len() < MOST_SUPPORT && is_part(t) {
                found.push_guarded(t);
                total += normal(t).dot(&n);
            }
        };
        fan(v as u32).iter().for_each(|&t| add(t, &mut found));
        let mut i = 0;
        while i < found.len() {
            let corners = mesh.triangles[found[i] as usize];
            corners.iter().flat_map(|&x| fan(x)).for_each(|&t| add(t, &mut found));
            i += 1;
        }
        // A vertex without such triangles still has those around it.
        let least = fan(v as u32).iter().map(|&t| normal(t).dot(&n).max(0.0)).sum::<f64>();
        Ok(total.max(least))
    };
    (0..count).into_par_iter().map_init(|| filled(u32::MAX, mesh.triangles.len()), area).try_collect_guarded()
}
