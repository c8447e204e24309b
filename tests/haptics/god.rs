//! The god-object: it never penetrates or tunnels, moves freely without contact, and reports when it is locked.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::field::{Cuboid, Cylinder, Field, HalfSpace, SignedDistance};
use voxshell::haptics::constraint::{ConstraintForce, ConstraintModel};
use voxshell::haptics::god_object::{Advance, Budget, Detection, GodObject, GodSettings};
use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Renderer, Settings, Status, Tool};
use voxshell::math::{Mat3, Pose, Progress, Rotation, Twist, Vec3, Wrench};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

fn cook(mesh: &TriMesh, samples: usize, cells: u32) -> Forms {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
    Forms { field: shape.field.clone(), shell: shape.shell.clone(), ..Forms::default() }
}

fn analytic(field: Field) -> Forms {
    Forms { field: Some(Arc::new(field)), shell: None, ..Forms::default() }
}

fn tool(forms: Forms, radius: f64) -> Tool {
    Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 0.2 * radius * radius }
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// Returns φ of the nearest sample over all samples: of the tool's in the fields of others, of others' in the tool's.
/// No tree, f64 up to the field.
fn nearest(tool: &Tool, pose: &Pose, bodies: &[Obstacle]) -> f64 {
    let mut least = f64::INFINITY;
    let mut run = |shell: &Forms, field: &Forms, relative: Pose| {
        let (Some(shell), Some(field)) = (&shell.shell, &field.field) else { return };
        for i in 0..shell.len() {
            let p = relative.transform_point(&shell.position(i).into()).coords;
            let p = p - field.local_origin(&p);
            least = least.min(field.distance([p.x as f32, p.y as f32, p.z as f32]).into());
        }
    };
    for body in bodies {
        run(&tool.forms, &body.forms, body.pose.inv_mul(pose));
        run(&body.forms, &tool.forms, pose.inv_mul(&body.pose));
    }
    least
}

struct Scene {
    name: &'static str,
    tool: Tool,
    bodies: Vec<Obstacle>,
    start: Pose,
    /// Range of the hand: half the size of a box around the start.
    reach: Vec3,
    /// Returns true if the tool is on its allowed side: a tool that tunnels is not.
    side: fn(&Pose) -> bool,
}

