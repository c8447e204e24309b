//! Motion queries over the triangles of both meshes, against exact crossings of triangles at finely sampled times, found
//! again by bisection.

use nalgebra::{Matrix3, Point3};
use rayon::prelude::*;
use support::allocation::allocations;
use support::rng::Rng;
use support::{long, parts};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::impact::{contacts, time_of_impact, touch, Moving, Path, Query};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{Contact, Coverage, Geometry, Roles, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell::field::{MeshField, SignedDistance};
use voxshell::math::{Aabb, Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

const TOLERANCE: f64 = 1e-7;

/// A body of 1 m with few samples and large cells.
struct Body {
    mesh: TriMesh,
    exact: MeshField,
    shape: Shape,
}

impl Body {
    fn new(mesh: &TriMesh) -> Self {
        let mesh = mesh.scaled_to_extent(1.0);
        let shell = ShellOptions { target_count: Some(300), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(24), shell, ..CookOptions::default() };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        Self { exact: MeshField::new(mesh.clone()).unwrap(), shape, mesh }
    }

    fn geometry(&self) -> Geometry<'_> {
        self.shape.geometry_for(Coverage::Edges).unwrap()
    }

    /// Returns φ at a point of the world.
    fn distance(&self, pose: &Pose, p: &Vec3) -> f64 {
        let p = pose.inverse_transform_point(&Point3::from(*p)).coords;
        self.exact.distance((p - self.exact.local_origin(&p)).map(|x| x as f32).into()).into()
    }
}

fn touch_boxes(a: &Aabb, b: &Aabb) -> bool {
    (0..3).all(|i| a.min[i] <= b.max[i] && b.min[i] <= a.max[i])
}

fn bounds(points: &[Vec3]) -> Aabb {
    let mut bounds = Aabb::empty();
    points.iter().for_each(|p| bounds.include(p));
    bounds
}

/// Returns whether an edge of `own` passes through a triangle of `other`, both with placed points, by Cramer's rule on all
/// pairs in the common part of their boxes.
fn pierces((own, own_points): (&TriMesh, &[Vec3]), (other, other_points): (&TriMesh, &[Vec3]), common: &Aabb) -> bool {
    let near: Vec<([Vec3; 3], Aabb)> = other
        .triangles
        .iter()
        .map(|t| t.map(|v| other_points[v as usize]))
        .map(|t| (t, bounds(&t)))
        .filter(|(_, around)| touch_boxes(around, common))
        .collect();
    let through = |p: &Vec3, q: &Vec3, [a, b, c]: &[Vec3; 3]| {
        let inverse = Matrix3::from_columns(&[p - q, b - a, c - a]).try_inverse();
        inverse
            .map(|inverse| inverse * (p - a))
            .is_some_and(|x| (0.0..=1.0).contains(&x[0]) && x[1] >= 0.0 && x[2] >= 0.0 && x[1] + x[2] <= 1.0)
    };
    let edges = own.triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
    edges.filter(|(i, j)| i < j).any(|(i, j)| {
        let (p, q) = (own_points[i as usize], own_points[j as usize]);
        let around = bounds(&[p, q]);
        let is_through = |(t, bounds): &([Vec3; 3], Aabb)| touch_boxes(&around, bounds) && through(&p, &q, t);
        touch_boxes(&around, common) && near.iter().any(is_through)
    })
}

/// Returns whether an edge of either mesh passes through a triangle of the other.
fn cross(a: &TriMesh, pose_a: &Pose, b: &TriMesh, pose_b: &Pose) -> bool {
    let placed = |mesh: &TriMesh, pose: &Pose| -> Vec<Vec3> {
        mesh.vertices.iter().map(|p| (pose * Point3::from(*p)).coords).collect()
    };
    let (of_a, of_b) = (placed(a, pose_a), placed(b, pose_b));
    let (bounds_a, bounds_b) = (bounds(&of_a), bounds(&of_b));
    let common = Aabb { min: bounds_a.min.sup(&bounds_b.min), max: bounds_a.max.inf(&bounds_b.max) };
    touch_boxes(&bounds_a, &bounds_b)
        && (pierces((a, &of_a), (b, &of_b), &common) || pierces((b, &of_b), (a, &of_a), &common))
}

fn cross_at(a: &Body, b: &Body, moving: &[Moving; 2], t: f64) -> bool {
    cross(&a.mesh, &moving[0].pose(t), &b.mesh, &moving[1].pose(t))
}

fn screw() -> Query<'static> {
    Query { path: Path::Screw { tolerance: TOLERANCE }, ..Query::default() }
}

