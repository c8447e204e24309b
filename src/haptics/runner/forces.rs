//! Computes the forces of a device's loop: in that loop, or in a loop of its own (Ortega et al. 2007, section 3:
//! device, constraint-based coupling and simulation, each at its own rate).

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::calls::Calls;
use crate::triple_buffer::{Reader, Writer};
use crate::{DeviceState, Output, Servo, Status};

/// Time after which a coupling loop without a new state looks whether the run has ended.
const IDLE: Duration = Duration::from_millis(10);

/// The forces of a device's loop.
pub(super) trait Forces {
    /// Returns the newest output. `now` is the time of the call.
    fn newest(&mut self, now: Instant) -> Output;

    /// Takes a state of the device, `dt` seconds after the last one.
    fn take(&mut self, state: &DeviceState, now: Instant, dt: f64);
}

/// Forces computed in the device's loop.
pub(super) struct Direct<'s> {
    servo: &'s mut Servo,
    calls: &'s dyn Calls,
    output: Output,
}

impl<'s> Direct<'s> {
    pub fn new(servo: &'s mut Servo, calls: &'s dyn Calls) -> Self {
        Self { servo, calls, output: Output::default() }
    }
}

impl Forces for Direct<'_> {
    fn newest(&mut self, _: Instant) -> Output {
        self.output
    }

    fn take(&mut self, state: &DeviceState, _: Instant, dt: f64) {
        self.output = self.calls.step(self.servo, state, dt);
    }
}

/// A state of the device, and the time at which it was read.
pub(super) type Taken = Option<(DeviceState, Instant)>;

/// An output, and the time of the state from which it was computed.
pub(super) type Answer = Option<(Output, Instant)>;

/// Forces computed in a coupling loop.
pub(super) struct Port {
    states: Writer<Taken>,
    answers: Reader<Answer>,
    coupling: Thread,
    /// Outputs older than this are not sent to the device.
    stale_after: Duration,
}

impl Port {
    pub fn new(states: Writer<Taken>, answers: Reader<Answer>, coupling: Thread, stale_after: f64) -> Self {
        let stale_after = Duration::try_from_secs_f64(stale_after).unwrap_or(Duration::MAX);
        Self { states, answers, coupling, stale_after }
    }
}

impl Forces for Port {
    fn newest(&mut self, now: Instant) -> Output {
        self.answers.update();
        match self.answers.get() {
            Some((output, when)) if now.saturating_duration_since(*when) <= self.stale_after => *output,
            Some(_) => Output { status: Status::STALE, ..Output::default() },
            None => Output::default(),
        }
    }

    fn take(&mut self, state: &DeviceState, now: Instant, _: f64) {
        self.states.write(Some((*state, now)));
        self.coupling.unpark();
    }
}

/// Runs a coupling loop: makes a step for each state of the device, or for the newest one if there are several. `first`
/// is the time before the first state, seconds.
pub(super) fn couple(
    servo: &mut Servo,
    calls: &dyn Calls,
    mut states: Reader<Taken>,
    mut answers: Writer<Answer>,
    first: f64,
    stop: &AtomicBool,
) {
    let mut last = None::<Instant>;
    while !stop.load(Ordering::Relaxed) {
        let (true, Some((state, when))) = (states.update(), *states.get()) else {
            std::thread::park_timeout(IDLE);
            continue;
        };
        let dt = last.map_or(first, |last| when.saturating_duration_since(last).as_secs_f64());
        last = Some(when);
        answers.write(Some((calls.step(servo, &state, dt), when)));
    }
}
