//! Sharp convex edges and corners of a closed mesh, in hierarchies, and the directions in which another body can be
//! closest to them.
//!
//! A direction belongs to the normal cone of a corner or an edge if the faces around it fall off from the plane across
//! that direction. Where two bodies are locally closest, the direction from one to the other is in the cone of the
//! feature of the one, and the opposite direction in that of the other (Johnson & Cohen 2001, "Spatialized Normal Cone
//! Hierarchies"; Otaduy & Lin 2003, "CLODs").

use super::{Bvh, Edges, TriMesh};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded};

/// Cosine of the least angle between the normals beside a sharp edge: 10°.
const SHARP: f64 = 0.984_807_753_012_208;

/// Sine of the largest angle between the normals of two triangles of one flat face.
const FLAT: f64 = 1e-4;

/// The same of two triangles in one plane, up to the rounding of single precision.
const IN_PLANE: f64 = 1e-6;

/// Largest number of triangles that a walk over the surface visits.
const MOST_STEPS: usize = 64;

/// Two edges that meet at a smaller angle than this, radians, are one straight edge, and their common end is no corner.
const STRAIGHT: f64 = 1e-4;

/// The turn of a surface over a convex edge.
struct Turn {
    /// By more than the angle of [`SHARP`].
    is_sharp: bool,
    is_flat: bool,
}

/// The sharp features of a mesh.
#[derive(Clone, Debug)]
pub struct Sharp {
    /// Numbers of the sharp edges, and their hierarchy, in which they are triangles without area.
    pub edges: Vec<u32>,
    pub edge_tree: Bvh,
    /// Vertices in which sharp edges end, and their hierarchy, in which they are triangles without area.
    pub corners: Vec<u32>,
    pub corner_tree: Bvh,
    /// The first sharp edge of each corner.
    pub corner_edges: Vec<u32>,
    /// Whether the mesh is one piece of flat faces: each convex edge is sharp, or in the middle of a face.
    pub is_faceted: bool,
    /// Range of each vertex in `triangles`; one more than there are vertices.
    first: Vec<u32>,
    /// Triangles at each vertex, ascending.
    triangles: Vec<u32>,
}

fn normal(mesh: &TriMesh, triangle: u32) -> Option<Vec3> {
    let [a, b, c] = mesh.corners(triangle as usize).map(Vec3::from);
    (b - a).cross(&(c - a)).try_normalize(0.0)
}

fn at(mesh: &TriMesh, vertex: u32) -> Vec3 {
    mesh.vertices[vertex as usize].into()
}

/// Returns whether the cosine of two directions is at most `cosine`, which is not negative.
fn is_beyond(direction: &Vec3, along: &Vec3, cosine: f64) -> bool {
    let dot = direction.dot(along);
    dot <= 0.0 || dot * dot <= cosine * cosine * direction.norm_squared() * along.norm_squared()
}