fn scenes() -> Vec<Scene> {
    let boxed = || tool(cook(&primitives::cuboid([0.05, 0.03, 0.04]).unwrap(), 300, 24), 0.05);
    let knot = tool(cook(&primitives::torus_knot(2, 3, 0.05, 0.015, 120, 12).unwrap(), 500, 40), 0.06);
    let rod = |r: f64, h: f64| tool(cook(&primitives::cylinder(r, h, 32).unwrap(), 500, 32), h);
    let fixed = |forms: Forms, pose: Pose| Obstacle::fixed(forms, pose);
    let wall = |half: [f64; 3]| analytic(Field::Cuboid(Cuboid::new(half).unwrap()));
    // A millimetre thick.
    let around = |i: i32| [[0.0005, 0.0], [0.0, 0.0005], [-0.0005, 0.0], [0.0, -0.0005]][(i % 4) as usize];
    let points: Vec<_> = (0..1600).map(|i| [around(i)[0], 2.5e-4 * f64::from(i - 800), around(i)[1]]).collect();
    let normals: Vec<_> = (0..1600).map(|i| [around(i)[0], 0.0, around(i)[1]]).collect();
    let wire = Forms {
        shell: Some(Arc::new(PointShell::from_samples(&points, &normals, &ShellOptions::default()).unwrap())),
        ..analytic(Field::Cylinder(Cylinder::new(1, 0.0005, 0.2).unwrap()))
    };
    let upright = Isometry3::rotation(Vec3::x() * std::f64::consts::FRAC_PI_2);
    let flat = Isometry3::rotation(Vec3::z() * std::f64::consts::FRAC_PI_2);
    vec![
        Scene {
            name: "a box on a plane",
            tool: boxed(),
            bodies: vec![fixed(analytic(Field::HalfSpace(HalfSpace::new(Vec3::z(), 0.0).unwrap())), Pose::identity())],
            start: at(0.0, 0.0, 0.1),
            reach: Vec3::new(0.2, 0.2, 0.3),
            side: |p| p.translation.z > 0.0,
        },
        Scene {
            name: "a knot at a sheet of a tenth of a millimetre",
            tool: knot.clone(),
            bodies: vec![fixed(wall([2.0, 2.0, 0.5e-4]), Pose::identity())],
            start: at(0.0, 0.0, 0.12),
            reach: Vec3::new(0.2, 0.2, 0.4),
            side: |p| p.translation.z > 0.0,
        },
        Scene {
            name: "a box in a corner of three sheets",
            tool: boxed(),
            bodies: vec![
                fixed(wall([2.0, 2.0, 1e-4]), Pose::identity()),
                fixed(wall([2.0, 1e-4, 2.0]), Pose::identity()),
                fixed(wall([1e-4, 2.0, 2.0]), at(0.0, 0.0, 0.0)),
            ],
            start: at(0.1, 0.1, 0.1),
            reach: Vec3::new(0.3, 0.3, 0.3),
            side: |p| p.translation.vector.min() > 0.0,
        },
        Scene {
            name: "a cylinder at three cylinders",
            tool: rod(0.02, 0.08),
            bodies: [-0.06, 0.0, 0.06]
                .map(|x| fixed(analytic(Field::Cylinder(Cylinder::new(2, 0.025, 0.5).unwrap())), at(x, 0.0, 0.0)))
                .into(),
            start: at(0.0, 0.12, 0.0) * flat,
            reach: Vec3::new(0.03, 0.3, 0.1),
            side: |_| true,
        },
        Scene {
            name: "a box at a fence of wires",
            tool: boxed(),
            bodies: [-0.09, -0.06, -0.03, 0.0, 0.03, 0.06, 0.09]
                .map(|x| fixed(wire.clone(), at(x, 0.0, 0.0) * upright))
                .into(),
            start: at(0.0, 0.1, 0.0),
            reach: Vec3::new(0.01, 0.3, 0.05),
            side: |p| p.translation.y > 0.0,
        },
        Scene {
            name: "a peg and a hole",
            tool: tool(cook(&primitives::peg(0.019, 0.1, 0.004, 24).unwrap(), 500, 40), 0.05),
            bodies: vec![fixed(
                cook(&primitives::hole([0.06, 0.03, 0.06], 0.02, 32).unwrap(), 800, 64),
                Pose::identity(),
            )],
            start: at(0.0, 0.12, 0.0),
            reach: Vec3::new(0.03, 0.3, 0.03),
            side: |_| true,
        },
    ]
}

/// Returns φ of the nearest sample anywhere on the path of the last step, tested every 0.2 mm: between the waypoints by
/// screws computed here. Obstacles do not move.
fn nearest_on_the_way(scene: &Scene, god: &GodObject) -> f64 {
    let mut least = f64::INFINITY;
    for piece in god.path().windows(2) {
        let [from, to] = [piece[0].pose, piece[1].pose];
        let turn = (to.rotation * from.rotation.inverse()).scaled_axis();
        let way = (to.translation.vector - from.translation.vector).norm() + 0.1 * turn.norm();
        let parts = (way / 2e-4).ceil().max(1.0);
        for k in 0..=parts as u32 {
            let pose = screw(&from, &to, f64::from(k) / parts);
            least = least.min(nearest(&scene.tool, &pose, &scene.bodies));
        }
    }
    least
}

