//! Contacts ahead of time: what a step does not bring is none. Boxes that slide over floors, and pegs that fall through holes.

use nalgebra::{Isometry3, UnitQuaternion};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Shape};
use voxshell::contact::{contacts, Contact, Coverage, Query, Roles, Step, Workspace};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};

fn cooked(mesh: &TriMesh) -> Shape {
    Shape::cook(mesh, &CookOptions::default(), &Progress::none()).unwrap()
}

/// Makes a slab of 0.3 m, its top at y = 0, whose top and bottom are `n` times `n` squares.
fn floor(half: f64, n: u32) -> TriMesh {
    let at = |k: u32| half * (2.0 * f64::from(k) / f64::from(n) - 1.0);
    let corners = |y: f64| (0..=n).flat_map(move |i| (0..=n).map(move |k| [at(i), y, at(k)]));
    let vertices = corners(0.0).chain(corners(-0.3)).collect();
    let (top, low) = (|i: u32, k: u32| i * (n + 1) + k, (n + 1) * (n + 1));
    let mut triangles = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| triangles.extend([[a, b, c], [a, c, d]]);
    for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
        let [a, b, c, d] = [top(i, k), top(i, k + 1), top(i + 1, k + 1), top(i + 1, k)];
        quad(a, b, c, d);
        quad(low + a, low + d, low + c, low + b);
    }
    for k in 0..n {
        for (a, b) in [
            (top(k, 0), top(k + 1, 0)),
            (top(k + 1, n), top(k, n)),
            (top(0, k + 1), top(0, k)),
            (top(n, k), top(n, k + 1)),
        ] {
            quad(a, b, low + b, low + a);
        }
    }
    TriMesh { vertices, triangles }
}

fn found(bodies: [&Shape; 2], pose: &Pose, query: &Query) -> Vec<Contact> {
    let [a, b] = bodies.map(|body| body.geometry_for(Coverage::Edges).unwrap());
    contacts(a, pose, b, &Pose::identity(), query, &mut Workspace::new()).unwrap().to_vec()
}

/// Returns the query of a solver for a step.
fn counting_in(step: Step) -> Query<'static> {
    let max_separation = 1e-3 + step.shift.norm();
    Query { coverage: Coverage::Facets, roles: Roles::Both, max_separation, step: Some(step), ..Query::default() }
}

/// A box that lies in the plane of a floor up to rounding: an edge of the floor that passes under it grazes its face, and may seem
/// to enter it and not to leave it.
#[test]
fn an_edge_that_grazes_a_face_is_not_deep() {
    let cube = cooked(&primitives::cuboid([0.2, 0.1, 0.15]).unwrap());
    let ground = cooked(&floor(4.0, 1));
    let mut rng = Rng(20);
    for case in 0..2000 {
        let mut rounding = || 10f64.powf(-8.0 - 5.0 * rng.fraction()) * rng.unit();
        let (tilt, above) = (Vec3::new(rounding(), 0.0, rounding()), rounding());
        let turn = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), 3.0 * rng.unit());
        // On the diagonal of the top.
        let along = 3.0 * rng.unit();
        let at = Vec3::new(along, 0.1 + above, along + 0.2 * rng.unit());
        let pose = Isometry3::from_parts(at.into(), UnitQuaternion::from_scaled_axis(tilt) * turn);
        let query = Query { coverage: Coverage::Edges, roles: Roles::One, max_separation: 1e-6, ..Query::default() };
        let deepest = found([&cube, &ground], &pose, &query).first().map_or(0.0, |c| c.separation);
        assert!(deepest > -1e-6, "case {case}: {deepest} at {pose}");
    }
}

/// The points of a floor beside a box, and before it, are no contacts while the floor is level up to the box.
#[test]
fn a_floor_does_not_stop_a_box_that_slides_over_it() {
    let cube = cooked(&primitives::cuboid([0.2, 0.1, 0.15]).unwrap());
    for n in [1, 7, 24] {
        let ground = cooked(&floor(2.0, n));
        let mut rng = Rng(21);
        for case in 0..60 {
            let above = if case % 3 == 0 { 0.0 } else { 10f64.powf(-3.0 - 3.0 * rng.fraction()) };
            let turn = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), 3.0 * rng.unit());
            let at = Vec3::new(rng.unit(), 0.1 + above, rng.unit());
            let speed = 10f64.powf(-2.0 + 2.5 * rng.fraction());
            let way = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), 3.0 * rng.unit()) * Vec3::x();
            let shift = (way * speed - Vec3::y() * (9.81 / 60.0)) / 60.0;
            let step = Step {
                center: at,
                shift,
                turn: Vec3::zeros(),
                max_gap: 1e-3,
                dense_above: 0,
                extremes_only: case % 2 == 0,
                ..Step::default()
            };
            let query = counting_in(step);
            let pose = Isometry3::from_parts(at.into(), turn);
            let all = found([&cube, &ground], &pose, &query);
            assert!(all.iter().any(|c| c.normal.y < -0.999), "n {n}, case {case}: no floor");
            for c in all.iter().filter(|c| c.normal.dot(&shift) > 0.0) {
                assert!(
                    c.separation < above.max(1e-6) * 1.01 || c.normal.y < -0.94,
                    "n {n}, case {case}: {c:?}, {pose}"
                );
            }
        }
    }
}

