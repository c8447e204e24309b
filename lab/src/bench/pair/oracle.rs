//! Depth and distance of two bodies by their triangles, without code of the queries: only the closest point of a mesh is that of
//! the library.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use nalgebra::Point3;
use voxshell::math::{Aabb, Pose, Vec3};
use voxshell::mesh::triangle::{closest_point, is_sliver, Corners};
use voxshell::mesh::{Bvh, Closest, Feature, TriMesh};

/// Largest number of signed distances of one depth. Two faces that lie on each other for long would take more.
const MOST: usize = 40_000;

/// A ball around some triangles.
struct Ball {
    center: Vec3,
    radius: f64,
    /// Two balls within it, or one triangle.
    content: Content,
}

enum Content {
    Balls([u32; 2]),
    Triangle(u32),
}

/// A closed mesh, with balls around its triangles: the root is the last ball.
pub struct Solid {
    bvh: Bvh,
    triangles: Vec<Corners>,
    /// Pseudonormals of the face, the edges and the corners of each triangle.
    normals: Vec<[Vec3; 7]>,
    is_embedded: bool,
    balls: Vec<Ball>,
}

/// Some of the surface of a body, with the upper bound of its depth in the other body.
struct Open {
    most: f64,
    place: Place,
}

enum Place {
    Ball(u32),
    /// A piece of a triangle, in the frame of the other body.
    Piece(Corners),
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most)
    }
}

/// When a search for the depth may stop.
#[derive(Clone, Copy)]
enum Until {
    /// The depth is known to a length, metres.
    Precise(f64),
    /// It is known whether it is more than this, metres.
    Above(f64),
}

