//! Queries of hierarchies of hulls against all pairs of triangles.

use nalgebra::{Isometry3, Translation3};
use support::allocation::allocations;
use support::parts::{body, Part};
use support::rng::Rng;
use voxshell::contact::{hull_contacts, hull_distance, HullQuery, HullWorkspace};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::simplify::{HullHierarchy, SimplifyOptions};
use voxshell::mesh::{primitives, Bvh, TriMesh};

const EXACT: HullQuery = HullQuery { max_separation: f64::INFINITY, tolerance: 0.0 };

fn hierarchy(mesh: &TriMesh) -> HullHierarchy {
    HullHierarchy::build(mesh, &SimplifyOptions::default(), &Progress::none()).unwrap()
}

fn corners(mesh: &TriMesh, pose: &Pose) -> Vec<[Vec3; 3]> {
    (0..mesh.triangles.len())
        .map(|t| mesh.corners(t).map(|p| (pose * nalgebra::Point3::from(Vec3::from(p))).coords))
        .collect()
}

/// Closest points of two segments by alternating projections from 16 starts, and the ends: slow and independent.
fn segments(p: [Vec3; 2], q: [Vec3; 2]) -> f64 {
    let on = |s: &[Vec3; 2], x: &Vec3| {
        let d = s[1] - s[0];
        let t = if d.norm_squared() > 0.0 { ((x - s[0]).dot(&d) / d.norm_squared()).clamp(0.0, 1.0) } else { 0.0 };
        s[0] + d * t
    };
    let mut best = f64::INFINITY;
    for x in p {
        best = best.min((on(&q, &x) - x).norm());
    }
    for x in q {
        best = best.min((on(&p, &x) - x).norm());
    }
    // The common perpendicular, if it meets both inside.
    let (d, e) = (p[1] - p[0], q[1] - q[0]);
    let n = d.cross(&e);
    if n.norm_squared() > 0.0 {
        let r = q[0] - p[0];
        let (s, t) = (r.cross(&e).dot(&n) / n.norm_squared(), r.cross(&d).dot(&n) / n.norm_squared());
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            best = best.min((p[0] + d * s - q[0] - e * t).norm());
        }
    }
    best
}

/// The distance of two triangles; 0 if an edge of one passes through the other.
fn distance(t: &[Vec3; 3], u: &[Vec3; 3]) -> f64 {
    let mut best = f64::INFINITY;
    for i in 0..3 {
        for j in 0..3 {
            best = best.min(segments([t[i], t[(i + 1) % 3]], [u[j], u[(j + 1) % 3]]));
        }
    }
    for (a, b) in [(t, u), (u, t)] {
        let n = (b[1] - b[0]).cross(&(b[2] - b[0]));
        let over = |p: &Vec3| (0..3).all(|i| (b[(i + 1) % 3] - b[i]).cross(&(p - b[i])).dot(&n) >= 0.0);
        for i in 0..3 {
            let h = [a[i], a[(i + 1) % 3]].map(|p| (p - b[0]).dot(&n));
            if n.norm() > 0.0 && over(&a[i]) {
                best = best.min(h[0].abs() / n.norm());
            }
            if h[0] * h[1] < 0.0 && over(&(a[i] + (a[(i + 1) % 3] - a[i]) * (h[0] / (h[0] - h[1])))) {
                return 0.0;
            }
        }
    }
    best
}

