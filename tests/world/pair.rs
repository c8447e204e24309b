//! Pairs of bodies from step to step: an answer is kept while the bodies hardly move and is then near that of a new search,
//! points keep their ids and the numbers of the host, and contacts ahead of time are those that the step brings.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Shape};
use voxshell::contact::{
    contacts, Contact, Coverage, Motion, Origin, Pair, PairOptions, PairPoint, PairStep, Query, Step, Workspace,
    FEATURE_OF_B, FEATURE_OF_EDGE,
};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

use super::{all_contacts, closest, cooked, random_pose};

fn update(pair: &mut Pair, a: &Shape, b: &Shape, step: &PairStep) {
    let owners = [a.owner(), b.owner()];
    let [a, b] = [a, b].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
    pair.update([&a, &b], Some(owners), step).unwrap();
}

fn updated(a: &Shape, b: &Shape, step: &PairStep) -> Pair {
    let mut pair = Pair::new(PairOptions::default()).unwrap();
    update(&mut pair, a, b, step);
    pair
}

/// Returns a pose at which a body penetrates another that is at the origin, by about `depth`.
fn touching(a: &Shape, b: &Shape, rng: &mut Rng, depth: f64, workspace: &mut Workspace) -> Option<Pose> {
    let (rotation, direction) = (rng.rotation(), rng.vector().normalize());
    let at = |distance: f64| Isometry3::from_parts((direction * distance).into(), rotation);
    let (mut low, mut high) = (0.0, 3.0);
    let mut found = None;
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        let c = closest(a, &at(middle), b, &Pose::identity(), workspace);
        if -c.separation > depth {
            low = middle;
        } else {
            high = middle;
            found = (c.separation < -0.3 * depth).then(|| at(middle)).or(found);
        }
    }
    found
}

/// Returns a motion about the middle of a body that moves no corner by more than `most`, and some by nearly as much.
fn small_motion(mesh: &TriMesh, pose: &Pose, most: f64, rng: &mut Rng) -> Pose {
    let middle = (pose * Point3::from(mesh.bounds().center())).coords;
    let turn = UnitQuaternion::from_scaled_axis(rng.vector() * most);
    let there = Translation3::from(middle);
    let moved = Translation3::from(rng.vector() * most) * (there * turn * there.inverse()) * pose;
    let corners = || mesh.vertices.iter().map(|p| Point3::from(*p));
    let largest = corners().map(|p| (moved * p - pose * p).norm()).fold(0.0, f64::max);
    // Half of it along the line between the poses is hardly more than half as far.
    pose.lerp_slerp(&moved, most / largest)
}

fn tolerance(a: &TriMesh, b: &TriMesh) -> f64 {
    a.bounds().extents().amax().min(b.bounds().extents().amax()) / 2000.0
}

/// Returns two bodies from a seed, the first no larger than the second.
fn bodies(rng: &mut Rng) -> [TriMesh; 2] {
    let (a, b) = (parts::body(rng), parts::body(rng));
    let radius = |mesh: &TriMesh| mesh.bounds().extents().norm();
    if radius(&a) <= radius(&b) {
        [a, b]
    } else {
        [b, a]
    }
}

/// Two bodies that touch, the second at the origin.
struct Scene {
    seed: u64,
    meshes: [TriMesh; 2],
    shapes: [Shape; 2],
    /// Of the first, which penetrates by a few tolerances.
    pose: Pose,
    tolerance: f64,
}

/// Counts over all scenes.
#[derive(Debug, Default)]
struct Seen {
    scenes: usize,
    kept: usize,
    points: usize,
    stayed: usize,
}

#[test]
fn pairs_from_seeds_keep_their_answers_their_depth_and_their_points() {
    let (mut workspace, mut seen) = (Workspace::new(), Seen::default());
    for seed in 0..super::seeds(10) {
        let mut rng = Rng(seed);
        let meshes = bodies(&mut rng);
        let shapes = meshes.each_ref().map(cooked);
        let tolerance = tolerance(&meshes[0], &meshes[1]);
        let [a, b] = &shapes;
        let Some(pose) = touching(a, b, &mut rng, 6.0 * tolerance, &mut workspace) else { continue };
        let scene = Scene { seed, meshes, shapes, pose, tolerance };
        scene.answers_are_kept(&mut rng, &mut seen);
        scene.the_deepest_is_that_of_the_distance(&mut workspace);
        scene.points_stay_while_it_slides(&mut rng, &mut seen);
        seen.scenes += 1;
    }
    assert!(seen.scenes >= 7 && seen.kept >= 25 && seen.points >= 300 && 2 * seen.stayed > seen.points, "{seen:?}");
}

