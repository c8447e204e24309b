//! Cooking a triangle soup into a field: exact distances (`cull`), the sign (`crossings`, `winding`, `membrane`), and the
//! fit to the mesh (`measure`). `dense` cooks a full grid, `bricks` bricks, and `offset`
//! either around an offset surface.

mod bricks;
mod crossings;
mod cull;
mod dense;
mod lattice;
mod layout;
mod measure;
mod membrane;
mod offset;
mod open;
mod options;
mod tiles;
mod winding;

pub use offset::offset_surface;
pub use options::FieldOptions;