/// The smallest distance of all pairs of triangles; boxes leave out those that are farther apart than the best so far.
fn brute_force(a: &[[Vec3; 3]], b: &[[Vec3; 3]]) -> f64 {
    let bounds = |t: &[Vec3; 3]| (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
    let boxes: Vec<_> = b.iter().map(bounds).collect();
    let mut best = f64::INFINITY;
    for t in a {
        let (low, high) = bounds(t);
        for (u, (lower, upper)) in b.iter().zip(&boxes) {
            let gap = (lower - high).sup(&(low - upper)).sup(&Vec3::zeros());
            if gap.norm() < best {
                best = best.min(distance(t, u));
            }
        }
    }
    best
}

struct Scene {
    name: String,
    mesh: TriMesh,
    hulls: HullHierarchy,
}

fn scenes() -> Vec<Scene> {
    let mut rng = Rng(3);
    let mut meshes = vec![
        ("cube".to_string(), primitives::cuboid([0.5, 0.3, 0.2]).unwrap()),
        ("sphere".into(), primitives::sphere(0.5, 2).unwrap()),
        ("torus".into(), primitives::torus(0.35, 0.12, 24, 12).unwrap()),
        ("gear".into(), primitives::gear(9, 0.5, 0.4, 0.2, 0.15).unwrap()),
        ("bowl".into(), primitives::bowl(0.5, 0.05, 16).unwrap()),
        ("plate with a hole".into(), primitives::hole([0.4, 0.1, 0.4], 0.2, 16).unwrap()),
    ];
    meshes.extend((0..4).map(|i| (format!("body {i}"), body(&mut rng))));
    meshes.extend((0..4).map(|i| (format!("part {i}"), Part::new(i).mesh)));
    meshes.into_iter().map(|(name, mesh)| Scene { name, hulls: hierarchy(&mesh), mesh }).collect()
}

fn random_pose(rng: &mut Rng, reach: f64) -> Pose {
    Isometry3::from_parts(Translation3::from(rng.vector() * reach), rng.rotation())
}

/// A pose at which B is beside A along a vector, or in a hollow of it; axes aligned in a third of the cases.
fn adversarial_pose(rng: &mut Rng) -> Pose {
    let turn = if rng.next() % 3 == 0 { Default::default() } else { rng.rotation() };
    let at = match rng.next() % 4 {
        0 => Vec3::zeros(),
        1 => Vec3::y() * rng.unit(),
        2 => rng.vector().normalize() * (0.8 + 0.2 * rng.fraction()),
        _ => rng.vector() * 0.3,
    };
    Isometry3::from_parts(Translation3::from(at), turn)
}

/// The poses of pair `n` of the tests that draw two of 14 bodies and then two poses.
fn drawn_poses(seed: u64, reach: f64, n: usize) -> [Pose; 2] {
    let mut rng = Rng(seed);
    let mut draw = || {
        let _bodies = [rng.next(), rng.next()];
        [random_pose(&mut rng, reach), random_pose(&mut rng, reach)]
    };
    (0..n).for_each(|_| {
        draw();
    });
    draw()
}

#[test]
fn with_tolerance_zero_the_distance_is_that_of_all_triangles() {
    let (scenes, mut rng) = (scenes(), Rng(17));
    let mut workspace = HullWorkspace::new();
    let poses = if support::long() { 100_000 } else { 200 };
    let (mut zero, mut within) = (0, 0);
    for n in 0..poses {
        let (a, b) = (&scenes[(rng.next() % 14) as usize], &scenes[(rng.next() % 14) as usize]);
        let pose_a = random_pose(&mut rng, 2.0);
        let relative = if n % 2 == 0 { random_pose(&mut rng, 1.6) } else { adversarial_pose(&mut rng) };
        let pose_b = pose_a * relative;
        let expected = brute_force(&corners(&a.mesh, &pose_a), &corners(&b.mesh, &pose_b));
        let found = hull_distance([(&a.hulls, &pose_a), (&b.hulls, &pose_b)], &EXACT, &mut workspace).unwrap();
        let (found, points) = found.unwrap();
        let error = (found - expected).abs();
        assert!(error < 1e-10, "{} {} pose {n}: {found} is {expected}", a.name, b.name);
        assert!(((points[1] - points[0]).norm() - found).abs() < 1e-10, "{} {} pose {n}", a.name, b.name);
        for (mesh, pose, p) in [(&a.mesh, &pose_a, points[0]), (&b.mesh, &pose_b, points[1])] {
            let local = pose.inverse_transform_point(&p.into()).coords;
            let off = Bvh::build(mesh).closest_point(local).distance_squared.sqrt();
            assert!(off < 1e-9, "{} {} pose {n}: the point is {off} off its surface", a.name, b.name);
        }
        zero += usize::from(expected == 0.0);
        within += usize::from(expected > 0.0 && relative.translation.vector.norm() < 0.3);
    }
    assert!(zero > poses / 20 && zero < 9 * poses / 10 && within > 0, "{zero} {within} of {poses}");
}

#[test]
fn contacts_of_separated_bodies_have_the_smallest_distance_first() {
    let (scenes, mut rng) = (scenes(), Rng(23));
    let mut workspace = HullWorkspace::new();
    let mut seen = 0;
    for n in 0..(if support::long() { 20_000 } else { 200 }) {
        let (a, b) = (&scenes[(rng.next() % 14) as usize], &scenes[(rng.next() % 14) as usize]);
        let (pose_a, pose_b) = (random_pose(&mut rng, 1.0), random_pose(&mut rng, 1.0));
        let bodies = [(&a.hulls, &pose_a), (&b.hulls, &pose_b)];
        let Some((expected, _)) = hull_distance(bodies, &EXACT, &mut workspace).unwrap() else { panic!("{n}") };
        if expected == 0.0 {
            continue;
        }
        let inside = |one: &Scene, pose: &Pose, other: &Scene, at: &Pose| {
            let p = at * nalgebra::Point3::from(Vec3::from(other.mesh.corners(0)[0]));
            Bvh::build(&one.mesh).winding_number(pose.inverse_transform_point(&p).coords).abs() > 0.5
        };
        if inside(a, &pose_a, b, &pose_b) || inside(b, &pose_b, a, &pose_a) {
            continue;
        }
        seen += 1;
        let query = HullQuery { max_separation: expected * 1.05 + 1e-6, tolerance: 0.0 };
        let contacts = hull_contacts(bodies, &query, &mut workspace).unwrap();
        let first = contacts.first().unwrap_or_else(|| panic!("{} {} {n}: no contact", a.name, b.name));
        assert!((first.separation - expected).abs() < 1e-10, "{} {} {n}: {first:?} {expected}", a.name, b.name);
        for c in contacts {
            let across = c.point_on_b - c.point_on_a;
            let is_along = (across - c.normal * c.separation).norm() < 1e-9;
            let is_unit = (c.normal.norm() - 1.0).abs() < 1e-12;
            let is_near = c.separation <= query.max_separation;
            assert!(is_along && is_unit && is_near, "{} {} {n} within {}: {c:?}", a.name, b.name, query.max_separation);
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn depth_of_a_box_in_a_plate_is_that_of_its_lowest_corner() {
    let (plate, cube) =
        (hierarchy(&primitives::cuboid([2.0, 0.5, 2.0]).unwrap()), hierarchy(&primitives::cuboid([0.1; 3]).unwrap()));
    let (mut rng, mut workspace) = (Rng(4), HullWorkspace::new());
    for _ in 0..200 {
        let turn = rng.rotation();
        let lowest = (turn.to_rotation_matrix().into_inner().row(1).abs() * 0.1).sum();
        let depth = 0.05 * rng.fraction();
        let at = Vec3::new(rng.unit(), 0.5 + lowest - depth, rng.unit());
        let pose = Isometry3::from_parts(Translation3::from(at), turn);
        let query = HullQuery { max_separation: 0.0, tolerance: 0.0 };
        let found = hull_contacts([(&cube, &pose), (&plate, &Pose::identity())], &query, &mut workspace).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0].separation + depth).abs() < 1e-9, "{} {depth}", found[0].separation);
        assert!((found[0].normal + Vec3::y()).norm() < 1e-9);
    }
}

/// The lowest corners of the box are below its own edges, where the winding number of the box is a quarter.
#[test]
fn depth_of_a_box_flat_in_a_plate_is_that_of_its_face() {
    let (plate, cube) =
        (hierarchy(&primitives::cuboid([1.0, 0.1, 1.0]).unwrap()), hierarchy(&primitives::cuboid([0.1; 3]).unwrap()));
    let mut workspace = HullWorkspace::new();
    for step in 0..50 {
        let depth = 0.001 * f64::from(step + 1);
        let pose = Pose::translation(0.3, 0.2 - depth, -0.4);
        let query = HullQuery { max_separation: 0.0, tolerance: 0.0 };
        let found = hull_contacts([(&cube, &pose), (&plate, &Pose::identity())], &query, &mut workspace).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0].separation + depth).abs() < 1e-11, "{} {depth}", found[0].separation);
        assert!((found[0].normal + Vec3::y()).norm() < 1e-12);
    }
}

