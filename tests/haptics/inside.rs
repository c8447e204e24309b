//! A god-object that begins inside obstacles: it gets no deeper into any of them, says so, and comes out.

use std::sync::Arc;

use support::rng::Rng;
use voxshell::field::{Cuboid, Field, HalfSpace};
use voxshell::haptics::god_object::{GodObject, GodSettings};
use voxshell::haptics::{Forms, Obstacle, Status, Tool};
use voxshell::math::{Mat3, Pose, Rotation, Vec3};
use voxshell::pointshell::{PointShell, ShellOptions};

/// Half the height of the tool, metres.
const HALF: f64 = 0.02;

/// Returns a cube of 4 cm with 5 × 5 samples on each face.
fn cube() -> Tool {
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    for face in 0..6 {
        let (axis, side) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
        for n in 0..25 {
            let mut p = [0.0; 3];
            p[axis] = side * HALF;
            p[(axis + 1) % 3] = HALF * (f64::from(n % 5) / 2.0 - 1.0);
            p[(axis + 2) % 3] = HALF * (f64::from(n / 5) / 2.0 - 1.0);
            points.push(p);
            normals.push(Vec3::ith(axis, side).into());
        }
    }
    let shell = PointShell::from_samples(&points, &normals, &ShellOptions::default()).unwrap();
    Tool {
        forms: Forms { shell: Some(Arc::new(shell)), ..Forms::default() },
        center: Vec3::zeros(),
        mass: 0.1,
        inertia: Mat3::identity() * 0.1 * 0.04 * 0.04 / 6.0,
    }
}

fn body(field: Field, pose: Pose) -> Obstacle {
    Obstacle::fixed(Forms { field: Some(Arc::new(field)), ..Forms::default() }, pose)
}

/// Returns a plate of 20 cm × 20 cm × 2 cm whose face is at z = `face`, below it if `side` is 1, above it if −1.
fn plate(face: f64, side: f64) -> Obstacle {
    let cuboid = Cuboid::new([0.1, 0.1, 0.01]).unwrap();
    body(Field::Cuboid(cuboid), Pose::translation(0.0, 0.0, face - 0.01 * side))
}

/// Returns φ of the deepest sample in each obstacle, by brute force from the closed form of a box.
fn depths(pose: &Pose, plates: &[Obstacle]) -> Vec<f64> {
    let tool = cube();
    let shell = tool.forms.shell.unwrap();
    let phi = |plate: &Obstacle, i: usize| {
        let p = plate.pose.inverse_transform_point(&(pose * nalgebra::Point3::from(shell.position(i))));
        let q = p.coords.abs() - Vec3::new(0.1, 0.1, 0.01);
        q.map(|c| c.max(0.0)).norm() + q.max().min(0.0)
    };
    plates.iter().map(|plate| (0..shell.len()).map(|i| phi(plate, i)).fold(f64::INFINITY, f64::min)).collect()
}

#[test]
fn any_hand_takes_it_no_deeper_into_either_wall() {
    // 90 µm in one wall and 10 µm in the other.
    let plates = [plate(-HALF + 9e-5, 1.0), plate(HALF - 1e-5, -1.0)];
    let mut god = GodObject::new(cube(), &Pose::identity(), GodSettings::default()).unwrap();
    let start = depths(&Pose::identity(), &plates);
    let (mut rng, mut hand, mut moved) = (Rng(19), Pose::identity(), 0.0f64);
    for n in 0..2000 {
        if n % 50 == 0 {
            let turn = Rotation::from_scaled_axis(rng.vector() * 0.1);
            hand = Pose::from_parts((rng.vector() * 0.02).into(), turn);
        }
        let done = god.advance(&hand, &plates).unwrap();
        let now = depths(&done.pose, &plates);
        for (now, start) in now.iter().zip(&start) {
            assert!(now - start > -1.1 * god.skin(), "step {n}: {now} m, {start} m at the start, {done:?}");
        }
        assert!(done.status.contains(Status::PENETRATING), "step {n}: {done:?}");
        assert!((done.clearance - now.iter().copied().fold(0.0, f64::min)).abs() < 1e-8, "step {n}: {done:?}, {now:?}");
        moved = moved.max(done.pose.translation.vector.norm());
    }
    // It slides between them all the same.
    assert!(moved > 5e-3, "{moved}");
}

