//! The loop with a simulated device: its stability limit, and the energy at its port.

use nalgebra::{UnitQuaternion, Vector3};
use support::haptics::{at_height, block, floor, on_floor, NO_LIMITS};
use support::rng::Rng;
use voxshell::haptics::{self, Renderer, Saturation, Settings, Status};
use voxshell::math::{Pose, Twist, Wrench};
use voxshell_lab::device::{
    critical_stiffness, critical_stiffness_expected, loop_swings, Axis, DeviceModel, SimulatedDevice,
};

const DT: f64 = 1e-3;
/// Impulses are left out: they stop the tool without a spring, so only the coupling is felt.
const RENDERERS: [Renderer; 4] = [Renderer::GodObject, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::Vps];

/// Settings of a coupling that is a plain spring, against a much stiffer floor.
fn plain(renderer: Renderer, side: usize, stiffness: f64) -> Settings {
    let mut s = Settings::for_tool(renderer, &block(side), &NO_LIMITS).unwrap();
    s.coupling.stiffness = [stiffness, 0.2 * stiffness * 0.05 * 0.05];
    s.coupling.damping = [0.0; 2];
    s.coupling.saturation = Saturation::Linear;
    s.contact.stiffness = 1e7;
    s.contact.damping = 0.0;
    s.passivity = false;
    s
}

#[test]
fn the_whole_loop_swings_up_where_the_plain_spring_does() {
    let devices = [(0.1, 0.1, false), (0.3, 1.0, false), (0.3, 1.0, true), (0.3, 5.0, false)];
    for renderer in RENDERERS {
        for (n, (mass, damping, is_held)) in devices.into_iter().enumerate() {
            // One contact, and about a thousand.
            for (delay, side) in [(0, 1), (1, 1), (2, 1), ((n % 3), 32)] {
                // Quadratic programs with so many contacts are slow.
                if renderer == Renderer::GodObject && side > 1 {
                    continue;
                }
                let (is_large, is_plain) = (side > 1, renderer == Renderer::Penalty);
                if !support::long() && ((is_large || !is_plain) && n > 0 || is_large && !is_plain) {
                    continue;
                }
                let mut model = DeviceModel::new(mass, damping).delayed(delay);
                if is_held {
                    model = model.held();
                }
                let b = damping + if is_held { Axis::HUMAN.damping } else { 0.0 };
                let expected = critical_stiffness_expected(b, delay, DT);
                let mut swings = |k: f64| {
                    let (mut servo, mut simulation) =
                        haptics::new(plain(renderer, side, k), block(side), vec![floor()]).unwrap();
                    let [from, to] = [0.002, -0.002].map(|y| Pose::translation(0.0, y, 0.0));
                    loop_swings((&mut servo, &mut simulation), &model, [&from, &to], DT, [0.2, 8.0])
                };
                let what = format!("{renderer:?} {mass} kg {damping} N·s/m held {is_held} delay {delay}, {side}²");
                if support::long() {
                    let found = critical_stiffness([0.9 * expected, 1.1 * expected], &mut swings);
                    println!("{what}: {found:.1} N/m, theory {expected:.1}");
                }
                let [[early, late], [less, more]] = [0.97, 1.03].map(|part| swings(part * expected));
                assert!(late < early, "{what}: swings up below {expected}, from {early} to {late}");
                assert!(more > less, "{what}: calms down above {expected}, from {less} to {more}");
            }
        }
    }
}

