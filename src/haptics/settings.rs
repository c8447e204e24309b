//! Settings of a pair of haptic halves.

use super::god_object::{Budget, Detection, Metric};
use super::shading::Surface;
use super::{Coupling, Limits, Renderer, Saturation, Tool};
use voxshell_base::math::{limits, Vec3};
use voxshell_base::{Error, Result};

/// Where [`Renderer::Penalty`] takes its contacts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactSource {
    /// Samples of one body in the field of the other.
    Samples,
    /// Convex pieces of both bodies ([`Forms::hulls`](super::Forms::hulls)), at the level of detail that can be felt:
    /// `tolerance` is the largest deviation of the surface, weighted by the size of the detail against the contact area,
    /// metres (Otaduy & Lin 2003; [`HullQuery::tolerance`](voxshell_contact::HullQuery::tolerance)).
    Hulls { tolerance: f64 },
}

/// Contacts between the simulated tool and other bodies. The hand feels them through the coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// Stiffness of each contact, N/m. With it the coupling saturates at half a voxel: see [`Settings::saturated`].
    pub stiffness: f64,
    /// Damping of each contact along its normal, N·s/m.
    pub damping: f64,
    /// φ at which a force begins, metres: with a positive offset, forces act before surfaces touch.
    pub offset: f64,
    /// From this number of contacts on, with all obstacles together, their forces are averaged, so that the stiffness
    /// no longer grows with the number of samples (McNeely et al. 1999, section 5.2).
    pub average_from: u32,
    /// For [`Renderer::Penalty`]: if positive, each obstacle pushes at this number of contacts at most. They stand for
    /// all contacts, in clusters by k-means over positions and normals, and each is as deep as the deepest contact of
    /// its cluster (Otaduy & Lin 2005, section 6.1), so that the stiffness does not depend on the sampling. At most
    /// [`MOST_CLUSTERS`]. 0: every sample pushes.
    pub max_clusters: u32,
    /// Samples deeper than this below the surface are reported as [`Status::PENETRATING`](super::Status::PENETRATING),
    /// metres.
    pub tolerance: f64,
    /// For [`Renderer::Impulse`]: the fraction of an approach speed that is returned, 0 to 1.
    pub restitution: f64,
    /// For [`Renderer::Vps`]: whether an approach is braked in the proximity layer (McNeely et al. 1999, section 5.3).
    pub braking: bool,
    /// For [`Renderer::Penalty`].
    pub source: ContactSource,
}

/// Upper limit of [`ContactSettings::max_clusters`]: the search for clusters takes time proportional to the product of
/// contacts and clusters.
pub const MOST_CLUSTERS: u32 = 1024;

/// Time limits, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Steps longer than this are refused.
    pub longest_step: f64,
    /// Contacts older than this are stale.
    pub stale_after: f64,
    /// Time in which the wrench of stale contacts fades out.
    pub fade: f64,
    /// Time in which the wrench grows from zero after a reset or a fault. In each step it rises by at most as much as
    /// an even ramp to the present wrench, so it takes longer if the force itself grows in the meantime. If the tool is
    /// inside at the start, springs first ease it out in the same time.
    pub ramp: f64,
}

/// The virtual body that the hand moves in admittance causality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handle {
    /// Inertia about the tool's centre of mass, isotropic, kg·m².
    pub mass: f64,
    /// Inertia about the tool's centre of mass, isotropic, kg·m².
    pub inertia: f64,
    /// Damping of all motion, N·s/m and N·m·s/rad.
    pub damping: [f64; 2],
}

/// All settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub renderer: Renderer,
    /// Mass of the simulated tool between the coupling and the contacts, kg; its inertia is in proportion. In free space
    /// the hand feels nothing of it, in contact its inertia beside the contacts' force. Not above the tool's
    /// mass, which counts then. No effect with [`Renderer::GodObject`].
    pub reflected_mass: f64,
    pub coupling: Coupling,
    pub contact: ContactSettings,
    pub limits: Limits,
    /// Largest speed at which a hand moves the device, m/s and rad/s of the device: in the world, the first is
    /// multiplied by the workspace's scale ([`Monitor::set_scale`](super::Monitor::set_scale)). A faster motion, judged
    /// over at least [`JUMP_WINDOW`](super::JUMP_WINDOW), is a fault.
    pub speed: [f64; 2],
    pub timing: Timing,
    pub handle: Handle,
    /// Whether the passivity controller is on: it removes the energy that sampling added.
    pub passivity: bool,
    /// For [`Renderer::GodObject`].
    pub detection: Detection,
    /// For [`Renderer::GodObject`]: metric of its motion along constraints.
    pub metric: Metric,
    /// For [`Renderer::GodObject`]: limits of the cost of a simulation round.
    pub budget: Budget,
    /// For [`Renderer::GodObject`]: surface effects.
    pub surface: Surface,
}

