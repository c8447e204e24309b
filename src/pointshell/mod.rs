//! Floor 2: the pointshell. Surface samples with normals, and the sphere tree over them. Knows meshes and the trait
//! `SignedDistance`, but nothing of contacts.
//!
//! | file | what |
//! | --- | --- |
//! | `options` | what a caller may choose |
//! | `sample/` | where samples are put on a mesh |
//! | `cluster` | which samples belong together: a hierarchy of contiguous runs |
//! | `greedy`, `kdtree` | the same as the DLR papers do it |
//! | `tree` | the spheres around the runs, in flat arrays |
//! | `scaled` | the shell of a body made larger or smaller |
//! | `nearest` | the sample nearest to a point |
//! | `check` | the invariants, for tests and for files from outside |

mod check;
mod cluster;
mod greedy;
mod kdtree;
mod nearest;
mod options;
mod sample;
mod scaled;
mod tree;

pub use options::{Clustering, Sampling, ShellOptions, TreeKind};

use crate::field::SignedDistance;
use crate::math::{Aabb, Progress, Vec3};
use crate::memory;
use crate::mesh::TriMesh;
use crate::{Error, Result};

/// Surface samples under a sphere tree, structure of arrays, f32 in the local frame (body axes, origin `origin`).
///
/// Samples are stored in tree order: those below any node are contiguous. A sample's index is its feature id, stable for
/// the life of the asset. Invariant: every sample lies inside the spheres of all its ancestors, rounding included.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PointShell {
    /// Origin of the local frame in the body frame, metres.
    pub origin: Vec3,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub x: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub y: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub z: Vec<f32>,
    /// Unit outward normals.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub nx: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub ny: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub nz: Vec<f32>,
    /// Largest distance from any point of the surface (of the sharp edges, for [`Sampling::Features`]) to its nearest
    /// sample, metres, as measured at cooking.
    pub spacing: f32,
    pub tree: SphereTree,
}

/// Flat breadth-first sphere tree: children of a node are contiguous, and so are the nodes of a level.
///
/// All leaves are on the last level, so each level covers every sample and is a level of detail of the whole body.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SphereTree {
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub cx: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub cy: Vec<f32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub cz: Vec<f32>,
    /// Radius, metres: at least the exact distance to the farthest sample below times 1 + 2^-20, which is more than the
    /// rounding of any order of operations in f32, and than what a rotation matrix rounded to f32 stretches.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub radius: Vec<f32>,
    /// Index of the first child node; for a leaf, `u32::MAX`.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub first_child: Vec<u32>,
    /// Number of children, at most `branching`; 0 for a leaf.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub child_count: Vec<u32>,
    /// Samples below the node: first index and number.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub first_sample: Vec<u32>,
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub sample_count: Vec<u32>,
    /// The sample that stands for the node when a traversal stops here (D4's parent point): for minimal balls the one
    /// nearest the mean, for nested spheres the one at the centre. One of the children's, for minimal balls.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub representative: Vec<u32>,
    /// Start of each level in the node arrays, root level first, with the total at the end.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub levels: Vec<u32>,
    /// K, the branching asked for.
    pub branching: u32,
}

impl PointShell {
    /// A shell of given samples: `points` in metres, body frame, with outward `normals` of any non-zero length.
    ///
    /// Of the options only `branching`, `tree`, `clustering` and `memory_limit` matter. There is no surface to measure
    /// against, so `spacing` is set to the largest distance from a sample to its nearest neighbour; overwrite it when the
    /// covering radius is known.
    pub fn from_samples(points: &[[f64; 3]], normals: &[[f64; 3]], options: &ShellOptions) -> Result<Self> {
        options.check_tree()?;
        if points.is_empty() {
            return Err(Error::argument("points", "empty", "at least one sample"));
        }
        if points.len() != normals.len() {
            return Err(Error::argument(
                "normals",
                format!("{} long", normals.len()),
                format!("{} long", points.len()),
            ));
        }
        options.check_memory(points.len() as u64, tree::BYTES_PER_SAMPLE, 0)?;
        memory::guard("building a sphere tree", || tree::build(points, normals, options, &Progress::none()))
    }

    /// Samples a mesh (body frame, metres), any triangle soup.
    ///
    /// Whatever the method, corners and sharp edges are sampled first and, but for [`Sampling::Features`], each connected
    /// component gets at least one sample. Normals come from `field`'s gradient where that is strong, else from the triangles. `spacing` of the result
    /// is an upper bound, within 1%, of the covering radius.
    ///
    /// The same mesh and options give the same bytes on any number of threads.
    ///
    /// # Errors
    /// `InvalidMesh` for a mesh without triangles, and by [`Sampling::Features`] for one without corners and sharp edges;
    /// bad options, too much memory, cancellation.
    pub fn sample(
        mesh: &TriMesh,
        field: Option<&dyn SignedDistance>,
        options: &ShellOptions,
        progress: &Progress,
    ) -> Result<Self> {
        Self::check(mesh, options)?;
        progress.guard("sampling a pointshell", || sample::sample(mesh, field, options, progress))
    }

    /// The memory that [`PointShell::sample`] checks against the limit, bytes: with a limit of one byte less it refuses. The
    /// limit in `options` does not matter.
    ///
    /// # Errors
    /// `InvalidMesh` and bad options, as there.
    pub fn memory_needed(mesh: &TriMesh, options: &ShellOptions) -> Result<u64> {
        Self::check(mesh, options)?;
        memory::guard("estimating memory", || sample::memory_needed(mesh, options))
    }

    fn check(mesh: &TriMesh, options: &ShellOptions) -> Result<()> {
        options.check_tree()?;
        options.check_sampling()?;
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("it has no triangles; expected at least one to sample".into()));
        }
        mesh.check_extent()?;
        Ok(())
    }

    /// The shell of the body scaled by a positive, finite `factor` about its origin: the same samples in the same order.
    /// A copy; powers of two change no digit.
    ///
    /// # Errors
    /// `InvalidArgument` when a number leaves its range.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        memory::guard("scaling a pointshell", || scaled::scaled(self, factor))
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Never true of a shell that was built or passed [`PointShell::check_invariants`].
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

    /// `Err` with what is wrong when an invariant of this type does not hold. Safe on any content, however hostile.
    pub fn check_invariants(&self) -> std::result::Result<(), String> {
        check::check(self)
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

    /// First sample of each node of a level, or of the last one where the tree is not as deep: the segments into which the
    /// level divides the samples (Sagardia et al. 2014, section 2.4).
    pub fn segments(&self, level: u32) -> &[u32] {
        &self.first_sample[self.level((level as usize).min(self.depth() - 1))]
    }

    /// Mean radius of a level's nodes, metres.
    pub fn mean_radius(&self, level: usize) -> f64 {
        let nodes = self.level(level);
        self.radius[nodes.clone()].iter().map(|&r| r as f64).sum::<f64>() / nodes.len().max(1) as f64
    }
}

/// The smallest f32 that is not below `x`, for `x` ≥ 0.
fn round_up(x: f64) -> f32 {
    let rounded = x as f32;
    if rounded as f64 >= x {
        rounded
    } else {
        f32::from_bits(rounded.to_bits() + 1)
    }
}
