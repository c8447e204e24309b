//! Triangles, barycentric coordinates and materials of contacts, against brute force over all triangles.

use nalgebra::{Isometry3, Translation3};
use support::allocation::allocations;
use support::parts;
use support::rng::Rng;
use support::soup::{joined, turned};
use voxshell::asset::{contact_triangles, CookOptions, Resolution, Shape, TrianglePoint};
use voxshell::ccd::impact::{self, Moving};
use voxshell::ccd::shell;
use voxshell::contact::{contacts, contacts_of, distance, Contact, Coverage, Query, Roles, Workspace};
use voxshell::field::{Cuboid, Field};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::Error;

/// Distances that differ by less than this fraction of the extent are equal: the promise of `Shape::triangle_at`.
const EQUAL: f64 = 1.0 / (1 << 22) as f64;

fn cook(mesh: &TriMesh) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(32),
        shell: ShellOptions { target_count: Some(400), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
    let count = mesh.triangles.len() as u32;
    shape.with_materials((0..count).map(|t| 1000 + 7 * t).collect()).unwrap()
}

/// Returns the point of a triangle closest to `p`, by trying the foot in its plane and on each of its edges.
fn closest(t: &[Vec3; 3], p: &Vec3) -> Vec3 {
    let mut candidates = t.to_vec();
    for i in 0..3 {
        let (a, b) = (t[i], t[(i + 1) % 3]);
        let along = (p - a).dot(&(b - a)) / (b - a).norm_squared();
        if (0.0..=1.0).contains(&along) {
            candidates.push(a + (b - a) * along);
        }
    }
    let normal = (t[1] - t[0]).cross(&(t[2] - t[0]));
    if normal.norm() > 0.0 {
        let n = normal.normalize();
        let foot = p - n * n.dot(&(p - t[0]));
        if (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(foot - t[i])).dot(&n) >= 0.0) {
            candidates.push(foot);
        }
    }
    candidates.into_iter().min_by(|a, b| (a - p).norm().total_cmp(&(b - p).norm())).unwrap()
}

/// Checks an answer against all triangles; returns whether several of them were equally close.
fn check(mesh: &TriMesh, p: Vec3, outward: &Vec3, found: &TrianglePoint) -> bool {
    let extent = mesh.bounds().extents().max();
    let all: Vec<[Vec3; 3]> = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(Vec3::from)).collect();
    let distances: Vec<f64> = all.iter().map(|t| (closest(t, &p) - p).norm()).collect();
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let facing = |t: &[Vec3; 3]| {
        let n = (t[1] - t[0]).cross(&(t[2] - t[0]));
        n.try_normalize(0.0).map_or(-2.0, |n| n.dot(outward))
    };
    let within = |slack: f64| {
        let near = |&t: &usize| distances[t] <= least + slack * EQUAL * extent;
        (0..all.len()).filter(near).collect::<Vec<_>>()
    };
    let t = found.triangle as usize;
    assert!(within(1.001).contains(&t), "triangle {t} is not the closest");
    let best = within(0.999).iter().map(|&t| facing(&all[t])).fold(f64::NEG_INFINITY, f64::max);
    assert!(facing(&all[t]) >= best - 1.01e-6, "another triangle faces the normal better");
    // Of triangles that face it equally, the lowest number.
    let most = within(1.001).iter().map(|&t| facing(&all[t])).fold(f64::NEG_INFINITY, f64::max);
    if let Some(lowest) = within(0.999).into_iter().find(|&t| facing(&all[t]) >= most - 0.99e-6) {
        assert!(t <= lowest, "triangle {lowest} has a lower number than {t}");
    }
    assert_eq!(found.material, Some(1000 + 7 * found.triangle));
    let [u, v, w] = found.barycentric;
    assert!([u, v, w].iter().all(|x| (0.0..=1.0).contains(x)) && (u + v + w - 1.0).abs() < 1e-12, "{u} {v} {w}");
    let point = all[t][0] * u + all[t][1] * v + all[t][2] * w;
    let error = (point - closest(&all[t], &p)).norm();
    assert!(error <= 1e-9 * extent, "the barycentric coordinates are {error} m off");
    within(1.0).len() > 1
}

