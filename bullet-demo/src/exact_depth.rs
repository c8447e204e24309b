//! Exact depth between bodies of few triangles, at sharp edges and tips too, where samples of the surface miss it.
//!
//! Branch and bound over the triangles of each body. A piece of a triangle is no deeper in the other body than its
//! farthest corner from any one flat face of that body, because the distance to a convex polygon is a convex function.

use voxshell::math::{Aabb, Pose, Vec3};
use voxshell::mesh::triangle::{closest_point, is_sliver};
use voxshell::mesh::{Bvh, TriMesh};

/// Largest error of the depth, metres.
pub const TOLERANCE: f64 = 1e-6;
/// Pieces after which the search stops and returns what it found, so that no pose takes for ever.
const MOST_PIECES: usize = 50_000;
/// Largest distance of a vertex from the plane of a face, and of the normals of its triangles.
const COPLANAR: f64 = 1e-9;

type Corners = [Vec3; 3];

/// A closed mesh of few triangles, prepared for measuring.
pub struct ExactSurface {
    bvh: Bvh,
    vertices: Vec<Vec3>,
    triangles: Vec<Corners>,
    /// For each triangle, the triangles of the convex flat face that it belongs to.
    faces: Vec<Vec<usize>>,
}

impl ExactSurface {
    pub fn new(mesh: &TriMesh) -> Self {
        let triangles: Vec<Corners> = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(Vec3::from)).collect();
        let faces = (0..triangles.len()).map(|t| convex_face(&triangles, t)).collect();
        let vertices = mesh.vertices.iter().map(|v| Vec3::from(*v)).collect();
        Self { bvh: Bvh::build(mesh), vertices, triangles, faces }
    }

    /// Returns the depth of `p` inside, and the closest triangle. The depth is 0 outside.
    fn depth(&self, p: Vec3) -> (f64, usize) {
        let closest = self.bvh.closest_point(p);
        let inside = self.bvh.winding_number(p) > 0.5;
        (if inside { closest.distance_squared.sqrt() } else { 0.0 }, closest.triangle as usize)
    }

    /// Returns an upper bound of the depth of all points of a piece: the largest distance of its corners from the face
    /// of `triangle`.
    fn bound(&self, piece: &Corners, triangle: usize) -> f64 {
        let to_triangle = |p: &Vec3, t: usize| {
            let other = &self.triangles[t];
            (closest_point(other, is_sliver(other), p).0 - p).norm()
        };
        let to_face = |p: &Vec3| self.faces[triangle].iter().map(|&t| to_triangle(p, t)).fold(f64::INFINITY, f64::min);
        piece.iter().map(to_face).fold(0.0, f64::max)
    }

    /// Returns the larger of `depth` and the depth of the deepest point of `other`, which `to_self` maps to this frame.
    fn deepest_of(&self, other: &Self, to_self: &Pose, depth: f64) -> f64 {
        let at = |p: &Vec3| -> Vec3 { (to_self * nalgebra::Point3::from(*p)).coords };
        let mut depth = other.vertices.iter().map(|v| self.depth(at(v)).0).fold(depth, f64::max);
        let mut pieces: Vec<Corners> = other.triangles.iter().map(|t| t.each_ref().map(at)).collect();
        let mut overlapping = Vec::new();
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { break };
            let (at_center, closest) = self.depth((piece[0] + piece[1] + piece[2]) / 3.0);
            depth = depth.max(at_center);
            if self.bound(&piece, closest) <= depth + TOLERANCE {
                continue;
            }
            // A piece that no triangle passes through is on one side.
            let mut bounds = Aabb::empty();
            piece.iter().for_each(|p| bounds.include(p));
            overlapping.clear();
            self.bvh.triangles_overlapping_box(&bounds, &mut overlapping);
            overlapping.retain(|&t| !are_apart(&piece, &self.triangles[t as usize]));
            if at_center == 0.0 && overlapping.is_empty() {
                continue;
            }
            let from = pieces.len();
            let passing = overlapping.iter().map(|&t| &self.triangles[t as usize]);
            divide(piece, std::iter::once(&self.triangles[closest]).chain(passing), &mut pieces);
            let corners = pieces[from..].iter().flatten();
            depth = corners.map(|p| self.depth(*p).0).fold(depth, f64::max);
        }
        depth
    }
}

