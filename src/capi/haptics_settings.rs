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
/// Their force stays as it is from `reach` on.
pub const VXS_SATURATION_CLAMPED: u32 = 1;
/// The same greatest force, reached smoothly at 3/2 of `reach` (Otaduy & Lin 2005).
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
/// @param user   `surface.height_user` of the settings
/// @return the height above the surface
pub type vxs_haptics_height_fn =
    Option<unsafe extern "C" fn(body: usize, point: *const vxs_vec3, user: *mut c_void) -> f64>;

/// The virtual coupling between the hand and the simulated tool. Pairs are for translation and rotation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_coupling {
    /// N/m, N·m/rad.
    pub stiffness: [f64; 2],
    /// N·s/m, N·m·s/rad. Default: critical for the tool.
    pub damping: [f64; 2],
    /// How far the springs go until they saturate: metres, radians.
    pub reach: [f64; 2],
    /// One of `VXS_SATURATION_`.
    pub saturation: u32,
    /// Zero.
    pub reserved: u32,
}

/// Each contact between the simulated tool and a body.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_contact {
    /// N/m, and N·s/m along its normal.
    pub stiffness: f64,
    pub damping: f64,
    /// Signed distance at which the force of a contact begins, metres: above 0 it acts before surfaces touch.
    pub offset: f64,
    /// Samples deeper than this below a surface are reported as VXS_HAPTICS_PENETRATING, metres.
    pub tolerance: f64,
    /// Of VXS_RENDERER_IMPULSE: how much of an approach comes back, 0 to 1.
    pub restitution: f64,
    /// From this many contacts on their forces are averaged.
    pub average_from: u32,
    /// Of VXS_RENDERER_VPS: not 0 if an approach is braked before it touches. Default 1.
    pub braking: u32,
}

/// Times of the steps, seconds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_timing {
    /// Steps longer than this are VXS_HAPTICS_BAD_TIME.
    pub longest_step: f64,
    /// Contacts older than this are VXS_HAPTICS_STALE, and fade out in the time after it.
    pub stale_after: f64,
    pub fade: f64,
    /// In this time the wrench grows from zero, after a reset, a fault or an entry while inside.
    pub ramp: f64,
}

/// The virtual body that the hand moves in admittance causality.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_handle {
    /// kg.
    pub mass: f64,
    /// The same about all axes, kg·m².
    pub inertia: f64,
    /// Against all motion, N·s/m and N·m·s/rad.
    pub damping: [f64; 2],
}

/// Bumps on all bodies that turn the force as their slope does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_texture {
    /// How high they are, metres. Default 0: none.
    pub height: f64,
    /// How far from one to the next, metres.
    pub wavelength: f64,
}

/// How surfaces feel with VXS_RENDERER_GOD_OBJECT. Default: smooth, without friction.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_surface {
    /// The coefficient of Coulomb friction, 0 or more.
    pub friction: f64,
    /// Half the width over which normals are averaged for the force, metres; facets narrower than that feel round. 0: none.
    pub shading: f64,
    pub texture: vxs_haptics_texture,
    /// Heights of bumps of your own, felt together with the texture. It and the memory at `height_user` must live until
    /// `vxs_haptics_release` has returned. Default null: none.
    pub height: vxs_haptics_height_fn,
    pub height_user: *mut c_void,
    /// Slopes are differences of heights this far to each side, metres: positive where there is a `height`. Bumps finer than
    /// that are not felt. Default 0.
    pub height_reach: f64,
}

/// Limits of a round of the simulation, of VXS_RENDERER_GOD_OBJECT. The round ends before the stretch that would take more, at the
/// pace so far, where the tool then is, which is as safe as any; at least one stretch is gone, so that the tool arrives in later
/// rounds. VXS_HAPTICS_PARTIAL says so. While bodies move a round goes on until they are where they are to be.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_budget {
    /// Spheres and samples that may be tested. Default 0: no limit.
    pub max_tests: u64,
    /// Time that may be taken, nanoseconds. The clock is read once a stretch, and never without this limit. Default 0: no limit.
    pub max_nanoseconds: u64,
}

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
    pub coupling: vxs_haptics_coupling,
    pub contact: vxs_haptics_contact,
    pub timing: vxs_haptics_timing,
    pub handle: vxs_haptics_handle,
    pub surface: vxs_haptics_surface,
    pub budget: vxs_haptics_budget,
    /// The fastest that a hand moves the device, m/s and rad/s; faster is VXS_HAPTICS_TELEPORT.
    pub speed: [f64; 2],
    /// Not 0: the passivity controller takes out the energy that sampling puts in. Default 1.
    pub passivity: u32,
    /// Zero.
    pub reserved: u32,
}

