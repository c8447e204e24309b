//! The shell and its sphere tree: flat arrays and their properties.

use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::Derived;

/// Surface samples under a sphere tree, structure of arrays, f32 in the local frame (body axes, origin `origin`).
///
/// Samples are stored in tree order: those below any node are contiguous. A sample's index is its feature id, stable for
/// the life of the asset. Invariant: every sample lies inside the spheres of all its ancestors, rounding included.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PointShell {
    /// Origin of the local frame in the body frame, metres.
    pub origin: Vec3,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub x: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub y: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub z: Vec<f32>,
    /// Unit outward normals.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub nx: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub ny: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub nz: Vec<f32>,
    /// Largest distance from any point of the surface (of the sharp edges, for [`Sampling::Features`](super::Sampling::Features)) to its nearest
    /// sample, metres, as measured at cooking.
    pub spacing: f32,
    pub tree: SphereTree,
    #[serde(skip)]
    pub(super) extremes: Derived<Extremes>,
    #[serde(skip)]
    pub(super) sharpness: Derived<f32>,
}

/// Flat breadth-first sphere tree: children of a node are contiguous, and so are the nodes of a level.
///
/// All leaves are on the last level, so each level covers every sample and is a level of detail of the whole body.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SphereTree {
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub cx: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub cy: Vec<f32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub cz: Vec<f32>,
    /// Radius, metres: at least the exact distance to the farthest sample below times 1 + 2^-20, which is more than the
    /// rounding of any order of operations in f32, and than what a rotation matrix rounded to f32 stretches.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub radius: Vec<f32>,
    /// Index of the first child node; for a leaf, `u32::MAX`.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub first_child: Vec<u32>,
    /// Number of children, at most `branching`; 0 for a leaf.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub child_count: Vec<u32>,
    /// Samples below the node: first index and number.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub first_sample: Vec<u32>,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub sample_count: Vec<u32>,
    /// The sample that represents the node when a traversal stops here (D4's parent point): for minimal balls the one
    /// nearest the mean, for nested spheres the one at the centre. For minimal balls it is also the representative of
    /// one of the children.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub representative: Vec<u32>,
    /// Start of each level in the node arrays, root level first, with the total at the end.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub levels: Vec<u32>,
    /// K, the requested branching.
    pub branching: u32,
}

/// The extreme samples of a shell; none if there are too many, or if all samples are in a plane.
#[derive(Debug, Default)]
pub struct Extremes {
    /// Their numbers, ascending.
    pub samples: Vec<u32>,
    /// Their positions in the local frame, metres.
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    /// Largest distance by which another sample is farther out than all of these, in any direction, metres.
    pub tolerance: f32,
}

impl PointShell {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Returns whether there are no samples: never true for a shell that was built or passed
    /// [`PointShell::check_invariants`].
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Sample `i` in the local frame, metres.
    #[inline]
    pub fn point(&self, i: usize) -> [f32; 3] {
        [self.x[i], self.y[i], self.z[i]]
    }

    /// Outward unit normal of sample `i`, body axes.
    #[inline]
    pub fn normal(&self, i: usize) -> [f32; 3] {
        [self.nx[i], self.ny[i], self.nz[i]]
    }

    /// Sample `i` in the body frame, metres.
    #[inline]
    pub fn position(&self, i: usize) -> Vec3 {
        self.origin + Vec3::new(self.x[i] as f64, self.y[i] as f64, self.z[i] as f64)
    }

    /// The smallest box around the samples, body frame, metres.
    pub fn bounds(&self) -> Aabb {
        let mut bounds = Aabb::empty();
        for i in 0..self.len() {
            bounds.include(&self.position(i));
        }
        bounds
    }

    /// Bytes held by the arrays.
    pub fn memory_bytes(&self) -> u64 {
        (self.len() * 6 * 4 + self.tree.node_count() * 9 * 4 + self.tree.levels.len() * 4) as u64
    }
}

impl SphereTree {
    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.radius.len()
    }

    /// Number of levels; the root is level 0.
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Node indices of a level.
    pub fn level(&self, level: usize) -> std::ops::Range<usize> {
        self.levels[level] as usize..self.levels[level + 1] as usize
    }

    /// Returns the first sample of each node of a level, or of the last one where the tree is not as deep: the segments
    /// into which the level divides the samples (Sagardia et al. 2014, section 2.4).
    pub fn segments(&self, level: u32) -> &[u32] {
        &self.first_sample[self.level((level as usize).min(self.depth() - 1))]
    }

    /// Mean radius of a level's nodes, metres.
    pub fn mean_radius(&self, level: usize) -> f64 {
        let nodes = self.level(level);
        self.radius[nodes.clone()].iter().map(|&r| r as f64).sum::<f64>() / nodes.len().max(1) as f64
    }
}

/// Returns the smallest f32 that is not below `x`, for `x` ≥ 0.
pub fn round_up(x: f64) -> f32 {
    let rounded = x as f32;
    if rounded as f64 >= x {
        rounded
    } else {
        f32::from_bits(rounded.to_bits() + 1)
    }
}
