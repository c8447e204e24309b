//! The handle of haptics, its two halves, and access to them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::failure::Failure;
use super::handle::{Exclusive, Kind, Opaque};
use super::log::{log, VXS_LOG_WARNING};
use super::record::session;
use super::record::sink::Half;
use super::status::*;
use crate::haptics::{Jump, Loads, Monitor, Runner, Servo, Simulation};
use crate::voxmap::Offset;

/// A tool in a hand, and the bodies that it can touch. It has two halves for two threads: steps answer the device, and
/// the simulation finds contacts. Neither waits for the other.
pub struct vxs_haptics {
    _opaque: [u8; 0],
}

impl Opaque for vxs_haptics {
    type Value = Halves;
    const KIND: Kind = Kind::Haptics;
}

/// Value of a `vxs_haptics`. While there is a runner, it owns both halves.
pub(in crate::capi) struct Halves {
    pub servo: Exclusive<Option<Servo>>,
    pub simulation: Exclusive<Option<Simulation>>,
    pub runner: Exclusive<Option<Runner>>,
    /// Of the servo, also while a runner owns it.
    pub monitor: Arc<Monitor>,
    /// Of the servo, also while a runner owns it.
    pub loads: Arc<Loads>,
    /// Whether the edges of bodies are tested.
    pub edges: bool,
    /// Place of the force layer of voxels, if the renderer uses voxels.
    pub voxmap: Option<Offset>,
    /// Largest speed of the device, m/s and rad/s, for messages.
    pub speed: [AtomicU64; 2],
    /// Jumps of the device at the last message.
    pub logged: AtomicU64,
}

impl Halves {
    /// Calls a function with the simulation, also while a runner owns it: then it may wait for a round to end.
    pub fn simulation<R>(&self, act: impl FnOnce(&mut Simulation) -> Result<R, Failure>) -> Result<R, Failure> {
        if let Some(runner) = self.runner.lock("haptics")?.as_ref() {
            if Runner::is_simulating() {
                return Err(Failure::new(
                    VXS_BUSY,
                    "called by surface.height in a round of the simulation, which holds the bodies",
                ));
            }
            return recorded(&mut runner.simulation(), act);
        }
        let mut half = self.simulation.lock("haptics")?;
        recorded(own(&mut half)?, act)
    }

    /// Takes the newest input of the steps for the next round, for a replay.
    pub fn take_input(&self) {
        self.replay(Simulation::take_input);
    }

    /// Gives the next call of the simulation the numbers that it reads while steps may change them, for a replay.
    pub fn give_readings(&self, values: impl Iterator<Item = f64>) {
        self.replay(|simulation| simulation.give_readings(values));
    }

    /// Calls a function with the simulation, which no other thread uses during a replay.
    fn replay(&self, act: impl FnOnce(&mut Simulation)) {
        if let Ok(Some(simulation)) = self.simulation.lock("haptics").as_deref_mut().map(Option::as_mut) {
            act(simulation);
        }
    }

    /// Logs jumps of the device. It is called on the thread of the simulation, since steps neither allocate nor lock,
    /// and logs at the first jump and whenever their number has doubled.
    pub fn log_jumps(&self) {
        let faults = self.monitor.faults();
        let logged = self.logged.load(Ordering::Relaxed);
        if faults.teleport < (2 * logged).max(1) {
            return;
        }
        self.logged.store(faults.teleport, Ordering::Relaxed);
        log(VXS_LOG_WARNING, || {
            let Jump { distance: [linear, angular], time } = faults.last_jump;
            let [most, turn] = [0, 1].map(|i| f64::from_bits(self.speed[i].load(Ordering::Relaxed)));
            let scale = self.monitor.scale();
            let ms = 1e3 * time;
            format!(
                "haptics: the device moved {linear:.3} m and {angular:.2} rad within {ms:.1} ms; expected at most \
                 {most} m/s at a workspace scale of {scale}, and {turn} rad/s. The force fell to zero; {} times so far",
                faults.teleport
            )
        });
    }
}

/// Calls a function with the simulation, and records its exchange with the steps.
fn recorded<R>(
    simulation: &mut Simulation,
    act: impl FnOnce(&mut Simulation) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let result = act(simulation);
    record_round(simulation);
    result
}

/// Adds to the record of the present call the exchange of a step or a reset with the simulation.
pub(super) fn record_step(servo: &Servo) {
    let scale = servo.scale();
    session::exchange(Half::Servo, servo.exchange(), if scale == 1.0 { &[] } else { std::slice::from_ref(&scale) });
}

/// Adds to the record of the present call the exchange of a call of the simulation with the steps.
pub(super) fn record_round(simulation: &Simulation) {
    session::exchange(Half::Simulation, simulation.exchange(), simulation.readings());
}

/// Returns a half, or an error if the runner owns it.
pub(super) fn own<V>(half: &mut Option<V>) -> Result<&mut V, Failure> {
    half.as_mut().ok_or_else(|| {
        Failure::new(VXS_BUSY, "haptics runs by itself, since vxs_haptics_run; expected vxs_haptics_stop before this")
    })
}

/// Refuses to wait for the end of a run on a thread for which the run may wait.
pub(super) fn can_stop(runner: &Option<Runner>) -> Result<(), Failure> {
    if runner.is_none() || !Runner::is_this_thread() {
        return Ok(());
    }
    let message = "haptics runs, and a function that vxs_haptics_run calls cannot wait for its end; expected another \
                   thread, or the device's function to return false";
    Err(Failure::new(VXS_BUSY, message))
}
