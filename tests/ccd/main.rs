//! Continuous collision detection and segment queries.

mod cell;
mod fields;
mod impact;
mod segment;
mod shell;