/// Neither body has a corner in the other.
#[test]
fn depth_of_crossed_bars_is_that_of_their_faces() {
    let bar = |sizes| hierarchy(&primitives::cuboid(sizes).unwrap());
    let (along, across) = (bar([1.0, 0.1, 0.1]), bar([0.1, 0.1, 1.0]));
    let mut workspace = HullWorkspace::new();
    for step in 0..50 {
        let depth = 0.001 * f64::from(step + 1);
        let pose = Pose::translation(0.013 * f64::from(step - 25), 0.2 - depth, 0.0);
        let query = HullQuery { max_separation: 0.0, tolerance: 0.0 };
        for turned in [false, true] {
            let bodies = [(&along, &Pose::identity()), (&across, &pose)];
            let bodies = if turned { [bodies[1], bodies[0]] } else { bodies };
            let found = hull_contacts(bodies, &query, &mut workspace).unwrap();
            assert_eq!(found.len(), 1, "{depth}");
            let normal = if turned { -Vec3::y() } else { Vec3::y() };
            assert!((found[0].separation + depth).abs() < 1e-11, "{} {depth}", found[0].separation);
            assert!((found[0].normal - normal).norm() < 1e-12, "{:?}", found[0].normal);
            let off = found[0].point_on_a - Vec3::new(pose.translation.x, 0.0, 0.0);
            assert!(off.x.abs() < 0.1 + 1e-6 && off.z.abs() < 0.1 + 1e-6, "{off:?}");
        }
    }
}

