//! What several integration tests share.

use std::path::PathBuf;

use voxshell::mesh::{io, TriMesh};

/// A mesh of the shared collection, scaled to 1 m largest extent and centred on its box. When the collection is not
/// beside the checkout, says so and gives `None`: the test skips.
pub fn shared_mesh(name: &str) -> Option<TriMesh> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes").join(name);
    if !path.exists() {
        eprintln!("skipped: shared/meshes/{name} is not beside the checkout");
        return None;
    }
    Some(io::load(&path).expect("a mesh of the collection loads").scaled_to_extent(1.0))
}
