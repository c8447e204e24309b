//! The signed distance field in bricks: fine near the surface, coarse elsewhere.
//!
//! The grid is cut into bricks of 8³ cells. A brick with a node in the **narrow band** (within three cells of the surface)
//! has its own 9³ samples; any other is one trilinear cell between the **coarse** samples at its eight corners. Which of
//! the two a brick is, and where its samples are, is one number in an array over the box that all fine bricks are in.
//!
//! **Continuity.** Samples are 16-bit multiples of one quantum for the whole field, so a node that several bricks
//! share has the same value in each. Coarse samples are multiples of 64 quanta or more. On the face between a fine
//! and a coarse brick, the fine samples are not the distance but the coarse interpolant, which at eighths of an edge
//! is a whole number of quanta: both sides of every face agree exactly, and φ is continuous everywhere. Such a
//! **seam** is outside the narrow band, where only queries far from the surface read it; nearer than two cells to the
//! surface φ is that of a full grid, except for the quantum.
//!
//! `build` makes and certifies a field, `parts` converts it to and from the form of files; `index` holds the
//! positions of samples, `sample` evaluates φ; `cells` and `masks` serve segments; `dense` converts a full grid.

mod build;
mod cells;
mod constants;
mod dense;
mod field;
mod fine;
mod index;
mod layout;
mod masks;
mod parts;
mod sample;
mod samples;
mod types;

pub use field::BrickField;
pub use layout::{bricks_of, corners_of, place_of, BAND, CELLS, NODES, QUANTA, STRIDE, VOLUME};
pub use samples::Samples;
pub use types::{BrickHeader, BrickParts, Certificate};
pub use types::{Draft, FineBricks};
