//! Contacts against analytic shapes, compared with closed forms in f64.

use nalgebra::{Isometry3, Translation3, Vector3};
use support::rng::Rng;
use voxshell::contact::{contacts, distance, Geometry, Query, Roles, Workspace};
use voxshell::field::{Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, SignedDistance, Sphere};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};

fn cuboid(p: &Vec3, half: [f64; 3]) -> f64 {
    let q = Vector3::new(p.x.abs() - half[0], p.y.abs() - half[1], p.z.abs() - half[2]);
    q.sup(&Vector3::zeros()).norm() + q.max().min(0.0)
}

/// Returns the distance in the half-plane (radial r, axial y) to the segment a-b.
fn segment(r: f64, y: f64, a: [f64; 2], b: [f64; 2]) -> f64 {
    let (d, e) = ([b[0] - a[0], b[1] - a[1]], [r - a[0], y - a[1]]);
    let t = ((e[0] * d[0] + e[1] * d[1]) / (d[0] * d[0] + d[1] * d[1])).clamp(0.0, 1.0);
    (e[0] - t * d[0]).hypot(e[1] - t * d[1])
}

/// Signed distance in the body frame, metres.
type ClosedForm = Box<dyn Fn(&Vec3) -> f64>;

/// Returns the analytic fields, each with its closed form.
fn fields() -> Vec<(&'static str, Field, ClosedForm)> {
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.4 })).collect();
    vec![
        (
            "half-space",
            Field::HalfSpace(HalfSpace::new(Vec3::new(0.0, 1.0, 0.0), 0.25).unwrap()),
            Box::new(|p: &Vec3| p.y - 0.25),
        ),
        ("sphere", Field::Sphere(Sphere::new(0.5).unwrap()), Box::new(|p: &Vec3| p.norm() - 0.5)),
        ("box", Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap()), Box::new(|p: &Vec3| cuboid(p, [0.3, 0.5, 0.2]))),
        (
            "capsule",
            Field::Capsule(Capsule::new(1, 0.2, 0.4).unwrap()),
            Box::new(|p: &Vec3| Vector3::new(p.x, p.y - p.y.clamp(-0.4, 0.4), p.z).norm() - 0.2),
        ),
        (
            "cylinder",
            Field::Cylinder(Cylinder::new(2, 0.3, 0.4).unwrap()),
            Box::new(|p: &Vec3| {
                let (r, h) = (p.x.hypot(p.y) - 0.3, p.z.abs() - 0.4);
                r.max(0.0).hypot(h.max(0.0)) + r.max(h).min(0.0)
            }),
        ),
        (
            "cone",
            Field::Cone(Cone::new(0, 0.3, 0.8).unwrap()),
            Box::new(|p: &Vec3| {
                let (r, y) = (p.y.hypot(p.z), p.x);
                let d = segment(r, y, [0.0, -0.4], [0.3, -0.4]).min(segment(r, y, [0.3, -0.4], [0.0, 0.4]));
                let inside = y > -0.4 && r < 0.3 * (0.4 - y) / 0.8;
                if inside {
                    -d
                } else {
                    d
                }
            }),
        ),
        ("hull", Field::ConvexHull(ConvexHull::new(&corners).unwrap()), Box::new(|p: &Vec3| cuboid(p, [0.4; 3]))),
    ]
}

fn shell() -> PointShell {
    let options = ShellOptions { spacing: 0.03, ..ShellOptions::default() };
    voxshell::cook::sample(&primitives::torus(0.3, 0.12, 64, 24).unwrap(), None, &options, &Progress::none()).unwrap()
}

