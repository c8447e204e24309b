//! The hierarchy of hulls.

use std::ops::Range;

use super::hull::Cover;
use super::lattice::Lattice;
use crate::{Bvh, TriMesh};
use voxshell_base::math::{limits, Vec3};
use voxshell_base::{Error, Result};

/// Options of [`HullHierarchy::build`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplifyOptions {
    /// Height above and below a vertex, along its normal, within which the surface around it counts as its support area,
    /// metres; 0: a hundredth of the largest extent.
    pub contact_depth: f64,
    /// Largest number of triangles of the mesh.
    pub max_triangles: usize,
}

impl Default for SimplifyOptions {
    fn default() -> Self {
        Self { contact_depth: 0.0, max_triangles: 1 << 22 }
    }
}

impl SimplifyOptions {
    /// # Errors
    /// `InvalidArgument` that names the field.
    pub fn check(&self) -> Result<()> {
        if self.contact_depth == 0.0 || limits::is_length(self.contact_depth) {
            return Ok(());
        }
        let shown = limits::Shown(self.contact_depth);
        Err(Error::argument("options.contact_depth", shown, "0, or a length of 1e-18 to 1e18 m"))
    }
}

/// A level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Number of hulls.
    pub hulls: u32,
    /// Number of triangles of the simplified surface; of the hulls for a level of merged hulls.
    pub triangles: u32,
    /// One over the length of the longest edge that was collapsed before the level was made, 1/m: surface detail of a
    /// lower resolution is preserved. Infinite for the finest level; 0 for levels of merged hulls.
    pub resolution: f64,
    /// Bound on the Hausdorff distance, in both directions, between the original surface and the level's, metres. Infinite
    /// for levels of merged hulls, which only bound the surface.
    pub deviation: f64,
    /// Bound on the directed Hausdorff distance from the original surface and the hulls of the next finer level to the
    /// hulls that stand for them, metres.
    pub reach: f64,
    /// Largest support area of a vertex, m².
    pub support_area: f64,
}

impl Level {
    /// Returns whether the level bounds the surface only, and does not approximate it.
    pub fn is_bound_only(&self) -> bool {
        self.deviation.is_infinite()
    }
}

/// A node of the hierarchy: the hull of a convex piece of a level's surface.
#[derive(Clone, Debug)]
pub struct Node {
    /// Level, 0 for the finest.
    pub level: u32,
    /// `u32::MAX` for the root.
    pub parent: u32,
    /// Empty for the nodes of level 0.
    pub children: Range<u32>,
    /// Vertices of the hull in [`HullHierarchy::vertices`].
    pub vertices: Range<u32>,
    /// Faces of the hull in [`HullHierarchy::faces`].
    pub faces: Range<u32>,
    /// For level 0: triangles of the piece in [`HullHierarchy::piece_triangles`]; else empty.
    pub triangles: Range<u32>,
    /// As for [`Level`].
    pub deviation: f64,
    pub reach: f64,
    /// Length of the longest edge that was collapsed before the level was made, metres.
    pub detail: f64,
    /// Centre of the box of the hull.
    pub center: Vec3,
    /// Largest distance of a vertex from the centre, metres.
    pub radius: f64,
}

/// A face of a hull.
#[derive(Clone, Copy, Debug)]
pub struct HullFace {
    /// Indices of vertices, from the first vertex of the node.
    pub corners: [u32; 3],
    /// Number of its plane in the node: faces in one plane have the same number.
    pub plane: u32,
    pub cover: Cover,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Distance of the plane from the origin along the normal, metres.
    pub offset: f64,
}

/// The surface of a level.
#[derive(Clone, Debug)]
pub struct LevelSurface {
    /// Relative to the origin of the hierarchy, metres.
    pub mesh: TriMesh,
    /// The node of each triangle.
    pub nodes: Vec<u32>,
}

/// Levels of detail of a surface as one hierarchy of convex hulls. Immutable; shared by any number of threads.
///
/// All coordinates are relative to [`HullHierarchy::origin`], in body axes.
#[derive(Clone, Debug)]
pub struct HullHierarchy {
    pub(super) lattice: Lattice,
    /// The root first; children of a node side by side, after it.
    pub nodes: Vec<Node>,
    /// Finest first.
    pub levels: Vec<Level>,
    pub vertices: Vec<Vec3>,
    /// Support area of each vertex, m².
    pub areas: Vec<f64>,
    pub faces: Vec<HullFace>,
    /// Faces at each vertex, numbered from the first face of the node: those of vertex i are
    /// `fans[fan_starts[i]..fan_starts[i + 1]]`.
    pub fans: Vec<u32>,
    pub fan_starts: Vec<u32>,
    /// Surfaces of the levels that approximate the mesh, finest first: the first is `mesh` in another order.
    pub surfaces: Vec<LevelSurface>,
    /// Triangles of the mesh by pieces of level 0.
    pub piece_triangles: Vec<u32>,
    /// The original mesh, relative to the origin.
    pub mesh: TriMesh,
    pub bvh: Bvh,
    /// Hierarchies over the triangles of the pieces of level 0 with more than [`FEW_TRIANGLES`], by node.
    pub pieces: Vec<Option<Box<Bvh>>>,
}

/// Number of triangles up to which a piece has no hierarchy of its own.
pub const FEW_TRIANGLES: usize = 8;

impl HullHierarchy {
    /// The origin of all coordinates, metres, body frame.
    pub fn origin(&self) -> Vec3 {
        self.lattice.origin
    }

    /// Step of the lattice on which the hulls are exactly convex, metres: a power of two. Every coordinate of a vertex is
    /// a multiple of it.
    pub fn lattice_step(&self) -> f64 {
        self.lattice.step
    }

    /// The vertices of the hull of a node.
    pub fn vertices_of(&self, node: &Node) -> &[Vec3] {
        &self.vertices[node.vertices.start as usize..node.vertices.end as usize]
    }

    /// The faces of the hull of a node.
    pub fn faces_of(&self, node: &Node) -> &[HullFace] {
        &self.faces[node.faces.start as usize..node.faces.end as usize]
    }

    /// Numbers of the faces at a vertex of a node.
    pub fn fan(&self, node: &Node, vertex: u32) -> &[u32] {
        let i = (node.vertices.start + vertex) as usize;
        &self.fans[self.fan_starts[i] as usize..self.fan_starts[i + 1] as usize]
    }

    /// The triangles of the mesh in a piece of level 0.
    pub fn triangles_of(&self, node: &Node) -> &[u32] {
        &self.piece_triangles[node.triangles.start as usize..node.triangles.end as usize]
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let pieces: u64 = self.pieces.iter().flatten().map(|b| b.bytes()).sum();
        let surfaces = self
            .surfaces
            .iter()
            .map(|s| size_of_val(&*s.mesh.vertices) + size_of_val(&*s.mesh.triangles) + size_of_val(&*s.nodes));
        let own = surfaces.sum::<usize>()
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.levels)
            + size_of_val(&*self.vertices)
            + size_of_val(&*self.areas)
            + size_of_val(&*self.faces)
            + size_of_val(&*self.fans)
            + size_of_val(&*self.fan_starts)
            + size_of_val(&*self.piece_triangles)
            + size_of_val(&*self.mesh.vertices)
            + size_of_val(&*self.mesh.triangles)
            + size_of_val(&*self.pieces);
        own as u64 + self.bvh.bytes() + pieces
    }
}
