//! The cached data of a pair in a workspace does not change the contacts: they are bit-identical for any change between
//! two queries.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, Coverage, Geometry, Owner, Query, Roles, Workspace};
use voxshell::field::{Ball, Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, MeshField, Sheet};
use voxshell::field::{Sphere, SphereHull};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

fn knot() -> TriMesh {
    primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap()
}

fn shell(samples: usize, branching: u32) -> Arc<PointShell> {
    let options = ShellOptions { target_count: Some(samples), branching, ..ShellOptions::default() };
    Arc::new(voxshell::cook::sample(&knot(), None, &options, &Progress::none()).unwrap())
}

fn cooked(storage: Storage, cells: u32) -> Arc<Field> {
    let options = CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() };
    Shape::cook(&knot(), &options, &Progress::none()).unwrap().field.unwrap()
}

/// Returns one field of each kind.
fn fields() -> Vec<(&'static str, Arc<Field>)> {
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.4 })).collect();
    let ball = |x: f64, radius: f64| Ball { center: Vec3::new(x, 0.1 * x, 0.0), radius };
    let mut open = knot();
    open.triangles.truncate(open.triangles.len() - 40);
    vec![
        ("dense", cooked(Storage::Dense, 64)),
        ("bricks", cooked(Storage::Bricks, 128)),
        ("exact", cooked(Storage::Exact, 64)),
        ("half-space", Arc::new(Field::HalfSpace(HalfSpace::new(Vec3::new(0.1, 1.0, 0.0), 0.25).unwrap()))),
        ("sphere", Arc::new(Field::Sphere(Sphere::new(0.5).unwrap()))),
        ("box", Arc::new(Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap()))),
        ("capsule", Arc::new(Field::Capsule(Capsule::new(1, 0.2, 0.4).unwrap()))),
        ("cylinder", Arc::new(Field::Cylinder(Cylinder::new(2, 0.3, 0.4).unwrap()))),
        ("cone", Arc::new(Field::Cone(Cone::new(0, 0.3, 0.8).unwrap()))),
        ("hull", Arc::new(Field::ConvexHull(ConvexHull::new(&corners).unwrap()))),
        ("balls", Arc::new(Field::SphereHull(SphereHull::new(&[ball(-0.3, 0.2), ball(0.2, 0.3)]).unwrap()))),
        ("mesh", Arc::new(Field::Mesh(MeshField::new(knot()).unwrap()))),
        ("open mesh", Arc::new(Field::Mesh(MeshField::new(open).unwrap()))),
        ("sheet", Arc::new(Field::Sheet(Sheet::new(Arc::new(knot()), 0.05).unwrap()))),
    ]
}

/// A shell against a field, with a workspace that caches and with a new one.
struct Twice {
    remembering: Workspace,
    forgetful: Workspace,
    found: usize,
    /// Number of node tests, with and without cached data.
    tests: [u64; 2],
}

impl Twice {
    fn new() -> Self {
        Self { remembering: Workspace::new(), forgetful: Workspace::new(), found: 0, tests: [0; 2] }
    }

    fn ask(&mut self, name: &str, a: Owner, pose_a: &Pose, b: Owner, pose_b: &Pose, query: &Query) {
        let (of_a, of_b) = (geometry(a), geometry(b));
        let knowing = Query { owners: Some([a, b]), ..*query };
        let got = contacts(of_a, pose_a, of_b, pose_b, &knowing, &mut self.remembering).unwrap();
        let expected = contacts(of_a, pose_a, of_b, pose_b, query, &mut self.forgetful).unwrap();
        assert_eq!(got.len(), expected.len(), "{name}: contacts missed or invented");
        if let Some((got, expected)) = got.iter().zip(expected).find(|(got, expected)| got != expected) {
            panic!("{name}: {got:?} instead of {expected:?}");
        }
        self.found += expected.len();
        for (tests, workspace) in self.tests.iter_mut().zip([&self.remembering, &self.forgetful]) {
            *tests += workspace.stats().node_tests;
        }
    }
}

fn geometry<'a>(owner: Owner<'a>) -> Geometry<'a> {
    Geometry {
        field: owner.field.map(|f| &**f),
        shell: owner.shell.map(|s| &**s),
        surface: owner.surface.map(|s| &**s),
    }
}

fn only_shell(shell: &Arc<PointShell>) -> Owner<'_> {
    Owner { shell: Some(shell), ..Owner::default() }
}

