//! A scaled shape at scaled poses gives the scaled contacts of the original.

use std::collections::HashMap;

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, distance, Contact, Query, Roles, Workspace};
use voxshell::field::{
    Ball, Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, MeshField, SignedDistance, Sphere, SphereHull,
};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{ShellOptions, TreeKind};
use voxshell::Error;

fn knot(tree: TreeKind) -> Shape {
    knot_as(Storage::Dense, tree)
}

fn knot_as(storage: Storage, tree: TreeKind) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(if storage == Storage::Dense { 40 } else { 120 }),
        storage,
        shell: ShellOptions { target_count: Some(700), tree, ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let mesh = primitives::torus_knot(2, 3, 0.3, 0.1, 120, 12).unwrap();
    let away = Isometry3::from_parts(Translation3::new(0.7, -0.3, 0.2), nalgebra::UnitQuaternion::identity());
    Shape::cook(&mesh.transformed(&away, 1.0), &options, &Progress::none()).unwrap()
}

fn others() -> Vec<(&'static str, Shape)> {
    let ball = |x: f64, y: f64, radius: f64| Ball { center: Vec3::new(x, y, 0.1), radius };
    let balls = [ball(0.0, 0.0, 0.3), ball(0.5, 0.1, 0.1), ball(0.1, 0.5, 0.2), ball(-0.4, -0.2, 0.05)];
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.3 })).collect();
    let gear = primitives::gear(8, 0.5, 0.42, 0.3, 0.15).unwrap();
    let exact = vec![
        ("half-space", Field::HalfSpace(HalfSpace::new(Vec3::new(0.3, 1.0, 0.2), 0.25).unwrap())),
        ("sphere", Field::Sphere(Sphere::new(0.5).unwrap())),
        ("box", Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap())),
        ("capsule", Field::Capsule(Capsule::new(1, 0.2, 0.4).unwrap())),
        ("cylinder", Field::Cylinder(Cylinder::new(2, 0.3, 0.4).unwrap())),
        ("cone", Field::Cone(Cone::new(0, 0.3, 0.8).unwrap())),
        ("hull", Field::ConvexHull(ConvexHull::new(&corners).unwrap())),
        ("hull of balls", Field::SphereHull(SphereHull::new(&balls).unwrap())),
        ("triangles", Field::Mesh(MeshField::new(gear.clone()).unwrap())),
    ];
    let mut all: Vec<(&str, Shape)> = exact.into_iter().map(|(name, field)| (name, Shape::from_field(field))).collect();
    all.push(("sheet", Shape::from_sheet(gear, 0.05).unwrap()));
    all.push(("knot", knot(TreeKind::MinimalBalls)));
    all.push(("knot in bricks", knot_as(Storage::Bricks, TreeKind::MinimalBalls)));
    all
}

fn scaled_pose(pose: &Pose, factor: f64) -> Pose {
    Isometry3::from_parts(Translation3::from(pose.translation.vector * factor), pose.rotation)
}

fn answers(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    limit: f64,
    workspace: &mut Workspace,
) -> (Vec<Contact>, Contact) {
    let query = Query { roles: Roles::ShellOfA, max_separation: limit, ..Query::default() };
    let (ga, gb) = (a.geometry(), b.geometry());
    let all = contacts(ga, pose_a, gb, pose_b, &query, workspace).unwrap().to_vec();
    (all, distance(ga, pose_a, gb, pose_b, Roles::ShellOfA, f64::INFINITY, workspace).unwrap().unwrap())
}

#[test]
fn contacts_of_scaled_shapes_are_the_scaled_contacts() {
    let body = knot(TreeKind::MinimalBalls);
    let mut workspace = Workspace::new();
    for (name, other) in &others() {
        for factor in [0.01, 0.3, 0.5, 3.0, 64.0, 100.0] {
            let is_power = factor == 0.5 || factor == 64.0;
            let (large, large_other) = (body.scaled(factor).unwrap(), other.scaled(factor).unwrap());
            let mut rng = Rng(2);
            let (mut seen, mut limit) = (0, 0.02);
            for i in 0..40 {
                limit = -limit;
                let pose_a = Isometry3::from_parts(Translation3::from(rng.vector() * 1.2), rng.rotation());
                let pose_b = Isometry3::from_parts(Translation3::from(rng.vector()), rng.rotation());
                let (few, least) = answers(&body, &pose_a, other, &pose_b, limit, &mut workspace);
                let (many, nearest) = answers(
                    &large,
                    &scaled_pose(&pose_a, factor),
                    &large_other,
                    &scaled_pose(&pose_b, factor),
                    limit * factor,
                    &mut workspace,
                );
                seen += few.len();
                if is_power {
                    // The digits are equal, because only the exponents of the arithmetic differ.
                    let of = |all: &[Contact], factor: f64| -> Vec<(u32, f64, [f64; 3])> {
                        all.iter().map(|c| (c.feature, c.separation * factor, c.normal.into())).collect()
                    };
                    assert_eq!(of(&many, 1.0), of(&few, factor), "{name} times {factor}, pose {i}");
                    assert_eq!(of(&[nearest], 1.0), of(&[least], factor), "{name} times {factor}, pose {i}");
                }
                let rounding = 2e-6;
                assert!(
                    (nearest.separation / factor - least.separation).abs() < rounding,
                    "{name} times {factor}, pose {i}"
                );
                // Each contact that is not within rounding of the limit has a partner with the same separation.
                let by_feature = |all: &[Contact], unit: f64| -> HashMap<u32, f64> {
                    all.iter().map(|c| (c.feature, c.separation / unit)).collect()
                };
                let (few, many) = (by_feature(&few, 1.0), by_feature(&many, factor));
                for (these, those) in [(&few, &many), (&many, &few)] {
                    for (feature, separation) in these {
                        match those.get(feature) {
                            Some(other) => {
                                assert!((separation - other).abs() < rounding, "{name} times {factor}, pose {i}")
                            }
                            // The far side of a sheet is decided by a comparison, which rounding may flip too.
                            None => {
                                assert!(*name == "sheet" || (separation - limit).abs() < rounding, "{name}, pose {i}")
                            }
                        }
                    }
                }
            }
            assert!(seen > 100, "{name} times {factor}: only {seen} contacts");
        }
    }
}

