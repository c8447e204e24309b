//! Runs both halves on threads of their own, for programs that have none. It requests from the system the resources of
//! a steady loop, and reports those that it did not get.

mod calls;
mod forces;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

pub use self::calls::Calls;
use self::forces::{couple, Direct, Forces, Port};
use super::triple_buffer::{self, Reader, Writer};
use super::{DeviceState, Output, Servo, Simulation};
use voxshell_base::{inside, memory, Error, Result};

/// The shortest and the longest period of the servo, seconds. Stopping a run takes up to one period.
pub const PERIODS: [f64; 2] = [1e-6, 1.0];

/// Requests to the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunOptions {
    /// Period of the servo, seconds.
    pub period: f64,
    /// Priority of the servo's thread under `SCHED_FIFO`, 1 to 99; 0 does not ask.
    pub priority: i32,
    /// Whether to lock all memory of the process, permanently (`mlockall`).
    pub lock_memory: bool,
    /// Whether a thread of its own computes the forces: the three loops of Ortega et al. 2007, section 3. A device then
    /// never waits for a force; it gets the newest one. Otherwise the thread that serves the device computes them.
    pub coupling_thread: bool,
}

impl Default for RunOptions {
    /// Returns 1 kHz, with a priority that leaves room above, in locked memory.
    fn default() -> Self {
        Self { period: 1e-3, priority: 80, lock_memory: true, coupling_thread: false }
    }
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    Granted,
    NotAsked,
    /// The system's error number.
    Refused(i32),
    /// This system does not have the feature.
    Unsupported,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunReport {
    /// `SCHED_FIFO` for the servo's thread.
    pub scheduling: Got,
    /// Locked memory.
    pub memory: Got,
    /// Sleep until an absolute time. A relative sleep drifts by the duration of each step.
    pub absolute_sleep: Got,
    /// Steps of the servo.
    pub steps: u64,
    /// Steps that began more than half a period late.
    pub late: u64,
    /// The latest start of a step, seconds.
    pub latest: f64,
    /// The longest step, including the time of the device's function, seconds.
    pub longest: f64,
    /// Rounds of the simulation that had new input.
    pub rounds: u64,
}

impl RunReport {
    const FIRST: Self = Self {
        scheduling: Got::NotAsked,
        memory: Got::NotAsked,
        absolute_sleep: Got::Unsupported,
        steps: 0,
        late: 0,
        latest: 0.0,
        longest: 0.0,
        rounds: 0,
    };
}

/// Serves the device: see [`Runner::start`].
type Device = dyn FnMut(&Output) -> Option<DeviceState> + Send;

/// Task of a runner's thread.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Serves the device, and computes the forces unless there is a thread for them.
    Device,
    Coupling,
    Simulation,
}

thread_local! {
    /// `None` for threads that do not belong to a runner.
    static ROLE: Cell<Option<Role>> = const { Cell::new(None) };
}

/// The running threads. Dropping it stops them.
pub struct Runner {
    stop: Arc<AtomicBool>,
    /// The thread that computes the forces.
    servo: Option<JoinHandle<Servo>>,
    /// The thread that serves the device, if it is another.
    device: Option<JoinHandle<()>>,
    rounds: Option<JoinHandle<()>>,
    simulation: Arc<Mutex<Simulation>>,
    reports: Reader<RunReport>,
    done: Arc<AtomicU64>,
}

/// The error of a run that did not start, and its halves, which can start another one.
pub struct NotStarted {
    pub servo: Servo,
    pub simulation: Simulation,
    pub error: Error,
}

impl std::fmt::Debug for NotStarted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl From<Box<NotStarted>> for Error {
    fn from(not_started: Box<NotStarted>) -> Self {
        not_started.error
    }
}

impl RunOptions {
    /// Checks the options for a run of `servo`, and that there is memory for its threads.
    fn check(&self, servo: &Servo) -> Result<()> {
        let [shortest, longest] = PERIODS;
        let longest = servo.settings().timing.longest_step.min(longest);
        if !(shortest..=longest).contains(&self.period) {
            let expected = format!("{shortest} s to {longest} s, and at most the longest step");
            return Err(Error::argument("period", self.period, expected));
        }
        if !(0..=99).contains(&self.priority) {
            return Err(Error::argument("priority", self.priority, "0 to 99"));
        }
        let threads = if self.coupling_thread { 3 } else { 2 };
        match memory::has_room_for_threads(threads) {
            true => Ok(()),
            false => Err(no_thread(threads)),
        }
    }
}

