//! The handle of haptics, its two halves, and access to them.

use super::failure::Failure;
use super::handle::{Exclusive, Kind, Opaque};
use super::status::*;
use crate::haptics::{Runner, Servo, Simulation};

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
pub(super) struct Halves {
    pub servo: Exclusive<Option<Servo>>,
    pub simulation: Exclusive<Option<Simulation>>,
    pub runner: Exclusive<Option<Runner>>,
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