impl Solid {
    /// Makes a solid of a mesh. `is_embedded`: the mesh does not intersect itself, so that its normals tell inside from outside; otherwise the winding
    /// number does. A mesh that faces inwards is turned.
    pub fn new(mesh: &TriMesh, is_embedded: bool) -> Self {
        let mut mesh = mesh.welded(0.0);
        let volume = |t: usize| {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            a.dot(&b.cross(&c))
        };
        if (0..mesh.triangles.len()).map(volume).sum::<f64>() < 0.0 {
            mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
        }
        let triangles: Vec<Corners> = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(Vec3::from)).collect();
        let normals = pseudonormals(&mesh, &triangles);
        let mut solid = Self { bvh: Bvh::build(&mesh), triangles, normals, is_embedded, balls: Vec::new() };
        let mut all: Vec<u32> = (0..solid.triangles.len() as u32).collect();
        solid.add_balls(&mut all);
        solid
    }

    /// Adds the balls of some triangles; returns the outermost.
    fn add_balls(&mut self, triangles: &mut [u32]) -> u32 {
        let mut bounds = Aabb::empty();
        triangles.iter().flat_map(|&t| &self.triangles[t as usize]).for_each(|p| bounds.include(p));
        let center = bounds.center();
        let corners = triangles.iter().flat_map(|&t| &self.triangles[t as usize]);
        let radius = corners.map(|p| (p - center).norm()).fold(0.0, f64::max);
        let content = if let [triangle] = *triangles {
            Content::Triangle(triangle)
        } else {
            let axis = bounds.extents().imax();
            let middle = |&t: &u32| self.triangles[t as usize].iter().map(|p| p[axis]).sum::<f64>();
            let half = triangles.len() / 2;
            triangles.select_nth_unstable_by(half, |s, t| middle(s).total_cmp(&middle(t)).then(s.cmp(t)));
            let (left, right) = triangles.split_at_mut(half);
            Content::Balls([self.add_balls(left), self.add_balls(right)])
        };
        self.balls.push(Ball { center, radius, content });
        self.balls.len() as u32 - 1
    }

    /// Returns the distance of a point from the surface, body frame, metres.
    pub fn distance(&self, p: &Vec3) -> f64 {
        self.bvh.closest_point(*p).distance_squared.sqrt()
    }

    /// Returns the distance of a point, negative inside, body frame, metres.
    pub fn signed(&self, p: &Vec3) -> f64 {
        self.signed_from(p, &self.bvh.closest_point(*p))
    }

    /// Returns the same of a point whose closest one is known.
    fn signed_from(&self, p: &Vec3, closest: &Closest) -> f64 {
        let normal = match closest.feature {
            Feature::Face => 0,
            Feature::Edge(i) => 1 + usize::from(i),
            Feature::Vertex(i) => 4 + usize::from(i),
        };
        let is_inside = if self.is_embedded {
            self.normals[closest.triangle as usize][normal].dot(&(p - closest.point)) < 0.0
        } else {
            self.bvh.winding_number(*p) > 0.5
        };
        closest.distance_squared.sqrt() * if is_inside { -1.0 } else { 1.0 }
    }

    /// Returns the largest depth of a point of this surface in another body, negative if they are apart, metres; no more
    /// than `least` is as good as any.
    fn depth_in(&self, other: &Self, relative: &Pose, least: f64, until: Until) -> f64 {
        let place = |p: &Vec3| (relative * Point3::from(*p)).coords;
        let (mut best, mut tests) = (least, 0);
        let mut open = BinaryHeap::new();
        let enough = match until {
            Until::Precise(_) => least,
            Until::Above(depth) => depth,
        };
        let ball = |index: u32| {
            let ball = &self.balls[index as usize];
            let center = place(&ball.center);
            let closest = other.bvh.closest_point(center);
            // Telling the side takes long, and is not needed of a ball that is close to the surface on either side.
            let most = ball.radius + closest.distance_squared.sqrt();
            let most = if most <= enough { most } else { ball.radius - other.signed_from(&center, &closest) };
            Open { most, place: Place::Ball(index) }
        };
        let piece = |corners: Corners, best: &mut f64| {
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            let closest = other.bvh.closest_point(middle);
            let depth = -other.signed_from(&middle, &closest);
            *best = best.max(depth);
            let largest = |of: &dyn Fn(&Vec3) -> f64| corners.iter().map(of).fold(0.0, f64::max);
            let by_middle = depth + largest(&|p| (p - middle).norm());
            // Inside, no point is deeper than its distance from one triangle, which is convex; outside, depths are negative.
            let triangle = &other.triangles[closest.triangle as usize];
            let sliver = is_sliver(triangle);
            let by_triangle = largest(&|p| (closest_point(triangle, sliver, p).0 - p).norm());
            Open { most: by_middle.min(by_triangle), place: Place::Piece(corners) }
        };
        open.push(ball(self.balls.len() as u32 - 1));
        while let Some(Open { most, place: at }) = open.pop() {
            let is_done = match until {
                Until::Precise(precision) => most <= best + precision,
                Until::Above(depth) => best > depth || most <= depth,
            };
            if is_done || tests > MOST {
                break;
            }
            match at {
                Place::Ball(index) => match self.balls[index as usize].content {
                    Content::Balls(parts) => open.extend(parts.map(ball)),
                    Content::Triangle(triangle) => {
                        let corners = self.triangles[triangle as usize].map(|p| place(&p));
                        best = corners.iter().map(|p| -other.signed(p)).fold(best, f64::max);
                        open.push(piece(corners, &mut best));
                        tests += 3;
                    }
                },
                Place::Piece(corners) => {
                    let length = |i: usize| (corners[(i + 1) % 3] - corners[i]).norm_squared();
                    let longest = (1..3).fold(0, |most, i| if length(i) > length(most) { i } else { most });
                    let [a, b, c] = [0, 1, 2].map(|i| corners[(longest + i) % 3]);
                    let middle = (a + b) * 0.5;
                    open.push(piece([a, middle, c], &mut best));
                    open.push(piece([middle, b, c], &mut best));
                }
            }
            tests += 2;
        }
        best
    }

    /// Returns the largest depth of a point of either surface in the other body, at most `precision` too small, metres. It is
    /// negative if the surfaces are apart, and then the distance between them. `relative`: from the frame of this body to that
    /// of the other.
    pub fn depth(&self, other: &Self, relative: &Pose, precision: f64) -> f64 {
        let own = self.depth_in(other, relative, f64::NEG_INFINITY, Until::Precise(precision));
        other.depth_in(self, &relative.inverse(), own, Until::Precise(precision))
    }

    /// Returns whether that depth is more than `depth`, metres.
    pub fn is_deeper(&self, other: &Self, relative: &Pose, depth: f64) -> bool {
        self.depth_in(other, relative, f64::NEG_INFINITY, Until::Above(depth)) > depth
            || other.depth_in(self, &relative.inverse(), f64::NEG_INFINITY, Until::Above(depth)) > depth
    }

    /// Returns the least distance of a triangle of this body from one of another that it does not intersect, by testing all
    /// pairs, metres.
    pub fn distance_of_all(&self, other: &Self, relative: &Pose) -> f64 {
        let mut least = f64::INFINITY;
        for own in &self.triangles {
            let own = own.map(|p| (relative * Point3::from(p)).coords);
            least = other.triangles.iter().fold(least, |least, triangle| least.min(between(&own, triangle)));
        }
        least.sqrt()
    }
}

