//! Impulses at contacts and clusters of contacts, against closed forms, conservation laws, and the guarantees of
//! k-means.

use proptest::prelude::*;
use support::cases;
use support::rng::Rng;
use voxshell::contact::Contact;
use voxshell::math::{Mat3, Pose, Twist, Vec3};
use voxshell::response::{
    cluster, impulse, ClusterSettings, Clusters, ImpulseSettings, Impulses, Kinematics, Mobility, CLUSTER_FEATURE,
};

fn contact(middle: Vec3, normal: Vec3, separation: f64, feature: u32) -> Contact {
    let half = normal * (0.5 * separation);
    Contact { point_on_a: middle - half, point_on_b: middle + half, normal, separation, toi: 0.0, feature, segment: 0 }
}

fn body(rng: &mut Rng) -> (Kinematics, Mobility) {
    let center = rng.vector();
    let twist = Twist { linear: rng.vector() * 2.0, angular: rng.vector() * 4.0 };
    let axes = rng.rotation().to_rotation_matrix().into_inner();
    let moments = Vec3::new(3.0 + rng.unit(), 5.0 + rng.unit(), 6.0 + rng.unit());
    let inverse_inertia = axes * Mat3::from_diagonal(&moments) * axes.transpose();
    let kinematics = Kinematics { pose: Pose::from_parts(center.into(), rng.rotation()), center, twist };
    (kinematics, Mobility { inverse_mass: 0.5 + 2.0 * rng.fraction(), inverse_inertia })
}

fn after(body: &(Kinematics, Mobility), load: &voxshell::math::Wrench) -> Twist {
    Twist {
        linear: body.0.twist.linear + load.force * body.1.inverse_mass,
        angular: body.0.twist.angular + body.1.inverse_inertia * load.torque,
    }
}

fn energy(body: &(Kinematics, Mobility), twist: &Twist) -> f64 {
    let inertia = body.1.inverse_inertia.try_inverse().unwrap();
    0.5 * (twist.linear.norm_squared() / body.1.inverse_mass + twist.angular.dot(&(inertia * twist.angular)))
}

fn parting(c: &Contact, a: (&Kinematics, Twist), b: (&Kinematics, Twist)) -> f64 {
    let middle = (c.point_on_a + c.point_on_b) * 0.5;
    (b.1.at(&(middle - b.0.center)) - a.1.at(&(middle - a.0.center))).dot(&c.normal)
}

/// Returns contacts on one side of A, so that some motion resolves all.
fn patch(rng: &mut Rng, depth: f64) -> Vec<Contact> {
    let normal = rng.vector().normalize();
    let count = 1 + rng.next() as u32 % 20;
    (0..count)
        .map(|i| {
            let tilted = (normal + rng.vector() * 0.2).normalize();
            contact(rng.vector(), tilted, -depth * rng.fraction(), i)
        })
        .collect()
}

proptest! {
    #![proptest_config(cases(300))]
    #[test]
    fn impulses_separate_every_contact_and_conserve_momentum(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let (a, b) = (body(&mut rng), body(&mut rng));
        let contacts = patch(&mut rng, 0.002);
        let settings = ImpulseSettings { iterations: 100_000, ..ImpulseSettings::new(0.01) };
        let done = impulse(&contacts, (&a.0, &a.1), (&b.0, &b.1), &settings);
        prop_assert!(done.resolved);
        let (va, vb) = (after(&a, &done.on_a), after(&b, &done.on_b));
        for c in &contacts {
            let speed = parting(c, (&a.0, va), (&b.0, vb));
            prop_assert!(speed >= -c.separation / 0.01 * (1.0 - 1e-6) - 1e-6, "{speed} at {}", c.separation);
        }
        let about_b = done.on_a.about(&(b.0.center - a.0.center));
        prop_assert!((about_b.column() + done.on_b.column()).amax() < 1e-9 * (1.0 + done.on_b.column().amax()));
    }

    #[test]
    fn impulses_lose_energy_and_one_elastic_impulse_conserves_it(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let (a, b) = (body(&mut rng), body(&mut rng));
        let contacts = patch(&mut rng, 0.0);
        let total = |va: &Twist, vb: &Twist| energy(&a, va) + energy(&b, vb);
        let before = total(&a.0.twist, &b.0.twist);
        for (contacts, restitution) in [(&contacts[..], 0.0), (&contacts[..1], 1.0)] {
            let settings = ImpulseSettings { restitution, ..ImpulseSettings::new(0.01) };
            let done = impulse(contacts, (&a.0, &a.1), (&b.0, &b.1), &settings);
            let now = total(&after(&a, &done.on_a), &after(&b, &done.on_b));
            prop_assert!(now <= before * (1.0 + 1e-9), "{now} from {before}");
            prop_assert!(restitution == 0.0 || (now / before - 1.0).abs() < 1e-9, "{now} from {before}");
        }
    }
}

