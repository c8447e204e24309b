//! Contact patches against closed forms and quadrature, and their symmetry, continuity and completeness.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use support::allocation::allocations;
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::Geometry;
use voxshell::field::{Cuboid, Cylinder, Field, HalfSpace, Sheet, SignedDistance, Sphere};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::response::{patches, Patch, PatchSettings, PatchWorkspace};

const RIGID: f64 = f64::INFINITY;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::identity())
}

fn of(field: &Field) -> Geometry<'_> {
    Geometry { field: Some(field), shell: None, surface: None }
}

/// The half-space below y = 0.
fn ground() -> Field {
    Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap())
}

fn sphere(radius: f64) -> Field {
    Field::Sphere(Sphere::new(radius).unwrap())
}

fn query(a: (&Field, &Pose), b: (&Field, &Pose), settings: &PatchSettings) -> Vec<Patch> {
    patches(of(a.0), a.1, of(b.0), b.1, settings, &mut PatchWorkspace::new()).unwrap().to_vec()
}

fn one(a: (&Field, &Pose), b: (&Field, &Pose), settings: &PatchSettings) -> Patch {
    let found = query(a, b, settings);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

#[track_caller]
fn close(value: f64, expected: f64, relative: f64, name: &str) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{name} is {value}, expected {expected}");
}

/// Returns ∫ f over [0, b] by the midpoint rule.
fn integral(b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 20_000;
    (0..n).map(|i| f((i as f64 + 0.5) * b / n as f64)).sum::<f64>() * b / n as f64
}

/// Force and area of the contact surface of a sphere and a plane, by quadrature along the surface from the axis outwards. Both
/// are compliant: at the polar angle θ the surface is where sᴬ (R − ρ) = sᴮ (h − ρ cos θ), with ρ from the centre, h below it.
fn sphere_on_plane(radius: f64, depth: f64, [s, t]: [f64; 2], pressure: impl Fn(f64) -> f64) -> (f64, f64) {
    let h = radius - depth;
    let end = (h / radius).acos();
    let rho = |theta: f64| (s * radius + t * h) / (s + t * theta.cos());
    let n = 20_000;
    let (mut force, mut area) = (0.0, 0.0);
    for i in 0..n {
        let (a, b) = (end * f64::from(i) / f64::from(n), end * f64::from(i + 1) / f64::from(n));
        let place = |theta: f64| (rho(theta) * theta.sin(), rho(theta) * theta.cos());
        let ((r, y), (q, z)) = (place(a), place(b));
        let middle = 0.5 * (r + q);
        // Vertical projection of the ring times the pressure.
        force += std::f64::consts::PI * (q * q - r * r) * pressure(s * (radius - rho(0.5 * (a + b))));
        area += std::f64::consts::TAU * middle * ((q - r).powi(2) + (z - y).powi(2)).sqrt();
    }
    (force, area)
}

#[test]
fn a_sphere_on_a_plane_has_the_force_of_quadrature() {
    let (radius, k) = (0.5, 1e6);
    let ball = sphere(radius);
    for depth in [0.002, 0.01, 0.05] {
        for (own, other) in [(k, k), (k, 3.0 * k), (4.0 * k, k)] {
            let (force, area) = sphere_on_plane(radius, depth, [own, other], |p| p);
            let found = one(
                (&ball, &at(0.3, radius - depth, -0.2)),
                (&ground(), &at(0.0, 0.0, 0.0)),
                &PatchSettings::new([own, other]),
            );
            close(-found.force.y, force, 0.01, "the force");
            close(found.area, area, 0.01, "the area");
            close(found.mean_pressure * found.area, force, 0.01 + 2.0 * depth / radius, "pressure times area");
            // Both pressures at the axis, where the overlap is `depth`.
            close(found.max_pressure, own * other / (own + other) * depth, 0.01, "the largest pressure");
            assert!((found.center - Vec3::new(0.3, found.center.y, -0.2)).norm() < 2e-4 && found.normal.y < -0.9999);
            assert!(found.torque.norm() < 1e-3 * force * radius, "{}", found.torque);
        }
    }
    // The shallow limit for a rigid plane: π k R δ².
    let found = one((&ball, &at(0.0, 0.498, 0.0)), (&ground(), &Pose::identity()), &PatchSettings::new([k, RIGID]));
    close(-found.force.y, std::f64::consts::PI * k * radius * 0.002 * 0.002, 0.01, "the force on a rigid plane");
}

