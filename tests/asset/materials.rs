//! Material numbers stay with their triangles through cooking, scaling and files.

use support::container;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::math::Progress;
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Error;

fn cook(mesh: &TriMesh, weld_tolerance: f64) -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(24), weld_tolerance, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns a mesh as files give it: every triangle with corners of its own, the first ones repeated at the end, one
/// without an area in between, and a thin strip that welding collapses.
fn messy() -> TriMesh {
    let torus = primitives::torus(0.3, 0.1, 24, 12).unwrap();
    let mut triangles: Vec<[[f64; 3]; 3]> = (0..torus.triangles.len()).map(|t| torus.corners(t)).collect();
    let [a, b, c] = triangles[5];
    triangles.insert(3, [a, b, a]);
    triangles.insert(40, [b, c, c.map(|x| x + 1e-7)]);
    triangles.extend_from_within(..6);
    let vertices = triangles.concat();
    let count = triangles.len() as u32;
    TriMesh::new(vertices, (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
}

#[test]
fn materials_stay_with_their_triangles() {
    let mesh = messy();
    let materials: Vec<u32> = (0..mesh.triangles.len() as u32).map(|t| t.wrapping_mul(2654435761)).collect();
    for weld_tolerance in [0.0, 1e-5] {
        let shape = cook(&mesh, weld_tolerance).with_materials(materials.clone()).unwrap();
        let kept = shape.mesh.as_deref().unwrap();
        assert_eq!(kept.triangles.len(), mesh.triangles.len());
        for t in 0..mesh.triangles.len() {
            for (p, q) in kept.corners(t).iter().zip(mesh.corners(t)) {
                assert!((0..3).all(|k| (p[k] - q[k]).abs() <= weld_tolerance), "triangle {t} is another one");
            }
        }
        let loaded = Shape::from_bytes(&shape.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.materials.as_deref(), Some(&materials));
        assert_eq!(loaded.to_bytes().unwrap(), shape.to_bytes().unwrap());
        for shape in [&shape.scaled(2.5).unwrap(), &loaded.scaled(0.5).unwrap(), &loaded] {
            assert_eq!(shape.materials.as_deref(), Some(&materials));
            let mesh = shape.mesh.as_deref().unwrap();
            for t in (0..mesh.triangles.len()).step_by(7) {
                let [a, b, c] = mesh.corners(t).map(nalgebra::Vector3::from);
                let Some(normal) = (b - a).cross(&(c - a)).try_normalize(1e-12) else { continue };
                let found = shape.triangle_at((a + b + c) / 3.0, &normal).unwrap().unwrap();
                // A repeated triangle is told by its lowest number.
                assert_eq!(mesh.corners(found.triangle as usize), mesh.corners(t));
                assert_eq!(found.material, Some(materials[found.triangle as usize]));
            }
        }
    }
}

#[test]
fn a_shape_without_materials_has_the_file_of_before() {
    let mesh = messy();
    let shape = cook(&mesh, 0.0);
    let bytes = shape.to_bytes().unwrap();
    assert!(container::sections(&bytes).unwrap().iter().all(|(tag, _)| tag != b"matl"));
    let with = shape.with_materials(vec![3; mesh.triangles.len()]).unwrap();
    let mut sections = container::sections(&with.to_bytes().unwrap()).unwrap();
    sections.retain(|(tag, _)| tag != b"matl");
    assert_eq!(container::file(&sections), bytes);
}

#[test]
fn files_with_another_number_of_materials_are_refused() {
    let mesh = messy();
    let shape = cook(&mesh, 0.0);
    let count = mesh.triangles.len();
    let with = shape.with_materials(vec![3; count]).unwrap();
    let sections = container::sections(&with.to_bytes().unwrap()).unwrap();
    let refusal = |sections: &[container::Section]| match Shape::from_bytes(&container::file(sections)) {
        Err(Error::InvalidFile { reason, .. }) => reason,
        _ => panic!("the file was accepted"),
    };
    let mut short = sections.clone();
    let place = short.iter().position(|(tag, _)| tag == b"matl").unwrap();
    // A count, as a number of two bytes, and a byte for each number.
    assert_eq!(short[place].1.len(), count + 2);
    short[place].1[0] -= 1;
    short[place].1.pop();
    let reason = refusal(&short);
    assert!(reason.contains(&format!("section matl has {} numbers; expected one for each", count - 1)), "{reason}");
    let mut damaged = sections.clone();
    damaged[place].1.push(0);
    assert!(refusal(&damaged).contains("section matl has 1 bytes too many"));
    let mut without_mesh = sections;
    without_mesh.retain(|(tag, _)| tag != b"MESH");
    assert!(refusal(&without_mesh).contains("expected none for a shape without triangles"));
    // And such a shape is not written.
    let unsound = Shape { materials: Some(vec![0; 5].into()), ..shape };
    let Err(Error::Unsupported(reason)) = unsound.to_bytes() else { panic!("it was written") };
    assert!(reason.contains("section matl"), "{reason}");
}
