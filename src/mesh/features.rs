//! The vertices and edges of a mesh, each assigned to one of its triangles, so that a test of pairs of triangles meets
//! every pair of features once (Curtis, Tamstorf & Manocha 2008, "representative triangles").

use super::{Bvh, TriMesh};
use voxshell_base::memory::{filled, with_capacity, GrowGuarded};

/// A kind of feature of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureKind {
    Face,
    Edge,
    Vertex,
}

/// A feature of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshFeature {
    pub kind: FeatureKind,
    /// Face: number of the triangle. Edge: 3 × number of the triangle + i, for the edge from corner i to corner
    /// (i + 1) % 3 of the triangle with the lowest number that has the edge. Vertex: number of the vertex; of several
    /// vertices at one place, the lowest.
    pub index: u32,
}

impl MeshFeature {
    pub const fn new(kind: FeatureKind, index: u32) -> Self {
        Self { kind, index }
    }
}

/// Triangles in a hierarchy, with their vertices and edges each assigned to one of them. Triangles are in leaf order.
pub trait FeaturedTriangles {
    fn bvh(&self) -> &Bvh;

    /// Returns vertex i of triangle k, if it is assigned to that triangle.
    fn vertex(&self, k: u32, i: usize) -> Option<MeshFeature>;

    /// Returns the edge from corner i to corner i + 1 of triangle k, if it is assigned to that triangle.
    fn edge(&self, k: u32, i: usize) -> Option<MeshFeature>;
}

/// Assignment of vertices and edges to triangles. Vertices at one place count as one, so triangle soup has the same
/// features as the welded mesh.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// Welded numbers of each triangle's corners.
    vertices: Vec<[u32; 3]>,
    /// For each triangle: bit i for its vertex i, bit 3 + i for its edge i.
    owned: Vec<u8>,
}

impl Features {
    pub fn new(mesh: &TriMesh) -> Self {
        let welded = weld(mesh);
        let mut vertices = with_capacity(mesh.triangles.len());
        let mut owned = filled(0u8, mesh.triangles.len());
        let mut is_owned = filled(false, mesh.vertices.len());
        let mut edges = with_capacity(3 * mesh.triangles.len());
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let corners = triangle.map(|v| welded[v as usize]);
            vertices.push_guarded(corners);
            for i in 0..3 {
                if !std::mem::replace(&mut is_owned[corners[i] as usize], true) {
                    owned[t] |= 1 << i;
                }
                let (p, q) = (corners[i], corners[(i + 1) % 3]);
                // An edge without length is a vertex.
                if p != q {
                    edges.push_guarded((p.min(q), p.max(q), t as u32, i as u8));
                }
            }
        }
        edges.sort_unstable();
        for (k, &(p, q, t, i)) in edges.iter().enumerate() {
            if k == 0 || (edges[k - 1].0, edges[k - 1].1) != (p, q) {
                owned[t as usize] |= 8 << i;
            }
        }
        Self { vertices, owned }
    }

    /// Returns vertex i of a triangle, if it is assigned to that triangle.
    #[inline]
    pub fn vertex(&self, triangle: u32, i: usize) -> Option<MeshFeature> {
        let index = self.vertices[triangle as usize][i];
        (self.owned[triangle as usize] & (1 << i) != 0).then_some(MeshFeature::new(FeatureKind::Vertex, index))
    }

    /// Returns edge i of a triangle, if it is assigned to that triangle.
    #[inline]
    pub fn edge(&self, triangle: u32, i: usize) -> Option<MeshFeature> {
        let index = 3 * triangle + i as u32;
        (self.owned[triangle as usize] & (8 << i) != 0).then_some(MeshFeature::new(FeatureKind::Edge, index))
    }
}

/// Returns for each vertex the lowest vertex at the same place.
fn weld(mesh: &TriMesh) -> Vec<u32> {
    // 0 and −0 are one place.
    let place = |v: u32| mesh.vertices[v as usize].map(|x| x + 0.0);
    let mut order = with_capacity(mesh.vertices.len());
    (0..mesh.vertices.len() as u32).for_each(|v| order.push_guarded(v));
    let compare = |a: &u32, b: &u32| {
        let (p, q) = (place(*a), place(*b));
        p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])).then(p[2].total_cmp(&q[2])).then(a.cmp(b))
    };
    order.sort_unstable_by(compare);
    let mut welded = filled(0u32, mesh.vertices.len());
    let mut first = 0;
    for (k, &v) in order.iter().enumerate() {
        if k == 0 || place(v) != place(order[k - 1]) {
            first = v;
        }
        welded[v as usize] = first;
    }
    welded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::primitives;

    /// Counts the features by brute force: distinct places, distinct pairs of places.
    fn counts(mesh: &TriMesh) -> (usize, usize) {
        let key = |v: u32| mesh.vertices[v as usize].map(|x| (x + 0.0).to_bits());
        let places: BTreeSet<_> = mesh.triangles.iter().flatten().map(|v| key(*v)).collect();
        let mut edges = BTreeSet::new();
        for t in &mesh.triangles {
            for i in 0..3 {
                let (p, q) = (key(t[i]), key(t[(i + 1) % 3]));
                if p != q {
                    edges.insert((p.min(q), p.max(q)));
                }
            }
        }
        (places.len(), edges.len())
    }

    #[test]
    fn every_vertex_and_edge_has_one_owner() {
        let sphere = primitives::sphere(0.5, 3).expect("a sphere");
        let corners = |t: usize| sphere.corners(t);
        let soup = TriMesh::new(
            (0..sphere.triangles.len()).flat_map(corners).collect(),
            (0..sphere.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        )
        .expect("a mesh");
        let flat =
            TriMesh::new(vec![[0.0; 3], [-0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], vec![[0, 1, 2], [2, 1, 0]]).expect("mesh");
        for mesh in [&sphere, &soup, &flat] {
            let features = Features::new(mesh);
            let (mut vertices, mut edges) = (Vec::new(), 0);
            for t in 0..mesh.triangles.len() as u32 {
                vertices.extend((0..3).filter_map(|i| features.vertex(t, i)));
                edges += (0..3).filter(|i| features.edge(t, *i).is_some()).count();
            }
            let distinct: BTreeSet<_> = vertices.iter().collect();
            assert_eq!(distinct.len(), vertices.len());
            assert_eq!((vertices.len(), edges), counts(mesh));
        }
    }
}
