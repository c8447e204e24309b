//! Code shared by the command line and the project's other programs: sources of shapes, progress, signals, and headless
//! pictures of fields.

pub mod board;
pub mod render;
pub mod source;
pub mod stop;
