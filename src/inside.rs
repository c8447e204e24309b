//! Whether this thread works for an entry point of the C ABI. Panics of such threads belong into the library's log;
//! those of all others are their program's own. Programs that never call the C ABI are never inside.

use std::cell::Cell;

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Until when a thread is inside, or outside: puts back on drop what was before.
pub(crate) struct Scope {
    before: bool,
}

impl Drop for Scope {
    fn drop(&mut self) {
        set(self.before);
    }
}

/// While a thread is torn down it has no mark any more, and is outside.
fn set(inside: bool) -> bool {
    IS_INSIDE.try_with(|mark| mark.replace(inside)).unwrap_or(false)
}

/// The calling thread works for an entry point until the scope is dropped.
pub(crate) fn enter() -> Scope {
    Scope { before: set(true) }
}

/// The calling thread runs code of the host, such as a callback, until the scope is dropped.
pub(crate) fn leave() -> Scope {
    Scope { before: set(false) }
}

/// Whether the calling thread works for an entry point.
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.try_with(Cell::get).unwrap_or(false)
}
