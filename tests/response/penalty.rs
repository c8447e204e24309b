//! Penalty forces: wrenches against a plain sum over all samples in f64, gradients against finite differences.

use proptest::prelude::*;
use support::allocation::allocations;
use support::cases;
use support::motion::{between, moved, Case, Scene};
use support::rng::Rng;
use voxshell::contact::{contacts, contacts_of, Contact, Geometry, Query, Roles, Workspace, FEATURE_OF_B};
use voxshell::field::Field;
use voxshell::math::{Mat6, Twist, Vec3, Wrench};
use voxshell::response::{penalty, Body, Kinematics, On, PenaltySettings, Response};

fn query(a: &Body, b: &Body, workspace: &mut Workspace, offset: f64) -> Vec<Contact> {
    let query = Query { roles: Roles::Both, max_separation: offset, ..Query::default() };
    let roles = [Roles::Both, Roles::ShellOfA, Roles::ShellOfB];
    roles
        .iter()
        .find_map(|&roles| {
            let query = Query { roles, ..query };
            let found = contacts(a.geometry, &a.kinematics.pose, b.geometry, &b.kinematics.pose, &query, workspace);
            found.ok().map(<[Contact]>::to_vec)
        })
        .expect("some role is possible")
}

/// Sums every sample in f64 by the formulas of the papers: F = k d n, τ = r × F.
fn by_hand(a: &Body, b: &Body, on: On, settings: &PenaltySettings) -> (Wrench, usize) {
    let (mut sum, mut count) = (Wrench::ZERO, 0);
    for (sample, field, of_b) in [(a, b, false), (b, a, true)] {
        let (Some(shell), Some(shape)) = (sample.geometry.shell, sample.geometry.shell.and(field.geometry.field))
        else {
            continue;
        };
        for i in 0..shell.len() {
            let p = sample.kinematics.pose.transform_point(&shell.position(i).into()).coords;
            let phi = between(shape, &field.kinematics.pose, &p);
            if phi >= settings.offset {
                continue;
            }
            count += 1;
            let inward = -(sample.kinematics.pose.rotation * Vec3::from(shell.normal(i).map(f64::from)));
            let v = sample.kinematics.twist.at(&(p - sample.kinematics.center))
                - field.kinematics.twist.at(&(p - field.kinematics.center));
            let size = (settings.stiffness * (settings.offset - phi) - settings.damping * inward.dot(&v)).max(0.0);
            let force = inward * size - v * settings.drag;
            let (force, center) = match (on, of_b) {
                (On::A, false) => (force, a.kinematics.center),
                (On::B, true) => (force, b.kinematics.center),
                (On::A, true) => (-force, a.kinematics.center),
                (On::B, false) => (-force, b.kinematics.center),
            };
            sum += Wrench::of_force(force, &(p - center));
        }
    }
    (sum, count)
}

fn settings(rng: &mut Rng) -> PenaltySettings {
    PenaltySettings {
        drag: if rng.unit() > 0.0 { 3.0 } else { 0.0 },
        offset: if rng.unit() > 0.0 { 0.004 } else { 0.0 },
        ..PenaltySettings::new(1000.0, if rng.unit() > -0.5 { 20.0 } else { 0.0 })
    }
}

