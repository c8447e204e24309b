//! Floor 2: the pointshell. Surface samples with normals, and the sphere tree over them. Knows meshes and the trait
//! `SignedDistance`, but nothing of contacts.

use crate::math::Vec3;

/// Surface samples under a sphere tree, structure of arrays, f32 in the local frame (body axes, origin `origin`).
///
/// Samples are stored in tree order: those below any node are contiguous. A sample's index is its feature id, stable for
/// the life of the asset. Invariant: every sample lies inside the spheres of all its ancestors, rounding included.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PointShell {
    /// Origin of the local frame in the body frame, metres.
    pub origin: Vec3,
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    /// Unit outward normals.
    pub nx: Vec<f32>,
    pub ny: Vec<f32>,
    pub nz: Vec<f32>,
    /// Largest distance from any point of the surface to its nearest sample, metres, as measured at cooking.
    pub spacing: f32,
    pub tree: SphereTree,
}

/// Flat breadth-first sphere tree: children of a node are contiguous, and so are the nodes of a level.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SphereTree {
    pub cx: Vec<f32>,
    pub cy: Vec<f32>,
    pub cz: Vec<f32>,
    /// Radius, metres, rounded up so that containment holds in f32.
    pub radius: Vec<f32>,
    /// Index of the first child node; for a leaf, `u32::MAX`.
    pub first_child: Vec<u32>,
    /// Number of children; 0 for a leaf.
    pub child_count: Vec<u32>,
    /// Samples below the node: first index and number.
    pub first_sample: Vec<u32>,
    pub sample_count: Vec<u32>,
    /// The sample that stands for the node when a traversal stops here (D4's parent point).
    pub representative: Vec<u32>,
    /// Start of each level in the node arrays, root level first, with the total at the end.
    pub levels: Vec<u32>,
    /// K, the branching asked for.
    pub branching: u32,
}
