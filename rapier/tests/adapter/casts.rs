//! Casts against small steps.

use parry3d::math::{Pose, Vector};
use parry3d::query::{NonlinearRigidMotion, QueryDispatcher, ShapeCastOptions, ShapeCastStatus};
use parry3d::shape::SharedShape;
use voxshell_rapier::VoxshellDispatcher;

use crate::bodies::{body, Random};

const STEPS: usize = 1000;

/// Returns how late a cast may be, as a part of the way. A ball, a capsule and a segment have no triangles: a cast sees the
/// body's edges as its grid rounds them, while the distance is exact.
fn most_late(name: &str) -> f32 {
    if ["ball", "capsule", "segment"].contains(&name) {
        4e-3
    } else {
        1e-3
    }
}

fn shapes() -> Vec<(&'static str, SharedShape)> {
    let hull: Vec<Vector> = (0..30).scan(Random(5), |random, _| Some(random.direction() * 0.05)).collect();
    vec![
        ("torus", body("torus").shared()),
        ("box", body("box").shared()),
        ("ball", SharedShape::ball(0.03)),
        ("cuboid", SharedShape::cuboid(0.05, 0.03, 0.04)),
        ("capsule", SharedShape::capsule_y(0.04, 0.02)),
        ("half-space", SharedShape::halfspace(Vector::Y)),
        ("cylinder", SharedShape::cylinder(0.04, 0.03)),
        ("hull", SharedShape::convex_hull(&hull).unwrap()),
        ("segment", SharedShape::segment(Vector::new(-0.05, 0.0, 0.0), Vector::new(0.05, 0.01, 0.0))),
    ]
}

#[test]
fn casts_hit_when_small_steps_do() {
    let dispatcher = VoxshellDispatcher::default();
    let gear = body("gear");
    let mut random = Random(21);
    let mut hits = 0;
    for (name, shape) in shapes() {
        for _ in 0..3 {
            let start = Pose::from_parts(random.direction() * 0.3 + Vector::Y * -0.2, random.pose(1.0).rotation);
            let velocity = random.vector() * 0.05 - start.translation;
            let distance = |t: f32| {
                let at = Pose::from_parts(start.translation + velocity * t, start.rotation);
                dispatcher.distance(&at, &gear.shape, &*shape).unwrap().distance
            };
            if distance(0.0) == 0.0 {
                continue;
            }
            let options = ShapeCastOptions::with_max_time_of_impact(2.0);
            let hit = dispatcher.cast_shapes(&start, velocity, &gear.shape, &*shape, options).unwrap();
            let stepped = (0..=STEPS).map(|i| 2.0 * i as f32 / STEPS as f32).find(|t| distance(*t) == 0.0);
            match (hit, stepped) {
                (Some(hit), Some(stepped)) => {
                    let early = stepped - hit.time_of_impact;
                    assert!((-most_late(name)..3.1e-3).contains(&early), "{name}: {hit:?}, steps {stepped}");
                    assert_eq!(hit.status, ShapeCastStatus::Converged);
                    let at = Pose::from_parts(start.translation + velocity * hit.time_of_impact, start.rotation);
                    assert!((at * hit.witness2 - hit.witness1).length() < 1.5e-3, "{name}: {hit:?}");
                    assert!((at.rotation * hit.normal2 + hit.normal1).length() < 1e-5, "{name}: {hit:?}");
                    let back = dispatcher.cast_shapes(
                        &start.inverse(),
                        -(start.rotation.inverse() * velocity),
                        &*shape,
                        &gear.shape,
                        options,
                    );
                    let back = back.unwrap().unwrap().time_of_impact;
                    assert!((back - hit.time_of_impact).abs() < 2e-3, "{name}: {back} the other way");
                    hits += 1;
                }
                (None, None) => {}
                (hit, stepped) => {
                    // A near miss may be a hit: it must be one within the tolerance.
                    let time = hit.map_or_else(|| stepped.unwrap(), |hit| hit.time_of_impact);
                    assert!(stepped.is_none() && distance(time) < 1e-4, "{name}: {hit:?}, steps {stepped:?}");
                }
            }
        }
    }
    assert!(hits > 12, "{hits} hits");
}

#[test]
fn casts_keep_the_target_distance() {
    let dispatcher = VoxshellDispatcher::default();
    let gear = body("gear");
    let start = Pose::translation(0.0, 0.0, 0.3);
    let options = ShapeCastOptions { target_distance: 0.02, ..ShapeCastOptions::default() };
    let down = Vector::new(0.0, 0.0, -1.0);
    let hit = dispatcher.cast_shapes(&start, down, &gear.shape, &*body("box").shared(), options).unwrap().unwrap();
    let at = Pose::translation(0.0, 0.0, 0.3 - hit.time_of_impact);
    let distance = dispatcher.distance(&at, &gear.shape, &body("box").shape).unwrap().distance;
    assert!((distance - 0.02).abs() < 1e-4, "{distance}");
    // The gear is 0.04 m thick along y.
    let (inside, down) = (Pose::translation(0.0, 0.065, 0.0), Vector::NEG_Y);
    let options = ShapeCastOptions::default();
    let hit = dispatcher.cast_shapes(&inside, down, &gear.shape, &body("box").shape, options).unwrap().unwrap();
    assert_eq!((hit.time_of_impact, hit.status), (0.0, ShapeCastStatus::PenetratingOrWithinTargetDist));
    let options = ShapeCastOptions { stop_at_penetration: false, ..options };
    let away = dispatcher.cast_shapes(&inside, -down, &gear.shape, &body("box").shape, options).unwrap();
    assert!(away.is_none(), "{away:?}");
}

#[test]
fn turning_bodies_hit_when_small_steps_do() {
    let dispatcher = VoxshellDispatcher::default();
    let gear = body("gear");
    let mut random = Random(31);
    let mut hits = 0;
    for (name, shape) in shapes() {
        for _ in 0..2 {
            let start = Pose::from_parts(random.direction() * 0.3 + Vector::Y * -0.2, random.pose(1.0).rotation);
            let center = random.vector() * 0.02;
            let velocity = random.vector() * 0.05 - start.translation;
            let motion1 = NonlinearRigidMotion::new(Pose::IDENTITY, Vector::ZERO, Vector::ZERO, random.vector() * 2.0);
            let motion2 = NonlinearRigidMotion::new(start, center, velocity, random.vector() * 4.0);
            let distance = |t: f32| {
                let pose = motion1.position_at_time(t).inv_mul(&motion2.position_at_time(t));
                dispatcher.distance(&pose, &gear.shape, &*shape).unwrap().distance
            };
            if distance(0.0) == 0.0 {
                continue;
            }
            let hit = dispatcher.cast_shapes_nonlinear(&motion1, &gear.shape, &motion2, &*shape, 0.0, 1.0, true);
            let hit = hit.unwrap();
            let stepped = (0..=STEPS).map(|i| i as f32 / STEPS as f32).find(|t| distance(*t) == 0.0);
            match (hit, stepped) {
                (Some(hit), Some(stepped)) => {
                    let early = stepped - hit.time_of_impact;
                    assert!((-most_late(name)..3e-3).contains(&early), "{name}: {hit:?}, steps {stepped}");
                    hits += 1;
                }
                (None, None) => {}
                (hit, stepped) => {
                    let time = hit.map_or_else(|| stepped.unwrap(), |hit| hit.time_of_impact);
                    assert!(stepped.is_none() && distance(time) < 2e-4, "{name}: {hit:?}, steps {stepped:?}");
                }
            }
        }
    }
    assert!(hits > 8, "{hits} hits");
}
