//! Queries that stop early: the contacts found are among all contacts, and the bound on the others holds.

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, distance, Budget, Completeness, Contact, Geometry, Query, Roles, Workspace};
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Progress, RigidF32};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{ShellOptions, TreeKind};

fn cook(mesh: &TriMesh, samples: usize, tree: TreeKind) -> Shape {
    let shell = ShellOptions { target_count: Some(samples), tree, ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(64), shell, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn knot(tree: TreeKind) -> Shape {
    cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap(), 3_000, tree)
}

/// Returns a random pose of A; every second one touches B, which is at the identity, or penetrates it slightly.
fn pose(a: Geometry, b: Geometry, i: u64, rng: &mut Rng, workspace: &mut Workspace) -> Pose {
    let mut pose = Isometry3::from_parts(Translation3::from(rng.vector() * 0.3), rng.rotation());
    for _ in 0..if i % 2 == 0 { 6 } else { 0 } {
        let c = distance(a, &pose, b, &Pose::identity(), Roles::ShellOfA, f64::INFINITY, workspace).unwrap().unwrap();
        pose.translation.vector += c.normal * (c.separation + 0.002);
    }
    pose
}

/// Returns the separations of all samples of the shape at `pose` in the same shape's field at the identity.
fn brute_force(shape: &Shape, pose: &Pose) -> Vec<f32> {
    let (shell, field) = (shape.shell.as_ref().unwrap(), shape.field.as_ref().unwrap());
    let near = (pose * nalgebra::Point3::from(shell.origin)).coords;
    let to_field = RigidF32::between(pose, &shell.origin, &field.local_origin(&near));
    (0..shell.len()).map(|i| field.distance(to_field.point(shell.point(i)))).collect()
}

const LIMITS: [u64; 14] = [0, 1, 2, 9, 10, 33, 34, 100, 300, 301, 1_000, 3_000, 20_000, u64::MAX - 1];

/// Returns true for the same contacts in the same order, bit-identical.
fn is_part(found: &[Contact], all: &[Contact]) -> bool {
    let mut all = all.iter();
    found.iter().all(|c| all.any(|d| c == d))
}

struct Case<'a> {
    name: String,
    a: Geometry<'a>,
    b: Geometry<'a>,
    pose: Pose,
    roles: Roles,
    limit: f64,
}

impl Case<'_> {
    fn ask(&self, budget: Budget, workspace: &mut Workspace) -> Vec<Contact> {
        let query = Query { roles: self.roles, max_separation: self.limit, budget, ..Query::default() };
        contacts(self.a, &self.pose, self.b, &Pose::identity(), &query, workspace).unwrap().to_vec()
    }

    /// Checks the promises of any answer.
    fn check(&self, how: &str, found: &[Contact], all: &[Contact], workspace: &Workspace) {
        let report = workspace.report();
        assert!(is_part(found, all), "{} {how}: a contact was invented", self.name);
        let missed = all.iter().filter(|c| !found.iter().any(|d| d.feature == c.feature));
        let deepest = missed.map(|c| c.separation).fold(f64::INFINITY, f64::min);
        assert!(report.least_missed <= deepest, "{} {how}: {report:?}, missed {deepest}", self.name);
        if report.completeness == Completeness::Complete {
            assert_eq!(found, all, "{} {how}", self.name);
            assert_eq!(report.least_missed, f64::INFINITY);
        }
    }

    /// Checks all limits; returns the number of answers that were partial and not empty.
    fn check_limits(&self, workspace: &mut Workspace) -> usize {
        let all = self.ask(Budget::UNLIMITED, workspace);
        assert_eq!(workspace.report().completeness, Completeness::Complete);
        let (mut least, mut partial) = (f64::NEG_INFINITY, 0);
        for tests in LIMITS {
            let found = self.ask(Budget { tests, ..Budget::UNLIMITED }, workspace);
            let (stats, report) = (workspace.stats(), workspace.report());
            self.check(&format!("{tests} tests"), &found, &all, workspace);
            assert!(stats.node_tests + stats.sample_tests <= tests, "{} {tests}: {stats:?}", self.name);
            assert!(report.least_missed >= least, "{} {tests}: {report:?} was {least}", self.name);
            least = report.least_missed;
            partial += usize::from(report.completeness == Completeness::Partial && !found.is_empty());
            let again = self.ask(Budget { tests, ..Budget::UNLIMITED }, workspace);
            assert_eq!(found, again);
        }
        assert_eq!(workspace.report().completeness, Completeness::Complete, "{}", self.name);
        for nanoseconds in [1, 3_000, 20_000, u64::MAX - 1] {
            let found = self.ask(Budget { nanoseconds, ..Budget::UNLIMITED }, workspace);
            self.check(&format!("{nanoseconds} ns"), &found, &all, workspace);
        }
        assert_eq!(workspace.report().completeness, Completeness::Complete, "{}", self.name);
        partial
    }

    fn check_accuracies(&self, workspace: &mut Workspace) -> usize {
        let all = self.ask(Budget::UNLIMITED, workspace);
        let (mut tests, mut coarse) = (u64::MAX, 0);
        for accuracy in [0.0, 0.003, 0.01, 0.03, 0.1, 10.0] {
            let found = self.ask(Budget { accuracy, ..Budget::UNLIMITED }, workspace);
            let (stats, report) = (workspace.stats(), workspace.report());
            self.check(&format!("accuracy {accuracy}"), &found, &all, workspace);
            assert_ne!(report.completeness, Completeness::Partial);
            assert!(stats.node_tests + stats.sample_tests <= tests, "{}: coarser costs more", self.name);
            tests = stats.node_tests + stats.sample_tests;
            coarse += usize::from(report.completeness == Completeness::Coarse && !found.is_empty());
            // Both limits at once.
            let both = self.ask(Budget { accuracy, tests: 200, ..Budget::UNLIMITED }, workspace);
            self.check(&format!("accuracy {accuracy}, 200 tests"), &both, &all, workspace);
        }
        assert!(tests <= 4, "{}: {tests} tests of the roots", self.name);
        coarse
    }
}

