//! Reads assets, from memory. Mutated assets have lengths and checksums that match.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use voxshell::asset::Shape;
use voxshell::mesh::TriMesh;
use voxshell::Error;
use voxshell_fuzz::{in_proportion, is_readable, sections, start, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that reading may hold: bytes for each byte of the file, and for any file. LZ4 expands one byte to up to 255; the
/// positions and masks of bricks take as much memory again as the samples.
const PER_BYTE: usize = 1000;
const ALWAYS: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    start();
    match in_proportion(bytes.len(), PER_BYTE, ALWAYS, || Shape::from_bytes(bytes)) {
        Ok(shape) => is_sound(&shape),
        Err(Error::InvalidFile { reason, .. }) => is_readable(&reason),
        Err(other) => panic!("refused with the wrong error: {other}"),
    }
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| { sections::mutate(bytes, size, most, seed) });

/// Checks that a shape that was read answers with finite numbers, and can be written and read again.
fn is_sound(shape: &Shape) {
    if let Some(mesh) = &shape.mesh {
        TriMesh::new(mesh.vertices.clone(), mesh.triangles.clone()).expect("the mesh is valid");
    }
    if let Some(shell) = &shape.shell {
        shell.check_invariants().expect("the pointshell is valid");
    }
    if let Some(field) = shape.field.as_deref() {
        use voxshell::field::SignedDistance;
        let bounds = field.bounds();
        for part in [-0.5, 0.0, 0.3, 0.7, 1.0, 2.0] {
            let p = [0, 1, 2].map(|k| (bounds.min[k] + part * (bounds.max[k] - bounds.min[k])) as f32);
            let (phi, gradient) = field.distance_gradient(p);
            assert!(phi.is_finite() && gradient.iter().all(|g| g.is_finite()), "{phi} {gradient:?} at {p:?}");
            assert!(!field.lower_bound(p, 0.1).is_nan());
        }
    }
    let again = shape.to_bytes().expect("it can be written");
    let read = Shape::from_bytes(&again).expect("and read");
    assert!(read.to_bytes().expect("and written again") == again, "saved again it is another file");
}