/// Returns a fraction of the screw motion between two poses: the power of a rigid motion, by its axis and pitch.
fn screw(from: &Pose, to: &Pose, part: f64) -> Pose {
    let motion = to * from.inverse();
    let turn = motion.rotation.scaled_axis();
    let angle = turn.norm();
    if angle < 1e-12 {
        let way = to.translation.vector - from.translation.vector;
        return Pose::from_parts((from.translation.vector + way * part).into(), from.rotation);
    }
    let axis = turn / angle;
    let along = axis * axis.dot(&motion.translation.vector);
    // A point of the axis: (1 − R) c = the part of the translation across the axis.
    let across = motion.translation.vector - along;
    let center = 0.5 * (across + axis.cross(&across) / (0.5 * angle).tan());
    let rotation = Rotation::from_scaled_axis(turn * part);
    let moved = Pose::from_parts((center + along * part - rotation * center).into(), rotation);
    moved * from
}

/// Moves the hand at up to 5 m/s, also through obstacles, and turns it at up to 10 rad/s. It stays in its box.
fn push(hand: &mut (Pose, Vec3, Vec3), rng: &mut Rng, scene: &Scene) {
    if rng.next() % 40 == 0 {
        hand.1 = rng.vector() * 5.0;
        hand.2 = rng.vector() * 10.0;
    }
    let mut place = hand.0.translation.vector + hand.1 * 1e-3;
    let middle = scene.start.translation.vector;
    for k in 0..3 {
        if (place[k] - middle[k]).abs() > scene.reach[k] {
            hand.1[k] = -hand.1[k];
            place[k] = middle[k] + scene.reach[k].copysign(place[k] - middle[k]);
        }
    }
    hand.0 = Pose::from_parts(place.into(), Rotation::from_scaled_axis(hand.2 * 1e-3) * hand.0.rotation);
}

#[test]
fn hard_pushes_take_no_sample_inside_and_nothing_through() {
    let pushes = if support::long() { 1_000_000 / 6 } else { 300 };
    for scene in scenes() {
        let mut rng = Rng(0x60d);
        let mut god = GodObject::new(scene.tool.clone(), &scene.start, GodSettings::default()).unwrap();
        let mut hand = (scene.start, Vec3::zeros(), Vec3::zeros());
        let (mut least, mut touching, mut free, mut locked) = (f64::INFINITY, 0, 0, 0);
        let started = std::time::Instant::now();
        for i in 0..pushes {
            push(&mut hand, &mut rng, &scene);
            let done = god.advance(&hand.0, &scene.bodies).unwrap();
            let phi = nearest(&scene.tool, &done.pose, &scene.bodies);
            least = least.min(phi);
            assert!(phi > 0.0, "{}: push {i}: φ = {phi}, {done:?}", scene.name);
            let on_the_way = nearest_on_the_way(&scene, &god);
            assert!(on_the_way > 0.0, "{}: push {i}: φ = {on_the_way} on the way, {:?}", scene.name, god.path());
            assert_eq!(god.path().last().map(|waypoint| waypoint.pose), Some(done.pose), "{}: push {i}", scene.name);
            assert!((scene.side)(&done.pose), "{}: push {i}: through, at {}", scene.name, done.pose);
            assert!(!done.status.contains(Status::PENETRATING), "{}: push {i}", scene.name);
            if phi > 0.01 * god.skin() + 4.0 * god.skin() {
                assert_eq!(done.wrench, Wrench::ZERO, "{}: push {i}: a force {phi} m away", scene.name);
                free += 1;
            }
            touching += u32::from(done.constraints > 0);
            locked += u32::from(done.status.contains(Status::LOCKED));
        }
        let each = started.elapsed().as_secs_f64() / f64::from(pushes) * 1e6;
        eprintln!(
            "{}: {pushes} pushes, least φ {least:.3e} of a skin of {:.3e}, {touching} touch, {free} free, {locked} locked, {each:.0} µs",
            scene.name,
            god.skin()
        );
        // The god-object is rarely locked, and only where the hand has pulled it into a narrow place.
        assert!(locked <= pushes / 10, "{}: {locked} of {pushes} locked", scene.name);
        assert!(touching > pushes / 20, "{}: the test tests too little: {touching} touch", scene.name);
    }
}

