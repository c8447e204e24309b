//! Motion of rigid bodies: conserved quantities, closed forms, orders of convergence, stiff springs.

use nalgebra::Matrix6;
use support::rng::Rng;
use voxshell::dynamics::{implicit_euler_of_two, Link, Mass, RigidBody};
use voxshell::math::{Mat3, Mat6, Pose, Rotation, Twist, Vec3, Wrench};
use voxshell::response::Response;
use voxshell::Error;

fn cross(v: &Vec3) -> Mat3 {
    v.cross_matrix()
}

/// Returns a body with three different moments about axes that are not its own.
fn crooked(rng: &mut Rng) -> RigidBody {
    let axes = rng.rotation().to_rotation_matrix().into_inner();
    let inertia = axes * Mat3::from_diagonal(&Vec3::new(0.02, 0.05, 0.06)) * axes.transpose();
    let mass = Mass::new(2.0, Vec3::new(0.1, -0.2, 0.05), inertia).unwrap();
    let mut body = RigidBody::at(mass, &Pose::from_parts(rng.vector().into(), rng.rotation()));
    body.set_twist(&Twist { linear: rng.vector(), angular: rng.vector() * 3.0 });
    body
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Symplectic,
    Implicit,
}

const METHODS: [Method; 2] = [Method::Symplectic, Method::Implicit];

fn step(body: &mut RigidBody, load: &Response, method: Method, dt: f64) {
    match method {
        Method::Symplectic => body.symplectic_euler(&load.wrench, dt),
        Method::Implicit => assert!(body.implicit_euler(load, dt)),
    }
}

#[test]
fn mass_properties_are_checked() {
    let one = Mat3::identity();
    for (mass, center, inertia) in [
        (0.0, Vec3::zeros(), one),
        (f64::NAN, Vec3::zeros(), one),
        (f64::INFINITY, Vec3::zeros(), one),
        (1.0, Vec3::new(f64::NAN, 0.0, 0.0), one),
        (1.0, Vec3::zeros(), Mat3::zeros()),
        (1.0, Vec3::zeros(), Mat3::from_diagonal(&Vec3::new(1.0, -1.0, 1.0))),
        (1.0, Vec3::zeros(), one * f64::NAN),
    ] {
        assert!(
            matches!(Mass::new(mass, center, inertia), Err(Error::InvalidArgument { .. })),
            "{mass} {center} {inertia}"
        );
    }
}

#[test]
fn poses_and_twists_are_what_they_were_set_to() {
    let mut rng = Rng(1);
    for _ in 0..100 {
        let mut body = crooked(&mut rng);
        let pose = Pose::from_parts(rng.vector().into(), rng.rotation());
        body.set_pose(&pose);
        assert!((body.pose().to_homogeneous() - pose.to_homogeneous()).amax() < 1e-14);
        let twist = Twist { linear: rng.vector(), angular: rng.vector() };
        body.set_twist(&twist);
        assert!((body.twist().column() - twist.column()).amax() < 1e-12);
        assert!((body.inertia() * twist.angular - body.angular_momentum).norm() < 1e-14);
        assert!((body.inertia() * body.inverse_inertia() - Mat3::identity()).amax() < 1e-12);
        let energy = 0.5 * (2.0 * twist.linear.norm_squared() + twist.angular.dot(&(body.inertia() * twist.angular)));
        assert!((body.kinetic_energy() - energy).abs() < 1e-12);
    }
}

#[test]
fn a_free_body_keeps_momenta_exactly_and_energy_nearly() {
    let mut rng = Rng(2);
    for method in METHODS {
        for _ in 0..10 {
            let mut body = crooked(&mut rng);
            let before = body;
            let dt = 1e-3;
            for _ in 0..2000 {
                step(&mut body, &Response::default(), method, dt);
            }
            assert_eq!(body.momentum, before.momentum);
            assert_eq!(body.angular_momentum, before.angular_momentum);
            let displacement = before.twist().linear * 2.0;
            assert!((body.center - before.center - displacement).norm() < 1e-12);
            let drift = body.kinetic_energy() / before.kinetic_energy() - 1.0;
            assert!(drift.abs() < 0.02, "{method:?}: {drift}");
        }
    }
}

/// Returns the attitude of a free symmetric top after `time`: it rotates about its own axis, and with it about the
/// angular momentum, each at a constant rate (Landau & Lifshitz, Mechanics, section 33).
fn top(before: &RigidBody, along: f64, across: f64, time: f64) -> Rotation {
    let l = before.angular_momentum;
    let axis = before.rotation * Vec3::z();
    let spin = l.dot(&axis) * (1.0 / along - 1.0 / across);
    Rotation::from_scaled_axis(l / across * time)
        * before.rotation
        * Rotation::from_scaled_axis(Vec3::z() * (spin * time))
}

