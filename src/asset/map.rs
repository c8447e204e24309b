//! Files as memory, where the system can.

use std::fs::File;
use std::sync::Arc;

#[cfg(unix)]
pub(super) type Mapped = Arc<memmap2::Mmap>;
/// Elsewhere a file cannot be replaced while it is mapped: it is read.
#[cfg(not(unix))]
pub(super) type Mapped = Arc<Box<[u8]>>;

/// The whole of a file; `None` where files are not mapped.
#[cfg(unix)]
pub(super) fn map(file: &File) -> std::io::Result<Option<Mapped>> {
    // SAFETY: private and read-only. That nobody writes to the file itself is what `Shape::load` asks of its caller.
    let map = unsafe { memmap2::MmapOptions::new().populate().map_copy_read_only(file) }?;
    Ok(Some(Arc::new(map)))
}

#[cfg(not(unix))]
pub(super) fn map(_: &File) -> std::io::Result<Option<Mapped>> {
    Ok(None)
}