/// Checks both triangles of a contact; returns the number of bodies with several equally close ones.
fn check_contact(a: (&Shape, &Pose), b: (&Shape, &Pose), contact: &Contact) -> u32 {
    let found = contact_triangles(a, b, contact).unwrap();
    let on = |(shape, pose): (&Shape, &Pose), point: Vec3, outward: Vec3, found: Option<TrianglePoint>| {
        let (p, n) = (pose.inverse() * nalgebra::Point3::from(point), pose.rotation.inverse() * outward);
        u32::from(check(shape.mesh.as_deref().unwrap(), p.coords, &n, &found.unwrap()))
    };
    on(a, contact.point_on_a, contact.normal, found.on_a) + on(b, contact.point_on_b, -contact.normal, found.on_b)
}

/// Returns a random body with some triangles repeated.
fn random_mesh(rng: &mut Rng) -> TriMesh {
    let mut mesh = parts::body(rng);
    for _ in 0..4 {
        let t = rng.next() as usize % mesh.triangles.len();
        mesh.triangles.push(mesh.triangles[t]);
    }
    mesh
}

#[test]
fn every_query_tells_the_triangles_of_brute_force() {
    let (mut checked, mut ties, mut moving_checked) = (0, 0, 0);
    let mut workspace = Workspace::new();
    for seed in 0..12 {
        let mut rng = Rng(seed);
        let (a, b) = (cook(&random_mesh(&mut rng)), cook(&random_mesh(&mut rng)));
        for _ in 0..8 {
            let pose = |rng: &mut Rng| Isometry3::from_parts(Translation3::from(rng.vector() * 0.3), rng.rotation());
            let (pose_a, pose_b) = (pose(&mut rng), pose(&mut rng));
            let (at_a, at_b) = ((&a, &pose_a), (&b, &pose_b));
            let with_edges = (a.geometry_for(Coverage::Edges).unwrap(), b.geometry_for(Coverage::Edges).unwrap());
            let query = Query { roles: Roles::Both, max_separation: 0.02, max_contacts: 20, ..Query::default() };
            let found =
                contacts(with_edges.0, &pose_a, with_edges.1, &pose_b, &query, &mut workspace).unwrap().to_vec();
            for contact in &found {
                ties += check_contact(at_a, at_b, contact);
                checked += 1;
            }
            let closest = distance(a.geometry(), &pose_a, b.geometry(), &pose_b, Roles::Both, 9.0, &mut workspace);
            check_contact(at_a, at_b, &closest.unwrap().unwrap());
            contacts_of(a.geometry(), &pose_a, b.geometry(), &pose_b, &[0, 5, 1 << 31], |_, contact| {
                check_contact(at_a, at_b, &contact);
            })
            .unwrap();

            // Bodies in motion, at the poses of each contact's time.
            let away = Isometry3::from_parts(Translation3::from(rng.vector() * 1.5), rng.rotation());
            let moving = Moving { geometry: a.geometry(), from: away, to: pose_a };
            let still = Moving::still(b.geometry(), &pose_b);
            let mut scratch = shell::Workspace::new();
            let collisions = impact::contacts(&moving, &still, &impact::Query::default(), &mut scratch).unwrap();
            for collision in collisions.iter().take(10) {
                check_contact((&a, &moving.pose(collision.contact.toi)), at_b, &collision.contact);
                moving_checked += 1;
            }
        }
    }
    assert!(checked > 500 && ties > 100 && moving_checked > 100, "{checked} {ties} {moving_checked}");
}

#[test]
fn equal_distances_are_decided_by_normal_then_number() {
    let cube = primitives::cuboid([0.5; 3]).unwrap();
    // All triangles twice: the second copies have the higher numbers.
    let count = cube.triangles.len() as u32;
    let shape = cook(&joined(&[cube.clone(), cube.clone()]));
    let corner = Vec3::new(0.5, 0.5, 0.5);
    for axis in 0..3 {
        let mut normal = Vec3::from_element(0.1);
        normal[axis] = 1.0;
        let found = shape.triangle_at(corner, &normal.normalize()).unwrap().unwrap();
        assert!(cube.corners(found.triangle as usize).iter().all(|c| c[axis] == 0.5), "axis {axis}: {found:?}");
        assert!(found.triangle < count);
        assert_eq!(found.barycentric.iter().filter(|&&w| w == 1.0).count(), 1);
    }
    // Two triangles of a face on its diagonal: the lower number.
    let on_face: Vec<u32> = (0..count).filter(|&t| cube.corners(t as usize).iter().all(|c| c[1] == 0.5)).collect();
    let found = shape.triangle_at(Vec3::new(0.0, 0.6, 0.0), &Vec3::y()).unwrap().unwrap();
    assert_eq!(Some(&found.triangle), on_face.first());
    assert!(found.barycentric.iter().filter(|w| (**w - 0.5).abs() < 1e-15).count() == 2, "{found:?}");
}

