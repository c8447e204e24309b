//! Sampling of a mesh. Order of precedence: corners, sharp edges, a vertex of each tiny component, then (depending on
//! the method) protruding vertices, vertices, or points of the area.
//!
//! | file | content |
//! | --- | --- |
//! | `surface`, `orient` | the mesh for sampling: welded and oriented, with sharp edges, components and normals |
//! | `edges` | corners and sharp edges |
//! | `vertices` | protruding vertices |
//! | `uniform` | blue noise |
//! | `projection` | the method of the DLR papers |
//! | `normals` | outward normals of the finished samples |
//! | `cover` | the covering radius |
//! | `grid`, `random` | neighbourhoods; pseudo-random numbers |

mod cover;
mod edges;
mod grid;
mod normals;
mod orient;
mod projection;
mod random;
mod sampler;
mod surface;
mod types;
mod uniform;
mod vertices;

pub use sampler::{bytes_on, memory_needed, sample};