#[test]
fn a_free_top_precesses_as_in_closed_form_and_to_first_order() {
    let (along, across) = (0.03, 0.05);
    let mass = Mass::new(1.0, Vec3::zeros(), Mat3::from_diagonal(&Vec3::new(across, across, along))).unwrap();
    let mut rng = Rng(3);
    for method in METHODS {
        for _ in 0..5 {
            let mut before = RigidBody::at(mass, &Pose::from_parts(Vec3::zeros().into(), rng.rotation()));
            before.set_twist(&Twist { linear: Vec3::zeros(), angular: rng.vector().normalize() * 4.0 });
            let exact = top(&before, along, across, 1.0);
            let [coarse, fine] = [400, 1600].map(|steps| {
                let mut body = before;
                for _ in 0..steps {
                    step(&mut body, &Response::default(), method, 1.0 / f64::from(steps));
                }
                body.rotation.angle_to(&exact)
            });
            assert!(fine < 5e-3, "{method:?}: off by {fine}");
            let ratio = coarse / fine;
            assert!((3.2..5.0).contains(&ratio) || coarse < 1e-9, "{method:?}: {coarse} then {fine}");
        }
    }
}

/// A body fixed to the world by a spring and a damper at each of several points, with exact gradients.
struct Ties {
    points: Vec<(Vec3, Vec3)>,
    stiffness: f64,
    damping: f64,
}

impl Ties {
    fn random(rng: &mut Rng, body: &RigidBody, stiffness: f64, damping: f64) -> Self {
        let points = (0..6)
            .map(|_| {
                let p = rng.vector() * 0.3;
                (p, body.pose().transform_point(&p.into()).coords)
            })
            .collect();
        Self { points, stiffness, damping }
    }

    fn load(&self, body: &RigidBody) -> Response {
        let mut sum = Response::default();
        let twist = body.twist();
        for (p, anchor) in &self.points {
            let r = body.pose().transform_point(&(*p).into()).coords - body.center;
            let f = (body.center + r - anchor) * -self.stiffness - twist.at(&r) * self.damping;
            let rx = cross(&r);
            sum.wrench += Wrench::of_force(f, &r);
            // δf = −k (δx + δθ × r) − b ω × (δθ × r); δτ = (δθ × r) × f + r × δf.
            let by_turn = rx * self.stiffness + cross(&twist.angular) * rx * self.damping;
            let mut add = |row: usize, column: usize, m: Mat3| {
                let mut block = sum.by_pose.fixed_view_mut::<3, 3>(row, column);
                block += m;
            };
            add(0, 0, Mat3::from_diagonal_element(-self.stiffness));
            add(0, 3, by_turn);
            add(3, 0, rx * -self.stiffness);
            add(3, 3, rx * by_turn + cross(&f) * rx);
            let mut jacobian = nalgebra::Matrix3x6::zeros();
            jacobian.fixed_view_mut::<3, 3>(0, 0).fill_with_identity();
            jacobian.fixed_view_mut::<3, 3>(0, 3).copy_from(&-rx);
            sum.by_twist -= jacobian.transpose() * jacobian * self.damping;
        }
        sum
    }

    fn energy(&self, body: &RigidBody) -> f64 {
        let stretch = |(p, anchor): &(Vec3, Vec3)| {
            (body.pose().transform_point(&(*p).into()).coords - anchor).norm_squared() * 0.5 * self.stiffness
        };
        body.kinetic_energy() + self.points.iter().map(stretch).sum::<f64>()
    }
}

#[test]
fn both_methods_converge_to_the_same_motion_to_first_order() {
    let mut rng = Rng(5);
    for _ in 0..4 {
        let start = crooked(&mut rng);
        let ties = Ties::random(&mut rng, &start, 40.0, 0.5);
        let run = |method: Method, steps: u32| {
            let mut body = start;
            for _ in 0..steps {
                let load = ties.load(&body);
                step(&mut body, &load, method, 0.5 / f64::from(steps));
            }
            body
        };
        let off = |a: &RigidBody, b: &RigidBody| (a.center - b.center).norm() + a.rotation.angle_to(&b.rotation);
        let reference = run(Method::Symplectic, 50_000);
        for method in METHODS {
            let [coarse, fine] = [500, 2000].map(|steps| off(&run(method, steps), &reference));
            let ratio = coarse / fine;
            assert!((3.3..4.8).contains(&ratio), "{method:?}: {coarse} then {fine}");
            assert!(fine < 2e-2, "{method:?}: {fine}");
        }
    }
}

