//! The loop with a simulated device: the stability limit, the energy that its port leaks, and the effect of slow and
//! stalling simulations on the force.

use std::sync::Arc;

use voxshell::field::{Field, HalfSpace};
use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Saturation, Servo, Settings, Simulation, Tool};
use voxshell::math::{Mat3, Pose, Rotation, Twist, Vec3};
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::Result;
use voxshell_lab::device::{critical_stiffness, critical_stiffness_expected, loop_swings, Axis, DeviceModel};

use super::{supported, Effort};
use crate::haptics_demo::session::{RendererName, LIMITS, STEP};
use voxshell_lab::row::Row;

const NO_LIMITS: Limits =
    Limits { force: f64::INFINITY, torque: f64::INFINITY, stiffness: [f64::INFINITY; 2], damping: [f64::INFINITY; 2] };

/// Returns a plate of 5 cm and 0.1 kg with a grid of samples below, over a floor.
fn plate(side: u32) -> Result<(Tool, Obstacle)> {
    let place = |i: u32| 0.05 * (f64::from(i) / f64::from((side - 1).max(1)) - 0.5) * f64::from(u32::from(side > 1));
    let points: Vec<[f64; 3]> = (0..side * side).map(|i| [place(i % side), -0.005, place(i / side)]).collect();
    let down = vec![[0.0, -1.0, 0.0]; points.len()];
    let shell = PointShell::from_samples(&points, &down, &ShellOptions::default())?;
    let forms = Forms { shell: Some(Arc::new(shell)), ..Forms::default() };
    let tool = Tool { forms, center: Vec3::zeros(), mass: 0.1, inertia: Mat3::from_diagonal_element(4e-5) };
    let floor = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0)?);
    let floor = Forms { field: Some(Arc::new(floor)), ..Forms::default() };
    Ok((tool, Obstacle::fixed(floor, Pose::identity())))
}

pub(super) fn halves(
    renderer: RendererName,
    side: u32,
    adjust: impl FnOnce(&mut Settings),
) -> Result<(Servo, Simulation)> {
    let (tool, floor) = plate(side)?;
    let mut settings = Settings::for_tool(renderer.renderer(), &tool, &LIMITS)?;
    adjust(&mut settings);
    haptics::new(settings, tool, vec![floor])
}

/// Returns the pose with the plate's samples at this height above the floor.
pub(super) fn above(y: f64) -> Pose {
    Pose::translation(0.0, y + 0.005, 0.0)
}

pub fn rows(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    critical(effort, rows)?;
    for renderer in RendererName::ALL {
        if supported(renderer.name(), energy(renderer, rows))?.is_some() {
            rates(renderer, rows)?;
        }
    }
    Ok(())
}

/// Compares the stiffness at which the whole loop becomes unstable with (b + B)/(T/2 + t_d). The coupling is a plain
/// spring, the floor much stiffer; only device and hand damp.
fn critical(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    // Mass and damping, whether the hand holds it, contacts along a side, delay.
    let cases = [
        ([0.1, 0.1], false, 1, 0),
        ([0.3, 1.0], false, 1, 0),
        ([0.3, 1.0], false, 1, 1),
        ([0.3, 1.0], false, 1, 2),
        ([0.3, 1.0], true, 1, 0),
        ([0.3, 5.0], false, 1, 0),
        ([0.3, 1.0], false, 10, 0),
        ([0.3, 1.0], false, 32, 0),
    ];
    for ([mass, damping], is_held, side, delay) in cases.into_iter().take(if effort.quick() { 1 } else { cases.len() })
    {
        let model = DeviceModel::new(mass, damping).delayed(delay);
        let model = if is_held { model.held() } else { model };
        let all = damping + if is_held { Axis::HUMAN.damping } else { 0.0 };
        let expected = critical_stiffness_expected(all, delay, STEP);
        let mut failed = None;
        let found = critical_stiffness([0.8 * expected, 1.25 * expected], |k| {
            let made = halves(RendererName::Penalty, side, |s| {
                s.limits = NO_LIMITS;
                s.coupling.stiffness = [k, 0.2 * k * 0.05 * 0.05];
                s.coupling.damping = [0.0; 2];
                s.coupling.saturation = Saturation::Linear;
                s.contact.stiffness = 1e7;
                s.contact.damping = 0.0;
                s.passivity = false;
            });
            match made {
                Ok((mut servo, mut simulation)) => {
                    let (from, to) = (above(0.002), above(-0.002));
                    loop_swings((&mut servo, &mut simulation), &model, [&from, &to], STEP, [0.2, 8.0])
                }
                Err(error) => {
                    failed = Some(error);
                    [1.0, 0.0]
                }
            }
        });
        failed.map_or(Ok(()), Err)?;
        let held = if is_held { "_held" } else { "" };
        let name =
            format!("haptics/critical_stiffness/{mass}kg_{damping}Nspm{held}/{}_contacts/delay_{delay}", side * side);
        let row = Row::new(name, 100.0 * (found / expected - 1.0).abs(), "%").target(3.0);
        rows.push(row.with("measured_n_per_m", found).with("theory_n_per_m", expected));
    }
    Ok(())
}