/// Returns a motion of about 5 cm of two bodies that are a little apart or just touch at the start.
fn motion<'a>(a: &'a Body, b: &'a Body, rng: &mut Rng) -> [Moving<'a>; 2] {
    let (rotation, direction) = (rng.rotation(), rng.vector().normalize());
    let at = |along: f64| Pose::from_parts((direction * along).into(), rotation);
    let (mut near, mut far) = (0.0, 2.0);
    for _ in 0..12 {
        let middle = 0.5 * (near + far);
        let is_inside = cross(&a.mesh, &at(middle), &b.mesh, &Pose::identity());
        (near, far) = if is_inside { (middle, far) } else { (near, middle) };
    }
    let from = at(far + 0.02 * rng.fraction());
    let step = |rng: &mut Rng, size: f64| Pose::new(rng.vector() * size, rng.vector() * 0.1);
    let toward = Pose::translation(-0.03 * direction.x, -0.03 * direction.y, -0.03 * direction.z);
    // The pair is placed anywhere, and both bodies move.
    let world = Pose::from_parts((rng.vector() * 5.0).into(), rng.rotation());
    let (move_a, move_b) = (toward * step(rng, 0.02), step(rng, 0.01));
    [
        Moving { geometry: a.geometry(), from: world * from, to: world * move_a * from },
        Moving { geometry: b.geometry(), from: world, to: world * move_b },
    ]
}

/// Checks the first contact of a motion, and returns whether there is one after the start.
fn check(a: &Body, b: &Body, moving: &[Moving; 2], found: &Option<Contact>, samples: u32, name: &str) -> bool {
    let time = found.map_or(1.0, |c| c.toi);
    let mut crossing =
        (0..=samples).map(|k| f64::from(k) / f64::from(samples)).filter(|t| *t < time || found.is_none());
    if let Some(late) = crossing.find(|t| cross_at(a, b, moving, *t)) {
        let (mut before, mut after) = (0.0, late);
        for _ in 0..40 {
            let middle = 0.5 * (before + after);
            (before, after) = if cross_at(a, b, moving, middle) { (before, middle) } else { (middle, after) };
        }
        panic!("{name}: the triangles cross from {after} on, found {found:?}");
    }
    let Some(c) = found else { return false };
    let poses = [moving[0].pose(c.toi), moving[1].pose(c.toi)];
    assert!((c.normal.norm() - 1.0).abs() < 1e-9 && (0.0..=1.0).contains(&c.toi), "{name}: {c:?}");
    if c.feature & FEATURE_OF_EDGE == 0 {
        // A sample of a body inside the other.
        assert!(c.toi == 0.0 && c.separation <= 0.0, "{name}: {c:?}");
        return false;
    }
    // The points are on both surfaces, and as close as the tolerance tells.
    let (on_a, on_b) = (a.distance(&poses[0], &c.point_on_a), b.distance(&poses[1], &c.point_on_b));
    assert!(on_a.abs() < 2e-6 && on_b.abs() < 2e-6, "{name}: {on_a} and {on_b} of {c:?}");
    assert!(c.separation <= TOLERANCE * (1.0 + 1e-9) && c.separation >= 0.0, "{name}: {c:?}");
    assert!((c.point_on_b - c.point_on_a).norm() <= TOLERANCE + 1e-9, "{name}: {c:?}");
    c.toi > 0.0
}

