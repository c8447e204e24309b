//! Bodies and settings of haptics at run time: loads on bodies, bodies that are added, removed and simulated elsewhere.

use std::sync::atomic::Ordering;

use super::check;
use super::guard::{entry, Failure};
use super::handle;
use super::haptics_handle::*;
use super::haptics_settings::{forms, of_settings, renamed, vxs_haptics_settings};
use super::query_options::vxs_body;
use super::response::{vxs_twist, vxs_wrench};
use super::status::*;
use super::types::*;
use super::workers;
use crate::haptics::{Feel, Obstacle, ObstacleMotion, Rates};
use crate::math::Mat3;

/// Load of the tool on a body, about the body's origin, world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_load {
    /// Mean wrench over the last step: N, N·m.
    pub wrench: vxs_wrench,
    /// Sum of `wrench` × `dt` over all steps since `vxs_haptics_create`: N·s, N·m·s. The difference of two readings is the
    /// impulse on the body in the time between.
    pub impulse: vxs_wrench,
}

/// Gets the load of the tool on a body. The wrenches on all bodies are together the opposite of `contact` of the step's
/// output. With VXS_RENDERER_GOD_OBJECT, whose tool has no momentum, that is the wrench of the constraints, which the hand
/// feels when nothing limits it; with the other renderers it is the wrench that the simulated tool gets from its
/// contacts. Limits of the device and ramps act on the hand only, not on bodies.
///
/// Any thread may call it, at any time, also while it runs; it takes no lock. Each number is read on its own: while another
/// thread steps, they may belong to two steps. Impulses lose nothing by that, as the next reading has what this one lacks.
///
/// @param haptics    the `vxs_haptics`
/// @param index      number of the body: its index in `bodies` of `vxs_haptics_create`, or that of a spare place
/// @param[out] load  about the body's origin, where the last round of the simulation found it, moved on with its velocity
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_get_load(
    haptics: *const vxs_haptics,
    index: usize,
    load: *mut vxs_haptics_load,
) -> vxs_status {
    entry!(fast(vxs_haptics_get_load(haptics, index, load)), [haptics], {
        let loads = &handle::get("haptics", haptics)?.loads;
        let Some(found) = loads.get(index) else {
            let expected = format!("less than {}, the number of bodies", loads.len());
            return Err(Failure::argument("index", index, &expected));
        };
        check::out("load", load)?;
        check::write(load, vxs_haptics_load { wrench: found.wrench.into(), impulse: found.impulse.into() })
    })
}

/// Puts a body in the place of another one, or of none, from the next round of the simulation on. The new body's contacts
/// fade in over `timing.ramp`, so that a tool inside it is eased out, and the wrench on the hand changes by a ramp of that
/// time. The impulses of `vxs_haptics_get_load` go on counting. For the thread that simulates; while `vxs_haptics_run` runs,
/// for any one thread, which may then wait for a round to end. It allocates, and so may the first rounds after it.
///
/// @param haptics  the `vxs_haptics` that simulates
/// @param index    number of the body, or of a spare place (`settings.spare_bodies`), which follow the bodies of
///                 `vxs_haptics_create`
/// @param body     the new body, at rest, with the `vxs_haptics_feel` of `vxs_haptics_create`; null: none
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED and VXS_TOO_LARGE as `vxs_haptics_create`,
///         VXS_BUSY (another thread simulates; or it runs, and the call comes from `surface.height` in a round)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_body(
    haptics: *mut vxs_haptics,
    index: usize,
    body: *const vxs_body,
) -> vxs_status {
    entry!(vxs_haptics_set_body(haptics, index, body), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let mut obstacle = Obstacle::empty();
        if !body.is_null() {
            let given = check::input("body", body)?;
            let shape = handle::get("body->shape", given.shape)?;
            obstacle = Obstacle::fixed(forms(shape, halves.edges)?, check::pose_value("body->pose.", &given.pose)?);
            if let Some(offset) = halves.voxmap {
                let forms = std::mem::take(&mut obstacle.forms);
                obstacle.forms = workers::work(|| forms.with_voxmap(offset))??;
            }
        }
        halves.simulation(|simulation| Ok(simulation.set_obstacle(index, obstacle)?))?;
        Ok(VXS_OK)
    })
}

/// How a body feels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_feel {
    /// Factor on the stiffness and damping of the contacts with this body, positive; 1 at first. With
    /// VXS_RENDERER_GOD_OBJECT: factor on the force of its constraints, which counts as 1 above 1. No effect with
    /// VXS_RENDERER_IMPULSE. A soft body lets the tool in deeper, in proportion, with the renderers that have springs.
    pub stiffness: f64,
    /// For VXS_RENDERER_GOD_OBJECT: coefficient of Coulomb friction, 0 or more; `surface.friction` at first.
    pub friction: f64,
}

