//! How a refused allocation leaves the operation that made it.

use std::any::Any;
use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Error;

/// Guards that are entered now, on any thread.
pub(super) static GUARDS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is in [`catch`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// What is unwound with: the size of the request that was refused, bytes.
struct Refused(usize);

/// Runs short work of this thread as [`guard`](super::guard()) does, without a look at the reserve: an allocation of this
/// module that is refused unwinds out of `work`, for the caller to catch and to tell by [`refused`].
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

/// Leaves the operation in hand.
#[cold]
pub(super) fn refuse(bytes: usize) -> ! {
    if GUARDS.load(Ordering::Relaxed) == 0 && !CATCHING.get() {
        // Nobody would catch it.
        let layout = std::alloc::Layout::array::<u8>(bytes).unwrap_or(std::alloc::Layout::new::<u8>());
        std::alloc::handle_alloc_error(layout);
    }
    resume_unwind(Box::new(Refused(bytes)))
}
