//! What every other crate of the library stands on: errors, threads of entry points, allocation that can fail, files
//! that are written, and mathematics. Knows nothing of meshes, fields or contacts.

pub mod error;
pub mod inside;
pub mod math;
pub mod memory;
pub mod output;

pub use error::{Error, Result};
