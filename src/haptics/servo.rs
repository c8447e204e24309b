//! The fast half: computes the wrench on the hand from the device's state, or a motion from the hand's wrench.
//!
//! The servo integrates the simulated tool implicitly, between a coupling to the hand and the linearised contacts that
//! the simulation last published (Otaduy & Lin 2005, section 5.3; Xu & Barbič 2016, section 4.1). So the loop with the
//! device closes at its own rate, however slow the simulation is.

use std::sync::Arc;

use super::coupling::carried;
use super::coupling_spring::CouplingSpring;
use super::messages::{Input, Snapshot};
use super::monitor::{JumpDetector, Monitor};
use super::passivity::{motion, Observer};
use super::settings::within;
use super::slew_limit::SlewLimit;
use super::triple_buffer::{Reader, Writer};
use super::{Coupling, DeviceState, Jump, Limits, Motion, Output, Saturation, Settings, Status, Tool};
use crate::dynamics::{Mass, RigidBody};
use crate::math::{limits, Mat3, Mat6, Pose, Rotation, Twist, Wrench};
use crate::response::Response;

/// Answers the device. Every call has bounded work: no allocation, no lock, no system call.
pub struct Servo {
    settings: Settings,
    /// The simulated tool.
    body: RigidBody,
    /// The body that the hand moves in admittance causality.
    handle: RigidBody,
    inputs: Writer<Input>,
    snapshots: Reader<Snapshot>,
    generation: u32,
    /// Sum of all steps, seconds.
    clock: f64,
    /// Time of the last reset.
    since: f64,
    /// Fraction of the wrench that the hand gets, 0 to 1.
    gain: f64,
    /// Slope limit of the wrench until it has its full size.
    slew: SlewLimit,
    /// Whether contacts are faded in.
    fades_in: bool,
    /// Fraction of the coupling's wrench that the hand gets: 1 in contact; in free space it falls to 0.
    presence: f64,
    /// Progress of fading in the contacts since the tool was placed at the hand, 0 to 1: a tool that is inside a body
    /// then is eased out.
    entry: f64,
    /// Last pose of the device.
    last: Option<Pose>,
    jumps: JumpDetector,
    monitor: Arc<Monitor>,
    observer: Observer,
    blend: Blend,
    /// Spring from the hand to the constraints, if the renderer has constraints.
    spring: Option<CouplingSpring>,
    /// Largest damping of the passivity controller.
    damper: [f64; 2],
}

/// Time in which the coupling's force fades in at the first contact, and time constant in which that of the tool's
/// inertia fades out after the last one, seconds.
const FADES: f64 = 0.005;
/// Accelerations that no hand gives a tool, m/s² and rad/s²: what the coupling pulls harder is left from a contact.
const ACCELERATION: [f64; 2] = [100.0, 2000.0];

/// Largest advance of the clock in one step, seconds.
const LONGEST_PAUSE: f64 = 3600.0;

/// Remainder of contacts that a new snapshot replaced. With a slow simulation the tool is already deep inside a body
/// when its contacts arrive: they are then faded in over the time between the snapshots, and not at once.
#[derive(Clone, Copy, Debug, Default)]
struct Blend {
    left: Wrench,
    /// Seconds.
    time: f64,
}

impl Blend {
    /// Snapshots that arrive at the rate of the steps are not blended.
    const STEPS: f64 = 1.5;
    /// Longest blending time, however slow the simulation is, seconds.
    const LONGEST: f64 = 0.02;

    /// Returns the wrench to add to the contacts in a step. `change` is the jump at a new snapshot and the time since
    /// the one before it.
    fn step(&mut self, change: Option<(Wrench, f64)>, dt: f64) -> Wrench {
        if let Some((jump, apart)) = change {
            if apart <= Self::STEPS * dt {
                *self = Self::default();
            } else {
                self.left += jump;
                self.time = apart.min(Self::LONGEST);
            }
        }
        if self.time > 0.0 {
            self.left = scaled(&self.left, (-dt / self.time).exp());
        }
        self.left
    }
}

/// A new snapshot.
#[derive(Clone, Copy)]
struct Taken {
    /// Difference between the wrench of the contacts used until now and that of its own, at the present state, and the
    /// time for which they were used, seconds.
    change: Option<(Wrench, f64)>,
}

/// Effect of the tool on the hand in a step.
struct Pull {
    /// Wrench on the hand, about the tool's origin.
    wrench: Wrench,
    contacts: u32,
    touched: u64,
    age: f64,
    status: Status,
}

