//! The check of the mesh readers.

use std::path::Path;

use voxshell::mesh::{io, TriMesh};
use voxshell::Error;

/// Memory that reading may hold: bytes for each byte of the file, and for any file.
const PER_BYTE: usize = 60;
const ALWAYS: usize = 1 << 16;

/// Reads the bytes of a mesh file; `name` ends in the type. A mesh that is returned must be valid, a refusal must have a
/// reason, and memory must stay in proportion.
pub fn read(name: &str, bytes: &[u8]) {
    crate::start();
    match crate::in_proportion(bytes.len(), PER_BYTE, ALWAYS, || io::read(bytes, Path::new(name))) {
        Ok(mesh) => {
            TriMesh::new(mesh.vertices, mesh.triangles).expect("a mesh that was read is valid");
        }
        Err(Error::InvalidFile { reason, .. }) => crate::is_readable(&reason),
        Err(other) => panic!("refused with the wrong error: {other}"),
    }
}
