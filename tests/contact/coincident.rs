//! Two equal bodies in one place: exact coincidence is inside, at every scale and pose.

use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, distance, Coverage, Query, Roles, Workspace};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

fn meshes() -> Vec<(&'static str, TriMesh)> {
    vec![
        ("cube", primitives::cuboid([0.5; 3]).unwrap()),
        ("box", primitives::cuboid([0.5, 0.3, 0.17]).unwrap()),
        ("plate", primitives::cuboid([0.5, 0.01, 0.4]).unwrap()),
        ("gear", primitives::gear(12, 0.5, 0.4, 0.2, 0.1).unwrap()),
        ("torus", primitives::torus(0.4, 0.1, 24, 12).unwrap()),
        ("hole", primitives::hole([0.5, 0.1, 0.5], 0.2, 16).unwrap()),
    ]
}

/// Scales from a grain to a mountain; most have no exact number in single precision.
const SCALES: [f64; 7] = [1e-6, 1e-3, 0.037, 1.0, 3.3, 1e3, 1e4];

#[test]
fn equal_bodies_in_one_place_are_in_contact() {
    let mut rng = Rng(4);
    let mut workspace = Workspace::new();
    let mut faults = String::new();
    for (name, mesh) in meshes() {
        for scale in SCALES {
            let vertices = mesh.vertices.iter().map(|p| (Vec3::from(*p) * scale).into()).collect();
            let mesh = TriMesh { vertices, triangles: mesh.triangles.clone() };
            let shell = ShellOptions { target_count: Some(2_000), ..ShellOptions::default() };
            let options = CookOptions { resolution: Resolution::Cells(32), shell, ..CookOptions::default() };
            let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
            let geometry = || shape.geometry_for(Coverage::Edges).unwrap();
            for turned in [false, true] {
                let pose = match turned {
                    false => Pose::identity(),
                    true => Pose::from_parts((rng.vector() * scale).into(), rng.rotation()),
                };
                let query = Query { roles: Roles::Auto, coverage: Coverage::Edges, ..Query::default() };
                let found = contacts(geometry(), &pose, geometry(), &pose, &query, &mut workspace).unwrap();
                let (count, beyond) = (found.len(), found.iter().any(|c| c.separation > 0.0));
                let nearest =
                    distance(geometry(), &pose, geometry(), &pose, Roles::Auto, f64::INFINITY, &mut workspace);
                let nearest = nearest.unwrap().map_or(f64::INFINITY, |c| c.separation);
                if 2 * count < geometry().shell.unwrap().len() || beyond || nearest > 0.0 {
                    faults +=
                        &format!("{name} at {scale:e}, turned {turned}: {count} contacts, distance {nearest:e}\n");
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}
