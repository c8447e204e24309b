//! Haptics: a tool in a hand among bodies. Its two halves share no lock.

use std::sync::atomic::AtomicU64;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle::{self, Exclusive};
use super::haptics_handle::*;
use super::haptics_settings::{forms, vxs_haptics_settings, VXS_DETECTION_TRIANGLES};
use super::haptics_types::*;
use super::query_options::vxs_body;
use super::record::argument::Array;
use super::response::{vxs_twist, vxs_wrench};
use super::status::*;
use super::types::*;
use super::workers;
use crate::asset::Shape;
use crate::haptics::{self, DeviceState, FaultCounts, Obstacle, Output, Report, Servo};
use crate::math::{limits, Pose, Rotation, Twist, Vec3, Wrench};
use crate::memory::GrowGuarded;

/// Largest number of spare places for bodies.
const MOST_SPARE: u32 = 65536;

fn vec3(v: vxs_vec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

impl From<Twist> for vxs_twist {
    fn from(t: Twist) -> Self {
        Self { linear: t.linear.into(), angular: t.angular.into() }
    }
}

impl From<vxs_twist> for Twist {
    fn from(t: vxs_twist) -> Self {
        Self { linear: vec3(t.linear), angular: vec3(t.angular) }
    }
}

impl From<Wrench> for vxs_wrench {
    fn from(w: Wrench) -> Self {
        Self { force: w.force.into(), torque: w.torque.into() }
    }
}

/// Converts without checks: a step answers an invalid state with a flag and no force.
fn unchecked(p: &vxs_pose) -> Pose {
    let q = nalgebra::Quaternion::new(p.qw, p.qx, p.qy, p.qz);
    Pose::from_parts(vec3(p.position).into(), Rotation::new_unchecked(q))
}

impl From<DeviceState> for vxs_device_state {
    fn from(s: DeviceState) -> Self {
        Self { pose: s.pose.into(), twist: s.twist.into(), engaged: s.engaged.into(), reserved: 0 }
    }
}

/// Returns the output of the step that the servo just made.
pub(super) fn output_of(servo: &Servo, o: &Output) -> vxs_haptics_output {
    let tool = servo.tool_pose().into();
    let (wrench, contact, status) = (o.wrench.into(), o.contact.into(), o.status.0);
    let (age, contacts, touched) = (o.age, o.contacts, o.touched);
    vxs_haptics_output { wrench, contact, tool, age, status, contacts, touched }
}

impl From<vxs_device_state> for DeviceState {
    fn from(s: vxs_device_state) -> Self {
        Self { pose: unchecked(&s.pose), twist: s.twist.into(), engaged: s.engaged != 0 }
    }
}

impl Growable for vxs_haptics_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            fresh: 0,
            clock: 0.0,
            least_separation: f64::INFINITY,
            wrench: vxs_wrench::default(),
            contacts: 0,
            status: VXS_HAPTICS_NORMAL,
        }
    }
}

impl From<Report> for vxs_haptics_report {
    fn from(r: Report) -> Self {
        Self {
            fresh: u32::from(r.fresh),
            clock: r.clock,
            least_separation: r.least_separation,
            wrench: r.wrench.into(),
            contacts: r.contacts,
            status: r.status.0,
            ..Self::defaults()
        }
    }
}

/// Prepares `report` for `vxs_haptics_simulate`: sets its size and the values of a round without contacts.
///
/// @param[out] report  the struct to fill
/// @param size         `sizeof(vxs_haptics_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_report_init(report: *mut vxs_haptics_report, size: usize) -> vxs_status {
    entry!(vxs_haptics_report_init, [], { check::init(report, size, vxs_haptics_report::defaults()) })
}

