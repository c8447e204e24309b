//! The one error type of the core. Every message names the argument, the value it had and what was expected.

use std::path::PathBuf;

/// Errors of the core. The C ABI maps each variant to one `vxs_status`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument is outside its domain: "`voxel_size` is -1 m; expected a positive, finite length".
    #[error("{argument} is {value}; expected {expected}")]
    InvalidArgument { argument: String, value: String, expected: String },
    /// The triangles cannot be used: "triangle 7 refers to vertex 912, but there are 777 vertices".
    #[error("invalid mesh: {0}")]
    InvalidMesh(String),
    /// A grid or shell would need more memory than the caller allows.
    #[error("{what} would need {needed} bytes; the limit is {limit} bytes")]
    TooLarge { what: String, needed: u64, limit: u64 },
    /// A grid or shell would have more elements than their numbers allow, whatever the memory. `needed`: the memory that it
    /// would take at least, bytes.
    #[error("{what}; expected {expected}")]
    TooMany { what: String, expected: String, needed: u64 },
    /// The system has no more memory. No partial result is kept.
    #[error("out of memory while {what}: the system refused {bytes} bytes")]
    OutOfMemory { what: &'static str, bytes: u64 },
    /// A file could not be opened, read or written.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// The content of a file is invalid: unknown type, bad magic, truncated, checksum mismatch.
    #[error("{path}: {reason}")]
    InvalidFile { path: PathBuf, reason: String },
    /// The pair or operation needs a form (field or pointshell) that the shape does not have.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The progress callback asked to stop.
    #[error("cancelled by the progress callback")]
    Cancelled,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn argument(argument: impl Into<String>, value: impl std::fmt::Display, expected: impl Into<String>) -> Self {
        Error::InvalidArgument { argument: argument.into(), value: value.to_string(), expected: expected.into() }
    }
}