/// Returns the triangles in the plane of triangle `t` that are connected to it, if they form a convex polygon; otherwise
/// `t` alone. The distance to a convex polygon is a convex function, also across the edges inside it.
fn convex_face(triangles: &[Corners], t: usize) -> Vec<usize> {
    let normal = |[a, b, c]: &Corners| (b - a).cross(&(c - a)).normalize();
    let (n, origin) = (normal(&triangles[t]), triangles[t][0]);
    let in_plane = |other: &Corners| {
        (normal(other) - n).norm() < COPLANAR && other.iter().all(|p| (p - origin).dot(&n).abs() < COPLANAR)
    };
    let mut face = vec![t];
    let mut next = 0;
    while next < face.len() {
        let of = triangles[face[next]];
        next += 1;
        let shared = |other: &Corners| other.iter().filter(|p| of.iter().any(|q| (*p - q).norm() < COPLANAR)).count();
        let joins = |k: &usize| !face.contains(k) && in_plane(&triangles[*k]) && shared(&triangles[*k]) >= 2;
        let joining: Vec<usize> = (0..triangles.len()).filter(joins).collect();
        face.extend(joining);
    }
    // Convex if no vertex of the face is outside of an edge of its border.
    let edges = face.iter().flat_map(|&k| {
        let [a, b, c] = triangles[k];
        [(a, b), (b, c), (c, a)]
    });
    let edges: Vec<(Vec3, Vec3)> = edges.collect();
    let same = |p: Vec3, q: Vec3| (p - q).norm() < COPLANAR;
    let border = edges.iter().filter(|(a, b)| !edges.iter().any(|(c, d)| same(*a, *d) && same(*b, *c)));
    let vertices = || face.iter().flat_map(|&k| triangles[k]);
    let convex = border.into_iter().all(|(a, b)| vertices().all(|p| n.dot(&(b - a).cross(&(p - a))) > -COPLANAR));
    if convex {
        face
    } else {
        vec![t]
    }
}

/// Divides a piece along the plane half a tolerance outside the plane of the first of these triangles that passes through
/// it. So the part above the surface is apart from it, and the part below is no deeper than it looks. Divides the
/// longest edge if all planes miss.
fn divide<'a>(piece: Corners, triangles: impl IntoIterator<Item = &'a Corners>, pieces: &mut Vec<Corners>) {
    for other in triangles {
        let n = (other[1] - other[0]).cross(&(other[2] - other[0])).normalize();
        let height = piece.map(|p| (p - other[0]).dot(&n) - 0.5 * TOLERANCE);
        let side = height.map(|h| if h.abs() < 0.1 * TOLERANCE { 0 } else { h.signum() as i32 });
        if !side.contains(&1) || !side.contains(&-1) {
            continue;
        }
        // The corner that is alone on its side.
        let alone = (0..3).find(|&i| side[i] != 0 && side[i] != side[(i + 1) % 3] && side[i] != side[(i + 2) % 3]);
        let Some(i) = alone else { continue };
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let cut = |to: usize| piece[i] + (piece[to] - piece[i]) * (height[i] / (height[i] - height[to]));
        let (p, q) = (cut(j), cut(k));
        pieces.extend([[piece[i], p, q], [p, piece[j], piece[k]], [p, piece[k], q]]);
        return;
    }
    let [a, b, c] = longest_edge_first(piece);
    let middle = 0.5 * (a + b);
    pieces.extend([[a, middle, c], [middle, b, c]]);
}

/// Returns true if a plane separates two triangles: the separating axis test over both normals and the cross products of
/// the edges (Gottschalk et al. 1996).
fn are_apart(a: &Corners, b: &Corners) -> bool {
    let edges = |t: &Corners| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (edges_a, edges_b) = (edges(a), edges(b));
    let separates = |axis: Vec3| {
        let interval = |t: &Corners| {
            let along = t.map(|p| p.dot(&axis));
            (along.iter().copied().fold(f64::INFINITY, f64::min), along.iter().copied().fold(-f64::INFINITY, f64::max))
        };
        let ((low_a, high_a), (low_b, high_b)) = (interval(a), interval(b));
        (low_a - high_b).max(low_b - high_a) > 0.1 * TOLERANCE * axis.norm()
    };
    let normals = [edges_a[0].cross(&edges_a[1]), edges_b[0].cross(&edges_b[1])];
    normals.into_iter().any(separates) || edges_a.iter().any(|e| edges_b.iter().any(|f| separates(e.cross(f))))
}