fn only_field(field: &Arc<Field>) -> Owner<'_> {
    Owner { field: Some(field), ..Owner::default() }
}

/// Returns the pose after a step: unchanged, or changed by a trace, a little, a lot, or completely.
fn step(pose: &Pose, rng: &mut Rng) -> Pose {
    let size = match rng.next() % 16 {
        0 => return Isometry3::from_parts(Translation3::from(rng.vector() * 0.7), rng.rotation()),
        1..4 => 0.0,
        4..6 => 1e-8,
        6..9 => 1e-5,
        9..12 => 1e-3,
        12..15 => 0.01,
        _ => 0.2,
    };
    // Rotations alone, translations alone, and both.
    let kind = rng.next() % 3;
    let turn = if kind == 0 { Vec3::zeros() } else { rng.vector() * size };
    let way = if kind == 1 { Vec3::zeros() } else { rng.vector() * size };
    Isometry3::from_parts(
        Translation3::from(pose.translation.vector + way),
        UnitQuaternion::from_scaled_axis(turn) * pose.rotation,
    )
}

/// Long motions; sometimes the whole pair is moved to another place, even far away.
#[test]
fn contacts_of_long_random_motions_are_the_same() {
    let shells = [shell(900, 8), shell(500, 3), shell(700, 20)];
    for (name, field) in &fields() {
        let steps = match name {
            &"mesh" | &"open mesh" | &"sheet" | &"balls" => 150,
            _ => 1_000,
        };
        let mut found = 0;
        for (i, shell) in shells.iter().enumerate() {
            let (mut rng, mut twice) = (Rng(11 + i as u64), Twice::new());
            let (mut pose, mut world, mut limit) = (Pose::identity(), Pose::identity(), 0.01);
            for n in 0..steps {
                pose = step(&pose, &mut rng);
                if rng.next() % 64 == 0 {
                    let away = [1.0, 1e3, 1e6][(rng.next() % 3) as usize];
                    world = Isometry3::from_parts(Translation3::from(rng.vector() * away), rng.rotation());
                }
                if rng.next() % 16 == 0 {
                    limit = [0.0, 0.01, -0.002, 0.1][(rng.next() % 4) as usize];
                }
                let query = Query { max_separation: limit, ..Query::default() };
                let at = world * pose;
                twice.ask(&format!("{name} {i} {n}"), only_shell(shell), &at, only_field(field), &world, &query);
            }
            found += twice.found;
        }
        assert!(found > 1000, "{name}: only {found} contacts seen");
    }
}

/// A body creeps, rolls and slides in steps of the sizes of a simulation, so that most of the cache stays valid.
#[test]
fn contacts_of_steady_motions_are_the_same_and_take_fewer_tests() {
    let shell = shell(3_000, 8);
    for (name, field) in fields().into_iter().take(9) {
        for (speed, share) in [(0.0, 0.05), (1e-6, 0.1), (1e-4, 0.7), (4e-3, 1.1)] {
            let (mut rng, mut twice) = (Rng(5), Twice::new());
            for _ in 0..6 {
                let (rotation, side) = (rng.rotation(), rng.vector().normalize());
                let (turn, way) = (rng.vector() * speed, rng.vector() * speed);
                for n in 0..60 {
                    let n = f64::from(n);
                    let pose = Isometry3::from_parts(
                        Translation3::from(side * 0.55 + way * n),
                        UnitQuaternion::from_scaled_axis(turn * n) * rotation,
                    );
                    let query = Query { max_separation: 0.02, ..Query::default() };
                    let still = Pose::identity();
                    twice.ask(name, only_shell(&shell), &pose, only_field(&field), &still, &query);
                }
            }
            let [remembering, forgetful] = twice.tests;
            eprintln!("{name} at {speed}: {} contacts, {remembering} nodes for {forgetful}", twice.found);
            assert!(remembering as f64 <= share * forgetful as f64, "{name}, {speed} m a step: {:?}", twice.tests);
        }
    }
}