impl Settings {
    /// "We operated at a small reflected mass of 12 g" (McNeely et al. 1999, section 5.1), kg.
    pub const REFLECTED_MASS: f64 = 0.012;

    /// Returns settings for a tool and a device: the coupling is as stiff as the device allows and critically damped,
    /// contacts are much stiffer than the coupling, and forces saturate at the device's limits. The reflected mass is
    /// [`Settings::REFLECTED_MASS`], or less: that of the tool, or the largest that the device's damping still damps
    /// critically, down to a gram.
    ///
    /// # Errors
    /// `InvalidArgument` for a tool or limits out of their range.
    pub fn for_tool(renderer: Renderer, tool: &Tool, limits: &Limits) -> Result<Self> {
        tool.check()?;
        check_limits(limits)?;
        let reach = tool.lever();
        let inertia = tool.inertia.trace() / 3.0;
        let linear = limits.stiffness[0].min(1000.0);
        // A force at the tool's outline then causes the same deflection in rotation as in translation.
        let stiffness = [linear, limits.stiffness[1].min(linear * reach * reach)];
        let critical = [0, 1].map(|i| limits.damping[i].powi(2) / (4.0 * stiffness[i]));
        let least = 1e-3f64.min(tool.mass);
        let reflected = critical[0].min(critical[1] * (tool.mass / inertia)).min(Self::REFLECTED_MASS).min(tool.mass);
        let reflected = reflected.max(least);
        let body = [reflected, inertia * (reflected / tool.mass)];
        let damping = [0, 1].map(|i| Coupling::critical_damping(stiffness[i], body[i]).min(limits.damping[i]));
        // A device without a limit gets the force at 0.01 m of the world. With a limit, the force of the device counts,
        // whatever the workspace's scale makes of the stiffness. Rotations have no scale: the torque at 1 rad at most.
        let force = if limits.force.is_finite() { limits.force } else { stiffness[0] * 0.01 };
        let greatest = [force, limits.torque.min(stiffness[1] * 1.0)];
        let coupling = Coupling {
            stiffness,
            damping,
            saturation: Saturation::Cubic,
            reach: [greatest[0] / stiffness[0], greatest[1] / stiffness[1]],
            point: tool.center,
        };
        let hard = 10.0 * stiffness[0];
        let spacing = tool.forms.shell.as_ref().map_or(1e-3, |shell| f64::from(shell.spacing)).max(1e-4);
        Ok(Self {
            renderer,
            reflected_mass: reflected,
            coupling,
            contact: ContactSettings {
                stiffness: hard,
                damping: 0.1 * Coupling::critical_damping(hard, reflected),
                offset: 0.0,
                average_from: 10,
                max_clusters: 0,
                tolerance: spacing,
                restitution: 0.0,
                braking: true,
                source: ContactSource::Samples,
            },
            limits: *limits,
            speed: [10.0, 60.0],
            timing: Timing { longest_step: 0.05, stale_after: 0.04, fade: 0.04, ramp: 0.1 },
            handle: Handle { mass: tool.mass.max(0.1), inertia: inertia.max(1e-4), damping: [0.1, 1e-3] },
            passivity: true,
            detection: Detection::Continuous,
            metric: Metric::Mass,
            budget: Budget::UNLIMITED,
            surface: Surface::default(),
        })
    }

    /// Returns these settings with a coupling that cannot press a contact deeper than half a voxel. Its force saturates
    /// at F = 0.9 k s/2 at most, with k the stiffness of a contact and s the edge of the smallest `voxel`, metres: k s/2
    /// is the force that one contact bears in that depth, "the worst case" (McNeely et al. 1999, section 5.2; Xu &
    /// Barbič 2016, section 4.1), and the tenth is for contacts at an angle to the pull. Its torque saturates at F times
    /// half the diagonal of the tool's box. [`Saturation::Linear`] stays.
    pub fn saturated(&self, tool: &Tool, voxel: f64) -> Self {
        let force = 0.9 * self.contact.stiffness * 0.5 * voxel;
        let most = [force, force * tool.lever()];
        let reach =
            [0, 1].map(|i| self.coupling.reach[i].min(most[i] / self.coupling.stiffness[i]).max(limits::MIN_QUANTITY));
        Self { coupling: Coupling { reach, ..self.coupling }, ..*self }
    }

