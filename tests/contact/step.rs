//! Contacts that are relevant in a step, against brute force over all contacts. With dense contacts, the kept ones are
//! unchanged, and the removed ones are no deeper and, but for a few, no more urgent.

use nalgebra::{Isometry3, Point3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, distance, Completeness, Contact, Geometry, Query, Roles, Step, Workspace};
use voxshell::contact::{Owner, FEATURE_OF_B};
use voxshell::field::{Cuboid, Field, HalfSpace, MeshField, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives::{self, Primitive};
use voxshell::pointshell::ShellOptions;

/// Rounding of gaps of bodies of about a metre, metres.
const ROUNDING: f64 = 1e-6;

/// Largest number of samples of a leaf: dense contacts are counted by leaves.
const LEAF: usize = 8;
/// By how much a removed contact may be deeper than the kept ones near it, in distances between samples.
const DEEPER: f64 = 0.2;
/// One removed contact of this number may be more urgent than all kept ones that are near it and face its direction.
const MORE_URGENT: usize = 50;

fn knot(storage: Storage) -> Shape {
    let shell = ShellOptions { target_count: Some(3_000), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(64), storage, shell, ..CookOptions::default() };
    Shape::cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap(), &options, &Progress::none()).unwrap()
}

/// Returns the gap that the answer promises, from the contact alone.
fn gap(c: &Contact, step: &Step) -> f64 {
    let point = if c.feature & FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
    let moved = step.shift + step.turn.cross(&(point - step.center));
    // Without what either force takes from the other body.
    let parts = [-c.normal.dot(&step.gained[0]), c.normal.dot(&step.gained[1])].map(|part| part.max(0.0));
    c.separation - (c.normal.dot(&moved) + parts[0] + parts[1]).max(0.0)
}

/// Returns the direction of the surface of the body that brings the field, in its frame; `None` near a change of
/// direction.
fn way(c: &Contact, [pose_a, pose_b]: [&Pose; 2]) -> Option<[bool; 3]> {
    let of_a = c.feature & FEATURE_OF_B == 0;
    let outward = if of_a { pose_b.rotation.inverse() * -c.normal } else { pose_a.rotation.inverse() * c.normal };
    let clear = outward.iter().all(|x| x.abs() > 1e-4);
    clear.then(|| [outward.x < 0.0, outward.y < 0.0, outward.z < 0.0])
}

struct Pair<'a> {
    a: &'a Shape,
    pose_a: Pose,
    b: Geometry<'a>,
    owner_b: Owner<'a>,
    pose_b: Pose,
}

