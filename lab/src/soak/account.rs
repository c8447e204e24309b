//! The account of the energy that the soak keeps.

use voxshell::haptics::Settings;
use voxshell::math::{Pose, Wrench};
use voxshell_lab::device::SimulatedDevice;

use crate::haptics_demo::session::STEP;

/// The energy that the hand gets, and what may explain it.
pub struct Account {
    /// Work of the port on the hand, J of the world's wrench on the device's motion.
    given: f64,
    /// ½ Σ Δξᵀ K Δξ: what springs give that are sampled and held.
    leaked: f64,
    /// What springs store at most: free after each fault, which forgets the work that filled them.
    stored: f64,
    free: f64,
    /// Work of the largest wrench along a metre of depth, J/m.
    load: f64,
    stiffness: [f64; 2],
    last: Pose,
    /// Wrench that the hand feels until the next step.
    pub held: Wrench,
    was_fault: bool,
    /// Whether the passivity controller acted in the last step.
    pub was_damped: bool,
    /// Whether the tool was placed at the hand since the last round of the simulation.
    is_placed: bool,
    /// Largest depth since a fault or a change of the scene, metres. A tool that begins inside a body is pushed out, and
    /// the hand with it.
    depth: f64,
    /// Time since the last fault or change of the scene, seconds.
    pub since: f64,
    /// Time since the last change of the scene, and that which a change takes, seconds.
    edited: f64,
    ramp: f64,
    /// Whether bodies move, which do work on the hand.
    moves: bool,
}

impl Account {
    /// `lever` is the one at which forces turn the tool, metres of the world.
    pub fn new(settings: &Settings, lever: f64, start: &Pose, moves: bool) -> Self {
        let c = &settings.coupling;
        let stored = 0.5 * [0, 1].map(|i| c.stiffness[i] * (1.5 * c.reach[i]).powi(2)).iter().sum::<f64>();
        Self {
            given: 0.0,
            leaked: 0.0,
            stored,
            free: stored,
            load: settings.limits.force + settings.limits.torque / lever,
            stiffness: c.stiffness,
            last: *start,
            held: Wrench::ZERO,
            was_fault: true,
            was_damped: false,
            is_placed: true,
            depth: 0.0,
            since: 0.0,
            edited: f64::INFINITY,
            ramp: settings.timing.ramp,
            moves,
        }
    }

    /// Counts a change of bodies or settings: a body may appear around the tool, and the spring may become stiffer.
    pub fn edit(&mut self) {
        self.free += self.stored;
        (self.since, self.edited) = (0.0, 0.0);
    }

    /// Returns whether the wrench moves by a ramp because the scene was changed.
    pub fn glides(&self) -> bool {
        self.edited <= self.ramp
    }

    /// Counts a round of the simulation, the first one after a change of the scene if `is_edited`.
    pub fn round(&mut self, least_separation: f64, is_edited: bool) {
        if std::mem::take(&mut self.is_placed) || is_edited {
            self.depth = 0.0;
        } else if !self.glides() {
            return;
        }
        let deeper = -least_separation - self.depth;
        if deeper > 0.0 {
            self.free += self.load * deeper;
            self.depth += deeper;
        }
    }

    /// Counts a step of the servo.
    pub fn step(&mut self, device: &SimulatedDevice, scale: f64, is_fault: bool) {
        let pose = device.pose();
        let shift = (pose.translation.vector - self.last.translation.vector) * scale;
        let turn = (pose.rotation * self.last.rotation.inverse()).scaled_axis();
        self.given += self.held.force.dot(&shift) + self.held.torque.dot(&turn);
        self.leaked += 0.5 * (self.stiffness[0] * shift.norm_squared() + self.stiffness[1] * turn.norm_squared());
        if self.was_fault && !is_fault {
            self.free += self.stored;
            self.is_placed = true;
        }
        self.was_fault = is_fault;
        self.edited += STEP;
        self.last = pose;
    }

    /// Returns the energy that the hand got as a fraction of what explains it.
    pub fn ratio(&self) -> f64 {
        match self.moves {
            true => 0.0,
            false => self.given / (self.leaked + self.free),
        }
    }
}
