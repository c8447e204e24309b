//! The mesh for sampling: welded, oriented, with its sharp edges, corners, components and normals.

use std::collections::{HashMap, HashSet};

use super::orient::{self, Side};
use super::types::{Face, Sample};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, RoomGuarded, SliceGuarded};
use voxshell_mesh::triangle::is_sliver;
use voxshell_mesh::TriMesh;

/// Largest number of faces of an edge with which the faces across a sliver are compared.
const ACROSS: usize = 8;

/// A mesh relative to its box centre, welded by exact coordinates, without duplicated triangles.
pub(super) struct Surface {
    /// Box centre of the mesh in the body frame.
    pub center: Vec3,
    /// Each vertex that a triangle uses, once; relative to `center`.
    pub vertices: Vec<Vec3>,
    pub faces: Vec<Face>,
    /// Edges to be sampled along.
    pub sharp: Vec<SharpEdge>,
    /// Per vertex: angle-weighted mean of the normals around it (Thürmer & Wüthrich 1998), zero where they cancel.
    pub vertex_normals: Vec<Vec3>,
    /// Per vertex: height along its normal over the mean of its neighbours; metres, negative for a hollow.
    pub prominence: Vec<f64>,
    /// Per vertex: no sharp edge ends here, but the faces around turn by more than the sharp angle (the tip of a
    /// cone).
    pub is_tip: Vec<bool>,
    /// Per vertex: a tip, or on a sharp edge.
    pub is_sharp: Vec<bool>,
    /// Per vertex: index of its connected component.
    pub component: Vec<u32>,
    pub component_count: usize,
    /// Whether the faces agree about their sides, so that normals distinguish the two sides of a thin wall.
    pub is_consistent: bool,
    pub area: f64,
}

pub(super) struct SharpEdge {
    pub ends: [u32; 2],
    /// Outward: mean of the faces' normals.
    pub normal: Vec3,
}

impl Surface {
    pub fn new(mesh: &TriMesh, sharp_angle: f64) -> Self {
        let center = mesh.bounds().center();
        let (vertices, corners) = weld(mesh, &center);
        let mut faces: Vec<Face> = corners.iter().map(|c| face(&vertices, c)).collect_guarded();
        let is_consistent = orient::orient(&vertices, &mut faces);
        let area = faces.iter().map(|f| f.area).sum();
        let (component, component_count) = components(vertices.len(), &corners);
        let mut surface = Self {
            center,
            vertex_normals: vertex_normals(&vertices, &faces),
            prominence: Vec::new(),
            is_tip: filled(false, vertices.len()),
            is_sharp: filled(false, vertices.len()),
            sharp: Vec::new(),
            is_consistent,
            vertices,
            faces,
            component,
            component_count,
            area,
        };
        surface.find_sharp_edges(sharp_angle);
        surface.find_tips(sharp_angle);
        surface.prominence = surface.prominences();
        surface
    }

    /// Returns the sample at a vertex.
    pub fn at_vertex(&self, i: u32) -> Sample {
        let k = i as usize;
        let is_sharp = self.is_sharp[k];
        Sample { p: self.vertices[k], n: self.vertex_normals[k], component: self.component[k], is_sharp }
    }

    /// Returns a sample at `p` inside a face.
    pub fn on_face(&self, face: &Face, p: Vec3) -> Sample {
        Sample { p, n: face.normal, component: self.component[face.corners[0] as usize], is_sharp: false }
    }

    pub fn corners(&self, face: &Face) -> [Vec3; 3] {
        face.corners.map(|i| self.vertices[i as usize])
    }

    /// Finds dihedral, boundary and non-manifold edges.
    fn find_sharp_edges(&mut self, sharp_angle: f64) {
        let sides = orient::sides(&self.faces);
        let normal = |s: &Side| self.faces[s.face as usize].normal;
        let edges = || sides.chunk_by(|a, b| a.edge == b.edge);
        // Slivers have no normal of their own: the faces across a sliver are compared instead. For an edge of many
        // faces, which is sharp itself, a few faces stand for all.
        let mut across: HashMap<u32, Vec<Vec3>> = HashMap::new();
        for edge in edges() {
            let known = edge.iter().map(normal).filter(|n| *n != Vec3::zeros());
            let normals: Vec<Vec3> = known.take(ACROSS).collect_guarded();
            for side in edge.iter().filter(|s| normal(s) == Vec3::zeros()) {
                across.reserve_guarded(1);
                across.entry(side.face).or_default().extend_guarded(normals.iter().copied());
            }
        }
        let is_sharp = |edge: &[Side]| {
            let [a, b] = edge else { return true };
            if let Some(sliver) = edge.iter().find(|s| normal(s) == Vec3::zeros()) {
                let around = across.get(&sliver.face).map_or(&[][..], Vec::as_slice);
                return around.is_empty() || around.iter().any(|n| angle(n, &around[0]) > sharp_angle);
            }
            let other = if a.is_forward != b.is_forward { normal(b) } else { -normal(b) };
            angle(&normal(a), &other) > sharp_angle
        };
        let mut sharp = Vec::new();
        for edge in edges().filter(|e| is_sharp(e)) {
            let sum: Vec3 = edge.iter().map(normal).sum();
            let outward = if sum.norm() > 1e-6 { sum } else { self.away_from_faces(edge) };
            sharp.push_guarded(SharpEdge { ends: edge[0].edge, normal: unit_or_zero(outward) });
        }
        self.sharp = sharp;
    }