impl Pair<'_> {
    fn ask(&self, query: &Query, workspace: &mut Workspace) -> Vec<Contact> {
        contacts(self.a.geometry(), &self.pose_a, self.b, &self.pose_b, query, workspace).unwrap().to_vec()
    }

    /// Returns whether the point of a contact stays outside the other body, or no deeper than what counts, on a straight way
    /// through a step.
    fn passes_by(&self, c: &Contact, step: &Step) -> bool {
        let gains = [Vec3::zeros(), step.gained[0], -step.gained[1]];
        gains.iter().all(|gain| self.stays_above(c, step, gain, step.max_gap.min(0.0)))
    }

    /// Returns whether the point of a contact may be one that another face carries: without what forces add it comes nowhere deeper
    /// than 4/2,000 of the extent of the smaller body.
    fn is_carried(&self, c: &Contact, step: &Step) -> bool {
        let extent = |geometry: Geometry| geometry.field.unwrap().bounds().extents().amax();
        let depth = extent(self.a.geometry()).min(extent(self.b)) / 2000.0;
        let gained = step.gained[0] - step.gained[1];
        gained != Vec3::zeros() && self.stays_above(c, step, &gained, -4.0 * depth - ROUNDING)
    }

    /// Returns whether the point of a contact stays above a level of φ on a straight way through a step, without a part of it.
    fn stays_above(&self, c: &Contact, step: &Step, without: &Vec3, level: f64) -> bool {
        let of_b = c.feature & FEATURE_OF_B != 0;
        let (start, field, pose, sign) = match of_b {
            true => (c.point_on_b, self.a.geometry().field.unwrap(), &self.pose_a, -1.0),
            false => (c.point_on_a, self.b.field.unwrap(), &self.pose_b, 1.0),
        };
        let moves = step.shift + step.turn.cross(&(start - step.center)) - without;
        let at = |k: u32| start + moves * (sign * f64::from(k) / 200.0);
        let at = |k: u32| pose.inverse_transform_point(&Point3::from(at(k))).coords;
        let origin = field.local_origin(&at(0));
        (0..=200).all(|k| f64::from(field.distance((at(k) - origin).map(|x| x as f32).into())) > level)
    }

    /// Checks the answer about one step; returns its number of contacts.
    fn check(&self, name: &str, all: &[Contact], query: &Query, apart: f64, workspace: &mut Workspace) -> usize {
        let (mut removed, mut more_urgent) = (0, 0);
        let spacing = |of_b: bool| {
            let shell = if of_b { self.b.shell } else { self.a.geometry().shell };
            shell.map_or(0.0, |shell| f64::from(shell.spacing))
        };
        let step = query.step.unwrap();
        let few = if step.dense_above == 0 { usize::MAX } else { step.dense_above };
        let found = self.ask(query, workspace);
        let report = workspace.report();
        let poses = [&self.pose_a, &self.pose_b];
        let mut rest = all.iter();
        assert!(found.iter().all(|c| rest.any(|d| c == d)), "{name}: invented, changed, or in another order");
        for c in &found {
            let asked_for = query.preferred.contains(&c.feature);
            assert!(asked_for || gap(c, &step) <= step.max_gap + ROUNDING, "{name}: does not count: {c:?}");
        }
        let counting = |of_b: bool, max_gap: f64| {
            all.iter().filter(|c| (c.feature & FEATURE_OF_B != 0) == of_b && gap(c, &step) <= max_gap).count()
        };
        let most = [false, true].map(|of_b| counting(of_b, step.max_gap + ROUNDING).saturating_mul(LEAF));
        if most[0].max(most[1]) <= few {
            assert_eq!(report.completeness, Completeness::Complete, "{name}");
        }
        for &feature in query.preferred {
            let wanted = all.iter().find(|c| c.feature == feature);
            let is_found = found.iter().any(|c| c.feature == feature);
            let is_right = wanted.map_or(!is_found, |c| is_found || self.is_carried(c, &step));
            assert!(is_right, "{name}: preferred {feature}");
        }
        for c in all.iter().filter(|c| !found.iter().any(|d| d.feature == c.feature)) {
            let bound = report.completeness == Completeness::Complete || report.least_missed <= c.separation;
            assert!(bound, "{name}: {report:?}, missed {}", c.separation);
            let least = gap(c, &step);
            if least > step.max_gap - ROUNDING {
                continue;
            }
            if (c.separation > step.max_gap && self.passes_by(c, &step)) || self.is_carried(c, &step) {
                continue;
            }
            assert!(most[usize::from(c.feature & FEATURE_OF_B != 0)] > few, "{name}: one of few was left out: {c:?}");
            let Some(facing) = way(c, poses) else { continue };
            // The kept contact that represents a removed one faces the same direction, is near, and is as urgent.
            let stands = |d: &&Contact| {
                d.feature & FEATURE_OF_B == c.feature & FEATURE_OF_B
                    && way(d, poses).is_none_or(|w| w == facing)
                    && gap(d, &step) <= least + ROUNDING
                    && (d.point_on_a - c.point_on_a).norm() < apart
            };
            let passed = |d: &&Contact| stands(d) && d.separation > step.max_gap && self.passes_by(d, &step);
            let stood = found.iter().any(|d| stands(&d)) || all.iter().any(|d| passed(&d));
            removed += 1;
            more_urgent += usize::from(!stood);
            let deepest = c.separation + DEEPER * spacing(c.feature & FEATURE_OF_B != 0);
            let as_deep = |d: &Contact| d.separation <= deepest && (d.point_on_a - c.point_on_a).norm() < apart;
            assert!(found.iter().any(as_deep), "{name}: nobody as deep as {c:?}");
        }
        assert!(more_urgent * MORE_URGENT <= removed, "{name}: {more_urgent} of {removed} are more urgent");
        found.len()
    }
}

