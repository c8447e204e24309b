//! Sheets without an inside, such as a terrain, and bodies: what is found is true. A sheet that passes between the samples of a
//! body is missed.

use nalgebra::Isometry3;
use support::rng::Rng;
use voxshell::asset::Shape;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::TriMesh;

use super::bodies::{any_body, Body};
use super::invariants::{pair, update, Broken};
use super::oracle::Triangles;

/// Squares along a side of a sheet.
const SQUARES: u32 = 10;

/// Returns an undulating sheet of 1 m.
fn sheet(rng: &mut Rng) -> Body {
    let waves: Vec<(Vec3, f64)> = (0..3).map(|_| (rng.vector() * 8.0, 0.05 * rng.fraction())).collect();
    let side = SQUARES + 1;
    let vertices = (0..side * side).map(|n| {
        let [x, y] = [n % side, n / side].map(|i| f64::from(i) / f64::from(SQUARES) - 0.5);
        let height = |(k, size): &(Vec3, f64)| size * libm::sin(k.x * x + k.y * y + k.z);
        [x, y, waves.iter().map(height).sum()]
    });
    let squares = (0..SQUARES * SQUARES).map(|n| n % SQUARES + n / SQUARES * side);
    let triangles = squares.flat_map(|a| [[a, a + 1, a + side + 1], [a, a + side + 1, a + side]]);
    let mesh = TriMesh::new(vertices.collect(), triangles.collect()).unwrap();
    Body { name: "sheet".into(), shape: Shape::from_sheet(mesh.clone(), 0.2).unwrap(), mesh }
}

#[test]
fn contacts_with_sheets_are_on_both_surfaces() {
    let (mut broken, mut points) = (Broken::default(), 0);
    for seed in 0..super::seeds(6) {
        let mut rng = Rng(seed);
        let (sheet, body) = (sheet(&mut rng), any_body(&mut rng));
        let t = sheet.extent().min(body.extent()) / 2000.0;
        let fixed = Triangles::new(&sheet.mesh, &Pose::identity());
        for depth in [-2.0, 1.0, 10.0, 100.0] {
            let (rotation, target) = (rng.rotation(), sheet.any_point(&mut rng));
            let direction = rng.vector().normalize();
            let at = |distance: f64| {
                let middle = target + direction * distance;
                Isometry3::from_parts((middle - rotation * body.mesh.bounds().center()).into(), rotation)
            };
            let mut distance = 2.0;
            for _ in 0..20 {
                distance -= Triangles::new(&body.mesh, &at(distance)).distance(&fixed);
            }
            let poses = [at(distance - depth * t), Pose::identity()];
            let own = Triangles::new(&body.mesh, &poses[0]);
            for order in [[0, 1], [1, 0]] {
                let mut pair = pair(0.0);
                update(&mut pair, order.map(|i| [&*body, &sheet][i]), &order.map(|i| poses[i]));
                for point in pair.points() {
                    let on = order.map(|i| [point.point_on_a, point.point_on_b][i]);
                    let off = own.off(&on[0]).max(fixed.off(&on[1]));
                    let across = (point.point_on_b - point.point_on_a - point.normal * point.separation).norm();
                    let what = || format!("seed {seed}, {}, {depth} t deep: {point:?}", body.name);
                    broken.unless(off <= t && across <= t && (point.normal.norm() - 1.0).abs() < 1e-9, what);
                    points += 1;
                }
            }
        }
    }
    broken.none(60);
    assert!(points >= 60, "{points} points");
}