impl Scene {
    fn updated(&self, pose: Pose) -> Pair {
        updated(&self.shapes[0], &self.shapes[1], &PairStep::at_rest(pose, Pose::identity()))
    }

    /// An answer is kept while the bodies hardly move, and is then near that of a new search.
    fn answers_are_kept(&self, rng: &mut Rng, seen: &mut Seen) {
        let Self { seed, meshes, shapes: [a, b], pose, tolerance } = self;
        let placed = random_pose(rng, 3.0);
        let mut pair = updated(a, b, &PairStep::at_rest(placed * pose, placed));
        assert_eq!(pair.origin(), Origin::Searched);
        assert!(!pair.manifolds().is_empty(), "seed {seed}");
        let numbered = pair.points_mut().iter_mut().enumerate();
        numbered.for_each(|(i, point)| point.user = [i as f64, -1.0, 0.5, *seed as f64]);
        let before: Vec<PairPoint> = pair.points().to_vec();
        // Both bodies move together, and the first a little against the other.
        let together = random_pose(rng, 2.0);
        let near = small_motion(&meshes[0], pose, 0.1 * tolerance, rng);
        update(&mut pair, a, b, &PairStep::at_rest(together * near, together));
        assert_eq!(pair.origin(), Origin::Recycled, "seed {seed}");
        for (before, point) in before.iter().zip(pair.points()) {
            assert_eq!((before.id, before.user), (point.id, point.user), "seed {seed}");
            let change = (before.separation - point.separation).abs();
            assert!(change <= 0.25 * tolerance, "seed {seed}: {before:?} {point:?}");
            let apart = (point.point_on_b - point.point_on_a).norm();
            assert!((apart - point.separation.abs()).abs() <= 0.5 * tolerance, "seed {seed}: {point:?}");
            seen.kept += 1;
        }
        let fresh = updated(a, b, &PairStep::at_rest(together * near, together));
        let off = (deepest(&fresh) - deepest(&pair)).abs();
        assert!(off <= 0.5 * tolerance, "seed {seed}: the deepest is {off} off, tolerance {tolerance}");
        // Farther than a quarter of the tolerance.
        let far = small_motion(&meshes[0], pose, 0.6 * tolerance, rng);
        update(&mut pair, a, b, &PairStep::at_rest(together * far, together));
        assert_eq!(pair.origin(), Origin::Searched, "seed {seed}");
    }

    /// A query in one direction may miss the deepest point: it is not deeper.
    fn the_deepest_is_that_of_the_distance(&self, workspace: &mut Workspace) {
        let Self { seed, shapes: [a, b], pose, tolerance, .. } = self;
        let pair = self.updated(*pose);
        let all = all_contacts(a, pose, b, &Pose::identity(), workspace);
        let distance = closest(a, pose, b, &Pose::identity(), workspace).separation;
        let off = (deepest(&pair) - distance).abs();
        assert!(off <= *tolerance, "seed {seed}: {off} of {distance}");
        assert!(all[0].separation >= distance - tolerance, "seed {seed}: {} of {distance}", all[0].separation);
        let mut ids: Vec<u64> = pair.points().iter().map(|p| p.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), pair.points().len(), "seed {seed}: an id is there twice");
        assert!(pair.manifolds().iter().all(|m| (1..=4).contains(&m.count)), "seed {seed}");
        assert!(pair.manifolds().iter().all(|m| (m.normal.norm() - 1.0).abs() < 1e-9), "seed {seed}");
    }

    /// Points keep their ids and numbers while a body slides.
    fn points_stay_while_it_slides(&self, rng: &mut Rng, seen: &mut Seen) {
        let Self { seed, shapes: [a, b], tolerance, .. } = self;
        let mut pose = self.pose;
        let mut pair = self.updated(pose);
        let along = rng.vector().normalize() * *tolerance;
        for k in 0..20 {
            // Each number tells where its point was first seen.
            for point in pair.points_mut() {
                if point.user == [0.0; 4] {
                    point.user = [point.id as f64, f64::from(k) + 1.0, 0.0, 0.0];
                }
            }
            let before: Vec<u64> = pair.points().iter().map(|p| p.id).collect();
            pose = Translation3::from(along) * pose;
            update(&mut pair, a, b, &PairStep::at_rest(pose, Pose::identity()));
            for point in pair.points() {
                let is_old = before.contains(&point.id);
                assert_eq!(point.user != [0.0; 4], is_old, "seed {seed}, step {k}");
                assert!(!is_old || point.user[0] == point.id as f64, "seed {seed}, step {k}");
                seen.stayed += usize::from(is_old);
                seen.points += 1;
            }
        }
    }
}