/// Returns the error of threads for which there is no memory, or of one that the system refuses: it does so where it lacks
/// memory or has too many threads already.
fn no_thread(threads: usize) -> Error {
    Error::OutOfMemory { what: "starting threads", bytes: (threads * memory::THREAD_BYTES) as u64 }
}

/// Starts the threads of a runner.
struct Starter {
    inside: bool,
    calls: Arc<dyn Calls>,
    /// Threads that were started, and those of them that run.
    started: usize,
    running: Arc<AtomicUsize>,
}

impl Starter {
    fn start<T: Send + 'static>(
        &mut self,
        name: &str,
        role: Role,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let (inside, calls, running) = (self.inside, self.calls.clone(), self.running.clone());
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            ROLE.set(Some(role));
            memory::register_thread(|| ());
            calls.begin_thread();
            running.fetch_add(1, Ordering::Release);
            let _inside = inside.then(inside::enter);
            work()
        });
        let thread = thread.map_err(|_| no_thread(1))?;
        self.started += 1;
        Ok(thread)
    }

    /// Waits until all threads run, so that no other allocation takes the memory that they need to start.
    fn wait(&self) {
        while self.running.load(Ordering::Acquire) < self.started {
            std::thread::sleep(Duration::from_micros(20));
        }
    }
}

impl Runner {
    /// Starts the threads. `device` is called once per period, always on the same thread: it sends the wrench to the
    /// device, and returns the device's next state, or `None` to end the run. The first output is zero. When the run
    /// has ended, `device` is called once more with a zero output.
    ///
    /// # Errors
    /// `InvalidArgument` for options out of their range; `OutOfMemory` when there is no memory for the threads, or the
    /// system refuses one.
    pub fn start(
        servo: Servo,
        simulation: Simulation,
        options: &RunOptions,
        device: impl FnMut(&Output) -> Option<DeviceState> + Send + 'static,
    ) -> std::result::Result<Self, Box<NotStarted>> {
        Self::start_with(servo, simulation, options, device, Arc::new(()))
    }

    /// Starts the threads as [`Runner::start`], which make steps and rounds by `calls`.
    ///
    /// # Errors
    /// As [`Runner::start`].
    pub fn start_with(
        servo: Servo,
        simulation: Simulation,
        options: &RunOptions,
        device: impl FnMut(&Output) -> Option<DeviceState> + Send + 'static,
        calls: Arc<dyn Calls>,
    ) -> std::result::Result<Self, Box<NotStarted>> {
        if let Err(error) = options.check(&servo) {
            return Err(Box::new(NotStarted { servo, simulation, error }));
        }
        let (reports, reader) = triple_buffer::channel(|| RunReport::FIRST);
        let mut runner = Self {
            stop: Arc::new(AtomicBool::new(false)),
            servo: None,
            device: None,
            rounds: None,
            simulation: Arc::new(Mutex::new(simulation)),
            reports: reader,
            done: Arc::new(AtomicU64::new(0)),
        };
        // The first thread takes the servo out of here. One that was not started leaves it.
        let servo = Arc::new(Mutex::new(Some(servo)));
        let mut starter = Starter { inside: inside::is_inside(), calls, started: 0, running: Arc::default() };
        let started = runner
            .start_servo(&mut starter, &servo, *options, reports, Box::new(device))
            .and_then(|()| runner.start_rounds(&mut starter));
        starter.wait();
        match started {
            Ok(()) => Ok(runner),
            Err(error) => {
                let left = if runner.servo.is_none() { servo.lock().take() } else { None };
                let (servo, simulation, _) = runner.end(left);
                Err(Box::new(NotStarted { servo, simulation, error }))
            }
        }
    }