/// Both bodies have both forms, and both roles are used, so that there are two traversal caches.
#[test]
fn contacts_of_both_roles_are_the_same() {
    let options = CookOptions {
        resolution: Resolution::Cells(64),
        shell: ShellOptions { target_count: Some(900), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(&knot(), &options, &Progress::none()).unwrap();
    let other = shape.scaled(0.75).unwrap();
    let (mut rng, mut twice) = (Rng(21), Twice::new());
    let (mut pose, mut roles) = (Pose::identity(), Roles::Both);
    for n in 0..3_000 {
        pose = step(&pose, &mut rng);
        if rng.next() % 8 == 0 {
            roles = [Roles::Both, Roles::Auto, Roles::ShellOfA, Roles::ShellOfB][(rng.next() % 4) as usize];
        }
        let max_contacts = if n % 2 == 0 { 0 } else { 4 };
        let query = Query { roles, max_separation: 0.01, max_contacts, ..Query::default() };
        twice.ask(&format!("both {n}"), shape.owner(), &pose, other.owner(), &Pose::identity(), &query);
    }
    assert!(twice.found > 1000, "only {} contacts seen", twice.found);
}

/// Bodies with exact surfaces: descents for edges and corners are resumed, and samples that are not near are passed over.
#[test]
fn contacts_of_exact_surfaces_are_the_same_and_take_fewer_tests() {
    let cook = |mesh: TriMesh| {
        let options = CookOptions {
            resolution: Resolution::Cells(48),
            shell: ShellOptions { target_count: Some(600), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        assert!(shape.surface().unwrap().is_some());
        shape
    };
    let shapes = [
        knot(),
        primitives::gear(9, 0.4, 0.3, 0.15, 0.1).unwrap(),
        primitives::cuboid([0.3, 0.2, 0.03]).unwrap(),
        primitives::sphere(0.3, 3).unwrap(),
    ]
    .map(cook);
    let (mut found, mut tests) = (0, [0; 2]);
    for seed in 0..if support::long() { 200 } else { 12 } {
        let (mut rng, mut twice) = (Rng(seed), Twice::new());
        let pick = |rng: &mut Rng| &shapes[(rng.next() % 4) as usize];
        let (a, b) = (pick(&mut rng), pick(&mut rng));
        let (mut pose, mut world, mut query) = (Pose::identity(), Pose::identity(), Query::default());
        for n in 0..200 {
            pose = step(&pose, &mut rng);
            if rng.next() % 32 == 0 {
                let away = [1.0, 1e3, 1e6][(rng.next() % 3) as usize];
                world = Isometry3::from_parts(Translation3::from(rng.vector() * away), rng.rotation());
            }
            if rng.next() % 8 == 0 {
                query.max_separation = [0.0, 0.002, -0.002, 0.02][(rng.next() % 4) as usize];
                query.coverage = [Coverage::Edges, Coverage::Edges, Coverage::Facets][(rng.next() % 3) as usize];
            }
            twice.ask(&format!("{seed} {n}"), a.owner(), &(world * pose), b.owner(), &world, &query);
            tests[0] += twice.remembering.stats().edge_tests;
            tests[1] += twice.forgetful.stats().edge_tests;
        }
        found += twice.found;
    }
    eprintln!("{found} contacts, tests of edges with and without memory: {tests:?}");
    assert!(found > 10_000, "only {found} contacts seen");
    // Many of the motions are so large that nothing can be kept.
    assert!(10 * tests[0] < 9 * tests[1], "{tests:?}");
}

/// Jitter below the resolution of f32, with the level a hair beside a sample: rounding alone moves samples across it.
#[test]
fn rounding_hides_no_contact() {
    let shell = shell(900, 8);
    let mut changes = 0;
    for (name, field) in fields().into_iter().take(10) {
        let mut rng = Rng(2);
        for _ in 0..60 {
            let pose = Isometry3::from_parts(Translation3::from(rng.vector() * 0.7), rng.rotation());
            let a = Geometry { field: None, shell: Some(&shell), surface: None };
            let b = Geometry { field: Some(&field), shell: None, surface: None };
            let wide = Query { max_separation: 0.05, ..Query::default() };
            let mut workspace = Workspace::new();
            let found = contacts(a, &pose, b, &Pose::identity(), &wide, &mut workspace).unwrap();
            if found.is_empty() {
                continue;
            }
            let beside = found[rng.next() as usize % found.len()].separation as f32;
            let ulp = beside.abs() * f32::EPSILON;
            let limits = [beside - ulp, beside - 2.0 * ulp, beside];
            let query = Query { max_separation: limits[rng.next() as usize % 3].into(), ..Query::default() };
            let mut twice = Twice::new();
            let (mut last, size) = (None, [1e-9, 1e-8, 1e-7][rng.next() as usize % 3]);
            for _ in 0..60 {
                let tremble = Isometry3::from_parts(
                    Translation3::from(pose.translation.vector + rng.vector() * size),
                    UnitQuaternion::from_scaled_axis(rng.vector() * size) * pose.rotation,
                );
                let before = twice.found;
                twice.ask(name, only_shell(&shell), &tremble, only_field(&field), &Pose::identity(), &query);
                let now = twice.found - before;
                changes += usize::from(last.replace(now).is_some_and(|last| last != now));
            }
        }
    }
    assert!(changes > 1000, "rounding changed only {changes} answers, the test tests too little");
}

/// Another object may reuse an address, and an `Arc` with one owner can be modified.
#[test]
fn a_shape_in_the_place_of_another_is_not_taken_for_it() {
    let (small, field) = (shell(900, 8), cooked(Storage::Dense, 64));
    let large = small.scaled(2.0).unwrap();
    let pose = Isometry3::translation(0.0, 0.9, 0.0);
    let query = Query { max_separation: 0.01, ..Query::default() };
    let mut twice = Twice::new();
    let mut addresses = std::collections::HashSet::new();
    for i in 0..40 {
        // Freed before the next is made, which is likely to get the same address.
        let now = Arc::new(if i % 2 == 0 { (*small).clone() } else { large.clone() });
        addresses.insert(Arc::as_ptr(&now) as usize);
        for _ in 0..3 {
            twice.ask("another shell", only_shell(&now), &pose, only_field(&field), &Pose::identity(), &query);
        }
    }
    assert!(addresses.len() < 40, "no shell took the place of another, the test tests nothing");
    let mut changed = small.clone();
    drop(small);
    for i in 0..10 {
        for _ in 0..3 {
            twice.ask("a changed shell", only_shell(&changed), &pose, only_field(&field), &Pose::identity(), &query);
        }
        *Arc::make_mut(&mut changed) = large.scaled(if i % 2 == 0 { 1.0 } else { 0.5 }).unwrap();
    }
    let mut field = field;
    for radius in [0.1, 0.8, 0.2, 0.9] {
        *Arc::make_mut(&mut field) = Field::Sphere(Sphere::new(radius).unwrap());
        for _ in 0..3 {
            twice.ask("a changed field", only_shell(&changed), &pose, only_field(&field), &Pose::identity(), &query);
        }
    }
    assert!(twice.found > 1000, "only {} contacts seen", twice.found);
}

/// Owners that do not belong to the bodies of the query are ignored.
#[test]
fn owners_of_something_else_do_not_matter() {
    let (one, other, field) = (shell(900, 8), shell(300, 8), cooked(Storage::Dense, 64));
    let (mut knowing, mut forgetful) = (Workspace::new(), Workspace::new());
    let pose = Isometry3::translation(0.0, 0.4, 0.0);
    let b = Geometry { field: Some(&field), shell: None, surface: None };
    for i in 0..20 {
        let a = Geometry { field: None, shell: Some(if i % 2 == 0 { &one } else { &other }), surface: None };
        let query = Query { max_separation: 0.1, ..Query::default() };
        let claiming = Query { owners: Some([only_shell(&one), only_field(&field)]), ..query };
        let got = contacts(a, &pose, b, &Pose::identity(), &claiming, &mut knowing).unwrap();
        let expected = contacts(a, &pose, b, &Pose::identity(), &query, &mut forgetful).unwrap();
        assert!(!expected.is_empty() && got == expected, "query {i}");
    }
}

/// Many bodies of one shape in one workspace: each query looks as if the pair had been moved.
#[test]
fn a_workspace_for_many_pairs_does_not_work_for_nothing() {
    let (shell, field) = (shell(3_000, 8), cooked(Storage::Dense, 64));
    let (mut rng, mut twice) = (Rng(8), Twice::new());
    let query = Query { max_separation: 0.01, ..Query::default() };
    for _ in 0..2_000 {
        let pose = Isometry3::from_parts(Translation3::from(rng.vector() * 0.7), rng.rotation());
        twice.ask("many", only_shell(&shell), &pose, only_field(&field), &Pose::identity(), &query);
    }
    let [remembering, forgetful] = twice.tests;
    assert!(remembering as f64 <= 1.02 * forgetful as f64, "{:?}", twice.tests);
}
