//! Unwinding of a refused allocation out of its operation.

use std::any::Any;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result};

/// Number of active guards, on all threads.
pub(super) static GUARDS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is in [`catching`], or has called [`catch_on_this_thread`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Payload of the unwinding: the size of the refused request, bytes.
struct Refused(usize);

/// Runs short work of this thread as [`guard`](super::guard()) does, without a check of the reserve: a refused
/// allocation of this module unwinds out of `work`. The caller catches it and identifies it by [`refused`].
pub fn catching<T>(work: impl FnOnce() -> T) -> T {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            CATCHING.set(self.0);
        }
    }
    let _leave = Leave(CATCHING.replace(true));
    work()
}

/// Runs short work of this thread, and returns `OutOfMemory` when one of its allocations was refused. `what` is as for
/// [`guard`](super::guard()). What `work` has changed so far stays changed.
pub fn attempt<T>(what: &'static str, work: impl FnOnce() -> T) -> Result<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| catching(work)));
    outcome.map_err(|payload| refused(what, payload.as_ref()).unwrap_or_else(|| resume_unwind(payload)))
}

/// Lets refused allocations of this thread unwind for its whole life: for the threads of a pool, which hands what unwinds
/// to the caller.
pub fn catch_on_this_thread() {
    CATCHING.set(true);
}

/// Returns the error, if `payload` is that of a refused allocation.
pub fn refused(what: &'static str, payload: &(dyn Any + Send)) -> Option<Error> {
    payload.downcast_ref::<Refused>().map(|refused| Error::OutOfMemory { what, bytes: refused.0 as u64 })
}

/// Unwinds out of the current operation.
#[cold]
pub(super) fn refuse(bytes: usize) -> ! {
    if GUARDS.load(Ordering::Relaxed) == 0 && !CATCHING.get() {
        // There is no guard to catch it.
        let layout = std::alloc::Layout::array::<u8>(bytes).unwrap_or(std::alloc::Layout::new::<u8>());
        std::alloc::handle_alloc_error(layout);
    }
    resume_unwind(Box::new(Refused(bytes)))
}
