//! The exact surface of a closed mesh: its triangles, its inside, and what penetrates it.

use super::sign::Sides;
use super::SignRule;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_mesh::{closest_between, crossings, near_pairs, triangle, Between, Bvh, Closest, Crossing, Edges};
use voxshell_mesh::{
    Feature, FeatureKind, FeaturedTriangles, Front, MeshFeature, Placement, Sharp, Slabs, TriMesh, WantedEdges,
};

/// Largest number of edges: their numbers are features of contacts, which use two bits for other purposes.
const MOST_EDGES: usize = 1 << 30;

/// The triangles of a closed mesh in a hierarchy, with the sign rule of its inside. Immutable; any number of threads may
/// use it.
#[derive(Clone, Debug)]
pub struct Surface {
    sides: Sides,
    edges: Edges,
    sharp: Sharp,
    slabs: Slabs,
    /// Whether each triangle certainly has the inside behind it and the outside before it: then its normal tells inside from
    /// outside.
    bounds_inside: Vec<bool>,
    /// Whether all have.
    has_sides: bool,
}

/// The closest point of a surface.
#[derive(Clone, Copy, Debug)]
pub struct Foot {
    pub point: Vec3,
    pub triangle: u32,
    /// Metres, never negative.
    pub distance: f64,
}

impl Foot {
    /// The triangle of a point whose triangle is not known.
    pub const UNKNOWN: u32 = u32::MAX;
}

impl Surface {
    /// Returns the surface of `mesh`, body frame; `None` if it is not closed, or has
    /// more than 2³⁰ edges.
    pub fn new(mesh: &TriMesh) -> Option<Self> {
        let sides = Sides::new(mesh);
        if sides.rule == SignRule::WindingNumber || sides.mesh.triangles.is_empty() {
            return None;
        }
        let mut edges = Edges::new(&sides.bvh, &sides.mesh.triangles);
        if edges.count() > MOST_EDGES {
            return None;
        }
        let sharp = Sharp::new(&sides.mesh, &edges);
        edges.set_in_faces(|ends| sharp.is_in_face(&sides.mesh, ends));
        let bounds_inside = sides.bounding_triangles();
        let has_sides = !bounds_inside.contains(&false);
        let slabs = Slabs::new(&sides.bvh);
        Some(Self { sides, edges, sharp, slabs, bounds_inside, has_sides })
    }

    /// Returns the box around the mesh, body frame, metres.
    pub fn bounds(&self) -> Aabb {
        self.sides.bvh.bounds()
    }

    /// Returns the number of triangles that count.
    pub fn triangle_count(&self) -> usize {
        self.sides.bvh.len()
    }

    /// Returns whether each triangle has the inside behind it and the outside before it.
    pub fn has_sides(&self) -> bool {
        self.has_sides
    }

    /// Returns the outward normal of a triangle that certainly has the inside behind it and the outside before it.
    pub fn certain_normal(&self, triangle: u32) -> Option<Vec3> {
        if self.bounds_inside[triangle as usize] {
            self.normal(triangle)
        } else {
            None
        }
    }

    /// Returns the signed distance of a point, body frame, metres; infinite where it overflows.
    pub fn signed(&self, p: Vec3) -> f64 {
        let Some(closest) = self.sides.bvh.closest_within(p, f64::INFINITY) else { return f64::INFINITY };
        let distance = closest.distance_squared.sqrt();
        if self.side(&p, &closest, None, false).0 {
            -distance
        } else {
            distance
        }
    }

    /// Returns whether `accept` is true for each triangle, by its number and its corners, that is at most `distance`
    /// metres away from `p`; stops at the first for which it is not.
    pub fn all_within(&self, p: Vec3, distance: f64, accept: impl Fn(u32, &[Vec3; 3]) -> bool) -> bool {
        self.sides.bvh.all_within(p, distance, accept)
    }

    /// Returns whether the segment from `p` to `p + along`, body frame, metres, meets the surface.
    pub fn meets(&self, p: Vec3, along: Vec3) -> bool {
        self.sides.bvh.meets_segment(p, along)
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let Sides { mesh, bvh, .. } = &self.sides;
        let arrays = mesh.vertices.len() * size_of_val(&[0.0f64; 3]) + mesh.triangles.len() * size_of_val(&[0u32; 3]);
        arrays as u64
            + bvh.bytes()
            + self.edges.bytes()
            + self.sharp.bytes()
            + self.slabs.bytes()
            + self.bounds_inside.len() as u64
    }