#[test]
fn a_symplectic_spring_keeps_its_energy_for_100_000_steps() {
    let mass = Mass::of_sphere(0.5, 0.1).unwrap();
    let mut body = RigidBody::at(mass, &Pose::translation(0.1, 0.0, 0.0));
    let (k, dt) = (200.0, 1e-3);
    let energy = |body: &RigidBody| body.kinetic_energy() + 0.5 * k * body.center.norm_squared();
    let before = energy(&body);
    for _ in 0..100_000 {
        let wrench = Wrench { force: body.center * -k, torque: Vec3::zeros() };
        body.symplectic_euler(&wrench, dt);
        assert!((energy(&body) / before - 1.0).abs() < 0.02);
    }
    // One step of the implicit method in one dimension: v₁ = (v₀ − h k x₀/m)/(1 + h² k/m).
    let mut body = RigidBody::at(mass, &Pose::translation(0.1, 0.0, 0.0));
    body.momentum.x = 0.3;
    let mut load = Response::constant(Wrench { force: body.center * -k, torque: Vec3::zeros() });
    load.by_pose.fixed_view_mut::<3, 3>(0, 0).copy_from(&Mat3::from_diagonal_element(-k));
    let expected = (0.6 - 0.1 * k * 0.1 / 0.5) / (1.0 + 0.01 * k / 0.5);
    assert!(body.implicit_euler(&load, 0.1));
    assert!((body.twist().linear.x - expected).abs() < 1e-14);
    assert!((body.center.x - 0.1 - 0.1 * expected).abs() < 1e-15);
}

#[test]
fn implicit_steps_are_stable_on_very_stiff_springs() {
    let mut rng = Rng(7);
    let mut worst: f64 = 0.0;
    for stiffness in [1e3, 1e6, 1e9] {
        for _ in 0..5 {
            let mut body = crooked(&mut rng);
            let ties = Ties::random(&mut rng, &body, stiffness, 0.0);
            body.set_twist(&Twist { linear: rng.vector() * 0.1, angular: rng.vector() * 0.2 });
            let dt = 0.01;
            let mut energy = ties.energy(&body);
            for _ in 0..500 {
                let load = ties.load(&body);
                step(&mut body, &load, Method::Implicit, dt);
                assert!(body.is_finite());
                worst = worst.max(ties.energy(&body) / energy.max(1e-9));
                energy = ties.energy(&body);
            }
            assert!(body.twist().linear.norm() < 0.1, "it calms down");
        }
    }
    assert!(worst < 1.02, "energy grew {worst} times in one step");
    // The explicit method diverges at the first of them.
    let mut body = crooked(&mut rng);
    let ties = Ties::random(&mut rng, &body, 1e6, 0.0);
    let before = ties.energy(&body);
    for _ in 0..100 {
        let load = ties.load(&body);
        step(&mut body, &load, Method::Symplectic, 0.01);
    }
    assert!(!body.is_finite() || ties.energy(&body) > 1e3 * before);
}

#[test]
fn an_unsolvable_implicit_step_falls_back_to_symplectic() {
    let mut body = crooked(&mut Rng(8));
    let mut other = body;
    let wrench = Wrench { force: Vec3::x(), torque: Vec3::y() };
    let load = Response { by_pose: Matrix6::from_element(f64::NAN), ..Response::constant(wrench) };
    assert!(!body.implicit_euler(&load, 0.01));
    other.symplectic_euler(&wrench, 0.01);
    assert_eq!(body, other);
}

#[test]
fn an_implicit_step_solves_the_linearised_equations_of_motion() {
    // Otaduy & Lin 2005, equation 2, in (x, θ, P, L), with a Jacobian by differences: (1 − h J) Δy = h f(y).
    type State = nalgebra::SVector<f64, 12>;
    let mut rng = Rng(9);
    for _ in 0..20 {
        let start = crooked(&mut rng);
        let h = 0.05;
        let mut random = || Matrix6::from_fn(|_, _| rng.unit());
        let wrench = Wrench { force: Vec3::new(1.0, -2.0, 0.5), torque: Vec3::new(0.1, 0.2, -0.3) };
        let load = Response { wrench, by_pose: random() * 5.0, by_twist: random() * 0.3 };
        let moved = |y: &State| {
            let mut body = start;
            body.center += y.fixed_rows::<3>(0);
            let turn: Vec3 = y.fixed_rows::<3>(3).into();
            body.rotation = Rotation::from_scaled_axis(turn) * body.rotation;
            body.momentum += y.fixed_rows::<3>(6);
            body.angular_momentum += y.fixed_rows::<3>(9);
            body
        };
        let rate = |y: &State| {
            let twist = moved(y).twist().column();
            let wrench = load.wrench.column()
                + load.by_pose * y.fixed_rows::<6>(0)
                + load.by_twist * (twist - start.twist().column());
            let mut rate = State::zeros();
            rate.fixed_rows_mut::<6>(0).copy_from(&twist);
            rate.fixed_rows_mut::<6>(6).copy_from(&wrench);
            rate
        };
        let mut jacobian = nalgebra::SMatrix::<f64, 12, 12>::zeros();
        for i in 0..12 {
            let mut d = State::zeros();
            d[i] = 1e-6;
            jacobian.set_column(i, &((rate(&d) - rate(&-d)) / 2e-6));
        }
        let system = nalgebra::SMatrix::<f64, 12, 12>::identity() - jacobian * h;
        let change = system.lu().solve(&(rate(&State::zeros()) * h)).unwrap();
        let (expected, mut body) = (moved(&change), start);
        assert!(body.implicit_euler(&load, h));
        let off = (body.center - expected.center).norm()
            + body.rotation.angle_to(&expected.rotation)
            + (body.momentum - expected.momentum).norm()
            + (body.angular_momentum - expected.angular_momentum).norm();
        assert!(off < 1e-7, "off by {off}");
    }
}

