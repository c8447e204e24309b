//! Checks on the device: jumps that no hand makes, and counts of the steps that gave no force.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::passivity::motion;
use super::settings::within;
use super::types::{DeviceState, FaultCounts, Jump, Limits, Rates, Status};
use voxshell_base::math::{limits, Pose, Rotation, Wrench};

/// Shortest time over which a motion is judged, seconds. A loop may be faster than the device refreshes its position:
/// at 100 kHz over a device of 1 kHz, a hand at 0.1 m/s moves 0.1 mm in one step of 10 µs and nothing in the next 99.
pub const JUMP_WINDOW: f64 = 5e-3;

/// Detects motions of the device that are faster than a hand, in one step and over the last 5 to 10 ms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JumpDetector {
    /// Pose and time of the last step.
    last: Option<(Pose, f64)>,
    /// Poses and times at the start of the window and in it, [`JUMP_WINDOW`] apart.
    window: [Option<(Pose, f64)>; 2],
}

impl JumpDetector {
    /// Forgets all poses.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Adds the pose of a step at the time `clock`, seconds. Returns the motion if it was faster than `speed`, m/s and
    /// rad/s; the pose is then the first one of new windows.
    pub fn add(&mut self, pose: &Pose, clock: f64, speed: [f64; 2]) -> Option<Jump> {
        let [start, _] = self.window;
        let jump = [self.last, start].into_iter().flatten().find_map(|(from, when)| {
            let time = (clock - when).max(JUMP_WINDOW);
            let change = motion(&from, pose);
            let distance = [change.linear.norm(), change.angular.norm()];
            let too_far = distance[0] > speed[0] * time || distance[1] > speed[1] * time;
            too_far.then_some(Jump { distance, time })
        });
        let here = Some((*pose, clock));
        if jump.is_some() {
            (self.last, self.window) = (here, [here; 2]);
            return jump;
        }
        self.last = here;
        let [_, middle] = self.window;
        match middle {
            None => self.window = [here; 2],
            Some((_, when)) if clock - when >= JUMP_WINDOW => self.window = [middle, here],
            Some(_) => {}
        }
        None
    }
}

/// State that any thread may read or set while the servo runs: the workspace's scale and the counts of faults. No lock.
#[derive(Debug)]
pub struct Monitor {
    scale: AtomicU64,
    bad_state: AtomicU64,
    bad_time: AtomicU64,
    teleport: AtomicU64,
    /// Metres, radians and seconds of the last jump.
    jump: [AtomicU64; 3],
    /// Time of the servo, and its rate and that of the simulation: seconds and Hz.
    clock: AtomicU64,
    rates: [AtomicU64; 2],
    /// Numbers of steps and of rounds.
    counts: [AtomicU64; 2],
    /// Time of the servo at the last step and at the last round, seconds.
    last: [AtomicU64; 2],
}

/// Time constant of the averages of the rates, seconds.
const RATE_WINDOW: f64 = 0.1;

impl Monitor {
    pub(super) fn new() -> Arc<Self> {
        let number = |x: f64| AtomicU64::new(x.to_bits());
        let count = || AtomicU64::new(0);
        Arc::new(Self {
            scale: number(1.0),
            bad_state: count(),
            bad_time: count(),
            teleport: count(),
            jump: [0.0; 3].map(number),
            clock: number(0.0),
            rates: [0.0; 2].map(number),
            counts: [(), ()].map(|()| count()),
            last: [0.0; 2].map(number),
        })
    }

    /// Sets the scale of the workspace: metres of the world per metre of the device, positive. The limit of
    /// [`Settings::speed`](super::Settings::speed) on translations is multiplied by it.
    pub fn set_scale(&self, scale: f64) {
        self.scale.store(scale.to_bits(), Ordering::Relaxed);
    }

    pub fn scale(&self) -> f64 {
        f64::from_bits(self.scale.load(Ordering::Relaxed))
    }

    /// Returns the counts so far. Each number is read on its own, so they may belong to different steps.
    pub fn faults(&self) -> FaultCounts {
        let count = |c: &AtomicU64| c.load(Ordering::Relaxed);
        let [linear, angular, time] = [0, 1, 2].map(|i| f64::from_bits(self.jump[i].load(Ordering::Relaxed)));
        FaultCounts {
            bad_state: count(&self.bad_state),
            bad_time: count(&self.bad_time),
            teleport: count(&self.teleport),
            last_jump: Jump { distance: [linear, angular], time },
        }
    }

    /// Returns the time of the servo: the sum of all steps, seconds.
    pub fn clock(&self) -> f64 {
        f64::from_bits(self.clock.load(Ordering::Relaxed))
    }

    /// Returns the numbers of steps and rounds so far, and their rates over about the last 0.1 s of the servo's time.
    /// Each number is read on its own.
    pub fn rates(&self) -> Rates {
        let [steps, rounds] = [0, 1].map(|i| self.counts[i].load(Ordering::Relaxed));
        let [servo, simulation] = [0, 1].map(|i| f64::from_bits(self.rates[i].load(Ordering::Relaxed)));
        Rates { clock: self.clock(), steps, rounds, servo, simulation }
    }

    /// Counts a step that ends at the time `clock`. Only the servo calls this.
    pub(super) fn count_step(&self, clock: f64) {
        self.clock.store(clock.to_bits(), Ordering::Relaxed);
        self.add_to_rate(0, clock);
    }

