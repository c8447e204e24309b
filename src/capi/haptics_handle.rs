//! The handle of haptics, the two halves behind it, and who may use them.

use super::failure::Failure;
use super::handle::{Exclusive, Kind, Opaque};
use super::status::*;
use crate::haptics::{Runner, Servo, Simulation};

/// A tool in a hand, and the bodies that it touches. In two halves for two threads: steps answer the device, the simulation
/// finds contacts; neither waits for the other.
pub struct vxs_haptics {
    _opaque: [u8; 0],
}

impl Opaque for vxs_haptics {
    type Value = Halves;
    const KIND: Kind = Kind::Haptics;
}

/// What is behind a `vxs_haptics`. The runner has both halves while there is one.
pub(super) struct Halves {
    pub servo: Exclusive<Option<Servo>>,
    pub simulation: Exclusive<Option<Simulation>>,
    pub runner: Exclusive<Option<Runner>>,
}

/// A half that is not the runner's.
pub(super) fn own<V>(half: &mut Option<V>) -> Result<&mut V, Failure> {
    half.as_mut().ok_or_else(|| {
        Failure::new(VXS_BUSY, "haptics runs by itself, since vxs_haptics_run; expected vxs_haptics_stop before this")
    })
}

/// Refuses to wait for the end of a run on a thread that a run may wait for.
pub(super) fn can_stop(runner: &Option<Runner>) -> Result<(), Failure> {
    if runner.is_none() || !Runner::is_this_thread() {
        return Ok(());
    }
    let message = "haptics runs, and a function that vxs_haptics_run calls cannot wait for its end; expected another \
                   thread, or the device's function to return false";
    Err(Failure::new(VXS_BUSY, message))
}