/// Measures the energy that the port delivers beyond the hand's input, relative to the leak of springs by sampling and
/// hold: ½ Σ Δξᵀ K Δξ.
fn energy(renderer: RendererName, rows: &mut Vec<Row>) -> Result<()> {
    let (mut servo, mut simulation) = halves(renderer, 5, |s| s.passivity = false)?;
    let [k, kappa] = servo.settings().coupling.stiffness;
    let (mut leak, mut worst, mut last) = (0.0, 0.0f64, slide(0.0).pose);
    for n in 0..4000 {
        let device = slide(f64::from(n) * STEP);
        let displacement = (device.pose.translation.vector - last.translation.vector).norm();
        let turn = device.pose.rotation.angle_to(&last.rotation);
        leak += 0.5 * (k * displacement * displacement + kappa * turn * turn);
        last = device.pose;
        servo.step(&device, STEP);
        simulation.simulate();
        if leak > 0.0 {
            worst = worst.max(-servo.observer().total() / leak);
        }
    }
    let row = Row::new(format!("haptics/energy/{}/given_over_leak", renderer.name()), worst, "ratio").target(1.0);
    rows.push(row.with("leak_j", leak).with("observed_at_end_j", servo.observer().total()));
    Ok(())
}

/// Returns the motion of a hand that presses, slides and turns.
fn slide(t: f64) -> DeviceState {
    let lift = (1.0 - 4.0 * t).max(0.0);
    let place = |t: f64| {
        let y = -0.004 + 0.003 * (3.0 * t).sin();
        above(y).translation.vector + Vec3::new(0.02 * (2.0 * t).sin(), 0.02 * lift * lift, 0.0)
    };
    let h = 1e-5;
    let linear = (place(t + h) - place(t - h)) / (2.0 * h);
    let turn = Vec3::y() * (0.2 * (2.5 * t).sin());
    let angular = Vec3::y() * (0.5 * (2.5 * t).cos());
    DeviceState {
        pose: Pose::from_parts(place(t).into(), Rotation::from_scaled_axis(turn)),
        twist: Twist { linear, angular },
        engaged: true,
    }
}

/// Forces in a run of the sliding hand with a simulation of some rate, N.
struct Run {
    most: f64,
    /// Largest change in a step: around the stall, and at other times after the first contact.
    stall: f64,
    usual: f64,
}

/// Time of the stall, seconds.
const STALL: std::ops::Range<f64> = 1.5..1.6;
/// Seconds until the first contact has settled.
const FIRST: f64 = 0.5;

fn run(renderer: RendererName, rate: f64, stalls: bool) -> Result<(Run, haptics::Timing)> {
    let (mut servo, mut simulation) = halves(renderer, 5, |_| {})?;
    let mut run = Run { most: 0.0, stall: 0.0, usual: 0.0 };
    let (mut next, mut last) = (0.0, Vec3::zeros());
    for n in 0..3000 {
        let t = f64::from(n) * STEP;
        let force = servo.step(&slide(t), STEP).wrench.force;
        if t >= next && !(stalls && STALL.contains(&t)) {
            simulation.simulate();
            next = t + 1.0 / rate - 0.5 * STEP;
        }
        let change = (force - last).norm();
        if (STALL.start..STALL.end + 0.2).contains(&t) {
            run.stall = run.stall.max(change);
        } else if t > FIRST {
            run.usual = run.usual.max(change);
        }
        run.most = run.most.max(force.norm());
        last = force;
    }
    Ok((run, servo.settings().timing))
}

/// Measures a simulation at 60 to 300 Hz that stalls for 100 ms: the largest force relative to the device's limit, and
/// the largest change of the force in a step, always and while it fades, stalls and returns. The change may be as large
/// as with a simulation at 1 kHz without a stall, plus that of fading and growing.
fn rates(renderer: RendererName, rows: &mut Vec<Row>) -> Result<()> {
    let (best, timing) = run(renderer, 1.0 / STEP, false)?;
    let usual = best.usual.max(best.stall);
    for rate in [60.0, 100.0, 300.0] {
        let (run, _) = run(renderer, rate, true)?;
        let name = |what: &str| format!("haptics/rates/{}/{rate}_hz/{what}", renderer.name());
        let row = Row::new(name("force_over_limit"), run.most / LIMITS.force, "ratio").target(1.0);
        rows.push(row.with("force_max_n", run.most));
        let bound = best.most * STEP / timing.fade.min(timing.ramp) + usual;
        for (what, jump) in [("stall_jump_over_bound", run.stall), ("jump_over_bound", run.usual)] {
            let row = Row::new(name(what), jump / bound, "ratio").target(1.0);
            rows.push(row.with("jump_n", jump).with("jump_at_1_khz_n", usual).with("bound_n", bound));
        }
    }
    Ok(())
}