fn deepest(pair: &Pair) -> f64 {
    pair.points().iter().map(|point| point.separation).fold(f64::INFINITY, f64::min)
}

/// With room for all points, a pair has one near each contact of the query that is about as deep, with a like normal: what it leaves
/// out is covered.
#[test]
fn what_a_pair_leaves_out_is_covered() {
    let mut workspace = Workspace::new();
    let (mut covered, mut left_out) = (0, 0);
    for seed in 464..464 + super::seeds(12) {
        let mut rng = Rng(seed);
        let mut meshes = bodies(&mut rng);
        if seed % 2 == 0 {
            // Smooth, with edges that are shorter than the distance between samples.
            let thick = 0.07 + 0.035 * rng.fraction();
            meshes = [0.8, 1.0].map(|size| primitives::torus_knot(2, 3, 0.35 * size, thick, 320, 28).unwrap());
        }
        let shell = ShellOptions { target_count: Some(2_000), ..ShellOptions::default() };
        let options = CookOptions { shell, ..CookOptions::default() };
        let [a, b] = meshes.each_ref().map(|mesh| Shape::cook(mesh, &options, &Progress::none()).unwrap());
        let t = tolerance(&meshes[0], &meshes[1]);
        // Knots in each other touch in many places, in all directions.
        let pose = match seed % 2 {
            0 => Some(random_pose(&mut rng, 0.3)),
            _ => touching(&a, &b, &mut rng, 12.0 * t, &mut workspace),
        };
        let Some(pose) = pose else { continue };
        let mut pair = Pair::new(PairOptions { max_points: 1 << 20, margin: 1e-9, ..PairOptions::default() }).unwrap();
        update(&mut pair, &a, &b, &PairStep::at_rest(pose, Pose::identity()));
        let spacing = [&a, &b].map(|shape| f64::from(shape.shell.as_ref().unwrap().spacing));
        let reach = 1.5 * spacing[0].max(spacing[1]);
        // With a step, samples whose closest point is beside them are no contacts.
        let still = Vec3::zeros();
        let max_gap = f64::INFINITY;
        let rest = Step {
            center: still,
            shift: still,
            turn: still,
            max_gap,
            dense_above: 0,
            extremes_only: false,
            ..Step::default()
        };
        let query = Query { step: Some(rest), ..Query::default() };
        let bodies = [&a, &b].map(|shape| shape.geometry_for(query.coverage).unwrap());
        let all = contacts(bodies[0], &pose, bodies[1], &Pose::identity(), &query, &mut workspace).unwrap().to_vec();
        left_out += all.len().saturating_sub(pair.points().len());
        // Nor are edges that the other body is beside, by more than 30°, or those that go through a thin part of it: between its
        // ends an edge is led out across it, not along it.
        let is_beside = |contact: &Contact| {
            if contact.feature & FEATURE_OF_EDGE == 0 {
                return false;
            }
            let of_b = contact.feature & FEATURE_OF_B != 0;
            let to_a = |direction: &Vec3| pose.rotation.inverse() * direction;
            let (surface, ahead, point) = if of_b {
                (bodies[1].surface.unwrap(), -contact.normal, contact.point_on_b)
            } else {
                let point = pose.inverse_transform_point(&Point3::from(contact.point_on_a)).coords;
                (bodies[0].surface.unwrap(), to_a(&contact.normal), point)
            };
            let edge = contact.feature & !(FEATURE_OF_B | FEATURE_OF_EDGE);
            let ends = surface.edge(edge);
            let is_between = ends.iter().all(|end| (end - point).norm() > 1e-6 * (ends[1] - ends[0]).norm());
            let is_along = is_between && (ends[1] - ends[0]).normalize().dot(&ahead).abs() > 0.5;
            is_along || !surface.edge_faces(edge, &ahead, 0.5)
        };
        // On smooth bodies normals are alike in one place; where flat faces meet, they need only lead to the same side.
        let like = if seed % 2 == 0 { 0.7 } else { 0.0 };
        for contact in all.iter().filter(|contact| !is_beside(contact)) {
            // A deep sample of a query has the depth of the field, to a voxel, and its direction: where faces on several sides
            // are as far, that is another one.
            let voxel = meshes.iter().map(|mesh| mesh.bounds().extents().amax() / 128.0).fold(0.0, f64::max);
            let is_deep = contact.feature & FEATURE_OF_EDGE == 0 && contact.separation < -4.0 * voxel;
            let (slack, like) = if is_deep { (voxel, -1.0) } else { (t, like) };
            let covers = |point: &PairPoint| {
                let is_near = |p: Vec3, q: Vec3| (p - q).norm() <= reach;
                (is_near(point.point_on_a, contact.point_on_a) || is_near(point.point_on_b, contact.point_on_b))
                    && point.normal.dot(&contact.normal) > like
                    && point.separation <= contact.separation + slack
            };
            assert!(pair.points().iter().any(covers), "seed {seed}: {contact:?}");
            covered += 1;
        }
    }
    assert!(covered >= 150 && left_out >= 30, "{covered} covered, {left_out} left out");
}

