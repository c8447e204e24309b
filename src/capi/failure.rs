//! Failure of an entry point: a status and a message.

use super::status::*;
use crate::Error;

/// Failure of a call.
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
            Error::TooLarge { .. } | Error::TooMany { .. } => VXS_TOO_LARGE,
            Error::OutOfMemory { .. } => VXS_OUT_OF_MEMORY,
            Error::Io { .. } => VXS_IO,
            Error::InvalidFile { .. } => VXS_INVALID_FILE,
            Error::Unsupported(_) => VXS_UNSUPPORTED,
            Error::Cancelled => VXS_CANCELLED,
        };
        Self::new(status, error.to_string())
    }
}
