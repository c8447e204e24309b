//! Mesh files: OBJ, STL and PLY in, OBJ out. Every file that cannot be used gives an error with the path and the
//! reason; no input makes these functions panic. Content that a reader does not understand is an error, because
//! silently omitting it would change the shape.

mod file;
mod obj;
mod ply;
mod polygon;
mod stl;
mod text;

pub use file::{load, read, write_obj};