#[test]
fn a_reset_pair_and_a_copy_give_the_same_bytes() {
    let mut workspace = Workspace::new();
    let mut rng = Rng(7);
    let meshes = bodies(&mut rng);
    let [a, b] = meshes.each_ref().map(cooked);
    let t = tolerance(&meshes[0], &meshes[1]);
    let pose = touching(&a, &b, &mut rng, 6.0 * t, &mut workspace).expect("bodies that touch");
    let mut pair = updated(&a, &b, &PairStep::at_rest(pose, Pose::identity()));
    for k in 0..12 {
        let distance = [0.05, 2.0, 0.1][k % 3] * t;
        let moved = small_motion(&meshes[0], &pose, distance, &mut rng);
        let step = PairStep::at_rest(moved, Pose::identity());
        pair.points_mut().iter_mut().for_each(|point| point.user[3] = k as f64 + 1.0);
        let mut copy = pair.copied();
        update(&mut pair, &a, &b, &step);
        update(&mut copy, &a, &b, &step);
        assert_eq!((pair.origin(), pair.points(), pair.manifolds()), (copy.origin(), copy.points(), copy.manifolds()));
        copy.reset();
        assert!(copy.points().is_empty() && copy.manifolds().is_empty());
        update(&mut copy, &a, &b, &step);
        let fresh = updated(&a, &b, &step);
        assert_eq!(
            (copy.origin(), copy.points(), copy.manifolds()),
            (fresh.origin(), fresh.points(), fresh.manifolds())
        );
    }
}

