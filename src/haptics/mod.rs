//! Floor 5: 6-DoF haptics. A tool that a person holds by a device, among bodies that it touches.
//!
//! Two halves share no lock: the servo answers the device at 1 kHz, the simulation finds contacts as fast as it can.
//! Knows contacts, responses and dynamics; nothing of a vendor's device, of files or of the C ABI.

mod bodies;
pub mod qp;
mod types;

pub use bodies::{Forms, Obstacle, Tool};
pub use types::*;
