//! Contact forces, for callers with a simulation loop of their own.

use std::fmt::Arguments;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::motion::{motion_value, vxs_motion};
use super::query::{vxs_workspace, Scratch};
use super::query_options::{ROLES_OF_FORCES, VXS_ROLES_AUTO};
use super::status::*;
use super::types::*;
use crate::ccd::impact;
use crate::contact::{self, Geometry, Query, Roles};
use crate::math::{Mat6, Twist};
use crate::response::{self, Body, ClusterSettings, ContinuousSettings, Kinematics, On, PenaltySettings};
use crate::response::{Response, Sweep};

/// Velocity of a body, world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vxs_twist {
    /// Velocity of the body's origin, or of the point that the containing struct names, m/s.
    pub linear: vxs_vec3,
    /// Angular velocity, rad/s.
    pub angular: vxs_vec3,
}

/// Force and torque on a body, world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vxs_wrench {
    /// Force, N.
    pub force: vxs_vec3,
    /// Torque about the body's origin, or about the point that the containing struct names, N·m.
    pub torque: vxs_vec3,
}

/// Pose and velocity of a body, world frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_kinematics {
    /// Body to world.
    pub pose: vxs_pose,
    /// Reference point of the wrench and of `twist.linear`, usually the centre of mass: world frame, metres.
    pub center: vxs_vec3,
    pub twist: vxs_twist,
}

/// A shape with its pose and velocity.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_dynamic_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub shape: *const vxs_shape,
    /// Unit quaternion (checked to 1e-6).
    pub kinematics: vxs_kinematics,
}

/// Effect of contacts on a body. The matrices are stored by rows: force or translation first, torque or rotation
/// second.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_response {
    /// Wrench about the body's `center`.
    pub wrench: vxs_wrench,
    /// Gradient of the wrench by a translation of the centre and a rotation vector about it: N/m, N/rad, N·m/m,
    /// N·m/rad.
    pub by_pose: [f64; 36],
    /// Gradient of the wrench by the body's linear and angular velocity: N·s/m and so on.
    pub by_twist: [f64; 36],
}

/// Penalty law of contacts. Fill it with `vxs_penalty_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_penalty {
    /// `sizeof(vxs_penalty)`, set by `vxs_penalty_init`.
    pub struct_size: u32,
    /// From this number of contacts on, the sum of all forces is the average times this number. Default 4294967295:
    /// always the sum.
    pub average_from: u32,
    /// Stiffness of each contact, N/m.
    pub stiffness: f64,
    /// Damping of each contact, N·s/m, against the relative velocity of the two bodies along the force. A contact never
    /// pulls.
    pub damping: f64,
    /// Drag of each contact, N·s/m, against all relative velocity at the contact. Default 0.
    pub drag: f64,
    /// Signed distance at which the force begins, metres. Default 0.
    pub offset: f64,
    /// Largest number of clusters. The contacts are first combined into clusters by k-means over positions and normals
    /// (Otaduy & Lin 2005), and each cluster pushes along its own normal, so that stiffness does not grow with the
    /// number of samples. Default 0: every sample pushes. Not for continuous penalty forces.
    pub max_clusters: u32,
    /// For continuous penalty forces: points of the midpoint rule in each interval of contact. Default 5.
    pub midpoints: u32,
    /// Contacts nearer to each other than this, metres, are not separated into clusters; normals that differ by a right
    /// angle count as this far apart. 0, the default: four times the larger distance between samples of the two shapes.
    pub cluster_radius: f64,
    /// VXS_ROLES_AUTO (the default), VXS_ROLES_SHELL_OF_A, VXS_ROLES_SHELL_OF_B or VXS_ROLES_BOTH: which body brings the
    /// samples. With both, the samples of each body push (Xu & Barbič 2014, section 5): twice as many contacts.
    pub roles: u32,
    /// Zero.
    pub reserved: u32,
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
            max_clusters: 0,
            midpoints: ContinuousSettings::new(core).midpoints,
            cluster_radius: 0.0,
            roles: VXS_ROLES_AUTO,
            reserved: 0,
        }
    }
}

impl vxs_penalty {
    fn to_core(self) -> Result<PenaltySettings, Failure> {
        Ok(PenaltySettings {
            stiffness: check::not_negative("penalty->stiffness", self.stiffness)?,
            damping: check::not_negative("penalty->damping", self.damping)?,
            drag: check::not_negative("penalty->drag", self.drag)?,
            offset: check::coordinate("penalty->offset", self.offset)?,
            average_from: check::in_range("penalty->average_from", self.average_from, 1, u32::MAX)?,
        })
    }

    fn roles(&self) -> Result<Roles, Failure> {
        check::in_range("penalty->reserved", self.reserved, 0, 0)?;
        check::choice("penalty->roles", self.roles, "VXS_ROLES_", &ROLES_OF_FORCES)
    }