/// A cube that falls on one at rest, over which it is less than gravity moves both in a step at 60 Hz: the lower one lies on
/// the ground, which the pair does not know.
#[test]
fn a_body_that_falls_on_one_at_rest_is_stopped_at_its_surface() {
    let cube = cooked(&primitives::cuboid([0.05; 3]).unwrap());
    let gained = Vec3::new(0.0, 0.0, -10.0 / 60.0);
    let falling = |pose: Pose, speed: f64| {
        let linear_velocity = gained - Vec3::new(0.0, 0.0, speed);
        Motion { linear_velocity, ..Motion::at_rest(pose) }
    };
    for (gap, speed) in [(0.003, 0.17), (0.0027, 0.0), (0.01, 0.6)] {
        let upper = falling(Isometry3::translation(0.01, 0.02, 0.1 + gap), speed);
        let lower = falling(Pose::identity(), 0.0);
        for (a, b) in [(upper, lower), (lower, upper)] {
            let step = PairStep { a, b, duration: 1.0 / 60.0, gained: [gained; 2] };
            let pair = updated(&cube, &cube, &step);
            assert_eq!(pair.points().len(), 4, "{gap} m at {speed} m/s");
            for point in pair.points() {
                let right = gap - (speed + 10.0 / 60.0) / 60.0;
                assert!((point.gap - right).abs() < 1e-6, "{} for {right}", point.gap);
            }
            // Both fall freely.
            let step = PairStep { gained: [Vec3::zeros(); 2], ..step };
            let margin = 4.0 * 0.1 / 2000.0;
            assert_eq!(updated(&cube, &cube, &step).points().is_empty(), gap - speed / 60.0 > margin);
        }
    }
}

/// A cube of 100 mm that falls at 5 m/s, above a plate and beside it.
#[test]
fn a_contact_ahead_of_time_is_one_that_the_step_brings() {
    let cube = cooked(&primitives::cuboid([0.05; 3]).unwrap());
    let plate = cooked(&primitives::cuboid([0.5, 0.5, 0.05]).unwrap());
    let falling = |x: f64, height: f64, speed: f64| {
        let pose = Isometry3::translation(x, 0.02, 0.05 + 0.05 + height);
        let a = Motion { linear_velocity: Vec3::new(0.0, 0.0, -speed), ..Motion::at_rest(pose) };
        let b = Motion::at_rest(Pose::identity());
        PairStep { a, b, duration: 1.0 / 60.0, gained: [Vec3::zeros(); 2] }
    };
    // It falls 83 mm in the step.
    let above = updated(&cube, &plate, &falling(0.3, 0.04, 5.0));
    assert_eq!(above.manifolds().len(), 1);
    let manifold = &above.manifolds()[0];
    assert!(manifold.count >= 3 && manifold.normal.z < -0.999, "{manifold:?}");
    for point in above.points() {
        assert!((point.separation - 0.04).abs() < 1e-6 && (point.gap - (0.04 - 5.0 / 60.0)).abs() < 1e-6, "{point:?}");
    }
    assert!(updated(&cube, &plate, &falling(0.3, 0.1, 5.0)).points().is_empty(), "too far for the step");
    assert!(updated(&cube, &plate, &falling(0.3, 0.04, -5.0)).points().is_empty(), "on its way up");
    assert!(updated(&cube, &plate, &falling(0.58, 0.04, 5.0)).points().is_empty(), "beside the plate");
    assert!(!updated(&cube, &plate, &falling(0.53, 0.04, 5.0)).points().is_empty(), "over the edge of the plate");
}

#[test]
fn numbers_out_of_range_are_refused_by_name_and_change_nothing() {
    let cube = cooked(&primitives::cuboid([0.05; 3]).unwrap());
    let good = PairStep::at_rest(Isometry3::translation(0.09, 0.0, 0.0), Pose::identity());
    let mut pair = updated(&cube, &cube, &good);
    assert!(!pair.points().is_empty());
    let before = pair.points().to_vec();
    let mut steps = [good; 5];
    steps[0].a.pose.translation.x = f64::NAN;
    steps[1].b.center_of_mass.y = f64::INFINITY;
    steps[2].a.linear_velocity.z = 1e30;
    steps[3].b.angular_velocity.x = f64::NAN;
    steps[4].duration = -1.0;
    let geometry = cube.geometry_for(Coverage::Edges).unwrap();
    let names = ["a.pose", "b.center_of_mass", "a.linear_velocity", "b.angular_velocity", "duration"];
    for (step, name) in steps.iter().zip(names) {
        let error = pair.update([&geometry, &geometry], None, step).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        assert_eq!(pair.points(), before);
    }
    for (options, name) in [
        (PairOptions { tolerance: -1.0, ..PairOptions::default() }, "tolerance"),
        (PairOptions { margin: f64::NAN, ..PairOptions::default() }, "margin"),
    ] {
        let error = Pair::new(options).err().expect("a length out of range").to_string();
        assert!(error.contains(name), "{error}");
    }
}
