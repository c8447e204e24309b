//! Records whether this thread works for an entry point of the C ABI. Panics of such threads go to the library's log;
//! the program itself handles those of all other threads. Programs that never call the C ABI are never inside.

use std::cell::Cell;

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Restores the previous state of the thread, inside or outside, on drop.
pub struct Scope {
    before: bool,
}

impl Drop for Scope {
    fn drop(&mut self) {
        set(self.before);
    }
}

/// Sets the mark and returns the previous one. During the teardown of a thread its mark no longer exists, so the thread
/// counts as outside.
fn set(inside: bool) -> bool {
    IS_INSIDE.try_with(|mark| mark.replace(inside)).unwrap_or(false)
}

/// Marks the calling thread as working for an entry point until the scope is dropped.
pub fn enter() -> Scope {
    Scope { before: set(true) }
}

/// Marks the calling thread as running code of the host, such as a callback, until the scope is dropped.
pub fn leave() -> Scope {
    Scope { before: set(false) }
}

/// Returns whether the calling thread works for an entry point.
pub fn is_inside() -> bool {
    IS_INSIDE.try_with(Cell::get).unwrap_or(false)
}