/// Scanned and exported meshes often have the wrong orientation.
#[test]
fn a_mesh_that_faces_inward_has_the_same_contacts() {
    let (mesh, mut rng) = (primitives::gear(9, 0.5, 0.4, 0.2, 0.15).unwrap(), Rng(5));
    let mut turned = mesh.clone();
    turned.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let (straight, turned) = (hierarchy(&mesh), hierarchy(&turned));
    let cube = hierarchy(&primitives::cuboid([0.1; 3]).unwrap());
    let query = HullQuery { max_separation: 0.0, tolerance: 0.0 };
    let (mut workspace, mut deep) = (HullWorkspace::new(), 0);
    for _ in 0..100 {
        let pose = random_pose(&mut rng, 0.5);
        let mut deepest = |h: &HullHierarchy| {
            let found = hull_contacts([(&cube, &pose), (h, &Pose::identity())], &query, &mut workspace).unwrap();
            found.first().map(|c| c.separation)
        };
        let (first, second) = (deepest(&straight), deepest(&turned));
        assert_eq!(first.is_some(), second.is_some());
        if let (Some(first), Some(second)) = (first, second) {
            assert!((first - second).abs() < 1e-9, "{first} {second}");
            deep += usize::from(first < -1e-3);
        }
    }
    assert!(deep > 10, "{deep}");
}

/// Contacts of the exact surfaces that a coarse level has not.
#[test]
fn a_tolerance_loses_no_contact() {
    let (scenes, mut rng) = (scenes(), Rng(41));
    let mut workspace = HullWorkspace::new();
    let (mut seen, mut saved) = (0, 0);
    for n in 0..(if support::long() { 100_000 } else { 200 }) {
        let (a, b) = (&scenes[(rng.next() % 14) as usize], &scenes[(rng.next() % 14) as usize]);
        let (pose_a, pose_b) = (random_pose(&mut rng, 0.4), random_pose(&mut rng, 0.4));
        let bodies = [(&a.hulls, &pose_a), (&b.hulls, &pose_b)];
        let exact = HullQuery { max_separation: 0.0, tolerance: 0.0 };
        if hull_contacts(bodies, &exact, &mut workspace).unwrap().is_empty() {
            continue;
        }
        let work = workspace.stats().pairs;
        seen += 1;
        for tolerance in [0.001, 0.004, 0.1] {
            let query = HullQuery { max_separation: 0.0, tolerance };
            let found = hull_contacts(bodies, &query, &mut workspace).unwrap();
            assert!(!found.is_empty(), "{} {} pose {n} with {tolerance}", a.name, b.name);
            saved += usize::from(workspace.stats().pairs < work);
        }
    }
    assert!(seen > 40 && saved > 10, "{seen} {saved}");
}