fn settle(god: &mut GodObject, target: &Pose, bodies: &[Obstacle], steps: u32) -> Advance {
    (0..steps).map(|_| god.advance(target, bodies).unwrap()).last().unwrap()
}

#[test]
fn a_box_slides_on_a_plane_and_the_force_is_that_of_the_spring() {
    let Scene { tool, bodies, start, .. } = scenes().swap_remove(0);
    let settings = GodSettings::default();
    let mut god = GodObject::new(tool.clone(), &start, settings).unwrap();
    // The hand is 2 cm below and 10 cm beside: the god-object moves beside and rests.
    let target = at(0.1, -0.07, 0.02);
    let done = settle(&mut god, &target, &bodies, 60);
    let place = done.pose.translation.vector;
    assert!((place.xy() - target.translation.vector.xy()).norm() < 1e-6, "{place}");
    let rest = 0.04 + 1.3 * god.skin();
    assert!((place.z - rest).abs() < god.skin(), "{place}");
    let spring = settings.stiffness * settings.coupling * tool.mass * (place.z - 0.02);
    assert!((done.wrench.force - Vec3::z() * spring).norm() < 1e-3 * spring, "{:?}", done.wrench);
    assert!(done.wrench.torque.norm() < 1e-4 * spring);
    assert!(!done.status.contains(Status::LOCKED));
    // Then it lifts off.
    assert_eq!(settle(&mut god, &at(0.1, -0.07, 0.3), &bodies, 60).wrench, Wrench::ZERO);
}

#[test]
fn in_a_passage_that_closes_on_it_it_is_locked_and_says_so() {
    // Fig. 13: walls at both sides of a peg, at its end and behind: a box in a box, on all sides.
    let tool = tool(cook(&primitives::cuboid([0.05, 0.03, 0.04]).unwrap(), 300, 24), 0.05);
    let mut bodies = Vec::new();
    let thick = 0.05;
    for (axis, half) in [0.05, 0.03, 0.04].into_iter().enumerate() {
        for side in [-1.0, 1.0] {
            let mut shape = [0.3; 3];
            shape[axis] = thick;
            // 2e-5 of clearance at each side: less than the skin.
            let place = Vec3::ith(axis, side * (half + thick + 1e-5));
            let field = analytic(Field::Cuboid(Cuboid::new(shape).unwrap()));
            bodies.push(Obstacle::fixed(field, Translation3::from(place).into()));
        }
    }
    let mut god = GodObject::new(tool.clone(), &Pose::identity(), GodSettings::default()).unwrap();
    for pull in [at(0.1, 0.0, 0.0), at(-0.1, 0.05, 0.1), at(0.0, 0.0, -0.3)] {
        let done = settle(&mut god, &pull, &bodies, 5);
        assert!(done.status.contains(Status::LOCKED), "{done:?}");
        assert!(done.pose.translation.vector.norm() < 2e-5, "{done:?}");
        assert!(done.wrench.force.norm() > 10.0 && nearest(&tool, &done.pose, &bodies) > 0.0);
    }
    // Without the lid it gets out.
    bodies.pop();
    let done = settle(&mut god, &at(0.0, 0.0, 0.3), &bodies, 80);
    assert!(done.pose.translation.z > 0.29 && done.status == Status::NORMAL, "{done:?}");
}

