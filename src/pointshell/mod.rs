//! The pointshell. Surface samples with normals, and the sphere tree over them. Knows meshes and the trait
//! `SignedDistance`, but nothing of contacts.
//!
//! | file | what |
//! | --- | --- |
//! | `options` | what a caller may choose |
//! | `shell` | the arrays of a shell and of its sphere tree |
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
pub(crate) mod nearest;
mod options;
mod scaled;
mod shell;
pub(crate) mod tree;

pub use options::{Clustering, Sampling, ShellOptions, TreeKind};
pub(crate) use shell::round_up;
pub use shell::{PointShell, SphereTree};