/// Turns the corners so that the longest edge is between the first two.
fn longest_edge_first([a, b, c]: Corners) -> Corners {
    let (ab, bc, ca) = ((b - a).norm_squared(), (c - b).norm_squared(), (a - c).norm_squared());
    if ab >= bc && ab >= ca {
        [a, b, c]
    } else if bc >= ca {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// Returns the depth of the deepest surface point of either body in the other, metres; 0 if they are apart.
pub fn depth(a: &ExactSurface, pose_a: &Pose, b: &ExactSurface, pose_b: &Pose) -> f64 {
    let found = b.deepest_of(a, &(pose_b.inverse() * pose_a), 0.0);
    a.deepest_of(b, &(pose_a.inverse() * pose_b), found)
}

#[cfg(test)]
mod tests {
    use voxshell::mesh::primitives;

    use super::*;
    use crate::solids;

    fn depth_of(a: &TriMesh, pose_a: Pose, b: &TriMesh, pose_b: Pose) -> f64 {
        depth(&ExactSurface::new(a), &pose_a, &ExactSurface::new(b), &pose_b)
    }

    #[test]
    fn depth_of_sharp_bodies_is_that_of_closed_forms() {
        let (spike, wedge) = (solids::spike().unwrap(), solids::wedge().unwrap());
        // The flanks are 3 m high over 0.5 m.
        let sine = 0.5 / (9.0f64 + 0.25).sqrt();
        let over = |gap: f64| Pose::from_parts(Vec3::new(0.0, 6.0 + gap, 0.0).into(), half_turn());
        for sunk in [0.0001, 0.004, 0.03] {
            let tips = depth_of(&spike, over(-sunk), &spike, Pose::identity());
            assert!((tips - sunk * sine).abs() < 2.0 * TOLERANCE, "{tips} at {sunk}");
            // Edges that cross at a right angle: the deepest points are on the edges.
            let across = over(-sunk) * Pose::rotation(Vec3::y() * std::f64::consts::FRAC_PI_2);
            let edges = depth_of(&wedge, across, &wedge, Pose::identity());
            assert!((edges - sunk * sine).abs() < 2.0 * TOLERANCE, "{edges} at {sunk}");
            assert_eq!(depth_of(&wedge, over(sunk), &spike, Pose::identity()), 0.0);
        }
    }

    #[test]
    fn slightly_tilted_flush_faces_take_few_pieces() {
        let cube = primitives::cuboid([0.5; 3]).unwrap();
        for (solid, height) in [(solids::cliff(), 1.0), (solids::internal_edges(), 1.0)] {
            for tilt in [0.0, 1e-6, 1e-5, 3e-5] {
                let turn = voxshell::math::Rotation::from_scaled_axis(Vec3::new(0.3, 0.2, 1.0) * tilt);
                let pose = Pose::from_parts(Vec3::new(0.053, height - 9e-6, 0.001).into(), turn);
                let lowest = cube.vertices.iter().map(|v| (pose * nalgebra::Point3::from(*v)).y);
                let sunk = 0.5 - lowest.fold(f64::INFINITY, f64::min);
                let started = std::time::Instant::now();
                let found = depth_of(&cube, pose, solid.as_ref().unwrap(), Pose::identity());
                // The lowest corner may be beside the block, where the next deepest point is an edge's.
                assert!(found <= sunk + TOLERANCE && found > 0.98 * sunk - TOLERANCE, "{found}, not {sunk}");
                assert!(started.elapsed().as_secs_f64() < 0.5, "{:?}", started.elapsed());
            }
        }
    }

    fn half_turn() -> voxshell::math::Rotation {
        voxshell::math::Rotation::from_quaternion(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 1.0))
    }

    #[test]
    fn depth_of_flush_faces_is_that_of_the_faces() {
        let cube = primitives::cuboid([0.5; 3]).unwrap();
        let cliff = solids::cliff().unwrap();
        for sunk in [1e-5, 1e-3, 0.02] {
            let found = depth_of(&cube, Pose::translation(0.1, 1.0 - sunk, 0.07), &cliff, Pose::identity());
            assert!((found - sunk).abs() < 2.0 * TOLERANCE, "{found} at {sunk}");
        }
        assert_eq!(depth_of(&cube, Pose::translation(0.0, 1.0 + 1e-4, 0.0), &cliff, Pose::identity()), 0.0);
    }
}