/// Bodies that touch, penetrate or are apart, with motions of all kinds and sizes, at various places in the world.
#[test]
fn step_queries_return_relevant_and_most_urgent_contacts() {
    let (bricks, dense) = (knot(Storage::Bricks), knot(Storage::Dense));
    let cuboid = Shape::from_field(Field::Cuboid(Cuboid::new([0.3, 0.5, 0.2]).unwrap()));
    let mesh = Shape::from_field(Field::Mesh(MeshField::new(primitives::torus(0.3, 0.12, 24, 12).unwrap()).unwrap()));
    let mut workspace = Workspace::new();
    let half_space = Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::new(0.2, 1.0, -0.1), 0.05).unwrap()));
    let bodies = [("bricks", &bricks, 60), ("dense", &dense, 40), ("box", &cuboid, 40), ("mesh", &mesh, 20)];
    for (name, b, cases) in bodies.into_iter().chain([("half-space", &half_space, 60)]) {
        let (mut rng, mut thinned, mut whole) = (Rng(5), 0, 0);
        for case in 0..cases {
            let mut pose = Isometry3::from_parts(Translation3::from(rng.vector() * 0.3), rng.rotation());
            let (a, of_b) = (&bricks, b.geometry());
            for _ in 0..case % 3 * 3 {
                let still = Pose::identity();
                let c = distance(a.geometry(), &pose, of_b, &still, Roles::ShellOfA, f64::INFINITY, &mut workspace);
                let c = c.unwrap().unwrap();
                pose.translation.vector += c.normal * (c.separation + 0.002);
            }
            let world = Isometry3::from_parts(Translation3::from(rng.vector() * 10.0), rng.rotation());
            let pair = Pair { a, pose_a: world * pose, b: of_b, owner_b: b.owner(), pose_b: world };
            let roles = if b.shell.is_some() && case % 2 == 0 { Roles::Both } else { Roles::ShellOfA };
            let max_separation = [0.02, 0.08, 0.3][(rng.next() % 3) as usize];
            let everything = Query { roles, max_separation, ..Query::default() };
            let all = pair.ask(&everything, &mut workspace);
            let size = [0.0, 1e-3, 0.02, 0.1][(rng.next() % 4) as usize];
            let step = Step {
                dense_above: [0, 0, 1, 50, 400, 2_999, 3_000][(rng.next() % 7) as usize],
                extremes_only: false,
                max_gap: [-0.01, 0.0, 0.01, f64::INFINITY][(rng.next() % 4) as usize],
                center: world.translation.vector + rng.vector(),
                shift: rng.vector() * size,
                turn: rng.vector() * (3.0 * size),
                gained: [0, 1].map(|_| if rng.next() % 3 == 0 { rng.vector() * size } else { Vec3::zeros() }),
            };
            // Rotation about a nearby point: near it hardly anything moves, farther away everything does.
            let step = match all.get(all.len() / 2) {
                Some(c) if case % 2 == 0 => {
                    Step { center: c.point_on_a, shift: Vec3::zeros(), turn: rng.vector() * 2.0, ..step }
                }
                _ => step,
            };
            let mut preferred: Vec<u32> = (0..6).map(|_| (rng.next() % 3_000) as u32).collect();
            preferred.extend(preferred.clone());
            preferred.extend([FEATURE_OF_B | 7, FEATURE_OF_B | 2_000, FEATURE_OF_B | 9_000_000, 1 << 30]);
            preferred.sort_unstable();
            let query = Query { step: Some(step), preferred: &preferred, ..everything };
            let found = pair.check(&format!("{name} {case}"), &all, &query, 0.5, &mut workspace);
            thinned += usize::from(found < all.len());
            whole += usize::from(found == all.len() && found > 0);
            // The cached data of the workspace does not change the result.
            let of_pair = Query { owners: Some([a.owner(), pair.owner_b]), ..query };
            let mut others = Workspace::new();
            for turn in 0..3 {
                assert_eq!(pair.ask(&of_pair, &mut workspace), pair.ask(&query, &mut others), "{name} {case}");
                if turn == 0 {
                    // From here on the workspace has cached the positions of all contacts.
                    pair.ask(&Query { step: None, ..of_pair }, &mut workspace);
                }
            }
        }
        assert!(thinned > cases / 4 && whole > 0, "{name}: {thinned} thinned, {whole} whole");
    }
}

