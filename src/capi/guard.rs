//! The border: every entry point runs in here, failures become a status and a message, and panics stop.

use super::log;
use super::panics;
use super::status::*;
use crate::{memory, Error};

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
            Error::OutOfMemory { .. } => VXS_OUT_OF_MEMORY,
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
    prepare_last_error();
    match panics::stopped(|| memory::catching(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => fail(name, &failure),
        Err(caught) => {
            if let Some(error) = memory::refused("running the call", caught.payload()) {
                caught.forget();
                return fail(name, &error.into());
            }
            poison();
            let message = format!(
                "{name}: a defect inside the library ({caught}); the objects of this call can only be released"
            );
            log::log(log::VXS_LOG_ERROR, || message.clone());
            set_last_error(&message);
            caught.forget();
            VXS_PANIC
        }
    }
}

fn fail(name: &str, failure: &Failure) -> vxs_status {
    set_last_error(&format!("{name}: {}", failure.message));
    failure.status
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
            panic!("asked for by a test");
        }
    }
}