/// Creates a tool in a hand among bodies. All memory that steps need is allocated here. The shapes are shared with it,
/// and their handles may be released afterwards.
///
/// @param settings      from `vxs_haptics_settings_init`
/// @param tool          shape of the tool in the hand
/// @param bodies        bodies that the tool can touch; may be null if `body_count` is 0
/// @param body_count    number of bodies
/// @param[out] haptics  release it with `vxs_haptics_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the tool and a body lack the forms that
///         the renderer needs: a pointshell of one and a field of the other; for VXS_RENDERER_VPS a pointshell of the
///         tool and a cooked field of the body, from which its voxels are made), VXS_TOO_LARGE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_create(
    settings: *const vxs_haptics_settings,
    tool: *const vxs_shape,
    bodies: *const vxs_body,
    body_count: usize,
    haptics: *mut *mut vxs_haptics,
) -> vxs_status {
    entry!(vxs_haptics_create(settings, tool, Array(bodies, body_count), body_count, haptics), [tool], {
        let settings = vxs_haptics_settings::read(settings)?;
        let by_triangles = settings.detection == VXS_DETECTION_TRIANGLES;
        let prepare = |shape: &Shape| if by_triangles { shape.locator().map(drop) } else { Ok(()) };
        let tool = handle::get("tool", tool)?;
        prepare(tool)?;
        let edges = settings.edges();
        let tool = settings.tool(forms(tool, edges)?)?;
        let mut obstacles = Vec::new();
        for (i, body) in check::slice("bodies", bodies, "body_count", body_count)?.iter().enumerate() {
            let shape = handle::get(format_args!("bodies[{i}].shape"), body.shape)?;
            let pose = check::pose_value(format_args!("bodies[{i}].pose."), &body.pose)?;
            prepare(shape)?;
            obstacles.push_guarded(Obstacle::fixed(forms(shape, edges)?, pose));
        }
        check::out("haptics", haptics)?;
        let spare = check::in_range("settings->spare_bodies", settings.spare_bodies, 0, MOST_SPARE)?;
        let height_map = settings.height_map()?;
        let offset = settings.offset()?;
        let settings = settings.to_core()?;
        if settings.renderer.uses_voxmap() {
            for obstacle in &mut obstacles {
                let forms = std::mem::take(&mut obstacle.forms);
                obstacle.forms = workers::work(|| forms.with_voxmap(offset))??;
            }
        }
        obstacles.extend_guarded((0..spare).map(|_| Obstacle::empty()));
        let (servo, mut simulation) = haptics::new(settings, tool, obstacles)?;
        simulation.set_height_map(height_map);
        let (monitor, loads) = (servo.monitor().clone(), servo.loads().clone());
        let halves = Halves {
            servo: Exclusive::new(Some(servo)),
            simulation: Exclusive::new(Some(simulation)),
            runner: Exclusive::new(None),
            monitor,
            loads,
            edges,
            voxmap: settings.renderer.uses_voxmap().then_some(offset),
            speed: settings.speed.map(|speed| AtomicU64::new(speed.to_bits())),
            logged: AtomicU64::new(0),
        };
        handle::create("haptics", haptics, halves)
    })
}

/// Releases a `vxs_haptics`, and ends the run that `vxs_haptics_run` started.
///
/// @param haptics  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a `vxs_haptics`), VXS_BUSY (another thread is in a call
///         with it; or it runs, and the call comes from a function that a run calls: `device` or `surface.height` of
///         any `vxs_haptics`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_release(haptics: *mut vxs_haptics) -> vxs_status {
    entry!(vxs_haptics_release(haptics), [], {
        if !haptics.is_null() {
            let halves = handle::get_to_release("haptics", haptics)?;
            let (servo, simulation) = (halves.servo.lock("haptics")?, halves.simulation.lock("haptics")?);
            let mut runner = halves.runner.lock("haptics")?;
            can_stop(&runner)?;
            // The run ends while the handle is alive, which its steps and rounds record.
            drop(runner.take());
            std::mem::forget((servo, simulation, runner));
        }
        handle::release("haptics", haptics)
    })
}

