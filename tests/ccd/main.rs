//! Continuous collision detection and segment queries.

mod cell;
mod edges;
mod fields;
mod impact;
mod mesh;
mod segment;
mod shell;
mod triangles;
