//! Mesh files: what is read, and what is refused and how.

mod support;

#[test]
fn collection_loads_at_unit_size() {
    for (name, triangles) in [("bunny_777_decimated.obj", 1550), ("teapot_3k_open.obj", 6320), ("horse_48k.obj", 96966)]
    {
        let Some(mesh) = support::shared_mesh(name) else { continue };
        assert_eq!(mesh.triangles.len(), triangles, "{name}");
        let bounds = mesh.bounds();
        assert!((bounds.extents().max() - 1.0).abs() < 1e-12, "{name}");
        assert!(bounds.center().norm() < 1e-12, "{name}");
    }
}
