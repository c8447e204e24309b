//! The fast half: computes the wrench on the hand from the device's state, or a motion from the hand's wrench.
//!
//! The servo integrates the simulated tool implicitly, between a coupling to the hand and the linearised contacts that
//! the simulation last published (Otaduy & Lin 2005, section 5.3; Xu & Barbič 2016, section 4.1). So the loop with the
//! device closes at its own rate, however slow the simulation is.

mod admittance;

use std::sync::Arc;

use super::blend::{opposite, scaled, size, Blend};
use super::coupling::origin_twist;
use super::coupling_spring::CouplingSpring;
use super::exchange::Exchange;
use super::linearised::Place;
use super::loads::{Ledger, Loads};
use super::messages::{Input, Snapshot};
use super::monitor::{limit, sound, JumpDetector, Monitor};
use super::passivity::{motion, Observer};
use super::settings::within;
use super::slew_limit::SlewLimit;
use super::stops::StopForce;
use super::triple_buffer::{Reader, Writer};
use super::{Coupling, DeviceState, Jump, Output, Renderer, Saturation, Settings, Status, Tool};
use voxshell_base::math::{from_scaled_axis, Mat3, Mat6, Pose, Twist, Wrench};
use voxshell_dynamics::{Mass, RigidBody};
use voxshell_response::{Kinematics, Response};

/// Answers the device. Every call has bounded work: no allocation, no lock, no system call.
pub struct Servo {
    settings: Settings,
    /// The simulated tool.
    body: RigidBody,
    /// The body that the hand moves in admittance causality.
    handle: RigidBody,
    inputs: Writer<Input>,
    snapshots: Reader<Snapshot>,
    exchange: Exchange,
    /// Number of inputs published.
    published: u64,
    generation: u32,
    /// Sum of all steps, seconds.
    clock: f64,
    /// Time of the last reset.
    since: f64,
    /// Fraction of the wrench that the hand gets, 0 to 1.
    gain: f64,
    /// Whether the gain fell with stale contacts and has not yet risen: the hand did not put in all that is stored.
    was_stale: bool,
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
    /// Scale of the workspace in the last step.
    scale: f64,
    observer: Observer,
    blend: Blend,
    /// Spring from the hand to the constraints, if the renderer has constraints.
    spring: Option<CouplingSpring>,
    /// Forces of the contacts, if the renderer is that of impulses.
    stops: Option<StopForce>,
    /// Largest damping of the passivity controller.
    damper: [f64; 2],
    /// Mass of the tool, and a third of the trace of its inertia.
    inertia: [f64; 2],
    /// Changes of bodies and settings that are known.
    edits: u32,
    /// Loads on the bodies.
    ledger: Ledger,
}

/// Time in which the coupling's force fades in at the first contact, and time constant in which that of the tool's
/// inertia fades out after the last one, seconds.
const FADES: f64 = 0.005;
/// Accelerations that no hand gives a tool, m/s² and rad/s²: what the coupling pulls harder is left from a contact.
const ACCELERATION: [f64; 2] = [100.0, 2000.0];

/// Largest advance of the clock in one step, seconds.
const LONGEST_PAUSE: f64 = 3600.0;

/// A new snapshot.
#[derive(Clone, Copy)]
struct Taken {
    /// Time between it and the one before it, seconds, if that one was used too.
    apart: Option<f64>,
}

/// The newest snapshot at a step.
struct News {
    /// The snapshot, if it was not known at the last step.
    taken: Option<Taken>,
    /// Whether it is of the present generation.
    is_known: bool,
    contacts: u32,
    touched: u64,
    age: f64,
    status: Status,
}