/// Returns the pseudonormals of the face, of the edges and of the corners of each triangle of a closed mesh, whose signs tell on
/// which side of the surface a point is that is closest to them (Bærentzen & Aanæs 2005).
fn pseudonormals(mesh: &TriMesh, triangles: &[Corners]) -> Vec<[Vec3; 7]> {
    let mut of_corners = vec![Vec3::zeros(); mesh.vertices.len()];
    let mut of_edges: HashMap<[u32; 2], Vec3> = HashMap::new();
    let key = |t: &[u32; 3], i: usize| [t[i].min(t[(i + 1) % 3]), t[i].max(t[(i + 1) % 3])];
    let face = |[a, b, c]: &Corners| (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
    for (ids, corners) in mesh.triangles.iter().zip(triangles) {
        let normal = face(corners);
        for i in 0..3 {
            *of_edges.entry(key(ids, i)).or_default() += normal;
            let (p, q) = (corners[(i + 1) % 3] - corners[i], corners[(i + 2) % 3] - corners[i]);
            of_corners[ids[i] as usize] += normal * p.angle(&q);
        }
    }
    let all = |(ids, corners): (&[u32; 3], &Corners)| {
        let edges = [0, 1, 2].map(|i| of_edges.get(&key(ids, i)).copied().unwrap_or_default());
        let [p, q, r] = ids.map(|id| of_corners[id as usize]);
        [face(corners), edges[0], edges[1], edges[2], p, q, r]
    };
    mesh.triangles.iter().zip(triangles).map(all).collect()
}

/// Returns the square of the distance between two triangles that do not intersect: two closest points are a corner and a point
/// of the other triangle, or on an edge of each.
fn between(a: &Corners, b: &Corners) -> f64 {
    let corners = |a: &Corners, b: &Corners| {
        let sliver = is_sliver(b);
        a.iter().map(|p| (closest_point(b, sliver, p).0 - p).norm_squared()).fold(f64::INFINITY, f64::min)
    };
    let mut least = corners(a, b).min(corners(b, a));
    for i in 0..3 {
        for j in 0..3 {
            least = least.min(between_edges([a[i], a[(i + 1) % 3]], [b[j], b[(j + 1) % 3]]));
        }
    }
    least
}

/// Returns the square of the distance between the lines of two edges if their closest points are on both edges, and otherwise
/// infinity: then an end of an edge is closer.
fn between_edges([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> f64 {
    let (u, w, r) = (p_end - p, q_end - q, q - p);
    let across = u.cross(&w);
    let squared = across.norm_squared();
    let at = [r.cross(&w).dot(&across) / squared, r.cross(&u).dot(&across) / squared];
    // False for NaN, of parallel edges.
    let is_within = at.iter().all(|x| (0.0..=1.0).contains(x));
    if is_within {
        (p + u * at[0] - q - w * at[1]).norm_squared()
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell::mesh::primitives::cuboid;

    fn solids() -> [Solid; 2] {
        [[0.5, 0.5, 0.5], [0.3, 0.2, 0.1]].map(|half| Solid::new(&cuboid(half).expect("a box"), true))
    }

    #[test]
    fn depth_of_a_corner_in_a_face_is_found() {
        let [block, stone] = solids();
        let turn = Pose::rotation(Vec3::new(0.3, 0.9, -0.4));
        let lowest = [-0.1, 0.1].iter().flat_map(|z| [-0.2, 0.2].map(|y| (y, *z)));
        let lowest = lowest.flat_map(|(y, z)| [-0.3, 0.3].map(|x| (turn * Point3::new(x, y, z)).y)).fold(0.0, f64::min);
        for depth in [-0.7, -0.01, 0.003, 0.05] {
            let pose = Pose::translation(0.02, 0.5 - lowest - depth, 0.01) * turn;
            for (first, second, pose) in [(&stone, &block, pose), (&block, &stone, pose.inverse())] {
                let found = first.depth(second, &pose, 1e-6);
                assert!((found - depth).abs() < 2e-6, "{found}, expected {depth}");
                assert!(first.is_deeper(second, &pose, depth - 1e-5) && !first.is_deeper(second, &pose, depth + 1e-5));
            }
        }
    }

    #[test]
    fn distance_of_all_triangles_is_the_negative_depth() {
        let [block, stone] = solids();
        for k in 0..20 {
            let turn = Vec3::new(0.7, -0.2, 0.5) * f64::from(k);
            let pose = Pose::new(Vec3::new(0.9, 0.4, 0.7) * (1.0 + 0.1 * f64::from(k)), turn);
            let (distance, depth) = (stone.distance_of_all(&block, &pose), stone.depth(&block, &pose, 1e-7));
            assert!(distance > 0.05 && (distance + depth).abs() < 1e-6, "{distance} {depth}");
        }
    }
}
