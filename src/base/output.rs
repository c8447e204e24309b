//! Files that appear completely or not at all.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};

use super::{Error, Result};

/// Most symbolic links that are followed one after the other.
const LINKS: usize = 40;

/// Where bytes for a path go.
enum Place {
    /// A regular file, or none yet.
    Regular(PathBuf),
    /// A device or a pipe, which takes the bytes and stays what it is.
    Stream(File),
}

/// Writes a file by `emit`: under a temporary name beside `path`, flushed to disk, then renamed, so that a crash leaves the old file
/// or the new one and never half of either. The target of a symbolic link is replaced, and not the link. A device or a pipe is
/// written into.
///
/// # Errors
/// `Io`, which names `path`. Then nothing is changed, unless a device or a pipe took a part.
pub fn write(path: &Path, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    match place(path).map_err(io)? {
        Place::Stream(stream) => emit_into(&stream, emit).map_err(io),
        Place::Regular(target) => replace(&target, emit).map_err(io),
    }
}

/// Returns the file that a path leads to through symbolic links.
///
/// # Errors
/// Of more than 40 links.
pub fn resolved(path: &Path) -> IoResult<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        match std::fs::read_link(&target) {
            // A relative link begins where it is.
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(std::io::Error::other("too many symbolic links"))
}

fn place(path: &Path) -> IoResult<Place> {
    match std::fs::metadata(path) {
        Ok(known) if known.is_file() || known.is_dir() => resolved(path).map(Place::Regular),
        Ok(_) => OpenOptions::new().write(true).open(path).map(Place::Stream),
        Err(error) if error.kind() == ErrorKind::NotFound => resolved(path).map(Place::Regular),
        Err(error) => Err(error),
    }
}

fn emit_into(file: &File, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> IoResult<()> {
    let mut out = BufWriter::new(file);
    emit(&mut out)?;
    out.flush()
}

fn replace(path: &Path, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> IoResult<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".voxshell-");
    // Those of any new file, of which the system takes its mask; a temporary file would be private.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    emit_into(file.as_file(), emit)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