#[test]
fn a_partial_answer_is_a_subset_and_bounds_missed_contacts() {
    for tree in [TreeKind::MinimalBalls, TreeKind::NestedOnSamples] {
        let shape = knot(tree);
        let geometry = shape.geometry();
        let mut workspace = Workspace::new();
        let (mut partial, mut coarse) = (0, 0);
        let poses = if support::long() { 2_000 } else { 40 };
        for i in 0..poses {
            let mut rng = Rng(i * 7_919 + 3);
            let pose = pose(geometry, geometry, i, &mut rng, &mut workspace);
            let limit = [0.0, 0.01, -0.002, 0.1][(i / 2 % 4) as usize];
            for roles in [Roles::ShellOfA, Roles::ShellOfB, Roles::Both] {
                let name = format!("{tree:?} pose {i} {roles:?}");
                let case = Case { name, a: geometry, b: geometry, pose, roles, limit };
                partial += case.check_limits(&mut workspace);
                coarse += case.check_accuracies(&mut workspace);
            }
            // The bound against all samples, tested one by one.
            let phi = brute_force(&shape, &pose);
            let case = Case { name: String::new(), a: geometry, b: geometry, pose, roles: Roles::ShellOfA, limit };
            for budget in [Budget { tests: 150, ..Budget::UNLIMITED }, Budget { accuracy: 0.02, ..Budget::UNLIMITED }] {
                let found = case.ask(budget, &mut workspace);
                let is_found = |sample: usize| found.iter().any(|c| c.feature as usize == sample);
                let missed = (0..phi.len()).filter(|&s| f64::from(phi[s]) <= limit && !is_found(s));
                let deepest = missed.map(|s| f64::from(phi[s])).fold(f64::INFINITY, f64::min);
                assert!(workspace.report().least_missed <= deepest, "pose {i}: {:?} {deepest}", workspace.report());
            }
        }
        assert!(partial as u64 > poses && coarse as u64 > poses, "{partial} partial answers, {coarse} coarse ones");
    }
}

#[test]
fn a_partial_answer_against_a_sheet_bounds_missed_contacts() {
    let ring = cook(&primitives::torus(0.3, 0.1, 64, 24).unwrap(), 2_000, TreeKind::MinimalBalls);
    let sheet = Shape::from_sheet(primitives::torus_knot(2, 3, 0.5, 0.1, 120, 12).unwrap(), 0.05).unwrap();
    let mut workspace = Workspace::new();
    let mut partial = 0;
    for i in 0..10 {
        let mut rng = Rng(i * 31 + 1);
        let pose = pose(ring.geometry(), sheet.geometry(), i, &mut rng, &mut workspace);
        let limit = [0.0, 0.02, 0.1][i as usize % 3];
        let name = format!("sheet pose {i}");
        let (a, b) = (ring.geometry(), sheet.geometry());
        let case = Case { name, a, b, pose, roles: Roles::Auto, limit };
        partial += case.check_limits(&mut workspace);
    }
    assert!(partial > 10, "{partial} partial answers");
}

/// With a fraction of the tests, the deepest found contact is nearly the deepest, and the contacts span nearly the same
/// area.
#[test]
fn a_limit_hurts_least_where_contacts_are_deep() {
    let shape = cook(&primitives::cuboid([0.5, 0.5, 0.1]).unwrap(), 20_000, TreeKind::MinimalBalls);
    let floor = Shape::from_field(voxshell::field::Field::HalfSpace(
        voxshell::field::HalfSpace::new(nalgebra::Vector3::z(), 0.0).unwrap(),
    ));
    // The body lies flat and slightly inside, with one edge deeper.
    let tilted = Isometry3::new(nalgebra::Vector3::new(0.0, 0.0, 0.098), nalgebra::Vector3::new(0.0, 0.001, 0.0));
    let mut workspace = Workspace::new();
    let (a, b, pose) = (shape.geometry(), floor.geometry(), tilted);
    let case = Case { name: "slab".into(), a, b, pose, roles: Roles::ShellOfA, limit: 0.0 };
    let all = case.ask(Budget::UNLIMITED, &mut workspace);
    let cost = workspace.stats().node_tests + workspace.stats().sample_tests;
    assert!(all.len() > 4_000, "{}", all.len());
    let found = case.ask(Budget { tests: cost / 20, ..Budget::UNLIMITED }, &mut workspace);
    let report = workspace.report();
    assert!(found[0].separation < 0.99 * all[0].separation, "{} of {}", found[0].separation, all[0].separation);
    case.ask(Budget { tests: 1, ..Budget::UNLIMITED }, &mut workspace);
    assert!(report.least_missed > 0.2 * workspace.report().least_missed, "{report:?} {:?}", workspace.report());
    let width = |found: &[Contact], axis: usize| {
        let of = |c: &Contact| c.point_on_a[axis];
        found.iter().map(of).fold(f64::MIN, f64::max) - found.iter().map(of).fold(f64::MAX, f64::min)
    };
    assert!((0..2).all(|k| width(&found, k) > 0.9 * width(&all, k)), "{} {}", width(&found, 0), width(&found, 1));
}