/// Hertz: F = 4/3 E √R δ^(3/2) follows from p = E / (π √R) √δ.
#[test]
fn the_square_root_law_reproduces_hertz() {
    let modulus = 7e7;
    for (radius, depth) in [(0.5, 0.001), (0.5, 0.004), (0.05, 0.0004)] {
        let k = modulus / (std::f64::consts::PI * f64::sqrt(radius));
        let settings = PatchSettings { exponent: 0.5, ..PatchSettings::new([k, RIGID]) };
        let found = one((&sphere(radius), &at(0.0, radius - depth, 0.0)), (&ground(), &Pose::identity()), &settings);
        let hertz = 4.0 / 3.0 * modulus * radius.sqrt() * f64::powf(depth, 1.5);
        close(-found.force.y, hertz, 0.01, "the force");
    }
}

#[test]
fn a_lying_cylinder_has_the_force_of_quadrature() {
    let (radius, half, k) = (0.25, 0.5, 1e6);
    let roller = Field::Cylinder(Cylinder::new(0, radius, half).unwrap());
    for depth in [0.002, 0.01] {
        let h = radius - depth;
        let width = (radius * radius - h * h).sqrt();
        // A rigid cylinder on compliant ground: the depth of its surface below the plane.
        let force = 2.0 * half * 2.0 * integral(width, |x| k * ((radius * radius - x * x).sqrt() - h));
        let pose = at(0.1, h, 0.2);
        let found = one((&roller, &pose), (&ground(), &Pose::identity()), &PatchSettings::new([RIGID, k]));
        close(-found.force.y, force, 0.01, "the force");
        let arc = 2.0 * half * 2.0 * radius * (width / radius).asin();
        close(found.area, arc, 0.02, "the area");
        close(found.max_pressure, k * depth, 0.01, "the largest pressure");
    }
}

#[test]
fn a_box_on_a_plane_is_an_elastic_foundation() {
    let (x, z, k) = (0.4, 0.3, 1e6);
    let block = Field::Cuboid(Cuboid::new([x, 0.1, z]).unwrap());
    for (depth, tilt) in [(0.004, 0.0), (0.01, 0.0), (0.006, 0.01), (0.001, 0.01)] {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), tilt);
        let pose = Isometry3::from_parts(Translation3::new(0.05, 0.1 - depth, 0.02), turn);
        let found = one((&block, &pose), (&ground(), &Pose::identity()), &PatchSettings::new([RIGID, k]));
        // Depth at the place u along the bottom: clipped at 0, times the width.
        let corner = |u: f64| -(0.1 - depth + u * tilt.sin() - 0.1 * tilt.cos());
        let n = 20_000;
        let (mut force, mut first) = (0.0, 0.0);
        for i in 0..n {
            let u = -x + 2.0 * x * (f64::from(i) + 0.5) / f64::from(n);
            let p = k * corner(u).max(0.0) * 2.0 * z * 2.0 * x / f64::from(n);
            force += p;
            first += p * u;
        }
        close(-found.force.y, force, 0.01, "the force");
        let center = pose * nalgebra::Point3::new(first / force, -0.1, 0.0);
        // Within one cell.
        assert!((found.center - center.coords).norm() < 4e-3, "{} {}", found.center, center);
    }
    // A compliant box on rigid ground: its pressure ends at its sides, so that the volume is that of a frustum.
    let depth = 0.004;
    let frustum = integral(depth, |t| 4.0 * (x - t) * (z - t));
    let found =
        one((&block, &at(0.0, 0.1 - depth, 0.0)), (&ground(), &Pose::identity()), &PatchSettings::new([k, RIGID]));
    close(-found.force.y, k * frustum, 0.01, "the force on rigid ground");
}

