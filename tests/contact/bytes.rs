//! The discrete queries give the same bytes on the AVX2 path and on the baseline. A single test, because the path is a
//! setting of the whole process.

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, distance, Contact, Geometry, Query, Roles, Step, Workspace};
use voxshell::field::{force_baseline, Ball, SphereHull};
use voxshell::field::{
    Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, MeshField, Sheet, Sphere, Surface,
};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};

/// Returns one field of each kind.
fn fields() -> Vec<(&'static str, Field)> {
    let knot = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    let cook = |storage| {
        let options = CookOptions { resolution: Resolution::Cells(64), storage, ..CookOptions::default() };
        Shape::cook(&knot, &options, &Progress::none()).unwrap().field.unwrap().as_ref().clone()
    };
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.4 })).collect();
    let ball = |x: f64, radius: f64| Ball { center: Vec3::new(x, 0.1 * x, 0.0), radius };
    vec![
        ("dense", cook(Storage::Dense)),
        ("bricks", cook(Storage::Bricks)),
        ("exact", cook(Storage::Exact)),
        ("half-space", Field::HalfSpace(HalfSpace::new(Vec3::new(0.1, 1.0, 0.0), 0.25).unwrap())),
        ("sphere", Field::Sphere(Sphere::new(0.5).unwrap())),
        ("box", Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap())),
        ("capsule", Field::Capsule(Capsule::new(1, 0.2, 0.4).unwrap())),
        ("cylinder", Field::Cylinder(Cylinder::new(2, 0.3, 0.4).unwrap())),
        ("cone", Field::Cone(Cone::new(0, 0.3, 0.8).unwrap())),
        ("hull", Field::ConvexHull(ConvexHull::new(&corners).unwrap())),
        ("balls", Field::SphereHull(SphereHull::new(&[ball(-0.3, 0.2), ball(0.2, 0.3)]).unwrap())),
        ("mesh", Field::Mesh(MeshField::new(knot.clone()).unwrap())),
        ("sheet", Field::Sheet(Sheet::new(std::sync::Arc::new(knot), 0.05).unwrap())),
    ]
}

/// Returns shells whose nodes and leaves have less than one lane block, exactly one, and several.
fn shells() -> Vec<PointShell> {
    let torus = primitives::torus(0.3, 0.12, 64, 24).unwrap();
    let shell = |branching, samples| {
        let options = ShellOptions { target_count: Some(samples), branching, ..ShellOptions::default() };
        voxshell::cook::sample(&torus, None, &options, &Progress::none()).unwrap()
    };
    vec![shell(8, 900), shell(8, 5), shell(1, 60), shell(3, 500), shell(13, 700), shell(64, 900)]
}

/// Returns the answer of a query: the contacts, the nearest one, and the number of tests.
fn answer(
    shell: &PointShell,
    field: &Field,
    surface: Option<&Surface>,
    poses: &[Pose],
) -> (Vec<Contact>, Vec<voxshell::contact::Stats>) {
    let (a, b) = (
        Geometry { field: None, shell: Some(shell), surface: None },
        Geometry { field: Some(field), shell: None, surface },
    );
    let (mut found, mut stats, mut workspace) = (Vec::new(), Vec::new(), Workspace::new());
    for (i, pose) in poses.iter().enumerate() {
        let max_separation = [0.0, 0.02, -0.01, 0.2][i % 4];
        let query = Query { max_separation, ..Query::default() };
        found.extend_from_slice(contacts(a, pose, b, &Pose::identity(), &query, &mut workspace).unwrap());
        stats.push(workspace.stats());
        let (center, shift, turn) = (pose.translation.vector, Vec3::new(0.01, -0.02, 0.0), Vec3::new(0.0, 0.03, 0.01));
        for dense_above in [0, 40] {
            let step =
                Some(Step { center, shift, turn, max_gap: 0.01, dense_above, extremes_only: false, ..Step::default() });
            let query = Query { step, ..query };
            found.extend_from_slice(contacts(a, pose, b, &Pose::identity(), &query, &mut workspace).unwrap());
            stats.push(workspace.stats());
        }
        found.extend(distance(a, pose, b, &Pose::identity(), Roles::Auto, f64::INFINITY, &mut workspace).unwrap());
        stats.push(workspace.stats());
    }
    (found, stats)
}

#[test]
fn contacts_are_the_same_bytes_with_and_without_avx2() {
    let shells = shells();
    let mut rng = Rng(3);
    let poses: Vec<Pose> =
        (0..40).map(|_| Isometry3::from_parts(Translation3::from(rng.vector() * 0.7), rng.rotation())).collect();
    let surface = Surface::new(&primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap());
    let plain = fields().into_iter().map(|(name, field)| (name, field, None));
    let exact = fields().into_iter().take(2).map(|(name, field)| (name, field, surface.as_ref()));
    for (name, field, surface) in plain.chain(exact) {
        let mut seen = 0;
        for (i, shell) in shells.iter().enumerate() {
            let fast = answer(shell, &field, surface, &poses);
            force_baseline(true);
            let plain = answer(shell, &field, surface, &poses);
            force_baseline(false);
            assert!(fast == plain, "{name}, shell {i}");
            seen += fast.0.len();
        }
        assert!(seen > 1000, "{name}: only {seen} contacts seen");
    }
}
