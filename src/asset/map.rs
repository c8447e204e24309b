//! Files mapped to memory, where the system can.

use std::fs::File;
use std::sync::Arc;

#[cfg(unix)]
pub(super) type Mapped = Arc<memmap2::Mmap>;
/// Type on systems where a file cannot be replaced while it is mapped: the file is read.
#[cfg(not(unix))]
pub(super) type Mapped = Arc<Box<[u8]>>;

/// Maps the whole of a file; `None` where files are not mapped.
#[cfg(unix)]
pub(super) fn map(file: &File) -> std::io::Result<Option<Mapped>> {
    // SAFETY: private and read-only. `Shape::load` requires of its caller that no program writes to the file itself.
    let map = unsafe { memmap2::MmapOptions::new().populate().map_copy_read_only(file) }?;
    Ok(Some(Arc::new(map)))
}

#[cfg(not(unix))]
pub(super) fn map(_: &File) -> std::io::Result<Option<Mapped>> {
    Ok(None)
}
