//! Haptics on threads of the library, for hosts without threads of their own.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, recorded, Failure};
use super::handle;
use super::haptics::output_of;
use super::haptics_handle::*;
use super::haptics_settings::User;
use super::haptics_types::*;
use super::panics;
use super::response::{vxs_twist, vxs_wrench};
use super::status::*;
use super::thread;
use super::types::*;
use crate::haptics::{
    Calls, DeviceState, Got, NotStarted, Output, Report, RunOptions, RunReport, Runner, Servo, Simulation, PERIODS,
};

/// Device callback. A thread of the library calls it once a period to serve the device: it sends the wrench to the
/// device and reads the device's next state. The first wrench is zero. After the last step there is one more call with
/// a zero wrench, whose state is not read.
///
/// @param wrench      wrench on the hand, about the tool's origin, world frame; never above the device's limits
/// @param status      `VXS_HAPTICS_` flags of the step that computed the wrench
/// @param[out] state  state of the device, world frame; all zero before the call
/// @param user        as given to `vxs_haptics_run`
/// @return true to continue, false to end the run. It must not throw. It may call the library, but not
///         `vxs_haptics_stop` or `vxs_haptics_release` with a `vxs_haptics` that runs, which waits for this function to
///         return: VXS_BUSY
pub type vxs_haptics_device_fn = Option<
    unsafe extern "C" fn(
        wrench: *const vxs_wrench,
        status: u32,
        state: *mut vxs_device_state,
        user: *mut c_void,
    ) -> bool,
>;

/// Requests to the system. Fill it with `vxs_haptics_run_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_run_options {
    /// `sizeof(vxs_haptics_run_options)`, set by `vxs_haptics_run_options_init`.
    pub struct_size: u32,
    /// Priority of the thread that steps, under SCHED_FIFO, 1 to 99; 0: not requested. Default 80.
    pub priority: u32,
    /// Period of the steps, seconds: 1e-6 to 1, and no more than the longest step of the settings. Default 0.001.
    pub period: f64,
    /// Not 0: lock the memory of the process from now on (mlockall). Default 1.
    pub lock_memory: u32,
    /// Not 0: a thread of its own computes the forces, and the device callback gets the newest one without waiting for
    /// it: the three loops of Ortega et al. 2007. A force older than `timing.stale_after` is not sent; it is zero then,
    /// with VXS_HAPTICS_STALE. Default 0: the thread that calls the device computes the forces.
    pub coupling_thread: u32,
}

/// The system granted the request.
pub const VXS_GOT_GRANTED: u32 = 0;
/// It was not requested.
pub const VXS_GOT_NOT_ASKED: u32 = 1;
/// The system refused; the report holds its error number.
pub const VXS_GOT_REFUSED: u32 = 2;
/// The system does not support it.
pub const VXS_GOT_UNSUPPORTED: u32 = 3;

/// State of a run. Call `vxs_haptics_run_report_init`, then `vxs_haptics_get_run_report` or `vxs_haptics_stop`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_run_report {
    /// `sizeof(vxs_haptics_run_report)`, set by `vxs_haptics_run_report_init`.
    pub struct_size: u32,
    /// 1 while it runs; 0 after it was stopped, or ended by the device callback.
    pub running: u32,
    /// Real-time priority of the thread that steps, locked memory, and sleeping until an absolute time instead of for a
    /// duration: each one of `VXS_GOT_`.
    pub scheduling: u32,
    pub memory: u32,
    pub absolute_sleep: u32,
    /// The system's error numbers, if it refused.
    pub scheduling_error: i32,
    pub memory_error: i32,
    pub reserved: u32,
    /// Number of steps, and number of steps that began more than half a period late.
    pub steps: u64,
    pub late: u64,
    /// Largest delay of the start of a step, and duration of the longest step including the device's own time, seconds.
    pub latest: f64,
    pub longest: f64,
    /// Number of rounds of the simulation that had work to do.
    pub rounds: u64,
}

impl Growable for vxs_haptics_run_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = RunOptions::default();
        let priority = u32::try_from(core.priority).unwrap_or_default();
        let [lock_memory, coupling_thread] = [core.lock_memory, core.coupling_thread].map(u32::from);
        Self { struct_size: 0, priority, period: core.period, lock_memory, coupling_thread }
    }
}

