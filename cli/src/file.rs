//! Files that appear completely or not at all.

use std::io::Write;
use std::path::Path;

use voxshell::{Error, Result};

/// Writes a file under a temporary name and renames it, so that no other program sees an incomplete file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".voxshell-");
    // The permissions of a new file before the process's mask; temporary files would otherwise be private.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(io)?;
    file.write_all(bytes).map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}
