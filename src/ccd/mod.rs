//! Continuous queries: a segment against a cell and against a field, a pointshell that moves through a field, two
//! bodies that move. Takes the types of bodies and contacts from `contact`; independent of files, engines and forces.
//!
//! Xu & Barbič (2014, 2016) reduce continuous collision detection between points and a signed distance field to a
//! segment against a level of the field. Here that answer is exact: the interpolant in each cell is a cubic along the
//! segment, all roots of the cubic are found, and cells are skipped only with a proof.

//!
//! | file | content |
//! | --- | --- |
//! | `cell` | the cubic in a cell |
//! | `segment` | a segment against any field: on grids `grid` (with `walk`, `line`, `outside`), else `convex`, `surface` |
//! | `motion`, `screw` | motion of samples in the field's frame |
//! | `shell` | a pointshell in motion: `tree` finds the samples that may touch, with `march`; `curve` tests each |
//! | `through` | all passages of a pointshell straight through a grid: `stretch` finds the intervals; `near` tests each |
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
