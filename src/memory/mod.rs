//! Memory that may run out: how an allocation of any size becomes an error and not the end of the process.
//!
//! Stable Rust has two ways out of a failed allocation. `try_reserve` tells the caller; everything else calls
//! `std::alloc::handle_alloc_error`, which ends the process. So there are two parts:
//!
//! - **What grows** with grid, samples, triangles or the size of a file is allocated by the functions of this module. They ask
//!   with `try_reserve`. When the system refuses, they unwind, without a message on stderr, to the [`guard`] around the
//!   operation, which makes an [`Error::OutOfMemory`] of it. Unwinding is how a container can grow in the middle of an
//!   iterator or on another thread (rayon carries it over) and still drop everything that was made so far. Without a guard
//!   around them, they end the process as any other container does.
//! - **What is small** (boxes, reference counts, messages, the bookkeeping of the thread pool) stays with the ordinary
//!   containers. [`WithReserve`] is a global allocator that serves such a block from a reserve when the system refuses, and
//!   counts that; the guard and [`Progress::report`](crate::math::Progress::report) see the count and end the operation with
//!   the same error. The C library has this allocator. A Rust program chooses its own: without `WithReserve` only the first
//!   part holds.
//!
//! A program built with `panic = "abort"` cannot unwind, and ends where an allocation fails.

mod bytes;
mod containers;
mod reserve;
mod threads;

use std::any::Any;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

use containers::with_capacity_or;

pub use bytes::{deserialize_vec, read_to_end, text_of, Bytes};
pub use containers::{
    boxed, boxed_item, concat, exact, filled, filled_with, map_with_capacity, par_flat_collect, par_try_flat_collect,
    set_with_capacity, sort_stable_by, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded, RoomGuarded,
    SliceGuarded,
};
pub(crate) use reserve::refusable;
pub use reserve::{WithReserve, RESERVE_BYTES};
pub(crate) use threads::has_room as has_room_for_threads;

/// Guards that are entered now, on any thread.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is in [`catch`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// What is unwound with: the size of the request that was refused, bytes.
struct Refused(usize);

/// Runs `work`. Returns [`Error::OutOfMemory`] when one of its allocations was refused: one made by this module on any of its
/// threads, or one that [`WithReserve`] had to serve from its reserve meanwhile. The count of the latter is that of the
/// process: an operation can fail for what was refused to another one at the same time. What `work` made is dropped.
///
/// `what`: what is being done, as the error shows it: "cooking a field".
pub fn guard<T: Send>(what: &'static str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let before = uses_of_reserve();
    GUARDS.fetch_add(1, Ordering::Relaxed);
    // What `work` has half done is dropped, so nobody sees it.
    let outcome = catch_unwind(AssertUnwindSafe(|| threads::with_pool(what, work)?));
    GUARDS.fetch_sub(1, Ordering::Relaxed);
    match outcome {
        Ok(Err(error @ Error::OutOfMemory { .. })) => Err(error),
        Ok(_) if uses_of_reserve() != before => Err(ran_out(what)),
        Ok(result) => result,
        Err(payload) => Err(refused(what, payload.as_ref()).unwrap_or_else(|| resume_unwind(payload))),
    }
}

/// Runs short work of this thread as [`guard`] does, without a look at the reserve: an allocation of this module that is refused
/// unwinds out of `work`, for the caller to catch and to tell by [`refused`].
pub(crate) fn catching<T>(work: impl FnOnce() -> T) -> T {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            CATCHING.set(self.0);
        }
    }
    let _leave = Leave(CATCHING.replace(true));
    work()
}

/// The error, if that is what unwinds with `payload`.
pub(crate) fn refused(what: &'static str, payload: &(dyn Any + Send)) -> Option<Error> {
    payload.downcast_ref::<Refused>().map(|refused| Error::OutOfMemory { what, bytes: refused.0 as u64 })
}

/// How often [`WithReserve`] has served a block from its reserve since the process began; 0 where it is not the allocator.
pub fn uses_of_reserve() -> usize {
    reserve::uses()
}

/// Bytes of the reserve that are in use now.
pub fn reserve_in_use() -> usize {
    reserve::in_use()
}

/// Whether the allocation that runs on this thread can fail without ending the process: it is one of this module's. For
/// allocators that count the others.
pub fn is_guarded() -> bool {
    reserve::is_refusable()
}

/// The error of an operation that notices that the reserve was used.
pub(crate) fn ran_out(what: &'static str) -> Error {
    Error::OutOfMemory { what, bytes: reserve::last_request() as u64 }
}

/// Leaves the operation in hand.
#[cold]
fn refuse(bytes: usize) -> ! {
    if GUARDS.load(Ordering::Relaxed) == 0 && !CATCHING.get() {
        // Nobody would catch it.
        let layout = std::alloc::Layout::array::<u8>(bytes).unwrap_or(std::alloc::Layout::new::<u8>());
        std::alloc::handle_alloc_error(layout);
    }
    resume_unwind(Box::new(Refused(bytes)))
}
