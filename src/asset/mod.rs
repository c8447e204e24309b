//! The asset: a shape with its forms, and the versioned file that holds them.
//! Knows nothing of queries' hosts or the C ABI.

mod bricks;
mod container;
mod file;
mod map;
mod shape;

pub use crate::cook::{CookOptions, Forms, Resolution, Storage};
pub use container::Store;
pub use shape::Shape;