proptest! {
    #![proptest_config(cases(60))]
    #[test]
    fn wrenches_are_those_of_a_sum_over_all_samples(seed in 0u64..1 << 40) {
        let Case { scene, a, b } = Case::random(seed);
        let mut rng = Rng(seed);
        let (a, b) = (scene.body_a(&a), scene.body_b(&b));
        let settings = settings(&mut rng);
        let found = query(&a, &b, &mut Workspace::new(), settings.offset);
        for on in [On::A, On::B] {
            let (expected, count) = by_hand(&a, &b, on, &settings);
            // Samples within rounding of the offset may be on either side.
            prop_assert!(found.len().abs_diff(count) <= 3, "{} contacts, {count} by hand", found.len());
            let response = penalty(&found, &a, &b, on, &settings);
            let scale = found.iter().map(|c| 1000.0 * (settings.offset - c.separation) + 100.0).sum::<f64>() + 1.0;
            let off = (response.wrench.column() - expected.column()).amax();
            prop_assert!(off <= 1e-4 * scale, "{} {on:?}: off by {off} of {scale}", scene.name);
        }
    }

    #[test]
    fn forces_on_the_two_bodies_are_opposite(seed in 0u64..1 << 40) {
        let Case { scene, a, b } = Case::random(seed);
        let settings = settings(&mut Rng(seed));
        let (a, b) = (scene.body_a(&a), scene.body_b(&b));
        let found = query(&a, &b, &mut Workspace::new(), settings.offset);
        let [on_a, on_b] = [On::A, On::B].map(|on| penalty(&found, &a, &b, on, &settings).wrench);
        let back = on_b.about(&(a.kinematics.center - b.kinematics.center));
        prop_assert!((on_a.column() + back.column()).amax() <= 1e-9 * (1.0 + on_a.column().amax()));
    }

    #[test]
    fn gradients_are_finite_differences(seed in 0u64..1 << 40) {
        let Case { scene, a, b } = Case::random(seed);
        let mut rng = Rng(seed);
        let settings = settings(&mut rng);
        let (body_a, body_b) = (scene.body_a(&a), scene.body_b(&b));
        let found = query(&body_a, &body_b, &mut Workspace::new(), settings.offset);
        // No contact may begin, end or stop pushing within the differences; deep inside gradients change within them.
        let clear = |c: &&Contact| {
            let (sample, field, point) =
                if c.feature & FEATURE_OF_B == 0 { (&body_a, &body_b, c.point_on_a) } else { (&body_b, &body_a, c.point_on_b) };
            let normal = sample.geometry.shell.unwrap().normal((c.feature & !FEATURE_OF_B) as usize);
            let outward = sample.kinematics.pose.rotation * Vec3::from(normal.map(f64::from));
            let speed = [sample, field].map(|body| body.kinematics.twist.at(&(point - body.kinematics.center)));
            let depth = settings.offset - c.separation;
            let push = settings.stiffness * depth + settings.damping * outward.dot(&(speed[0] - speed[1]));
            depth > 2e-3 && c.separation > -0.1 && push.abs() > 0.5
        };
        let features: Vec<u32> = found.iter().filter(clear).map(|c| c.feature).collect();
        prop_assume!(!features.is_empty());
        let at = |a: &Kinematics, b: &Kinematics, on: On| {
            let (a, b) = (scene.body_a(a), scene.body_b(b));
            let mut contacts = Vec::new();
            contacts_of(a.geometry, &a.kinematics.pose, b.geometry, &b.kinematics.pose, &features, |_, c| {
                contacts.push(c)
            })
            .unwrap();
            penalty(&contacts, &a, &b, on, &settings)
        };
        for on in [On::A, On::B] {
            let response = at(&a, &b, on);
            check_gradients(scene, features.len(), &response, |by_pose, i, h| {
                let change = |k: &Kinematics| moved(k, by_pose, i, h);
                let (a, b) = if on == On::A { (change(&a), b) } else { (a, change(&b)) };
                at(&a, &b, on).wrench
            })?;
        }
    }
}

fn check_gradients(
    scene: &Scene,
    contacts: usize,
    response: &Response,
    at: impl Fn(bool, usize, f64) -> Wrench,
) -> Result<(), TestCaseError> {
    for (by_pose, exact, h) in [(true, &response.by_pose, 1e-4), (false, &response.by_twist, 1e-3)] {
        let mut numeric = Mat6::zeros();
        for i in 0..6 {
            let column = (at(by_pose, i, h).column() - at(by_pose, i, -h).column()) / (2.0 * h);
            numeric.set_column(i, &column);
        }
        // Contacts on all sides cancel each other's part of the sum, but not its rounding.
        let scale = exact.amax().max(numeric.amax()).max(100.0 * contacts as f64);
        let off = (numeric - exact).amax() / scale;
        prop_assert!(off < scene.error_bound, "{}: by pose {by_pose}, off by {off}:\n{numeric}{exact}", scene.name);
    }
    Ok(())
}