#[test]
fn no_contact_of_bodies_in_motion_is_missed() {
    let (pairs, motions, samples) = if long() { (1_000, 100, 100) } else { (40, 25, 8) };
    let counts: Vec<[usize; 2]> = (0..pairs)
        .into_par_iter()
        .map(|seed| {
            let mut rng = Rng(seed + 11);
            let (a, b) = (Body::new(&parts::body(&mut rng)), Body::new(&parts::body(&mut rng)));
            let mut workspace = Workspace::new();
            let (mut later, mut missed_by_samples) = (0, 0);
            for n in 0..motions {
                let moving = motion(&a, &b, &mut rng);
                let name = format!("pair {seed}, motion {n}");
                let found = time_of_impact(&moving[0], &moving[1], &screw(), &mut workspace).unwrap();
                assert!(found.is_none() || workspace.stats().edge_tests + workspace.stats().sample_tests > 0);
                later += usize::from(check(&a, &b, &moving, &found, samples, &name));
                assert_eq!(touch(&moving[0], &moving[1], &screw(), &mut workspace).unwrap(), found.is_some());
                let sampled = Query { coverage: Coverage::Samples, ..screw() };
                let sampled = time_of_impact(&moving[0], &moving[1], &sampled, &mut workspace).unwrap();
                missed_by_samples += usize::from(found.is_some() && sampled.is_none());
            }
            [later, missed_by_samples]
        })
        .collect();
    let sum = |i: usize| counts.iter().map(|c| c[i]).sum::<usize>();
    let all = pairs as usize * motions;
    println!("{all} motions, {} with a first contact on the way, {} missed by samples", sum(0), sum(1));
    assert!(sum(0) > all / 4, "{} of {all} touch", sum(0));
    assert!(sum(1) > all / 100, "the motions are too easy: samples miss {}", sum(1));
}

/// Two cubes of 1 m, one above the other, each turned by 45° so that an edge of one meets an edge of the other.
#[test]
fn crossed_edges_touch_at_the_time_of_the_closed_form() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let eighth = std::f64::consts::FRAC_PI_4;
    let mut workspace = Workspace::new();
    for gap in [1e-6, 1e-3, 0.3] {
        let start = Vec3::new(0.123, 2f64.sqrt() + gap, 0.0457);
        let from = Pose::from_parts(start.into(), Rotation::new(Vec3::x() * eighth));
        let to = Pose::from_parts((start - Vec3::y() * 0.5).into(), from.rotation);
        let falls = Moving { geometry: cube.geometry(), from, to };
        let below = Moving::still(cube.geometry(), &Pose::rotation(Vec3::z() * eighth));
        let c = time_of_impact(&falls, &below, &screw(), &mut workspace).unwrap().unwrap();
        assert!((c.toi - 2.0 * gap).abs() < 1e-6, "{gap}: {c:?}");
        assert!((c.normal + Vec3::y()).norm() < 1e-9, "{c:?}");
        assert!((c.point_on_a - Vec3::new(0.0, 0.5f64.sqrt(), 0.0457)).norm() < 1e-6, "{c:?}");
        assert_ne!(c.feature & FEATURE_OF_EDGE, 0);
        // The same with a margin, by as much earlier.
        let margin = Query { max_separation: 0.5 * gap, ..screw() };
        let c = time_of_impact(&falls, &below, &margin, &mut workspace).unwrap().unwrap();
        assert!((c.toi - gap).abs() < 1e-6, "{gap}: {c:?}");
        // The list of contacts begins with it.
        let found = contacts(&falls, &below, &screw(), &mut workspace).unwrap();
        assert!((found[0].contact.toi - 2.0 * gap).abs() < 1e-6 || found[0].contact.toi < 2.0 * gap, "{found:?}");
    }
}

/// Bodies that begin in contact, with the contacts of the start known: parting, they do not touch again.
#[test]
fn known_edges_do_not_end_a_motion() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let eighth = std::f64::consts::FRAC_PI_4;
    let mut workspace = Workspace::new();
    let start = Vec3::new(0.1, 2f64.sqrt() - 1e-4, 0.05);
    let from = Pose::from_parts(start.into(), Rotation::new(Vec3::x() * eighth));
    let to = Pose::from_parts((start + Vec3::y() * 0.1).into(), from.rotation);
    let rises = Moving { geometry: cube.geometry(), from, to };
    let below = Moving::still(cube.geometry(), &Pose::rotation(Vec3::z() * eighth));
    let mut known = Vec::new();
    for round in 0.. {
        assert!(round < 20, "{known:x?}");
        let query = Query { known: &known, ..screw() };
        let Some(c) = time_of_impact(&rises, &below, &query, &mut workspace).unwrap() else { break };
        assert!(c.toi == 0.0 && c.feature & FEATURE_OF_EDGE != 0 && !known.contains(&c.feature), "{c:?}");
        known.push(c.feature);
        known.sort_unstable();
    }
    assert!(!known.is_empty());
    // Another edge still ends the motion: a small cube from the side.
    let small = cube.shape.scaled(0.2).unwrap();
    let from = Pose::from_parts(Vec3::new(1.2, 0.0, 0.0).into(), Rotation::new(Vec3::new(0.1, 0.2, 0.3)));
    let to = Pose::from_parts(Vec3::new(0.4, 0.0, 0.0).into(), from.rotation);
    let comes = Moving { geometry: small.geometry_for(Coverage::Edges).unwrap(), from, to };
    let query = Query { known: &known, ..screw() };
    assert!(time_of_impact(&comes, &below, &query, &mut workspace).unwrap().is_some());
    // Numbers of edges that no body has are no reason to fail.
    let strange = [FEATURE_OF_EDGE | 1_000_000, FEATURE_OF_EDGE | FEATURE_OF_B | 1_000_000];
    let query = Query { known: &strange, ..screw() };
    assert!(time_of_impact(&comes, &below, &query, &mut workspace).unwrap().is_some());
}

