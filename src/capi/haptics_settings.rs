//! Settings of haptics.

use std::ffi::c_void;
use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::haptics_types::*;
use super::panics;
use super::record::session;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::contact::Coverage;
use crate::haptics::god_object::{Budget, Detection, Metric};
use crate::haptics::{
    ContactSettings, ContactSource, Coupling, Forms, Handle, HeightMap, Limits, Renderer, Saturation, Settings,
    Surface, Texture, Timing, Tool,
};
use crate::math::{Mat3, Vec3};
use crate::voxmap::Offset;
use crate::Error;

/// The force of the coupling's springs grows without limit.
pub const VXS_SATURATION_LINEAR: u32 = 0;
/// The force stays constant from `reach` on.
pub const VXS_SATURATION_CLAMPED: u32 = 1;
/// The force has the same maximum and reaches it smoothly, at 3/2 of `reach` (Otaduy & Lin 2005).
pub const VXS_SATURATION_CUBIC: u32 = 2;

const SATURATIONS: [Saturation; 3] = [Saturation::Linear, Saturation::Clamped, Saturation::Cubic];

/// The mass matrix of the tool, by Gauss' principle of least constraint (Ortega et al. 2007): a tool that is pushed at
/// its end turns as much as its inertia lets it. The force is as stiff as the coupling against translation, and has
/// that stiffness × inertia / mass against rotation; where that is more than the coupling's about an axis, both are
/// reduced in proportion.
pub const VXS_METRIC_MASS: u32 = 0;
/// The stiffness of the coupling, the same in all directions and about all axes; the mass and the inertia of the tool
/// have no effect.
pub const VXS_METRIC_STIFFNESS: u32 = 1;

/// Contacts are those of samples against fields.
pub const VXS_DETECTION_SAMPLES: u32 = 0;
/// Contacts of the god-object are those of the triangles of both bodies, vertices against faces and edges against
/// edges, as in Ortega, Redon & Coquillart 2007: sharp edges hold at their true place. It takes longer for many
/// triangles. A body without triangles keeps its samples.
pub const VXS_DETECTION_TRIANGLES: u32 = 1;
/// For VXS_RENDERER_PENALTY: contacts are those of convex hulls, refined only where the detail can be felt (Otaduy & Lin 2003,
/// `hulls_tolerance`): one contact for each pair of convex pieces, whatever the number of samples. The tool and all bodies need
/// hulls (`vxs_shape_create_with_hulls`).
pub const VXS_DETECTION_HULLS: u32 = 2;

/// For VXS_RENDERER_PENALTY, VXS_RENDERER_CONTINUOUS_PENALTY and VXS_RENDERER_IMPULSE: contacts are those of samples, and of
/// the edges and sharp corners of meshes of at most 20,000 triangles, which fit between samples: a sharp body does not sink
/// into another one. Of two bodies with many edges a round takes longer. As VXS_DETECTION_SAMPLES with the other renderers.
pub const VXS_DETECTION_EDGES: u32 = 3;

const DETECTIONS: [Detection; 4] =
    [Detection::Continuous, Detection::Triangles, Detection::Continuous, Detection::Continuous];

const METRICS: [Metric; 2] = [Metric::Mass, Metric::Stiffness];

/// Height map of a body: the height of its bumps, metres. Only differences matter: their slope turns the force, and the
/// surface stays in its place.
///
/// The function is called six times for each constraint that holds the tool, by the stepping thread in each step and by
/// the simulating thread in each round, possibly by both at once. It must be safe to call from several threads, must
/// neither block nor allocate, must not call functions of the same `vxs_haptics`, and should return the same height for
/// the same point. Where it returns a value that is not finite, the surface is smooth, and the status has
/// VXS_HAPTICS_BAD_HEIGHT.
///
/// @param body   number of the body: its index in `bodies` of `vxs_haptics_create`
/// @param point  point on the body's surface or near it, in the body's frame, metres
/// @param user   `surface.height_user` of the settings
/// @return the height above the surface, metres
pub type vxs_haptics_height_fn =
    Option<unsafe extern "C" fn(body: usize, point: *const vxs_vec3, user: *mut c_void) -> f64>;