#[test]
fn a_contact_does_not_pull_and_none_is_no_force() {
    let case = (0..).map(Case::random).find(|case| case.scene.name == "shell in a half-space").unwrap();
    let settings = PenaltySettings::new(1000.0, 50.0);
    let out = Twist { linear: Vec3::y() * 100.0, angular: Vec3::zeros() };
    let a = Kinematics { twist: out, ..case.a };
    let (a, b) = (case.scene.body_a(&a), case.scene.body_b(&Kinematics::still(&case.b.pose)));
    let found = query(&a, &b, &mut Workspace::new(), 0.0);
    let receding: Vec<Contact> = found
        .iter()
        .filter(|c| {
            let shell = a.geometry.shell.unwrap();
            let inward = -(a.kinematics.pose.rotation * Vec3::from(shell.normal(c.feature as usize).map(f64::from)));
            // Moving out fast along the direction of the force.
            inward.dot(&out.linear) > 10.0
        })
        .copied()
        .collect();
    assert!(receding.len() > 3, "{} of {}", receding.len(), found.len());
    assert_eq!(penalty(&receding, &a, &b, On::A, &settings), Response::default());
    assert_eq!(penalty(&[], &a, &b, On::A, &settings), Response::default());
}

#[test]
fn stiffness_stops_to_grow_from_the_count_that_is_set() {
    let case = (0..).map(Case::random).find(|case| case.scene.name == "shell in a half-space").unwrap();
    let (a, b) = (case.scene.body_a(&case.a), case.scene.body_b(&case.b));
    let found = query(&a, &b, &mut Workspace::new(), 0.0);
    assert!(found.len() > 20);
    let sums = PenaltySettings::new(1000.0, 10.0);
    let averages = PenaltySettings { average_from: 10, ..sums };
    for count in [1, 9, 10, 11, found.len()] {
        let [sum, average] = [sums, averages].map(|s| penalty(&found[..count], &a, &b, On::A, &s));
        let expected = sum.scaled(if count > 10 { 10.0 / count as f64 } else { 1.0 });
        assert!((average.wrench.column() - expected.wrench.column()).amax() < 1e-12);
        assert!((average.by_pose - expected.by_pose).amax() < 1e-9);
    }
}

#[test]
fn without_shells_and_fields_contacts_are_planes() {
    // Otaduy & Lin 2005, equation 21: F = −k N (x + R r − p₀) − b N (v + ω × r), in a fixed frame.
    let mut rng = Rng(4);
    let nothing = Geometry { field: None, shell: None, surface: None };
    for of_b in [0, FEATURE_OF_B] {
        for _ in 0..50 {
            let normal = rng.vector().normalize();
            let (point, separation) = (rng.vector(), -0.01 * rng.fraction());
            let contact = Contact {
                point_on_a: point,
                point_on_b: point + normal * separation,
                normal,
                separation,
                toi: 0.0,
                feature: 3 | of_b,
                segment: 0,
            };
            let center = rng.vector();
            let pose = nalgebra::Isometry3::from_parts(center.into(), rng.rotation());
            let twist = Twist { linear: -normal * 0.3, angular: rng.vector() };
            let a = Body { geometry: nothing, kinematics: Kinematics { pose, center, twist } };
            let b = Body { geometry: nothing, kinematics: Kinematics::still(&pose) };
            let response = penalty(&[contact], &a, &b, On::A, &PenaltySettings::new(700.0, 8.0));
            let sample = if of_b == 0 { contact.point_on_a } else { contact.point_on_b };
            let r = sample - center;
            let size = (-700.0 * separation - 8.0 * (-normal).dot(&twist.at(&r))).max(0.0);
            let expected = Wrench::of_force(-normal * size, &r);
            assert!((response.wrench.column() - expected.column()).amax() < 1e-9);
        }
    }
}

#[test]
fn penalty_does_not_allocate() {
    let case = (0..).map(Case::random).find(|case| case.scene.name == "torus in torus").unwrap();
    let (a, b) = (case.scene.body_a(&case.a), case.scene.body_b(&case.b));
    let found = query(&a, &b, &mut Workspace::new(), 0.01);
    let settings = PenaltySettings { drag: 1.0, ..PenaltySettings::new(1000.0, 10.0) };
    assert!(!matches!(b.geometry.field, Some(Field::Sheet(_))));
    assert_eq!(
        allocations(|| {
            std::hint::black_box(penalty(&found, &a, &b, On::A, &settings));
            std::hint::black_box(penalty(&found, &a, &b, On::B, &settings));
        }),
        0
    );
}
