//! Model checking of the code that threads share without locks: the triple buffer between the halves of haptics, and the
//! handles of the C API. Loom runs each test in every interleaving of its threads, and with every value that a relaxed
//! load may return, within the memory model of C11.
//!
//! `build.rs` copies the sources of the library with the types of [`sync`] in place of those of the standard library, so
//! the checked code is that of the library. The copies with a defect prove that the tests find it.
//!
//! Run it with `cargo test --manifest-path tests/loom/Cargo.toml`, or `tests/campaign loom`.
#![cfg(test)]

mod buffer;
mod handles;
mod stubs;
mod sync;

// The handles import these names from the library.
use stubs::{asset, memory};
