//! The function that gets the messages of the library.

use std::cell::Cell;
use std::ffi::{c_char, c_void, CStr, CString};
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::RwLock;

use super::failure::Failure;
use super::status::*;
use crate::inside;

/// The level of a defect: `VXS_LOG_ERROR`.
pub(super) const ERROR: u32 = 1;

pub(super) struct Hook {
    pub call: unsafe extern "C" fn(u32, *const c_char, *mut c_void),
    /// An address as a number, since it goes from thread to thread; what it points to is the caller's, who was told.
    pub user: usize,
}

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// The least important level that is wanted; 0 without a hook, so that no message is made for nobody.
static LEVEL: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Whether this thread is inside the hook.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the hook. `level`: the least important level that is wanted. When it returns, no thread is inside the hook that was
/// set before.
pub(super) fn set(hook: Option<Hook>, level: u32) -> Result<(), Failure> {
    if INSIDE.get() {
        return Err(Failure::new(VXS_BUSY, "called by the log hook itself; expected it to be called outside of it"));
    }
    let mut current = HOOK.write();
    LEVEL.store(if hook.is_some() { level } else { 0 }, Ordering::Relaxed);
    *current = hook;
    Ok(())
}

/// Logs what `message` makes, which is asked only if it is wanted.
pub(super) fn log(level: u32, message: impl FnOnce() -> String) {
    if level <= LEVEL.load(Ordering::Relaxed) {
        send(level, &CString::new(message().replace('\0', " ")).unwrap_or_default());
    }
}

pub(super) fn send(level: u32, message: &CStr) {
    // A hook that makes the library log would be called forever.
    if level > LEVEL.load(Ordering::Relaxed) || INSIDE.replace(true) {
        return;
    }
    // The lock is held during the call, so that `vxs_set_log` outwaits it. Recursive: a reader must not wait for a writer
    // that waits for another reader, whose hook may wait for what this thread holds.
    if let Some(hook) = &*HOOK.read_recursive() {
        // The host's panics are its own.
        let _outside = inside::leave();
        // SAFETY: the caller of `vxs_set_log` promised that it may be called with this, from any thread, until it is replaced.
        unsafe { (hook.call)(level, message.as_ptr(), hook.user as *mut c_void) };
    }
    INSIDE.set(false);
}
