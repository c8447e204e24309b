//! Extreme samples against half-spaces, against all samples: bodies made from a seed, at poses that touch and penetrate.

use nalgebra::{Isometry3, Translation3};
use support::allocation::allocations;
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Completeness, Contact, Query, Roles, Step, Workspace, FEATURE_OF_B};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

/// The tolerance that `Step::extremes_only` promises, relative to the radius of the shell.
const TOLERANCE: f64 = 1.0 / 65_536.0;

fn cook(mesh: &TriMesh, samples: usize) -> Shape {
    let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(48), shell, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn plane() -> Shape {
    Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::new(0.3, -0.2, 1.0), 0.04).unwrap()))
}

/// Separation at the end of the step.
fn gap(c: &Contact, step: &Step) -> f64 {
    let point = if c.feature & FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
    c.separation - c.normal.dot(&(step.shift + step.turn.cross(&(point - step.center)))).max(0.0)
}

/// Checks one pose; returns the numbers of contacts of all samples and of the extreme ones.
fn check(
    name: &str,
    body: &Shape,
    swapped: bool,
    poses: [&Pose; 2],
    step: Step,
    workspace: &mut Workspace,
) -> [usize; 2] {
    let plane = plane();
    let (a, b) = if swapped { (&plane, body) } else { (body, &plane) };
    let [pose_a, pose_b] = if swapped { [poses[1], poses[0]] } else { poses };
    let radius = f64::from(body.shell.as_ref().unwrap().tree.radius[0]);
    let everything = Query { roles: Roles::Auto, max_separation: 0.1, ..Query::default() };
    let mut ask =
        |query: &Query| contacts(a.geometry(), pose_a, b.geometry(), pose_b, query, workspace).unwrap().to_vec();
    let all = ask(&everything);
    let query = Query { step: Some(Step { extremes_only: true, ..step }), ..everything };
    let found = ask(&query);
    let report = workspace.report();
    let again = || {
        contacts(a.geometry(), pose_a, b.geometry(), pose_b, &query, workspace).unwrap();
    };
    assert_eq!(allocations(again), 0, "{name}");
    assert_eq!(report.completeness, Completeness::Extremes, "{name}");
    let rounding = 1e-6;
    let tolerance = TOLERANCE * radius + rounding;
    assert!(found.iter().all(|c| all.contains(c)), "{name}: invented or changed");
    assert!(found.iter().all(|c| gap(c, &step) <= step.max_gap + rounding), "{name}: does not count");
    let deepest = all.iter().map(|c| c.separation).fold(0.1, f64::min);
    assert!(report.least_missed >= deepest - tolerance, "{name}: {report:?}, deepest {deepest}");
    let turned = tolerance * (1.0 + step.turn.norm());
    let least = |of: &dyn Fn(&Contact) -> f64| found.iter().map(of).fold(f64::INFINITY, f64::min);
    let (least_gap, least_separation) = (least(&|c| gap(c, &step)), least(&|c| c.separation));
    for c in all.iter().filter(|c| !found.contains(c)) {
        assert!(report.least_missed <= c.separation, "{name}: {report:?}, missed {}", c.separation);
        if gap(c, &step) + turned < step.max_gap && c.separation + tolerance < everything.max_separation {
            assert!(least_gap <= gap(c, &step) + turned, "{name}: {} for {}", least_gap, gap(c, &step));
            let is_deepest = step.max_gap.is_infinite();
            assert!(!is_deepest || least_separation <= c.separation + tolerance, "{name}: {}", c.separation);
        }
    }
    [all.len(), found.len()]
}

#[test]
fn extreme_samples_are_the_deepest_and_the_most_urgent() {
    let mut rng = Rng(11);
    let mut bodies: Vec<(String, TriMesh)> = (0..12).map(|i| (format!("part {i}"), parts::body(&mut rng))).collect();
    // A needle, a lens with a sharp rim, a thin plate and a gear: narrow cones of normals.
    let scaled = |mesh: &TriMesh, by: [f64; 3]| {
        let vertices = mesh.vertices.iter().map(|p| [0, 1, 2].map(|k| p[k] * by[k])).collect();
        TriMesh { vertices, triangles: mesh.triangles.clone() }
    };
    let ball = primitives::sphere(0.5, 2).unwrap();
    bodies.push(("needle".into(), scaled(&ball, [0.05, 0.05, 1.0])));
    bodies.push(("lens".into(), scaled(&ball, [1.0, 1.0, 0.1])));
    bodies.push(("plate".into(), primitives::cuboid([0.5, 0.5, 0.025]).unwrap()));
    let mut workspace = Workspace::new();
    let mut counts = [0, 0];
    for (name, mesh) in &bodies {
        let extent = mesh.bounds().extents().amax();
        let body = cook(&scaled(mesh, [1.0 / extent; 3]), 4_000);
        body.prepare_extremes();
        for case in 0..24 {
            let world = Isometry3::from_parts(Translation3::from(rng.vector() * 5.0), rng.rotation());
            let mut pose = Isometry3::from_parts(Translation3::from(rng.vector()), rng.rotation());
            let plane = plane();
            let still = Pose::identity();
            let query = Query { max_separation: 1e3, max_contacts: 1, ..Query::default() };
            let first = contacts(body.geometry(), &pose, plane.geometry(), &still, &query, &mut workspace).unwrap()[0];
            pose.translation.vector += first.normal * (first.separation - [0.08, 0.0, -0.01, -0.3][case % 4]);
            let size = [0.0, 1e-3, 0.05][(rng.next() % 3) as usize];
            let step = Step {
                dense_above: [0, 30][(rng.next() % 2) as usize],
                extremes_only: false,
                max_gap: [f64::INFINITY, 0.02, 0.0][(rng.next() % 3) as usize],
                center: (world * pose).translation.vector + rng.vector() * 0.2,
                shift: rng.vector() * size,
                turn: rng.vector() * (4.0 * size),
                ..Step::default()
            };
            let poses = [&(world * pose), &world];
            let [all, found] = check(&format!("{name} {case}"), &body, case % 5 == 0, poses, step, &mut workspace);
            counts = [counts[0] + all, counts[1] + found];
        }
    }
    assert!(counts[1] > 1_000 && counts[0] > 20 * counts[1], "{counts:?}");
}

/// Every sample of a fine ball is a corner of the hull.
#[test]
fn round_bodies_are_searched_as_otherwise() {
    let ball = cook(&primitives::sphere(0.5, 5).unwrap(), 12_000);
    let (plane, pose) = (plane(), Isometry3::translation(0.0, 0.0, 0.54));
    let none = Vec3::zeros();
    let step = Step {
        dense_above: 0,
        extremes_only: true,
        max_gap: f64::INFINITY,
        center: none,
        shift: none,
        turn: none,
        ..Step::default()
    };
    let mut workspace = Workspace::new();
    let mut ask = |step: Option<Step>| {
        let query = Query { max_separation: 0.02, step, ..Query::default() };
        contacts(ball.geometry(), &pose, plane.geometry(), &Pose::identity(), &query, &mut workspace).unwrap().to_vec()
    };
    let all = ask(None);
    assert!(all.len() > 10);
    assert_eq!(ask(Some(step)), all);
    assert_eq!(workspace.report().completeness, Completeness::Complete);
}
