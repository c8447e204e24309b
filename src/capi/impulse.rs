//! Contact impulses, for callers with a simulation loop of their own.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query::vxs_workspace;
use super::query_options::{ROLES_OF_FORCES, VXS_ROLES_AUTO};
use super::response::{dynamic_body, vxs_dynamic_body, vxs_wrench};
use super::status::*;
use super::types::*;
use crate::contact::{self, Query};
use crate::math::Mat3;
use crate::response::{self, ImpulseSettings, Impulses, Mobility};

/// Response of a body to an impulse. All fields are zero for an immovable body.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_mobility {
    /// Inverse of the mass, 1/kg.
    pub inverse_mass: f64,
    /// Inverse of the inertia tensor about `center` of the body's kinematics, world axes: xx, yy, zz, xy, xz, yz; 1/(kg·m²).
    pub inverse_inertia: [f64; 6],
}

/// Settings of the impulses that separate two bodies. Fill it with `vxs_impulse_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_impulse {
    /// `sizeof(vxs_impulse)`, set by `vxs_impulse_init`.
    pub struct_size: u32,
    /// Largest number of impulses, each on one contact, 1 to VXS_MAX_ITERATIONS. Default 64.
    pub iterations: u32,
    /// Step in which the bodies have to leave their contacts, seconds.
    pub dt: f64,
    /// Coefficient of restitution: the fraction of the approach velocity that is returned, 0 to 1. Default 0.
    pub restitution: f64,
    /// Largest speed at which bodies are pushed out of each other, m/s, however deep they are. 0, the default: no
    /// limit.
    pub max_speed: f64,
    /// Largest separation of the contacts considered, metres: the reach of the step's motion. Default 0.
    pub max_separation: f64,
    /// VXS_ROLES_AUTO (the default), VXS_ROLES_SHELL_OF_A, VXS_ROLES_SHELL_OF_B or VXS_ROLES_BOTH: which body brings the
    /// samples.
    pub roles: u32,
    /// Zero.
    pub reserved: u32,
}

/// Impulses on two bodies.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_impulses {
    /// Impulse on each body about its `center`: N·s, N·m·s. Divided by the step, it is a load.
    pub on_a: vxs_wrench,
    pub on_b: vxs_wrench,
    /// Number of impulses on contacts; a contact counts each time that it gets one.
    pub count: u32,
    /// 1 if no contact is left that needs an impulse, else 0.
    pub resolved: u32,
}

impl Growable for vxs_impulse {
    const ARGUMENT: &'static str = "impulse";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        let ImpulseSettings { iterations, dt, restitution, .. } = ImpulseSettings::new(0.0);
        Self {
            struct_size: 0,
            iterations,
            dt,
            restitution,
            max_speed: 0.0,
            max_separation: 0.0,
            roles: VXS_ROLES_AUTO,
            reserved: 0,
        }
    }
}

impl vxs_impulse {
    pub(super) fn to_core(self) -> Result<ImpulseSettings, Failure> {
        let max_speed = check::not_negative("impulse->max_speed", self.max_speed)?;
        Ok(ImpulseSettings {
            dt: check::seconds("impulse->dt", self.dt)?,
            restitution: check::in_range("impulse->restitution", self.restitution, 0.0, 1.0)?,
            max_speed: if max_speed > 0.0 { max_speed } else { f64::INFINITY },
            iterations: check::in_range("impulse->iterations", self.iterations, 1, VXS_MAX_ITERATIONS)?,
        })
    }
}

pub(super) unsafe fn mobility(argument: &str, pointer: *const vxs_mobility) -> Result<Mobility, Failure> {
    let given = check::input(argument, pointer)?;
    let [xx, yy, zz, xy, xz, yz] = given.inverse_inertia;
    for (i, value) in given.inverse_inertia.into_iter().enumerate() {
        let name = format_args!("{argument}->inverse_inertia[{i}]");
        match i < 3 {
            true => check::not_negative(name, value)?,
            false => check::quantity(name, value)?,
        };
    }
    check::not_negative(format_args!("{argument}->inverse_mass"), given.inverse_mass)?;
    Ok(Mobility { inverse_mass: given.inverse_mass, inverse_inertia: Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) })
}

impl From<Impulses> for vxs_impulses {
    fn from(i: Impulses) -> Self {
        Self { on_a: i.on_a.into(), on_b: i.on_b.into(), count: i.count, resolved: i.resolved.into() }
    }
}

/// Fills `impulse` with the defaults: no restitution.
///
/// @param[out] impulse  the struct to fill
/// @param size          `sizeof(vxs_impulse)`
/// @param dt            step in which the bodies have to leave their contacts, seconds, positive
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, a number out of range)
#[no_mangle]
pub unsafe extern "C" fn vxs_impulse_init(impulse: *mut vxs_impulse, size: usize, dt: f64) -> vxs_status {
    entry!(vxs_impulse_init, [], {
        let dt = check::seconds("dt", dt)?;
        check::init(impulse, size, vxs_impulse { dt, ..vxs_impulse::defaults() })
    })
}

/// Computes the impulses that separate two bodies, deepest contact first (Ruffaldi et al. 2008, section 3.3). Among the
/// contacts that the motion itself does not leave in the next step, the deepest one gets the impulse after which the
/// motion leaves it, and the impulse changes the velocities. This repeats until no such contact is left. An impulse
/// resolves most of the neighbouring contacts too.
///
/// Impulses only push, along the contacts' normals. Once the workspace is warm, the query allocates nothing and takes
/// no lock; the same input gives the same bytes.
///
/// @param a, b                    the two bodies; their shapes may be the same; `center` is the centre of mass
/// @param mobility_a, mobility_b  response of each body to impulses
/// @param impulse                 settings of the impulses
/// @param workspace               this thread's scratch
/// @param[out] impulses           impulse on each body
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_impulse(
    a: *const vxs_dynamic_body,
    mobility_a: *const vxs_mobility,
    b: *const vxs_dynamic_body,
    mobility_b: *const vxs_mobility,
    impulse: *const vxs_impulse,
    workspace: *mut vxs_workspace,
    impulses: *mut vxs_impulses,
) -> vxs_status {
    entry!(
        fast(vxs_query_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b) = (dynamic_body("a", a)?, dynamic_body("b", b)?);
            let (at_a, at_b) = (&a.kinematics, &b.kinematics);
            let (of_a, of_b) = (mobility("mobility_a", mobility_a)?, mobility("mobility_b", mobility_b)?);
            let given = vxs_impulse::read(impulse)?;
            let settings = given.to_core()?;
            let max_separation = check::coordinate("impulse->max_separation", given.max_separation)?;
            check::in_range("impulse->reserved", given.reserved, 0, 0)?;
            let roles = check::choice("impulse->roles", given.roles, "VXS_ROLES_", &ROLES_OF_FORCES)?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("impulses", impulses)?;
            let mut scratch = scratch.lock("workspace")?;
            let query = Query { roles, max_separation, ..Query::default() };
            let found =
                contact::contacts(a.geometry, &at_a.pose, b.geometry, &at_b.pose, &query, &mut scratch.contact)?;
            check::write(impulses, response::impulse(found, (at_a, &of_a), (at_b, &of_b), &settings).into())
        }
    )
}