#[test]
fn discrete_detection_sticks_in_or_passes_three_cylinders() {
    let scene = scenes().swap_remove(3);
    let [mut continuous, mut discrete] = [Detection::Continuous, Detection::Discrete].map(|detection| {
        let settings = GodSettings { detection, ..GodSettings::default() };
        GodObject::new(scene.tool.clone(), &scene.start, settings).unwrap()
    });
    let side = scene.start.translation.y.signum();
    let below = |way: f64| Translation3::new(0.0, -way, 0.0) * scene.start;
    // 5 mm per step: the last separated pose is above, the next one is inside.
    for i in 0..60 {
        let hand = below(0.005 * f64::from(i));
        let done = continuous.advance(&hand, &scene.bodies).unwrap();
        assert!(nearest(&scene.tool, &done.pose, &scene.bodies) > 0.0, "step {i}: {done:?}");
        discrete.advance(&hand, &scene.bodies).unwrap();
    }
    let (target, inside) = (below(0.3), discrete.pose());
    let held = settle(&mut discrete, &target, &scene.bodies, 40);
    assert_eq!(held.pose.translation.y.signum(), side, "it is held: {held:?}");
    assert!(held.status.contains(Status::PENETRATING) && held.constraints > 0, "{held:?}");
    assert!(held.clearance < -1e-3 && held.wrench.force.norm() > 1.0, "{held:?}");
    assert!((nearest(&scene.tool, &held.pose, &scene.bodies) - held.clearance).abs() < 1e-6, "{held:?}");
    assert!((held.pose.translation.y - inside.translation.y).abs() < 5e-3, "stuck: {held:?}");
    // In one step: nothing is inside at either end.
    discrete.reset(&scene.start);
    let through = settle(&mut discrete, &target, &scene.bodies, 60);
    assert!(through.pose.translation.y.signum() != side && through.status == Status::NORMAL, "{through:?}");
    let done = settle(&mut continuous, &target, &scene.bodies, 100);
    assert_eq!(done.pose.translation.y.signum(), side, "{done:?}");
    assert!(nearest(&scene.tool, &done.pose, &scene.bodies) > 0.0);
    assert!(done.wrench.force.norm() > 1.0, "{done:?}");
}

#[test]
fn discrete_detection_holds_a_slow_box_on_a_plane() {
    let Scene { tool, bodies, .. } = scenes().swap_remove(0);
    let results = [Detection::Continuous, Detection::Discrete].map(|detection| {
        let settings = GodSettings { detection, ..GodSettings::default() };
        let mut god = GodObject::new(tool.clone(), &at(0.0, 0.0, 0.05), settings).unwrap();
        // A tenth of a millimetre a step, 1 cm into the plane, then along it.
        for i in 0..200 {
            god.advance(&at(0.0, 0.0, 0.05 - 1e-4 * f64::from(i)), &bodies).unwrap();
        }
        (0..200).map(|i| god.advance(&at(1e-4 * f64::from(i), 0.0, 0.03), &bodies).unwrap()).last().unwrap()
    });
    let [continuous, discrete] = results;
    let apart = discrete.pose.translation.vector - continuous.pose.translation.vector;
    assert!(apart.norm() < 1.1e-4 && discrete.clearance <= 0.0, "{continuous:?} {discrete:?}");
    let force = continuous.wrench.force;
    assert!((discrete.wrench.force - force).norm() < 0.02 * force.norm(), "{continuous:?} {discrete:?}");
}

/// Limits that end each round after its first substep.
const TINY: [Budget; 2] = [Budget { tests: 1, ..Budget::UNLIMITED }, Budget { nanoseconds: 1, ..Budget::UNLIMITED }];

