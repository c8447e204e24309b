//! Sequences of calls of the C API.

// The C code calls the functions of the library, so the library must be linked.
use voxshell as _;

extern "C" {
    fn voxshell_fuzz_calls(bytes: *const u8, size: usize);
}

/// Makes the calls that the bytes choose. A call that breaks a promise ends the process.
pub fn run(bytes: &[u8]) {
    crate::start();
    // SAFETY: the C code reads `bytes.len()` bytes.
    unsafe { voxshell_fuzz_calls(bytes.as_ptr(), bytes.len()) }
}