fn knot() -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
    Shape::cook(&primitives::torus_knot(2, 3, 0.3, 0.1, 160, 24).unwrap(), &options, &Progress::none()).unwrap()
}

/// Returns force on B and torque on B about the world's origin, of all patches.
fn wrench(found: &[Patch]) -> (Vec3, Vec3) {
    found
        .iter()
        .fold((Vec3::zeros(), Vec3::zeros()), |(f, t), p| (f + p.force, t + p.torque + p.center.cross(&p.force)))
}

#[test]
fn the_answer_does_not_depend_on_which_body_is_a() {
    let knot = knot();
    let field = knot.field.as_deref().unwrap();
    let mut touching = 0;
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let pose = |rng: &mut Rng| Isometry3::from_parts(Translation3::from(rng.vector() * 0.4), rng.rotation());
        let (p, q) = (pose(&mut rng), pose(&mut rng));
        let settings = PatchSettings::new([1e6, 2.5e6]);
        let forward = query((field, &p), (field, &q), &settings);
        let backward = query((field, &q), (field, &p), &PatchSettings { stiffness: [2.5e6, 1e6], ..settings });
        assert_eq!(forward.len(), backward.len(), "seed {seed}");
        for (p, q) in forward.iter().zip(&backward) {
            let turned = Patch { force: -q.force, torque: -q.torque, normal: -q.normal, ..*q };
            assert_eq!(*p, turned, "seed {seed}");
        }
        touching += usize::from(!forward.is_empty());
    }
    assert!(touching > 20, "{touching}");
}

/// Bodies that overlap and have no surface of equal pressure are refused with the reason, and soon: no contact is missed in silence.
#[test]
fn bodies_that_overlap_wholly_are_refused_with_the_reason() {
    let knot = knot();
    let knot = knot.field.as_deref().unwrap();
    let (large, small, cube) = (sphere(0.5), sphere(0.2), Field::Cuboid(Cuboid::new([0.5, 0.3, 0.2]).unwrap()));
    let turned =
        Isometry3::from_parts(Translation3::new(0.3, -1.0, 7.0), UnitQuaternion::from_euler_angles(0.3, 1.0, 0.2));
    let mut workspace = PatchWorkspace::new();
    for (a, b, offset, reason) in [
        (&large, &small, 0.0, "wholly inside"),
        (&small, &large, 0.1, "wholly inside"),
        (&cube, &cube, 0.0, "coincide"),
        (knot, knot, 0.0, "coincide"),
        (&large, &large, 0.0, "coincide"),
    ] {
        for pose in [at(0.0, 0.0, 0.0), turned] {
            let other = pose * at(offset, 0.0, 0.0);
            let settings = PatchSettings::new([1e6, 1e6]);
            let found = patches(of(a), &pose, of(b), &other, &settings, &mut workspace);
            let error = found.map(<[Patch]>::to_vec).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("resolution"), "{error}");
        }
    }
    // A rigid body inside a soft one is in contact all around.
    let settings = PatchSettings::new([f64::INFINITY, 1e6]);
    let found =
        patches(of(&small), &at(0.1, 0.0, 0.0), of(&large), &at(0.0, 0.0, 0.0), &settings, &mut workspace).unwrap();
    close(found[0].area, 4.0 * std::f64::consts::PI * 0.04, 0.01, "the area");
}

/// At the default resolution no query is refused for its cells, whatever overlaps.
#[test]
fn bodies_that_nearly_coincide_have_patches_at_the_default_resolution() {
    let knot = knot();
    let field = knot.field.as_deref().unwrap();
    for offset in [1e-4, 1e-3, 5e-3, 2e-2] {
        let found = query((field, &at(0.0, 0.0, 0.0)), (field, &at(offset, 0.0, 0.0)), &PatchSettings::new([1e6, 1e6]));
        assert!(!found.is_empty(), "{offset}");
    }
}

