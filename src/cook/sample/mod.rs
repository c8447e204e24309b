//! Putting samples on a mesh. Order of precedence: corners, sharp edges, a vertex of each tiny component, then (as the
//! method says) vertices that stand out, vertices, or points of the area.
//!
//! | file | what |
//! | --- | --- |
//! | `surface`, `orient` | the mesh as seen here: welded and oriented, with sharp edges, components and normals |
//! | `edges` | corners and sharp edges |
//! | `vertices` | vertices that stand out |
//! | `uniform` | blue noise |
//! | `projection` | the DLR papers' way |
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
