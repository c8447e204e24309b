//! The field of a convex hull: largest plane distance inside, exact closest point outside.

use serde::{Deserialize, Serialize};

use super::triangle::{cluster, Packet, TriangleFrame, LANES};
use super::{Modulus, SignedDistance};
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded};
use voxshell_base::wide;
use voxshell_base::{Error, Result};
use voxshell_mesh::convex_hull;

/// Bound on rounding relative to the input numbers; a bound compares two chains of it (see `analytic`).
const SLACK: f32 = 1.6e-6;

/// Position of lanes without a triangle, metres: farther than the largest coordinates, which are below 8e18 m
/// ([`limits`](voxshell_base::math::limits)), and with a square that fits f32.
const NOWHERE: f32 = 1.6e19;

/// Eight planes: n·x − d.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
struct Planes {
    n: [[f32; LANES]; 3],
    d: [f32; LANES],
}

impl Planes {
    /// Planes that no point is ever above.
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
    /// Points that are corners of the hull, body frame, in the order in which they were given.
    vertices: Vec<[f64; 3]>,
    bounds: Aabb,
    origin: Vec3,
    /// Largest |x| + |y| + |z| of a point of the hull, local frame.
    size: f32,
    planes: Vec<Planes>,
    /// For each plane a packet that has a triangle of it.
    starts: Vec<u32>,
    triangles: Vec<Packet>,
    /// Boxes of the packets, eight side by side.
    boxes: Vec<Boxes>,
}

/// Eight boxes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Boxes {
    min: [[f32; LANES]; 3],
    max: [[f32; LANES]; 3],
}

wide! {
    /// Returns the largest plane distance (φ inside, at most φ outside, and 1-Lipschitz), and the number of the
    /// plane.
    fn deepest(planes: &[Planes], p: [f32; 3]) -> (f32, usize) {
        let mut best = [f32::NEG_INFINITY; LANES];
        let mut which = [0u32; LANES];
        for (i, planes) in planes.iter().enumerate() {
            let d = planes.distances(p);
            for lane in 0..LANES {
                let above = d[lane] > best[lane];
                best[lane] = if above { d[lane] } else { best[lane] };
                which[lane] = if above { i as u32 } else { which[lane] };
            }
        }
        let lane = (1..LANES).fold(0, |b, l| if best[l] > best[b] { l } else { b });
        (best[lane], which[lane] as usize * LANES + lane)
    }
}

wide! {
    /// Returns the squared distance to the surface, and the packet and lane of the closest triangle. Tests `start`
    /// first, then the packets whose boxes are nearer than the best so far.
    fn closest(triangles: &[Packet], boxes: &[Boxes], p: [f32; 3], start: usize) -> (f32, usize, usize) {
        let mut best = (f32::INFINITY, 0, 0);
        let mut look = |i: usize| {
            let d = triangles[i].distance_squared(p);
            let least = d.iter().fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
            if least < best.0 {
                let lane = d.iter().position(|&x| x == least).unwrap_or(0);
                best = (least, i, lane);
            }
            best.0
        };
        let mut limit = look(start);
        for (n, b) in boxes.iter().enumerate() {
            let mut squared = [0.0f32; LANES];
            for lane in 0..LANES {
                let out = |k: usize| {
                    let (low, high) = (b.min[k][lane] - p[k], p[k] - b.max[k][lane]);
                    let d = if low > high { low } else { high };
                    if d > 0.0 { d } else { 0.0 }
                };
                let (x, y, z) = (out(0), out(1), out(2));
                squared[lane] = (x * x + y * y) + z * z;
            }
            for (lane, d) in squared.into_iter().enumerate() {
                let i = n * LANES + lane;
                if d < limit && i != start && i < triangles.len() {
                    limit = look(i);
                }
            }
        }
        best
    }
}

