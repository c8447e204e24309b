//! Surface effects of the god-object: Coulomb friction, force shading, texture; each against closed form, and none
//! without contact.

use std::sync::Arc;

use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::field::{Field, HalfSpace};
use voxshell::haptics::god_object::{Advance, GodObject, GodSettings};
use voxshell::haptics::{
    self, DeviceState, Forms, HeightMap, Limits, Obstacle, Renderer, Settings, Status, Surface, Texture, Tool,
};
use voxshell::math::{Mat3, Pose, Progress, Rotation, Twist, Vec3, Wrench};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

const LIMITS: Limits = Limits { force: 8.0, torque: 0.5, stiffness: [2000.0, 30.0], damping: [20.0, 0.5] };

fn cook(mesh: &TriMesh, samples: usize, cells: u32) -> Forms {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
    Forms { field: shape.field.clone(), shell: shape.shell.clone(), ..Forms::default() }
}

/// Returns a block of 0.5 kg and 10 × 6 × 8 cm.
fn block() -> Tool {
    let forms = Forms { field: None, ..cook(&primitives::cuboid([0.05, 0.03, 0.04]).unwrap(), 300, 24) };
    Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 5e-4 }
}

/// Returns a ball of 1 cm.
fn ball() -> Tool {
    let forms = Forms { field: None, ..cook(&primitives::sphere(0.01, 3).unwrap(), 400, 24) };
    Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 2e-5 }
}

/// Returns the half-space below a plane through the origin.
fn ground(normal: Vec3) -> Vec<Obstacle> {
    let field = Field::HalfSpace(HalfSpace::new(normal, 0.0).unwrap());
    vec![Obstacle::fixed(Forms { field: Some(Arc::new(field)), ..Forms::default() }, Pose::identity())]
}

