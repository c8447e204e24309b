//! The discrete query of a resting or touching body in each step, compared with the plain loop over all samples.
//!
//! `contact/<pair>/tree` and `contact/<pair>/all_samples` give the same answer in the same run; their ratio is the gain
//! of the certified pruning.

use criterion::{criterion_group, criterion_main, Criterion};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, distance, Geometry, Query, Roles, Workspace};
use voxshell::field::{Field, HalfSpace, SignedDistance};
use voxshell::math::{Pose, Progress, RigidF32, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;

fn blob() -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(128),
        shell: ShellOptions { target_count: Some(35_000), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(&primitives::blob(2).unwrap().scaled_to_extent(1.0), &options, &Progress::none()).unwrap()
}

/// Returns the pose of the shape 0.2 mm deep in `other`, from above.
fn touching(shape: &Shape, other: Geometry) -> Pose {
    let rotation = UnitQuaternion::from_euler_angles(0.3, 1.1, 0.2);
    let at = |height: f64| Isometry3::from_parts(Translation3::new(0.05, height, 0.02), rotation);
    let mut workspace = Workspace::new();
    let mut height = 2.0;
    for _ in 0..60 {
        let a = shape.geometry();
        let found =
            distance(a, &at(height), other, &Pose::identity(), Roles::ShellOfA, f64::INFINITY, &mut workspace).unwrap();
        height -= 0.7 * found.unwrap().separation;
    }
    at(height - 0.0002)
}

fn all_samples(shape: &Shape, pose: &Pose, field: &Field, limit: f32) -> usize {
    let shell = shape.shell.as_ref().unwrap();
    let to_field = RigidF32::between(pose, &shell.origin, &field.local_origin(&pose.translation.vector));
    (0..shell.len()).filter(|&i| field.distance(to_field.point([shell.x[i], shell.y[i], shell.z[i]])) <= limit).count()
}

fn bench(criterion: &mut Criterion) {
    let shape = blob();
    let plane = Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap()));
    for (name, other) in [("plane", &plane), ("self", &shape)] {
        let pose = touching(&shape, other.geometry());
        let query = Query { roles: Roles::ShellOfA, max_separation: 0.001, max_contacts: 4, ..Query::default() };
        let mut workspace = Workspace::new();
        let (a, b) = (shape.geometry(), other.geometry());
        criterion.bench_function(&format!("contact/{name}/tree"), |bencher| {
            bencher.iter(|| contacts(a, &pose, b, &Pose::identity(), &query, &mut workspace).unwrap().len())
        });
        let field = other.field.as_ref().unwrap();
        criterion.bench_function(&format!("contact/{name}/all_samples"), |bencher| {
            bencher.iter(|| all_samples(&shape, &pose, field, 0.001))
        });
        criterion.bench_function(&format!("distance/{name}/tree"), |bencher| {
            bencher.iter(|| {
                let roles = Roles::ShellOfA;
                distance(a, &pose, b, &Pose::identity(), roles, f64::INFINITY, &mut workspace).unwrap()
            })
        });
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
