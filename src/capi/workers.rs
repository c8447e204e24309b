//! The threads that cook for entry points. They are the library's own and not those of rayon's global pool, which a
//! Rust host may share. A panic on one of them is therefore certainly the library's (see [`super::panics`]).

use std::cell::Cell;

use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::guard::Failure;
use super::panics;
use super::status::*;
use crate::{inside, memory};

/// The thread pool. The first call that needs it creates it, with as many threads as rayon's global pool would have; it
/// is kept.
static POOL: Mutex<Option<&'static ThreadPool>> = Mutex::new(None);

thread_local! {
    /// True while this thread is in a progress callback.
    static REPORTS: Cell<bool> = const { Cell::new(false) };
}

fn pool() -> Result<&'static ThreadPool, Failure> {
    let mut pool = POOL.lock();
    if let Some(pool) = *pool {
        return Ok(pool);
    }
    // 0 lets rayon choose, which reads RAYON_NUM_THREADS. Stacks need address space: the loop halves the number until
    // they fit.
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = 0;
    let made = loop {
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("voxshell {i}"))
            // The thread counts as inside the library for its whole life.
            .start_handler(|_| {
                std::mem::forget(inside::enter());
                memory::catch_on_this_thread();
            });
        if memory::has_room_for_threads(if threads == 0 { most } else { threads }) {
            if let Ok(made) = builder.build() {
                // Waits until all threads run, so that no other allocation takes the memory that they need to start.
                made.broadcast(|_| memory::begin_work());
                break made;
            }
        }
        threads = match threads {
            0 if most > 1 => most / 2,
            0 | 1 => return Err(Failure::new(VXS_OUT_OF_MEMORY, "out of memory while starting a thread to cook on")),
            more => more / 2,
        };
    };
    Ok(pool.insert(Box::leak(Box::new(made))))
}

/// Runs `work`, which may use many threads, on the threads of the library.
///
/// Other work waits during a progress callback, so the callback must not start more work.
pub(super) fn work<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    let before = memory::uses_of_reserve();
    let result = on_threads(work)?;
    if memory::uses_of_reserve() != before {
        return Err(memory::ran_out("cooking").into());
    }
    Ok(result)
}

/// Runs `work` as [`work`] does, without a check of the reserve: for work that checks it before it changes a file.
pub(super) fn save<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    on_threads(work)
}

fn on_threads<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    if REPORTS.get() {
        let message = "called by a progress callback; expected it to be called outside of it, or on another thread";
        return Err(Failure::new(VXS_BUSY, message));
    }
    Ok(if memory::HAS_THREADS { pool()?.install(work) } else { work() })
}

/// Calls a progress callback.
pub(super) fn report<R>(callback: impl FnOnce() -> R) -> R {
    let before = REPORTS.replace(true);
    let result = panics::outside(callback);
    REPORTS.set(before);
    result
}