#[test]
fn all_that_is_known_of_a_shape_is_scaled() {
    let factor = 2.5;
    for (name, shape) in others() {
        let large = shape.scaled(factor).unwrap();
        let (bounds, expected) = (large.bounds(), shape.bounds());
        for k in 0..3 {
            for (got, original) in [(bounds.min[k], expected.min[k]), (bounds.max[k], expected.max[k])] {
                let same = got == original * factor || (got - original * factor).abs() < 2e-6;
                assert!(same, "{name}: {got} for {original}");
            }
        }
        let field = shape.field.as_deref().unwrap();
        let (error, scaled) = (field.error_bound() * factor, large.field.as_deref().unwrap().error_bound());
        assert!((error - scaled).abs() <= 1e-6 * error + 1e-6 * f64::EPSILON || name == "half-space", "{name}");
    }
    let shape = knot(TreeKind::MinimalBalls);
    let large = shape.scaled(factor).unwrap();
    let (mass, expected) =
        (large.mass.unwrap(), voxshell::cook::mass_properties(large.mesh.as_deref().unwrap()).unwrap());
    assert!((mass.volume - expected.volume).abs() < 1e-12 * expected.volume);
    for k in 0..6 {
        assert!((mass.inertia[k] - expected.inertia[k]).abs() < 1e-12 * expected.inertia[0]);
    }
    for k in 0..3 {
        assert!((mass.center_of_mass[k] - expected.center_of_mass[k]).abs() < 1e-12);
    }
    let (report, expected) = (large.report.unwrap(), large.mesh.as_deref().unwrap().report());
    assert!((report.area - expected.area).abs() < 1e-9 && (report.volume - expected.volume).abs() < 1e-9);
    let (small, big) = (shape.field.as_deref().unwrap(), large.field.as_deref().unwrap());
    let (Field::Dense(small), Field::Dense(big)) = (small, big) else { panic!("both are cooked") };
    assert!((small.lipschitz() - big.lipschitz()).abs() < 1e-5);
}

#[test]
fn scaled_shells_keep_their_invariants() {
    for tree in [TreeKind::MinimalBalls, TreeKind::NestedOnSamples] {
        let shell = knot(tree).shell.unwrap();
        let mut rng = Rng(40);
        for i in 0..60 {
            let factor = if i < 4 { [1e-6, 0.01, 100.0, 1e6][i] } else { (4.6 * rng.unit()).exp() };
            let scaled = shell.scaled(factor).unwrap();
            scaled.check_invariants().unwrap_or_else(|e| panic!("times {factor}: {e}"));
            for i in 0..shell.len() {
                let error = (scaled.position(i) - shell.position(i) * factor).norm();
                assert!(error <= 1e-7 * factor, "times {factor}: sample {i} is {error} m off");
            }
        }
        let (half, back) = (shell.scaled(0.5).unwrap(), shell.scaled(0.5).unwrap().scaled(2.0).unwrap());
        assert_eq!(back, *shell, "powers of two lose nothing");
        assert_eq!(half.tree.radius[0], shell.tree.radius[0] * 0.5);
    }
}

#[test]
fn a_scaled_shape_is_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scaled.vxs");
    let shape = knot(TreeKind::MinimalBalls).scaled(0.37).unwrap();
    shape.save(&path).unwrap();
    let loaded = Shape::load(&path).unwrap();
    assert!(loaded.field == shape.field && loaded.shell == shape.shell && loaded.mesh == shape.mesh);
    assert!(loaded.mass == shape.mass && loaded.report == shape.report);
}

#[test]
fn factors_out_of_range_are_refused_by_name() {
    let shape = knot(TreeKind::MinimalBalls);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e39, 1e-45] {
        let refused = shape.scaled(factor).err().unwrap();
        assert!(matches!(&refused, Error::InvalidArgument { argument, .. } if argument == "factor"), "{refused}");
    }
    for (name, other) in others() {
        for factor in [1e300, 1e-300] {
            // A plane has no length that could become too small.
            let Err(refused) = other.scaled(factor) else {
                assert_eq!((name, factor < 1.0), ("half-space", factor < 1.0));
                continue;
            };
            assert!(
                matches!(&refused, Error::InvalidArgument { argument, .. } if argument == "factor"),
                "{name}: {refused}"
            );
        }
    }
}