#[test]
fn the_wrench_changes_continuously_with_the_pose() {
    let knot = knot();
    let field = knot.field.as_deref().unwrap();
    let settings = PatchSettings::new([1e6, 1e6]);
    let mut workspace = PatchWorkspace::new();
    let steps = 400u32;
    let settings = PatchSettings { resolution: 0.01, ..settings };
    let mut before: Option<Vec3> = None;
    let (mut largest, mut most, mut patched) = (0.0f64, 0.0f64, 0);
    for i in 0..steps {
        // 6 cm farther into the other body, and a turn.
        let s = f64::from(i) / f64::from(steps);
        let turn = UnitQuaternion::from_scaled_axis(Vec3::new(0.3, 0.5, 0.2) * s);
        let pose = Isometry3::from_parts(Translation3::new(0.1, 0.02, 0.76 - 0.06 * s), turn);
        let found = patches(of(field), &pose, of(field), &at(0.0, 0.0, 0.0), &settings, &mut workspace).unwrap();
        patched += usize::from(!found.is_empty());
        let force = wrench(found).0;
        if let Some(before) = before {
            largest = largest.max((force - before).norm());
        }
        most = most.max(force.norm());
        before = Some(force);
    }
    assert_eq!(patched, 400);
    // Less than 1% of the largest force in a step of 0.15 mm, with cells of 10 mm.
    assert!(largest < 0.01 * most, "{largest} N in one step of {most} N");
}

/// The pressure at any place deep inside both bodies is in the patch: no hole, however deep the overlap.
#[test]
fn a_deep_overlap_has_no_hole() {
    let (a, b) = (sphere(0.5), sphere(0.4));
    for distance in [0.85, 0.6, 0.45, 0.3] {
        let found = one((&a, &at(0.0, 0.0, 0.0)), (&b, &at(distance, 0.0, 0.0)), &PatchSettings::new([1e6, 1e6]));
        // φᴬ = φᴮ is a hyperboloid: |x| − 0.5 = |x − d| − 0.4. Its area up to the circle where both are 0, by quadrature.
        let end = (0.25 + distance * distance - 0.16) / distance * 0.5;
        let rim = (0.25 - end * end).max(0.0).sqrt();
        let place = |r: f64| {
            // Bisection for the place on the surface at radius r.
            let level = |x: f64| ((x * x + r * r).sqrt() - 0.5) - (((x - distance).powi(2) + r * r).sqrt() - 0.4);
            let (mut low, mut high) = (-1.0, 2.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                *(if level(middle) < 0.0 { &mut low } else { &mut high }) = middle;
            }
            low
        };
        let slope = |r: f64| (place(r + 1e-5) - place(r - 1e-5)) / 2e-5;
        let area = integral(rim, |r| std::f64::consts::TAU * r * (1.0 + slope(r).powi(2)).sqrt());
        close(found.area, area, 0.01, "the area");
    }
}