/// Virtual coupling between the hand and the simulated tool. Pairs are for translation and rotation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_coupling {
    /// Stiffness: N/m, N·m/rad.
    pub stiffness: [f64; 2],
    /// Damping: N·s/m, N·m·s/rad. Default: critical for the reflected mass.
    pub damping: [f64; 2],
    /// Deflection at which the springs saturate: metres, radians. Dampers add nothing to the force of a saturated
    /// spring. With VXS_RENDERER_VPS, VXS_RENDERER_PENALTY and VXS_RENDERER_CONTINUOUS_PENALTY the springs saturate at
    /// the latest at F = 0.9 `contact.stiffness` s/2, with s the smallest cell of the fields in which samples are
    /// looked up, and at the torque of F at half the diagonal of the tool's box. One contact then holds the tool within
    /// half a cell. Raise `contact.stiffness` for larger forces.
    pub reach: [f64; 2],
    /// Point at which the springs hold the tool, body frame, metres. Default: its centre of mass. No effect with
    /// VXS_RENDERER_GOD_OBJECT.
    pub point: vxs_vec3,
    /// One of `VXS_SATURATION_`.
    pub saturation: u32,
    /// Zero.
    pub reserved: u32,
}

/// Penalty law of each contact between the simulated tool and a body.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_contact {
    /// Stiffness, N/m, and damping, N·s/m, along the contact's normal.
    pub stiffness: f64,
    pub damping: f64,
    /// Signed distance at which the force of a contact begins, metres; above 0: before the surfaces touch.
    pub offset: f64,
    /// Samples deeper than this below a surface are reported as VXS_HAPTICS_PENETRATING, metres.
    pub tolerance: f64,
    /// For VXS_RENDERER_IMPULSE: coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// From this number of contacts on, with all bodies together, their forces are averaged.
    pub average_from: u32,
    /// For VXS_RENDERER_VPS: not 0 if an approach is braked before it touches. Default 1.
    pub braking: u32,
    /// For VXS_RENDERER_PENALTY: if positive, each body pushes at this number of contacts at most, 1024 or less. They
    /// stand for clusters of samples, so that the stiffness does not depend on the number of samples (Otaduy & Lin
    /// 2005). Default 0: every sample pushes.
    pub max_clusters: u32,
    /// For VXS_RENDERER_VPS: number of voxels, at most 16, by which the layer that pushes is outside those that hold
    /// the surface. Default 2: the tool is held 2 to 2.5 voxels above a face along the grid, and no surfaces meet
    /// (McNeely et al. 1999). 0: surfaces meet within a voxel, for parts that fit closely.
    pub layers: u32,
}

/// Durations and time limits of the steps, seconds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_timing {
    /// Steps longer than this are VXS_HAPTICS_BAD_TIME.
    pub longest_step: f64,
    /// Contacts older than `stale_after` are VXS_HAPTICS_STALE, and fade out in the time `fade` after it.
    pub stale_after: f64,
    pub fade: f64,
    /// Time in which the wrench grows from zero, after a reset, a fault or an entry while inside.
    pub ramp: f64,
}

/// Virtual body that the hand moves in admittance causality.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_handle {
    /// Mass, kg.
    pub mass: f64,
    /// Moment of inertia, the same about all axes, kg·m².
    pub inertia: f64,
    /// Damping against all motion, N·s/m and N·m·s/rad.
    pub damping: [f64; 2],
}

/// Bumps on all bodies; their slope turns the force.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_texture {
    /// Height of the bumps, metres. Default 0: none.
    pub height: f64,
    /// Distance from one bump to the next, metres.
    pub wavelength: f64,
}

