//! The force that the hand feels after a fault: it drops to zero, then grows again without a spike.

use voxshell::haptics::{DeviceState, Output, Servo, Simulation, Status};
use voxshell::math::{Pose, Twist, Vec3, Wrench};
use voxshell::Result;

use super::stability::{above, halves};
use super::supported;
use crate::haptics_demo::session::{RendererName, STEP};
use voxshell_lab::row::Row;

/// Seconds until the bodies have come to rest.
const SETTLED: f64 = 0.5;
/// Seconds observed after a fault.
const AFTER: f64 = 0.3;

/// A plate held against a floor.
struct Held {
    servo: Servo,
    simulation: Simulation,
    /// State of the device that holds it.
    device: DeviceState,
}

impl Held {
    fn new(renderer: RendererName) -> Result<Self> {
        let (servo, simulation) = halves(renderer, 5, |_| {})?;
        let mut held =
            Self { servo, simulation, device: DeviceState { pose: above(0.0), twist: Twist::ZERO, engaged: true } };
        // The plate comes down from above, 3 mm into the floor.
        for k in 0..=200 {
            let share = f64::from(k) / 200.0;
            held.device.pose = above(0.01 - 0.013 * share);
            held.step();
        }
        held.wait(SETTLED);
        Ok(held)
    }

    fn step(&mut self) -> Output {
        let device = self.device;
        let output = self.servo.step(&device, STEP);
        self.simulation.simulate();
        output
    }

    /// Waits; returns the last output and the largest rise of the force in one step.
    fn wait(&mut self, seconds: f64) -> (Output, f64) {
        let mut last = self.step();
        let mut rise: f64 = 0.0;
        for _ in 0..(seconds / STEP) as usize {
            let next = self.step();
            rise = rise.max(next.wrench.force.norm() - last.wrench.force.norm());
            last = next;
        }
        (last, rise)
    }
}

pub fn rows(rows: &mut Vec<Row>) -> Result<()> {
    for renderer in RendererName::ALL {
        let name = |fault: &str, what: &str| format!("haptics/faults/{}/{fault}/{what}", renderer.name());
        let Some(mut held) = supported(renderer.name(), Held::new(renderer))? else { continue };
        let (before, _) = held.wait(0.05);
        let force = before.wrench.force.norm();
        for (fault, status, act) in FAULTS {
            let output = act(&mut held);
            let row = Row::new(name(fault, "force"), size(&output.wrench), "N").target(0.0);
            let said = output.status.contains(status);
            rows.push(row.with("held_n", force).with("status", output.status.0).with("says_so", said));
            // The force is back at the end of the ramp and rises no faster than the ramp.
            let (after, rise) = held.wait(AFTER);
            let ramp = force * STEP / held.servo.settings().timing.ramp;
            let row = Row::new(name(fault, "largest_rise_over_ramp"), rise / ramp, "ratio").target(1.1);
            rows.push(row.with("force_after_n", after.wrench.force.norm()));
        }
        let rotation = -held.device.pose.rotation.coords;
        let same = Pose::from_parts(
            held.device.pose.translation,
            nalgebra::Unit::new_unchecked(nalgebra::Quaternion::from(rotation)),
        );
        let (usual, _) = held.wait(0.0);
        held.device.pose = same;
        let flipped = held.step();
        let change = (flipped.wrench.force - usual.wrench.force).norm();
        rows.push(Row::new(name("quaternion_sign", "change"), change, "N").target(1e-3));
    }
    Ok(())
}

type Fault = (&'static str, Status, fn(&mut Held) -> Output);

const FAULTS: [Fault; 6] = [
    ("nan_pose", Status::BAD_STATE, |held| {
        let mut device = held.device;
        device.pose.translation.vector.y = f64::NAN;
        held.servo.step(&device, STEP)
    }),
    ("clock_jump", Status::BAD_TIME, |held| held.servo.step(&held.device, 10.0)),
    ("zero_dt", Status::BAD_TIME, |held| held.servo.step(&held.device, 0.0)),
    ("backward_clock", Status::BAD_TIME, |held| held.servo.step(&held.device, -STEP)),
    ("teleport", Status::TELEPORT, |held| {
        let away = Pose::translation(0.0, 0.5, 0.0) * held.device.pose;
        let output = held.servo.step(&DeviceState { pose: away, ..held.device }, STEP);
        // A step back is a fault again.
        held.servo.step(&held.device, STEP);
        output
    }),
    ("deadman", Status::DISENGAGED, |held| held.servo.step(&DeviceState { engaged: false, ..held.device }, STEP)),
];

/// Returns the norm of force and torque together.
fn size(wrench: &Wrench) -> f64 {
    wrench.force.norm() + Vec3::norm(&wrench.torque)
}