/// Effect of the tool on the hand in a step.
struct Pull {
    /// Wrench on the hand, about the tool's origin.
    wrench: Wrench,
    /// Mean wrench of the contacts on the tool, about the tool's origin.
    contact: Wrench,
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
        bodies: usize,
    ) -> voxshell_base::Result<Self> {
        let simulated = tool.lightened(settings.reflected_mass);
        let mass = Mass::new(simulated.mass, simulated.center, simulated.inertia)?;
        let handle =
            Mass::new(settings.handle.mass, *mass.center(), Mat3::from_diagonal_element(settings.handle.inertia))?;
        let inertia = [tool.mass, tool.inertia.trace() / 3.0];
        let spring = snapshots.get().constraints.is_some().then(|| CouplingSpring::new(settings.coupling, bodies));
        Ok(Self {
            settings,
            body: RigidBody::at(mass, &Pose::identity()),
            handle: RigidBody::at(handle, &Pose::identity()),
            inputs,
            snapshots,
            exchange: Exchange::default(),
            published: 0,
            generation: 0,
            clock: 0.0,
            since: 0.0,
            gain: 0.0,
            was_stale: false,
            slew: SlewLimit::default(),
            fades_in,
            presence: 0.0,
            entry: 0.0,
            last: None,
            jumps: JumpDetector::default(),
            monitor: Monitor::new(),
            scale: 1.0,
            observer: new_observer(&settings),
            blend: Blend::new(bodies),
            spring,
            stops: (settings.renderer == Renderer::Impulse).then(StopForce::new),
            damper: largest_damper(&settings, inertia),
            inertia,
            edits: 0,
            ledger: Ledger::new(bodies),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the monitor: the workspace's scale and the counts of faults, for any thread.
    pub fn monitor(&self) -> &Arc<Monitor> {
        &self.monitor
    }

    /// Returns the loads of the tool on the bodies, for any thread.
    pub fn loads(&self) -> &Arc<Loads> {
        self.ledger.loads()
    }

    /// Returns the messages that the last call took and published: a step or a reset.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the scale of the workspace that the last step used.
    pub fn scale(&self) -> f64 {
        self.scale
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
        self.exchange.begin();
        self.restart(pose);
    }

    fn restart(&mut self, pose: &Pose) {
        for body in [&mut self.handle, &mut self.body] {
            body.set_pose(pose);
            body.set_twist(&Twist::ZERO);
        }
        self.generation = self.generation.wrapping_add(1);
        self.since = self.clock;
        (self.gain, self.was_stale) = (0.0, false);
        self.slew.reset();
        self.presence = 0.0;
        self.entry = 0.0;
        self.last = None;
        self.jumps.reset();
        self.observer = new_observer(&self.settings);
        self.blend.reset();
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
        let share = dt / self.settings.timing.ramp;
        if self.is_returning() {
            wrench = self.slew.step(&wrench, self.gain, share);
        } else if self.slew.glides() {
            wrench = self.slew.glide(&wrench, share);
        } else {
            self.slew.free(&wrench);
        }
        if self.slew.lags() && !status.contains(Status::STALE) {
            status |= Status::RAMPING;
        }
        if self.is_returning() && !self.was_stale {
            // The tool may have been placed at the hand at any speed.
            self.observer.fill(self.stored(&device.pose));
        } else if self.settings.passivity && (self.spring.is_none() || pull.wrench != Wrench::ZERO) {
            // With a god-object, the hand is not damped where no constraint holds the tool.
            if let Some(damper) = self.observer.damper(&device.twist, self.damper, dt) {
                wrench += damper;
                status |= Status::DAMPED;
            }
        } else {
            self.observer.rest();
        }
        status |= limit(&mut wrench, &self.settings.limits);
        self.observer.hold(&wrench);
        Output { wrench, contact: pull.contact, status, age: pull.age, contacts: pull.contacts, touched: pull.touched }
    }

    /// Returns whether the wrench has not yet its full size after a reset or a fault.
    fn is_returning(&self) -> bool {
        self.gain < 1.0 || (self.slew.lags() && !self.slew.glides())
    }

    /// Advances the clock, unless the time step is invalid.
    fn tick(&mut self, dt: f64) -> Result<(), Status> {
        self.exchange.begin();
        // Another thread may change it during the step.
        self.scale = self.monitor.scale();
        if dt > 0.0 && dt.is_finite() {
            // An invalid time step must not advance the clock to where it no longer resolves steps.
            self.clock += dt.min(LONGEST_PAUSE);
            self.monitor.count_step(self.clock);
        }
        match dt > 0.0 && dt <= self.settings.timing.longest_step {
            true => Ok(()),
            false => Err(Status::BAD_TIME),
        }
    }

    /// Returns a zero wrench; afterwards the wrench grows from zero.
    fn fault(&mut self, status: Status) -> Output {
        self.monitor.count(status);
        self.ledger.publish(0.0);
        (self.gain, self.was_stale) = (0.0, false);
        self.slew.reset();
        self.observer.hold(&Wrench::ZERO);
        Output { status, age: self.age(), ..Output::default() }
    }

    /// Returns the speed limits in the world, m/s and rad/s.
    fn speed(&self) -> [f64; 2] {
        let [linear, angular] = self.settings.speed;
        [linear * self.scale, angular]
    }

    /// Restarts at a device that has jumped. A god-object keeps its place, on its side of every surface, and follows
    /// the hand from there. Any other tool is placed at the hand.
    fn teleport(&mut self, device: &DeviceState, jump: &Jump) -> Output {
        self.monitor.note(jump);
        if self.spring.is_some() {
            self.observer = new_observer(&self.settings);
            self.last = Some(device.pose);
        } else {
            self.restart(&self.handle.pose());
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
        let mut news = self.take_news(dt);
        let snapshot = self.snapshots.get();
        let wrench = match (&mut self.spring, &snapshot.constraints) {
            (Some(spring), Some(model)) if news.is_known => {
                self.body.set_pose(&model.pose);
                let (about_center, said) =
                    spring.pull(model, news.taken.is_some(), hand, [dt, news.age], &mut self.ledger);
                news.status |= said;
                about_center.about(&-(hand.rotation * self.body.mass.center()))
            }
            (Some(_), _) => {
                self.body.set_pose(hand);
                Wrench::ZERO
            }
            (None, _) => {
                let here = self.body.kinematics();
                let mut load = self.settings.coupling.on_body(hand, twist, &here);
                let (contact, share) = self.contact_load(&news, &load, dt);
                load += contact;
                self.body.implicit_euler(&load, dt);
                self.felt(hand, twist, &news, &here, share, dt)
            }
        };
        self.end(wrench, news, hand, twist, dt)
    }

    /// Takes the newest snapshot and returns what it says of the contacts.
    fn take_news(&mut self, dt: f64) -> News {
        let taken = self.take_snapshot(dt);
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
        News { taken, is_known, age, contacts, touched, status }
    }

    /// Returns the load of the contacts on a tool that the coupling pulls, and the fraction of it that fades in.
    fn contact_load(&mut self, news: &News, pull: &Response, dt: f64) -> (Response, f64) {
        if !news.is_known {
            self.stops.iter_mut().for_each(StopForce::clear);
            return (Response::NONE, 0.0);
        }
        let (here, snapshot) = (self.body.kinematics(), self.snapshots.get());
        if let Some(stops) = &mut self.stops {
            let mut mass = Mat6::from_diagonal_element(self.body.mass.mass());
            mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&self.body.inertia());
            self.entry = (self.entry + dt / self.settings.timing.ramp).min(1.0);
            return (Response::constant(stops.push(&snapshot.stops, &here, (&mass, pull), [dt, news.age])), 1.0);
        }
        let mut contact = snapshot.contact.predict(&here, news.age);
        let mut share = 1.0;
        if self.fades_in {
            let lever = (self.body.mass.inertia().trace() / (3.0 * self.body.mass.mass())).sqrt();
            let left = self.blend.step(news.taken.and_then(|taken| taken.apart), &here.center, dt);
            contact.wrench += self.blend.limit(&left, size(&contact.wrench, lever), lever);
            // The cube makes the balance with the coupling move evenly, although the contacts are stiff.
            share = self.entry.powi(3);
            contact = contact.scaled(share);
        }
        self.entry = (self.entry + dt / self.settings.timing.ramp).min(1.0);
        (contact, share)
    }

    /// Returns the coupling's wrench on the hand after a step of a coupled tool that began `here`, and notes the loads on
    /// the bodies.
    fn felt(&mut self, hand: &Pose, twist: &Twist, news: &News, here: &Kinematics, share: f64, dt: f64) -> Wrench {
        if !self.body.is_finite() {
            self.body.set_pose(hand);
            self.body.set_twist(&Twist::ZERO);
            self.gain = 0.0;
        }
        self.hold_tool(twist, here, dt);
        if news.is_known {
            let (there, ledger) = (self.body.kinematics(), &mut self.ledger);
            let mut add = |place: &Place, on_body: &Wrench| ledger.add(place, &scaled(on_body, share));
            self.snapshots.get().contact.on_bodies([here, &there], news.age, &mut add);
            for (place, on_tool) in self.stops.iter().flat_map(StopForce::loads) {
                add(place, &opposite(on_tool).about(&(place.origin - there.center)));
            }
            if self.fades_in {
                self.blend.acting().for_each(|(place, on_body)| add(place, &on_body));
            }
        }
        let pull = self.settings.coupling.on_hand(hand, twist, &self.body.kinematics());
        self.set_presence(&pull, dt);
        scaled(&pull, self.presence)
    }

    /// Limits the speed of a coupled tool in a step that began `here`: to that of a hand, and to that of the present hand and
    /// what the coupling can store. Contacts that are deep, stiff and linearised can throw it farther than the saturated
    /// coupling ever brings it back.
    fn hold_tool(&mut self, hand: &Twist, here: &Kinematics, dt: f64) {
        let (twist, speed, stored) = (self.body.twist(), self.speed(), self.settings.coupling.most_stored());
        let arm = here.pose.rotation * self.body.mass.center();
        let inertia = [self.body.mass.mass(), self.body.mass.inertia().trace() / 3.0];
        let of_hand = [hand.at(&arm).norm(), hand.angular.norm()];
        let most = [0, 1].map(|i| speed[i].min(of_hand[i] + (2.0 * stored[i] / inertia[i]).sqrt()));
        let [linear, angular] = [within(&twist.linear, most[0]), within(&twist.angular, most[1])];
        if linear == 1.0 && angular == 1.0 {
            return;
        }
        let twist = Twist { linear: twist.linear * linear, angular: twist.angular * angular };
        let rotation = from_scaled_axis(twist.angular * dt) * here.pose.rotation;
        let origin = here.center + twist.linear * dt - rotation * self.body.mass.center();
        self.body.set_pose(&Pose::from_parts(origin.into(), rotation));
        self.body.set_twist(&twist);
    }

    /// Informs the simulation of hand and tool, and the bodies of their loads.
    fn end(&mut self, wrench: Wrench, news: News, hand: &Pose, twist: &Twist, dt: f64) -> Pull {
        let body = self.body.kinematics();
        self.published += 1;
        self.exchange.published = Some(self.published);
        let (number, generation, clock) = (self.published, self.generation, self.clock);
        self.inputs.write(Input { number, generation, clock, hand: *hand, twist: *twist, body, live: true });
        let contact = self.ledger.on_tool(&body.pose.translation.vector);
        self.ledger.publish(dt);
        let News { contacts, touched, age, status, .. } = news;
        Pull { wrench, contact, contacts, touched, age, status }
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
            true => self.presence * libm::exp(-dt / FADES),
        };
    }

    /// Takes the snapshot that the simulation published last, if it is new.
    fn take_snapshot(&mut self, dt: f64) -> Option<Taken> {
        self.exchange.taken = Some(self.snapshots.get().number);
        if !self.snapshots.is_fresh() {
            return None;
        }
        let here = self.body.kinematics();
        let states = [&here, &here];
        let before = self.snapshots.get();
        let (generation, clock) = (before.generation, before.clock);
        // The new one is a step old at least. One that is not blended needs no difference.
        let blends = self.fades_in && self.spring.is_none() && self.clock - dt - clock > Blend::STEPS * dt;
        if blends {
            let left = &mut self.blend.left;
            before.contact.on_bodies(states, self.clock - clock, |place, wrench| left.add(place, wrench));
        }
        self.snapshots.update();
        let now = self.snapshots.get();
        self.exchange.taken = Some(now.number);
        let is_first = generation != self.generation;
        if is_first {
            self.blend.reset();
            // The first of its generation. A tool outside all bodies need not be eased out.
            if now.generation == self.generation && now.contacts == 0 {
                self.entry = 1.0;
            }
        } else if blends {
            let left = &mut self.blend.left;
            now.contact.on_bodies(states, self.clock - now.clock, |place, wrench| left.add(place, &opposite(wrench)));
        }
        let apart = now.clock - clock;
        if now.edits != self.edits {
            let (edits, settings) = (now.edits, now.settings);
            self.adopt(edits, settings);
        }
        Some(Taken { apart: (!is_first).then_some(apart) })
    }

    /// Takes over settings that changed at run time. After that, and after a change of bodies, the wrench moves by a
    /// ramp to what it is now.
    fn adopt(&mut self, edits: u32, settings: Settings) {
        self.edits = edits;
        self.settings = settings;
        self.damper = largest_damper(&settings, self.inertia);
        if let Some(spring) = &mut self.spring {
            spring.set_coupling(settings.coupling);
        }
        self.slew.begin_glide();
    }

    /// Increases the gain while contacts are fresh, and fades it while they are not.
    fn adjust_gain(&mut self, pull: &Pull, grows: bool, dt: f64) -> Status {
        let timing = &self.settings.timing;
        if pull.status.contains(Status::STALE) {
            // Not after a reset or a fault, from which the wrench has not grown yet.
            self.was_stale |= self.gain > 0.0;
            self.gain = (self.gain - dt / timing.fade).max(0.0);
            return Status::NORMAL;
        }
        if grows {
            self.gain = (self.gain + dt / timing.ramp).min(1.0);
        }
        if self.gain < 1.0 {
            Status::RAMPING
        } else {
            self.was_stale &= self.slew.lags();
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

/// Returns the largest damping of the passivity controller for a tool of this mass and inertia.
fn largest_damper(settings: &Settings, inertia: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|i| {
        let enough = Coupling::critical_damping(settings.coupling.stiffness[i], inertia[i]);
        settings.limits.damping[i].min(enough)
    })
}