/// Surface properties for VXS_RENDERER_GOD_OBJECT. Default: smooth, without friction.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_surface {
    /// Coefficient of Coulomb friction, 0 or more.
    pub friction: f64,
    /// Half the width over which normals are averaged for the force, metres; facets narrower than this feel round. 0:
    /// no averaging.
    pub shading: f64,
    pub texture: vxs_haptics_texture,
    /// Height map of the caller's own, felt together with the texture. The function and the memory at `height_user`
    /// must live until `vxs_haptics_release` has returned. Default null: none.
    pub height: vxs_haptics_height_fn,
    pub height_user: *mut c_void,
    /// Distance to each side over which slopes are computed from differences of heights, metres; must be positive if
    /// there is a `height`. Finer bumps are not felt. Default 0.
    pub height_reach: f64,
}

/// Limits of a round of the simulation, for VXS_RENDERER_GOD_OBJECT. The round ends before the substep that would
/// exceed a limit, at the rate of the substeps before. The tool stays at the pose that it has reached, which is as safe
/// as any other, and the status has VXS_HAPTICS_PARTIAL. A round makes at least one substep, so that the tool arrives
/// in later rounds. While bodies move, a round continues until the bodies have reached their poses.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_budget {
    /// Largest number of spheres and samples to test. Default 0: no limit.
    pub max_tests: u64,
    /// Time limit, nanoseconds. The clock is read once per substep, and never without this limit. Default 0: no limit.
    pub max_nanoseconds: u64,
}

/// All settings. Fill it with `vxs_haptics_settings_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_settings {
    /// `sizeof(vxs_haptics_settings)`, set by `vxs_haptics_settings_init`.
    pub struct_size: u32,
    /// One of `VXS_RENDERER_`.
    pub renderer: u32,
    /// Mass of the tool, kg. For VXS_RENDERER_GOD_OBJECT only its ratio to `inertia` matters, and only with
    /// VXS_METRIC_MASS.
    pub mass: f64,
    /// Mass of the simulated tool between the coupling and the contacts, kg; its inertia is in proportion. In free
    /// space the hand feels nothing of it, in contact its inertia beside the contacts' force. Above `mass` it counts as
    /// `mass`. No effect with VXS_RENDERER_GOD_OBJECT. Default: 0.012 (McNeely et al. 1999), or less: `mass`, or what
    /// `limits.damping` still damps critically, but at least 0.001.
    pub reflected_mass: f64,
    /// Centre of mass of the tool, body frame, metres.
    pub center_of_mass: vxs_vec3,
    /// Inertia tensor of the tool about its centre of mass, body axes, kg·m²: xx, yy, zz, xy, xz, yz; entries of the
    /// tensor, as in `vxs_mass_properties`.
    pub inertia: [f64; 6],
    /// Limits of the device. Its wrench is never above `force` and `torque`; the coupling is never stiffer than
    /// `stiffness`.
    pub limits: vxs_haptics_limits,
    pub coupling: vxs_haptics_coupling,
    pub contact: vxs_haptics_contact,
    pub timing: vxs_haptics_timing,
    pub handle: vxs_haptics_handle,
    pub surface: vxs_haptics_surface,
    pub budget: vxs_haptics_budget,
    /// Largest speed at which a hand moves the device, m/s and rad/s of the device: the first is multiplied by the
    /// scale of `vxs_haptics_set_scale`. A faster motion is VXS_HAPTICS_TELEPORT; a faster `twist` is
    /// VXS_HAPTICS_BAD_STATE.
    pub speed: [f64; 2],
    /// Not 0: the passivity controller removes the energy that sampling adds. Default 1.
    pub passivity: u32,
    /// For VXS_RENDERER_GOD_OBJECT: one of `VXS_METRIC_`. Of all motions that the constraints allow, the tool makes the
    /// one that is nearest in this metric to the motion of the hand. Default VXS_METRIC_MASS.
    pub metric: u32,
    /// Number of empty places for bodies, at most 65536, which `vxs_haptics_set_body` fills at run time. Their indices
    /// follow those of the bodies of `vxs_haptics_create`. Default 0.
    pub spare_bodies: u32,
    /// One of `VXS_DETECTION_`, which cannot change at run time; no effect with VXS_RENDERER_VPS. VXS_DETECTION_TRIANGLES is
    /// for VXS_RENDERER_GOD_OBJECT; a shape that `vxs_haptics_set_body` adds later needs `vxs_shape_prepare_triangles` before.
    /// VXS_DETECTION_HULLS is for VXS_RENDERER_PENALTY. Default VXS_DETECTION_EDGES.
    pub detection: u32,
    /// For VXS_DETECTION_HULLS: detail that cannot be felt, metres, as `tolerance` of `vxs_hulls_query`; 0 or more. Default 0:
    /// the original surfaces.
    pub hulls_tolerance: f64,
}