impl Growable for vxs_haptics_settings {
    const ARGUMENT: &'static str = "settings";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
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
            coupling: vxs_haptics_coupling {
                stiffness: [0.0; 2],
                damping: [0.0; 2],
                reach: [0.0; 2],
                saturation: VXS_SATURATION_CUBIC,
                reserved: 0,
            },
            contact: vxs_haptics_contact {
                stiffness: 0.0,
                damping: 0.0,
                offset: 0.0,
                tolerance: 0.0,
                restitution: 0.0,
                average_from: 0,
                braking: 1,
            },
            timing: vxs_haptics_timing { longest_step: 0.0, stale_after: 0.0, fade: 0.0, ramp: 0.0 },
            handle: vxs_haptics_handle { mass: 0.0, inertia: 0.0, damping: [0.0; 2] },
            surface: vxs_haptics_surface {
                friction: 0.0,
                shading: 0.0,
                texture: vxs_haptics_texture { height: 0.0, wavelength: 0.0 },
                height: None,
                height_user: std::ptr::null_mut(),
                height_reach: 0.0,
            },
            budget: vxs_haptics_budget { max_tests: 0, max_nanoseconds: 0 },
            speed: [0.0; 2],
            passivity: 1,
            reserved: 0,
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

/// What the core calls `coupling.reach[0]` is `settings->coupling.reach[0]` here; of the tool only the name is left.
fn of_settings(argument: &str) -> String {
    match argument.strip_prefix("tool.") {
        Some("center") => "settings->center_of_mass".into(),
        Some(name) => format!("settings->{name}"),
        None => format!("settings->{argument}"),
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
            coupling: vxs_haptics_coupling {
                stiffness: k.stiffness,
                damping: k.damping,
                reach: k.reach,
                saturation: SATURATIONS.iter().position(|s| *s == k.saturation).unwrap_or_default() as u32,
                reserved: 0,
            },
            contact: vxs_haptics_contact {
                stiffness: c.stiffness,
                damping: c.damping,
                offset: c.offset,
                tolerance: c.tolerance,
                restitution: c.restitution,
                average_from: c.average_from,
                braking: u32::from(c.braking),
            },
            timing: vxs_haptics_timing {
                longest_step: t.longest_step,
                stale_after: t.stale_after,
                fade: t.fade,
                ramp: t.ramp,
            },
            handle: vxs_haptics_handle { mass: h.mass, inertia: h.inertia, damping: h.damping },
            speed: core.speed,
            passivity: u32::from(core.passivity),
            ..Self::defaults()
        })
    }

    pub(super) fn to_core(self) -> Result<Settings, Failure> {
        let s = self;
        let core = Settings {
            renderer: check::choice("settings->renderer", s.renderer, "VXS_RENDERER_", &RENDERERS)?,
            coupling: Coupling {
                stiffness: s.coupling.stiffness,
                damping: s.coupling.damping,
                reach: s.coupling.reach,
                saturation: check::choice(
                    "settings->coupling.saturation",
                    s.coupling.saturation,
                    "VXS_SATURATION_",
                    &SATURATIONS,
                )?,
            },
            contact: ContactSettings {
                stiffness: s.contact.stiffness,
                damping: s.contact.damping,
                offset: s.contact.offset,
                average_from: s.contact.average_from,
                tolerance: s.contact.tolerance,
                restitution: s.contact.restitution,
                braking: s.contact.braking != 0,
            },
            limits: s.limits.into(),
            speed: s.speed,
            timing: Timing {
                longest_step: s.timing.longest_step,
                stale_after: s.timing.stale_after,
                fade: s.timing.fade,
                ramp: s.timing.ramp,
            },
            handle: Handle { mass: s.handle.mass, inertia: s.handle.inertia, damping: s.handle.damping },
            passivity: s.passivity != 0,
            detection: Detection::Continuous,
            budget: Budget {
                tests: check::limit(s.budget.max_tests),
                nanoseconds: check::limit(s.budget.max_nanoseconds),
            },
            surface: Surface {
                friction: s.surface.friction,
                shading: s.surface.shading,
                texture: Texture { height: s.surface.texture.height, wavelength: s.surface.texture.wavelength },
            },
        };
        core.check().map_err(|error| renamed(error, of_settings))?;
        Ok(core)
    }

    /// The bumps of the caller's own, if there are any.
    pub(super) fn relief(&self) -> Result<Option<Relief>, Failure> {
        let Some(height) = self.surface.height else { return Ok(None) };
        let user = User(self.surface.height_user);
        let height = move |body: u32, p: &Vec3| {
            let point = vxs_vec3::from(*p);
            // SAFETY: the function takes any body and point, on any thread, as its contract says.
            panics::outside(|| unsafe { height(body as usize, &point, user.pointer()) })
        };
        let made = Relief::new(Arc::new(height), self.surface.height_reach);
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
