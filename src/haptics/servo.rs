//! The fast half: from the device's state to the wrench on the hand, or from the hand's wrench to a motion.
//!
//! The simulated tool is integrated here, implicitly, between a coupling to the hand and the contacts that the simulation
//! last published, linearised (Otaduy & Lin 2005, section 5.3; Xu & Barbič 2016, section 4.1). So the loop with the device
//! closes at its own rate, however slow the simulation is.

use super::coupling::carried;
use super::exchange::{Reader, Writer};
use super::passivity::{motion, Observer};
use super::settings::within;
use super::slew::Slew;
use super::snapshot::{Input, Snapshot};
use super::tether::Tether;
use super::{Coupling, DeviceState, Limits, Motion, Output, Renderer, Saturation, Settings, Status};
use crate::dynamics::{Mass, RigidBody};
use crate::math::{limits, Mat3, Mat6, Pose, Rotation, Twist, Vec3, Wrench};
use crate::response::Response;

/// Answers the device. Every call is quick and of bounded work: no allocation, no lock, no system call.
pub struct Servo {
    settings: Settings,
    /// The simulated tool.
    body: RigidBody,
    /// What the hand moves in admittance causality.
    handle: RigidBody,
    inputs: Writer<Input>,
    snapshots: Reader<Snapshot>,
    generation: u32,
    /// Seconds of all steps together.
    clock: f64,
    /// When the last reset was.
    since: f64,
    /// Part of the wrench that the hand gets, 0 to 1.
    gain: f64,
    /// Until all of it has come.
    slew: Slew,
    /// How far contacts have come in since the tool was put into the hand, 0 to 1: where it is inside of something then, it
    /// is eased out.
    entry: f64,
    /// Where the device last was, and when.
    last: Option<(Pose, f64)>,
    observer: Observer,
    blend: Blend,
    /// Of [`Renderer::GodObject`].
    tether: Option<Tether>,
    /// Of the passivity controller.
    damper: [f64; 2],
}

/// The clock goes on by no more than this in one step, seconds.
const LONGEST_PAUSE: f64 = 3600.0;

/// What is left of contacts that a new snapshot replaced. A slow simulation finds the tool well inside of what it ran into:
/// the contacts then come in over as long as the snapshots were apart, and not at once.
#[derive(Clone, Copy, Debug, Default)]
struct Blend {
    left: Wrench,
    /// Seconds.
    time: f64,
}

impl Blend {
    /// Snapshots as fast as steps need none.
    const STEPS: f64 = 1.5;
    /// However slow the simulation is, seconds.
    const LONGEST: f64 = 0.02;

    /// What to add to the contacts in a step. `change` is the jump at a new snapshot and the time since the one before it.
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

/// A snapshot that is new.
#[derive(Clone, Copy)]
struct Taken {
    /// By how much the contacts that were used until now differ from its own, here, and for how long they were used, seconds.
    change: Option<(Wrench, f64)>,
}

/// What the tool does to the hand in a step.
struct Pull {
    /// On the hand, about the tool's origin.
    wrench: Wrench,
    contacts: u32,
    age: f64,
    status: Status,
}

impl Servo {
    pub(super) fn new(
        settings: Settings,
        mass: Mass,
        inputs: Writer<Input>,
        snapshots: Reader<Snapshot>,
    ) -> crate::Result<Self> {
        let handle =
            Mass::new(settings.handle.mass, *mass.center(), Mat3::from_diagonal_element(settings.handle.inertia))?;
        let inertia = mass.inertia().trace() / 3.0;
        let damper = [(0, mass.mass()), (1, inertia)].map(|(i, m)| {
            let enough = Coupling::critical_damping(settings.coupling.stiffness[i], m);
            settings.limits.damping[i].min(enough)
        });
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
            slew: Slew::default(),
            entry: 0.0,
            last: None,
            observer: new_observer(&settings),
            blend: Blend::default(),
            tether: (settings.renderer == Renderer::GodObject).then(|| Tether::new(settings.coupling)),
            damper,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where the simulated tool is: what to draw.
    pub fn tool_pose(&self) -> Pose {
        self.body.pose()
    }

    /// The energy at the port to the hand, in impedance causality.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Starts anew: the tool is where the device will be at the next step, contacts are forgotten, and the wrench grows from
    /// zero. In admittance causality the tool stays where it is, at rest.
    pub fn reset(&mut self) {
        let pose = self.handle.pose();
        self.reset_to(&pose);
    }

    /// As [`Servo::reset`], with the tool of admittance causality put at a pose, which must be finite.
    pub fn reset_to(&mut self, pose: &Pose) {
        for body in [&mut self.handle, &mut self.body] {
            body.set_pose(pose);
            body.set_twist(&Twist::ZERO);
        }
        self.generation = self.generation.wrapping_add(1);
        self.since = self.clock;
        self.gain = 0.0;
        self.slew.reset();
        self.entry = 0.0;
        self.last = None;
        self.observer = new_observer(&self.settings);
        self.blend = Blend::default();
        if let Some(tether) = &mut self.tether {
            tether.reset();
        }
    }

    /// One step in impedance causality: where the device is gives what the hand feels. `dt` is the time since the last
    /// step, seconds. Whatever goes wrong, the wrench is finite and within the limits, and the status says what it was.
    pub fn step(&mut self, device: &DeviceState, dt: f64) -> Output {
        if let Err(status) = self.tick(dt) {
            return self.fault(status);
        }
        let Some(device) = sound(device, self.settings.speed) else { return self.fault(Status::BAD_STATE) };
        if let Some((pose, when)) = self.last {
            let change = motion(&pose, &device.pose);
            if self.is_teleport(&change, self.clock - when) {
                self.reset();
                self.place(&device);
                return self.fault(Status::TELEPORT);
            }
            let stored = self.stored(&device.pose);
            self.observer.moved(&change, stored);
        } else {
            self.place(&device);
        }
        self.last = Some((device.pose, self.clock));

        let pull = self.follow(&device.pose, &device.twist, dt);
        // The hand feels nothing of a tool that is still on its way out: two ramps at once are steeper than one.
        let is_out = self.tether.is_some() || self.entry >= 1.0;
        let mut status = pull.status | self.adjust_gain(&pull, is_out, dt);
        if !device.engaged {
            self.gain = 0.0;
            status |= Status::DISENGAGED;
        }
        // Cut before it is faded, so that a ramp is one whatever is behind it.
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
            // The hand gets less than the tool, which may have been put into it at any speed.
            self.observer.fill(self.stored(&device.pose));
        } else if self.settings.passivity && (self.tether.is_none() || pull.wrench != Wrench::ZERO) {
            // A god-object's hand is free where nothing holds it.
            if let Some(damper) = self.observer.damper(&device.twist, self.damper, dt) {
                wrench += damper;
                status |= Status::DAMPED;
            }
        }
        status |= limit(&mut wrench, &self.settings.limits);
        self.observer.hold(&wrench);
        Output { wrench, status, age: pull.age, contacts: pull.contacts }
    }

