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

/// A file that is written completely and does not have its name yet. Without [`Prepared::keep`] it is removed.
pub struct Prepared {
    path: PathBuf,
    /// The temporary file, and the path of the target. `None`: a device or a pipe took the bytes.
    file: Option<(tempfile::NamedTempFile, PathBuf)>,
}

impl Prepared {
    /// Gives the file its name.
    ///
    /// # Errors
    /// `Io`, which names the path. Then nothing is changed.
    pub fn keep(self) -> Result<()> {
        let Self { path, file } = self;
        match file.map(|(file, target)| file.persist(target)) {
            Some(Err(error)) => Err(Error::Io { path, source: error.error }),
            _ => Ok(()),
        }
    }
}

/// Writes a file by `emit`: under a temporary name beside `path`, flushed to disk, then renamed, so that a crash leaves the old file
/// or the new one and never half of either. The target of a symbolic link is replaced, and not the link. A device or a pipe is
/// written into.
///
/// # Errors
/// `Io`, which names `path`. Then nothing is changed, unless a device or a pipe took a part.
pub fn write(path: &Path, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<()> {
    prepare(path, emit)?.keep()
}

/// Writes a file as [`write`] does, up to the renaming. For work that can still fail afterwards.
///
/// # Errors
/// `Io`, which names `path`.
pub fn prepare(path: &Path, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<Prepared> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    let file = match place(path).map_err(io)? {
        Place::Stream(stream) => emit_into(&stream, emit).map(|()| None),
        Place::Regular(target) => beside(&target, emit).map(|file| Some((file, target))),
    };
    Ok(Prepared { path: path.to_path_buf(), file: file.map_err(io)? })
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

/// Writes a temporary file beside `path`.
fn beside(path: &Path, emit: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> IoResult<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".voxshell-");
    // Those of any new file, of which the system takes its mask; a temporary file would be private.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    emit_into(file.as_file(), emit)?;
    file.as_file().sync_all()?;
    Ok(file)
}