fn made(tool: &Tool, start: &Pose, surface: Surface) -> GodObject {
    GodObject::new(tool.clone(), start, GodSettings { surface, ..GodSettings::default() }).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

fn steps(god: &mut GodObject, target: &Pose, bodies: &[Obstacle], count: u32) -> Advance {
    (0..count).map(|_| god.advance(target, bodies).unwrap()).last().unwrap()
}

#[test]
fn a_block_sticks_up_to_the_cone_and_slides_on_its_edge() {
    let (tool, bodies) = (block(), ground(Vec3::z()));
    let friction = 0.4;
    let mut god = made(&tool, &at(0.0, 0.0, 0.05), Surface { friction, ..Surface::default() });
    // 1 cm into the ground, then 2 mm sideways: less than 0.4 of a centimetre.
    let pressed = steps(&mut god, &at(0.0, 0.0, 0.03), &bodies, 60);
    let held = steps(&mut god, &at(0.002, 0.0, 0.03), &bodies, 200);
    let way = (held.pose.translation.vector - pressed.pose.translation.vector).xy().norm();
    assert!(way < 1e-9, "it crept {way} m");
    // The force is that of the whole spring, including its component along the ground.
    let stiffness = 0.5 * 2000.0 * tool.mass;
    let force = held.wrench.force;
    assert!((force.x + stiffness * 0.002).abs() < 1e-6 * stiffness, "{force}");
    assert!(!held.status.contains(Status::LOCKED), "to stick is not to be locked");
    // Farther and farther: the force is on the edge of the cone, and the block lags by the distance that friction
    // holds.
    let (mut last, mut moved) = (held, 0.0);
    for i in 0..200 {
        let x = 0.002 + 1e-4 * f64::from(i);
        last = god.advance(&at(x, 0.0, 0.03), &bodies).unwrap();
        let (n, t) = (last.wrench.force.z, last.wrench.force.xy().norm());
        assert!(t <= friction * n * (1.0 + 1e-9), "step {i}: {t} N aside at {n} N");
        if i > 100 {
            assert!(t > friction * n * (1.0 - 1e-6), "step {i}: {t} N aside at {n} N, it slides");
        }
        moved = x;
    }
    // It rests where the spring balances friction: d = μ N / k.
    let last_rest = steps(&mut god, &at(moved, 0.0, 0.03), &bodies, 200);
    let behind = moved - last_rest.pose.translation.x;
    let expected = friction * last_rest.wrench.force.z / stiffness;
    assert!((behind - expected).abs() < 1e-6, "{behind} m behind, not {expected}; {last:?}");
    assert!(last_rest.wrench.torque.norm() < 0.06 * stiffness * 0.01);
}

#[test]
fn on_a_slope_a_block_rests_exactly_if_the_slope_is_in_the_cone() {
    let tool = block();
    for (slope, rests) in [(0.29f64, true), (0.31, false)] {
        let tilt = Rotation::from_scaled_axis(Vec3::y() * slope.atan());
        let bodies = ground(tilt * Vec3::z());
        let over = |height: f64| Pose::from_parts((tilt * Vec3::z() * height).into(), tilt);
        let mut god = made(&tool, &over(0.045), Surface { friction: 0.3, ..Surface::default() });
        steps(&mut god, &over(0.0399), &bodies, 40);
        // The hand is straight below it, in the direction of the weight.
        let start = god.pose();
        let mut way = 0.0;
        for _ in 0..100 {
            let below = god.pose().translation.vector - Vec3::z() * 0.01;
            god.advance(&Pose::from_parts(below.into(), tilt), &bodies).unwrap();
            way = (god.pose().translation.vector - start.translation.vector).norm();
        }
        assert_eq!(way < 1e-5, rests, "slope {slope}: {way} m");
    }
}

/// Moves the hand at random, in and out, at up to 5 m/s.
fn wander(surface: Surface, count: u32, mut check: impl FnMut(&Advance, &Pose, f64)) {
    let (tool, bodies) = (block(), ground(Vec3::z()));
    let mut god = made(&tool, &at(0.0, 0.0, 0.08), surface);
    let (mut rng, mut hand) = (Rng(0x5f), at(0.0, 0.0, 0.08));
    let (mut speed, mut spin) = (Vec3::zeros(), Vec3::zeros());
    for i in 0..count {
        if i % 25 == 0 {
            (speed, spin) = (rng.vector() * 5.0, rng.vector() * 10.0);
            speed.z = 0.3 * speed.z - 3.0 * (hand.translation.z - 0.03);
        }
        let rotation = Rotation::from_scaled_axis(spin * 1e-3) * hand.rotation;
        hand = Pose::from_parts((hand.translation.vector + speed * 1e-3).into(), rotation);
        let done = god.advance(&hand, &bodies).unwrap();
        check(&done, &hand, god.skin());
    }
}

fn everything() -> Surface {
    Surface { friction: 0.5, shading: 1e-3, texture: Texture { height: 2e-4, wavelength: 2e-3 } }
}

#[test]
fn no_force_in_free_space_and_no_sample_inside_with_all_of_it() {
    let (mut free, mut touching) = (0, 0);
    wander(everything(), 3000, |done, _, skin| {
        assert!(done.clearance > 0.0 && !done.status.contains(Status::PENETRATING), "{done:?}");
        if done.clearance >= 3.0 * skin {
            assert_eq!(done.wrench, Wrench::ZERO, "{done:?}");
            free += 1;
        } else {
            touching += 1;
        }
    });
    assert!(free > 300 && touching > 300, "{free} free, {touching} touching");
}

#[test]
fn the_force_of_a_block_stays_in_the_friction_cone() {
    let mut sliding = 0;
    let friction = 0.3;
    wander(Surface { friction, ..Surface::default() }, 3000, |done, _, _| {
        let (n, t) = (done.wrench.force.z, done.wrench.force.xy().norm());
        assert!(n >= -1e-9, "the ground pulls: {done:?}");
        // Contacts at several points may rotate and slide: together they hold no more than in one direction.
        assert!(t <= friction * n * 1.5 + 1e-9, "{t} N aside at {n} N");
        sliding += u32::from(t > 0.5 * friction * n && n > 0.1);
    });
    assert!(sliding > 100, "{sliding}");
}

/// Pushes a ball around a prism of 24 sides. Returns the largest angle between the force and the round cylinder's
/// normal, and the largest change of direction in a step of a thousandth of a radian.
fn around_a_prism(shading: f64) -> (f64, f64) {
    let tool = ball();
    let prism = Forms { shell: None, ..cook(&primitives::cylinder(0.05, 0.05, 24).unwrap(), 100, 96) };
    let bodies = vec![Obstacle::fixed(prism, Pose::identity())];
    let start = at(0.07, 0.0, 0.0);
    let mut god = made(&tool, &start, Surface { shading, ..Surface::default() });
    steps(&mut god, &at(0.05, 0.0, 0.0), &bodies, 60);
    let (mut off, mut jump) = (0.0f64, 0.0f64);
    let mut last: Option<Vec3> = None;
    for i in 0..1500 {
        let angle = 1e-3 * f64::from(i);
        // The axis of the cylinder is y.
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let done = god.advance(&Pose::from_parts((out * 0.05).into(), Rotation::identity()), &bodies).unwrap();
        let place = done.pose.translation.vector;
        let force = done.wrench.force;
        assert!(force.norm() > 1.0, "step {i}: {done:?}");
        off = off.max(force.angle(&place));
        if let Some(last) = last {
            jump = jump.max(force.angle(&last));
        }
        last = Some(force);
    }
    (off, jump)
}

#[test]
fn a_shaded_prism_feels_round_and_an_unshaded_one_has_edges() {
    let (flat_off, flat_jump) = around_a_prism(0.0);
    // A side is 13 mm wide.
    let (round_off, round_jump) = around_a_prism(6.5e-3);
    // Normals of the sides are 7.5° off at the edges.
    assert!(flat_off > 0.1 && flat_off < 0.2, "{flat_off}");
    assert!(round_off < 0.6 * flat_off, "{round_off} of {flat_off}");
    assert!(round_jump < 0.4 * flat_jump, "{round_jump} of {flat_jump}");
}

/// Returns a tool of one sample.
fn point() -> Tool {
    let point = PointShell::from_samples(&[[0.0; 3]], &[[0.0, 0.0, -1.0]], &ShellOptions::default()).unwrap();
    let forms = Forms { shell: Some(Arc::new(point)), ..Forms::default() };
    Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 1e-4 }
}

