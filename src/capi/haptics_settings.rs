//! What haptics is set to.

use std::ffi::c_void;
use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::haptics_types::*;
use super::panics;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::haptics::god_object::{Budget, Detection};
use crate::haptics::{
    ContactSettings, Coupling, Forms, Handle, Limits, Relief, Renderer, Saturation, Settings, Surface, Texture, Timing,
    Tool,
};
use crate::math::{Mat3, Vec3};
use crate::Error;

/// The coupling's springs have no end.
pub const VXS_SATURATION_LINEAR: u32 = 0;
/// Their force stays as it is from `coupling_reach` on.
pub const VXS_SATURATION_CLAMPED: u32 = 1;
/// The same greatest force, reached smoothly at 3/2 of `coupling_reach` (Otaduy & Lin 2005).
pub const VXS_SATURATION_CUBIC: u32 = 2;

const RENDERERS: [Renderer; 5] =
    [Renderer::Vps, Renderer::Penalty, Renderer::ContinuousPenalty, Renderer::GodObject, Renderer::Impulse];
const SATURATIONS: [Saturation; 3] = [Saturation::Linear, Saturation::Clamped, Saturation::Cubic];

/// Height of the bumps on a body, metres. Only differences matter: they turn the force as their slope does, and leave the
/// surface where it is.
///
/// Called six times for each constraint that holds the tool, by the thread that steps in each step and by the one that simulates
/// in each round, perhaps by both at once: it must be safe to call from several threads, must neither block nor allocate, must
/// not call functions of the same `vxs_haptics`, and should give the same for the same point. Where it gives what is not
/// finite, the surface is smooth, and the status says VXS_HAPTICS_BAD_HEIGHT.
///
/// @param body   number of the body: its place in `bodies` of `vxs_haptics_create`
/// @param point  on its surface or near it, in the body's frame, metres
/// @param user   `surface_height_user`
/// @return the height above the surface
pub type vxs_haptics_height_fn =
    Option<unsafe extern "C" fn(body: usize, point: *const vxs_vec3, user: *mut c_void) -> f64>;

