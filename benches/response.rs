//! Forces of known contacts: the cost of a simulation step after the query, for 20, 200 and 1000 contacts.

use criterion::{criterion_group, criterion_main, Criterion};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::impact::Collision;
use voxshell::contact::{contacts, Geometry, Query, Roles, Workspace};
use voxshell::math::{Pose, Progress, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;
use voxshell::response::{continuous, penalty, Body, ContinuousSettings, Kinematics, On, PenaltySettings, Sweep};

fn bench(criterion: &mut Criterion) {
    let options = CookOptions {
        resolution: Resolution::Cells(96),
        shell: ShellOptions { target_count: Some(12_000), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(&primitives::torus(0.3, 0.12, 96, 48).unwrap(), &options, &Progress::none()).unwrap();
    let of_a = Geometry { field: None, shell: shape.shell.as_deref(), surface: None };
    let of_b = Geometry { field: shape.field.as_deref(), shell: None, surface: None };
    let pose = Pose::new(Vec3::new(0.4, 0.05, 0.1), Vec3::new(0.3, 0.8, 0.1));
    let query = Query { roles: Roles::ShellOfA, ..Query::default() };
    let mut workspace = Workspace::new();
    let found = contacts(of_a, &pose, of_b, &Pose::identity(), &query, &mut workspace).unwrap();
    assert!(found.len() >= 1000, "{} contacts", found.len());
    let twist = Twist { linear: Vec3::new(-0.1, 0.02, 0.0), angular: Vec3::new(0.0, 0.3, 0.1) };
    let a = Body { geometry: of_a, kinematics: Kinematics { twist, ..Kinematics::still(&pose) } };
    let b = Body { geometry: of_b, kinematics: Kinematics::still(&Pose::identity()) };
    let settings = PenaltySettings::new(1000.0, 1.0);
    for count in [20, 200, 1000] {
        let contacts = &found[..count];
        criterion.bench_function(&format!("response/penalty/{count}"), |bencher| {
            bencher.iter(|| penalty(contacts, &a, &b, On::A, &settings))
        });
        // All contacts last a whole millisecond.
        let lasting: Vec<Collision> = contacts.iter().map(|c| Collision { contact: *c, until: 1.0 }).collect();
        let to = Pose::new(Vec3::new(0.3999, 0.05, 0.1), Vec3::new(0.3, 0.8003, 0.1));
        let sweep = Sweep { geometry: of_a, poses: [pose, to], center: Vec3::zeros(), twist };
        let still = Sweep { geometry: of_b, poses: [Pose::identity(); 2], center: Vec3::zeros(), twist: Twist::ZERO };
        let continuous_settings = ContinuousSettings::new(settings);
        criterion.bench_function(&format!("response/continuous/{count}"), |bencher| {
            bencher.iter(|| continuous(&lasting, &sweep, &still, On::A, &continuous_settings))
        });
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