    /// # Errors
    /// `InvalidArgument` that names the field, its value and what was expected.
    pub fn check(&self) -> Result<()> {
        positive("reflected_mass", self.reflected_mass)?;
        self.coupling.check()?;
        check_limits(&self.limits)?;
        for (name, values, most) in [
            ("stiffness", self.coupling.stiffness, self.limits.stiffness),
            ("damping", self.coupling.damping, self.limits.damping),
        ] {
            for i in [0, 1] {
                if values[i] > most[i] {
                    let expected = format!("at most limits.{name}[{i}], {}", most[i]);
                    return Err(Error::argument(format!("coupling.{name}[{i}]"), values[i], expected));
                }
            }
        }
        let c = &self.contact;
        positive("contact.stiffness", c.stiffness)?;
        not_negative("contact.damping", c.damping)?;
        not_negative("contact.tolerance", c.tolerance)?;
        if !limits::is_coordinate(c.offset) {
            let expected = "a finite length of at most 1e18 m";
            return Err(Error::argument("contact.offset", limits::Shown(c.offset), expected));
        }
        if c.average_from == 0 {
            return Err(Error::argument("contact.average_from", 0, "at least 1"));
        }
        if c.max_clusters > MOST_CLUSTERS {
            return Err(Error::argument("contact.max_clusters", c.max_clusters, format!("0 to {MOST_CLUSTERS}")));
        }
        if !(0.0..=1.0).contains(&c.restitution) {
            return Err(Error::argument("contact.restitution", c.restitution, "0 to 1"));
        }
        if let ContactSource::Hulls { tolerance } = c.source {
            not_negative("contact.source.tolerance", tolerance)?;
            if c.offset < 0.0 {
                return Err(Error::argument("contact.offset", limits::Shown(c.offset), "at least 0 with hulls"));
            }
        }
        positive("speed[0]", self.speed[0])?;
        positive("speed[1]", self.speed[1])?;
        let t = &self.timing;
        for (name, value) in [
            ("timing.longest_step", t.longest_step),
            ("timing.stale_after", t.stale_after),
            ("timing.fade", t.fade),
            ("timing.ramp", t.ramp),
        ] {
            positive(name, value)?;
        }
        self.surface.check()?;
        positive("handle.mass", self.handle.mass)?;
        positive("handle.inertia", self.handle.inertia)?;
        not_negative("handle.damping[0]", self.handle.damping[0])?;
        not_negative("handle.damping[1]", self.handle.damping[1])
    }
}

fn positive(name: &str, value: f64) -> Result<()> {
    match limits::is_positive_quantity(value) {
        true => Ok(()),
        false => Err(Error::argument(name, limits::Shown(value), "a positive, finite number, 1e-30 to 1e18")),
    }
}

fn not_negative(name: &str, value: f64) -> Result<()> {
    match value >= 0.0 && limits::is_quantity(value) {
        true => Ok(()),
        false => Err(Error::argument(name, limits::Shown(value), "a finite number, 0 to 1e18")),
    }
}

fn check_limits(limits: &Limits) -> Result<()> {
    let Limits { force, torque, stiffness, damping } = limits;
    for (name, value) in [
        ("limits.force", *force),
        ("limits.torque", *torque),
        ("limits.stiffness[0]", stiffness[0]),
        ("limits.stiffness[1]", stiffness[1]),
        ("limits.damping[0]", damping[0]),
        ("limits.damping[1]", damping[1]),
    ] {
        if value.is_nan() || value < limits::MIN_QUANTITY {
            let expected = "a positive number of at least 1e-30, infinity for none";
            return Err(Error::argument(name, limits::Shown(value), expected));
        }
    }
    Ok(())
}

/// Returns the largest factor, up to 1, that keeps a vector within a length.
pub(super) fn within(v: &Vec3, most: f64) -> f64 {
    let length = v.norm();
    if length > most {
        // Smaller by more than rounding can add, here and where the length is computed again.
        most / length * (1.0 - 4.0 * f64::EPSILON)
    } else {
        1.0
    }
}