    /// Returns the number of edges of the mesh.
    pub fn edge_count(&self) -> usize {
        self.edges.count()
    }

    /// Returns the numbers of the corners of an edge, the lower first.
    pub fn edge_corners(&self, edge: u32) -> [u32; 2] {
        self.edges.ends(edge)
    }

    /// Returns the number of the edge that names a feature of triangle `k`, in leaf order, in contacts: the edge itself, or
    /// an edge that ends at the vertex. `None` for a face.
    pub fn naming_edge(&self, k: u32, feature: &MeshFeature) -> Option<u32> {
        match feature.kind {
            FeatureKind::Edge => Some(feature.index),
            FeatureKind::Vertex => {
                let at = (0..3).find(|&i| self.edges.corner_tested_by(k, i) == Some(feature.index))?;
                self.edges.tested_by(k, at)
            }
            FeatureKind::Face => None,
        }
    }

    /// Returns the end points of an edge, body frame.
    pub fn edge(&self, edge: u32) -> [Vec3; 2] {
        self.edge_corners(edge).map(|i| self.sides.mesh.vertices[i as usize].into())
    }

    pub fn contains(&self, p: Vec3) -> bool {
        self.sides.inside(p)
    }

    /// Returns the corners of a triangle, body frame.
    pub fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.sides.mesh.corners(triangle as usize).map(Vec3::from)
    }

    /// Returns the point of one triangle that is closest to `p`.
    pub fn foot_on(&self, triangle: u32, p: Vec3) -> Foot {
        let corners = self.corners(triangle);
        let (point, _) = triangle::closest_point(&corners, triangle::is_sliver(&corners), &p);
        Foot { point, triangle, distance: (point - p).norm() }
    }

    /// Returns whether the segment between two points of the surface is on it, up to `tolerance`, metres; may be `false`
    /// where the segment passes many triangles, or a corner. The triangle of `to` may be [`Foot::UNKNOWN`].
    pub fn has_segment(&self, from: &Foot, to: &Foot, tolerance: f64) -> bool {
        self.sharp.has_segment(&self.sides.mesh, [from, to].map(|foot| (foot.point, foot.triangle)), tolerance)
    }

    /// Returns the closest point to `p`, no farther than `limit`, a distance to some point of the surface.
    pub fn foot(&self, p: Vec3, limit: f64) -> Option<Foot> {
        let closest = self.sides.bvh.closest_within(p, limit)?;
        Some(Foot { point: closest.point, triangle: closest.triangle, distance: closest.distance_squared.sqrt() })
    }

    /// Returns the closest point to `p`, body frame, if it is at most `limit` metres away. Of several equally close ones the
    /// choice does not depend on the limit, if that is clearly larger than the distance.
    pub fn closest(&self, p: Vec3, limit: f64) -> Option<Closest> {
        self.sides.bvh.closest_within(p, limit)
    }

    /// Calls `found` with each triangle that is at most `limit` metres away from `p`, and its closest point.
    pub fn near(&self, p: Vec3, limit: f64, found: impl FnMut(u32, Vec3)) {
        self.sides.bvh.points_within(p, limit, found);
    }

    /// Returns whether `p` is inside, and the outward direction of the surface at `closest`, the closest point to `p`.
    /// `certain` is whether `p` is inside, if that is known. If not `has_direction`, `p` is too close to that point to take the
    /// direction from both.
    #[inline]
    pub fn side(
        &self,
        p: &Vec3,
        closest: &Closest,
        certain: Option<bool>,
        has_direction: bool,
    ) -> (bool, Option<Vec3>) {
        let across = match closest.feature {
            _ if !self.bounds_inside[closest.triangle as usize] => None,
            Feature::Face => self.normal(closest.triangle),
            Feature::Edge(i) => {
                let corners = self.sides.mesh.triangles[closest.triangle as usize];
                let ends = [corners[usize::from(i)], corners[usize::from(i + 1) % 3]];
                self.sharp.normal_of_edge(&self.sides.mesh, ends)
            }
            Feature::Vertex(_) => None,
        };
        let away = p - closest.point;
        let is_inside = match (certain, &across) {
            (Some(certain), _) => certain,
            (None, Some(across)) => away.dot(across) < 0.0,
            (None, None) => self.contains(*p),
        };
        let is_face = closest.feature == Feature::Face && !triangle::is_sliver(&self.corners(closest.triangle));
        let outward = match across {
            Some(across) if is_face || !has_direction => Some(across),
            _ if has_direction => away.try_normalize(0.0).map(|away| if is_inside { -away } else { away }),
            _ => None,
        };
        (is_inside, outward)
    }

    /// Calls `found` with each crossing of a `wanted` edge of either surface through the other, and returns the number of tests.
    /// `placement` takes this surface to the frame of the other; a `front` changes the order.
    pub fn crossings(
        &self,
        other: &Self,
        placement: &Placement,
        wanted: WantedEdges,
        front: Option<&mut Front>,
        found: impl FnMut(Crossing),
    ) -> u64 {
        crossings((&self.sides.bvh, &self.edges), (&other.sides.bvh, &other.edges), placement, wanted, front, found)
    }

    /// Returns the closest points of two surfaces that do not intersect, if they are at most `limit` metres apart, and the
    /// number of tests. `placement` takes this surface to the frame of the other, in which the points are. `towards` is about
    /// the direction from this surface to the other there, if that is known. Of surfaces that intersect the points are no
    /// closer than the surfaces.
    pub fn closest_between(
        &self,
        other: &Self,
        placement: &Placement,
        limit: f64,
        towards: Vec3,
    ) -> (Option<Between>, u64) {
        closest_between((&self.sides.bvh, &self.slabs), (&other.sides.bvh, &other.slabs), placement, limit, towards)
    }

    /// Returns the number of an edge that names a position on a triangle, in leaf order, in contacts: the edge itself, or one
    /// of the triangle that begins at the corner, or its first.
    pub fn edge_at(&self, k: u32, feature: Feature) -> u32 {
        self.edges.number(
            k,
            match feature {
                Feature::Face => 0,
                Feature::Edge(i) | Feature::Vertex(i) => i.into(),
            },
        )
    }

    /// Returns the number of the edge that names a triangle in contacts.
    pub fn edge_of(&self, triangle: u32) -> Option<u32> {
        let place = self.sides.bvh.place_of(triangle, &self.corners(triangle)[0])?;
        Some(self.edge_at(place as u32, Feature::Face))
    }

    /// Returns the outward normal of a triangle, in leaf order, if it has an area.
    pub fn normal_at(&self, k: u32) -> Option<Vec3> {
        let [a, b, c] = self.sides.bvh.corners_at(k);
        (b - a).cross(&(c - a)).try_normalize(0.0)
    }

    /// Returns the number of edges that are convex and at which the surface turns by more than 10°.
    pub fn sharp_edge_count(&self) -> usize {
        self.sharp.edges.len()
    }

    /// Returns whether the mesh is one piece of flat faces: each convex edge is sharp, or in the middle of a face.
    pub fn is_faceted(&self) -> bool {
        self.sharp.is_faceted
    }

    /// Returns the number of a sharp edge among all edges.
    pub fn sharp_edge(&self, index: u32) -> u32 {
        self.sharp.edges[index as usize]
    }

    /// Returns the position of a sharp corner, body frame, and the number of the first sharp edge that ends there.
    pub fn sharp_corner(&self, index: u32) -> (Vec3, u32) {
        let vertex = self.sharp.corners[index as usize];
        (self.sides.mesh.vertices[vertex as usize].into(), self.sharp.corner_edges[index as usize])
    }

    /// Calls `found` with the indices of the sharp edges of both surfaces that may be within `distance`, metres, and
    /// returns the number of tests. `placement` takes this surface to the frame of the other; a `front` changes the order.
    pub fn near_edges(
        &self,
        other: &Self,
        placement: &Placement,
        distance: f64,
        front: Option<&mut Front>,
        found: impl FnMut(u32, u32),
    ) -> u64 {
        near_pairs([&self.sharp.edge_tree, &other.sharp.edge_tree], placement, distance, front, found)
    }

    /// Calls `found` with the indices of the sharp corners of this surface and of the triangles of the other that may be
    /// within `distance`, metres, and returns the number of tests. `placement` takes this surface to the frame of the
    /// other; a `front` changes the order.
    pub fn near_corners(
        &self,
        other: &Self,
        placement: &Placement,
        distance: f64,
        front: Option<&mut Front>,
        found: impl FnMut(u32, u32),
    ) -> u64 {
        near_pairs([&self.sharp.corner_tree, &other.sides.bvh], placement, distance, front, found)
    }

    /// Returns the direction between the normals of the two triangles beside an edge, unit.
    pub fn normal_of_edge(&self, edge: u32) -> Option<Vec3> {
        self.sharp.normal_of_edge(&self.sides.mesh, self.edge_corners(edge))
    }

    /// Returns whether a position on a triangle is on an edge that is concave, and at which the surface turns by more than
    /// 10°.
    pub fn is_at_concave_edge(&self, triangle: u32, feature: Feature) -> bool {
        let Feature::Edge(i) = feature else { return false };
        let corners = self.sides.mesh.triangles[triangle as usize];
        self.sharp.is_sharp_and_concave(&self.sides.mesh, [corners[usize::from(i)], corners[usize::from(i + 1) % 3]])
    }

    /// Returns whether another body can be locally closest to an edge in a direction, body frame, at a right angle to the
    /// edge; `lean` is the sine of the angle by which the direction may be outside the edge's normal cone.
    pub fn edge_faces(&self, edge: u32, direction: &Vec3, lean: f64) -> bool {
        self.sharp.is_in_cone_of_edge(&self.sides.mesh, self.edge_corners(edge), direction, lean)
    }

    /// Returns the same of a sharp corner.
    pub fn corner_faces(&self, index: u32, direction: &Vec3, lean: f64) -> bool {
        self.vertex_faces(self.sharp.corners[index as usize], direction, lean)
    }

    /// Returns the same of a vertex.
    pub fn vertex_faces(&self, vertex: u32, direction: &Vec3, lean: f64) -> bool {
        self.sharp.is_in_cone_of_vertex(&self.sides.mesh, vertex, direction, lean)
    }

    /// Returns the outward normal of a triangle, if it has an area.
    pub fn normal(&self, triangle: u32) -> Option<Vec3> {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)).try_normalize(0.0)
    }

    /// Returns the point of a triangle that is closest to `p`, and its position on the triangle.
    pub fn foot_and_feature(&self, triangle: u32, p: &Vec3) -> (Vec3, Feature) {
        let corners = self.corners(triangle);
        triangle::closest_point(&corners, triangle::is_sliver(&corners), p)
    }

    /// Returns whether a point outside in a direction from a foot on a triangle has its locally closest point there.
    /// `lean` is as for [`Surface::edge_faces`].
    pub fn is_closest_from(&self, triangle: u32, feature: Feature, p: &Vec3, out: &Vec3, lean: f64) -> bool {
        let corners = self.sides.mesh.triangles[triangle as usize];
        let mesh = &self.sides.mesh;
        match feature {
            Feature::Face => true,
            Feature::Edge(i) => {
                let ends = [corners[usize::from(i)], corners[usize::from(i + 1) % 3]];
                self.sharp.is_in_cone_of_edge(mesh, ends, out, lean) && self.sharp.leads_out_of_edge(mesh, ends, out)
            }
            Feature::Vertex(i) => {
                self.sharp.is_in_cone_of_vertex(mesh, corners[usize::from(i)], out, lean) && !self.contains(*p)
            }
        }
    }
}

/// Edges have the numbers that they have in contacts.
impl FeaturedTriangles for Surface {
    fn bvh(&self) -> &Bvh {
        &self.sides.bvh
    }

    #[inline]
    fn vertex(&self, k: u32, i: usize) -> Option<MeshFeature> {
        Some(MeshFeature::new(FeatureKind::Vertex, self.edges.corner_tested_by(k, i)?))
    }

    #[inline]
    fn edge(&self, k: u32, i: usize) -> Option<MeshFeature> {
        Some(MeshFeature::new(FeatureKind::Edge, self.edges.tested_by(k, i)?))
    }
}