impl Servo {
    pub(super) fn new(
        settings: Settings,
        tool: &Tool,
        inputs: Writer<Input>,
        snapshots: Reader<Snapshot>,
        fades_in: bool,
    ) -> crate::Result<Self> {
        let simulated = tool.lightened(settings.reflected_mass);
        let mass = Mass::new(simulated.mass, simulated.center, simulated.inertia)?;
        let handle =
            Mass::new(settings.handle.mass, *mass.center(), Mat3::from_diagonal_element(settings.handle.inertia))?;
        let damper = [(0, tool.mass), (1, tool.inertia.trace() / 3.0)].map(|(i, m)| {
            let enough = Coupling::critical_damping(settings.coupling.stiffness[i], m);
            settings.limits.damping[i].min(enough)
        });
        let spring = snapshots.get().constraints.is_some().then(|| CouplingSpring::new(settings.coupling));
        Ok(Self {
            settings,
            body: RigidBody::at(mass, &Pose::identity()),
            handle: RigidBody::at(handle, &Pose::identity()),
            inputs,
            snapshots,
            generation: 0,
            clock: 0.0,
            since: 0.0,
            gain: 0.0,
            slew: SlewLimit::default(),
            fades_in,
            presence: 0.0,
            entry: 0.0,
            last: None,
            jumps: JumpDetector::default(),
            monitor: Monitor::new(),
            observer: new_observer(&settings),
            blend: Blend::default(),
            spring,
            damper,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the monitor: the workspace's scale and the counts of faults, for any thread.
    pub fn monitor(&self) -> &Arc<Monitor> {
        &self.monitor
    }

    /// Returns the pose of the simulated tool, for drawing.
    pub fn tool_pose(&self) -> Pose {
        self.body.pose()
    }

    /// Returns the observer of the energy at the port to the hand, in impedance causality.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Restarts: the tool is placed at the device's pose of the next step, contacts are cleared, and the wrench grows
    /// from zero. In admittance causality the tool stays at its pose, at rest.
    pub fn reset(&mut self) {
        let pose = self.handle.pose();
        self.reset_to(&pose);
    }

    /// Restarts as [`Servo::reset`], with the tool of admittance causality at a given pose, which must be finite.
    pub fn reset_to(&mut self, pose: &Pose) {
        for body in [&mut self.handle, &mut self.body] {
            body.set_pose(pose);
            body.set_twist(&Twist::ZERO);
        }
        self.generation = self.generation.wrapping_add(1);
        self.since = self.clock;
        self.gain = 0.0;
        self.slew.reset();
        self.presence = 0.0;
        self.entry = 0.0;
        self.last = None;
        self.jumps.reset();
        self.observer = new_observer(&self.settings);
        self.blend = Blend::default();
        if let Some(spring) = &mut self.spring {
            spring.reset();
        }
    }

    /// Makes one step in impedance causality: computes the wrench on the hand from the device's state. `dt` is the time
    /// since the last step, seconds. On any fault the wrench is finite and within the limits, and the status reports
    /// the fault.
    pub fn step(&mut self, device: &DeviceState, dt: f64) -> Output {
        if let Err(status) = self.tick(dt) {
            return self.fault(status);
        }
        let speed = self.speed();
        let Some(device) = sound(device, speed) else { return self.fault(Status::BAD_STATE) };
        if let Some(jump) = self.jumps.add(&device.pose, self.clock, speed) {
            return self.teleport(&device, &jump);
        }
        if let Some(pose) = self.last {
            let change = motion(&pose, &device.pose);
            let stored = self.stored(&device.pose);
            self.observer.moved(&change, stored);
        } else {
            self.place(&device);
        }
        self.last = Some(device.pose);

        let pull = self.follow(&device.pose, &device.twist, dt);
        // The hand feels no wrench of a tool that is still being eased out: two ramps at once are steeper than one.
        let is_out = self.spring.is_some() || self.entry >= 1.0;
        let mut status = pull.status | self.adjust_gain(&pull, is_out, dt);
        if !device.engaged {
            self.gain = 0.0;
            status |= Status::DISENGAGED;
        }
        // Limit before fading, so that the ramp is the same for any wrench.
        let mut wrench = pull.wrench;
        status |= limit(&mut wrench, &self.settings.limits);
        if self.gain < 1.0 || self.slew.lags() {
            wrench = self.slew.step(&wrench, self.gain, dt / self.settings.timing.ramp);
            if self.slew.lags() && !status.contains(Status::STALE) {
                status |= Status::RAMPING;
            }
        } else {
            self.slew.free(&wrench);
        }
        if self.gain < 1.0 || self.slew.lags() {
            // The tool may have been placed at the hand at any speed.
            self.observer.fill(self.stored(&device.pose));
        } else if self.settings.passivity && (self.spring.is_none() || pull.wrench != Wrench::ZERO) {
            // With a god-object, the hand is not damped where no constraint holds the tool.
            if let Some(damper) = self.observer.damper(&device.twist, self.damper, dt) {
                wrench += damper;
                status |= Status::DAMPED;
            }
        }
        status |= limit(&mut wrench, &self.settings.limits);
        self.observer.hold(&wrench);
        Output { wrench, status, age: pull.age, contacts: pull.contacts, touched: pull.touched }
    }

    /// Makes one step in admittance causality: computes the device's motion from the hand's wrench, about the tool's
    /// origin and in the world frame. The handle has mass and inertia of its own ([`Settings::handle`]), is coupled to
    /// the simulated tool, and both are integrated implicitly. While the hand is off, the device stays.
    pub fn step_admittance(&mut self, wrench: &Wrench, engaged: bool, dt: f64) -> Motion {
        if let Err(status) = self.tick(dt) {
            return self.halt(status);
        }
        if !wrench.column().iter().all(|x| limits::is_quantity(*x)) {
            return self.halt(Status::BAD_STATE);
        }
        let mut status = Status::NORMAL;
        if engaged {
            let load = self.handle_load(wrench, dt, &mut status);
            self.handle.implicit_euler(&load, dt);
            if !self.handle.is_finite() {
                let pose = self.last.unwrap_or_else(Pose::identity);
                self.reset_to(&pose);
                return self.halt(Status::BAD_STATE);
            }
            status |= self.hold_speed();
        } else {
            self.gain = 0.0;
            self.handle.set_twist(&Twist::ZERO);
            status |= Status::DISENGAGED;
        }
        let (pose, twist) = (self.handle.pose(), origin_twist(&self.handle));
        self.last = Some(pose);
        let pull = self.follow(&pose, &twist, dt);
        status |= pull.status;
        if engaged {
            status |= self.adjust_gain(&pull, true, dt);
        }
        Motion { pose, twist, status, age: pull.age, contacts: pull.contacts, touched: pull.touched }
    }

    /// Returns the load on the handle: the hand, the coupling to the tool as far as the limits allow, and the handle's
    /// own damping.
    fn handle_load(&self, wrench: &Wrench, dt: f64, status: &mut Status) -> Response {
        let kinematics = self.handle.kinematics();
        let coupled = match &self.spring {
            Some(spring) => spring.load(),
            None => {
                // Pose of the tool at the end of the step, so that it does not drag.
                let twist = origin_twist(&self.body);
                let tool = carried(&self.body.pose(), &twist, dt);
                self.settings.coupling.on_body(&tool, &twist, &kinematics)
            }
        };
        let (force, torque) = (coupled.wrench.force, coupled.wrench.torque);
        let share = within(&force, self.settings.limits.force).min(within(&torque, self.settings.limits.torque));
        if share < 1.0 {
            *status |= Status::LIMITED;
        }
        let mut load = coupled.scaled(share * self.gain);
        load += Response::constant(wrench.about(&(kinematics.center - kinematics.pose.translation.vector)));
        let [b, beta] = self.settings.handle.damping;
        let mut damping = Mat6::zeros();
        damping.set_diagonal(&-crate::math::Vec6::new(b, b, b, beta, beta, beta));
        load += Response {
            wrench: Wrench::from_column(&(damping * kinematics.twist.column())),
            by_pose: Mat6::zeros(),
            by_twist: damping,
        };
        load
    }

    /// Limits the handle to the speed of a hand.
    fn hold_speed(&mut self) -> Status {
        let (twist, most) = (self.handle.twist(), self.speed());
        let [linear, angular] = [within(&twist.linear, most[0]), within(&twist.angular, most[1])];
        if linear == 1.0 && angular == 1.0 {
            return Status::NORMAL;
        }
        self.handle.set_twist(&Twist { linear: twist.linear * linear, angular: twist.angular * angular });
        Status::LIMITED
    }

    /// Advances the clock, unless the time step is invalid.
    fn tick(&mut self, dt: f64) -> Result<(), Status> {
        if dt > 0.0 && dt.is_finite() {
            // An invalid time step must not advance the clock to where it no longer resolves steps.
            self.clock += dt.min(LONGEST_PAUSE);
        }
        match dt > 0.0 && dt <= self.settings.timing.longest_step {
            true => Ok(()),
            false => Err(Status::BAD_TIME),
        }
    }

    /// Returns a zero wrench; afterwards the wrench grows from zero.
    fn fault(&mut self, status: Status) -> Output {
        self.monitor.count(status);
        self.gain = 0.0;
        self.slew.reset();
        self.observer.hold(&Wrench::ZERO);
        Output { status, age: self.age(), ..Output::default() }
    }

    /// Stops the motion.
    fn halt(&mut self, status: Status) -> Motion {
        self.monitor.count(status);
        self.gain = 0.0;
        self.handle.set_twist(&Twist::ZERO);
        Motion { pose: self.handle.pose(), twist: Twist::ZERO, status, age: self.age(), contacts: 0, touched: 0 }
    }

    /// Returns the speed limits in the world, m/s and rad/s.
    fn speed(&self) -> [f64; 2] {
        let [linear, angular] = self.settings.speed;
        [linear * self.monitor.scale(), angular]
    }

    /// Restarts at a device that has jumped. A god-object keeps its place, on its side of every surface, and follows
    /// the hand from there. Any other tool is placed at the hand.
    fn teleport(&mut self, device: &DeviceState, jump: &Jump) -> Output {
        self.monitor.note(jump);
        if self.spring.is_some() {
            self.observer = new_observer(&self.settings);
            self.last = Some(device.pose);
        } else {
            self.reset();
            self.jumps.add(&device.pose, self.clock, self.speed());
            self.place(device);
        }
        self.fault(Status::TELEPORT)
    }

    /// Places the tool at the hand.
    fn place(&mut self, device: &DeviceState) {
        self.body.set_pose(&device.pose);
        let arm = device.pose.rotation * self.body.mass.center();
        self.body.set_twist(&Twist { linear: device.twist.at(&arm), angular: device.twist.angular });
        self.handle.set_pose(&device.pose);
        self.last = Some(device.pose);
    }

    /// Returns the age of the contacts in use.
    fn age(&self) -> f64 {
        let snapshot = self.snapshots.get();
        self.clock - if snapshot.generation == self.generation { snapshot.clock } else { self.since }
    }

    /// Returns the largest energy that the hand can get back, J: that of the coupling's springs and of the tool's
    /// motion.
    fn stored(&self, hand: &Pose) -> f64 {
        if let Some(spring) = &self.spring {
            return spring.energy();
        }
        self.body.kinetic_energy() + self.settings.coupling.energy(hand, &self.body.kinematics())
    }

    /// Moves the tool toward the hand for a step, with the known contacts or constraints, and informs the simulation.
    fn follow(&mut self, hand: &Pose, twist: &Twist, dt: f64) -> Pull {
        let taken = self.take_snapshot();
        let age = self.age();
        let snapshot = self.snapshots.get();
        let is_known = snapshot.generation == self.generation;
        let (contacts, touched, mut status) = match is_known {
            true => (snapshot.contacts, snapshot.touched, snapshot.status),
            false => (0, 0, Status::NORMAL),
        };
        if !is_known || age > self.settings.timing.stale_after {
            status |= Status::STALE;
        }
        let wrench = match (&mut self.spring, &snapshot.constraints) {
            (Some(spring), Some(model)) if is_known => {
                self.body.set_pose(&model.pose);
                let (about_center, said) = spring.pull(model, taken.is_some(), hand, dt);
                status |= said;
                about_center.about(&-(hand.rotation * self.body.mass.center()))
            }
            (Some(_), _) => {
                self.body.set_pose(hand);
                Wrench::ZERO
            }
            (None, _) => {
                self.follow_coupled(hand, twist, taken, age, dt);
                let pull = self.settings.coupling.on_hand(hand, twist, &self.body.kinematics());
                self.set_presence(&pull, dt);
                scaled(&pull, self.presence)
            }
        };
        let body = self.body.kinematics();
        let generation = self.generation;
        self.inputs.write(Input { generation, clock: self.clock, hand: *hand, twist: *twist, body, live: true });
        Pull { wrench, contacts, touched, age, status }
    }

    /// Integrates the tool between the coupling and linearised contacts.
    fn follow_coupled(&mut self, hand: &Pose, twist: &Twist, taken: Option<Taken>, age: f64, dt: f64) {
        let snapshot = self.snapshots.get();
        let here = self.body.kinematics();
        let mut load = self.settings.coupling.on_body(hand, twist, &here);
        if snapshot.generation == self.generation {
            let mut contact = snapshot.contact.predict(&here, age);
            if self.fades_in {
                contact.wrench += self.blend.step(taken.and_then(|taken| taken.change), dt);
                // The cube makes the balance with the coupling move evenly, although the contacts are stiff.
                load += contact.scaled(self.entry.powi(3));
            } else {
                load += contact;
            }
            self.entry = (self.entry + dt / self.settings.timing.ramp).min(1.0);
        }
        self.body.implicit_euler(&load, dt);
        if !self.body.is_finite() {
            self.body.set_pose(hand);
            self.body.set_twist(&Twist::ZERO);
            self.gain = 0.0;
        }
    }

    /// Sets the fraction of the coupling's wrench that the hand gets: "whenever [the object lies in free space] we apply
    /// zero force and torque to the haptic device, overriding any non-zero spring values" (McNeely et al. 1999, section
    /// 5.2), such as that of the tool's inertia.
    fn set_presence(&mut self, pull: &Wrench, dt: f64) {
        let inertia = [self.body.mass.mass(), self.body.mass.inertia().trace() / 3.0];
        let arm = self.settings.coupling.point - self.body.mass.center();
        let most = [0, 1].map(|i| ACCELERATION[i] * inertia[i]);
        let is_drawn = pull.force.norm() > most[0] || pull.torque.norm() > most[1] + most[0] * arm.norm();
        self.presence = match self.snapshots.get().is_free {
            false => (self.presence + dt / FADES).min(1.0),
            true if self.presence < 1e-3 => 0.0,
            true if is_drawn => self.presence,
            true => self.presence * (-dt / FADES).exp(),
        };
    }

    /// Takes the snapshot that the simulation published last, if it is new.
    fn take_snapshot(&mut self) -> Option<Taken> {
        if !self.snapshots.is_fresh() {
            return None;
        }
        let here = self.body.kinematics();
        let before = self.snapshots.get();
        let (generation, clock) = (before.generation, before.clock);
        let used = before.contact.predict(&here, self.clock - clock).wrench;
        self.snapshots.update();
        let now = self.snapshots.get();
        if generation != self.generation {
            // The first of its generation. A tool outside all bodies need not be eased out.
            if now.generation == self.generation && now.contacts == 0 {
                self.entry = 1.0;
            }
            return Some(Taken { change: None });
        }
        let found = now.contact.predict(&here, self.clock - now.clock).wrench;
        let jump = Wrench { force: used.force - found.force, torque: used.torque - found.torque };
        Some(Taken { change: Some((jump, now.clock - clock)) })
    }

    /// Increases the gain while contacts are fresh, and fades it while they are not.
    fn adjust_gain(&mut self, pull: &Pull, grows: bool, dt: f64) -> Status {
        let timing = &self.settings.timing;
        if pull.status.contains(Status::STALE) {
            self.gain = (self.gain - dt / timing.fade).max(0.0);
            return Status::NORMAL;
        }
        if grows {
            self.gain = (self.gain + dt / timing.ramp).min(1.0);
        }
        if self.gain < 1.0 {
            Status::RAMPING
        } else {
            Status::NORMAL
        }
    }
}

/// Makes an observer whose tolerance is a hundredth of the coupling's energy at 5 mm, or where it saturates.
fn new_observer(settings: &Settings) -> Observer {
    let c = &settings.coupling;
    let reach = if c.saturation == Saturation::Linear { 5e-3 } else { c.reach[0].min(5e-3) };
    Observer::new(0.5e-2 * c.stiffness[0] * reach * reach)
}

fn scaled(wrench: &Wrench, factor: f64) -> Wrench {
    Wrench { force: wrench.force * factor, torque: wrench.torque * factor }
}

/// Returns the twist of a body's origin.
fn origin_twist(body: &RigidBody) -> Twist {
    let twist = body.twist();
    Twist { linear: twist.at(&-(body.rotation * body.mass.center())), angular: twist.angular }
}

/// Limits a wrench to the device's limits, force and torque each along its direction.
fn limit(wrench: &mut Wrench, limits: &Limits) -> Status {
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
fn sound(device: &DeviceState, speed: [f64; 2]) -> Option<DeviceState> {
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