    /// One step in admittance causality: what the hand does to the device, about the tool's origin and in the world frame,
    /// gives where it is to go. The handle has mass and inertia of its own ([`Settings::handle`]), is coupled to the simulated
    /// tool, and both are integrated implicitly. While the hand is off, the device stays.
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
                let pose = self.last.map_or_else(Pose::identity, |(pose, _)| pose);
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
        self.last = Some((pose, self.clock));
        let pull = self.follow(&pose, &twist, dt);
        status |= pull.status;
        if engaged {
            status |= self.adjust_gain(&pull, true, dt);
        }
        Motion { pose, twist, status, age: pull.age, contacts: pull.contacts }
    }

    /// What acts on the handle: the hand, the coupling to the tool as far as the limits allow, and its own damping.
    fn handle_load(&self, wrench: &Wrench, dt: f64, status: &mut Status) -> Response {
        let kinematics = self.handle.kinematics();
        let coupled = match &self.tether {
            Some(tether) => tether.load(),
            None => {
                // Where the tool will be at the end of the step, so that it does not drag.
                let twist = origin_twist(&self.body);
                let tool = carried(&self.body.pose(), &twist, dt);
                self.settings.coupling.on_body(&tool, &twist, self.body.mass.center(), &kinematics)
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

    /// Keeps the handle as slow as a hand.
    fn hold_speed(&mut self) -> Status {
        let twist = self.handle.twist();
        let [linear, angular] =
            [within(&twist.linear, self.settings.speed[0]), within(&twist.angular, self.settings.speed[1])];
        if linear == 1.0 && angular == 1.0 {
            return Status::NORMAL;
        }
        self.handle.set_twist(&Twist { linear: twist.linear * linear, angular: twist.angular * angular });
        Status::LIMITED
    }

    /// Time goes on, unless it cannot have.
    fn tick(&mut self, dt: f64) -> Result<(), Status> {
        if dt > 0.0 && dt.is_finite() {
            // A time that cannot be must not take the clock to where it no longer resolves steps.
            self.clock += dt.min(LONGEST_PAUSE);
        }
        match dt > 0.0 && dt <= self.settings.timing.longest_step {
            true => Ok(()),
            false => Err(Status::BAD_TIME),
        }
    }

    /// No wrench now, and one that grows from zero afterwards.
    fn fault(&mut self, status: Status) -> Output {
        self.gain = 0.0;
        self.slew.reset();
        self.observer.hold(&Wrench::ZERO);
        Output { wrench: Wrench::ZERO, status, age: self.age(), contacts: 0 }
    }

    /// No motion now.
    fn halt(&mut self, status: Status) -> Motion {
        self.gain = 0.0;
        self.handle.set_twist(&Twist::ZERO);
        Motion { pose: self.handle.pose(), twist: Twist::ZERO, status, age: self.age(), contacts: 0 }
    }

    fn is_teleport(&self, change: &Twist, time: f64) -> bool {
        let farther = |way: &Vec3, speed: f64| way.norm() > speed * time;
        farther(&change.linear, self.settings.speed[0]) || farther(&change.angular, self.settings.speed[1])
    }

    /// Puts the tool into the hand.
    fn place(&mut self, device: &DeviceState) {
        self.body.set_pose(&device.pose);
        let arm = device.pose.rotation * self.body.mass.center();
        self.body.set_twist(&Twist { linear: device.twist.at(&arm), angular: device.twist.angular });
        self.handle.set_pose(&device.pose);
        self.last = Some((device.pose, self.clock));
    }

    /// Since when the contacts are known that are in use.
    fn age(&self) -> f64 {
        let snapshot = self.snapshots.get();
        self.clock - if snapshot.generation == self.generation { snapshot.clock } else { self.since }
    }

    /// What the hand can get back at most: what is in the coupling's springs, and in the tool's motion. J.
    fn stored(&self, hand: &Pose) -> f64 {
        if let Some(tether) = &self.tether {
            return tether.energy();
        }
        self.body.kinetic_energy()
            + self.settings.coupling.energy(hand, self.body.mass.center(), &self.body.kinematics())
    }

    /// Lets the tool follow the hand for a step, among the contacts or constraints that are known, and tells the simulation.
    fn follow(&mut self, hand: &Pose, twist: &Twist, dt: f64) -> Pull {
        let taken = self.take_snapshot();
        let age = self.age();
        let snapshot = self.snapshots.get();
        let is_known = snapshot.generation == self.generation;
        let (contacts, mut status) = if is_known { (snapshot.contacts, snapshot.status) } else { (0, Status::NORMAL) };
        if !is_known || age > self.settings.timing.stale_after {
            status |= Status::STALE;
        }
        let center = *self.body.mass.center();
        let about_center = match (&mut self.tether, &snapshot.constraints) {
            (Some(tether), Some(model)) if is_known => {
                self.body.set_pose(&model.pose);
                let (wrench, said) = tether.pull(model, taken.is_some(), hand, dt);
                status |= said;
                wrench
            }
            (Some(_), _) => {
                self.body.set_pose(hand);
                Wrench::ZERO
            }
            (None, _) => {
                self.follow_coupled(hand, twist, taken, age, dt);
                scaled(&self.settings.coupling.on_body(hand, twist, &center, &self.body.kinematics()).wrench, -1.0)
            }
        };
        let body = self.body.kinematics();
        let generation = self.generation;
        self.inputs.write(Input { generation, clock: self.clock, hand: *hand, twist: *twist, body, live: true });
        Pull { wrench: about_center.about(&-(hand.rotation * center)), contacts, age, status }
    }

    /// Integrates the tool between the coupling and linearised contacts.
    fn follow_coupled(&mut self, hand: &Pose, twist: &Twist, taken: Option<Taken>, age: f64, dt: f64) {
        let snapshot = self.snapshots.get();
        let here = self.body.kinematics();
        let mut load = self.settings.coupling.on_body(hand, twist, self.body.mass.center(), &here);
        if snapshot.generation == self.generation {
            let mut contact = snapshot.contact.predict(&here, age);
            if self.settings.renderer == Renderer::Impulse {
                // They are for the interval that they are made for, and ease the tool out by themselves.
                load += contact;
            } else {
                contact.wrench += self.blend.step(taken.and_then(|taken| taken.change), dt);
                // The cube makes the balance with the coupling move evenly, stiff as the contacts are.
                load += contact.scaled(self.entry.powi(3));
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

    /// Takes what the simulation published last, if that is new.
    fn take_snapshot(&mut self) -> Option<Taken> {
        let here = self.body.kinematics();
        let before = self.snapshots.get();
        let (generation, clock) = (before.generation, before.clock);
        let used = before.contact.predict(&here, self.clock - clock).wrench;
        if !self.snapshots.update() {
            return None;
        }
        let now = self.snapshots.get();
        if generation != self.generation {
            // The first of its generation. Outside of everything there is nothing to be eased out of.
            if now.generation == self.generation && now.contacts == 0 {
                self.entry = 1.0;
            }
            return Some(Taken { change: None });
        }
        let found = now.contact.predict(&here, self.clock - now.clock).wrench;
        let jump = Wrench { force: used.force - found.force, torque: used.torque - found.torque };
        Some(Taken { change: Some((jump, now.clock - clock)) })
    }

    /// The gain grows while contacts are fresh, and fades while they are not.
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

/// One that lets a hundredth pass of what the coupling holds 5 mm apart, or where it saturates.
fn new_observer(settings: &Settings) -> Observer {
    let c = &settings.coupling;
    let reach = if c.saturation == Saturation::Linear { 5e-3 } else { c.reach[0].min(5e-3) };
    Observer::new(0.5e-2 * c.stiffness[0] * reach * reach)
}

fn scaled(wrench: &Wrench, factor: f64) -> Wrench {
    Wrench { force: wrench.force * factor, torque: wrench.torque * factor }
}

/// How a body's origin moves.
fn origin_twist(body: &RigidBody) -> Twist {
    let twist = body.twist();
    Twist { linear: twist.at(&-(body.rotation * body.mass.center())), angular: twist.angular }
}

/// Cuts a wrench to what the device can bear, force and torque each along its direction.
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

/// The device's state with its quaternion normalised, if it is one that a device can be in.
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
