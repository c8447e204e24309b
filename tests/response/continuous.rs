//! Penalty over the contact intervals: against fine steps in f64, closed forms and finite differences.

use proptest::prelude::*;
use support::cases;
use support::motion::{between, moved, Case};
use support::rng::Rng;
use voxshell::ccd::impact::{self, Collision};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{contacts, Geometry, Query, Roles};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Mat6, Pose, Rotation, Twist, Vec3, Wrench};
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::response::{continuous, penalty, Body, ContinuousSettings, Kinematics, On, PenaltySettings, Sweep};

/// Returns the motion of a body from its pose by a small translation and rotation.
fn sweep<'a>(geometry: Geometry<'a>, from: &Kinematics, rng: &mut Rng, reach: f64) -> Sweep<'a> {
    let turn = Rotation::from_scaled_axis(rng.vector() * reach);
    let origin = from.pose.translation.vector + rng.vector() * reach;
    let to = Pose::from_parts(origin.into(), turn * from.pose.rotation);
    let center = from.pose.inverse_transform_point(&from.center.into()).coords;
    Sweep { geometry, poses: [from.pose, to], center, twist: from.twist }
}

fn collisions(a: &Sweep, b: &Sweep, offset: f64) -> Vec<Collision> {
    let mut workspace = Workspace::new();
    let (a, b) = (a.moving(), b.moving());
    [Roles::Both, Roles::ShellOfA, Roles::ShellOfB]
        .iter()
        .find_map(|&roles| {
            let query = impact::Query { roles, max_separation: offset, ..impact::Query::default() };
            impact::contacts(&a, &b, &query, &mut workspace).ok().map(<[Collision]>::to_vec)
        })
        .expect("some role is possible")
}

/// Sums many small steps over every sample, in f64: the integrals of the papers, with their F at each time.
fn by_substeps(a: &Sweep, b: &Sweep, on: On, settings: &PenaltySettings, steps: u32) -> Wrench {
    let mut sum = Wrench::ZERO;
    let lerp = |p: [Vec3; 2], t: f64| p[0] * (1.0 - t) + p[1] * t;
    for (sample, field, of_b) in [(a, b, false), (b, a, true)] {
        let (Some(shell), Some(shape)) = (sample.geometry.shell, field.geometry.field) else { continue };
        for i in 0..shell.len() {
            let places = sample.poses.map(|pose| pose.transform_point(&shell.position(i).into()).coords);
            let normal = -Vec3::from(shell.normal(i).map(f64::from));
            let pushes = sample.poses.map(|pose| pose.rotation * normal);
            let within = [0, 1].map(|k| field.poses[k].inverse_transform_point(&places[k].into()).coords);
            let far = (within[1] - within[0]).norm() + 1e-3;
            if between(shape, &Pose::identity(), &within[0]) > 2.0 * far + settings.offset {
                continue;
            }
            for j in 0..steps {
                let t = (f64::from(j) + 0.5) / f64::from(steps);
                let depth = settings.offset - between(shape, &Pose::identity(), &lerp(within, t));
                if depth <= 0.0 {
                    continue;
                }
                let (p, u) = (lerp(places, t), lerp(pushes, t).normalize());
                let center = |s: &Sweep| lerp(s.poses.map(|pose| pose.transform_point(&s.center.into()).coords), t);
                let v = sample.twist.at(&(p - center(sample))) - field.twist.at(&(p - center(field)));
                let force =
                    u * (settings.stiffness * depth - settings.damping * u.dot(&v)).max(0.0) - v * settings.drag;
                let (sign, about) = match (on, of_b) {
                    (On::A, false) => (1.0, center(a)),
                    (On::B, true) => (1.0, center(b)),
                    (On::A, true) => (-1.0, center(a)),
                    (On::B, false) => (-1.0, center(b)),
                };
                sum += Wrench::of_force(force * (sign / f64::from(steps)), &(p - about));
            }
        }
    }
    sum
}

