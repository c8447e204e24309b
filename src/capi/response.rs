//! From contacts to forces, for those with a loop of their own.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::haptics_types::*;
use super::status::*;
use super::types::*;
use crate::contact::{self, Query};
use crate::math::{Mat6, Vec3};
use crate::response::{self, Body, Kinematics, On, PenaltySettings, Response};

/// Where a body is and how it moves, world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_kinematics {
    /// Body to world.
    pub pose: vxs_pose,
    /// The point that the wrench is about, and that `twist.linear` is of, usually the centre of mass: world frame, metres.
    pub center: vxs_vec3,
    pub twist: vxs_twist,
}

/// What contacts do to a body. The matrices are by rows: force or translation first, torque or rotation second.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_response {
    /// About the body's `center`.
    pub wrench: vxs_wrench,
    /// How the wrench changes with a translation of the centre and a rotation vector about it: N/m, N/rad, N·m/m, N·m/rad.
    pub by_pose: [f64; 36],
    /// And with the body's linear and angular velocity: N·s/m and so on.
    pub by_twist: [f64; 36],
}

/// How hard contacts are. Fill it with `vxs_penalty_init`, then change what you want.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_penalty {
    /// `sizeof(vxs_penalty)`, set by `vxs_penalty_init`.
    pub struct_size: u32,
    /// From this many contacts on, the sum of all forces is the average times this number. Default 4294967295: always the sum.
    pub average_from: u32,
    /// Of each contact, N/m.
    pub stiffness: f64,
    /// Of each contact, against what two bodies move through each other along the force, N·s/m. A contact never pulls.
    pub damping: f64,
    /// Of each contact, against all relative velocity there, N·s/m. Default 0.
    pub drag: f64,
    /// Signed distance at which a force begins, metres. Default 0.
    pub offset: f64,
}

impl Growable for vxs_penalty {
    const ARGUMENT: &'static str = "penalty";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        let core = PenaltySettings::new(0.0, 0.0);
        Self {
            struct_size: 0,
            average_from: core.average_from,
            stiffness: core.stiffness,
            damping: core.damping,
            drag: core.drag,
            offset: core.offset,
        }
    }
}

fn not_negative(argument: &str, value: f64) -> Result<f64, Failure> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Failure::argument(argument, value, "a finite number, 0 or more")),
    }
}

impl vxs_penalty {
    fn to_core(self) -> Result<PenaltySettings, Failure> {
        Ok(PenaltySettings {
            stiffness: not_negative("penalty->stiffness", self.stiffness)?,
            damping: not_negative("penalty->damping", self.damping)?,
            drag: not_negative("penalty->drag", self.drag)?,
            offset: check::finite("penalty->offset", self.offset)?,
            average_from: check::in_range("penalty->average_from", self.average_from, 1, u32::MAX)?,
        })
    }
}

unsafe fn kinematics(argument: &str, pointer: *const vxs_kinematics) -> Result<Kinematics, Failure> {
    let k = check::input(argument, pointer)?;
    let part =
        |name: &str, v: vxs_vec3| -> Result<Vec3, Failure> { check::vec3(format_args!("{argument}->{name}"), v) };
    Ok(Kinematics {
        pose: check::pose_value(format_args!("{argument}->pose."), &k.pose)?,
        center: part("center", k.center)?,
        twist: crate::math::Twist {
            linear: part("twist.linear", k.twist.linear)?,
            angular: part("twist.angular", k.twist.angular)?,
        },
    })
}

fn rows(m: &Mat6) -> [f64; 36] {
    std::array::from_fn(|i| m[(i / 6, i % 6)])
}

impl From<Response> for vxs_response {
    fn from(r: Response) -> Self {
        Self { wrench: r.wrench.into(), by_pose: rows(&r.by_pose), by_twist: rows(&r.by_twist) }
    }
}

/// Fills `penalty` with springs and dampers that begin at the surface, and whose forces are summed.
///
/// @param[out] penalty  what to fill
/// @param size          `sizeof(vxs_penalty)`
/// @param stiffness     of each contact, N/m, 0 or more
/// @param damping       of each contact, N·s/m, 0 or more
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, a number out of range)
#[no_mangle]
pub unsafe extern "C" fn vxs_penalty_init(
    penalty: *mut vxs_penalty,
    size: usize,
    stiffness: f64,
    damping: f64,
) -> vxs_status {
    entry!(vxs_penalty_init, [], {
        let (stiffness, damping) = (not_negative("stiffness", stiffness)?, not_negative("damping", damping)?);
        check::init(penalty, size, vxs_penalty { stiffness, damping, ..vxs_penalty::defaults() })
    })
}

/// The penalty forces of the contacts of two bodies, with their gradients by the pose and twist of the body that they act on.
///
/// A contact deeper than the offset by d pushes with stiffness·d, less the damping, along the inward normal of its sample
/// (Sagardia et al. 2014; Xu & Barbič 2016, section 4.1). The gradients are those of the sum, with the other body held; they
/// jump only where contacts begin and end, and between cells of a grid. Once the workspace is warm, allocates nothing and takes
/// no lock; the same input gives the same bytes.
///
/// @param a, b                      immutable and shared: any number of threads may query them at once; may be the same
/// @param kinematics_a, kinematics_b  metres, m/s, rad/s; unit quaternions (checked to 1e-6)
/// @param penalty                   how hard contacts are
/// @param workspace                 this thread's scratch
/// @param[out] on_a, on_b           what the contacts do to each; either may be null
/// @param[out] count                how many contacts there are; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_penalty(
    a: *const vxs_shape,
    kinematics_a: *const vxs_kinematics,
    b: *const vxs_shape,
    kinematics_b: *const vxs_kinematics,
    penalty: *const vxs_penalty,
    workspace: *mut vxs_workspace,
    on_a: *mut vxs_response,
    on_b: *mut vxs_response,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_query_penalty, [a, b, workspace], {
        let (a, b) = (handle::get("a", a)?.geometry(), handle::get("b", b)?.geometry());
        let a = Body { geometry: a, kinematics: kinematics("kinematics_a", kinematics_a)? };
        let b = Body { geometry: b, kinematics: kinematics("kinematics_b", kinematics_b)? };
        let settings = vxs_penalty::read(penalty)?.to_core()?;
        let scratch = handle::get("workspace", workspace)?;
        check::out_optional("on_a", on_a)?;
        check::out_optional("on_b", on_b)?;
        check::out_optional("count", count)?;
        let mut scratch = scratch.lock("workspace")?;
        let query = Query { max_separation: settings.offset, ..Query::default() };
        let (pose_a, pose_b) = (&a.kinematics.pose, &b.kinematics.pose);
        let found = contact::contacts(a.geometry, pose_a, b.geometry, pose_b, &query, &mut scratch.contact)?;
        for (out, on) in [(on_a, On::A), (on_b, On::B)] {
            if !out.is_null() {
                out.write(response::penalty(found, &a, &b, on, &settings).into());
            }
        }
        if !count.is_null() {
            count.write(found.len());
        }
        Ok(VXS_OK)
    })
}