/// Makes one step in impedance causality: computes the wrench for the hand from the state of the device. For the thread
/// that serves the device, at 1 kHz or the rate of the device. The step allocates nothing, takes no lock, makes no
/// system call, and takes a bounded time.
///
/// For every state and every time the wrench is finite and within the limits of the settings. An invalid input (a
/// number that is not finite, no unit quaternion, a time step of 0, a device that has jumped, no hand on it) gives
/// VXS_OK, a zero wrench, and the flag of its cause. Only if the call itself fails does `output` stay unchanged: the
/// device should then get no force.
///
/// @param haptics      one thread steps, another may simulate
/// @param state        state of the device, in the world frame
/// @param dt           time since the last step, seconds
/// @param[out] output  wrench for the device, and more
/// @return VXS_OK, VXS_INVALID_ARGUMENT (a null pointer), VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_step(
    haptics: *mut vxs_haptics,
    state: *const vxs_device_state,
    dt: f64,
    output: *mut vxs_haptics_output,
) -> vxs_status {
    entry!(fast(vxs_haptics_step(haptics, state, dt, output)), [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        let given = check::input("state", state)?;
        if given.reserved != 0 {
            return Err(Failure::argument("state->reserved", given.reserved, "0"));
        }
        check::out("output", output)?;
        let made = servo.step(&given.into(), dt);
        record_step(servo);
        check::write(output, output_of(servo, &made))
    })
}

/// Makes one step in admittance causality: computes the motion of the device from the wrench of the hand. For
/// controllers that follow a motion (a virtual mechanism). Otherwise like `vxs_haptics_step`; while the hand is off,
/// and where an input is invalid, the device stays where it is.
///
/// @param haptics      one thread steps, another may simulate
/// @param hand         wrench of the hand on the tool, about the tool's origin, world frame
/// @param engaged      whether the hand is on the device
/// @param dt           time since the last step, seconds
/// @param[out] motion  motion that the device has to make
/// @return VXS_OK, VXS_INVALID_ARGUMENT (a null pointer), VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_step_admittance(
    haptics: *mut vxs_haptics,
    hand: *const vxs_wrench,
    engaged: bool,
    dt: f64,
    motion: *mut vxs_haptics_motion,
) -> vxs_status {
    entry!(fast(vxs_haptics_step_admittance(haptics, hand, engaged, dt, motion)), [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        let hand = check::input("hand", hand)?;
        check::out("motion", motion)?;
        let hand = Wrench { force: vec3(hand.force), torque: vec3(hand.torque) };
        let m = servo.step_admittance(&hand, engaged, dt);
        record_step(servo);
        let (pose, twist, tool) = (m.pose.into(), m.twist.into(), servo.tool_pose().into());
        let (contact, age, status) = (m.contact.into(), m.age, m.status.0);
        let (contacts, touched) = (m.contacts, m.touched);
        check::write(motion, vxs_haptics_motion { pose, twist, contact, tool, age, status, contacts, touched })
    })
}

/// Resets the steps: contacts are dropped, the tool starts at the pose that the device has at the next step, and the
/// wrench grows from zero. In admittance causality the tool is at rest at `pose`. For the thread that steps, before the
/// first step and after a pause.
///
/// @param haptics  the `vxs_haptics` to reset
/// @param pose     pose of the device of admittance causality, body to world; null: its last pose
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_reset(haptics: *mut vxs_haptics, pose: *const vxs_pose) -> vxs_status {
    entry!(fast(vxs_haptics_reset(haptics, pose)), [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        if pose.is_null() {
            servo.reset();
        } else {
            servo.reset_to(&check::pose("pose", pose)?);
        }
        record_step(servo);
        Ok(VXS_OK)
    })
}