/// A nut turns on its bolt: thousands of samples are within the displacement of its rim, and only those of one flank
/// approach.
#[test]
fn a_turning_nut_has_few_contacts_and_the_urgent_ones() {
    let cook = |name: &str| {
        let shell = ShellOptions { target_count: Some(8_000), ..ShellOptions::default() };
        let resolution = Resolution::VoxelSize(0.2e-3);
        let options = CookOptions { resolution, storage: Storage::Bricks, shell, ..CookOptions::default() };
        Shape::cook(&Primitive::by_name(name).unwrap().mesh().unwrap(), &options, &Progress::none()).unwrap()
    };
    let (bolt, nut) = (cook("bolt"), cook("nut"));
    let mut workspace = Workspace::new();
    for k in 0..12 {
        let (turns, radians_per_step) = (1.0 + 0.37 * f64::from(k), [0.0, 1e-3, 0.025][k as usize % 3]);
        let pose_a =
            Isometry3::new(Vec3::new(0.0, 2e-3 * turns - 0.03e-3, 0.0), Vec3::y() * (std::f64::consts::TAU * turns));
        let pair = Pair { a: &nut, pose_a, b: bolt.geometry(), owner_b: bolt.owner(), pose_b: Pose::identity() };
        let everything = Query { roles: Roles::ShellOfA, max_separation: 0.3e-3, ..Query::default() };
        let all = pair.ask(&everything, &mut workspace);
        assert!(all.len() > 1_000, "{} near", all.len());
        // Down along the thread, or straight down against it.
        let fall = if k % 2 == 0 { 2e-3 * radians_per_step / std::f64::consts::TAU } else { 0.05e-3 };
        let step = Step {
            dense_above: 512,
            extremes_only: false,
            max_gap: 0.05e-3,
            center: pose_a.translation.vector,
            shift: Vec3::y() * -fall,
            turn: Vec3::y() * -radians_per_step,
            ..Step::default()
        };
        let query = Query { step: Some(step), ..everything };
        let found = pair.check(&format!("nut {k}"), &all, &query, 12e-3, &mut workspace);
        assert!((8..400).contains(&found), "{found} of {}", all.len());
    }
}

#[test]
fn non_finite_steps_are_refused() {
    let shape = knot(Storage::Dense);
    let pose = Pose::identity();
    let still = Vec3::zeros();
    let good = Step {
        dense_above: 9,
        extremes_only: false,
        max_gap: 0.0,
        center: still,
        shift: still,
        turn: still,
        gained: [still; 2],
    };
    let bad = Vec3::new(0.0, f64::INFINITY, 0.0);
    let cases = [
        ("max_gap", Step { max_gap: f64::NAN, ..good }),
        ("center", Step { center: bad, ..good }),
        ("shift", Step { shift: bad, ..good }),
        ("turn", Step { turn: bad, ..good }),
        ("gained", Step { gained: [bad, still], ..good }),
        ("gained", Step { gained: [still, bad], ..good }),
    ];
    for (name, step) in cases {
        let query = Query { step: Some(step), ..Query::default() };
        let mut workspace = Workspace::new();
        let refused = contacts(shape.geometry(), &pose, shape.geometry(), &pose, &query, &mut workspace);
        assert!(refused.unwrap_err().to_string().contains(name));
    }
}