/// The tolerance stops at a coarse hull of one body and a piece of the other that must be decided by triangles, which only
/// pieces have.
#[test]
fn a_coarse_hull_beside_a_finest_piece_loses_no_contact() {
    let plate = hierarchy(&primitives::hole([0.4, 0.1, 0.4], 0.2, 16).unwrap());
    let bowl = hierarchy(&primitives::bowl(0.5, 0.05, 16).unwrap());
    let [pose_a, pose_b] = drawn_poses(41, 0.4, 1063);
    let bodies = [(&plate, &pose_a), (&bowl, &pose_b)];
    let mut workspace = HullWorkspace::new();
    for bodies in [bodies, [bodies[1], bodies[0]]] {
        for tolerance in [0.0, 0.001, 0.004, 0.1] {
            let query = HullQuery { max_separation: 0.0, tolerance };
            assert!(!hull_contacts(bodies, &query, &mut workspace).unwrap().is_empty(), "{tolerance}");
            let query = HullQuery { max_separation: f64::INFINITY, tolerance };
            assert!(hull_distance(bodies, &query, &mut workspace).unwrap().is_some(), "{tolerance}");
        }
    }
}

/// At 37 µm the difference of the contact's points has too few digits for a unit normal.
#[test]
fn normals_of_close_bodies_have_unit_length() {
    let (torus, part) = (hierarchy(&primitives::torus(0.35, 0.12, 24, 12).unwrap()), hierarchy(&Part::new(1).mesh));
    let [pose_a, pose_b] = drawn_poses(23, 1.0, 11_416);
    let query = HullQuery { max_separation: 4e-5, tolerance: 0.0 };
    let mut workspace = HullWorkspace::new();
    let contacts = hull_contacts([(&torus, &pose_a), (&part, &pose_b)], &query, &mut workspace).unwrap();
    assert!(!contacts.is_empty());
    for c in contacts {
        assert!((c.normal.norm() - 1.0).abs() < 1e-14, "{c:?}");
        assert!((c.point_on_b - c.point_on_a).dot(&c.normal) > 0.999 * c.separation, "{c:?}");
    }
}

