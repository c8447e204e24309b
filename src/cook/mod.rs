//! Cooking: from a mesh to a field and a pointshell. Knows nothing of queries, files or hosts.
//!
//! | file | what |
//! | --- | --- |
//! | `options` | what a caller may choose, the grid and the memory that follow from it |
//! | `dense`, `bricks` | the field on a full grid and in bricks; `layout` places the bricks |
//! | `cull/` | exact distances |
//! | `crossings`, `winding`, `membrane`, `open` | the sign, of closed and of open meshes |
//! | `offset`, `tiles` | either field around an offset surface |
//! | `measure` | the fit of a field to the mesh |
//! | `mass` | mass properties of what a field says is inside |
//! | `sample/` | where the samples of a pointshell are put on a mesh |
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
mod sample;
pub(crate) mod shape;
mod target;
mod tiles;
mod winding;
mod zeros;

pub use mass::{mass_from_bricks, mass_from_field};
pub(crate) use mass::{mass_from_coarse, mass_of_mesh, mass_of_samples};
pub use offset::offset_surface;
pub use options::FieldOptions;
pub use shape::{CookOptions, Forms, Resolution, Storage};