#[test]
fn contacts_agree_with_closed_forms() {
    let shell = shell();
    let mut workspace = Workspace::new();
    for (name, field, closed_form) in &fields() {
        let a = Geometry { field: None, shell: Some(&shell), surface: None };
        let b = Geometry { field: Some(field), shell: None, surface: None };
        let tolerance = field.error_bound() + 1e-6;
        let mut rng = Rng(7);
        let mut contacts_seen = 0;
        for i in 0..500 {
            let pose_a = Isometry3::from_parts(Translation3::from(rng.vector() * 0.8), rng.rotation());
            let world = Isometry3::from_parts(Translation3::from(rng.vector() * 10.0), rng.rotation());
            let (pose_a, pose_b) = (world * pose_a, world);
            let exact = |i: usize| {
                let p = pose_b.inverse() * (pose_a * nalgebra::Point3::from(shell.position(i)));
                closed_form(&p.coords)
            };
            let limit = 0.02;
            let query = Query { max_separation: limit, ..Query::default() };
            let found = contacts(a, &pose_a, b, &pose_b, &query, &mut workspace).unwrap();
            let mut seen = vec![false; shell.len()];
            for c in found {
                let phi = exact(c.feature as usize);
                seen[c.feature as usize] = true;
                assert!((c.separation - phi).abs() < tolerance, "{name} pose {i}: {} against {phi}", c.separation);
                assert!((c.normal.norm() - 1.0).abs() < 1e-9, "{name} pose {i}: the normal is not a unit vector");
                let gap = (c.point_on_b - c.point_on_a - c.normal * c.separation).norm();
                assert!(gap < 1e-9, "{name} pose {i}: the points are {gap} m off the normal");
                // The witness on B is on B's surface if the shape is smooth enough for a single projection step.
                let on_b = closed_form(&(pose_b.inverse() * nalgebra::Point3::from(c.point_on_b)).coords);
                assert!(on_b.abs() < tolerance + 1e-5, "{name} pose {i}: the point on B is {on_b} m off its surface");
            }
            contacts_seen += found.len();
            let nearest = (0..shell.len()).map(exact).fold(f64::INFINITY, f64::min);
            for (sample, seen) in seen.iter().enumerate() {
                assert!(*seen || exact(sample) > limit - tolerance, "{name} pose {i}: sample {sample} was missed");
            }
            let got = distance(a, &pose_a, b, &pose_b, Roles::Auto, f64::INFINITY, &mut workspace).unwrap().unwrap();
            assert!((got.separation - nearest).abs() < tolerance, "{name} pose {i}: {} for {nearest}", got.separation);
        }
        assert!(contacts_seen > 1000, "{name}: only {contacts_seen} contacts seen");
    }
}

#[test]
fn a_normal_points_from_a_to_b_in_either_order() {
    let shell = shell();
    let plane = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap());
    let torus = Geometry { field: None, shell: Some(&shell), surface: None };
    let ground = Geometry { field: Some(&plane), shell: None, surface: None };
    let above = Isometry3::new(Vector3::new(0.0, 0.1, 0.0), Vector3::zeros());
    let mut workspace = Workspace::new();
    let query = Query::default();
    let down = *contacts(torus, &above, ground, &Pose::identity(), &query, &mut workspace).unwrap().first().unwrap();
    let up = *contacts(ground, &Pose::identity(), torus, &above, &query, &mut workspace).unwrap().first().unwrap();
    assert!((down.normal + Vec3::y()).norm() < 1e-6, "torus to ground: {}", down.normal);
    assert!((up.normal - Vec3::y()).norm() < 1e-6, "ground to torus: {}", up.normal);
    assert_eq!(down.separation, up.separation);
    assert!((down.point_on_a - up.point_on_b).norm() < 1e-12 && (down.point_on_b - up.point_on_a).norm() < 1e-12);
    assert_eq!(up.feature, down.feature | voxshell::contact::FEATURE_OF_B);
}

#[test]
fn precision_does_not_depend_on_where_on_a_plane_the_body_is() {
    let shell = shell();
    let plane = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap());
    let (a, b) = (
        Geometry { field: None, shell: Some(&shell), surface: None },
        Geometry { field: Some(&plane), shell: None, surface: None },
    );
    let mut workspace = Workspace::new();
    for x in [0.0, 1e3, 1e6] {
        let pose = Isometry3::new(Vector3::new(x, 0.1, -x), Vector3::new(0.1, 0.0, 0.2));
        let found = distance(a, &pose, b, &Pose::identity(), Roles::Auto, 1.0, &mut workspace).unwrap().unwrap();
        let exact = (0..shell.len()).map(|i| (pose * nalgebra::Point3::from(shell.position(i))).y).fold(1.0, f64::min);
        assert!((found.separation - exact).abs() < 1e-6, "at {x} m: {} for {exact}", found.separation);
    }
}