impl ConvexHull {
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let points: Vec<[f64; 3]> = self.vertices().iter().map(|p| p.map(|x| x * factor)).collect_guarded();
        Self::new(&points)
    }

    /// Returns the hull of `points`, body frame, metres; inner, coplanar and duplicate points are allowed. Fails when
    /// no four of them span space.
    pub fn new(points: &[[f64; 3]]) -> Result<Self> {
        let hull = convex_hull(points)?;
        let mut corners: Vec<u32> = hull.triangles.iter().flatten().copied().collect_guarded();
        corners.sort_unstable();
        corners.dedup();
        let vertices: Vec<[f64; 3]> = corners.iter().map(|&i| points[i as usize]).collect_guarded();
        let bounds = Aabb::from_points(&vertices);
        let size = (bounds.extents() * 0.5).sum() as f32;
        // Squares of distances must fit f32.
        if !limits::is_length(size.into()) {
            let value = format!("{} m large", limits::Shown(bounds.extents().max()));
            return Err(Error::argument("points", value, "an extent of 1e-18 to 1e18 m"));
        }
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
        let corners: Vec<[[f64; 3]; 3]> = hull.triangles.iter().map(|t| t.map(local)).collect_guarded();
        let order = cluster(&corners);
        let mut place = filled(0u32, order.len());
        order.iter().enumerate().for_each(|(n, &t)| place[t as usize] = (n / LANES) as u32);
        let mut planes: Vec<([f64; 3], f64)> = Vec::new();
        let mut starts = Vec::new();
        let mut done = filled(false, hull.triangles.len());
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
                        stack.push_guarded(n);
                    }
                }
            }
            planes.push_guarded((*normal, top));
            starts.push_guarded(place[seed]);
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
            .collect_guarded();
        let mut triangles = Vec::new();
        let mut boxes = Vec::new();
        for (n, chunk) in order.chunks(LANES).enumerate() {
            let mut packet = Packet::far(NOWHERE);
            let mut b = Aabb::empty();
            for (lane, &t) in chunk.iter().enumerate() {
                let frame = TriangleFrame::new(corners[t as usize], 1e-13 * extent);
                packet.set(lane, &frame.rounded(frame.offset));
                corners[t as usize].iter().for_each(|c| b.include(&Vec3::from(*c)));
            }
            triangles.push_guarded(packet);
            if n % LANES == 0 {
                boxes.push_guarded(Boxes { min: [[0.0; LANES]; 3], max: [[0.0; LANES]; 3] });
            }
            // Inflated by more than the rounding of a distance.
            let b = b.inflated(1e-6 * extent);
            if let Some(last) = boxes.last_mut() {
                for k in 0..3 {
                    last.min[k][n % LANES] = b.min[k] as f32;
                    last.max[k][n % LANES] = b.max[k] as f32;
                }
            }
        }
        Ok(Self { vertices, bounds, origin, size, planes, starts, triangles, boxes })
    }

    /// Returns the corners of the hull, body frame, metres.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Returns the closest triangle, with the search started at the packet of a plane, given by its number.
    fn closest(&self, p: [f32; 3], plane: usize) -> (f32, usize, usize) {
        let start = self.starts.get(plane).map_or(0, |&s| s as usize);
        closest(&self.triangles, &self.boxes, p, start)
    }
}

impl TryFrom<Vec<[f64; 3]>> for ConvexHull {
    type Error = voxshell_base::Error;
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
    /// Returns the centre of the hull's box.
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.origin
    }

    fn bounds(&self) -> Aabb {
        self.bounds.inflated(self.error_bound())
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        let (level, plane) = deepest(&self.planes, p);
        if level <= 0.0 {
            level
        } else {
            self.closest(p, plane).0.sqrt()
        }
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (level, plane) = deepest(&self.planes, p);
        let normal = self.planes[plane / LANES].n.map(|n| n[plane % LANES]);
        if level <= 0.0 {
            return (level, normal);
        }
        let (squared, packet, lane) = self.closest(p, plane);
        let distance = squared.sqrt();
        // Below this distance the direction would be rounding.
        if distance <= 4.0e-6 * self.size {
            return (distance, normal);
        }
        let (v, _) = self.triangles[packet].get(lane).off_closest(p);
        // By its own length: the rounding of `distance` is another one, and large beside a short vector.
        let length = ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]).sqrt();
        if length <= 0.0 {
            return (distance, normal);
        }
        let inverse = 1.0 / length;
        (distance, v.map(|x| x * inverse))
    }

    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let reach = ((c[0].abs() + c[1].abs()) + c[2].abs()) + r.abs() + self.size;
        deepest(&self.planes, c).0 - r - SLACK * reach
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.size, reach))
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.size * 8.0 * f32::EPSILON)
    }
}
