//! Floor 3: continuous queries. A segment against a cell, a segment against a field. Knows nothing of files, engines or
//! forces.
//!
//! Xu & Barbič (2014, 2016) reduce continuous collision detection between points and a signed distance field to a segment
//! against a level of the field. Here that answer is exact: the interpolant in each cell is a cubic along the segment,
//! all of whose roots are found, and whatever is skipped is skipped by a proof.

pub mod cell;
mod convex;
mod line;
mod outside;
pub mod segment;
mod surface;
mod walk;
