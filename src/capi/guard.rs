//! The border: every entry point runs in here, failures become a status and a message, and panics stop.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::log;
use super::status::*;
use crate::Error;

/// Why a call did not succeed.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: vxs_status,
    pub message: String,
}

impl Failure {
    pub fn new(status: vxs_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
    pub fn argument(argument: &str, value: impl std::fmt::Display, expected: &str) -> Self {
        Self::new(VXS_INVALID_ARGUMENT, format!("{argument} is {value}; expected {expected}"))
    }
    pub fn mesh(message: impl Into<String>) -> Self {
        Self::new(VXS_INVALID_MESH, message)
    }
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(VXS_UNSUPPORTED, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::InvalidArgument { .. } => VXS_INVALID_ARGUMENT,
            Error::InvalidMesh(_) => VXS_INVALID_MESH,
            Error::TooLarge { .. } => VXS_TOO_LARGE,
            Error::Io { .. } => VXS_IO,
            Error::InvalidFile { .. } => VXS_INVALID_FILE,
            Error::Unsupported(_) => VXS_UNSUPPORTED,
            Error::Cancelled => VXS_CANCELLED,
        };
        Self::new(status, error.to_string())
    }
}

/// Runs the body of the entry point `name`. When it panics, `poison` marks every handle it was given.
pub(super) fn run(name: &str, body: impl FnOnce() -> Result<vxs_status, Failure>, poison: impl FnOnce()) -> vxs_status {
    let body = || {
        #[cfg(feature = "test-panic")]
        test_panic::panic_if_asked();
        body()
    };
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            set_last_error(&format!("{name}: {}", failure.message));
            failure.status
        }
        Err(payload) => {
            poison();
            let message = format!(
                "{name}: a defect inside the library ({}); the objects of this call can only be released",
                text(payload.as_ref())
            );
            log::log(log::VXS_LOG_ERROR, || message.clone());
            set_last_error(&message);
            // Dropping a payload may run foreign code that panics again, outside of the guard.
            std::mem::forget(payload);
            VXS_PANIC
        }
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "a panic without a message",
    }
}

/// `entry!(name, [handles], { body })`: the body of the entry point `name`, which returns `Result<vxs_status, Failure>`
/// to the guard; the handles are poisoned when it panics.
macro_rules! entry {
    ($name:ident, [$($handle:expr),*], $body:block) => {
        $crate::capi::guard::run(
            stringify!($name),
            || $body,
            || { $($crate::capi::handle::poison($handle);)* },
        )
    };
}
pub(super) use entry;

/// How the project's C tests bring about a defect. In no library that is installed.
#[cfg(feature = "test-panic")]
mod test_panic {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<bool> = const { Cell::new(false) };
    }

    #[no_mangle]
    extern "C" fn vxs_test_panic_in_next_call() {
        ASKED.set(true);
    }

    pub(super) fn panic_if_asked() {
        if ASKED.replace(false) {
            // A panic like any other, but for the report on stderr.
            std::panic::resume_unwind(Box::new("asked for by a test"));
        }
    }
}
