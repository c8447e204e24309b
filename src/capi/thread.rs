//! The first call on a thread: registers the values that the library keeps for the thread, while there is memory for them.

use std::cell::Cell;

use super::record::session;
use super::{panics, status};
use crate::memory;

thread_local! {
    /// Const and without a destructor: its use never allocates.
    static IS_READY: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the calling thread is ready for calls; the first call of a thread makes it so. False where memory is
/// missing: the call must then use no value of the thread that is dropped at its end, see [`memory::register_thread`].
#[inline]
pub fn is_ready() -> bool {
    IS_READY.get() || make_ready()
}

#[cold]
fn make_ready() -> bool {
    let registered = memory::register_thread(|| {
        status::register();
        panics::register();
        session::register();
    });
    IS_READY.set(registered);
    registered
}
