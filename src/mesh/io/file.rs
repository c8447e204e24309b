//! Reading and writing mesh files by their extension.

use std::fs::File;
use std::path::Path;

use super::{obj, ply, stl};
use crate::TriMesh;
use voxshell_base::memory;
use voxshell_base::{Error, Result};

/// Reads a mesh; the extension, upper or lower case, gives the type. Coordinates are taken as metres.
///
/// - `obj`: all objects and groups are merged, polygons are triangulated, normals, materials, points, lines and curves are
///   ignored; free-form surfaces are refused;
/// - `stl`: ASCII or binary; vertices with equal coordinates are merged, normals and attributes are ignored;
/// - `ply`: ASCII or binary of either endianness; polygons are triangulated, other elements and properties are ignored.
///
/// Text is ASCII or UTF-8, with or without a byte order mark; its lines end in LF, CR LF or CR. Its numbers keep all digits.
///
/// # Errors
/// `Io` if the file cannot be read. `InvalidFile` with the line or element for any content that is not understood, and
/// for a file that holds less or more than it announces.
pub fn load(path: &Path) -> Result<TriMesh> {
    memory::guard("reading a mesh", || {
        let parse = parser_of(path)?;
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|mut file| memory::read_to_end(&mut file, &mut bytes))
            .map_err(|source| Error::Io { path: path.into(), source })?;
        parse(&bytes).map_err(|reason| Error::InvalidFile { path: path.into(), reason })
    })
}

/// Reads a mesh from the bytes of a file, as [`load`]; `path` gives the type, and stands in messages.
///
/// # Errors
/// As [`load`], but `Io`.
pub fn read(bytes: &[u8], path: &Path) -> Result<TriMesh> {
    memory::guard("reading a mesh", || {
        parser_of(path)?(bytes).map_err(|reason| Error::InvalidFile { path: path.into(), reason })
    })
}

type Parser = fn(&[u8]) -> std::result::Result<TriMesh, String>;

/// Returns the reader for the extension of a path.
fn parser_of(path: &Path) -> Result<Parser> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "obj" => Ok(obj::parse),
        "stl" => Ok(stl::parse),
        "ply" => Ok(ply::parse),
        _ => {
            let reason = format!("unknown mesh file type {extension:?}; expected .obj, .stl or .ply");
            Err(Error::InvalidFile { path: path.into(), reason })
        }
    }
}

/// Writes an OBJ file with all digits. The file appears complete or not at all: it is written beside its final name and
/// renamed.
pub fn write_obj(path: &Path, mesh: &TriMesh) -> Result<()> {
    let io = |source: std::io::Error| Error::Io { path: path.into(), source };
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = tempfile::Builder::new();
    // Readable like any new file (the system's mask applies), not by the owner alone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(io)?;
    obj::write(&mut std::io::BufWriter::new(&file), mesh).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}
