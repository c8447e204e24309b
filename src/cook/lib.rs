//! Cooking: from a mesh to a field and a pointshell. Independent of queries, files and hosts.
//!
//! | file | content |
//! | --- | --- |
//! | `options` | parameters of the caller, and the grid and the memory that follow from them |
//! | `dense`, `bricks` | the field on a full grid and in bricks; `layout` places the bricks |
//! | `cull/` | exact distances |
//! | `crossings`, `winding`, `membrane`, `open` | the sign, of closed and of open meshes |
//! | `offset`, `tiles` | either field around an offset surface |
//! | `measure` | the fit of a field to the mesh |
//! | `mass` | mass properties of the inside of a field |
//! | `sample/` | sampling of a mesh for a pointshell |
//! | `peak` | bound on the memory that cooking holds |
//! | `shape` | all forms of a body from its mesh |
//! | `target` | finer and finer fields, until one meets a target error |

mod bricks;
mod crossings;
mod cull;
mod dense;
mod lattice;
mod layout;
mod mass;
mod measure;
mod membrane;
mod offset;
mod open;
mod options;
mod peak;
mod sample;
pub mod shape;
mod target;
mod tiles;
mod winding;
mod zeros;

pub use bricks::brick_field;
pub use dense::dense_field;
pub use mass::{mass_from_bricks, mass_from_field, mass_properties};
pub use mass::{mass_from_coarse, mass_of_mesh, mass_of_samples};
pub use offset::offset_surface;
pub use options::FieldOptions;
pub use sample::sample;
pub use shape::{CookOptions, Forms, Resolution, Storage};
