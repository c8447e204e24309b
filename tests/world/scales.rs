//! A convex body of the library, such as a ball, on or in a cooked one that is as large or up to 3,000 times larger: what
//! touches is found whatever the sizes, in either order, and as deep as it is.

use support::parts;
use support::rng::Rng;
use voxshell::asset::Shape;
use voxshell::contact::Workspace;
use voxshell::field::{Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, SignedDistance, Sphere};
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::{primitives, TriMesh};

use super::{all_contacts, closest, cooked};

/// Largest error of a separation, as a fraction of the least half extent of the convex body: the search's precision, and the
/// oracle's.
const PRECISION: f64 = 1.5e-3;

fn convex(rng: &mut Rng, half: f64) -> Field {
    let long = half * (1.0 + 3.0 * rng.fraction());
    match rng.next() % 6 {
        0 => Field::Sphere(Sphere::new(half).unwrap()),
        1 => Field::Cuboid(Cuboid::new([half, long, half]).unwrap()),
        2 => Field::Capsule(Capsule::new(0, half, long).unwrap()),
        3 => Field::Cylinder(Cylinder::new(1, half, long).unwrap()),
        4 => Field::Cone(Cone::new(2, half, 2.0 * long).unwrap()),
        _ => {
            let points: Vec<[f64; 3]> = (0..12).map(|_| (rng.vector().normalize() * half).into()).collect();
            Field::ConvexHull(ConvexHull::new(&points).unwrap())
        }
    }
}

/// Returns the least value of a convex function over an interval, by the golden section.
fn golden(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let share = 0.5 * (5f64.sqrt() - 1.0);
    let (mut p, mut q) = (high - share * (high - low), low + share * (high - low));
    let (mut at_p, mut at_q) = (f(p), f(q));
    let mut least = f(low).min(f(high));
    for _ in 0..44 {
        least = least.min(at_p).min(at_q);
        if at_p <= at_q {
            (high, q, at_q) = (q, p, at_p);
            p = high - share * (high - low);
            at_p = f(p);
        } else {
            (low, p, at_p) = (p, q, at_q);
            q = low + share * (high - low);
            at_q = f(q);
        }
    }
    least
}

/// Returns the least φ of a convex body over a triangle in the frame of the field.
fn least_over(field: &Field, t: &[Vec3; 3]) -> f64 {
    let phi = |p: Vec3| f64::from(field.distance(p.map(|x| x as f32).into()));
    golden(0.0, 1.0, |u| {
        let (from, to) = (t[0] + (t[1] - t[0]) * u, t[0] + (t[2] - t[0]) * u);
        golden(0.0, 1.0, |v| phi(from + (to - from) * v))
    })
}

/// The exact least φ over a mesh, and a place on a random triangle.
struct Scene<'a> {
    mesh: &'a TriMesh,
    field: &'a Field,
}

impl Scene<'_> {
    fn least(&self, mesh_pose: &Pose, field_pose: &Pose) -> f64 {
        let relative = field_pose.inv_mul(mesh_pose);
        let origin = self.field.local_origin(&Vec3::zeros());
        let mut least = f64::INFINITY;
        for k in 0..self.mesh.triangles.len() {
            let t = self.mesh.corners(k).map(|p| (relative * nalgebra::Point3::from(p)).coords - origin);
            let middle = (t[0] + t[1] + t[2]) / 3.0;
            let radius = t.iter().map(|c| (c - middle).norm()).fold(0.0, f64::max);
            if f64::from(self.field.distance(middle.map(|x| x as f32).into())) - radius < least {
                least = least.min(least_over(self.field, &t));
            }
        }
        least
    }
}

