//! The asset: a shape with its forms, and the versioned file that holds them.
//! Knows nothing of queries' hosts or the C ABI.

mod bricks;
mod container;
mod file;
mod lz4;
mod shape;
mod triangles;
mod voxels;
mod voxtree;

pub use container::Store;
pub use shape::{Built, Shape};
pub use triangles::{contact_triangles, ContactTriangles, TrianglePoint};
pub use voxels::VoxelmapOptions;
pub use voxshell_cook::{CookOptions, Forms, Resolution, Storage};
pub use voxtree::{load_tree, save_tree, tree_from_bytes, tree_to_bytes};