/// The side of a tile does not stop a box that another one carries at the same height; it does if the tile is higher by 2 mm.
#[test]
fn a_tile_stops_a_box_only_if_it_is_higher() {
    let (cube, tile) =
        (cooked(&primitives::cuboid([0.2, 0.1, 0.15]).unwrap()), cooked(&primitives::cuboid([1.0, 0.1, 1.0]).unwrap()));
    let mut rng = Rng(23);
    for case in 0..200 {
        let lower = if case % 2 == 0 { 10f64.powf(-8.0 - 2.0 * rng.fraction()) * rng.unit() } else { 2e-3 };
        let turn = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), 3.0 * rng.unit());
        let foremost = (0..4).map(|i| turn * Vec3::new([0.2, -0.2][i & 1], 0.0, [0.15, -0.15][i >> 1])).map(|p| p.x);
        let (speed, gained) = (0.2 + 3.0 * rng.fraction(), -Vec3::y() * (9.81 / 3600.0));
        // Its foremost corner arrives in the step.
        let before = speed / 60.0 * (0.1 + 0.5 * rng.fraction());
        let at = Vec3::new(-1.0 - before - foremost.fold(0.0, f64::max), 0.2 - lower, 0.5 * rng.unit());
        let shift = Vec3::x() * (speed / 60.0) + gained;
        let step = Step { center: at, shift, gained: [gained, Vec3::zeros()], max_gap: 1e-3, ..Step::default() };
        let query = counting_in(step);
        let stops = |c: &Contact| c.normal.x > 0.5 && c.separation < c.normal.dot(&shift);
        let pose = Isometry3::from_parts(at.into(), turn);
        let is_stopped = found([&cube, &tile], &pose, &query).iter().any(stops);
        assert_eq!(is_stopped, case % 2 == 1, "case {case}: {lower} lower, {speed} m/s, {pose}");
    }
}

/// A peg in the middle of its play that moves along its hole, farther than the play in a step.
#[test]
fn a_peg_that_falls_through_its_hole_meets_nothing() {
    let mut rng = Rng(22);
    for play in [2e-3, 5e-4] {
        let hole = cooked(&primitives::hole([0.03, 0.02, 0.03], 0.01 + play, 48).unwrap());
        let peg = cooked(&primitives::cylinder(0.01, 0.04, 48).unwrap());
        for case in 0..40 {
            let at = Vec3::new(0.0, 0.055 * rng.unit(), 0.0);
            let shift = Vec3::y() * -(0.004 + 0.05 * rng.fraction());
            let step = Step {
                center: at,
                shift,
                turn: Vec3::zeros(),
                max_gap: 8e-5,
                dense_above: 0,
                extremes_only: false,
                ..Step::default()
            };
            let max_separation = step.max_gap + shift.norm();
            let query = Query {
                coverage: Coverage::Facets,
                roles: Roles::Both,
                max_separation,
                step: Some(step),
                ..Query::default()
            };
            let all = found([&peg, &hole], &Isometry3::from_parts(at.into(), UnitQuaternion::identity()), &query);
            for c in &all {
                let gap = c.separation - c.normal.dot(&shift).max(0.0);
                assert!(gap > 0.5 * play, "play {play}, case {case}: {c:?}, gap {gap}, at {at}");
            }
        }
        // One that stands on the rim meets it.
        let at = Vec3::new(0.5 * play + 2.0 * play, 0.0605, 0.0);
        let shift = Vec3::y() * -0.01;
        let step = Step {
            center: at,
            shift,
            turn: Vec3::zeros(),
            max_gap: 8e-5,
            dense_above: 0,
            extremes_only: false,
            ..Step::default()
        };
        let query = Query {
            coverage: Coverage::Facets,
            roles: Roles::Both,
            max_separation: 0.011,
            step: Some(step),
            ..Query::default()
        };
        let all = found([&peg, &hole], &Isometry3::from_parts(at.into(), UnitQuaternion::identity()), &query);
        assert!(all.iter().any(|c| c.normal.y < -0.9), "play {play}: the rim is missed");
    }
}
