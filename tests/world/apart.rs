//! Two bodies apart, at gaps from a tenth of a millimetre to five extents: the distance is that of the triangles, and both
//! points lie on the surfaces.

use support::parts;
use support::rng::Rng;
use voxshell::contact::Workspace;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::{primitives, TriMesh};

use super::{closest, cooked, random_pose};

/// Largest error of a distance, as a fraction of it: what `closest_between` leaves open.
const SLACK: f64 = 1e-6;

fn triangles(mesh: &TriMesh, pose: &Pose) -> Vec<[Vec3; 3]> {
    let place = |p: [f64; 3]| (pose * nalgebra::Point3::from(p)).coords;
    (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(place)).collect()
}

/// Returns the distance of two segments: the least of the quadratic form inside and on its four borders.
fn between_segments([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> f64 {
    let (d, e, r) = (p_end - p, q_end - q, p - q);
    let (dd, ee, de, dr, er) = (d.dot(&d), e.dot(&e), d.dot(&e), d.dot(&r), e.dot(&r));
    let at = |s: f64, t: f64| (r + d * s - e * t).norm();
    let on = |numerator: f64, denominator: f64| {
        if denominator > 0.0 {
            (numerator / denominator).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let mut least = f64::INFINITY;
    for end in [0.0, 1.0] {
        least = least.min(at(end, on(er + de * end, ee))).min(at(on(de * end - dr, dd), end));
    }
    let determinant = dd * ee - de * de;
    if determinant > 0.0 {
        let (s, t) = ((de * er - ee * dr) / determinant, (dd * er - de * dr) / determinant);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            least = least.min(at(s, t));
        }
    }
    least
}

/// Returns the distance of a point from a triangle: over its face if the foot is on it, otherwise along its edges.
fn from_triangle(p: &Vec3, t: &[Vec3; 3]) -> f64 {
    let normal = (t[1] - t[0]).cross(&(t[2] - t[0]));
    let is_over = (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(p - t[i])).dot(&normal) >= 0.0);
    if is_over && normal.norm() > 0.0 {
        return (p - t[0]).dot(&normal.normalize()).abs();
    }
    (0..3).map(|i| between_segments([*p, *p], [t[i], t[(i + 1) % 3]])).fold(f64::INFINITY, f64::min)
}

/// Returns the distance of two meshes that do not intersect, by all pairs of triangles.
fn brute_force(a: &[[Vec3; 3]], b: &[[Vec3; 3]]) -> f64 {
    let box_of = |t: &[Vec3; 3]| (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
    let boxes: Vec<_> = b.iter().map(box_of).collect();
    let mut least = f64::INFINITY;
    for t in a {
        let (low, high) = box_of(t);
        for (u, (lower, upper)) in b.iter().zip(&boxes) {
            let gap = (low - upper).sup(&(lower - high)).sup(&Vec3::zeros());
            if gap.norm() > least {
                continue;
            }
            for i in 0..3 {
                least = least.min(from_triangle(&t[i], u)).min(from_triangle(&u[i], t));
                for j in 0..3 {
                    let edges = [[t[i], t[(i + 1) % 3]], [u[j], u[(j + 1) % 3]]];
                    least = least.min(between_segments(edges[0], edges[1]));
                }
            }
        }
    }
    least
}

fn off_surface(p: &Vec3, triangles: &[[Vec3; 3]]) -> f64 {
    triangles.iter().map(|t| from_triangle(p, t)).fold(f64::INFINITY, f64::min)
}

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
                let of_a = triangles(&meshes[0], &pose_a);
                let mut of_b = triangles(&meshes[1], &pose_b);
                for _ in 0..12 {
                    let spare = brute_force(&of_a, &of_b) - gap;
                    if spare < 1e-3 * gap {
                        break;
                    }
                    pose_b.translation.vector -= direction * spare;
                    of_b = triangles(&meshes[1], &pose_b);
                }
                let expected = brute_force(&of_a, &of_b);
                let found = closest(&shapes[0], &pose_a, &shapes[1], &pose_b, &mut workspace);
                let what = format!("seed {seed}, gap {gap}, turn {turn}");
                let tolerance = SLACK * expected + 1e-9 * extent;
                let error = found.separation - expected;
                assert!(error.abs() <= tolerance, "{what}: {} instead of {expected}", found.separation);
                let off = off_surface(&found.point_on_a, &of_a).max(off_surface(&found.point_on_b, &of_b));
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
