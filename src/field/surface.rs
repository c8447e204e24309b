//! The exact surface of a closed mesh: its triangles, its inside, and what penetrates it.

use super::sign::Sides;
use super::SignRule;
use crate::math::{Aabb, Vec3};
use crate::mesh::{crossings, triangle, Crossing, Edges, Placement, TriMesh};

/// Largest number of edges: their numbers are features of contacts, which use two bits for other purposes.
const MOST_EDGES: usize = 1 << 30;

/// The triangles of a closed mesh in a hierarchy, with the sign rule of its inside. Immutable; any number of threads may
/// use it.
#[derive(Clone, Debug)]
pub struct Surface {
    sides: Sides,
    edges: Edges,
}

/// The closest point of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot {
    pub point: Vec3,
    pub triangle: u32,
    /// Metres, never negative.
    pub distance: f64,
}

impl Surface {
    /// Returns the surface of `mesh`, body frame; `None` if it is not closed, or has
    /// more than 2³⁰ edges.
    pub fn new(mesh: &TriMesh) -> Option<Self> {
        let sides = Sides::new(mesh);
        if sides.rule == SignRule::WindingNumber || sides.mesh.triangles.is_empty() {
            return None;
        }
        let edges = Edges::new(&sides.bvh, &sides.mesh.triangles);
        (edges.len() <= MOST_EDGES).then_some(Self { sides, edges })
    }

    /// Returns the box around the mesh, body frame, metres.
    pub fn bounds(&self) -> Aabb {
        self.sides.bvh.bounds()
    }

    /// Returns the number of edges of the mesh.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Returns the numbers of the corners of an edge, the lower first.
    pub(crate) fn edge_corners(&self, edge: u32) -> [u32; 2] {
        self.edges.ends(edge)
    }

    /// Returns the end points of an edge, body frame.
    pub(crate) fn edge(&self, edge: u32) -> [Vec3; 2] {
        self.edge_corners(edge).map(|i| self.sides.mesh.vertices[i as usize].into())
    }

    pub(crate) fn contains(&self, p: Vec3) -> bool {
        self.sides.inside(p)
    }

    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.sides.mesh.corners(triangle as usize).map(Vec3::from)
    }

    /// Returns the point of one triangle that is closest to `p`.
    pub(crate) fn foot_on(&self, triangle: u32, p: Vec3) -> Foot {
        let corners = self.corners(triangle);
        let (point, _) = triangle::closest_point(&corners, triangle::is_sliver(&corners), &p);
        Foot { point, triangle, distance: (point - p).norm() }
    }

    /// Returns the closest point to `p`, no farther than `limit`, a distance to some point of the surface.
    pub(crate) fn foot(&self, p: Vec3, limit: f64) -> Option<Foot> {
        let closest = self.sides.bvh.closest_within(p, limit)?;
        Some(Foot { point: closest.point, triangle: closest.triangle, distance: closest.distance_squared.sqrt() })
    }

    /// Calls `found` with each crossing of an edge of either surface through the other, and returns the number of tests.
    /// `placement` takes this surface to the frame of the other.
    pub(crate) fn crossings(&self, other: &Self, placement: &Placement, found: impl FnMut(Crossing)) -> u64 {
        crossings((&self.sides.bvh, &self.edges), (&other.sides.bvh, &other.edges), placement, found)
    }
}
