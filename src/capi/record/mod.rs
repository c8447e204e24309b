//! Recording of the calls of a program, and their replay.
//!
//! `guard::entry!` passes the arguments of a call to `session`, which keeps them by content, and after the call its
//! status and a hash of its outputs. `player` makes the same calls again and compares.
//!
//! | file | what |
//! | --- | --- |
//! | `api` | the C functions that start and stop a recording |
//! | `session` | the recording in progress: threads, rings, the writer |
//! | `ring` | a ring of bytes between a thread and the writer |
//! | `large` | records that are too large for a ring, on their way to the writer |
//! | `sink`, `source` | encoding and decoding of one call |
//! | `argument`, `contents` | arguments by their types in C; the structs |
//! | `calls` | the functions that are recorded, one line each, and those that are not |
//! | `file` | the format of the file |
//! | `heights` | height maps of the caller during a replay |
//! | `order` | the order in which a replay makes the calls of several threads |
//! | `player` | replay |

pub mod api;
pub(super) mod argument;
pub mod calls;
mod contents;
mod file;
mod heights;
mod large;
mod order;
pub mod player;
mod ring;
pub(super) mod session;
pub(super) mod sink;
mod source;