/// All that can be set. Fill it with `vxs_haptics_settings_init`, then change what you want. Pairs are for translation and
/// rotation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_settings {
    /// `sizeof(vxs_haptics_settings)`, set by `vxs_haptics_settings_init`.
    pub struct_size: u32,
    /// One of `VXS_RENDERER_`.
    pub renderer: u32,
    /// Of the tool, kg.
    pub mass: f64,
    /// Of the tool, body frame, metres.
    pub center_of_mass: vxs_vec3,
    /// Of the tool about its centre of mass, body axes, kg·m²: xx, yy, zz, xy, xz, yz; entries of the tensor, as in
    /// `vxs_mass_properties`.
    pub inertia: [f64; 6],
    /// Of the device. What it gets is never above `force` and `torque`; the coupling is never stiffer than `stiffness`.
    pub limits: vxs_haptics_limits,
    /// The virtual coupling between the hand and the simulated tool: N/m, N·m/rad.
    pub coupling_stiffness: [f64; 2],
    /// N·s/m, N·m·s/rad. Default: critical for the tool.
    pub coupling_damping: [f64; 2],
    /// How far the springs go until they saturate: metres, radians.
    pub coupling_reach: [f64; 2],
    /// One of `VXS_SATURATION_`.
    pub coupling_saturation: u32,
    /// Not 0: the passivity controller takes out the energy that sampling puts in. Default 1.
    pub passivity: u32,
    /// Of each contact between the simulated tool and a body: N/m, and N·s/m along its normal.
    pub contact_stiffness: f64,
    pub contact_damping: f64,
    /// Signed distance at which the force of a contact begins, metres: above 0 it acts before surfaces touch.
    pub contact_offset: f64,
    /// From this many contacts on their forces are averaged.
    pub contact_average_from: u32,
    /// Of VXS_RENDERER_VPS: not 0 if an approach is braked before it touches. Default 1.
    pub contact_braking: u32,
    /// Deeper than this below a surface, samples are reported as VXS_HAPTICS_PENETRATING, metres.
    pub contact_tolerance: f64,
    /// Of VXS_RENDERER_IMPULSE: how much of an approach comes back, 0 to 1.
    pub contact_restitution: f64,
    /// The fastest that a hand moves the device, m/s and rad/s; faster is VXS_HAPTICS_TELEPORT.
    pub speed: [f64; 2],
    /// Steps longer than this are VXS_HAPTICS_BAD_TIME, seconds.
    pub timing_longest_step: f64,
    /// Contacts older than this are VXS_HAPTICS_STALE, and fade out in the time after it, seconds.
    pub timing_stale_after: f64,
    pub timing_fade: f64,
    /// In this time the wrench grows from zero, after a reset, a fault or an entry while inside, seconds.
    pub timing_ramp: f64,
    /// The virtual body that the hand moves in admittance causality: kg, kg·m² (the same about all axes), and its damping
    /// against all motion, N·s/m and N·m·s/rad.
    pub handle_mass: f64,
    pub handle_inertia: f64,
    pub handle_damping: [f64; 2],
    /// Of VXS_RENDERER_GOD_OBJECT: the coefficient of Coulomb friction, 0 or more. Default 0.
    pub surface_friction: f64,
    /// Of VXS_RENDERER_GOD_OBJECT: half the width over which normals are averaged for the force, metres; facets narrower than
    /// that feel round. Default 0: none.
    pub surface_shading: f64,
    /// Of VXS_RENDERER_GOD_OBJECT: bumps on all bodies that turn the force as their slope does: how high, and how far from
    /// one to the next, metres. Default 0: none.
    pub surface_texture_height: f64,
    pub surface_texture_wavelength: f64,
    /// Of VXS_RENDERER_GOD_OBJECT: heights of bumps of your own, felt together with those above. It and what is behind
    /// `surface_height_user` must live until `vxs_haptics_release` has returned. Default null: none.
    pub surface_height: vxs_haptics_height_fn,
    pub surface_height_user: *mut c_void,
    /// Slopes are differences of heights this far to each side, metres: positive where there is a `surface_height`. Bumps
    /// finer than that are not felt. Default 0.
    pub surface_height_reach: f64,
    /// Of VXS_RENDERER_GOD_OBJECT: spheres and samples that a round of the simulation may test, and time that it may take,
    /// nanoseconds. The round ends before the stretch that would take more, at the pace so far, where the tool then is,
    /// which is as safe as any; at least one stretch is gone, so that the tool arrives in later rounds. VXS_HAPTICS_PARTIAL
    /// says so. While bodies move a round goes on until they are where they are to be. The clock is read once a stretch, and
    /// never without a limit of time. Default 0: no limit.
    pub round_max_tests: u64,
    pub round_max_nanoseconds: u64,
}

impl Growable for vxs_haptics_settings {
    const ARGUMENT: &'static str = "settings";
    const SIZES: &'static [usize] =
        &[std::mem::offset_of!(Self, surface_friction), std::mem::offset_of!(Self, surface_height), size_of::<Self>()];
    const NULLABLE: bool = false;

    /// Nothing that `to_core` would take: each release fills all of its own.
    fn defaults() -> Self {
        let unlimited = vxs_haptics_limits {
            force: f64::INFINITY,
            torque: f64::INFINITY,
            stiffness: [f64::INFINITY; 2],
            damping: [f64::INFINITY; 2],
        };
        Self {
            struct_size: 0,
            renderer: VXS_RENDERER_PENALTY,
            mass: 0.0,
            center_of_mass: vxs_vec3::default(),
            inertia: [0.0; 6],
            limits: unlimited,
            coupling_stiffness: [0.0; 2],
            coupling_damping: [0.0; 2],
            coupling_reach: [0.0; 2],
            coupling_saturation: VXS_SATURATION_CUBIC,
            passivity: 1,
            contact_stiffness: 0.0,
            contact_damping: 0.0,
            contact_offset: 0.0,
            contact_average_from: 0,
            contact_braking: 1,
            contact_tolerance: 0.0,
            contact_restitution: 0.0,
            speed: [0.0; 2],
            timing_longest_step: 0.0,
            timing_stale_after: 0.0,
            timing_fade: 0.0,
            timing_ramp: 0.0,
            handle_mass: 0.0,
            handle_inertia: 0.0,
            handle_damping: [0.0; 2],
            surface_friction: 0.0,
            surface_shading: 0.0,
            surface_texture_height: 0.0,
            surface_texture_wavelength: 0.0,
            surface_height: None,
            surface_height_user: std::ptr::null_mut(),
            surface_height_reach: 0.0,
            round_max_tests: 0,
            round_max_nanoseconds: 0,
        }
    }
}