impl vxs_haptics_run_options {
    fn to_core(self) -> Result<RunOptions, Failure> {
        check::in_range("options->period", self.period, PERIODS[0], PERIODS[1])?;
        let priority = check::in_range("options->priority", self.priority, 0, 99)? as i32;
        let [lock_memory, coupling_thread] = [self.lock_memory, self.coupling_thread].map(|flag| flag != 0);
        Ok(RunOptions { period: self.period, priority, lock_memory, coupling_thread })
    }
}

fn got(got: Got) -> (u32, i32) {
    match got {
        Got::Granted => (VXS_GOT_GRANTED, 0),
        Got::NotAsked => (VXS_GOT_NOT_ASKED, 0),
        Got::Refused(error) => (VXS_GOT_REFUSED, error),
        Got::Unsupported => (VXS_GOT_UNSUPPORTED, 0),
    }
}

impl Growable for vxs_haptics_run_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            running: 0,
            scheduling: VXS_GOT_NOT_ASKED,
            memory: VXS_GOT_NOT_ASKED,
            absolute_sleep: VXS_GOT_NOT_ASKED,
            scheduling_error: 0,
            memory_error: 0,
            reserved: 0,
            steps: 0,
            late: 0,
            latest: 0.0,
            longest: 0.0,
            rounds: 0,
        }
    }
}

impl vxs_haptics_run_report {
    fn of(report: &RunReport, running: bool) -> Self {
        let ((scheduling, scheduling_error), (memory, memory_error)) = (got(report.scheduling), got(report.memory));
        Self {
            running: u32::from(running),
            scheduling,
            memory,
            absolute_sleep: got(report.absolute_sleep).0,
            scheduling_error,
            memory_error,
            steps: report.steps,
            late: report.late,
            latest: report.latest,
            longest: report.longest,
            rounds: report.rounds,
            ..Self::defaults()
        }
    }
}

/// Records the steps and rounds of a run as calls of `vxs_haptics_step` and `vxs_haptics_simulate`, which a replay makes.
struct Recorder(*mut vxs_haptics);

// SAFETY: a record reads only the number of the object in the handle, which is atomic. The handle outlives the run.
unsafe impl Send for Recorder {}
// SAFETY: as above.
unsafe impl Sync for Recorder {}

impl Calls for Recorder {
    fn begin_thread(&self) {
        // Where that fails, the thread tries again with each of its calls.
        thread::is_ready();
    }

    fn step(&self, servo: &mut Servo, device: &DeviceState, dt: f64) -> Output {
        let given = vxs_device_state::from(*device);
        let mut outputs = MaybeUninit::<vxs_haptics_output>::uninit();
        let (haptics, state, output) = (self.0, &raw const given, outputs.as_mut_ptr());
        let made;
        // SAFETY: the pointers are those of live values; the output is read after it was written.
        unsafe {
            recorded!(Lose, vxs_haptics_step(haptics, state, dt, output), {
                made = servo.step(device, dt);
                record_step(servo);
                output.write(output_of(servo, &made));
                VXS_OK
            });
        }
        made
    }

    fn round(&self, simulation: &mut Simulation) -> Report {
        let struct_size = size_of::<vxs_haptics_report>() as u32;
        let mut outputs = vxs_haptics_report { struct_size, ..vxs_haptics_report::defaults() };
        let (haptics, report) = (self.0, &raw mut outputs);
        let made;
        // SAFETY: as in `step`.
        unsafe {
            recorded!(Lose, vxs_haptics_simulate(haptics, report), {
                made = simulation.simulate_if_possible();
                record_round(simulation);
                report.write(vxs_haptics_report { struct_size, ..made.into() });
                VXS_OK
            });
        }
        made
    }
}

const NOWHERE: vxs_device_state = vxs_device_state {
    pose: vxs_pose { position: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 }, qx: 0.0, qy: 0.0, qz: 0.0, qw: 0.0 },
    twist: vxs_twist { linear: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 }, angular: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 } },
    engaged: 0,
    reserved: 0,
};

/// Fills `options` with the defaults.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_haptics_run_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_run_options_init(
    options: *mut vxs_haptics_run_options,
    size: usize,
) -> vxs_status {
    entry!(vxs_haptics_run_options_init, [], { check::init(options, size, vxs_haptics_run_options::defaults()) })
}

/// Prepares `report`: sets its size and the values before a run.
///
/// @param[out] report  the struct to fill
/// @param size         `sizeof(vxs_haptics_run_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_run_report_init(report: *mut vxs_haptics_run_report, size: usize) -> vxs_status {
    entry!(vxs_haptics_run_report_init, [], { check::init(report, size, vxs_haptics_run_report::defaults()) })
}