#[test]
fn separate_regions_are_separate_patches() {
    // A table on four feet, over a plane: one patch for each foot, and the force of all is that of the foundation.
    let foot = |x: f64, z: f64| primitives::cuboid([0.05, 0.1, 0.05]).unwrap().transformed(&at(x, -0.1, z), 1.0);
    let top = primitives::cuboid([0.5, 0.05, 0.5]).unwrap();
    let all = support::soup::joined(&[top, foot(0.4, 0.4), foot(0.4, -0.4), foot(-0.4, 0.4), foot(-0.4, -0.4)]);
    let table = Field::Mesh(voxshell::field::MeshField::new(all).unwrap());
    let settings = PatchSettings { resolution: 0.005, ..PatchSettings::new([RIGID, 1e6]) };
    let mut workspace = PatchWorkspace::new();
    let pose = at(0.0, 0.2 - 0.004, 0.0);
    let found =
        patches(of(&table), &pose, of(&ground()), &Pose::identity(), &settings, &mut workspace).unwrap().to_vec();
    assert_eq!(found.len(), 4);
    for (i, patch) in found.iter().enumerate() {
        close(-patch.force.y, 1e6 * 0.004 * 0.01, 0.05, "the force of a foot");
        assert!(patch.center.x.abs() > 0.39 && patch.center.z.abs() > 0.39);
        let outline = workspace.outline(i);
        assert!(outline.len() > 20 && outline[0] == outline[outline.len() - 1]);
        let length: f64 = outline.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
        close(length, 0.4, 0.1, "the outline");
        for p in outline {
            let from_rim = (p.x.abs() - 0.4).abs().max((p.z.abs() - 0.4).abs()) - 0.05;
            assert!(from_rim.abs() < 0.006 && p.y.abs() < 0.006, "{p}");
        }
    }
    assert!(workspace.outline(4).is_empty());
}

/// A plane through points of the grid meets cells at their edges and corners alone: it is one patch all the same.
#[test]
fn planes_through_points_of_the_grid_are_one_patch() {
    let half = 0.4;
    let block = Field::Cuboid(Cuboid::new([half, half, half]).unwrap());
    // Compliant and rigid: the contact surface is the rigid body's, a face of the block or the plane.
    let settings = |stiffness| PatchSettings { resolution: 1.0 / 64.0, ..PatchSettings::new(stiffness) };
    let steps = [
        (0, 0, 0),
        (1, 0, 0),
        (0, 0, 1),
        (1, 1, 0),
        (1, 0, 1),
        (0, 1, 1),
        (1, 1, 1),
        (1, -1, 0),
        (-1, 1, 1),
        (2, 1, 0),
    ];
    for (i, j, k) in steps {
        // Planes with whole numbers as normals, through the origin and other points of the grid.
        let normal = nalgebra::Unit::try_new(
            Vec3::new(f64::from(i), f64::from(j) + f64::from(i32::from((i, j, k) == (0, 0, 0))), f64::from(k)),
            0.0,
        )
        .unwrap();
        let plane = Field::HalfSpace(HalfSpace::new(normal.into_inner(), 0.0).unwrap());
        let turn = UnitQuaternion::rotation_between(&Vec3::y(), &normal).unwrap();
        for shift in [Vec3::zeros(), Vec3::new(3.0, -2.0, 5.0) / 64.0] {
            let depth = 0.01;
            let pose = Isometry3::from_parts(Translation3::from(shift + normal.into_inner() * (half - depth)), turn);
            let ground = Isometry3::from_parts(Translation3::from(shift), UnitQuaternion::identity());
            for stiffness in [[1e6, RIGID], [RIGID, 1e6]] {
                let found = query((&block, &pose), (&plane, &ground), &settings(stiffness));
                assert_eq!(found.len(), 1, "normal {normal:?} shift {shift}");
            }
        }
    }
}