impl From<vxs_haptics_limits> for Limits {
    fn from(l: vxs_haptics_limits) -> Self {
        Self { force: l.force, torque: l.torque, stiffness: l.stiffness, damping: l.damping }
    }
}

impl From<Limits> for vxs_haptics_limits {
    fn from(l: Limits) -> Self {
        Self { force: l.force, torque: l.torque, stiffness: l.stiffness, damping: l.damping }
    }
}

/// An error of the core under the name that its argument has in C.
fn renamed(error: Error, name: impl Fn(&str) -> String) -> Failure {
    match error {
        Error::InvalidArgument { argument, value, expected } => Failure::argument(&name(&argument), value, &expected),
        other => other.into(),
    }
}

/// What the core calls `coupling.reach[0]` is `settings->coupling_reach[0]` here; of the tool only the name is left.
fn of_settings(argument: &str) -> String {
    match argument.strip_prefix("tool.") {
        Some("center") => "settings->center_of_mass".into(),
        Some(name) => format!("settings->{name}"),
        None if argument.starts_with("limits.") => format!("settings->{argument}"),
        None => format!("settings->{}", argument.replace('.', "_")),
    }
}

pub(super) fn forms(shape: &Shape) -> Forms {
    Forms { field: shape.field.clone(), shell: shape.shell.clone(), voxmap: None }
}

/// The caller's pointer, for the threads that hand it back.
pub(super) struct User(pub *mut c_void);

// SAFETY: the library never looks behind it; which threads call the function that it goes to is said in the contract of that.
unsafe impl Send for User {}
unsafe impl Sync for User {}

impl User {
    pub fn pointer(&self) -> *mut c_void {
        self.0
    }
}

impl vxs_haptics_settings {
    fn suiting(renderer: u32, shape: &Shape, mass: f64, limits: Limits) -> Result<Self, Failure> {
        let renderer_of_core = check::choice("renderer", renderer, "VXS_RENDERER_", &RENDERERS)?;
        check::mass("mass", mass)?;
        let solid = shape.mass.ok_or_else(|| {
            Failure::unsupported("tool has no mass properties; expected one cooked from a mesh that encloses a volume")
        })?;
        let tool = Tool::of_mass(forms(shape), &solid, mass)?;
        let core = Settings::for_tool(renderer_of_core, &tool, &limits)
            .map_err(|error| renamed(error, |argument| argument.replace('.', "->")))?;
        let (c, k, t, h) = (core.contact, core.coupling, core.timing, core.handle);
        let i = &tool.inertia;
        Ok(Self {
            renderer,
            mass,
            center_of_mass: tool.center.into(),
            inertia: [i.m11, i.m22, i.m33, i.m12, i.m13, i.m23],
            limits: core.limits.into(),
            coupling_stiffness: k.stiffness,
            coupling_damping: k.damping,
            coupling_reach: k.reach,
            coupling_saturation: SATURATIONS.iter().position(|s| *s == k.saturation).unwrap_or_default() as u32,
            passivity: u32::from(core.passivity),
            contact_stiffness: c.stiffness,
            contact_damping: c.damping,
            contact_offset: c.offset,
            contact_average_from: c.average_from,
            contact_tolerance: c.tolerance,
            contact_restitution: c.restitution,
            contact_braking: u32::from(c.braking),
            speed: core.speed,
            timing_longest_step: t.longest_step,
            timing_stale_after: t.stale_after,
            timing_fade: t.fade,
            timing_ramp: t.ramp,
            handle_mass: h.mass,
            handle_inertia: h.inertia,
            handle_damping: h.damping,
            ..Self::defaults()
        })
    }