/// Returns a ball of 2 kg, 0.1 m above the contact with the ground, falling at 3 m/s.
fn falling() -> ((Kinematics, Mobility), (Kinematics, Mobility)) {
    let center = Vec3::new(0.0, 0.1, 0.0);
    let twist = Twist { linear: Vec3::new(0.5, -3.0, 0.0), angular: Vec3::zeros() };
    let ball = Kinematics { pose: Pose::translation(0.0, 0.1, 0.0), center, twist };
    let mobility = Mobility { inverse_mass: 0.5, inverse_inertia: Mat3::identity() * 100.0 };
    ((ball, mobility), (Kinematics::still(&Pose::identity()), Mobility::FIXED))
}

#[test]
fn one_contact_in_closed_form() {
    let (a, b) = falling();
    let run = |separation: f64, settings: &ImpulseSettings| -> Impulses {
        impulse(&[contact(Vec3::zeros(), -Vec3::y(), separation, 0)], (&a.0, &a.1), (&b.0, &b.1), settings)
    };
    let still = ImpulseSettings::new(0.01);
    // To −φ/dt = 0.2 m/s: 2 kg · 3.2 m/s.
    let done = run(-0.002, &still);
    assert!((done.on_a.force - Vec3::y() * 6.4).norm() < 1e-12 && done.on_a.torque.norm() < 1e-12);
    assert_eq!((done.count, done.resolved), (1, true));
    // It bounces at half of its speed, which is faster.
    let done = run(-0.002, &ImpulseSettings { restitution: 0.5, ..still });
    assert!((done.on_a.force.y - 2.0 * 4.5).abs() < 1e-12);
    // Not faster than the limit.
    let done = run(-0.5, &ImpulseSettings { max_speed: 0.4, ..still });
    assert!((done.on_a.force.y - 2.0 * 3.4).abs() < 1e-12);
    // Separated with a gap that does not close within the step, and one that just closes.
    assert_eq!(run(0.031, &still), Impulses { resolved: true, ..Impulses::default() });
    assert_eq!(run(0.029, &still).count, 1);
}

#[test]
fn the_deepest_comes_first_and_what_it_resolves_gets_nothing() {
    let (a, b) = falling();
    let at = |x: f64, depth: f64| contact(Vec3::new(x, 0.0, 0.0), -Vec3::y(), -depth, 0);
    let settings = ImpulseSettings::new(0.01);
    for contacts in [[at(0.0, 1e-3), at(1e-4, 1e-4)], [at(1e-4, 1e-4), at(0.0, 1e-3)]] {
        let done = impulse(&contacts, (&a.0, &a.1), (&b.0, &b.1), &settings);
        assert_eq!((done.count, done.resolved), (1, true));
        assert!(done.on_a.torque.norm() < 1e-12);
    }
    // Contacts far apart need several iterations, and too few are reported.
    let contacts = [at(-0.3, 1e-3), at(0.3, 1e-3)];
    let done = impulse(&contacts, (&a.0, &a.1), (&b.0, &b.1), &ImpulseSettings { iterations: 1, ..settings });
    assert_eq!((done.count, done.resolved), (1, false));
    let done = impulse(&contacts, (&a.0, &a.1), (&b.0, &b.1), &ImpulseSettings { iterations: 10_000, ..settings });
    assert!(done.resolved && done.count > 1);
    // Two fixed bodies get no impulse.
    let fixed = (b.0, Mobility::FIXED);
    let done = impulse(&contacts, (&fixed.0, &fixed.1), (&b.0, &b.1), &settings);
    assert_eq!((done.count, done.resolved), (0, false));
}

