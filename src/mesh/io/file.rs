//! Reading and writing mesh files by their extension.

use std::fs::File;
use std::path::Path;

use super::{obj, ply, stl};
use crate::TriMesh;
use voxshell_base::memory;
use voxshell_base::{output, Error, Result};

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

/// Writes an OBJ file with all digits, as [`output::write`] does.
///
/// # Errors
/// `Io`.
pub fn write_obj(path: &Path, mesh: &TriMesh) -> Result<()> {
    output::write(path, |mut out| obj::write(&mut out, mesh))
}