proptest! {
    #![proptest_config(cases(24))]
    #[test]
    fn the_average_over_a_step_is_that_of_many_small_steps(seed in 0u64..1 << 40) {
        let case = Case::random(seed);
        let mut rng = Rng(seed);
        let a = sweep(case.scene.a.geometry(), &case.a, &mut rng, 0.1);
        let b = sweep(case.scene.b.geometry(), &case.b, &mut rng, 0.1);
        let offset = if seed % 2 == 0 { 0.004 } else { 0.0 };
        let force = PenaltySettings { offset, drag: 2.0, ..PenaltySettings::new(1000.0, 5.0) };
        let settings = ContinuousSettings { penalty: force, midpoints: 40 };
        let found = collisions(&a, &b, offset);
        for on in [On::A, On::B] {
            let response = continuous(&found, &a, &b, on, &settings);
            let expected = by_substeps(&a, &b, on, &force, 400);
            let scale = expected.column().amax() + found.len() as f64 * 0.5 + 1.0;
            let off = (response.wrench.column() - expected.column()).amax() / scale;
            prop_assert!(off < 0.01, "{} {on:?}: off by {off}:\n{:?}\n{expected:?}", case.scene.name, response.wrench);
        }
    }

    #[test]
    fn over_a_step_at_rest_it_is_the_discrete_penalty(seed in 0u64..1 << 40) {
        let case = Case::random(seed);
        let still = |geometry, k: &Kinematics| sweep(geometry, k, &mut Rng(seed), 0.0);
        let (a, b) = (still(case.scene.a.geometry(), &case.a), still(case.scene.b.geometry(), &case.b));
        let force = PenaltySettings { drag: 2.0, ..PenaltySettings::new(1000.0, 5.0) };
        let query = Query { roles: Roles::Auto, ..Query::default() };
        let mut workspace = voxshell::contact::Workspace::new();
        let discrete =
            contacts(a.geometry, &a.poses[0], b.geometry, &b.poses[0], &query, &mut workspace).unwrap();
        let lasting: Vec<Collision> = discrete.iter().map(|c| Collision { contact: *c, until: 1.0 }).collect();
        let body = |s: &Sweep<'static>, kinematics| Body { geometry: s.geometry, kinematics };
        for on in [On::A, On::B] {
            let expected = penalty(discrete, &body(&a, case.a), &body(&b, case.b), on, &force);
            let response = continuous(&lasting, &a, &b, on, &ContinuousSettings::new(force));
            let near = |p: f64, q: f64| (p - q).abs() <= 2e-4 * (1.0 + q.abs());
            prop_assert!(near((response.wrench.column() - expected.wrench.column()).amax() / expected.wrench.column().amax().max(1.0), 0.0));
            prop_assert!(near((response.by_pose - expected.by_pose).amax() / expected.by_pose.amax().max(1.0), 0.0));
            prop_assert!(near((response.by_twist - expected.by_twist).amax() / expected.by_twist.amax().max(1.0), 0.0));
        }
    }

    #[test]
    fn gradients_are_finite_differences_of_the_whole_way(seed in 0u64..1 << 40) {
        let case = Case::random(seed);
        // Near the middle of a ball the gradient changes within the differences.
        prop_assume!(case.scene.name != "cuboid around a shell");
        let mut rng = Rng(seed);
        let mut a = sweep(case.scene.a.geometry(), &case.a, &mut rng, 0.05);
        let mut b = sweep(case.scene.b.geometry(), &case.b, &mut rng, 0.05);
        // The cross term of a field that rotates during the change is of second order.
        for s in [&mut a, &mut b] {
            s.poses[1].rotation = s.poses[0].rotation;
        }
        let settings = ContinuousSettings::new(PenaltySettings::new(1000.0, 0.0));
        let change = |s: &Sweep<'static>, axis: usize, h: f64| {
            let poses = s.poses.map(|pose| {
                let center = pose.transform_point(&s.center.into()).coords;
                moved(&Kinematics { pose, center, twist: Twist::ZERO }, true, axis, h).pose
            });
            Sweep { poses, ..*s }
        };
        for on in [On::A, On::B] {
            let at = |a: &Sweep, b: &Sweep| continuous(&collisions(a, b, 0.0), a, b, on, &settings);
            let exact = at(&a, &b).by_pose;
            let h = 1e-4;
            let mut numeric = Mat6::zeros();
            for axis in 0..6 {
                let [more, less] = [h, -h].map(|h| {
                    let change = |s| change(s, axis, h);
                    if on == On::A { at(&change(&a), &b) } else { at(&a, &change(&b)) }.wrench.column()
                });
                numeric.set_column(axis, &((more - less) / (2.0 * h)));
            }
            let scale = exact.amax().max(numeric.amax()) + 1.0;
            let off = (numeric - exact).amax() / scale;
            prop_assert!(off < 0.03, "{} {on:?}: off by {off}:\n{numeric}{exact}", case.scene.name);
        }
    }
}

