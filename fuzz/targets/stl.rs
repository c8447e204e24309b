//! Reads STL files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use voxshell_fuzz::{mesh, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|bytes: &[u8]| mesh::read("fuzz.stl", bytes));