#[test]
fn a_texture_tilts_the_force_by_its_slope_under_the_hand() {
    let (tool, bodies) = (point(), ground(Vec3::z()));
    let texture = Texture { height: 3e-4, wavelength: 4e-3 };
    let [mut smooth, mut rough] = [Texture::default(), texture].map(|texture| {
        let surface = Surface { texture, ..Surface::default() };
        let settings = GodSettings { surface, skin: Some(1e-6), ..GodSettings::default() };
        GodObject::new(tool.clone(), &at(0.0, 0.0, 0.01), settings).unwrap()
    });
    let (mut sum, mut steepest) = (Vec3::zeros(), 0.0f64);
    for i in 0..2000 {
        // 2 mm into the ground, along a line that is not an axis of the waves.
        let hand = at(2e-5 * f64::from(i), 1.3e-5 * f64::from(i), (0.01 - 1e-4 * f64::from(i)).max(-0.002));
        let (plain, felt) = (smooth.advance(&hand, &bodies).unwrap(), rough.advance(&hand, &bodies).unwrap());
        // The surface itself does not move.
        assert_eq!(plain.pose, felt.pose, "step {i}");
        let (n, f) = (plain.wrench.force, felt.wrench.force);
        let slope = texture.slope(&hand.translation.vector);
        let expected = Vec3::new(-slope.x, -slope.y, 1.0).normalize() * n.norm();
        assert!((f - expected).norm() <= 1e-4 * n.norm(), "step {i}: {f}, not {expected}");
        steepest = steepest.max(f.xy().norm() / f.norm().max(1e-9));
        if i >= 200 {
            sum += f;
        }
    }
    assert!(sum.xy().norm() < 0.05 * sum.z, "bumps push one way: {sum}");
    assert!(steepest > 0.15, "nothing is felt: {steepest}");
}