impl Growable for vxs_haptics_settings {
    const ARGUMENT: &'static str = "settings";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = false;

    /// Returns values that `to_core` refuses: each release of the library fills all of its own fields.
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
            reflected_mass: 0.0,
            center_of_mass: vxs_vec3::default(),
            inertia: [0.0; 6],
            limits: unlimited,
            coupling: vxs_haptics_coupling {
                stiffness: [0.0; 2],
                damping: [0.0; 2],
                reach: [0.0; 2],
                point: vxs_vec3::default(),
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
                max_clusters: 0,
                layers: Offset::MCNEELY.layers,
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
            metric: VXS_METRIC_MASS,
            spare_bodies: 0,
            detection: VXS_DETECTION_EDGES,
            hulls_tolerance: 0.0,
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

/// Converts an error of the core; its message then has the C name of the argument.
pub(super) fn renamed(error: Error, name: impl Fn(&str) -> String) -> Failure {
    match error {
        Error::InvalidArgument { argument, value, expected } => Failure::argument(&name(&argument), value, &expected),
        other => other.into(),
    }
}

/// Converts a name: the core's `coupling.reach[0]` becomes `settings->coupling.reach[0]`, and the prefix `tool.` is
/// dropped.
pub(super) fn of_settings(argument: &str) -> String {
    match argument.strip_prefix("tool.") {
        Some("center") => "settings->center_of_mass".into(),
        Some(name) => format!("settings->{name}"),
        None if argument == "contact.source" => "settings->detection".into(),
        None => format!("settings->{argument}"),
    }
}

/// Returns the forms of a shape, with the exact surface if the edges count.
pub(super) fn forms(shape: &Shape, edges: bool) -> Result<Forms, Failure> {
    let coverage = if edges { Coverage::Facets } else { Coverage::Samples };
    let surface = shape.surface_for(coverage)?.cloned();
    let mesh = shape.prepared_locator().cloned();
    let hulls = shape.hulls.clone();
    let (field, shell) = (shape.field.clone(), shape.shell.clone());
    Ok(Forms { field, shell, surface, mesh, hulls, ..Forms::default() })
}

/// The caller's pointer, kept for the threads that pass it back.
pub(super) struct User(pub *mut c_void);

// SAFETY: the library never dereferences the pointer; the contract of the function that gets it names the threads that
// call it.
unsafe impl Send for User {}
unsafe impl Sync for User {}

impl User {
    pub fn pointer(&self) -> *mut c_void {
        self.0
    }
}

impl vxs_haptics_settings {
    fn suiting(renderer: u32, shape: &Shape, mass: f64, limits: Limits) -> Result<Self, Failure> {
        let renderer_of_core = check::choice("renderer", renderer, "VXS_RENDERER_", Renderer::ALL)?;
        check::mass("mass", mass)?;
        let solid = shape.mass.ok_or_else(|| {
            Failure::unsupported("tool has no mass properties; expected one cooked from a mesh that encloses a volume")
        })?;
        let tool = Tool::of_mass(forms(shape, false)?, &solid, mass)?;
        let core = Settings::for_tool(renderer_of_core, &tool, &limits)
            .map_err(|error| renamed(error, |argument| argument.replace('.', "->")))?;
        let (c, k, t, h) = (core.contact, core.coupling, core.timing, core.handle);
        let i = &tool.inertia;
        Ok(Self {
            renderer,
            mass,
            reflected_mass: core.reflected_mass,
            center_of_mass: tool.center.into(),
            inertia: [i.m11, i.m22, i.m33, i.m12, i.m13, i.m23],
            limits: core.limits.into(),
            coupling: vxs_haptics_coupling {
                stiffness: k.stiffness,
                damping: k.damping,
                reach: k.reach,
                point: k.point.into(),
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
                max_clusters: c.max_clusters,
                layers: Offset::MCNEELY.layers,
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
            metric: METRICS.iter().position(|m| *m == core.metric).unwrap_or_default() as u32,
            ..Self::defaults()
        })
    }

    /// Returns whether the edges of bodies are tested.
    pub(super) fn edges(&self) -> bool {
        let renderer = Renderer::ALL.get(self.renderer as usize);
        self.detection == VXS_DETECTION_EDGES && renderer.is_some_and(|renderer| renderer.uses_surface())
    }

    fn source(&self) -> Result<ContactSource, Failure> {
        let tolerance = check::length_or_zero("settings->hulls_tolerance", self.hulls_tolerance)?;
        if self.detection != VXS_DETECTION_HULLS {
            return Ok(ContactSource::Samples);
        }
        if self.renderer != VXS_RENDERER_PENALTY {
            let expected = "another of VXS_DETECTION_, because settings->renderer is not VXS_RENDERER_PENALTY";
            return Err(Failure::argument("settings->detection", self.detection, expected));
        }
        Ok(ContactSource::Hulls { tolerance })
    }

    /// Returns the place of the force layer of voxels.
    pub(super) fn offset(&self) -> Result<Offset, Failure> {
        match self.contact.layers {
            layers @ 0..=16 => Ok(Offset { layers, ..Offset::MCNEELY }),
            layers => Err(Failure::argument("settings->contact.layers", layers, "0 to 16")),
        }
    }

    pub(super) fn to_core(self) -> Result<Settings, Failure> {
        let s = self;
        let core = Settings {
            renderer: check::choice("settings->renderer", s.renderer, "VXS_RENDERER_", Renderer::ALL)?,
            reflected_mass: s.reflected_mass,
            coupling: Coupling {
                stiffness: s.coupling.stiffness,
                damping: s.coupling.damping,
                reach: s.coupling.reach,
                point: Vec3::new(s.coupling.point.x, s.coupling.point.y, s.coupling.point.z),
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
                max_clusters: s.contact.max_clusters,
                tolerance: s.contact.tolerance,
                restitution: s.contact.restitution,
                braking: s.contact.braking != 0,
                source: s.source()?,
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
            detection: check::choice("settings->detection", s.detection, "VXS_DETECTION_", &DETECTIONS)?,
            metric: check::choice("settings->metric", s.metric, "VXS_METRIC_", &METRICS)?,
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

    /// Returns the caller's own height map, if there is one.
    pub(super) fn height_map(&self) -> Result<Option<HeightMap>, Failure> {
        let Some(height) = self.surface.height else { return Ok(None) };
        let user = User(self.surface.height_user);
        let height = move |body: u32, p: &Vec3| {
            let point = vxs_vec3::from(*p);
            // SAFETY: the function accepts any body and point, on any thread, by its contract.
            let given = panics::outside(|| unsafe { height(body as usize, &point, user.pointer()) });
            session::height(given);
            given
        };
        let made = HeightMap::new(Arc::new(height), self.surface.height_reach);
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

/// Fills `settings` with values for a tool and a device: a coupling as stiff as the device allows, but critically
/// damped for the tool; contacts much stiffer than the coupling; forces that saturate at the device's limit. A device
/// without a limit of force gets the force at 0.01 m of the world; torques saturate at 1 rad at the latest.
///
/// @param[out] settings  the struct to fill
/// @param size           `sizeof(vxs_haptics_settings)`
/// @param renderer       one of `VXS_RENDERER_`
/// @param tool           the tool in the hand; gives the size and the distribution of mass
/// @param mass           mass of the tool, kg
/// @param limits         limits of the device, in the world's scale; null: none
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