#[test]
fn impulses_on_a_mass_near_the_largest_number_stay_finite() {
    let (a, b) = falling();
    // Two contacts far from the centre push in turn: each impulse is finite, their sum is not.
    let contacts = [-3.0, 3.0].map(|x| contact(Vec3::new(x, 0.0, 0.0), -Vec3::y(), -1e-3, 0));
    let settings = ImpulseSettings { iterations: 1000, ..ImpulseSettings::new(0.01) };
    for hundredths in 0..300 {
        let exponent = -305.0 - 0.01 * f64::from(hundredths);
        let scale = 10f64.powf(exponent);
        let heavy = Mobility { inverse_mass: 0.4 * scale, inverse_inertia: Mat3::identity() * (0.2 * scale) };
        let done = impulse(&contacts, (&a.0, &heavy), (&b.0, &b.1), &settings);
        assert!(done.on_a.is_finite() && done.on_b.is_finite(), "{exponent}: {done:?}");
    }
}

fn cloud(rng: &mut Rng) -> Vec<Contact> {
    let heaps: Vec<(Vec3, Vec3)> = (0..1 + rng.next() % 5).map(|_| (rng.vector(), rng.vector().normalize())).collect();
    (0..rng.next() as u32 % 120)
        .map(|i| {
            let (place, normal) = heaps[rng.next() as usize % heaps.len()];
            let normal = (normal + rng.vector() * 0.1).normalize();
            contact(place + rng.vector() * 0.05, normal, -0.01 * rng.fraction() + 0.002, i)
        })
        .collect()
}

fn squared(c: &Contact, r: &Contact, radius: f64) -> f64 {
    let middle = |c: &Contact| (c.point_on_a + c.point_on_b) * 0.5;
    (middle(c) - middle(r)).norm_squared() + 0.5 * radius * radius * (c.normal - r.normal).norm_squared()
}

proptest! {
    #![proptest_config(cases(200))]
    #[test]
    fn contacts_are_in_the_nearest_cluster_of_their_largest_depth(seed in 0u64..1 << 40) {
        let contacts = cloud(&mut Rng(seed));
        let settings = ClusterSettings { max_clusters: 6, radius: 0.15, max_separation: 0.002 };
        let mut clusters = Clusters::new();
        let found = cluster(&contacts, &settings, &mut clusters).to_vec();
        prop_assert_eq!(found.is_empty(), contacts.is_empty());
        prop_assert!(found.len() <= 6);
        let of = clusters.assignment().to_vec();
        for (c, k) in contacts.iter().zip(&of) {
            let own = found.iter().find(|r| r.segment == *k).expect("its cluster is there");
            for other in &found {
                prop_assert!(squared(c, own, 0.15) <= squared(c, other, 0.15) + 1e-12);
            }
        }
        for r in &found {
            let members = || contacts.iter().zip(&of).filter(|(_, k)| **k == r.segment).map(|(c, _)| c);
            let deepest = members().map(|c| c.separation).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(r.separation, deepest);
            prop_assert_eq!(r.feature, CLUSTER_FEATURE);
            prop_assert!((r.normal.norm() - 1.0).abs() < 1e-12);
            prop_assert!((r.point_on_b - r.point_on_a - r.normal * r.separation).norm() < 1e-12);
            let weight = |c: &Contact| (0.002 - c.separation).max(1e-12);
            let weights: f64 = members().map(weight).sum();
            let mean = members().map(|c| (c.point_on_a + c.point_on_b) * 0.5 * weight(c)).sum::<Vec3>() / weights;
            prop_assert!(((r.point_on_a + r.point_on_b) * 0.5 - mean).norm() < 1e-9);
        }
        // The result with reused scratch memory is the same.
        let again = cluster(&contacts, &settings, &mut clusters).to_vec();
        prop_assert_eq!(again, found);
    }
}

#[test]
fn a_contact_at_the_largest_separation_changes_nothing() {
    let mut rng = Rng(11);
    let settings = ClusterSettings { max_clusters: 1, radius: 1.0, max_separation: 0.002 };
    let mut contacts: Vec<Contact> =
        (0..20).map(|i| contact(rng.vector() * 0.05, Vec3::y(), -0.01 * rng.fraction(), i)).collect();
    let mut clusters = Clusters::new();
    let before = cluster(&contacts, &settings, &mut clusters)[0];
    contacts.push(contact(Vec3::new(0.3, 0.0, 0.0), Vec3::x(), 0.002, 99));
    let now = cluster(&contacts, &settings, &mut clusters)[0];
    assert!((before.point_on_a - now.point_on_a).norm() < 1e-9 && (before.normal - now.normal).norm() < 1e-9);
}