#[test]
fn rounds_ended_by_a_budget_never_penetrate_and_finish_later() {
    let (pushes, mut partial) = (if support::long() { 5000 } else { 240 }, 0);
    for (scene, budget) in scenes().into_iter().zip(TINY.into_iter().cycle()) {
        let settings = GodSettings { budget, ..GodSettings::default() };
        let mut god = GodObject::new(scene.tool.clone(), &scene.start, settings).unwrap();
        let (mut rng, mut hand) = (Rng(0x60d), (scene.start, Vec3::zeros(), Vec3::zeros()));
        for i in 0..pushes {
            push(&mut hand, &mut rng, &scene);
            let done = god.advance(&hand.0, &scene.bodies).unwrap();
            let on_the_way = nearest_on_the_way(&scene, &god);
            assert!(on_the_way > 0.0, "{}: push {i}: φ = {on_the_way}, {:?}", scene.name, god.path());
            assert!((scene.side)(&done.pose) && !done.status.contains(Status::PENETRATING), "{}: {i}", scene.name);
            // After the first substep only the remaining motion was examined, no more.
            let is_partial = done.status.contains(Status::PARTIAL);
            assert!(done.substeps <= if is_partial { 1 } else { 2 }, "{}: push {i}: {done:?}", scene.name);
            partial += u32::from(is_partial);
        }
    }
    assert!(partial > 10, "{partial}");
    // Half a metre along the plane and into it, in one step.
    let Scene { tool, bodies, start, .. } = scenes().swap_remove(0);
    let target = Pose::new(Vec3::new(0.5, -0.3, 0.02), Vec3::new(0.0, 0.0, 1.0));
    let gone = |budget: Budget| {
        let mut god = GodObject::new(tool.clone(), &start, GodSettings { budget, ..GodSettings::default() }).unwrap();
        let rounds: Vec<Advance> = (0..120).map(|_| god.advance(&target, &bodies).unwrap()).collect();
        rounds
    };
    let whole = gone(Budget::UNLIMITED);
    assert!(whole.iter().all(|done| !done.status.contains(Status::PARTIAL)));
    assert_eq!(whole, gone(Budget { tests: 1 << 40, nanoseconds: 1 << 50 }), "a budget that is enough changes nothing");
    for budget in TINY {
        let rounds = gone(budget);
        assert!(rounds.iter().any(|done| done.status.contains(Status::PARTIAL)), "{budget:?}");
        let (last, expected) = (rounds[119], whole[119]);
        assert!(last.status == Status::NORMAL, "{budget:?}: {last:?}");
        let apart = last.pose.translation.vector - expected.pose.translation.vector;
        assert!(apart.norm() < 1e-6, "{budget:?}: {last:?}, not {expected:?}");
        assert!((last.wrench.force - expected.wrench.force).norm() < 1e-3 * expected.wrench.force.norm());
    }
    // The same number of tests gives the same bytes.
    let some = Budget { tests: 3000, ..Budget::UNLIMITED };
    assert_eq!(gone(some), gone(some));
}

#[test]
fn a_simulation_continues_after_a_budget_though_the_hand_rests() {
    let Scene { tool, bodies, .. } = scenes().swap_remove(0);
    let limits = Limits { force: 8.0, torque: 0.5, stiffness: [2000.0, 30.0], damping: [20.0, 0.5] };
    let mut settings = Settings::for_tool(Renderer::GodObject, &tool, &limits).unwrap();
    settings.budget = TINY[0];
    let (mut servo, mut simulation) = haptics::new(settings, tool, bodies).unwrap();
    let mut step = |x: f64, z: f64| {
        servo.step(&DeviceState { pose: at(x, 0.0, z), twist: Twist::ZERO, engaged: true }, 1e-3);
    };
    step(0.0, 0.045);
    assert!(simulation.simulate().fresh);
    // 15 cm aside and 3 cm down, before the next round.
    (1..=30).for_each(|i| step(5e-3 * f64::from(i), 0.045 - 1e-3 * f64::from(i)));
    let (mut partial, mut last) = (0, simulation.simulate());
    while last.status.contains(Status::PARTIAL) {
        assert!(last.fresh && partial < 50 && last.least_separation > 0.0, "{last:?}");
        partial += 1;
        last = simulation.simulate();
    }
    assert!(partial > 0 && last.fresh && !simulation.simulate().fresh, "{partial}, {last:?}");
}

#[test]
fn obstacles_that_move_take_it_along_and_do_not_pass_it() {
    for budget in [Budget::UNLIMITED, TINY[0]] {
        // 2 m/s, and 20 m/s: a step is then half the height of the knot.
        for speed in [1.0, 10.0] {
            taken_along(GodSettings { budget, ..GodSettings::default() }, speed);
        }
    }
}

