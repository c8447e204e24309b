//! Mesh files: OBJ, STL and PLY in, OBJ out. Every file that cannot be used gives an error that names the path and says
//! what is wrong with it; no input makes these functions panic. What a reader does not understand is an error: a part that is
//! left out in silence makes another shape.

mod obj;
mod ply;
mod polygon;
mod stl;
mod text;

use std::fs::File;
use std::path::Path;

use crate::memory;
use crate::mesh::TriMesh;
use crate::{Error, Result};

/// Reads a mesh; the type is told by the extension, upper or lower case. Coordinates are taken as metres.
///
/// - `obj`: all objects and groups are merged, polygons are triangulated, normals, materials, points, lines and curves are
///   ignored; free-form surfaces are refused;
/// - `stl`: ASCII or binary; vertices with equal coordinates are merged, normals and attributes are ignored;
/// - `ply`: ASCII or binary of either endianness; polygons are triangulated, other elements and properties are ignored.
///
/// Text is ASCII or UTF-8, with or without a byte order mark; its lines end in LF, CR LF or CR. Its numbers keep all digits.
///
/// # Errors
/// `Io` if the file cannot be read. `InvalidFile` with the line or element for whatever is not understood, and for a file that
/// holds less or more than it announces.
pub fn load(path: &Path) -> Result<TriMesh> {
    memory::guard("reading a mesh", || {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let parse: fn(&[u8]) -> std::result::Result<TriMesh, String> = match extension.as_str() {
            "obj" => obj::parse,
            "stl" => stl::parse,
            "ply" => ply::parse,
            _ => {
                let reason = format!("unknown mesh file type {extension:?}; expected .obj, .stl or .ply");
                return Err(Error::InvalidFile { path: path.into(), reason });
            }
        };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|mut file| memory::read_to_end(&mut file, &mut bytes))
            .map_err(|source| Error::Io { path: path.into(), source })?;
        parse(&bytes).map_err(|reason| Error::InvalidFile { path: path.into(), reason })
    })
}

/// The beginning of a text from a file, as an error message shows it: in one line, however long it is.
fn excerpt(text: &str) -> String {
    let mut start: String = text.trim().chars().take(60).collect();
    if start.len() < text.trim().len() {
        start.push('…');
    }
    format!("{start:?}")
}

/// Builds the mesh, with the reason alone when it cannot be used: the caller knows the path.
fn checked(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> std::result::Result<TriMesh, String> {
    TriMesh::new(vertices, triangles).map_err(|e| e.to_string())
}

/// Writes an OBJ file, all digits kept. The file appears complete or not at all: it is written beside its final name and
/// renamed.
pub fn write_obj(path: &Path, mesh: &TriMesh) -> Result<()> {
    let io = |source: std::io::Error| Error::Io { path: path.into(), source };
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // Readable as any new file is (the system's mask applies), not by the owner alone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(io)?;
    obj::write(&mut std::io::BufWriter::new(&file), mesh).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}