    pub(super) fn to_core(self) -> Result<Settings, Failure> {
        let s = self;
        let core = Settings {
            renderer: check::choice("settings->renderer", s.renderer, "VXS_RENDERER_", &RENDERERS)?,
            coupling: Coupling {
                stiffness: s.coupling_stiffness,
                damping: s.coupling_damping,
                reach: s.coupling_reach,
                saturation: check::choice(
                    "settings->coupling_saturation",
                    s.coupling_saturation,
                    "VXS_SATURATION_",
                    &SATURATIONS,
                )?,
            },
            contact: ContactSettings {
                stiffness: s.contact_stiffness,
                damping: s.contact_damping,
                offset: s.contact_offset,
                average_from: s.contact_average_from,
                tolerance: s.contact_tolerance,
                restitution: s.contact_restitution,
                braking: s.contact_braking != 0,
            },
            limits: s.limits.into(),
            speed: s.speed,
            timing: Timing {
                longest_step: s.timing_longest_step,
                stale_after: s.timing_stale_after,
                fade: s.timing_fade,
                ramp: s.timing_ramp,
            },
            handle: Handle { mass: s.handle_mass, inertia: s.handle_inertia, damping: s.handle_damping },
            passivity: s.passivity != 0,
            detection: Detection::Continuous,
            budget: Budget {
                tests: check::limit(s.round_max_tests),
                nanoseconds: check::limit(s.round_max_nanoseconds),
            },
            surface: Surface {
                friction: s.surface_friction,
                shading: s.surface_shading,
                texture: Texture { height: s.surface_texture_height, wavelength: s.surface_texture_wavelength },
            },
        };
        core.check().map_err(|error| renamed(error, of_settings))?;
        Ok(core)
    }

    /// The bumps of the caller's own, if there are any.
    pub(super) fn relief(&self) -> Result<Option<Relief>, Failure> {
        let Some(height) = self.surface_height else { return Ok(None) };
        let user = User(self.surface_height_user);
        let height = move |body: u32, p: &Vec3| {
            let point = vxs_vec3::from(*p);
            // SAFETY: the function takes any body and point, on any thread, as its contract says.
            panics::outside(|| unsafe { height(body as usize, &point, user.pointer()) })
        };
        let made = Relief::new(Arc::new(height), self.surface_height_reach);
        made.map(Some).map_err(|error| renamed(error, of_settings))
    }

    pub(super) fn tool(&self, forms: Forms) -> Result<Tool, Failure> {
        let [xx, yy, zz, xy, xz, yz] = self.inertia;
        let tool = Tool {
            forms,
            center: Vec3::new(self.center_of_mass.x, self.center_of_mass.y, self.center_of_mass.z),
            mass: self.mass,
            inertia: Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        };
        tool.check().map_err(|error| renamed(error, of_settings))?;
        Ok(tool)
    }
}

/// Fills `settings` with what suits a tool and a device: a coupling as stiff as the device bears, but critically damped for
/// the tool; contacts much stiffer than the coupling; forces that saturate at the device's limits.
///
/// @param[out] settings  what to fill
/// @param size           `sizeof(vxs_haptics_settings)`
/// @param renderer       one of `VXS_RENDERER_`
/// @param tool           what will be in the hand: its size, and how its mass is spread
/// @param mass           of the tool, kg
/// @param limits         of the device, as the world sees them; null: none
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, a number out of range), VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED (a tool without mass properties)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_settings_init(
    settings: *mut vxs_haptics_settings,
    size: usize,
    renderer: u32,
    tool: *const vxs_shape,
    mass: f64,
    limits: *const vxs_haptics_limits,
) -> vxs_status {
    entry!(vxs_haptics_settings_init, [tool], {
        let shape = handle::get("tool", tool)?;
        let limits = match limits.is_null() {
            true => vxs_haptics_settings::defaults().limits,
            false => check::input("limits", limits)?,
        };
        check::init(settings, size, vxs_haptics_settings::suiting(renderer, shape, mass, limits.into())?)
    })
}