/// A rod on two points. Where the slopes under them are opposite, their mean is zero, and nothing is felt of the bumps.
#[test]
fn a_texture_turns_the_force_by_the_mean_of_its_slopes() {
    let half = 0.02;
    let places = [[-half, 0.0, 0.0], [half, 0.0, 0.0]];
    let shell = PointShell::from_samples(&places, &[[0.0, 0.0, -1.0]; 2], &ShellOptions::default()).unwrap();
    let forms = Forms { shell: Some(Arc::new(shell)), ..Forms::default() };
    let tool = Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 1e-4 };
    let bodies = ground(Vec3::z());
    for (wavelength, equal) in [(0.02, true), (0.08, false), (0.015, false)] {
        let texture = Texture { height: 1e-3, wavelength };
        let [mut smooth, mut rough] = [Texture::default(), texture].map(|texture| {
            let surface = Surface { texture, ..Surface::default() };
            let settings = GodSettings { surface, skin: Some(1e-6), ..GodSettings::default() };
            GodObject::new(tool.clone(), &at(0.0, 0.0, 0.01), settings).unwrap()
        });
        let (mut steepest, mut compared) = (0.0f64, 0);
        for i in 0..600 {
            let hand = at(2e-5 * f64::from(i), 1.3e-5 * f64::from(i), (0.01 - 1e-4 * f64::from(i)).max(-0.002));
            let (plain, felt) = (smooth.advance(&hand, &bodies).unwrap(), rough.advance(&hand, &bodies).unwrap());
            let n = plain.wrench.force.norm();
            // Both points bear the same: the hand is straight above the middle.
            let slopes = places.map(|p| texture.slope(&(hand.translation.vector + Vec3::from(p))));
            let mean = (slopes[0] + slopes[1]) * 0.5;
            let expected = Vec3::new(-mean.x, -mean.y, 1.0).normalize() * n;
            assert!((felt.wrench.force - expected).norm() <= 1e-4 * n, "step {i}: {felt:?}, not {expected}");
            assert!(felt.wrench.torque.norm() <= 1e-4 * n * half, "step {i}: {felt:?}");
            let x = (slopes[0].x - slopes[1].x).abs();
            assert!(!equal || x < 1e-5, "{slopes:?}");
            steepest = steepest.max(x);
            compared += u32::from(n > 0.1);
        }
        assert!(compared > 300 && (equal || steepest > 0.02), "{wavelength}: {compared} {steepest}");
    }
}

#[test]
fn a_height_function_tilts_the_force_in_the_touched_bodys_frame() {
    let tool = point();
    // Two planes: the first is out of reach, the second is rotated and displaced.
    let turn = Rotation::from_scaled_axis(Vec3::z() * 0.7);
    let mut bodies = [ground(Vec3::z()), ground(Vec3::z())].concat();
    bodies[0].pose = at(0.0, 0.0, -1.0);
    bodies[1].pose = Pose::from_parts(Vec3::new(0.3, -0.2, 0.0).into(), turn);
    // A bump on the second body; the first has none.
    let height = |body: u32, p: &Vec3| if body == 1 { 0.02 * (40.0 * p.x).sin() + 3.0 * p.x * p.y } else { f64::NAN };
    let slope = |p: &Vec3| Vec3::new(0.8 * (40.0 * p.x).cos() + 3.0 * p.y, 3.0 * p.x, 0.0);
    let settings = GodSettings { skin: Some(1e-6), ..GodSettings::default() };
    let [mut smooth, mut rough] = [0; 2].map(|_| GodObject::new(tool.clone(), &at(0.3, -0.2, 0.01), settings).unwrap());
    rough.set_height_map(Some(HeightMap::new(Arc::new(height), 1e-5).unwrap()));
    let mut steepest = 0.0f64;
    for i in 0..1000 {
        let way = Vec3::new(1e-4, 0.7e-4, 0.0) * f64::from(i);
        let hand = at(0.3 + way.x, -0.2 + way.y, (0.01 - 1e-4 * f64::from(i)).max(-0.002));
        let (plain, felt) = (smooth.advance(&hand, &bodies).unwrap(), rough.advance(&hand, &bodies).unwrap());
        assert_eq!(plain.pose, felt.pose, "step {i}");
        assert_eq!(felt.status, Status::NORMAL, "step {i}");
        let (n, f) = (plain.wrench.force, felt.wrench.force);
        let slope = turn * slope(&(turn.inverse() * way));
        let expected = Vec3::new(-slope.x, -slope.y, 1.0).normalize() * n.norm();
        assert!((f - expected).norm() <= 1e-5 * n.norm(), "step {i}: {f}, not {expected}");
        steepest = steepest.max(f.xy().norm() / f.norm().max(1e-9));
    }
    assert!(steepest > 0.5, "nothing is felt: {steepest}");
}

