//! The log hook, which gets the messages of the library.

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
    /// Address as a number, since it goes from thread to thread. By the contract of `vxs_set_log`, the caller answers
    /// for its use.
    pub user: usize,
}

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// Least important level that the hook gets; 0 without a hook, so that no message is composed in vain.
static LEVEL: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// True while this thread is inside the hook.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the hook. `level` is the least important level that the hook gets. When the function returns, no thread is
/// inside the previous hook.
pub(super) fn set(hook: Option<Hook>, level: u32) -> Result<(), Failure> {
    if INSIDE.get() {
        return Err(Failure::new(VXS_BUSY, "called by the log hook itself; expected it to be called outside of it"));
    }
    let mut current = HOOK.write();
    LEVEL.store(if hook.is_some() { level } else { 0 }, Ordering::Relaxed);
    *current = hook;
    Ok(())
}

/// Logs the message that `message` returns; calls it only if the hook gets this level.
pub(super) fn log(level: u32, message: impl FnOnce() -> String) {
    if level <= LEVEL.load(Ordering::Relaxed) {
        send(level, &CString::new(message().replace('\0', " ")).unwrap_or_default());
    }
}

pub(super) fn send(level: u32, message: &CStr) {
    // Without this check, a hook that makes the library log would call itself forever.
    if level > LEVEL.load(Ordering::Relaxed) || INSIDE.replace(true) {
        return;
    }
    // The lock is held during the call, so that `vxs_set_log` waits for its end. It is recursive: a reader must not
    // wait for a writer that waits for another reader, whose hook may wait for a lock that this thread holds.
    if let Some(hook) = &*HOOK.read_recursive() {
        // A panic in the hook belongs to the host.
        let _outside = inside::leave();
        // SAFETY: the caller of `vxs_set_log` promised that the hook may be called with this pointer, from any thread,
        // until replaced.
        unsafe { (hook.call)(level, message.as_ptr(), hook.user as *mut c_void) };
    }
    INSIDE.set(false);
}