/// Returns one sample that moves straight down at `speed` metres per step from `height`, above the ground.
fn one_sample(height: f64, speed: f64) -> (PointShell, [Pose; 2], Field) {
    let options = ShellOptions::default();
    let shell = PointShell::from_samples(&[[0.0; 3]], &[[0.0, -1.0, 0.0]], &options).unwrap();
    let poses = [Pose::translation(0.2, height, 0.1), Pose::translation(0.2, height - speed, 0.1)];
    (shell, poses, Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap()))
}

#[test]
fn a_sample_that_goes_in_has_the_integral_of_a_triangle() {
    for (height, speed) in [(0.3, 0.4), (0.0, 0.1), (0.9, 1.0)] {
        let (shell, poses, field) = one_sample(height, speed);
        let geometry = Geometry { field: None, shell: Some(&shell), surface: None };
        let a = Sweep { geometry, poses, center: Vec3::zeros(), twist: Twist::ZERO };
        let ground = Geometry { field: Some(&field), shell: None, surface: None };
        let b = Sweep { geometry: ground, poses: [Pose::identity(); 2], center: Vec3::zeros(), twist: Twist::ZERO };
        let found = collisions(&a, &b, 0.0);
        assert_eq!(found.len(), 1);
        let response = continuous(&found, &a, &b, On::A, &ContinuousSettings::new(PenaltySettings::new(500.0, 0.0)));
        // Half of the final depth, for the remaining part of the step.
        let depth = speed - height;
        let expected = 500.0 * 0.5 * depth * (depth / speed);
        assert!((response.wrench.force - Vec3::y() * expected).norm() < 1e-4 * expected, "{:?}", response.wrench);
        let expected = -500.0 * depth / speed;
        assert!((response.by_pose[(1, 1)] - expected).abs() < 1e-5 * expected.abs());
    }
}

#[test]
fn a_body_that_passes_within_a_step_is_pushed() {
    let (shell, mut poses, _) = one_sample(0.5, 1.0);
    poses[0].translation.vector.x = 0.0;
    poses[1].translation.vector.x = 0.0;
    let ball = Field::Sphere(voxshell::field::Sphere::new(0.2).unwrap());
    let geometry = Geometry { field: None, shell: Some(&shell), surface: None };
    let a = Sweep { geometry, poses, center: Vec3::zeros(), twist: Twist::ZERO };
    let b = Sweep {
        geometry: Geometry { field: Some(&ball), shell: None, surface: None },
        poses: [Pose::identity(); 2],
        ..a
    };
    let found = collisions(&a, &b, 0.0);
    let settings = ContinuousSettings { penalty: PenaltySettings::new(500.0, 0.0), midpoints: 20 };
    let up = continuous(&found, &a, &b, On::A, &settings).wrench.force;
    assert!(up.y > 1.0 && up.x.abs() < 1e-3, "{up}");
    assert_eq!(continuous(&[], &a, &b, On::A, &settings), Default::default());
}
