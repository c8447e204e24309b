//! Haptics: a tool in a hand among bodies, in two halves that share no lock.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle::{self, Exclusive};
use super::haptics_handle::*;
use super::haptics_settings::{forms, vxs_haptics_settings};
use super::haptics_types::*;
use super::query_options::vxs_body;
use super::response::{vxs_twist, vxs_wrench};
use super::status::*;
use super::types::*;
use super::workers;
use crate::haptics::{self, DeviceState, Obstacle, Renderer, Report, Runner};
use crate::math::{Pose, Rotation, Twist, Vec3, Wrench};

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

/// As it is: a step answers a state that makes no sense with a flag and no force.
fn unchecked(p: &vxs_pose) -> Pose {
    let q = nalgebra::Quaternion::new(p.qw, p.qx, p.qy, p.qz);
    Pose::from_parts(vec3(p.position).into(), Rotation::new_unchecked(q))
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

/// Prepares `report` for `vxs_haptics_simulate`: sets its size and what there is without contacts.
///
/// @param[out] report  what to fill
/// @param size         `sizeof(vxs_haptics_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_report_init(report: *mut vxs_haptics_report, size: usize) -> vxs_status {
    entry!(vxs_haptics_report_init, [], { check::init(report, size, vxs_haptics_report::defaults()) })
}

/// A tool in a hand among bodies. All memory that steps need is allocated here; the shapes are shared with it, and may be
/// released.
///
/// @param settings      from `vxs_haptics_settings_init`
/// @param tool          what is in the hand
/// @param bodies        what it touches; may be null if `body_count` is 0. The handles of their shapes may be released afterwards
/// @param body_count    how many
/// @param[out] haptics  release it with `vxs_haptics_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the tool and a body lack the forms that the
///         renderer needs: a pointshell of one and a field of the other; for voxels a pointshell of the tool and a cooked field
///         of the body, of which voxels are made), VXS_TOO_LARGE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_create(
    settings: *const vxs_haptics_settings,
    tool: *const vxs_shape,
    bodies: *const vxs_body,
    body_count: usize,
    haptics: *mut *mut vxs_haptics,
) -> vxs_status {
    entry!(vxs_haptics_create, [tool], {
        let settings = vxs_haptics_settings::read(settings)?;
        let tool = settings.tool(forms(handle::get("tool", tool)?))?;
        let mut obstacles = Vec::new();
        for (i, body) in check::slice("bodies", bodies, "body_count", body_count)?.iter().enumerate() {
            let shape = handle::get(format_args!("bodies[{i}].shape"), body.shape)?;
            let pose = check::pose_value(format_args!("bodies[{i}].pose."), &body.pose)?;
            obstacles.push(Obstacle::fixed(forms(shape), pose));
        }
        check::out("haptics", haptics)?;
        let relief = settings.relief()?;
        let settings = settings.to_core()?;
        if settings.renderer == Renderer::Vps {
            for obstacle in &mut obstacles {
                let forms = std::mem::take(&mut obstacle.forms);
                obstacle.forms = workers::work(|| forms.with_voxmap())??;
            }
        }
        let (servo, mut simulation) = haptics::new(settings, tool, obstacles)?;
        simulation.set_relief(relief);
        let halves = Halves {
            servo: Exclusive::new(Some(servo)),
            simulation: Exclusive::new(Some(simulation)),
            runner: Exclusive::new(None),
        };
        handle::create("haptics", haptics, halves)
    })
}

/// Frees it, and ends what `vxs_haptics_run` began.
///
/// @param haptics  null is fine and does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or none), VXS_BUSY (another thread is in a call with it; or it runs, and a
///         function that a run calls asks for this: `device` or `surface.height` of any `vxs_haptics`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_release(haptics: *mut vxs_haptics) -> vxs_status {
    entry!(vxs_haptics_release, [], {
        if !haptics.is_null() {
            let halves = handle::get_to_release("haptics", haptics)?;
            let (servo, simulation) = (halves.servo.lock("haptics")?, halves.simulation.lock("haptics")?);
            let runner = halves.runner.lock("haptics")?;
            can_stop(&runner)?;
            std::mem::forget((servo, simulation, runner));
        }
        handle::release("haptics", haptics)
    })
}

/// One step in impedance causality: where the device is gives what the hand feels. For the thread that serves the device, 1 kHz
/// or what the device wants; allocates nothing, takes no lock, makes no system call, and takes a bounded time.
///
/// Whatever the state and the time are, the wrench is finite and within the limits of the settings: what makes no sense (a
/// number that is not finite, no unit quaternion, a time step of 0, a device that has jumped, no hand on it) gives VXS_OK, a
/// zero wrench, and the flag that says so. Only where the call itself fails is `output` left as it was: the device should then
/// get no force.
///
/// @param haptics      one thread steps, another may simulate
/// @param state        of the device, in the world frame
/// @param dt           since the last step, seconds
/// @param[out] output  what the device gets
/// @return VXS_OK, VXS_INVALID_ARGUMENT (a null pointer), VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_step(
    haptics: *mut vxs_haptics,
    state: *const vxs_device_state,
    dt: f64,
    output: *mut vxs_haptics_output,
) -> vxs_status {
    entry!(vxs_haptics_step, [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        let given = check::input("state", state)?;
        if given.reserved != 0 {
            return Err(Failure::argument("state->reserved", given.reserved, "0"));
        }
        check::out("output", output)?;
        let o = servo.step(&given.into(), dt);
        let tool = servo.tool_pose().into();
        let (wrench, status) = (o.wrench.into(), o.status.0);
        check::write(output, vxs_haptics_output { wrench, tool, age: o.age, status, contacts: o.contacts })
    })
}

