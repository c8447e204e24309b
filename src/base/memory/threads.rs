//! The thread pool of long work, if there is memory for its threads.
//!
//! A thread needs address space for its stack, and some more before it runs any of our code: for its signal stack, and
//! for the list of values to drop at its end. Where that is missing, the standard library panics and glibc ends the
//! process. So threads are started only where there is room for all of this, and the caller continues, and allocates
//! memory itself, once they run.
//!
//! A thread also registers each value that it drops at its end, when it first uses the value. glibc takes a small block for
//! that, not through our allocator, and ends the process if there is none. So [`register_thread`] registers all of them at
//! once where there is room.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Error, Result};

/// Address space of a thread, bytes: Rust's default stack, and what a thread needs until it runs.
pub const THREAD_BYTES: usize = (2 << 20) + (256 << 10);

/// Memory for the values that a thread registers, bytes.
const REGISTERED_BYTES: usize = 1 << 14;

/// Whether the platform has threads. Where it has none, work runs on the calling thread: rayon then makes its global pool of
/// this thread when it is first used. An attempt to make the pool before would fail, and rayon would not try again.
pub const HAS_THREADS: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Whether rayon's global pool exists.
static HAS_GLOBAL: AtomicBool = AtomicBool::new(false);
/// Whether rayon has failed to make its global pool. It does not try again.
static FAILED: AtomicBool = AtomicBool::new(false);
/// The pool in place of the global one.
static KEPT: OnceLock<ThreadPool> = OnceLock::new();

/// Runs `work` where rayon has threads: in the caller's pool if it is in one, else with the global pool, which the
/// first call makes. Where there is no room for its threads, `work` gets a pool of its own, of as many threads as fit.
///
/// rayon would make the global pool by itself, but only once: after a failure it panics on every use. The first pool after
/// that with all threads is kept in its place.
///
/// # Errors
/// `OutOfMemory` when there is no room for one thread.
pub(super) fn with_pool<R: Send>(what: &'static str, work: impl FnOnce() -> R + Send) -> Result<R> {
    if !HAS_THREADS || rayon::current_thread_index().is_some() || HAS_GLOBAL.load(Ordering::Acquire) {
        return Ok(work());
    }
    let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
    if make_global(threads) {
        return Ok(work());
    }
    if let Some(kept) = KEPT.get() {
        return Ok(kept.install(work));
    }
    let all = threads;
    loop {
        if has_room(threads) {
            if let Ok(pool) = ThreadPoolBuilder::new().num_threads(threads).build() {
                pool.broadcast(|_| begin_work());
                if threads < all {
                    return Ok(pool.install(work));
                }
                return Ok(KEPT.get_or_init(|| pool).install(work));
            }
        }
        if threads == 1 {
            return Err(Error::OutOfMemory { what, bytes: THREAD_BYTES as u64 });
        }
        threads /= 2;
    }
}

/// Registers the values of the calling thread that std, parking_lot and `own` drop at its end. Returns false, and registers
/// none, where the memory for them is missing.
pub fn register_thread(own: impl FnOnce()) -> bool {
    // Freed at once: the next allocations take it.
    if std::hint::black_box(super::containers::with_capacity_or::<u8>(REGISTERED_BYTES)).is_none() {
        return false;
    }
    let _ = std::thread::current();
    if HAS_THREADS {
        // parking_lot registers a thread that waits, also for no time.
        let mutex = Mutex::new(());
        Condvar::new().wait_for(&mut mutex.lock(), Duration::ZERO);
    }
    own();
    true
}

/// Registers the values of the calling thread of a pool, those of rayon included, which belong to the search for work.
pub fn begin_work() {
    register_thread(|| ());
    rayon::yield_now();
}

/// Makes the global pool if there is room for this number of threads; returns whether it exists.
fn make_global(threads: usize) -> bool {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock();
    if !HAS_GLOBAL.load(Ordering::Acquire) && !FAILED.load(Ordering::Relaxed) && has_room(threads) {
        let is_made = match ThreadPoolBuilder::new().build_global() {
            Ok(()) => {
                rayon::broadcast(|_| begin_work());
                true
            }
            // An error without a source means that the program has made the pool already.
            Err(error) if error.source().is_none() => {
                rayon::broadcast(|_| ());
                true
            }
            Err(_) => false,
        };
        HAS_GLOBAL.store(is_made, Ordering::Release);
        FAILED.store(!is_made, Ordering::Relaxed);
    }
    HAS_GLOBAL.load(Ordering::Acquire)
}

/// Returns whether the system has the address space of this number of threads: maps and unmaps it. Not through the
/// allocator, which may have that much in blocks that were freed, where the system places no stack.
#[cfg(unix)]
pub fn has_room(threads: usize) -> bool {
    let (bytes, flags) = (threads * THREAD_BYTES, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new mapping, which nothing uses.
    unsafe {
        let mapped = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        mapped != libc::MAP_FAILED && libc::munmap(mapped, bytes) == 0
    }
}

/// Returns whether the system has the address space of this number of threads: allocates and frees it.
#[cfg(not(unix))]
pub fn has_room(threads: usize) -> bool {
    super::containers::with_capacity_or::<u8>(threads * THREAD_BYTES).is_some()
}