#[test]
fn a_non_finite_height_gives_a_smooth_surface_and_a_status() {
    let (tool, bodies) = (point(), ground(Vec3::z()));
    let surface = Surface { friction: 0.1, ..Surface::default() };
    let settings = GodSettings { surface, skin: Some(1e-6), ..GodSettings::default() };
    let made = || GodObject::new(tool.clone(), &at(0.0, 0.0, 0.01), settings).unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::MAX] {
        let (mut smooth, mut rough) = (made(), made());
        let height = move |_: u32, p: &Vec3| if p.x > 0.01 { bad.copysign(p.y) } else { 0.3 * p.y };
        rough.set_height_map(Some(HeightMap::new(Arc::new(height), 1e-5).unwrap()));
        let (mut before, mut behind) = (0, 0);
        for i in 0..300 {
            let hand = at(1e-4 * f64::from(i), 0.0, (0.005 - 1e-4 * f64::from(i)).max(-0.002));
            let (plain, felt) = (smooth.advance(&hand, &bodies).unwrap(), rough.advance(&hand, &bodies).unwrap());
            assert_eq!(plain.pose, felt.pose, "step {i}");
            let is_touching = plain.wrench != Wrench::ZERO;
            if felt.pose.translation.x > 0.0102 && is_touching {
                assert!((felt.wrench.force - plain.wrench.force).norm() < 1e-9, "step {i}: {felt:?}");
                assert_eq!(felt.status, plain.status | Status::BAD_HEIGHT, "step {i}");
                behind += 1;
            } else if felt.pose.translation.x < 0.0095 && is_touching {
                assert_eq!(felt.status, plain.status, "step {i}");
                assert!(felt.wrench.force.y < -0.2 * plain.wrench.force.z, "step {i}: {felt:?}");
                before += 1;
            }
        }
        assert!(before > 30 && behind > 100, "{bad}: {before} {behind}");
        // After removing it, all bytes equal those without it.
        rough.set_height_map(None);
        let (plain, felt) = [&mut smooth, &mut rough].map(|god| steps(god, &at(0.0, 0.02, -0.003), &bodies, 50)).into();
        assert_eq!(plain, felt);
    }
}

#[test]
fn heights_are_felt_through_the_servo_and_invalid_ones_reported() {
    let tool = block();
    let settings = Settings::for_tool(Renderer::GodObject, &tool, &LIMITS).unwrap();
    let (mut servo, mut simulation) = haptics::new(settings, tool, ground(Vec3::z())).unwrap();
    let device = DeviceState { pose: at(0.0, 0.0, 0.038), twist: Twist::ZERO, engaged: true };
    let mut feel = |simulation: &mut haptics::Simulation| {
        let step = |_| {
            let output = servo.step(&device, 1e-3);
            simulation.simulate();
            output
        };
        (0..300).map(step).last().unwrap()
    };
    let smooth = feel(&mut simulation).wrench.force;
    assert!(smooth.z > 1.0 && smooth.xy().norm() < 1e-6, "{smooth}");
    let height_map = |height: fn(u32, &Vec3) -> f64| Some(HeightMap::new(Arc::new(height), 1e-4).unwrap());
    simulation.set_height_map(height_map(|_, p| 0.25 * p.x));
    let felt = feel(&mut simulation);
    assert!((felt.wrench.force.x + 0.25 * felt.wrench.force.z).abs() < 1e-6, "{felt:?}");
    assert!(!felt.status.contains(Status::BAD_HEIGHT));
    simulation.set_height_map(height_map(|_, _| f64::NAN));
    let told = feel(&mut simulation);
    assert!(told.status.contains(Status::BAD_HEIGHT) && (told.wrench.force - smooth).norm() < 1e-6, "{told:?}");
    simulation.set_height_map(None);
    let again = feel(&mut simulation);
    assert!(!again.status.contains(Status::BAD_HEIGHT) && (again.wrench.force - smooth).norm() < 1e-6, "{again:?}");
    for reach in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        assert!(HeightMap::new(Arc::new(|_, _: &Vec3| 0.0), reach).is_err(), "{reach}");
    }
}

