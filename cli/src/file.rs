//! Files that appear completely or not at all.

use std::path::Path;

use voxshell::{output, Result};

/// Writes a file, as [`output::write`] does.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    output::write(path, |out| out.write_all(bytes))
}