    /// Counts a round for the time `clock`. Only the simulation calls this.
    pub(super) fn count_round(&self, clock: f64) {
        self.add_to_rate(1, clock);
    }

    /// Averages the period, with weights that fall by 1/e in [`RATE_WINDOW`].
    fn add_to_rate(&self, which: usize, clock: f64) {
        let number = self.counts[which].load(Ordering::Relaxed);
        let period = clock - f64::from_bits(self.last[which].load(Ordering::Relaxed));
        self.counts[which].store(number + 1, Ordering::Relaxed);
        self.last[which].store(clock.to_bits(), Ordering::Relaxed);
        if period > 0.0 && (number > 0 || which == 0) {
            let rate = f64::from_bits(self.rates[which].load(Ordering::Relaxed));
            // The first period counts whole.
            let kept = if rate > 0.0 { libm::exp(-period / RATE_WINDOW) } else { 0.0 };
            let mean = if rate > 0.0 { kept / rate } else { 0.0 } + (1.0 - kept) * period;
            self.rates[which].store((1.0 / mean).to_bits(), Ordering::Relaxed);
        }
    }

    /// Counts a step that gave no force. Only the servo writes.
    pub(super) fn count(&self, status: Status) {
        for (flag, counter) in [
            (Status::BAD_STATE, &self.bad_state),
            (Status::BAD_TIME, &self.bad_time),
            (Status::TELEPORT, &self.teleport),
        ] {
            if status.contains(flag) {
                counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        }
    }

    pub(super) fn note(&self, jump: &Jump) {
        let values = [jump.distance[0], jump.distance[1], jump.time];
        for (to, value) in self.jump.iter().zip(values) {
            to.store(value.to_bits(), Ordering::Relaxed);
        }
    }
}

/// Limits a wrench to the device's limits, force and torque each along its direction.
pub(super) fn limit(wrench: &mut Wrench, limits: &Limits) -> Status {
    if !wrench.is_finite() {
        *wrench = Wrench::ZERO;
        return Status::LIMITED;
    }
    let [force, torque] = [within(&wrench.force, limits.force), within(&wrench.torque, limits.torque)];
    wrench.force *= force;
    wrench.torque *= torque;
    if force < 1.0 || torque < 1.0 {
        Status::LIMITED
    } else {
        Status::NORMAL
    }
}

/// Returns the device's state with its quaternion normalised, if the state is valid.
pub(super) fn sound(device: &DeviceState, speed: [f64; 2]) -> Option<DeviceState> {
    let q = device.pose.rotation.coords;
    let finite =
        device.pose.translation.vector.iter().all(|x| limits::is_coordinate(*x)) && q.iter().all(|v| v.is_finite());
    let unit = (q.norm_squared() - 1.0).abs() < 1e-3;
    let twist = &device.twist;
    let slow = twist.linear.norm() <= speed[0] && twist.angular.norm() <= speed[1];
    (finite && unit && slow).then(|| {
        let rotation = Rotation::new_normalize(device.pose.rotation.into_inner());
        DeviceState { pose: Pose::from_parts(device.pose.translation, rotation), ..*device }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_base::math::Vec3;

    const SPEED: [f64; 2] = [10.0, 60.0];

    fn at(x: f64) -> Pose {
        Pose::translation(x, 0.0, 0.0)
    }

    /// Steps of any rate over a device of any refresh rate, by a hand at 0.9 of the limit: no jump.
    #[test]
    fn a_hand_below_the_limit_is_no_jump_at_any_rate() {
        for step in [1e-5, 1e-4, 1e-3, 7e-3, 0.05] {
            for refresh in [1e-5, 1e-3, 5e-4] {
                let mut detector = JumpDetector::default();
                for n in 0..(0.3 / step) as u32 {
                    let t = f64::from(n) * step;
                    let read = (t / refresh).floor() * refresh;
                    // The position is up to one refresh old: over 5 ms, 1 ms is a fifth.
                    assert_eq!(detector.add(&at(7.5 * read), t, SPEED), None, "{step} {refresh} {n}");
                }
            }
        }
    }

    #[test]
    fn a_jump_is_found_in_one_step_or_in_a_few() {
        for step in [1e-5, 1e-3, 0.02] {
            for parts in [1, 2, 5] {
                let mut detector = JumpDetector::default();
                for n in 0..2000 {
                    assert_eq!(detector.add(&at(0.0), f64::from(n) * step, SPEED), None);
                }
                // Three times the distance of the longest window, or in the time that it takes.
                let far = 3.0 * SPEED[0] * (2.0 * JUMP_WINDOW + f64::from(parts) * step);
                let found = (0..parts).find_map(|n| {
                    detector.add(&at(far * f64::from(n + 1) / f64::from(parts)), f64::from(2000 + n) * step, SPEED)
                });
                let jump = found.expect("a jump");
                assert!(jump.distance[0] > SPEED[0] * jump.time && jump.time >= JUMP_WINDOW, "{jump:?}");
            }
        }
        let mut detector = JumpDetector::default();
        detector.add(&at(0.0), 0.0, SPEED);
        let turned = Pose::new(Vec3::zeros(), Vec3::new(0.0, 2.0, 0.0));
        let jump = detector.add(&turned, 1e-3, SPEED).unwrap();
        assert!((jump.distance[1] - 2.0).abs() < 1e-12 && jump.distance[0] == 0.0, "{jump:?}");
    }
}
