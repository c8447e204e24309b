//! Mesh files: OBJ, STL and PLY in, OBJ out. Every file that cannot be used gives an error that names the path and says
//! what is wrong with it; no input makes these functions panic. What a reader does not understand is an error: a part that is
//! left out in silence makes another shape.

mod file;
mod obj;
mod ply;
mod polygon;
mod stl;
mod text;

pub use file::{load, write_obj};