/// No triangles touch where one body is inside the other: the samples of the inner body are in contact at the start, and
/// with automatic roles that is so for either order of the bodies.
#[test]
fn a_body_inside_another_is_in_contact_at_the_start() {
    let large = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let small = Shape::cook(
        &primitives::sphere(0.1, 2).unwrap(),
        &CookOptions {
            resolution: Resolution::Cells(16),
            shell: ShellOptions { target_count: Some(2_000), ..ShellOptions::default() },
            ..CookOptions::default()
        },
        &Progress::none(),
    )
    .unwrap();
    let mut workspace = Workspace::new();
    let inside = Moving {
        geometry: small.geometry_for(Coverage::Edges).unwrap(),
        from: Pose::translation(0.1, 0.0, 0.1),
        to: Pose::translation(0.2, 0.0, 0.1),
    };
    let around = Moving::still(large.geometry(), &Pose::identity());
    for (a, b) in [(&inside, &around), (&around, &inside)] {
        let c = time_of_impact(a, b, &screw(), &mut workspace).unwrap().unwrap();
        assert!(c.toi == 0.0 && c.separation < 0.0 && c.feature & FEATURE_OF_EDGE == 0, "{c:?}");
        let query = voxshell::contact::Query::default();
        let mut discrete = voxshell::contact::Workspace::new();
        let found = voxshell::contact::contacts(a.geometry, &a.from, b.geometry, &b.from, &query, &mut discrete);
        assert!(found.unwrap().first().is_some_and(|c| c.separation < -0.2));
        let least =
            voxshell::contact::distance(a.geometry, &a.from, b.geometry, &b.from, Roles::Auto, 1.0, &mut discrete);
        assert!(least.unwrap().is_some_and(|c| c.separation < -0.2));
    }
}

/// Samples alone answer where the query says so, on straight paths, and below the surface.
#[test]
fn triangles_are_tested_only_where_the_query_says_so() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let mut rng = Rng(9);
    let mut workspace = Workspace::new();
    let mut tests = |query: Query, rng: &mut Rng| {
        let moving = motion(&cube, &cube, rng);
        time_of_impact(&moving[0], &moving[1], &query, &mut workspace).unwrap();
        workspace.stats().edge_tests
    };
    assert!(tests(screw(), &mut rng) > 0);
    assert!(tests(Query { coverage: Coverage::Facets, ..screw() }, &mut rng) > 0);
    assert_eq!(tests(Query { coverage: Coverage::Samples, ..screw() }, &mut rng), 0);
    assert_eq!(tests(Query { max_separation: -1e-3, ..screw() }, &mut rng), 0);
    assert_eq!(tests(Query::default(), &mut rng), 0);
}

#[test]
fn warm_motion_queries_of_triangles_do_not_allocate() {
    let mut rng = Rng(5);
    let (a, b) = (Body::new(&parts::body(&mut rng)), Body::new(&parts::body(&mut rng)));
    let motions: Vec<[Moving; 2]> = (0..20).map(|_| motion(&a, &b, &mut rng)).collect();
    let mut workspace = Workspace::new();
    let mut run = || {
        let found = motions.iter().filter(|[a, b]| {
            contacts(a, b, &screw(), &mut workspace).unwrap();
            time_of_impact(a, b, &screw(), &mut workspace).unwrap().is_some()
        });
        found.count()
    };
    let found = run();
    assert!(found > 0);
    assert_eq!(allocations(|| assert_eq!(run(), found)), 0);
}
