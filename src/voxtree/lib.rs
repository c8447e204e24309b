//! Implicit sphere trees: volume against volume (Ruffaldi, Morris, Barbagli, Salisbury & Bergamasco 2008, "Voxel-based
//! haptic rendering using implicit sphere trees"). Knows fields, meshes, voxel models and pointshells; nothing of forces.
//!
//! A [`VoxTree`] is an octree, 64-tree or 512-tree of voxels. It stores the children of each node as bits and nothing else:
//! level, centre and radius of every bounding sphere follow from the way down from the root.
//!
//! | file | content |
//! | --- | --- |
//! | `table` | the 255 smallest spheres around the octants of a node (section 3.1, figure 2) |
//! | `tree` | the bits, and the way from a node to its children |
//! | `build` | trees of meshes, fields and voxel models |
//! | `spheres` | what the query needs of a side; implemented for placed trees and for pointshells |
//! | `query` | tree against tree, and pointshell against tree: breadth-first lists of pairs (section 3.2) |
//! | `pair` | the pairs of the answer: both centres, both normals, depth, relative velocity (section 3.3) |
//! | `cube` | cube against cube |
//!
//! ```
//! use voxshell::math::{Pose, Progress};
//! use voxshell::field::Sphere;
//! use voxshell::voxtree::{self, Placed, QueryOptions, TreeOptions, VoxTree, Workspace};
//! let ball = Sphere::new(0.5)?;
//! let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.05), &Progress::none())?;
//! let (a, b) = (Placed::new(&tree, Pose::identity()), Placed::new(&tree, Pose::translation(0.98, 0.0, 0.0)));
//! let mut workspace = Workspace::new();
//! let pairs = voxtree::query(&a, &b, &QueryOptions::default(), &mut workspace)?;
//! assert!(pairs.iter().all(|pair| pair.depth >= 0.0 && pair.normal_a.x > 0.5));
//! assert!(workspace.report().complete);
//! # voxshell::Result::Ok(())
//! ```

mod build;
mod cube;
mod pair;
mod query;
mod spheres;
mod table;
mod tree;

pub use build::{TreeOptions, Voxels};
pub use cube::cube_overlap;
pub use pair::VoxelPair;
pub use query::{query, query_pointshell, Placed, QueryOptions, Report, Workspace};
pub use table::{TightSphere, PAPER_SMALLER, SMALLER, TABLE};
pub use tree::VoxTree;
pub use voxshell_voxmap::Branching;
