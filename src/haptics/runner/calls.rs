//! The steps and rounds of a run, as calls that a recording may watch.

use crate::{DeviceState, Output, Report, Servo, Simulation};

/// Makes the steps and rounds of a run. An implementation may record them.
pub trait Calls: Send + Sync + 'static {
    /// Begins a thread of the run, which waits for this before it serves the device, steps or simulates.
    fn begin_thread(&self) {}

    /// Makes a step, as [`Servo::step`].
    fn step(&self, servo: &mut Servo, state: &DeviceState, dt: f64) -> Output {
        servo.step(state, dt)
    }

    /// Makes a round, as [`Simulation::simulate_if_possible`].
    fn round(&self, simulation: &mut Simulation) -> Report {
        simulation.simulate_if_possible()
    }
}

/// Steps and rounds that nothing records.
impl Calls for () {}
