//! The samples at the corners of the convex hull: those that can be the deepest in a half-space.
//!
//! An affine function over a body has its least value at a corner of the convex hull. The hull of the samples of a flat face
//! would have corners all over the face, because samples are rounded to f32. So the corners are chosen one after the
//! other, until no other sample is farther out by more than a tolerance.
//!
//! Which directions prove that: the directions in which a corner v is the farthest are the cone of the normals nᵢ of its
//! facets. The cone is divided into parts that are spanned by three unit vectors dⱼ with no obtuse angle between them:
//! the normals of two facets that meet in an edge, their bisector where their angle is obtuse, and a direction that has no
//! obtuse angle with any nᵢ. If no sample s is farther out than v by more than t along any dⱼ, then for each unit
//! vector d = Σ λⱼ dⱼ of the part, (s − v)·d ≤ t Σ λⱼ ≤ √3 t, because 1 = |d|² ≥ Σ λⱼ² ≥ (Σ λⱼ)² / 3.

use std::collections::BTreeSet;

use super::shell::{Extremes, PointShell};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{CollectGuarded, GrowGuarded};
use voxshell_mesh::convex_hull;

/// Largest number of extreme samples. Bodies with more are so round that few samples are near a plane.
const MOST: usize = 2048;

/// Distance t by which other samples may be farther out, relative to the radius of the root of the tree.
const TOLERANCE: f64 = 1.0 / (1u32 << 17) as f64;

/// Number of steps towards the direction in the middle of a cone.
const CONE_STEPS: usize = 200;

/// Number of rounds in which directions are tested and corners added.
const ROUNDS: usize = 64;

impl PointShell {
    /// Returns the extreme samples. They are found on the first call.
    pub fn extremes(&self) -> &Extremes {
        self.extremes.get_or_compute("finding extreme samples", || self.find_extremes().unwrap_or_default())
    }

    fn find_extremes(&self) -> Option<Extremes> {
        let tolerance = TOLERANCE * f64::from(*self.tree.radius.first()?);
        let mut chosen = BTreeSet::new();
        let mut wanted: Vec<Vec3> = Vec::new();
        for i in 0..27 {
            let d = Vec3::new(f64::from(i % 3) - 1.0, f64::from(i / 3 % 3) - 1.0, f64::from(i / 9) - 1.0);
            if d != Vec3::zeros() {
                wanted.push_guarded(d.normalize());
            }
        }
        for d in &wanted {
            chosen.extend(self.farthest(d, f64::NEG_INFINITY));
        }
        for _ in 0..ROUNDS {
            if chosen.len() > MOST {
                return None;
            }
            let corners: Vec<u32> = chosen.iter().copied().collect_guarded();
            let points: Vec<[f64; 3]> =
                corners.iter().map(|&i| self.point(i as usize).map(f64::from)).collect_guarded();
            let before = chosen.len();
            for (direction, corner) in directions(&points)? {
                let level = direction.dot(&Vec3::from(points[corner as usize])) + tolerance;
                chosen.extend(self.farthest(&direction, level));
                if chosen.len() > MOST {
                    return None;
                }
            }
            if chosen.len() == before {
                let of = |axis: &[f32]| corners.iter().map(|&i| axis[i as usize]).collect_guarded();
                let (x, y, z) = (of(&self.x), of(&self.y), of(&self.z));
                // Rounded up by far more than the rounding of the sums above.
                let tolerance = (1.7321 * tolerance) as f32;
                return Some(Extremes { samples: corners, x, y, z, tolerance });
            }
        }
        None
    }

    /// Returns the sample that is farthest in a direction, if it is farther than `level`.
    fn farthest(&self, direction: &Vec3, level: f64) -> Option<u32> {
        let tree = &self.tree;
        let along = |p: [f32; 3]| direction.dot(&Vec3::from(p.map(f64::from)));
        let reach = |n: usize| along([tree.cx[n], tree.cy[n], tree.cz[n]]) + f64::from(tree.radius[n]);
        let (mut best, mut found) = (level, None);
        let mut open = vec![(reach(0), 0)];
        while let Some((most, node)) = open.pop() {
            if most <= best {
                continue;
            }
            let children = tree.first_child[node]..tree.first_child[node].wrapping_add(tree.child_count[node]);
            if tree.child_count[node] == 0 {
                let first = tree.first_sample[node];
                for sample in first..first + tree.sample_count[node] {
                    let at = along(self.point(sample as usize));
                    if at > best {
                        (best, found) = (at, Some(sample));
                    }
                }
                continue;
            }
            let from = open.len();
            for child in children.map(|c| c as usize) {
                open.push_guarded((reach(child), child));
            }
            // The farthest is opened first.
            open[from..].sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(q.1.cmp(&p.1)));
        }
        found
    }
}

/// Returns the directions that prove the hull of `points` (see the file's comment), each with a corner that is the farthest
/// in it; `None` if the points are in a plane, or if a cone is too narrow.
fn directions(points: &[[f64; 3]]) -> Option<Vec<(Vec3, u32)>> {
    let hull = convex_hull(points).ok()?;
    let normals: Vec<Vec3> = hull.normals.iter().map(|&n| Vec3::from(n)).collect_guarded();
    let mut found: Vec<(Vec3, u32)> = Vec::new();
    let mut facets_of: Vec<Vec<u32>> = points.iter().map(|_| Vec::new()).collect_guarded();
    for (i, corners) in hull.triangles.iter().enumerate() {
        found.push_guarded((normals[i], corners[0]));
        for k in 0..3 {
            facets_of[corners[k] as usize].push_guarded(i as u32);
            let next = hull.neighbors[i][k] as usize;
            // Each edge once.
            if next > i && normals[i].dot(&normals[next]) < 0.0 {
                found.push_guarded(((normals[i] + normals[next]).try_normalize(1e-9)?, corners[k]));
            }
        }
    }
    for (corner, facets) in facets_of.iter().enumerate().filter(|(_, facets)| !facets.is_empty()) {
        found.push_guarded((middle(facets, &normals)?, corner as u32));
    }
    Some(found)
}

/// Returns a unit vector of the cone of some normals that has no obtuse angle with any of them: along the point of their
/// convex hull that is closest to the origin, by the steps of Gilbert 1966.
fn middle(facets: &[u32], normals: &[Vec3]) -> Option<Vec3> {
    let of = |i: &u32| normals[*i as usize];
    let mut x = facets.iter().map(of).sum::<Vec3>() / facets.len() as f64;
    for _ in 0..CONE_STEPS {
        let least = facets.iter().map(of).min_by(|p, q| p.dot(&x).total_cmp(&q.dot(&x)))?;
        if least.dot(&x) >= 0.0 {
            return x.try_normalize(1e-9);
        }
        let step = least - x;
        x += step * (-x.dot(&step) / step.norm_squared()).clamp(0.0, 1.0);
    }
    None
}
