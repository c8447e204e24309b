//! The field of a convex hull: largest plane distance inside, exact closest point outside.

use serde::{Deserialize, Serialize};

use super::hull::convex_hull;
use super::triangle::{Packet, TriangleFrame, LANES};
use super::SignedDistance;
use crate::math::{Aabb, Vec3};
use crate::Result;

/// Bound on rounding relative to the numbers that enter; two chains of it are compared in a bound (see `analytic`).
const SLACK: f32 = 1.6e-6;

/// Eight planes: n·x − d.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
struct Planes {
    n: [[f32; LANES]; 3],
    d: [f32; LANES],
}

impl Planes {
    /// A plane that nothing is ever above.
    const NONE: Self = Self { n: [[0.0; LANES]; 3], d: [f32::MAX; LANES] };

    #[inline(always)]
    fn distances(&self, p: [f32; 3]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for (i, o) in out.iter_mut().enumerate() {
            *o = ((self.n[0][i] * p[0] + self.n[1][i] * p[1]) + self.n[2][i] * p[2]) - self.d[i];
        }
        out
    }
}

/// Convex hull of points.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<[f64; 3]>", into = "Vec<[f64; 3]>")]
pub struct ConvexHull {
    /// The points that are corners of the hull, body frame, in the order they were given.
    vertices: Vec<[f64; 3]>,
    bounds: Aabb,
    origin: Vec3,
    /// |x| + |y| + |z| of no point of the hull is more, local frame.
    size: f32,
    planes: Vec<Planes>,
    triangles: Vec<Packet>,
}

impl ConvexHull {
    /// Hull of `points`, body frame, metres; inner, coplanar and duplicate points are fine. Fails when fewer than four of
    /// them span space.
    pub fn new(points: &[[f64; 3]]) -> Result<Self> {
        let hull = convex_hull(points)?;
        let mut corners: Vec<u32> = hull.triangles.iter().flatten().copied().collect();
        corners.sort_unstable();
        corners.dedup();
        let vertices: Vec<[f64; 3]> = corners.iter().map(|&i| points[i as usize]).collect();
        let bounds = Aabb::from_points(&vertices);
        let origin = bounds.center();
        let extent = bounds.extents().max();
        let local = |i: u32| {
            let p = hull.points[i as usize];
            [p[0] - origin.x, p[1] - origin.y, p[2] - origin.z]
        };
        let height = |n: &[f64; 3], i: u32| {
            let p = local(i);
            n[0] * p[0] + n[1] * p[1] + n[2] * p[2]
        };
        // One plane for every set of connected triangles that are coplanar to 1e-9 of the extent.
        let mut planes: Vec<([f64; 3], f64)> = Vec::new();
        let mut done = vec![false; hull.triangles.len()];
        for seed in 0..done.len() {
            if done[seed] {
                continue;
            }
            done[seed] = true;
            let normal = &hull.normals[seed];
            let level = height(normal, hull.triangles[seed][0]);
            let (mut stack, mut top) = (vec![seed], level);
            while let Some(f) = stack.pop() {
                for &i in &hull.triangles[f] {
                    top = top.max(height(normal, i));
                }
                for n in hull.neighbors[f].map(|n| n as usize) {
                    let same = |&i: &u32| (height(normal, i) - level).abs() <= 1e-9 * extent;
                    let other = &hull.normals[n];
                    let facing = normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2];
                    if !done[n] && facing > 0.999_999 && hull.triangles[n].iter().all(same) {
                        done[n] = true;
                        stack.push(n);
                    }
                }
            }
            planes.push((*normal, top));
        }
        let planes = planes
            .chunks(LANES)
            .map(|chunk| {
                let mut packet = Planes::NONE;
                for (lane, (n, d)) in chunk.iter().enumerate() {
                    for k in 0..3 {
                        packet.n[k][lane] = n[k] as f32;
                    }
                    packet.d[lane] = *d as f32;
                }
                packet
            })
            .collect();
        let triangles = hull
            .triangles
            .chunks(LANES)
            .map(|chunk| {
                let mut packet = Packet::FAR;
                for (lane, t) in chunk.iter().enumerate() {
                    let frame = TriangleFrame::new(t.map(local), 1e-13 * extent);
                    packet.set(lane, &frame.rounded(frame.offset));
                }
                packet
            })
            .collect();
        let size = (bounds.extents() * 0.5).sum() as f32;
        Ok(Self { vertices, bounds, origin, size, planes, triangles })
    }

    /// Corners of the hull, body frame, metres.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Largest plane distance: φ inside, at most φ outside, and 1-Lipschitz.
    #[inline(always)]
    fn plane_distance(&self, p: [f32; 3]) -> f32 {
        let mut best = [f32::NEG_INFINITY; LANES];
        for planes in &self.planes {
            let d = planes.distances(p);
            for (b, d) in best.iter_mut().zip(d) {
                *b = if d > *b { d } else { *b };
            }
        }
        best.iter().fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
    }

    fn deepest_plane(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let mut best = (f32::NEG_INFINITY, [0.0, 0.0, 1.0]);
        for planes in &self.planes {
            for (lane, d) in planes.distances(p).into_iter().enumerate() {
                if d > best.0 {
                    best = (d, planes.n.map(|n| n[lane]));
                }
            }
        }
        best
    }

    /// Squared distance to the surface, and the packet and lane of the closest triangle. Only triangles that face `p`
    /// can hold the closest point of a convex body; z in their frame tells.
    #[inline(always)]
    fn closest(&self, p: [f32; 3]) -> (f32, usize, usize) {
        let mut best = (f32::INFINITY, 0, 0);
        let margin = -1.0e-6 * (((p[0].abs() + p[1].abs()) + p[2].abs()) + self.size);
        for (i, packet) in self.triangles.iter().enumerate() {
            let mut faces = false;
            let f = &packet.fields;
            for lane in 0..LANES {
                let z = ((f[6][lane] * p[0] + f[7][lane] * p[1]) + f[8][lane] * p[2]) - f[11][lane];
                faces |= z > margin;
            }
            if !faces {
                continue;
            }
            for (lane, d) in packet.distance_squared(p).into_iter().enumerate() {
                if d < best.0 {
                    best = (d, i, lane);
                }
            }
        }
        best
    }
}