    /// Returns the direction for a knife edge, whose faces' normals cancel: out of the faces, in their common plane.
    fn away_from_faces(&self, edge: &[Side]) -> Vec3 {
        let [a, b] = edge[0].edge.map(|i| self.vertices[i as usize]);
        let middle = (a + b) * 0.5;
        let opposite = |s: &Side| {
            self.faces[s.face as usize].corners.iter().map(|&i| self.vertices[i as usize] - middle).sum::<Vec3>()
        };
        let along = unit_or_zero(b - a);
        let inward: Vec3 = edge.iter().map(opposite).sum();
        along * along.dot(&inward) - inward
    }

    fn find_tips(&mut self, sharp_angle: f64) {
        for e in &self.sharp {
            e.ends.iter().for_each(|&i| self.is_sharp[i as usize] = true);
        }
        let on_edge = self.is_sharp.to_vec_guarded();
        for f in self.faces.iter().filter(|f| f.normal != Vec3::zeros()) {
            for i in f.corners.map(|i| i as usize) {
                let n = &self.vertex_normals[i];
                if !on_edge[i] && (*n == Vec3::zeros() || angle(&f.normal, n) > sharp_angle) {
                    self.is_tip[i] = true;
                    self.is_sharp[i] = true;
                }
            }
        }
    }

    fn prominences(&self) -> Vec<f64> {
        let mut sums = filled((Vec3::zeros(), 0.0), self.vertices.len());
        for f in &self.faces {
            for k in 0..3 {
                let (i, j) = (f.corners[k] as usize, f.corners[(k + 1) % 3] as usize);
                // An edge inside the surface is met from both sides, so every neighbour weighs the same.
                for (of, neighbour) in [(i, j), (j, i)] {
                    sums[of].0 += self.vertices[neighbour];
                    sums[of].1 += 1.0;
                }
            }
        }
        let over = |i: usize| self.vertex_normals[i].dot(&(self.vertices[i] - sums[i].0 / f64::max(sums[i].1, 1.0)));
        (0..self.vertices.len()).map(over).collect_guarded()
    }
}

/// Returns the used vertices once each, by exact coordinates, and the triangles over them without duplicates.
fn weld(mesh: &TriMesh, center: &Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut ids: HashMap<[u64; 3], u32> = HashMap::new();
    let mut vertices = Vec::new();
    let mut seen: HashSet<[u32; 3]> = HashSet::new();
    let mut triangles = Vec::new();
    for t in &mesh.triangles {
        let corners = t.map(|i| {
            // Adding 0 makes -0 and 0 the same.
            let p = mesh.vertices[i as usize].map(|c| c + 0.0);
            ids.reserve_guarded(1);
            *ids.entry(p.map(f64::to_bits)).or_insert_with(|| {
                vertices.push_guarded(Vec3::from(p) - center);
                vertices.len() as u32 - 1
            })
        });
        let mut key = corners;
        key.sort_unstable();
        seen.reserve_guarded(1);
        if seen.insert(key) {
            triangles.push_guarded(corners);
        }
    }
    (vertices, triangles)
}

fn face(vertices: &[Vec3], corners: &[u32; 3]) -> Face {
    let t = corners.map(|i| vertices[i as usize]);
    let doubled = (t[1] - t[0]).cross(&(t[2] - t[0]));
    let normal = if is_sliver(&t) { Vec3::zeros() } else { unit_or_zero(doubled) };
    Face { corners: *corners, normal, area: doubled.norm() * 0.5 }
}

fn vertex_normals(vertices: &[Vec3], faces: &[Face]) -> Vec<Vec3> {
    let mut sums = filled(Vec3::zeros(), vertices.len());
    for f in faces {
        let t = f.corners.map(|i| vertices[i as usize]);
        for k in 0..3 {
            let weight = angle(&(t[(k + 1) % 3] - t[k]), &(t[(k + 2) % 3] - t[k]));
            sums[f.corners[k] as usize] += f.normal * weight;
        }
    }
    sums.into_iter().map(|n| if n.norm() > 1e-6 { unit_or_zero(n) } else { Vec3::zeros() }).collect_guarded()
}

/// Returns the connected components of the vertices, numbered by their lowest vertex.
fn components(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, usize) {
    let mut sets = DisjointSets::new(vertices);
    for t in triangles {
        sets.join(t[0], t[1]);
        sets.join(t[0], t[2]);
    }
    sets.numbered()
}

/// Union-find.
pub(super) struct DisjointSets(Vec<u32>);

impl DisjointSets {
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect_guarded())
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }

    /// Returns the number of each element's set, in the order of the sets' lowest elements, and the number of sets.
    pub fn numbered(&mut self) -> (Vec<u32>, usize) {
        let mut number = filled(u32::MAX, self.0.len());
        let mut count = 0;
        for i in 0..self.0.len() {
            let root = self.root(i as u32) as usize;
            if root == i {
                number[i] = count;
                count += 1;
            } else {
                number[i] = number[root];
            }
        }
        (number, count as usize)
    }
}

/// Returns the angle between two vectors, 0..π; accurate for small and large angles.
pub(super) fn angle(a: &Vec3, b: &Vec3) -> f64 {
    libm::atan2(a.cross(b).norm(), a.dot(b))
}

pub(super) fn unit_or_zero(v: Vec3) -> Vec3 {
    let scale = v.amax();
    if scale > 0.0 {
        (v / scale).normalize()
    } else {
        Vec3::zeros()
    }
}
