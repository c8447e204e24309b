//! What the command line shares with the project's other programs: where shapes come from, progress, signals, and headless
//! pictures of fields.

pub mod board;
pub mod render;
pub mod source;
pub mod stop;