#[test]
fn it_slides_out_from_between_two_walls() {
    let plates = [plate(-HALF + 5e-5, 1.0), plate(HALF - 5e-5, -1.0)];
    let mut god = GodObject::new(cube(), &Pose::identity(), GodSettings::default()).unwrap();
    let mut out = None;
    for n in 0..400 {
        let done = god.advance(&Pose::translation(5e-4 * f64::from(n), 0.0, 1e-3), &plates).unwrap();
        if done.status == Status::NORMAL && out.is_none() {
            out = Some(done.pose.translation.x);
        }
        assert!(out.is_none() || !done.status.contains(Status::PENETRATING), "step {n}: {done:?}");
    }
    // Its last samples leave the plates at 10 cm, or sooner if it tilts: a column of samples is then less high.
    assert!(out.is_some_and(|x| (0.1..0.122).contains(&x)), "{out:?}");
    for n in 0..60 {
        let back = god.advance(&Pose::identity(), &plates).unwrap();
        assert!(back.status == Status::NORMAL && depths(&back.pose, &plates).iter().all(|d| *d > 0.0), "{n}: {back:?}");
    }
}

#[test]
fn it_gets_off_a_thin_wall_that_it_was_placed_across() {
    // Thicker than the distance of samples. Those in the middle of the sides are on its middle plane.
    let sheet = 0.006;
    let bodies = [body(Field::Cuboid(Cuboid::new([0.5, 0.5, sheet]).unwrap()), Pose::identity())];
    for side in [1.0, -1.0] {
        let mut god = GodObject::new(cube(), &Pose::identity(), GodSettings::default()).unwrap();
        // With the hand inside too, it stays on the wall.
        let hand = Pose::translation(0.0, 0.0, 0.01 * side);
        let held = (0..60).map(|_| god.advance(&hand, &bodies).unwrap()).last().unwrap();
        assert!(held.status.contains(Status::PENETRATING), "{held:?}");
        assert!(held.clearance > -sheet - 1.1 * god.skin(), "{held:?}");
        let away = Pose::translation(0.0, 0.0, 0.05 * side);
        let done = (0..60).map(|_| god.advance(&away, &bodies).unwrap()).last().unwrap();
        assert!(done.status == Status::NORMAL && (done.pose.translation.z - 0.05 * side).abs() < 1e-6, "{done:?}");
        let back = Pose::translation(0.0, 0.0, -0.05 * side);
        let done = (0..60).map(|_| god.advance(&back, &bodies).unwrap()).last().unwrap();
        assert!(done.pose.translation.z * side > HALF + sheet, "it does not get back through: {done:?}");
    }
}

#[test]
fn walls_that_close_take_it_inside_and_free_it_again() {
    let plates = |gap: f64| [plate(-gap, 1.0), plate(gap, -1.0)];
    let mut god = GodObject::new(cube(), &Pose::identity(), GodSettings::default()).unwrap();
    let hand = Pose::translation(0.0, 0.0, 1e-3);
    let gap = |n: u32| HALF + 1.05e-4 - 1e-5 * f64::from(if n < 20 { n } else { 40 - n });
    for n in 0..40 {
        let done = god.advance(&hand, &plates(gap(n))).unwrap();
        // A step begins at the poses of the last one, where there may be no way out yet.
        let [inside, was_inside] = [n, n.saturating_sub(1)].map(|n| gap(n) < HALF);
        let said = done.status.contains(Status::PENETRATING);
        assert!(said || !inside, "step {n}: {done:?}");
        assert!(!said || inside || was_inside, "step {n}: {done:?}");
        let now = depths(&done.pose, &plates(gap(n)));
        let closed = gap(n.min(20)) - HALF;
        for now in &now {
            // While they close, each gets half of the overlap; while they open, none gets more.
            let least = if said { closed - 1.1 * god.skin() } else { 0.0 };
            assert!(*now > least, "step {n}: {now} m, gap {}", gap(n) - HALF);
        }
        let evenly = now.iter().all(|now| (now - closed).abs() < 1.1 * god.skin());
        assert!(n > 20 || !inside || evenly, "step {n}: {now:?} m, gap {}", gap(n) - HALF);
    }
}

#[test]
fn outside_obstacles_keep_out_a_tool_that_is_inside_another() {
    let slab = |z: f64, up: f64| body(Field::HalfSpace(HalfSpace::new(Vec3::z() * up, z).unwrap()), Pose::identity());
    // A press fit in z, and a wall 1 mm away in x.
    let wall = body(Field::HalfSpace(HalfSpace::new(-Vec3::x(), -(HALF + 1e-3)).unwrap()), Pose::identity());
    let bodies = [slab(-HALF + 5e-5, 1.0), slab(-(HALF - 5e-5), -1.0), wall];
    let mut god = GodObject::new(cube(), &Pose::identity(), GodSettings::default()).unwrap();
    let hand = Pose::translation(0.01, 0.0, 0.002);
    let done = (0..60).map(|_| god.advance(&hand, &bodies).unwrap()).last().unwrap();
    let place = done.pose.translation.vector;
    assert!(place.x < 1e-3 && place.x > 0.9e-3, "{done:?}");
    assert!(place.z.abs() < god.skin() && done.status.contains(Status::PENETRATING), "{done:?}");
}
