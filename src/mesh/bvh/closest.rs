//! Closest point and signed distance.

use super::node::MAX_DEPTH;
use super::Bvh;
use crate::triangle::{self, Corners, Feature};
use voxshell_base::math::Vec3;

/// The closest point of a mesh to a query point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// On the triangle, metres, the mesh's frame.
    pub point: Vec3,
    /// Index in the mesh. Of several equally close triangles, the choice is unspecified but always the same.
    pub triangle: u32,
    /// m².
    pub distance_squared: f64,
    /// Position of the point on the triangle: face, edge or corner.
    pub feature: Feature,
}

impl Bvh {
    /// Returns the closest point of the mesh to `p`, exact up to rounding. An empty mesh, or a `p` that is not finite,
    /// gives an infinite distance and the triangle `u32::MAX`.
    pub fn closest_point(&self, p: Vec3) -> Closest {
        self.closest_within(p, f64::INFINITY).unwrap_or(Closest {
            point: p,
            triangle: u32::MAX,
            distance_squared: f64::INFINITY,
            feature: Feature::Face,
        })
    }

    /// Returns the closest point if it is at most `max_distance` metres away. The smaller the limit, the faster.
    pub fn closest_within(&self, p: Vec3, max_distance: f64) -> Option<Closest> {
        self.closest_within_and_work(p, max_distance).0
    }

    /// Returns the same, and the number of triangles looked at.
    #[inline]
    pub fn closest_within_and_work(&self, p: Vec3, max_distance: f64) -> (Option<Closest>, u64) {
        let mut work = 1;
        let mut best: Option<(usize, Vec3, Feature)> = None;
        // A little above the square, so that the strict comparisons below admit the limit itself.
        let mut limit = (max_distance * max_distance + f64::MIN_POSITIVE) * (1.0 + f64::EPSILON);
        if self.nodes.is_empty() || max_distance.is_nan() || max_distance < 0.0 {
            return (None, work);
        }
        let mut stack = [(0.0, 0u32); MAX_DEPTH + 2];
        let mut top = 0;
        let mut node = &self.nodes[0];
        let mut node_distance = node.distance_squared(&p);
        loop {
            if node_distance < limit {
                if node.count == 0 {
                    let (i, j) = (node.first, node.first + 1);
                    let (a, b) = (&self.nodes[i as usize], &self.nodes[j as usize]);
                    let (da, db) = (a.distance_squared(&p), b.distance_squared(&p));
                    let (near, far) = if da <= db { ((da, a), (db, j)) } else { ((db, b), (da, i)) };
                    if far.0 < limit {
                        stack[top] = far;
                        top += 1;
                    }
                    (node_distance, node) = near;
                    continue;
                }
                work += u64::from(node.count);
                for k in node.triangles() {
                    let (point, feature) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                    let squared = (point - p).norm_squared();
                    if squared < limit {
                        limit = squared;
                        best = Some((k, point, feature));
                    }
                }
            }
            if top == 0 {
                break;
            }
            top -= 1;
            node_distance = stack[top].0;
            node = &self.nodes[stack[top].1 as usize];
        }
        let closest =
            best.map(|(k, point, feature)| Closest { point, triangle: self.id(k), distance_squared: limit, feature });
        (closest, work)
    }

    /// Calls `found` with the index in the mesh, the corners, the closest point and its position of each triangle that is
    /// at most `distance` metres from `p`.
    pub(crate) fn each_within(&self, p: Vec3, distance: f64, mut found: impl FnMut(u32, &Corners, Vec3, Feature)) {
        let limit = distance * distance;
        self.visit_leaves(
            |n| n.distance_squared(&p) <= limit,
            |k| {
                let (point, feature) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                if (point - p).norm_squared() <= limit {
                    found(self.id(k), &self.corners[k], point, feature);
                }
            },
        );
    }

    /// Returns whether a point of the mesh is at most `distance` metres from `p`. Faster than the closest point, since
    /// any point suffices.
    pub fn is_within(&self, p: Vec3, distance: f64) -> bool {
        if self.nodes.is_empty() || distance.is_nan() || distance < 0.0 {
            return false;
        }
        let limit = distance * distance;
        let mut stack = [0u32; MAX_DEPTH + 2];
        let mut top = 0;
        let mut node = &self.nodes[0];
        if node.distance_squared(&p) > limit {
            return false;
        }
        loop {
            if node.count == 0 {
                let (i, j) = (node.first, node.first + 1);
                let (a, b) = (&self.nodes[i as usize], &self.nodes[j as usize]);
                let (da, db) = (a.distance_squared(&p), b.distance_squared(&p));
                let (near, far) = if da <= db { ((da, a), (db, j)) } else { ((db, b), (da, i)) };
                if far.0 <= limit {
                    stack[top] = far.1;
                    top += 1;
                }
                if near.0 <= limit {
                    node = near.1;
                    continue;
                }
            } else if node.triangles().any(|k| {
                let (point, _) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                (point - p).norm_squared() <= limit
            }) {
                return true;
            }
            if top == 0 {
                return false;
            }
            top -= 1;
            node = &self.nodes[stack[top] as usize];
        }
    }

    /// Returns the distance to the mesh, negative where the winding number is above one half: inside closed outward
    /// meshes, and for soup wherever most of the surface is seen from within. Metres; exact up to rounding.
    ///
    /// Jacobson, Kavan & Sorkine-Hornung 2013, "Robust Inside-Outside Segmentation using Generalized Winding Numbers".
    pub fn signed_distance(&self, p: Vec3) -> f64 {
        let distance = self.closest_point(p).distance_squared.sqrt();
        if self.winding_number(p) > 0.5 {
            -distance
        } else {
            distance
        }
    }
}
