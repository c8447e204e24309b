//! A simulated device and hand that follow the script.

use voxshell::haptics::DeviceState;
use voxshell::math::{Twist, Wrench};
use voxshell_lab::device::{Axis, DeviceModel, SimulatedDevice};

use super::motion::Motion;
use super::session::STEP;

/// A tensed arm, which is about four times as stiff as a relaxed one (the mass is that of [`Axis::HUMAN`]).
const ARM: Axis = Axis::new(0.554, 13.0, 600.0);
/// Radius of a grip around a handle, metres; it converts a linear into an angular axis.
const GRIP: f64 = 0.05;
/// Resolution of the device's encoders, metres and radians.
const RESOLUTION: [f64; 2] = [1e-5, 1e-4];

pub struct Hand<'a> {
    motion: &'a Motion,
    device: SimulatedDevice,
    held: [Axis; 2],
    steps: u32,
}

impl<'a> Hand<'a> {
    pub fn new(motion: &'a Motion) -> Self {
        let angular = |axis: Axis| {
            let arm2 = GRIP * GRIP;
            Axis::new(axis.mass * arm2, axis.damping * arm2, axis.stiffness * arm2)
        };
        let [mass, damping] = DeviceModel::PRESETS[1];
        let own = DeviceModel::new(mass, damping);
        let hand = [ARM, angular(ARM)];
        let held = [own.linear.with(&hand[0]), own.angular.with(&hand[1])];
        let model = DeviceModel { hand: Some(hand), resolution: RESOLUTION, ..own };
        Self { motion, device: SimulatedDevice::new(model, motion.at(0.0).0), held, steps: 0 }
    }

    /// Returns the state of the device after a step in which `felt` was held. The hand compensates the inertia of arm
    /// and device: without contact it follows the script exactly.
    pub fn moved(&mut self, felt: &Wrench) -> DeviceState {
        let (_, before) = self.motion.at(self.time());
        self.steps += 1;
        let (wanted, after) = self.motion.at(self.time());
        let [linear, angular] = &self.held;
        let effort = |axis: &Axis, pick: fn(&Twist) -> voxshell::math::Vec3| {
            let (a, b) = (pick(&before), pick(&after));
            (b - a) * (axis.mass / STEP) + (a + b) * (0.5 * axis.damping)
        };
        self.device.push = Wrench { force: effort(linear, |t| t.linear), torque: effort(angular, |t| t.angular) };
        self.device.wanted = wanted;
        self.device.step(felt, STEP);
        self.device.state()
    }

    /// Returns the time, seconds.
    pub fn time(&self) -> f64 {
        f64::from(self.steps) * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell::math::{Pose, Vec3};

    #[test]
    fn an_undisturbed_hand_follows_the_script_and_a_push_moves_it() {
        let motion = Motion::from(Pose::identity()).to(0.3, Pose::new(Vec3::new(0.1, 0.0, -0.05), Vec3::y())).rest(0.2);
        let (mut free, mut pushed) = (Hand::new(&motion), Hand::new(&motion));
        let push = Wrench { force: Vec3::x() * 6.0, torque: Vec3::zeros() };
        let mut last = Vec3::zeros();
        for _ in 0..500 {
            let state = free.moved(&Wrench::ZERO);
            let off = (state.pose.translation.vector - motion.at(free.time()).0.translation.vector).norm();
            assert!(off < 1e-3, "{off} m at {} s", free.time());
            last = pushed.moved(&push).pose.translation.vector - state.pose.translation.vector;
        }
        // 6 N over 600 N/m give 1 cm.
        assert!((last - Vec3::new(0.01, 0.0, 0.0)).norm() < 1e-3, "{last:?}");
    }
}