#[test]
fn slopes_are_those_of_the_heights() {
    let texture = Texture { height: 1e-3, wavelength: 7e-3 };
    let height = |p: &Vec3| p.iter().map(|x| (std::f64::consts::TAU * x / texture.wavelength).sin()).sum::<f64>() / 3.0;
    let mut rng = Rng(3);
    for _ in 0..100 {
        let p = rng.vector() * 0.1;
        let by_difference = Vec3::from_fn(|k, _| {
            let d = Vec3::ith(k, 1e-7);
            texture.height * (height(&(p + d)) - height(&(p - d))) / 2e-7
        });
        assert!((texture.slope(&p) - by_difference).norm() < 1e-6, "{p}");
    }
}

/// Both halves with all effects on: limits hold, and the hand's energy stays within the observer's bound.
#[test]
fn servo_forces_stay_in_device_limits_and_vanish_in_free_space() {
    let tool = block();
    let mut settings = Settings::for_tool(Renderer::GodObject, &tool, &LIMITS).unwrap();
    settings.surface = everything();
    let (mut servo, mut simulation) = haptics::new(settings, tool, ground(Vec3::z())).unwrap();
    let (mut largest, mut aside, mut free) = (0.0f64, 0.0f64, 0);
    for i in 0..3000 {
        let t = 1e-3 * f64::from(i);
        let place = Vec3::new(0.03 * (3.0 * t).sin(), 0.02 * (5.0 * t).cos(), 0.035 + 0.03 * (8.0 * t).cos());
        let linear = Vec3::new(0.09 * (3.0 * t).cos(), -0.1 * (5.0 * t).sin(), -0.24 * (8.0 * t).sin());
        let twist = Twist { linear, angular: Vec3::zeros() };
        let device = DeviceState { pose: Pose::from_parts(place.into(), Rotation::identity()), twist, engaged: true };
        let output = servo.step(&device, 1e-3);
        simulation.simulate();
        let force = output.wrench.force;
        assert!(force.norm() <= LIMITS.force && output.wrench.torque.norm() <= LIMITS.torque, "step {i}: {output:?}");
        if place.z > 0.042 {
            assert_eq!(output.wrench, Wrench::ZERO, "step {i}");
            free += 1;
        }
        (largest, aside) = (largest.max(force.norm()), aside.max(force.xy().norm()));
    }
    // The passivity controller may act in contact, because friction and bumps are no springs.
    assert!(free > 500 && largest > 2.0 && aside > 0.3, "{free}, {largest} N, {aside} N aside");
}

#[test]
fn invalid_values_are_refused() {
    let (tool, good) = (block(), everything());
    let refuses = |surface: Surface| {
        let settings = GodSettings { surface, ..GodSettings::default() };
        assert!(GodObject::new(tool.clone(), &Pose::identity(), settings).is_err(), "{surface:?}");
    };
    assert!(good.check().is_ok() && Surface::default().check().is_ok());
    for value in [-1e-3, f64::NAN, f64::INFINITY] {
        refuses(Surface { friction: value, ..good });
        refuses(Surface { shading: value, ..good });
        refuses(Surface { texture: Texture { height: value, ..good.texture }, ..good });
        refuses(Surface { texture: Texture { wavelength: value, ..good.texture }, ..good });
    }
    refuses(Surface { texture: Texture { height: 1e-4, wavelength: 0.0 }, ..good });
}
