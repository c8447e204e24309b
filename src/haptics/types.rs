//! Inputs and outputs of the two halves.

use voxshell_base::math::{Pose, Twist, Wrench};

/// State of the device, world frame of the simulation: the caller maps the device's workspace first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceState {
    /// Pose of the tool at the hand: body to world.
    pub pose: Pose,
    /// Twist of the tool's origin.
    pub twist: Twist,
    /// Whether the hand is on the device (its deadman switch is closed). While it is not, the wrench is zero.
    pub engaged: bool,
}

/// Status of a step. Several flags can be set; [`Status::NORMAL`] has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status(pub u32);

impl Status {
    pub const NORMAL: Self = Self(0);
    /// The device's state was refused: not finite, or not a unit quaternion. The wrench is zero.
    pub const BAD_STATE: Self = Self(1);
    /// The time step was zero, negative, not finite or longer than allowed. The wrench is zero.
    pub const BAD_TIME: Self = Self(1 << 1);
    /// The device moved farther than its speed limit allows, in one step or over the last 5 to 10 ms. The wrench is
    /// zero and then grows again from zero. A god-object keeps its place; any other tool is put at the hand.
    pub const TELEPORT: Self = Self(1 << 2);
    /// The hand is off the device.
    pub const DISENGAGED: Self = Self(1 << 3);
    /// The wrench was cut to a limit of the device.
    pub const LIMITED: Self = Self(1 << 4);
    /// The simulation has published nothing for longer than allowed: its last contacts are used, and faded out.
    pub const STALE: Self = Self(1 << 5);
    /// The wrench is growing from zero, after a reset, a fault or an entry while inside.
    pub const RAMPING: Self = Self(1 << 6);
    /// The passivity controller took energy out.
    pub const DAMPED: Self = Self(1 << 7);
    /// Constraints allow the god-object no motion, though the hand pulls: a path may exist all the same (Xu & Barbič
    /// 2016, section 5, "false negative").
    pub const LOCKED: Self = Self(1 << 8);
    /// Penalty forces let samples in deeper than the tolerance: a path that is shown may not exist ("false positive").
    /// Of a god-object: it was placed inside an obstacle, or moving obstacles left it no room, and there is no way out
    /// nearby; it moves no deeper into any obstacle.
    pub const PENETRATING: Self = Self(1 << 9);
    /// A height function gave no finite slope: the surface is smooth there ([`HeightMap`](super::HeightMap)).
    pub const BAD_HEIGHT: Self = Self(1 << 10);
    /// The round's budget ended before the god-object had moved as far as it could: later rounds go on.
    pub const PARTIAL: Self = Self(1 << 11);

    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Status {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Status {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Motion of the device that was too fast for a hand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jump {
    /// Distance of the tool's origin in the world, metres, and angle, radians.
    pub distance: [f64; 2],
    /// Time over which it was judged, seconds.
    pub time: f64,
}

/// Numbers of steps that gave no force because of the device's state or time, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaultCounts {
    /// Steps with [`Status::BAD_STATE`].
    pub bad_state: u64,
    /// Steps with [`Status::BAD_TIME`].
    pub bad_time: u64,
    /// Steps with [`Status::TELEPORT`].
    pub teleport: u64,
    pub last_jump: Jump,
}

/// Output of a step to the device in impedance causality.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Output {
    /// Wrench on the hand, about the tool's origin, world frame. Never above the device's limits.
    pub wrench: Wrench,
    /// Mean wrench of the contacts on the simulated tool over the step, about the tool's origin, world frame. The
    /// wrenches on the obstacles ([`Loads`](super::Loads)) are together its opposite.
    pub contact: Wrench,
    pub status: Status,
    /// Age of the contacts from which the wrench is computed, seconds.
    pub age: f64,
    /// Number of those contacts.
    pub contacts: u32,
    /// Obstacles that they are with, as a mask ([`touched_bit`]).
    pub touched: u64,
}

/// Numbers and rates of steps and rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Time of the servo: the sum of all steps, seconds.
    pub clock: f64,
    pub steps: u64,
    /// Rounds of the simulation that had work to do.
    pub rounds: u64,
    /// Steps and rounds per second of the servo's time, Hz; 0 before the first.
    pub servo: f64,
    pub simulation: f64,
}

/// Load of the tool on an obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Mean wrench over the last step, about the obstacle's origin, world frame: N, N·m.
    pub wrench: Wrench,
    /// Sum of `wrench` × dt over all steps: N·s, N·m·s.
    pub impulse: Wrench,
}

/// Returns the bit of an obstacle in [`Output::touched`]: 1 << index; all obstacles from 63 on share the last bit.
pub fn touched_bit(index: usize) -> u64 {
    1 << index.min(63)
}

/// Output of a step to the device in admittance causality: the motion to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Pose of the tool: body to world.
    pub pose: Pose,
    /// Twist of the tool's origin.
    pub twist: Twist,
    /// As [`Output::contact`].
    pub contact: Wrench,
    pub status: Status,
    pub age: f64,
    pub contacts: u32,
    /// As [`Output::touched`].
    pub touched: u64,
}

/// Method of turning contacts into forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renderer {
    /// Voxmap-pointshell: tangent-plane forces through a virtual coupling (McNeely et al. 1999).
    Vps,
    /// Discrete penalty, with virtual coupling and implicit integration.
    Penalty,
    /// Penalty integrated over the times of contact of each step (Xu & Barbič 2016, section 4.1).
    ContinuousPenalty,
    /// Constraint-based god-object (Ortega et al. 2007; Xu & Barbič 2016, section 4.2).
    GodObject,
    /// Impulses, deepest first (Ruffaldi et al. 2008).
    Impulse,
}

/// Limits of a device; all positive, +∞ where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// N.
    pub force: f64,
    /// N·m.
    pub torque: f64,
    /// N/m, N·m/rad.
    pub stiffness: [f64; 2],
    /// N·s/m, N·m·s/rad.
    pub damping: [f64; 2],
}