#[test]
fn a_ball_in_the_hole_of_a_plate_has_no_contact() {
    let plate = hierarchy(&primitives::hole([0.4, 0.1, 0.4], 0.2, 16).unwrap());
    let ball = hierarchy(&primitives::sphere(0.1, 2).unwrap());
    let query = HullQuery { max_separation: 0.01, tolerance: 0.0 };
    let mut workspace = HullWorkspace::new();
    for axis in 0..3 {
        let mut at = Vec3::zeros();
        at[axis] = 0.02;
        let pose = Isometry3::from_parts(Translation3::from(at), Default::default());
        let found = hull_contacts([(&ball, &pose), (&plate, &Pose::identity())], &query, &mut workspace).unwrap();
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Error of the distance within the deviations of the levels, and fewer pairs of hulls the larger the tolerance.
#[test]
fn a_tolerance_saves_work_and_keeps_the_error_within_the_deviations() {
    let mesh = primitives::blob(0).unwrap();
    let h = hierarchy(&mesh);
    let most = h.levels[..h.surfaces.len()].iter().map(|l| l.deviation).fold(0.0, f64::max);
    let (mut rng, mut workspace) = (Rng(8), HullWorkspace::new());
    let mut work = [0; 3];
    for _ in 0..60 {
        let pose = Isometry3::from_parts(Translation3::from(rng.vector().normalize() * 1.1), rng.rotation());
        let bodies = [(&h, &Pose::identity()), (&h, &pose)];
        let Some((exact, _)) = hull_distance(bodies, &EXACT, &mut workspace).unwrap() else { panic!() };
        for (k, tolerance) in [0.0, 0.004, 0.025].into_iter().enumerate() {
            let query = HullQuery { max_separation: 0.01, tolerance };
            hull_contacts(bodies, &query, &mut workspace).unwrap();
            work[k] += workspace.stats().distances;
            let query = HullQuery { max_separation: f64::INFINITY, tolerance };
            let Some((found, _)) = hull_distance(bodies, &query, &mut workspace).unwrap() else { panic!() };
            assert!((found - exact).abs() <= 2.0 * most + 1e-9, "{tolerance}: {found} {exact} {most}");
        }
    }
    println!("distances of hulls with tolerances 0, 0.4%, 2.5%: {work:?}");
    assert!(work[2] < work[0] && work[1] <= work[0], "{work:?}");
}

#[test]
fn warm_queries_of_hulls_do_not_allocate_and_forget_nothing_wrongly() {
    let (a, b) = (hierarchy(&primitives::blob(0).unwrap()), hierarchy(&primitives::torus(0.35, 0.12, 24, 12).unwrap()));
    let mut rng = Rng(2);
    let poses: Vec<Pose> = (0..30).map(|_| random_pose(&mut rng, 1.0)).collect();
    let query = HullQuery { max_separation: 0.02, tolerance: 0.001 };
    let mut warm = HullWorkspace::new();
    let run = |pose: &Pose, w: &mut HullWorkspace| {
        let bodies = [(&a, &Pose::identity()), (&b, pose)];
        hull_contacts(bodies, &query, w).unwrap();
        hull_distance(bodies, &EXACT, w).unwrap()
    };
    poses.iter().for_each(|p| {
        let _ = run(p, &mut warm);
    });
    let count = allocations(|| {
        poses.iter().for_each(|p| {
            let _ = run(p, &mut warm);
        })
    });
    assert_eq!(count, 0);
    for p in &poses {
        let mut cold = HullWorkspace::new();
        let (x, y) = (run(p, &mut warm), run(p, &mut cold));
        assert_eq!(format!("{x:?}"), format!("{y:?}"));
        let bodies = [(&a, &Pose::identity()), (&b, p)];
        let x = format!("{:?}", hull_contacts(bodies, &query, &mut warm).unwrap());
        assert_eq!(x, format!("{:?}", hull_contacts(bodies, &query, &mut cold).unwrap()));
    }
}

#[test]
fn same_bytes_on_threads_and_on_every_simd_path() {
    let (a, b) =
        (hierarchy(&primitives::blob(0).unwrap()), hierarchy(&primitives::gear(9, 0.5, 0.4, 0.2, 0.15).unwrap()));
    let run = || {
        let (mut rng, mut workspace) = (Rng(31), HullWorkspace::new());
        let query = HullQuery { max_separation: 0.05, tolerance: 0.002 };
        let each = (0..40).map(|_| {
            let pose = random_pose(&mut rng, 0.8);
            let bodies = [(&a, &Pose::identity()), (&b, &pose)];
            let contacts = format!("{:?}", hull_contacts(bodies, &query, &mut workspace).unwrap());
            format!("{contacts} {:?}", hull_distance(bodies, &EXACT, &mut workspace).unwrap())
        });
        each.collect::<Vec<String>>()
    };
    let first = run();
    assert!(first.iter().filter(|answer| answer.contains("Contact")).count() > 5);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(run)).collect();
        threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), first));
    });
    voxshell::field::force_baseline(true);
    let baseline = run();
    voxshell::field::force_baseline(false);
    assert_eq!(baseline, first);
}

#[test]
fn queries_of_hulls_out_of_range_are_refused() {
    let h = hierarchy(&primitives::cuboid([0.5; 3]).unwrap());
    let one = Pose::identity();
    let mut workspace = HullWorkspace::new();
    for (max_separation, tolerance) in
        [(-1.0, 0.0), (f64::NAN, 0.0), (f64::INFINITY, 0.0), (0.0, -1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)]
    {
        let query = HullQuery { max_separation, tolerance };
        assert!(hull_contacts([(&h, &one), (&h, &one)], &query, &mut workspace).is_err(), "{query:?}");
    }
    let far = Pose::translation(f64::NAN, 0.0, 0.0);
    assert!(hull_distance([(&h, &one), (&h, &far)], &EXACT, &mut workspace).is_err());
}