#[test]
fn a_sheet_is_seen_from_both_sides() {
    // A folded sheet of two triangles at a right angle, the first with its back to the outer side.
    let vertices = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.5], [0.0, 1.0, 0.5]];
    let mesh = TriMesh::new(vertices, vec![[0, 1, 3], [0, 1, 2]]).unwrap();
    let sheet = Shape::from_sheet(mesh.clone(), 0.1).unwrap();
    let edge = Vec3::new(0.0, 0.0, 0.5);
    for (normal, expected) in [(Vec3::x(), 0), (-Vec3::x(), 0), (Vec3::y(), 1), (-Vec3::y(), 1)] {
        assert_eq!(sheet.triangle_at(edge, &normal).unwrap().unwrap().triangle, expected, "{normal:?}");
    }
    // A solid has one outer side.
    let solid = cook(&primitives::cuboid([0.5; 3]).unwrap());
    let found = |n: Vec3| solid.triangle_at(Vec3::new(0.5, 0.5, 0.1), &n).unwrap().unwrap().triangle as usize;
    let faces_x = |t: usize| solid.mesh.as_ref().unwrap().corners(t).iter().all(|c| c[0] == 0.5);
    assert!(faces_x(found(Vec3::new(0.8, 0.6, 0.0))));
    assert!(!faces_x(found(Vec3::new(-0.8, -0.6, 0.0))));
}

#[test]
fn bodies_without_a_mesh_have_no_triangles() {
    let ground = Shape::from_field(Field::Cuboid(Cuboid::new([0.5; 3]).unwrap()));
    let body = cook(&primitives::sphere(0.3, 2).unwrap());
    let lifted = Isometry3::from_parts(Translation3::new(0.0, 0.79, 0.0), Default::default());
    let mut workspace = Workspace::new();
    let (a, b) = (body.geometry(), ground.geometry());
    let found = distance(a, &lifted, b, &Pose::identity(), Roles::Auto, 1.0, &mut workspace).unwrap().unwrap();
    let triangles = contact_triangles((&body, &lifted), (&ground, &Pose::identity()), &found).unwrap();
    assert!(triangles.on_a.is_some() && triangles.on_b.is_none());
    let nowhere = Contact { point_on_a: Vec3::from_element(f64::NAN), ..found };
    let triangles = contact_triangles((&body, &lifted), (&ground, &Pose::identity()), &nowhere).unwrap();
    assert_eq!(triangles.on_a, None);
    // Without materials there is a triangle, but no number.
    let bare = Shape { materials: None, ..body.clone() };
    let p = Vec3::new(0.0, -0.3, 0.0);
    assert_eq!(bare.triangle_at(p, &-Vec3::y()).unwrap().unwrap().material, None);
}

#[test]
fn materials_need_one_number_per_triangle() {
    let cube = cook(&primitives::cuboid([0.5; 3]).unwrap());
    let ground = Shape::from_field(Field::Cuboid(Cuboid::new([0.5; 3]).unwrap()));
    for (shape, count, expected) in [(&cube, 11, "each of the 12 triangles"), (&ground, 1, "without triangles")] {
        let Err(error @ Error::InvalidArgument { .. }) = shape.with_materials(vec![0; count]).map(drop) else {
            panic!("{count} materials were accepted")
        };
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn prepared_shapes_tell_triangles_without_allocation() {
    let mut rng = Rng(3);
    let body = cook(&joined(&[parts::body(&mut rng), turned(&parts::body(&mut rng))]));
    body.locator().unwrap();
    let mut sum = 0u64;
    let points: Vec<Vec3> = (0..200).map(|_| rng.vector()).collect();
    let count = allocations(|| {
        for p in &points {
            sum += u64::from(body.triangle_at(*p, &p.normalize()).unwrap().unwrap().triangle);
        }
    });
    assert!(sum > 0);
    assert_eq!(count, 0);
}