/// Steps and simulates on two threads of the library, or three with `coupling_thread`, until `vxs_haptics_stop`. The thread that steps has real-time
/// priority, locked memory and an absolute clock, as far as the system grants them: the report tells which requests
/// were not granted. Impedance causality.
///
/// @param haptics  not running yet
/// @param options  null: the defaults
/// @param device   device callback; called on the thread that steps, and only during the run
/// @param user     passed to `device`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also a period above the longest step of the settings), VXS_INVALID_HANDLE,
///         VXS_BUSY (it runs already, or another thread is in a call with it), VXS_OUT_OF_MEMORY (also where the system
///         refuses a thread; then it does not run, and may be stepped or run again)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_run(
    haptics: *mut vxs_haptics,
    options: *const vxs_haptics_run_options,
    device: vxs_haptics_device_fn,
    user: *mut c_void,
) -> vxs_status {
    entry!(fast(vxs_haptics_run(haptics)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let options = vxs_haptics_run_options::read(options)?.to_core()?;
        let device = device.ok_or_else(|| Failure::argument("device", "null", "a function"))?;
        let (mut servo, mut simulation) = (halves.servo.lock("haptics")?, halves.simulation.lock("haptics")?);
        let mut runner = halves.runner.lock("haptics")?;
        let longest = own(&mut servo)?.settings().timing.longest_step;
        if options.period > longest {
            let expected = format!("at most {longest}, the longest step of the settings");
            return Err(Failure::argument("options->period", options.period, &expected));
        }
        let (Some(own_servo), Some(own_simulation)) = (servo.take(), simulation.take()) else {
            return Err(Failure::new(VXS_BUSY, "haptics runs by itself already"));
        };
        let user = User(user);
        let serve = move |output: &Output| {
            let (wrench, mut state) = (output.wrench.into(), NOWHERE);
            let goes_on = panics::outside(|| device(&wrench, output.status.0, &mut state, user.pointer()));
            goes_on.then(|| state.into())
        };
        let calls = Arc::new(Recorder(haptics));
        match Runner::start_with(own_servo, own_simulation, &options, serve, calls) {
            Ok(started) => {
                *runner = Some(started);
                Ok(VXS_OK)
            }
            Err(not_started) => {
                let NotStarted { servo: own_servo, simulation: own_simulation, error } = *not_started;
                (*servo, *simulation) = (Some(own_servo), Some(own_simulation));
                Err(error.into())
            }
        }
    })
}

/// Reports the state of the run.
///
/// @param haptics      running or not
/// @param[out] report  prepared by `vxs_haptics_run_report_init`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a call that uses the run)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_get_run_report(
    haptics: *mut vxs_haptics,
    report: *mut vxs_haptics_run_report,
) -> vxs_status {
    entry!(fast(vxs_haptics_get_run_report(haptics)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let mut runner = halves.runner.lock("haptics")?;
        halves.log_jumps();
        let now = match runner.as_mut() {
            Some(runner) => vxs_haptics_run_report::of(&runner.report(), runner.is_running()),
            None => vxs_haptics_run_report::defaults(),
        };
        now.write(report)
    })
}

/// Ends the run, and waits until both threads have ended. Without a run it does nothing. Afterwards the caller may step
/// and simulate again. A device callback ends its own run by returning false.
///
/// @param haptics      running or not
/// @param[out] report  prepared by `vxs_haptics_run_report_init`; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a call with it; or it runs,
///         and the call comes from a function that a run calls: `device` or `surface.height` of any `vxs_haptics`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_stop(
    haptics: *mut vxs_haptics,
    report: *mut vxs_haptics_run_report,
) -> vxs_status {
    entry!(fast(vxs_haptics_stop(haptics)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        vxs_haptics_run_report::read(report)?;
        let (mut servo, mut simulation) = (halves.servo.lock("haptics")?, halves.simulation.lock("haptics")?);
        let mut runner = halves.runner.lock("haptics")?;
        can_stop(&runner)?;
        let ended = runner.take().map(Runner::stop);
        let mut last = vxs_haptics_run_report::defaults();
        if let Some((own_servo, own_simulation, counts)) = ended {
            (*servo, *simulation) = (Some(own_servo), Some(own_simulation));
            halves.log_jumps();
            last = vxs_haptics_run_report::of(&counts, false);
        }
        if report.is_null() {
            return Ok(VXS_OK);
        }
        last.write(report)
    })
}
