//! Code shared by the fuzz targets: the start of the process, the check of memory, and the mutation of files with
//! checksums.

pub mod mesh;
pub mod record;
pub mod sections;

use std::sync::Once;

pub use support::allocation::Counting;

/// Makes the thread pool of the library from the calling thread, once per process. Work on other threads would make the
/// coverage of an input depend on the scheduler, and would cost a change of threads per input.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().expect("the first pool");
    });
}

/// Runs `work` on an input of `length` bytes and returns its result. Panics if the work held more memory at a time than
/// `per_byte` bytes for each byte of the input, and `always` beyond that.
pub fn in_proportion<T>(length: usize, per_byte: usize, always: usize, work: impl FnOnce() -> T) -> T {
    let (result, held) = support::allocation::peak(work);
    assert!(held <= per_byte * length + always, "{held} bytes of memory held for an input of {length} bytes");
    result
}

/// Checks the text of a refusal: one line, not empty and not long.
pub fn is_readable(reason: &str) {
    assert!(!reason.is_empty() && !reason.contains('\n') && reason.len() < 1000, "{reason:?}");
}