/// Sets how a body feels, from the next round of the simulation on. The wrench on the hand changes by a ramp. For the thread
/// that simulates; while `vxs_haptics_run` runs, for any one thread, which may then wait for a round to end.
///
/// @param haptics  the `vxs_haptics` that simulates
/// @param index    number of the body
/// @param feel     stiffness and friction
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (as `vxs_haptics_set_body`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_body_feel(
    haptics: *mut vxs_haptics,
    index: usize,
    feel: *const vxs_haptics_feel,
) -> vxs_status {
    entry!(fast(vxs_haptics_set_body_feel(haptics, index, feel)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let given = check::input("feel", feel)?;
        let feel = Feel { stiffness: given.stiffness, friction: Some(given.friction) };
        feel.check().map_err(|error| renamed(error, |argument| format!("feel->{argument}")))?;
        halves.simulation(|simulation| Ok(simulation.set_feel(index, feel)?))?;
        Ok(VXS_OK)
    })
}

/// Motion of a body that the caller simulates, at a lower rate than that of the rounds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_body_motion {
    /// Body to world. The origin must be the centre of mass, if the body yields.
    pub pose: vxs_pose,
    /// Velocity of the body's origin.
    pub twist: vxs_twist,
    /// 1/mass, 1/kg; 0: the body does not yield to the tool before the next call.
    pub inverse_mass: f64,
    /// Inverse of the inertia tensor about the origin, world axes, 1/(kg·m²): xx, yy, zz, xy, xz, yz; entries of the
    /// inverse. 0: the body does not turn.
    pub inverse_inertia: [f64; 6],
    /// Time until the next call, seconds: a step of the caller's simulation. Without one the body stops after twice that.
    pub period: f64,
}

/// Moves a body that the caller simulates, from the next round of the simulation on. Until the next call the body goes on
/// with its velocity, and yields at once to the impulses of the tool, as the free body that it is between two steps; the
/// caller applies the same impulses (`vxs_haptics_get_load`) in its next step. The first call puts the body at its pose. At
/// each later call the difference to the pose is made up evenly over `period`, so that contacts do not jump. A call of
/// `vxs_haptics_set_body_pose` ends this and puts the body at its pose at once.
///
/// For the thread that simulates; while `vxs_haptics_run` runs, for any one thread, which may then wait for a round to end.
///
/// @param haptics  the `vxs_haptics` that simulates
/// @param index    number of the body
/// @param motion   the body after the caller's last step
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (as `vxs_haptics_set_body`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_body_motion(
    haptics: *mut vxs_haptics,
    index: usize,
    motion: *const vxs_haptics_body_motion,
) -> vxs_status {
    entry!(fast(vxs_haptics_set_body_motion(haptics, index, motion)), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let given = check::input("motion", motion)?;
        let [xx, yy, zz, xy, xz, yz] = given.inverse_inertia;
        let motion = ObstacleMotion {
            pose: check::pose_value("motion->pose.", &given.pose)?,
            twist: crate::math::Twist {
                linear: check::quantities("motion->twist.linear", given.twist.linear)?,
                angular: check::quantities("motion->twist.angular", given.twist.angular)?,
            },
            inverse_mass: given.inverse_mass,
            inverse_inertia: Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
            period: given.period,
        };
        motion.check().map_err(|error| renamed(error, |argument| format!("motion->{argument}")))?;
        halves.simulation(|simulation| Ok(simulation.set_obstacle_motion(index, &motion)?))?;
        Ok(VXS_OK)
    })
}

/// Changes settings at run time, from the next round of the simulation on, for both halves. The wrench on the hand changes
/// by a ramp of `timing.ramp`. For the thread that simulates; while `vxs_haptics_run` runs, for any one thread, which may
/// then wait for a round to end.
///
/// @param haptics   the `vxs_haptics` that simulates
/// @param settings  as for `vxs_haptics_create`. These fields have no effect: `renderer`, `metric`, `mass`,
///                  `reflected_mass`, `center_of_mass`, `inertia`, `handle`, `contact.layers`, `surface.height` and its
///                  fields, `spare_bodies`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY (as `vxs_haptics_set_body`)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_set_settings(
    haptics: *mut vxs_haptics,
    settings: *const vxs_haptics_settings,
) -> vxs_status {
    entry!(vxs_haptics_set_settings(haptics, settings), [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let settings = <vxs_haptics_settings as check::Growable>::read(settings)?.to_core()?;
        halves.simulation(|simulation| simulation.set_settings(&settings).map_err(|e| renamed(e, of_settings)))?;
        for (to, speed) in halves.speed.iter().zip(settings.speed) {
            to.store(speed.to_bits(), Ordering::Relaxed);
        }
        Ok(VXS_OK)
    })
}

/// Numbers and rates of the two loops.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_haptics_rates {
    /// Time of the steps: the sum of their `dt`, seconds.
    pub clock: f64,
    /// Number of steps.
    pub steps: u64,
    /// Number of rounds of the simulation that had work to do.
    pub rounds: u64,
    /// Steps and rounds per second of `clock`, averaged over about 0.1 s, Hz; 0 before the second one.
    pub servo: f64,
    pub simulation: f64,
}

/// Gets the rates of steps and rounds. Any thread may call it, at any time, also while it runs; it takes no lock.
///
/// @param haptics     the `vxs_haptics`
/// @param[out] rates  each number is read on its own
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_get_rates(
    haptics: *const vxs_haptics,
    rates: *mut vxs_haptics_rates,
) -> vxs_status {
    entry!(fast(vxs_haptics_get_rates(haptics, rates)), [haptics], {
        let Rates { clock, steps, rounds, servo, simulation } = handle::get("haptics", haptics)?.monitor.rates();
        check::out("rates", rates)?;
        check::write(rates, vxs_haptics_rates { clock, steps, rounds, servo, simulation })
    })
}