#[test]
fn convex_bodies_of_any_size_are_found_on_cooked_ones() {
    let mut workspace = Workspace::new();
    let mut touched = 0;
    for seed in 1..=super::seeds(5) {
        let mut rng = Rng(seed);
        let mesh =
            if seed == 1 { primitives::cuboid([5.0, 0.25, 5.0]).unwrap() } else { parts::body(&mut rng).scaled(10.0) };
        let solid = cooked(&mesh);
        for _ in 0..40 {
            let half = mesh.bounds().extents().max() * 0.5 * 10f64.powf(-3.5 * rng.fraction());
            let field = convex(&mut rng, half);
            let body = Shape::from_field(field.clone());
            let mesh_pose = super::random_pose(&mut rng, 3.0);
            let t = mesh.corners((rng.next() % mesh.triangles.len() as u64) as usize).map(Vec3::from);
            let (u, v) = (rng.fraction(), rng.fraction());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let p = t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v;
            let normal = (t[1] - t[0]).cross(&(t[2] - t[0])).normalize();
            let middle = mesh_pose * nalgebra::Point3::from(p + normal * (half * (0.2 + rng.fraction())));
            let mut pose = Pose::from_parts(middle.coords.into(), rng.rotation());
            if rng.next() % 4 == 0 {
                pose.rotation = mesh_pose.rotation;
            }
            let least = Scene { mesh: &mesh, field: &field }.least(&mesh_pose, &pose);
            let tolerance = PRECISION * half;
            let what = format!("seed {seed}, {field:?} of {half}, least {least}");
            let found = all_contacts(&body, &pose, &solid, &mesh_pose, &mut workspace);
            let other = all_contacts(&solid, &mesh_pose, &body, &pose, &mut workspace);
            let deepest = |found: &[voxshell::contact::Contact]| found.first().map(|c| c.separation);
            let [a, b] = [&found, &other].map(|found| deepest(found));
            assert_eq!(a.is_some(), b.is_some(), "{what}: in one order only");
            if least < -tolerance {
                touched += 1;
                let a = a.unwrap_or_else(|| panic!("{what}: missed"));
                assert!((a - least).abs() <= tolerance, "{what}: {a}");
                assert!((a - b.unwrap()).abs() <= tolerance, "{what}: {a} and {b:?} in the other order");
            }
            let near = closest(&body, &pose, &solid, &mesh_pose, &mut workspace);
            let is_inside = least > tolerance && near.separation < 0.0;
            if is_inside {
                assert!(a.is_some_and(|a| a <= -least), "{what}: inside, {a:?}");
            } else {
                let error = (near.separation - least).abs();
                assert!(error <= tolerance + 2e-3 * least.max(0.0), "{what}: distance {}", near.separation);
                assert!(least <= tolerance || a.is_none(), "{what}: {a:?} without touching");
            }
        }
    }
    assert!(touched >= 100, "{touched} poses touch");
}

#[test]
fn each_place_that_touches_has_a_contact_near_it() {
    let mut workspace = Workspace::new();
    let mut rng = Rng(11);
    // Two posts of one height under a beam: one contact must not stand for both.
    let post = |x: f64| {
        let mut mesh = primitives::cuboid([0.4, 1.0, 3.0]).unwrap();
        mesh.vertices.iter_mut().for_each(|p| p[0] += x);
        mesh
    };
    let mesh = support::soup::joined(&[post(-2.0), post(2.0)]);
    let solid = cooked(&mesh);
    for _ in 0..20 {
        // Thinner than the distance of the samples, which find none or one of the two.
        const THIN: f64 = 0.004;
        let half = [2.5 + rng.fraction(), THIN, THIN];
        let beam = Shape::from_field(Field::Cuboid(Cuboid::new(half).unwrap()));
        let depth = 0.25 * THIN;
        let pose = Pose::translation(0.3 * rng.unit(), 1.0 + THIN - depth, 2.0 * rng.unit());
        let found = all_contacts(&beam, &pose, &solid, &Pose::identity(), &mut workspace);
        for side in [-1.0, 1.0] {
            let deep = |c: &&voxshell::contact::Contact| (c.separation + depth).abs() <= PRECISION * THIN;
            // In the middle of its top, away from the samples of its edges.
            let on_post = found.iter().filter(|c| (c.point_on_b.x * side - 2.0).abs() < 0.25).find(deep);
            let contact = on_post.unwrap_or_else(|| panic!("no contact on the post at {side}: {found:?}"));
            assert!((contact.normal + Vec3::y()).norm() < 1e-5, "{:?}", contact.normal);
        }
    }
}

#[test]
fn a_small_body_far_inside_a_large_one_is_found() {
    let mut workspace = Workspace::new();
    let solid = cooked(&primitives::cuboid([5.0, 4.0, 3.0]).unwrap());
    let ball = Shape::from_field(Field::Sphere(Sphere::new(0.05).unwrap()));
    let pose = Pose::translation(0.3, -0.4, 1.0);
    let found = all_contacts(&ball, &pose, &solid, &Pose::identity(), &mut workspace);
    let near = closest(&ball, &pose, &solid, &Pose::identity(), &mut workspace);
    for c in [found[0], near] {
        assert!((c.separation + 2.05).abs() < 1e-6, "{c:?}");
        assert!((c.point_on_b - Vec3::new(0.3, -0.4, 3.0)).norm() < 1e-6, "{c:?}");
        assert!((c.point_on_b - c.point_on_a - c.normal * c.separation).norm() < 1e-6, "{c:?}");
        assert!((c.normal + Vec3::z()).norm() < 1e-6, "from the ball to the wall is back into the solid: {c:?}");
    }
}
