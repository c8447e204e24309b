//! Calls every function of the C API in sequences, as tests/fuzz/calls.c does and with its checks.
#![no_main]

use libfuzzer_sys::fuzz_target;
// The C code calls the functions of the library, so the library must be linked.
use voxshell as _;

// Here, and not in the crate of all targets: linked into the others, the C code would keep the whole library there, and the
// fuzzer would look at half a million counters after each input.
extern "C" {
    fn voxshell_fuzz_calls(bytes: *const u8, size: usize);
}

fuzz_target!(|bytes: &[u8]| {
    voxshell_fuzz::start();
    // SAFETY: the C code reads `bytes.len()` bytes. A call that breaks a promise ends the process.
    unsafe { voxshell_fuzz_calls(bytes.as_ptr(), bytes.len()) }
});