    /// Returns the settings of the clusters; `None` if every sample pushes.
    fn clusters(&self, a: &Geometry, b: &Geometry) -> Result<Option<ClusterSettings>, Failure> {
        let given = check::length_or_zero("penalty->cluster_radius", self.cluster_radius)?;
        let max_clusters = check::in_range("penalty->max_clusters", self.max_clusters, 0, MOST_CLUSTERS)?;
        let spacing = |geometry: &Geometry| geometry.shell.map_or(0.0, |shell| f64::from(shell.spacing));
        let radius = if given > 0.0 { given } else { 4.0 * spacing(a).max(spacing(b)) };
        let settings = ClusterSettings { max_clusters: max_clusters as usize, radius, max_separation: self.offset };
        Ok((max_clusters > 0).then_some(settings))
    }
}

/// The search for clusters takes time proportional to the product of contacts and clusters.
const MOST_CLUSTERS: u32 = 1024;

/// Motion of a body over a step.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_sweep {
    /// Body to world, at the start and at the end.
    pub motion: vxs_motion,
    /// Reference point of the wrench and of `twist.linear`: body frame, metres.
    pub center: vxs_vec3,
    /// Velocity over the whole step, world frame.
    pub twist: vxs_twist,
}

/// A shape with its motion over a step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_swept_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub shape: *const vxs_shape,
    /// Unit quaternions (checked to 1e-6).
    pub sweep: vxs_sweep,
}

unsafe fn swept_body<'a>(argument: &str, body: *const vxs_swept_body) -> Result<Sweep<'a>, Failure> {
    let body = check::input(argument, body)?;
    let geometry = handle::get(format_args!("{argument}->shape"), body.shape)?.geometry();
    let sweep = body.sweep;
    let moving = motion_value(format_args!("{argument}->sweep.motion."), geometry, &sweep.motion)?;
    let center = check::point(format_args!("{argument}->sweep.center"), sweep.center)?;
    let twist = twist(format_args!("{argument}->sweep"), &sweep.twist)?;
    Ok(Sweep { geometry, poses: [moving.from, moving.to], center, twist })
}

pub(super) fn twist(argument: Arguments, twist: &vxs_twist) -> Result<Twist, Failure> {
    Ok(Twist {
        linear: check::quantities(format_args!("{argument}.twist.linear"), twist.linear)?,
        angular: check::quantities(format_args!("{argument}.twist.angular"), twist.angular)?,
    })
}

pub(super) unsafe fn dynamic_body<'a>(argument: &str, body: *const vxs_dynamic_body) -> Result<Body<'a>, Failure> {
    let body = check::input(argument, body)?;
    let geometry = handle::get(format_args!("{argument}->shape"), body.shape)?.geometry();
    let kinematics = kinematics(format_args!("{argument}->kinematics"), &body.kinematics)?;
    Ok(Body { geometry, kinematics })
}