impl TryFrom<Vec<[f64; 3]>> for ConvexHull {
    type Error = crate::Error;
    fn try_from(points: Vec<[f64; 3]>) -> Result<Self> {
        Self::new(&points)
    }
}

impl From<ConvexHull> for Vec<[f64; 3]> {
    fn from(hull: ConvexHull) -> Self {
        hull.vertices
    }
}

impl PartialEq for ConvexHull {
    fn eq(&self, other: &Self) -> bool {
        self.vertices == other.vertices
    }
}

impl SignedDistance for ConvexHull {
    /// The centre of the hull's box.
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.origin
    }

    fn bounds(&self) -> Aabb {
        self.bounds.inflated(self.error_bound())
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        let plane = self.plane_distance(p);
        if plane <= 0.0 {
            plane
        } else {
            self.closest(p).0.sqrt()
        }
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (plane, normal) = self.deepest_plane(p);
        if plane <= 0.0 {
            return (plane, normal);
        }
        let (squared, packet, lane) = self.closest(p);
        let distance = squared.sqrt();
        // Closer than this the direction would be rounding.
        if distance <= 4.0e-6 * self.size {
            return (distance, normal);
        }
        let (v, _) = self.triangles[packet].get(lane).from_closest(p);
        let inverse = 1.0 / distance;
        (distance, v.map(|x| x * inverse))
    }

    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let reach = ((c[0].abs() + c[1].abs()) + c[2].abs()) + r.abs() + self.size;
        self.plane_distance(c) - r - SLACK * reach
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.size * 8.0 * f32::EPSILON)
    }
}