/// Stiffness, its place and moments, and the friction arm: closed forms for a disk and a rectangle, and differences of forces.
#[test]
fn stiffness_and_friction_arm_have_closed_forms() {
    let k = 1e6;
    let (x, z, depth) = (0.4, 0.3, 0.004);
    let block = Field::Cuboid(Cuboid::new([x, 0.1, z]).unwrap());
    let place = at(0.2, 0.1 - depth, -0.1);
    let found = one((&block, &place), (&ground(), &Pose::identity()), &PatchSettings::new([RIGID, k]));
    close(found.stiffness, k * 4.0 * x * z, 0.01, "the stiffness");
    assert!((found.stiffness_center - Vec3::new(0.2, -depth, -0.1)).norm() < 1e-3, "{}", found.stiffness_center);
    close(found.stiffness_moments[0], x * x / 3.0, 0.01, "the moment along x");
    close(found.stiffness_moments[2], z * z / 3.0, 0.01, "the moment along z");
    for m in [1, 3, 4, 5] {
        assert!(found.stiffness_moments[m].abs() < 1e-4, "{:?}", found.stiffness_moments);
    }
    // The mean of √(u² + v²) over a rectangle.
    let arm = (2.0 * x * z * x.hypot(z) + x.powi(3) * (z / x).asinh() + z.powi(3) * (x / z).asinh()) / (6.0 * x * z);
    close(found.friction_arm, arm, 0.01, "the friction arm of a rectangle");

    // A cylinder on its end: a disk of uniform pressure.
    let disk = Field::Cylinder(Cylinder::new(1, 0.2, 0.1).unwrap());
    let found =
        one((&disk, &at(0.0, 0.1 - depth, 0.0)), (&ground(), &Pose::identity()), &PatchSettings::new([RIGID, k]));
    close(found.friction_arm, 2.0 / 3.0 * 0.2, 0.01, "the friction arm of a disk");
    close(found.stiffness_moments[0], 0.01, 0.01, "the moment of a disk");

    // A ball, linear and by the law of Hertz.
    for exponent in [1.0, 0.5, 2.0] {
        let settings = PatchSettings { exponent, ..PatchSettings::new([RIGID, k]) };
        let ball =
            |depth: f64| one((&sphere(0.5), &at(0.1, 0.5 - depth, 0.0)), (&ground(), &Pose::identity()), &settings);
        let (low, middle, high) = (ball(0.0098), ball(0.01), ball(0.0102));
        let slope = (low.force.y - high.force.y) / 4e-4;
        // The patch is cut off at cells of a hundredth of the ball, a twentieth of its radius.
        close(middle.stiffness, slope, 0.05, "the stiffness of a ball");
    }
}

/// Random bodies against brute force: the force over a fine regular grid of the overlap's height along its normal.
#[test]
fn random_bodies_on_compliant_ground_agree_with_columns() {
    for seed in 0..6 {
        let mut rng = Rng(seed + 100);
        let mesh = parts::body(&mut rng);
        let options = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        let field = shape.field.as_deref().unwrap();
        let turn = rng.rotation();
        let low = mesh.transformed(&Isometry3::from_parts(Translation3::identity(), turn), 1.0).bounds();
        // A tenth of the height: tips narrower than a cell do not count.
        let depth = 0.1 * low.extents().y;
        let pose = Isometry3::from_parts(Translation3::new(0.0, -low.min.y - depth, 0.0), turn);
        let settings = PatchSettings { resolution: 0.002, ..PatchSettings::new([RIGID, 1e6]) };
        let found = query((field, &pose), (&ground(), &Pose::identity()), &settings);
        // A rigid body presses the ground: per column the depth of the lower of its surfaces, minus what is above a gap.
        let n = 400;
        let extents = low.extents();
        let (dx, dz) = (extents.x / f64::from(n), extents.z / f64::from(n));
        let layers = 80;
        let mut force = 0.0;
        for i in 0..n {
            for j in 0..n {
                let (x, z) = (low.min.x + (f64::from(i) + 0.5) * dx, low.min.z + (f64::from(j) + 0.5) * dz);
                for layer in 0..layers {
                    // ∫ p n·y over the surface is minus the volume below the ground times k, for a closed body.
                    let y = -depth * (f64::from(layer) + 0.5) / f64::from(layers);
                    let p =
                        (pose.inverse() * nalgebra::Point3::new(x, y, z)).coords - field.local_origin(&Vec3::zeros());
                    if field.distance([p.x as f32, p.y as f32, p.z as f32]) < 0.0 {
                        force += 1e6 * dx * dz * depth / f64::from(layers);
                    }
                }
            }
        }
        let sum: f64 = found.iter().map(|p| -p.force.y).sum();
        assert!((sum - force).abs() < 0.03 * force, "seed {seed}: {sum} N, columns {force} N");
    }
}