/// The sheet moves up at `speed` times 2 m/s, and rotates a little.
fn taken_along(settings: GodSettings, speed: f64) {
    let scene = scenes().swap_remove(1);
    let mut bodies = scene.bodies;
    let mut god = GodObject::new(scene.tool.clone(), &scene.start, settings).unwrap();
    let hand = scene.start;
    god.advance(&hand, &bodies).unwrap();
    for i in 1..=(150.0 / speed) as u32 {
        let t = speed * f64::from(i);
        bodies[0].pose = Isometry3::new(Vec3::new(0.0, 0.0, 2e-3 * t), Vec3::new(2e-3 * t, 1e-3 * t, 0.0));
        let done = god.advance(&hand, &bodies).unwrap();
        let above = bodies[0].pose.inverse_transform_point(&done.pose.translation.vector.into()).z;
        assert!(above > 0.0, "step {i}: passed, {above}");
        assert!(!done.status.contains(Status::PENETRATING), "step {i}: {done:?}");
        assert!(nearest(&scene.tool, &done.pose, &bodies) > 0.0, "step {i}");
    }
    assert!(god.pose().translation.z > 0.3);
}

#[test]
fn a_start_inside_is_pushed_out_or_told() {
    let Scene { tool, bodies, .. } = scenes().swap_remove(0);
    let shallow = at(0.0, 0.0, 0.035);
    let mut god = GodObject::new(tool.clone(), &shallow, GodSettings::default()).unwrap();
    let done = god.advance(&shallow, &bodies).unwrap();
    assert!(nearest(&tool, &done.pose, &bodies) > 0.0 && done.status == Status::NORMAL, "{done:?}");
    assert!((done.pose.translation.vector - Vec3::new(0.0, 0.0, 0.04)).norm() < 1e-4, "{done:?}");
    // Deeper than its own size: it goes no deeper, feels no force at the hand, and comes out with it.
    let deep = at(0.0, 0.0, -1.0);
    god.reset(&deep);
    let done = god.advance(&deep, &bodies).unwrap();
    assert!(done.status.contains(Status::PENETRATING) && done.wrench == Wrench::ZERO, "{done:?}");
    let done = settle(&mut god, &at(0.1, 0.0, -1.5), &bodies, 60);
    assert!((done.pose.translation.vector - Vec3::new(0.1, 0.0, -1.0)).norm() < god.skin(), "{done:?}");
    assert!(done.status.contains(Status::PENETRATING) && done.wrench.force.z > 1.0, "{done:?}");
    let done = settle(&mut god, &at(0.0, 0.0, 0.3), &bodies, 60);
    assert!(done.status == Status::NORMAL && done.pose.translation.z > 0.29, "{done:?}");
    assert!(settle(&mut god, &deep, &bodies, 60).pose.translation.z > 0.0);
}

#[test]
fn constraint_forces_grow_from_zero_and_vanish_at_once() {
    let Scene { tool, bodies, start, .. } = scenes().swap_remove(0);
    let mut god = GodObject::new(tool, &start, GodSettings::default()).unwrap();
    let mut force = ConstraintForce::new();
    let free = god.model().clone();
    let inside = at(0.0, 0.0, 0.02);
    // The hand is 2 cm deep when the first constraints arrive from a late simulation.
    force.adopt(&free, &inside).unwrap();
    assert_eq!(force.evaluate(&free, &inside, 1e-3).unwrap().wrench, Wrench::ZERO);
    settle(&mut god, &inside, &bodies, 30);
    let held: ConstraintModel = god.model().clone();
    force.adopt(&held, &inside).unwrap();
    let (mut last, mut jump) = (0.0, 0.0f64);
    for _ in 0..60 {
        let now = force.evaluate(&held, &inside, 1e-3).unwrap().wrench.force.norm();
        assert!(now >= last);
        jump = jump.max(now - last);
        last = now;
    }
    let full = settle(&mut god, &inside, &bodies, 1).wrench.force.norm();
    assert!((last - full).abs() < 1e-3 * full && jump < 0.2 * full, "{last} of {full}, at most {jump} at once");
    // The same constraints from other samples change nothing.
    let mut others = held.clone();
    others.constraints.iter_mut().for_each(|c| c.feature += 1000);
    others.constraints.reverse();
    force.adopt(&others, &inside).unwrap();
    assert!((force.evaluate(&others, &inside, 1e-3).unwrap().wrench.force.norm() - last).abs() < 1e-3 * full);
    let out = at(0.0, 0.0, 0.2);
    assert_eq!(force.evaluate(&others, &out, 1e-3).unwrap().wrench, Wrench::ZERO);
}

