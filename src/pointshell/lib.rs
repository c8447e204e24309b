//! The pointshell: surface samples with normals, and the sphere tree over them. Knows meshes and the trait
//! `SignedDistance`, but nothing of contacts.
//!
//! | file | what |
//! | --- | --- |
//! | `options` | options of the caller |
//! | `shell` | the arrays of a shell and of its sphere tree |
//! | `cluster` | clustering of the samples: a hierarchy of contiguous runs |
//! | `greedy`, `kdtree` | the clustering of the DLR papers |
//! | `tree` | the spheres around the runs, in flat arrays |
//! | `scaled` | the shell of a scaled body |
//! | `extremes` | the samples at the corners of the convex hull |
//! | `sharpness` | the length of the sharp places |
//! | `nearest` | the sample nearest to a point |
//! | `check` | the invariants, for tests and for files from outside |

mod check;
mod cluster;
mod extremes;
mod greedy;
mod kdtree;
pub mod nearest;
mod options;
mod scaled;
mod sharpness;
mod shell;
pub mod tree;

pub use options::{Clustering, Sampling, ShellOptions, TreeKind};
pub use shell::{round_up, Extremes};
pub use shell::{PointShell, SphereTree};