/// Returns a spring and a damper between the centres of two bodies.
fn spring_between([a, b]: [&RigidBody; 2], stiffness: f64, damping: f64) -> Link {
    let pull = (b.center - a.center) * stiffness + (b.twist().linear - a.twist().linear) * damping;
    let wrench = [pull, -pull].map(|force| Wrench { force, torque: Vec3::zeros() });
    let by = |factor: f64| {
        let mut matrix = Mat6::zeros();
        matrix.fixed_view_mut::<3, 3>(0, 0).fill_with_identity();
        [[matrix * -factor, matrix * factor], [matrix * factor, matrix * -factor]]
    };
    Link { wrench, by_pose: by(stiffness), by_twist: by(damping) }
}

#[test]
fn two_linked_bodies_keep_their_momentum_and_end_as_one() {
    let mut rng = Rng(9);
    for stiffness in [1.0, 1e3, 1e6, 1e12] {
        let mut bodies = [crooked(&mut rng), crooked(&mut rng)];
        let (before, dt) = (bodies[0].momentum + bodies[1].momentum, 1e-3);
        let push = Response::constant(Wrench { force: rng.vector(), torque: rng.vector() * 0.01 });
        let angular = bodies.map(|body| body.angular_momentum);
        for _ in 0..20_000 {
            let [a, b] = &mut bodies;
            let link = spring_between([a, b], stiffness, 2.0 * f64::sqrt(stiffness));
            assert!(implicit_euler_of_two([a, b], [&push, &Response::NONE], &link, dt));
        }
        let given = push.wrench.force * (20_000.0 * dt);
        let gained = bodies[0].momentum + bodies[1].momentum - before;
        // The system of a spring of 10¹² N/m is ill-conditioned.
        let rounding = if stiffness > 1e9 { 1e-4 } else { 1e-9 };
        assert!((gained - given).norm() < rounding * given.norm(), "{stiffness}: {gained} {given}");
        // The link has no torque.
        assert!((bodies[1].angular_momentum - angular[1]).norm() < 1e-9, "{stiffness}");
        // Both have 2 kg: the spring pulls the second with half of the push.
        let stretch = (bodies[0].center - bodies[1].center) * stiffness - push.wrench.force * 0.5;
        // What the rounding of the positions alone does to the spring.
        let rounding = 8.0 * f64::EPSILON * bodies[0].center.norm() * stiffness;
        assert!(
            stiffness < 10.0 || stretch.norm() < 1e-3 * push.wrench.force.norm() + rounding,
            "{stiffness}: {stretch}"
        );
        let apart = bodies[0].twist().linear - bodies[1].twist().linear;
        assert!(stiffness < 10.0 || apart.norm() < 1e-6, "{stiffness}: {apart}");
    }
}

#[test]
fn a_step_of_two_bodies_without_a_link_is_that_of_each() {
    let mut rng = Rng(10);
    let none = Link { wrench: [Wrench::ZERO; 2], by_pose: [[Mat6::zeros(); 2]; 2], by_twist: [[Mat6::zeros(); 2]; 2] };
    for _ in 0..100 {
        let mut bodies = [crooked(&mut rng), crooked(&mut rng)];
        let loads = [0, 1].map(|_| Response {
            wrench: Wrench { force: rng.vector(), torque: rng.vector() },
            by_pose: Mat6::from_fn(|_, _| -10.0 * rng.unit()),
            by_twist: Mat6::from_fn(|_, _| -rng.unit()),
        });
        let mut each = bodies;
        let [a, b] = &mut bodies;
        assert!(implicit_euler_of_two([a, b], [&loads[0], &loads[1]], &none, 1e-3));
        for (i, body) in each.iter_mut().enumerate() {
            assert!(body.implicit_euler(&loads[i], 1e-3));
            assert!((body.center - bodies[i].center).norm() < 1e-12);
            assert!((body.momentum - bodies[i].momentum).norm() < 1e-12);
            assert!((body.angular_momentum - bodies[i].angular_momentum).norm() < 1e-12);
        }
    }
}