#[test]
fn equal_steps_give_equal_bytes_and_warm_ones_allocate_nothing() {
    let scene = scenes().swap_remove(5);
    let run = |god: &mut GodObject| {
        let (mut rng, mut hand) = (Rng(9), (scene.start, Vec3::zeros(), Vec3::zeros()));
        god.reset(&scene.start);
        let mut sum = Vec3::zeros();
        for _ in 0..400 {
            push(&mut hand, &mut rng, &scene);
            let done = god.advance(&hand.0, &scene.bodies).unwrap();
            sum += done.pose.translation.vector + done.wrench.force;
        }
        sum
    };
    let make = || GodObject::new(scene.tool.clone(), &scene.start, GodSettings::default()).unwrap();
    let (mut one, mut two) = (make(), make());
    let first = run(&mut one);
    assert_eq!(first, run(&mut two));
    let count = support::allocation::allocations(|| {
        assert_eq!(run(&mut one), first);
    });
    assert_eq!(count, 0);
}

#[test]
fn the_default_skin_is_a_part_of_the_largest_body() {
    let Scene { tool, bodies, start, .. } = scenes().swap_remove(1);
    let mut god = GodObject::new(tool, &start, GodSettings::default()).unwrap();
    god.advance(&start, &bodies).unwrap();
    // A sheet of 4 m × 4 m × 0.1 mm: half its diagonal.
    let size = Vec3::new(2.0, 2.0, 0.5e-4).norm();
    assert!((god.skin() - 2e-5 * size).abs() < 1e-12, "{}", god.skin());
}

#[test]
fn an_obstacle_that_becomes_another_is_seen_as_that() {
    let Scene { tool, mut bodies, start, .. } = scenes().swap_remove(0);
    let mut god = GodObject::new(tool, &start, GodSettings::default()).unwrap();
    let below = at(0.0, 0.0, 0.0);
    let rest = settle(&mut god, &below, &bodies, 60).pose.translation.z;
    // The same place, with a plane that is 2 cm lower.
    bodies[0].forms = analytic(Field::HalfSpace(HalfSpace::new(Vec3::z(), -0.02).unwrap()));
    let lower = settle(&mut god, &below, &bodies, 60);
    assert!((rest - lower.pose.translation.z - 0.02).abs() < 1e-4, "{rest}, {lower:?}");
    assert!(lower.wrench.force.z > 0.0);
}

#[test]
fn bad_settings_and_poses_are_refused() {
    let Scene { tool, bodies, start, .. } = scenes().swap_remove(0);
    let make = |settings| GodObject::new(tool.clone(), &start, settings).is_ok();
    assert!(make(GodSettings::default()));
    for coupling in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(!make(GodSettings { coupling, ..GodSettings::default() }));
    }
    for skin in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        assert!(!make(GodSettings { skin: Some(skin), ..GodSettings::default() }));
    }
    let mut god = GodObject::new(tool.clone(), &start, GodSettings::default()).unwrap();
    assert!(god.advance(&at(f64::NAN, 0.0, 0.0), &bodies).is_err());
    assert_eq!(god.pose(), start);
}