    fn start_servo(
        &mut self,
        starter: &mut Starter,
        servo: &Arc<Mutex<Option<Servo>>>,
        options: RunOptions,
        reports: Writer<RunReport>,
        mut device: Box<Device>,
    ) -> Result<()> {
        let (own, ends) = (servo.clone(), Ends(self.stop.clone()));
        let calls = starter.calls.clone();
        let take = move || own.lock().take().expect("one thread takes the servo");
        if !options.coupling_thread {
            self.servo = Some(starter.start("haptic servo", Role::Device, move || {
                let mut servo = take();
                steps(&mut Direct::new(&mut servo, &*calls), &options, &ends.0, reports, &mut *device);
                servo
            })?);
            return Ok(());
        }
        let stale_after = servo.lock().as_ref().map_or(0.0, |servo| servo.settings().timing.stale_after);
        let (states, taken) = triple_buffer::channel(|| None);
        let (answers, newest) = triple_buffer::channel(|| None);
        let coupling = starter.start("haptic coupling", Role::Coupling, move || {
            let mut servo = take();
            couple(&mut servo, &*calls, taken, answers, options.period, &ends.0);
            servo
        })?;
        let mut port = Port::new(states, newest, coupling.thread().clone(), stale_after);
        self.servo = Some(coupling);
        let ends = Ends(self.stop.clone());
        self.device = Some(starter.start("haptic device", Role::Device, move || {
            steps(&mut port, &options, &ends.0, reports, &mut *device);
        })?);
        Ok(())
    }

    fn start_rounds(&mut self, starter: &mut Starter) -> Result<()> {
        let calls = starter.calls.clone();
        let (stops, shared, done) = (self.stop.clone(), self.simulation.clone(), self.done.clone());
        self.rounds = Some(starter.start("haptic simulation", Role::Simulation, move || {
            while !stops.load(Ordering::Relaxed) {
                let mut simulation = shared.lock();
                let fresh = simulation.is_due() && calls.round(&mut simulation).fresh;
                // A fair unlock, so that a thread that moves obstacles gets a turn.
                parking_lot::MutexGuard::unlock_fair(simulation);
                if fresh {
                    done.fetch_add(1, Ordering::Relaxed);
                } else {
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
        })?);
        Ok(())
    }

    /// Returns whether the calling thread belongs to a runner, this one or another: such a thread calls the functions
    /// of the user, which cannot wait for the end of a run.
    pub fn is_this_thread() -> bool {
        ROLE.get().is_some()
    }

    /// Returns whether the calling thread is a runner's simulation thread: a function that it calls cannot wait for a
    /// round to end.
    pub fn is_simulating() -> bool {
        ROLE.get() == Some(Role::Simulation)
    }

    /// Returns whether the servo still runs: neither stopped, nor ended by the device.
    pub fn is_running(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Returns the state of the run so far.
    pub fn report(&mut self) -> RunReport {
        self.reports.update();
        RunReport { rounds: self.done.load(Ordering::Relaxed), ..*self.reports.get() }
    }

    /// Returns the simulation, between two rounds: it waits for the end of a round, and no round begins while the guard
    /// lives.
    pub fn simulation(&self) -> MutexGuard<'_, Simulation> {
        self.simulation.lock()
    }

    /// Ends the threads and returns the halves, with a last report. Functions that a runner calls must not call this:
    /// see [`Runner::is_this_thread`].
    ///
    /// # Panics
    /// When `device` panicked, and on the runner's own threads.
    pub fn stop(self) -> (Servo, Simulation, RunReport) {
        assert!(!self.is_own_thread(), "a runner cannot be stopped by the functions that it calls");
        self.end(None)
    }

    /// Ends the threads. `left`: the servo, if no thread has it.
    fn end(mut self, left: Option<Servo>) -> (Servo, Simulation, RunReport) {
        self.stop.store(true, Ordering::Relaxed);
        let device = self.device.take().map(JoinHandle::join);
        let servo = self.servo.take().map(JoinHandle::join).or(left.map(Ok));
        let rounds = self.rounds.take().map(JoinHandle::join);
        let report = self.report();
        let simulation = self.simulation.clone();
        drop(self);
        for ended in [device, rounds] {
            if let Some(Err(panic)) = ended {
                std::panic::resume_unwind(panic);
            }
        }
        match (servo, Arc::into_inner(simulation)) {
            (Some(Ok(servo)), Some(simulation)) => (servo, simulation.into_inner(), report),
            (Some(Err(panic)), _) => std::panic::resume_unwind(panic),
            _ => unreachable!("a thread or the caller has the servo, which is taken here only, and the threads that shared the simulation have ended"),
        }
    }
}

impl Runner {
    fn is_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        let servo = self.servo.as_ref().map(|handle| handle.thread().id());
        let others = [&self.rounds, &self.device].map(|handle| handle.as_ref().map(|handle| handle.thread().id()));
        servo == Some(this) || others.contains(&Some(this))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread cannot join itself: the threads end soon after this.
        if self.is_own_thread() {
            return;
        }
        // A panic was reported when it happened.
        let others = [self.device.take(), self.rounds.take()];
        drop(others.map(|handle| handle.map(JoinHandle::join)));
        drop(self.servo.take().map(JoinHandle::join));
    }
}

/// Ends the run when a thread of the servo ends, also by a panic.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs the device's loop.
fn steps(
    forces: &mut dyn Forces,
    options: &RunOptions,
    stop: &AtomicBool,
    mut reports: Writer<RunReport>,
    device: &mut Device,
) {
    let mut report = RunReport::FIRST;
    report.memory = if options.lock_memory { system::lock_memory() } else { Got::NotAsked };
    report.scheduling = if options.priority > 0 { system::real_time(options.priority) } else { Got::NotAsked };
    report.absolute_sleep = system::ABSOLUTE_SLEEP;
    reports.write(report);
    let period = Duration::from_secs_f64(options.period);
    let mut last = Instant::now();
    let mut timer = system::Timer::new(period);
    while !stop.load(Ordering::Relaxed) {
        let late = timer.wait();
        report.latest = report.latest.max(late.as_secs_f64());
        report.late += u64::from(late > period / 2);
        let start = Instant::now();
        let Some(state) = device(&forces.newest(start)) else { break };
        let dt = (start - last).as_secs_f64();
        last = start;
        forces.take(&state, start, dt);
        report.steps += 1;
        report.longest = report.longest.max(start.elapsed().as_secs_f64());
        reports.write(report);
    }
    // However the run ended, the device is not left with a force.
    device(&Output::default());
}

/// Returns the number of whole periods that have passed.
fn whole(passed: Duration, period: Duration) -> u32 {
    u32::try_from(passed.as_nanos() / period.as_nanos().max(1)).unwrap_or(u32::MAX)
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use super::{whole, Got};

    pub const ABSOLUTE_SLEEP: Got = Got::Granted;

    pub fn lock_memory() -> Got {
        // SAFETY: no memory is passed.
        match unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } {
            0 => Got::Granted,
            _ => Got::Refused(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        }
    }

    /// Requests `SCHED_FIFO` for the calling thread.
    pub fn real_time(priority: i32) -> Got {
        // SAFETY: a plain struct of integers; zero is a value of each.
        let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
        parameters.sched_priority = priority;
        // SAFETY: the thread is this one, and the parameters outlive the call.
        match unsafe { libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &parameters) } {
            0 => Got::Granted,
            error => Got::Refused(error),
        }
    }

