//! Calls every function of the C API in sequences, as tests/fuzz/calls.c does and with its checks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use voxshell_fuzz::calls;

fuzz_target!(|bytes: &[u8]| calls::run(bytes));