/// The map of the pressure has the area, the centre and, on a flat surface, the force of the patch.
#[test]
fn cells_of_a_patch_sum_to_the_patch() {
    let (cube, ground) = (Field::Cuboid(Cuboid::new([0.2; 3]).unwrap()), ground());
    let mut workspace = PatchWorkspace::new();
    let pose = Pose::from_parts(Translation3::new(0.1, 0.19, -0.2), UnitQuaternion::from_euler_angles(0.02, 0.4, 0.03));
    let settings = PatchSettings::new([1e6, RIGID]);
    let found = patches(of(&cube), &pose, of(&ground), &at(0.0, 0.0, 0.0), &settings, &mut workspace).unwrap().to_vec();
    assert_eq!(found.len(), 1);
    let cells: Vec<_> = workspace.cells(0).collect();
    assert!(cells.len() > 100, "{}", cells.len());
    let area: f64 = cells.iter().map(|c| c.area).sum();
    let force: f64 = cells.iter().map(|c| c.area * c.pressure).sum();
    let moment: Vec3 = cells.iter().map(|c| c.center * (c.area * c.pressure)).sum();
    close(area, found[0].area, 1e-9, "area");
    // In a cell the overlap counts as linear, which it is not along the edges of the cube.
    close(force, found[0].force.norm(), 5e-3, "force");
    assert!((moment / force - found[0].center).norm() < 1e-3, "{} {}", moment / force, found[0].center);
    assert!(cells.iter().all(|c| c.pressure <= 1.01 * found[0].max_pressure && (c.normal + Vec3::y()).norm() < 1e-6));
    assert_eq!(workspace.cells(1).count(), 0);
}

#[test]
fn warm_patches_do_not_allocate() {
    let knot = knot();
    let field = knot.field.as_deref().unwrap();
    let mut workspace = PatchWorkspace::new();
    let run = |workspace: &mut PatchWorkspace| {
        let mut points = 0;
        for i in 0..20 {
            let pose = at(0.1, 0.02, 0.7 - 0.005 * f64::from(i));
            let settings = PatchSettings::new([1e6, 1e6]);
            let count = patches(of(field), &pose, of(field), &Pose::identity(), &settings, workspace).unwrap().len();
            points += (0..count).map(|p| workspace.outline(p).len()).sum::<usize>();
        }
        points
    };
    let points = run(&mut workspace);
    assert!(points > 100);
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), points)), 0);
}

#[test]
fn settings_out_of_range_are_refused() {
    let (ball, pose) = (sphere(0.5), Pose::identity());
    let good = PatchSettings::new([1e6, 1e6]);
    let cases = [
        ("stiffness_a", PatchSettings { stiffness: [0.0, 1.0], ..good }),
        ("stiffness_a", PatchSettings { stiffness: [f64::NAN, 1.0], ..good }),
        ("stiffness_b", PatchSettings { stiffness: [1.0, 1e19], ..good }),
        ("stiffness_b", PatchSettings { stiffness: [RIGID; 2], ..good }),
        ("exponent", PatchSettings { exponent: 0.2, ..good }),
        ("resolution", PatchSettings { resolution: -1.0, ..good }),
        ("resolution", PatchSettings { resolution: 1e-9, ..good }),
    ];
    for (name, settings) in cases {
        let mut workspace = PatchWorkspace::new();
        let result = patches(of(&ball), &pose, of(&ball), &at(0.5, 0.0, 0.0), &settings, &mut workspace);
        let Err(error) = result else { panic!("{name}: accepted") };
        assert!(error.to_string().contains(name), "{error}");
    }
    let sheet = Field::Sheet(Sheet::new(primitives::sphere(0.5, 1).unwrap().into(), 0.1).unwrap());
    for (a, b) in [(&sheet, &ball), (&ball, &sheet), (&ground(), &ground())] {
        assert!(patches(of(a), &pose, of(b), &pose, &good, &mut PatchWorkspace::new()).is_err());
    }
    assert!(query((&ball, &pose), (&ball, &at(2.0, 0.0, 0.0)), &good).is_empty());
}
