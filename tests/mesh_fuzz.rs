//! Untrusted mesh files: thousands of damaged files. Reading must use little memory, not panic, and return only valid
//! meshes.

use std::path::Path;

use support::allocation::{peak, Counting};
use support::fuzz::{corpus, damage, mutate};
use support::rng::Rng;
use voxshell::cook::FieldOptions;
use voxshell::field::{MeshField, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{io, TriMesh};
use voxshell::Error;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that reading may hold: bytes for each byte of the file, and for any file.
const PER_BYTE: usize = 60;
const ALWAYS: usize = 2 << 20;

/// Loads a file with these bytes; returns the result and the peak memory.
fn load(folder: &Path, like: &Path, bytes: &[u8]) -> (voxshell::Result<TriMesh>, usize) {
    let path = folder.join(like.file_name().unwrap());
    std::fs::write(&path, bytes).unwrap();
    peak(|| io::load(&path))
}

/// Checks that a mesh that was read is valid, is written and read back the same, and can be queried and cooked.
fn is_sound(mesh: &TriMesh, folder: &Path, cook: bool) {
    TriMesh::new(mesh.vertices.clone(), mesh.triangles.clone()).unwrap();
    let path = folder.join("again.obj");
    io::write_obj(&path, mesh).unwrap();
    let again = io::load(&path).unwrap();
    assert_eq!(again.triangles.len(), mesh.triangles.len());
    for t in 0..mesh.triangles.len() {
        assert_eq!(again.corners(t), mesh.corners(t), "triangle {t}");
    }
    mesh.report();
    voxshell::cook::mass_properties(mesh);
    let field = MeshField::new(mesh.clone()).unwrap();
    let near = Vec3::from(mesh.vertices[mesh.triangles[0][0] as usize]) - field.local_origin(&Vec3::zeros());
    for p in [[0.0; 3], [1.0, -2.0, 0.5], near.cast::<f32>().into()] {
        let (phi, _) = field.distance_gradient(p);
        let bound = field.lower_bound(p, 0.1);
        assert!(bound <= phi, "{bound} {phi} at {p:?}");
    }
    if cook {
        let options = FieldOptions { memory_limit: 64 << 20, ..FieldOptions::with_resolution(mesh, 12) };
        // Coordinates beyond f32, or a mesh that is a point, give no grid.
        let _no_panic = voxshell::cook::dense_field(mesh, &options, &Progress::none());
        let _no_panic = voxshell::cook::brick_field(mesh, &options, &Progress::none());
    }
}

fn readers_survive(kind: &str, rounds: usize) {
    let folder = support::fuzz::folder();
    let corpus = corpus(kind);
    let (read, most) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    // Allocations made once per process, such as threads, are made before anything is counted.
    let _any_mesh = load(folder.path(), &corpus[0].0, &corpus[0].1);
    let check = |path: &Path, bytes: &[u8]| {
        let (result, held) = load(folder.path(), path, bytes);
        assert!(held <= PER_BYTE * bytes.len() + ALWAYS, "{held} bytes held for {}", bytes.len());
        most.set(most.get().max(held / bytes.len().max(1000)));
        match result {
            Ok(mesh) => {
                read.set(read.get() + 1);
                is_sound(&mesh, folder.path(), read.get() % 20 == 0);
            }
            Err(Error::InvalidFile { reason, .. }) => {
                assert!(!reason.is_empty() && !reason.contains('\n') && reason.len() < 1000, "{reason:?}")
            }
            Err(other) => panic!("refused with the wrong error: {other}"),
        }
    };
    damage(&corpus, rounds, |bytes, others, rng: &mut Rng| mutate(bytes, others, rng), check);
    assert!(read.get() > rounds / 50, "{kind}: only {} of {rounds} files were read at all", read.get());
    eprintln!("{kind}: {} of {rounds} damaged files were read, at most {} bytes held for one", read.get(), most.get());
}

/// A single test, because memory is measured over all threads.
#[test]
fn damaged_meshes_cause_no_panic_memory_growth_or_invalid_mesh() {
    ["obj", "stl", "ply"].iter().for_each(|kind| readers_survive(kind, 10_000));
}