/// One step in admittance causality: what the hand does to the device gives where it is to go. For controllers that follow a
/// motion (a virtual mechanism). Otherwise as `vxs_haptics_step`; while the hand is off, and where an input makes no sense, the
/// device stays where it is.
///
/// @param haptics      one thread steps, another may simulate
/// @param hand         of the hand on the tool, about the tool's origin, world frame
/// @param engaged      whether the hand is on the device
/// @param dt           since the last step, seconds
/// @param[out] motion  where the device is to go
/// @return VXS_OK, VXS_INVALID_ARGUMENT (a null pointer), VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_step_admittance(
    haptics: *mut vxs_haptics,
    hand: *const vxs_wrench,
    engaged: bool,
    dt: f64,
    motion: *mut vxs_haptics_motion,
) -> vxs_status {
    entry!(vxs_haptics_step_admittance, [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        let hand = check::input("hand", hand)?;
        check::out("motion", motion)?;
        let hand = Wrench { force: vec3(hand.force), torque: vec3(hand.torque) };
        let m = servo.step_admittance(&hand, engaged, dt);
        let (pose, twist, tool) = (m.pose.into(), m.twist.into(), servo.tool_pose().into());
        let status = m.status.0;
        check::write(motion, vxs_haptics_motion { pose, twist, tool, age: m.age, status, contacts: m.contacts })
    })
}

/// Starts anew: contacts are forgotten, the tool is where the device will be at the next step, and the wrench grows from zero.
/// In admittance causality the tool is at rest at `pose`. For the thread that steps, before the first step and after a pause.
///
/// @param haptics  whose steps
/// @param pose     where the device of admittance causality is, body to world; null: where it last was
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread is in a step)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_reset(haptics: *mut vxs_haptics, pose: *const vxs_pose) -> vxs_status {
    entry!(vxs_haptics_reset, [haptics], {
        let mut half = handle::get("haptics", haptics)?.servo.lock("haptics")?;
        let servo = own(&mut half)?;
        if pose.is_null() {
            servo.reset();
        } else {
            servo.reset_to(&check::pose("pose", pose)?);
        }
        Ok(VXS_OK)
    })
}

/// One round of the simulation: finds the contacts of the tool where the last step left it, and publishes them to the steps. Call
/// it as often as the processor allows, from a thread of its own, or between steps on the same one. Once warm it allocates
/// nothing and takes no lock.
///
/// @param haptics      one thread simulates, another may step
/// @param[out] report  prepared by `vxs_haptics_report_init`; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread simulates or moves a body)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_simulate(
    haptics: *mut vxs_haptics,
    report: *mut vxs_haptics_report,
) -> vxs_status {
    entry!(vxs_haptics_simulate, [haptics], {
        let mut half = handle::get("haptics", haptics)?.simulation.lock("haptics")?;
        let simulation = own(&mut half)?;
        // A report of the wrong size is refused before anything is done.
        vxs_haptics_report::read(report)?;
        let found = simulation.simulate();
        if !report.is_null() {
            vxs_haptics_report::from(found).write(report)?;
        }
        Ok(VXS_OK)
    })
}

/// Moves a body, from the next round of the simulation on. For the thread that simulates; while `vxs_haptics_run` runs, for any one
/// thread, which may then wait for a round to end.
///
/// @param haptics  whose simulation
/// @param index    of the body: its place in `bodies` of `vxs_haptics_create`
/// @param pose     body to world
/// @param twist    how it moves, of its origin: contacts go along with it between rounds; null: not at all
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (another thread simulates; or it runs, and `surface.height` asks
///         for this in a round)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_body_pose(
    haptics: *mut vxs_haptics,
    index: usize,
    pose: *const vxs_pose,
    twist: *const vxs_twist,
) -> vxs_status {
    entry!(vxs_haptics_set_body_pose, [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let pose = check::pose("pose", pose)?;
        let mut velocity = Twist::ZERO;
        if !twist.is_null() {
            let given = check::input("twist", twist)?;
            velocity.linear = check::quantities("twist->linear", given.linear)?;
            velocity.angular = check::quantities("twist->angular", given.angular)?;
        }
        if let Some(runner) = halves.runner.lock("haptics")?.as_ref() {
            if Runner::is_simulating() {
                return Err(Failure::new(
                    VXS_BUSY,
                    "called by surface.height in a round of the simulation, which holds the bodies",
                ));
            }
            runner.set_obstacle_pose(index, &pose, &velocity)?;
        } else {
            let mut half = halves.simulation.lock("haptics")?;
            own(&mut half)?.set_obstacle_pose(index, &pose, &velocity)?;
        }
        Ok(VXS_OK)
    })
}