/// Returns a hand motion: a few sines in all six directions, in and out of the floor.
fn wander(rng: &mut Rng) -> impl Fn(f64) -> (Pose, Twist) {
    let waves: Vec<[f64; 3]> = (0..18)
        .map(|n| [if n < 9 { 0.003 } else { 0.05 } * rng.fraction(), 1.0 + 20.0 * rng.fraction(), 6.3 * rng.fraction()])
        .collect();
    move |t| {
        let (mut x, mut v) = ([0.0; 6], [0.0; 6]);
        for (n, [a, w, p]) in waves.iter().enumerate() {
            x[n / 3] += a * (w * t + p).sin();
            v[n / 3] += a * w * (w * t + p).cos();
        }
        // For small turns the rate is nearly that of the rotation vector.
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x[3], x[4], x[5]));
        // Starts from above, so that the contact data is fresh before the first contact.
        let lift = (1.0 - 2.0 * t).max(0.0);
        let pose = Pose::from_parts(Vector3::new(x[0], x[1] - 0.001 + 0.04 * lift * lift, x[2]).into(), turn);
        (pose, Twist { linear: Vector3::new(v[0], v[1] - 0.16 * lift, v[2]), angular: Vector3::new(v[3], v[4], v[5]) })
    }
}

/// The observer's E is never below the leak of sampling, ½ Σ Δξᵀ K Δξ, plus the initial energy of the springs.
#[test]
fn the_port_gives_no_more_than_sampling_leaks() {
    // Tangent planes of voxels are discontinuous, so they deliver more.
    for renderer in RENDERERS.into_iter().filter(|r| *r != Renderer::Vps) {
        let mut rng = Rng(7);
        for round in 0..10 {
            let (mut servo, mut simulation) = on_floor(renderer, 3, |s| {
                s.limits = NO_LIMITS;
                s.passivity = false;
                s.coupling.damping = [0.0; 2];
                s.coupling.saturation = if round % 2 == 0 { Saturation::Linear } else { Saturation::Cubic };
            });
            let [k, kappa] = servo.settings().coupling.stiffness;
            let hand = wander(&mut rng);
            let (mut leak, mut least, mut last) = (0.0, f64::INFINITY, None::<Pose>);
            let mut touched = 0;
            for n in 0..3000 {
                let (pose, twist) = hand(n as f64 * DT);
                if let Some(last) = last {
                    let displacement = (pose.translation.vector - last.translation.vector).norm();
                    let turn = pose.rotation.angle_to(&last.rotation);
                    leak += 0.5 * (k * displacement * displacement + kappa * turn * turn);
                }
                last = Some(pose);
                let output = servo.step(&haptics::DeviceState { pose, twist, engaged: true }, DT);
                simulation.simulate();
                touched += usize::from(output.contacts > 0);
                least = least.min(servo.observer().total() + leak);
            }
            assert!((300..2990).contains(&touched), "{touched} steps in contact");
            println!("{renderer:?}: least margin {least:.2e} J, leak {leak:.2e} J");
            assert!(least > -1e-4, "{renderer:?} {round}: {least} J below the bound, leak {leak} J");
        }
    }
}

/// A coupling four times too stiff for its device is unstable, unless the passivity controller removes the energy.
#[test]
fn the_controller_holds_what_would_swing_up() {
    let swings = |passivity: bool| {
        let model = DeviceModel::new(0.3, 1.0);
        let stiffness = 4.0 * critical_stiffness_expected(1.0, 0, DT);
        let mut settings = plain(Renderer::Penalty, 3, stiffness);
        settings.passivity = passivity;
        let (mut servo, mut simulation) = haptics::new(settings, block(3), vec![floor()]).unwrap();
        let mut device = SimulatedDevice::new(model, at_height(0.002).pose);
        let (mut late, mut damped) = (0.0f64, false);
        for n in 0..4000 {
            // Not before the force has grown after the start.
            if n == 200 {
                device.push = Wrench { force: Vector3::new(0.0, -5.0, 0.0), torque: Vector3::zeros() };
            }
            let output = servo.step(&device.state(), DT);
            simulation.simulate();
            device.step(&output.wrench, DT);
            damped |= output.status.contains(Status::DAMPED);
            if n > 3000 {
                late = late.max(device.twist().linear.norm());
            }
        }
        assert_eq!(damped, passivity);
        late
    };
    let (without, with) = (swings(false), swings(true));
    println!("{without} m/s without, {with} m/s with");
    assert!(without > 0.1, "the loop must be unstable for this test to say anything: {without} m/s");
    assert!(with < 0.2 * without, "{with} m/s with the controller, {without} m/s without");
}
