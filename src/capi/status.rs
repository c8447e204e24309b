//! Version, status codes and the calling thread's last error.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, CStr, CString};

/// Version of this header: major. `vxs_version()` returns the version of the library.
pub const VXS_VERSION_MAJOR: u32 = 0;
/// Version of this header: minor.
pub const VXS_VERSION_MINOR: u32 = 1;
/// Version of this header: patch.
pub const VXS_VERSION_PATCH: u32 = 0;

/// Result of a call: `VXS_OK` (0) or one of the other `VXS_` codes below. New releases only add codes.
pub type vxs_status = i32;

/// Done; the outputs are written.
pub const VXS_OK: vxs_status = 0;
/// Done, but an output array was too small; the count tells the size that it needs.
pub const VXS_TRUNCATED: vxs_status = 1;
/// An argument is null, not finite, out of range, or contradicts another argument.
pub const VXS_INVALID_ARGUMENT: vxs_status = 2;
/// The triangles cannot be used: there are none, an index is out of range, a coordinate is not finite, or there is no
/// volume.
pub const VXS_INVALID_MESH: vxs_status = 3;
/// The result would need more memory than the limit, or more nodes, bricks or samples than the library can number. The
/// message tells the amount. Nothing was allocated.
pub const VXS_TOO_LARGE: vxs_status = 4;
/// A file could not be opened, read or written.
pub const VXS_IO: vxs_status = 5;
/// A file was read, but is of an unknown type, corrupt, truncated or too new.
pub const VXS_INVALID_FILE: vxs_status = 6;
/// The shape lacks the form (field, pointshell, triangles) that the call needs.
pub const VXS_UNSUPPORTED: vxs_status = 7;
/// The progress callback asked to stop.
pub const VXS_CANCELLED: vxs_status = 8;
/// The library stopped a defect of its own, in this call or in an earlier call with this object. Every object given to
/// the failing call is poisoned: it can only be released.
pub const VXS_PANIC: vxs_status = 9;
/// A handle was released before, is of another kind, or is not a handle at all.
pub const VXS_INVALID_HANDLE: vxs_status = 10;
/// The object is in use by another call; every thread needs a workspace of its own, and so does each pair of a batch. A
/// callback also gets this code for a call that would wait for the callback itself.
pub const VXS_BUSY: vxs_status = 11;
/// The system has no more memory, or no memory for a thread's stack. The call discards its partial work and leaves the
/// objects unchanged, and it may be repeated. Every call that allocates may return it; a query in a warm workspace does not
/// allocate.
pub const VXS_OUT_OF_MEMORY: vxs_status = 12;

/// Bytes of the message of a call for which its thread had no memory.
const FIRST_BYTES: usize = 96;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    /// Whether the thread has its `LAST_ERROR`.
    static HAS_LAST_ERROR: Cell<bool> = const { Cell::new(false) };
    /// The message until then, with a zero at its end. It has no destructor, so its use never allocates.
    static FIRST_ERROR: Cell<[u8; FIRST_BYTES]> = const { Cell::new([0; FIRST_BYTES]) };
}

/// Registers the last-error slot of the calling thread, which is dropped at its end.
pub(super) fn register() {
    HAS_LAST_ERROR.set(true);
    let first = FIRST_ERROR.get();
    match CStr::from_bytes_until_nul(&first) {
        Ok(message) if !message.is_empty() => set_last_error(&message.to_string_lossy()),
        _ => _ = LAST_ERROR.try_with(|_| ()),
    }
}

/// Stores the message of a call on a thread that has no memory for its `LAST_ERROR`.
pub(super) fn set_first_error(function: &str) {
    let mut text = [0; FIRST_BYTES];
    let message = function.bytes().chain(": out of memory for the first call of a thread".bytes());
    text[..FIRST_BYTES - 1].iter_mut().zip(message).for_each(|(to, from)| *to = from);
    FIRST_ERROR.set(text);
}

/// Stores `message` for `vxs_last_error` on this thread.
pub(super) fn set_last_error(message: &str) {
    let bytes: Vec<u8> = message.bytes().filter(|b| *b != 0).collect();
    let text = CString::new(bytes).unwrap_or_default();
    // During the teardown of a thread the slot may be gone; then no code can read the message either.
    let _ = LAST_ERROR.try_with(|last| last.replace(text));
}

/// Version of the library: `major << 16 | minor << 8 | patch`.
#[no_mangle]
pub extern "C" fn vxs_version() -> u32 {
    VXS_VERSION_MAJOR << 16 | VXS_VERSION_MINOR << 8 | VXS_VERSION_PATCH
}

/// Version of the library as text, such as "0.1.0". Static; do not free.
#[no_mangle]
pub extern "C" fn vxs_version_string() -> *const c_char {
    const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    };
    TEXT.as_ptr()
}

/// Returns the name of a status, such as "VXS_INVALID_ARGUMENT"; "unknown status" for any other number. Static; do not
/// free.
#[no_mangle]
pub extern "C" fn vxs_status_name(status: vxs_status) -> *const c_char {
    let name = match status {
        VXS_OK => c"VXS_OK",
        VXS_TRUNCATED => c"VXS_TRUNCATED",
        VXS_INVALID_ARGUMENT => c"VXS_INVALID_ARGUMENT",
        VXS_INVALID_MESH => c"VXS_INVALID_MESH",
        VXS_TOO_LARGE => c"VXS_TOO_LARGE",
        VXS_IO => c"VXS_IO",
        VXS_INVALID_FILE => c"VXS_INVALID_FILE",
        VXS_UNSUPPORTED => c"VXS_UNSUPPORTED",
        VXS_CANCELLED => c"VXS_CANCELLED",
        VXS_PANIC => c"VXS_PANIC",
        VXS_INVALID_HANDLE => c"VXS_INVALID_HANDLE",
        VXS_BUSY => c"VXS_BUSY",
        VXS_OUT_OF_MEMORY => c"VXS_OUT_OF_MEMORY",
        _ => c"unknown status",
    };
    name.as_ptr()
}

/// Returns the message of the last failed call on this thread: it names the argument, its value and the expected
/// values. Empty if no call has failed. UTF-8, valid until the next failing call on the same thread; do not free.
#[no_mangle]
pub extern "C" fn vxs_last_error() -> *const c_char {
    if !HAS_LAST_ERROR.get() {
        return FIRST_ERROR.with(|first| first.as_ptr().cast());
    }
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
