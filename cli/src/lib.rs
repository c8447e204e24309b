//! Code shared by the command line and the project's other programs: sources of shapes, files, progress, signals, and
//! headless pictures of fields.

pub mod file;
pub mod print;
pub mod progress;
pub mod render;
pub mod signals;
pub mod source;
