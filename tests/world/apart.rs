//! Two bodies apart, at gaps from a tenth of a millimetre to five extents: the distance is that of the triangles, and both
//! points lie on the surfaces.

use support::parts;
use support::rng::Rng;
use voxshell::contact::Workspace;
use voxshell::mesh::primitives;

use super::oracle::Triangles;
use super::{closest, cooked, random_pose};

/// Largest error of a distance, as a fraction of it: what `closest_between` leaves open.
const SLACK: f64 = 1e-6;

#[test]
fn distances_are_those_of_the_triangles_at_any_gap() {
    let mut workspace = Workspace::new();
    for seed in 1..=super::seeds(6) {
        let mut rng = Rng(seed);
        let meshes = match seed {
            // Faces, edges and corners that are parallel or in line.
            1 => [0, 1].map(|_| primitives::cuboid([0.3, 0.2, 0.5]).unwrap()),
            2 => [0, 1].map(|_| primitives::sphere(0.03, 3).unwrap()),
            _ => [0, 1].map(|_| parts::body(&mut rng)),
        };
        let shapes = meshes.each_ref().map(cooked);
        let extent = meshes.iter().map(|mesh| mesh.bounds().extents().max()).fold(f64::INFINITY, f64::min);
        for gap in [1e-4, 1e-3, 1e-2, 0.1, 0.5, 5.0].map(|gap| gap * extent) {
            for turn in 0..3 {
                let pose_a = random_pose(&mut rng, extent);
                let mut pose_b = random_pose(&mut rng, extent);
                if turn == 0 {
                    pose_b.rotation = pose_a.rotation;
                }
                // Far apart in a random direction, then together until the gap is at least as wide as wanted.
                let direction = rng.vector().normalize();
                let reach: f64 =
                    meshes.iter().map(|mesh| mesh.bounds().min.abs().sup(&mesh.bounds().max.abs()).norm()).sum();
                pose_b.translation.vector = pose_a.translation.vector + direction * (reach + gap);
                let of_a = Triangles::new(&meshes[0], &pose_a);
                let mut of_b = Triangles::new(&meshes[1], &pose_b);
                for _ in 0..12 {
                    let spare = of_a.distance(&of_b) - gap;
                    if spare < 1e-3 * gap {
                        break;
                    }
                    pose_b.translation.vector -= direction * spare;
                    of_b = Triangles::new(&meshes[1], &pose_b);
                }
                let expected = of_a.distance(&of_b);
                let found = closest(&shapes[0], &pose_a, &shapes[1], &pose_b, &mut workspace);
                let what = format!("seed {seed}, gap {gap}, turn {turn}");
                let tolerance = SLACK * expected + 1e-9 * extent;
                let error = found.separation - expected;
                assert!(error.abs() <= tolerance, "{what}: {} instead of {expected}", found.separation);
                let off = of_a.off(&found.point_on_a).max(of_b.off(&found.point_on_b));
                assert!(off <= 1e-9 * extent, "{what}: a point is {off} off its surface");
                let across = found.point_on_b - found.point_on_a - found.normal * found.separation;
                assert!(across.norm() <= 1e-9 * extent, "{what}: the points and the normal differ by {across:?}");
                let other = closest(&shapes[1], &pose_b, &shapes[0], &pose_a, &mut workspace);
                let difference = (other.separation - found.separation).abs();
                assert!(difference <= tolerance, "{what}: {difference} between the two orders");
            }
        }
    }
}