    /// Sleeps from one multiple of the period to the next.
    pub struct Timer {
        period: Duration,
        next: Duration,
    }

    fn now() -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes the one struct.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    impl Timer {
        pub fn new(period: Duration) -> Self {
            Self { period, next: now() }
        }

        /// Sleeps until the next time; returns the lateness. Times that have passed meanwhile are skipped.
        pub fn wait(&mut self) -> Duration {
            self.next += self.period;
            let time = libc::timespec {
                tv_sec: self.next.as_secs() as libc::time_t,
                tv_nsec: self.next.subsec_nanos() as libc::c_long,
            };
            // SAFETY: reads the one struct; interrupted sleeps go on, since the time is absolute.
            while unsafe {
                libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut())
            } == libc::EINTR
            {}
            let late = now().saturating_sub(self.next);
            self.next += self.period * whole(now().saturating_sub(self.next), self.period);
            late
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::{Duration, Instant};

    use super::{whole, Got};

    pub const ABSOLUTE_SLEEP: Got = Got::Unsupported;

    pub fn lock_memory() -> Got {
        Got::Unsupported
    }

    pub fn real_time(_: i32) -> Got {
        Got::Unsupported
    }

    /// Sleeps from one multiple of the period to the next, with the accuracy of a relative sleep.
    pub struct Timer {
        period: Duration,
        next: Instant,
    }

    impl Timer {
        pub fn new(period: Duration) -> Self {
            Self { period, next: Instant::now() }
        }

        pub fn wait(&mut self) -> Duration {
            self.next += self.period;
            std::thread::sleep(self.next.saturating_duration_since(Instant::now()));
            let late = Instant::now().saturating_duration_since(self.next);
            self.next += self.period * whole(Instant::now().saturating_duration_since(self.next), self.period);
            late
        }
    }
}
