//! Inputs and outputs of haptics: plain structs and their constants.

use super::response::{vxs_twist, vxs_wrench};
use super::types::*;

/// Voxmap-pointshell: tangent-plane forces through a virtual coupling (McNeely et al. 1999).
pub const VXS_RENDERER_VPS: u32 = 0;
/// Discrete penalty, with virtual coupling and implicit integration.
pub const VXS_RENDERER_PENALTY: u32 = 1;
/// Penalty integrated over the contact intervals of each step (Xu & Barbič 2016, section 4.1).
pub const VXS_RENDERER_CONTINUOUS_PENALTY: u32 = 2;
/// Constraint-based god-object: the displayed tool never penetrates (Ortega et al. 2007; Xu & Barbič 2016, section
/// 4.2).
pub const VXS_RENDERER_GOD_OBJECT: u32 = 3;
/// Impulses, deepest first (Ruffaldi et al. 2008).
pub const VXS_RENDERER_IMPULSE: u32 = 4;

/// None of the flags below.
pub const VXS_HAPTICS_NORMAL: u32 = 0;
/// The device's state was refused: not finite, or not a unit quaternion. The wrench is zero.
pub const VXS_HAPTICS_BAD_STATE: u32 = 1;
/// The time step was zero, negative, not finite or longer than allowed. The wrench is zero.
pub const VXS_HAPTICS_BAD_TIME: u32 = 2;
/// The device moved faster than `settings.speed`, in one step or over the last 5 to 10 ms: the distance is compared
/// with that of at least 5 ms, so that a loop may be faster than the device. The wrench is zero, and then grows again
/// from zero. The god-object keeps its place. `vxs_haptics_get_faults` counts these steps.
pub const VXS_HAPTICS_TELEPORT: u32 = 4;
/// The hand is off the device: the wrench is zero.
pub const VXS_HAPTICS_DISENGAGED: u32 = 8;
/// The wrench was reduced to a limit of the device.
pub const VXS_HAPTICS_LIMITED: u32 = 16;
/// The simulation has published nothing for longer than allowed: its last contacts are used, and fade out.
pub const VXS_HAPTICS_STALE: u32 = 32;
/// The wrench is growing from zero, after a reset, a fault or an entry while inside; or it changes by a ramp, after a change
/// of bodies or settings.
pub const VXS_HAPTICS_RAMPING: u32 = 64;
/// The passivity controller removed energy.
pub const VXS_HAPTICS_DAMPED: u32 = 128;
/// Constraints block every motion of the god-object, although the hand pulls: a path may exist all the same ("false
/// negative").
pub const VXS_HAPTICS_LOCKED: u32 = 256;
/// Penalty forces let samples penetrate deeper than the tolerance: a displayed path may not exist ("false positive").
/// With VXS_RENDERER_GOD_OBJECT: the tool was placed inside a body, or moving bodies left it no room, and there is no
/// way out nearby; it moves no deeper into any body.
pub const VXS_HAPTICS_PENETRATING: u32 = 512;
/// `surface.height` gave heights without a finite slope: the surface is smooth there.
pub const VXS_HAPTICS_BAD_HEIGHT: u32 = 1024;
/// `budget.max_tests` or `budget.max_nanoseconds` ended a round before the god-object was as far as it could go: later
/// rounds continue.
pub const VXS_HAPTICS_PARTIAL: u32 = 2048;

/// State of a device, mapped to the world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_device_state {
    /// Pose of the tool as the hand holds it: body to world.
    pub pose: vxs_pose,
    /// Velocity of the tool's origin.
    pub twist: vxs_twist,
    /// Not 0 while the hand is on the device (its deadman switch is closed).
    pub engaged: u32,
    /// Zero.
    pub reserved: u32,
}

/// Limits of a device: none negative, infinity for no limit.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_limits {
    /// Force, N.
    pub force: f64,
    /// Torque, N·m.
    pub torque: f64,
    /// Stiffness of translation and of rotation: N/m, N·m/rad.
    pub stiffness: [f64; 2],
    /// Damping of translation and of rotation: N·s/m, N·m·s/rad.
    pub damping: [f64; 2],
}

/// Numbers of steps without force because of the device's state or time, since `vxs_haptics_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vxs_haptics_faults {
    /// Steps with VXS_HAPTICS_BAD_STATE.
    pub bad_state: u64,
    /// Steps with VXS_HAPTICS_BAD_TIME.
    pub bad_time: u64,
    /// Steps with VXS_HAPTICS_TELEPORT.
    pub teleport: u64,
    /// Last motion that was VXS_HAPTICS_TELEPORT: metres of the world, radians; 0 without one.
    pub jump: [f64; 2],
    /// Time over which that motion was judged, at least 0.005 s; 0 without one.
    pub jump_time: f64,
}

/// Output of a step in impedance causality.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_output {
    /// Wrench on the hand, about the tool's origin, world frame. Never above the device's limits.
    pub wrench: vxs_wrench,
    /// Mean wrench of the contacts on the simulated tool over the step, about the origin of `tool`, world frame: the
    /// opposite of the sum of the wrenches on all bodies (`vxs_haptics_get_load`).
    pub contact: vxs_wrench,
    /// Pose of the simulated tool, which is the pose to draw: body to world.
    pub tool: vxs_pose,
    /// Age of the contacts used, seconds.
    pub age: f64,
    /// `VXS_HAPTICS_` flags.
    pub status: u32,
    /// Number of contacts used.
    pub contacts: u32,
    /// Bodies that they are with: bit i for the body of index i, the last bit for all bodies from 63 on.
    pub touched: u64,
}

/// Output of a step in admittance causality: the motion that the device has to make.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_motion {
    /// Pose for the device to take, of the tool as the hand holds it: body to world.
    pub pose: vxs_pose,
    /// Velocity of the tool's origin.
    pub twist: vxs_twist,
    /// Mean wrench of the contacts on the simulated tool over the step, as in `vxs_haptics_output`.
    pub contact: vxs_wrench,
    /// Pose of the simulated tool, which is the pose to draw: body to world.
    pub tool: vxs_pose,
    /// Age of the contacts used, seconds.
    pub age: f64,
    /// `VXS_HAPTICS_` flags.
    pub status: u32,
    /// Number of contacts used.
    pub contacts: u32,
    /// Bodies that they are with: bit i for the body of index i, the last bit for all bodies from 63 on.
    pub touched: u64,
}

/// Result of a round of the simulation. Call `vxs_haptics_report_init`, then `vxs_haptics_simulate`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_report {
    /// `sizeof(vxs_haptics_report)`, set by `vxs_haptics_report_init`.
    pub struct_size: u32,
    /// 0 if the round did nothing, because neither the tool nor a body had moved since the last round and that round
    /// was not VXS_HAPTICS_PARTIAL; else 1.
    pub fresh: u32,
    /// Time of the steps for which the round was computed: the sum of their `dt`, seconds.
    pub clock: f64,
    /// Smallest separation, metres, negative when penetrating; infinity without contacts.
    pub least_separation: f64,
    /// Wrench of the contacts on the simulated tool, about its centre of mass.
    pub wrench: vxs_wrench,
    pub contacts: u32,
    /// `VXS_HAPTICS_` flags.
    pub status: u32,
}