pub(super) fn kinematics(argument: Arguments, k: &vxs_kinematics) -> Result<Kinematics, Failure> {
    Ok(Kinematics {
        pose: check::pose_value(format_args!("{argument}.pose."), &k.pose)?,
        center: check::point(format_args!("{argument}.center"), k.center)?,
        twist: twist(argument, &k.twist)?,
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

/// Outputs of a query of penalty forces; each may be null.
struct Answer {
    on: [(*mut vxs_response, On); 2],
    count: *mut usize,
}

impl Answer {
    unsafe fn checked(on_a: *mut vxs_response, on_b: *mut vxs_response, count: *mut usize) -> Result<Self, Failure> {
        check::out_optional("on_a", on_a)?;
        check::out_optional("on_b", on_b)?;
        check::out_optional("count", count)?;
        Ok(Self { on: [(on_a, On::A), (on_b, On::B)], count })
    }

    unsafe fn write(&self, count: usize, response: impl Fn(On) -> Response) {
        for (out, on) in self.on {
            if !out.is_null() {
                out.write(response(on).into());
            }
        }
        if !self.count.is_null() {
            self.count.write(count);
        }
    }
}

/// Fills `penalty` with springs and dampers that begin at the surface, and whose forces are summed.
///
/// @param[out] penalty  the struct to fill
/// @param size          `sizeof(vxs_penalty)`
/// @param stiffness     stiffness of each contact, N/m, 0 or more
/// @param damping       damping of each contact, N·s/m, 0 or more
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, a number out of range)
#[no_mangle]
pub unsafe extern "C" fn vxs_penalty_init(
    penalty: *mut vxs_penalty,
    size: usize,
    stiffness: f64,
    damping: f64,
) -> vxs_status {
    entry!(vxs_penalty_init, [], {
        let (stiffness, damping) =
            (check::not_negative("stiffness", stiffness)?, check::not_negative("damping", damping)?);
        check::init(penalty, size, vxs_penalty { stiffness, damping, ..vxs_penalty::defaults() })
    })
}

/// Computes the penalty forces of the contacts of two bodies, with their gradients by the pose and twist of the body on
/// which they act.
///
/// A contact that is deeper than the offset by d pushes with stiffness·d, minus the damping, along the inward normal of
/// its sample (Sagardia et al. 2014; Xu & Barbič 2016, section 4.1). The gradients are those of the sum, with the other
/// body held; they jump only where contacts begin and end, and between cells of a grid. Once the workspace is warm, the
/// query allocates nothing and takes no lock; the same input gives the same bytes.
///
/// @param a, b             the two bodies; their shapes may be the same
/// @param penalty          penalty law of the contacts
/// @param workspace        this thread's scratch
/// @param[out] on_a, on_b  effect of the contacts on each body; either may be null
/// @param[out] count       number of contacts, or of their clusters; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_penalty(
    a: *const vxs_dynamic_body,
    b: *const vxs_dynamic_body,
    penalty: *const vxs_penalty,
    workspace: *mut vxs_workspace,
    on_a: *mut vxs_response,
    on_b: *mut vxs_response,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_penalty(a, b, penalty, workspace, on_a, on_b, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b) = (dynamic_body("a", a)?, dynamic_body("b", b)?);
            let penalty = vxs_penalty::read(penalty)?;
            let (settings, roles) = (penalty.to_core()?, penalty.roles()?);
            let clusters = penalty.clusters(&a.geometry, &b.geometry)?;
            let scratch = handle::get("workspace", workspace)?;
            let answer = Answer::checked(on_a, on_b, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let Scratch { contact, clusters: groups, .. } = &mut *scratch;
            let query = Query { roles, max_separation: settings.offset, ..Query::default() };
            let (pose_a, pose_b) = (&a.kinematics.pose, &b.kinematics.pose);
            let mut found = contact::contacts(a.geometry, pose_a, b.geometry, pose_b, &query, contact)?;
            if let Some(clusters) = clusters {
                found = response::cluster(found, &clusters, groups);
            }
            answer.write(found.len(), |on| response::penalty(found, &a, &b, on, &settings));
            Ok(VXS_OK)
        }
    )
}

/// Computes the penalty forces of the samples that are in contact during a step, averaged over the step, with their
/// gradients. The forces are for the next step (Xu & Barbič 2014, equations 3 to 11; 2016, equations 3 to 5).
///
/// A sample that is in contact for half of the step counts half, and a sample that passes a thin wall within the step
/// is pushed back. The forces are therefore continuous, and stay stable at a higher stiffness than forces of single
/// poses, which jump. Samples move on straight lines, as in `VXS_PATH_STRAIGHT`; the gradients are by a change of a
/// body's whole path. Once the workspace is warm, the query allocates nothing and takes no lock; the same input gives
/// the same bytes.
///
/// @param a, b             the two bodies; their shapes may be the same
/// @param penalty          penalty law of the contacts; `max_clusters` must be 0
/// @param workspace        this thread's scratch
/// @param[out] on_a, on_b  effect of the contacts on each body, about its `center` at each time; either may be null
/// @param[out] count       number of contact intervals; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_continuous_penalty(
    a: *const vxs_swept_body,
    b: *const vxs_swept_body,
    penalty: *const vxs_penalty,
    workspace: *mut vxs_workspace,
    on_a: *mut vxs_response,
    on_b: *mut vxs_response,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_continuous_penalty(a, b, penalty, workspace, on_a, on_b, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b) = (swept_body("a", a)?, swept_body("b", b)?);
            let given = vxs_penalty::read(penalty)?;
            check::in_range("penalty->max_clusters", given.max_clusters, 0, 0)?;
            let midpoints = check::in_range("penalty->midpoints", given.midpoints, 1, MOST_MIDPOINTS)?;
            let settings = ContinuousSettings { penalty: given.to_core()?, midpoints };
            let roles = given.roles()?;
            let scratch = handle::get("workspace", workspace)?;
            let answer = Answer::checked(on_a, on_b, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let query = impact::Query {
                path: impact::Path::Straight,
                roles,
                max_separation: settings.penalty.offset,
                ..impact::Query::default()
            };
            let found = impact::contacts(&a.moving(), &b.moving(), &query, &mut scratch.motion)?;
            answer.write(found.len(), |on| response::continuous(found, &a, &b, on, &settings));
            Ok(VXS_OK)
        }
    )
}

/// More points change the result by less than the rounding of the field.
const MOST_MIDPOINTS: u32 = 1000;