impl Sharp {
    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let numbers = [&self.edges, &self.corners, &self.corner_edges, &self.first, &self.triangles];
        let numbers: usize = numbers.into_iter().map(|v| size_of_val(&**v)).sum();
        numbers as u64 + self.edge_tree.bytes() + self.corner_tree.bytes()
    }

    /// Returns the sharp features of a closed mesh that is wound outward.
    pub fn new(mesh: &TriMesh, edges: &Edges) -> Self {
        let (first, triangles) = triangles_at_vertices(mesh);
        let tree = || Bvh::build(&TriMesh::default());
        let (edge_tree, corner_tree) = (tree(), tree());
        let (corners, corner_edges) = (Vec::new(), Vec::new());
        let mut sharp = Self {
            edges: Vec::new(),
            edge_tree,
            corners,
            corner_tree,
            corner_edges,
            is_faceted: false,
            first,
            triangles,
        };
        let mut has_curves = false;
        let is_sharp = |e: &u32| match sharp.turn_over(mesh, edges.ends(*e)) {
            Some(turn) => {
                has_curves |= !turn.is_sharp && !turn.is_flat;
                turn.is_sharp
            }
            None => false,
        };
        sharp.edges = (0..edges.count() as u32).filter(is_sharp).collect_guarded();
        sharp.is_faceted = !has_curves && sharp.is_one_piece(mesh);
        sharp.find_corners(mesh, edges);
        let mut thin = TriMesh { vertices: mesh.vertices.iter().copied().collect_guarded(), triangles: Vec::new() };
        let ends = sharp.edges.iter().map(|&e| edges.ends(e));
        thin.triangles = ends.map(|[a, b]| [a, b, b]).collect_guarded();
        sharp.edge_tree = Bvh::build(&thin);
        thin.triangles = sharp.corners.iter().map(|&v| [v; 3]).collect_guarded();
        sharp.corner_tree = Bvh::build(&thin);
        sharp
    }

    fn triangles_at(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.triangles[self.first[v] as usize..self.first[v + 1] as usize]
    }

    /// Returns the triangles beside an edge, each with its third corner.
    fn beside<'a>(&'a self, mesh: &'a TriMesh, [a, b]: [u32; 2]) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.triangles_at(a).iter().filter_map(move |&t| {
            let corners = mesh.triangles[t as usize];
            corners.contains(&b).then(|| (t, corners.into_iter().find(|&c| c != a && c != b).unwrap_or(a)))
        })
    }

    /// Returns the triangle beside another over its edge from corner i to corner i + 1; `None` unless it is the only one.
    fn across(&self, mesh: &TriMesh, triangle: u32, i: usize) -> Option<u32> {
        let corners = mesh.triangles[triangle as usize];
        let mut others = self.beside(mesh, [corners[i], corners[(i + 1) % 3]]).filter(|(t, _)| *t != triangle);
        let (next, _) = others.next()?;
        others.next().is_none().then_some(next)
    }

    /// Returns whether the segment between two points of the surface, each with its triangle, is on the surface, up to
    /// `tolerance`, metres. Walks from triangle to triangle, and gives up after [`MOST_STEPS`].
    pub fn has_segment(&self, mesh: &TriMesh, [from, to]: [(Vec3, u32); 2], tolerance: f64) -> bool {
        let along = to.0 - from.0;
        let (mut triangle, mut last) = (from.1, u32::MAX);
        for _ in 0..MOST_STEPS {
            if triangle == to.1 {
                return true;
            }
            let corners = mesh.corners(triangle as usize).map(Vec3::from);
            let Some(normal) = normal(mesh, triangle) else { return false };
            let exit = |i: usize| {
                let out = (corners[(i + 1) % 3] - corners[i]).cross(&normal);
                let speed = along.dot(&out);
                (speed > 0.0).then(|| ((corners[i] - from.0).dot(&out) / speed, i))
            };
            let exits = (0..3).filter_map(exit);
            let Some((at, i)) = exits.min_by(|p, q| p.0.total_cmp(&q.0)) else { return false };
            let end = from.0 + along * at.clamp(0.0, 1.0);
            if (end - corners[i]).dot(&normal).abs() > tolerance {
                return false;
            }
            if at >= 1.0 {
                return true;
            }
            match self.across(mesh, triangle, i) {
                Some(next) if next != last => (last, triangle) = (triangle, next),
                _ => return false,
            }
        }
        false
    }

    /// Returns how the surface turns over a convex edge; `None` if the edge is concave. An edge with more than two
    /// triangles may be convex between any two of them.
    fn turn_over(&self, mesh: &TriMesh, ends: [u32; 2]) -> Option<Turn> {
        let mut beside = self.beside(mesh, ends);
        let (Some((one, _)), Some((two, across)), None) = (beside.next(), beside.next(), beside.next()) else {
            return Some(Turn { is_sharp: true, is_flat: false });
        };
        let is_flat = |one: &Vec3, two: &Vec3| one.dot(two) > 0.0 && one.cross(two).norm() < FLAT;
        match (normal(mesh, one), normal(mesh, two)) {
            (Some(one), Some(two)) if is_flat(&one, &two) => Some(Turn { is_sharp: false, is_flat: true }),
            (Some(one), Some(two)) if one.dot(&(at(mesh, across) - at(mesh, ends[0]))) < 0.0 => {
                Some(Turn { is_sharp: one.dot(&two) < SHARP, is_flat: false })
            }
            (Some(_), Some(_)) => None,
            // The direction of a triangle without area is unknown.
            _ => Some(Turn { is_sharp: false, is_flat: false }),
        }
    }

    /// Returns the normals of the triangles beside an edge; `None` if there are not two of them, each with an area.
    fn normals_beside(&self, mesh: &TriMesh, ends: [u32; 2]) -> Option<[Vec3; 2]> {
        let mut beside = self.beside(mesh, ends);
        let (Some((one, _)), Some((two, _)), None) = (beside.next(), beside.next(), beside.next()) else { return None };
        Some([normal(mesh, one)?, normal(mesh, two)?])
    }

    /// Returns whether an edge is in the middle of a flat face.
    pub fn is_in_face(&self, mesh: &TriMesh, ends: [u32; 2]) -> bool {
        let normals = self.normals_beside(mesh, ends);
        normals.is_some_and(|[one, two]| one.dot(&two) > 0.0 && one.cross(&two).norm() < IN_PLANE)
    }

    /// Returns whether each triangle can be reached from the first over common vertices.
    fn is_one_piece(&self, mesh: &TriMesh) -> bool {
        let mut is_reached = filled(false, mesh.triangles.len());
        let mut open: Vec<u32> = Vec::new();
        open.push_guarded(0);
        is_reached[0] = true;
        let mut count = 1;
        while let Some(t) = open.pop() {
            for &next in mesh.triangles[t as usize].iter().flat_map(|&v| self.triangles_at(v)) {
                if !std::mem::replace(&mut is_reached[next as usize], true) {
                    count += 1;
                    open.push_guarded(next);
                }
            }
        }
        count == mesh.triangles.len()
    }

    /// Returns whether the surface turns by more than the angle of [`SHARP`] over a concave edge of two triangles.
    pub fn is_sharp_and_concave(&self, mesh: &TriMesh, ends: [u32; 2]) -> bool {
        let mut beside = self.beside(mesh, ends);
        let (Some((one, _)), Some((two, across)), None) = (beside.next(), beside.next(), beside.next()) else {
            return false;
        };
        let (Some(one), Some(two)) = (normal(mesh, one), normal(mesh, two)) else { return false };
        one.dot(&two) < SHARP && one.dot(&(at(mesh, across) - at(mesh, ends[0]))) > 0.0
    }

    /// Fills in the corners: the ends of sharp edges, but for those in the middle of a straight edge and those at the
    /// bottom of a pit.
    fn find_corners(&mut self, mesh: &TriMesh, edges: &Edges) {
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for &e in &self.edges {
            let [a, b] = edges.ends(e);
            ends.push_guarded((a, e));
            ends.push_guarded((b, e));
        }
        ends.sort_unstable();
        for group in ends.chunk_by(|p, q| p.0 == q.0) {
            let (v, e) = group[0];
            let along = |e: u32| {
                let [a, b] = edges.ends(e);
                (at(mesh, if a == v { b } else { a }) - at(mesh, v)).try_normalize(0.0)
            };
            let is_straight = match group {
                [one, two] => along(one.1).zip(along(two.1)).is_some_and(|(p, q)| (p + q).norm() < STRAIGHT),
                _ => false,
            };
            if !is_straight && !self.is_pit(mesh, v) {
                self.corners.push_guarded(v);
                self.corner_edges.push_guarded(e);
            }
        }
    }

    /// Returns whether no face around a vertex is turned away from its neighbours.
    fn is_pit(&self, mesh: &TriMesh, vertex: u32) -> bool {
        let p = at(mesh, vertex);
        let inward = |t: &u32| {
            let others = mesh.triangles[*t as usize].into_iter().filter(|&c| c != vertex);
            others.filter_map(|c| (at(mesh, c) - p).try_normalize(0.0)).sum::<Vec3>()
        };
        let triangles = self.triangles_at(vertex);
        let Some(inward) = triangles.iter().map(inward).sum::<Vec3>().try_normalize(0.0) else { return false };
        triangles.iter().all(|&t| normal(mesh, t).is_none_or(|n| n.dot(&inward) >= 0.0))
    }

    /// Returns whether a direction is in the normal cone of a vertex, or at most an angle with the sine `lean` beside it.
    #[inline]
    pub fn is_in_cone_of_vertex(&self, mesh: &TriMesh, vertex: u32, direction: &Vec3, lean: f64) -> bool {
        let p = at(mesh, vertex);
        let falls_off = |&c: &u32| is_beyond(direction, &(at(mesh, c) - p), lean);
        self.triangles_at(vertex).iter().all(|&t| mesh.triangles[t as usize].iter().all(falls_off))
    }

    /// Returns whether a direction, at a right angle to an edge, is in the normal cone of the edge, or at most an angle
    /// with the sine `lean` beside it.
    pub fn is_in_cone_of_edge(&self, mesh: &TriMesh, ends: [u32; 2], direction: &Vec3, lean: f64) -> bool {
        let [p, q] = ends.map(|v| at(mesh, v));
        let along = q - p;
        let length_squared = along.norm_squared();
        self.beside(mesh, ends).all(|(_, across)| {
            let side = at(mesh, across) - p;
            is_beyond(direction, &(side - along * (side.dot(&along) / length_squared)), lean)
        })
    }

    /// Returns the sum of the normals of the triangles beside an edge, of unit length; `None` if there are not two of them,
    /// or if they have opposite normals. It tells the inside from the outside of points whose closest point is on the edge
    /// (Bærentzen & Aanæs 2005, "Signed Distance Computation Using the Angle Weighted Pseudonormal").
    pub fn normal_of_edge(&self, mesh: &TriMesh, ends: [u32; 2]) -> Option<Vec3> {
        let [one, two] = self.normals_beside(mesh, ends)?;
        (one + two).try_normalize(0.0)
    }

    /// Returns whether a direction leads to the outside from an edge in whose normal cone it is: the cone of a concave edge
    /// leads inside.
    pub fn leads_out_of_edge(&self, mesh: &TriMesh, ends: [u32; 2], direction: &Vec3) -> bool {
        self.beside(mesh, ends).filter_map(|(t, _)| normal(mesh, t)).map(|n| n.dot(direction)).sum::<f64>() >= 0.0
    }
}

/// Returns the range of each vertex in a list of triangles, and the list.
fn triangles_at_vertices(mesh: &TriMesh) -> (Vec<u32>, Vec<u32>) {
    let mut first = filled(0u32, mesh.vertices.len() + 1);
    mesh.triangles.iter().flatten().for_each(|&v| first[v as usize + 1] += 1);
    for v in 1..first.len() {
        first[v] += first[v - 1];
    }
    let mut next: Vec<u32> = first.iter().copied().collect_guarded();
    let mut triangles = filled(0u32, 3 * mesh.triangles.len());
    for (t, corners) in (0..).zip(&mesh.triangles) {
        for &v in corners {
            triangles[next[v as usize] as usize] = t;
            next[v as usize] += 1;
        }
    }
    (first, triangles)
}
