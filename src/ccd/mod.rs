//! Continuous queries. A segment against a cell and against a field, a pointshell that moves through a field, two
//! bodies that move. Takes from `contact` what bodies and contacts are; knows nothing of files, engines or forces.
//!
//! Xu & Barbič (2014, 2016) reduce continuous collision detection between points and a signed distance field to a segment
//! against a level of the field. Here that answer is exact: the interpolant in each cell is a cubic along the segment,
//! all of whose roots are found, and whatever is skipped is skipped by a proof.

//!
//! | file | what |
//! | --- | --- |
//! | `cell` | the cubic in a cell |
//! | `segment` | a segment against any field: on grids by `grid`, which uses `walk`, `line` and `outside`; else by `convex` and `surface` |
//! | `motion`, `screw` | how samples move in the field's frame |
//! | `shell` | a pointshell on its way: `tree` finds the samples that matter, by `march`; `curve` looks at each |
//! | `through` | all passages of a pointshell straight through a grid: where, by `stretch`; `near` looks at each |
//! | `impact` | two bodies in the world |

pub mod cell;
mod convex;
mod curve;
mod grid;
pub mod impact;
mod line;
mod march;
pub mod motion;
mod near;
mod outside;
mod screw;
pub mod segment;
pub mod shell;
mod stretch;
mod surface;
mod through;
mod tree;
mod types;
mod walk;
