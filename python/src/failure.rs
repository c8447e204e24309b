//! Statuses of the C API as Python exceptions. The module calls the core through its C entry points, which check every
//! argument and stop panics.

use std::ffi::CStr;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::PyErr;
use voxshell::capi::status::*;

/// A failed call: its status, and the message of the thread that made it.
#[derive(Clone, Debug)]
pub struct Failure {
    status: vxs_status,
    message: String,
}

/// Checks the status of a call that this thread has just made.
pub fn check(status: vxs_status) -> Result<(), Failure> {
    if status == VXS_OK {
        return Ok(());
    }
    // SAFETY: the pointer is to a string that lives until the next failed call on this thread.
    let message = unsafe { CStr::from_ptr(vxs_last_error()) }.to_string_lossy().into_owned();
    Err(Failure { status, message })
}

impl Failure {
    /// Puts the place of the failure before the message.
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    pub fn is_cancelled(&self) -> bool {
        self.status == VXS_CANCELLED
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure.status {
            VXS_IO => PyOSError::new_err(failure.message),
            VXS_OUT_OF_MEMORY => PyMemoryError::new_err(failure.message),
            VXS_PANIC | VXS_BUSY | VXS_CANCELLED => PyRuntimeError::new_err(failure.message),
            _ => PyValueError::new_err(failure.message),
        }
    }
}

/// A ValueError that names the argument, its value and the expected values.
pub fn refuse(argument: &str, value: impl std::fmt::Display, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} is {value}; expected {expected}"))
}