/// Sets the scale of the workspace, by which `settings.speed[0]` is multiplied: in a world that is 10 times as large as
/// the device's motion, a hand moves the tool 10 times as fast. The adapters of `cpp` set it. Any thread may call it,
/// at any time, also while it runs; it takes no lock.
///
/// @param haptics  the `vxs_haptics`
/// @param scale    metres of the world per metre of the device, positive. Default 1
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_scale(haptics: *mut vxs_haptics, scale: f64) -> vxs_status {
    entry!(fast(vxs_haptics_set_scale(haptics, scale)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        if !limits::is_positive_quantity(scale) {
            let expected = "a positive, finite number, 1e-30 to 1e18";
            return Err(Failure::argument("scale", limits::Shown(scale), expected));
        }
        halves.monitor.set_scale(scale);
        Ok(VXS_OK)
    })
}

/// Counts the steps that gave no force because of the device's state or time. Any thread may call it, at any time, also
/// while it runs; it takes no lock.
///
/// @param haptics      the `vxs_haptics`
/// @param[out] faults  counts since `vxs_haptics_create`. Each number is read on its own: while another thread steps,
///                     they may belong to different steps
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_get_faults(
    haptics: *const vxs_haptics,
    faults: *mut vxs_haptics_faults,
) -> vxs_status {
    entry!(fast(vxs_haptics_get_faults(haptics, faults)), [haptics], {
        let found = handle::get("haptics", haptics)?.monitor.faults();
        check::out("faults", faults)?;
        let FaultCounts { bad_state, bad_time, teleport, last_jump } = found;
        let (jump, jump_time) = (last_jump.distance, last_jump.time);
        check::write(faults, vxs_haptics_faults { bad_state, bad_time, teleport, jump, jump_time })
    })
}

/// Makes one round of the simulation: finds the contacts of the tool at the pose that the last step left, and publishes
/// them to the steps. Call it as often as the processor allows, from a thread of its own, or between steps on the same
/// thread. Once warm, it allocates nothing and takes no lock; except that it logs a warning about jumps of the device
/// (VXS_HAPTICS_TELEPORT), at the first one and whenever their number has doubled, if `vxs_set_log` has set a hook.
///
/// @param haptics      one thread simulates, another may step
/// @param[out] report  prepared by `vxs_haptics_report_init`; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread simulates or moves a body)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_simulate(
    haptics: *mut vxs_haptics,
    report: *mut vxs_haptics_report,
) -> vxs_status {
    entry!(fast(vxs_haptics_simulate(haptics, report)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let mut half = halves.simulation.lock("haptics")?;
        let simulation = own(&mut half)?;
        // A report of the wrong size is refused before anything is done.
        vxs_haptics_report::read(report)?;
        let found = simulation.simulate();
        halves.log_jumps();
        record_round(simulation);
        if !report.is_null() {
            vxs_haptics_report::from(found).write(report)?;
        }
        Ok(VXS_OK)
    })
}

/// Moves a body, from the next round of the simulation on. For the thread that simulates; while `vxs_haptics_run` runs,
/// for any one thread, which may then wait for a round to end.
///
/// @param haptics  the `vxs_haptics` that simulates
/// @param index    number of the body: its index in `bodies` of `vxs_haptics_create`
/// @param pose     body to world
/// @param twist    velocity of the body's origin: contacts move along with the body between rounds; null: at rest
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread simulates; or it runs, and the
///         call comes from `surface.height` in a round)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_body_pose(
    haptics: *mut vxs_haptics,
    index: usize,
    pose: *const vxs_pose,
    twist: *const vxs_twist,
) -> vxs_status {
    entry!(fast(vxs_haptics_set_body_pose(haptics, index, pose, twist)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let pose = check::pose("pose", pose)?;
        let mut velocity = Twist::ZERO;
        if !twist.is_null() {
            let given = check::input("twist", twist)?;
            velocity.linear = check::quantities("twist->linear", given.linear)?;
            velocity.angular = check::quantities("twist->angular", given.angular)?;
        }
        halves.simulation(|simulation| Ok(simulation.set_obstacle_pose(index, &pose, &velocity)?))?;
        Ok(VXS_OK)
    })
}
