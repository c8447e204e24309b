//! Queries of two moving shapes: the time of first contact, and the contacts with their durations.

use std::fmt::Display;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query::vxs_workspace;
use super::query_options::*;
use super::record::argument::{if_found, list};
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::ccd::impact::{self, Collision, Moving, Path, Query};
use crate::contact::Geometry;

/// Rigid screw motion from pose to pose: a constant twist that turns by at most half a turn.
pub const VXS_PATH_SCREW: u32 = 0;
/// Each sample moves on a straight line, from its position in the other body's frame at the start to its position at
/// the end, as in Xu & Barbič 2014: exact and fastest, for small turns. In between, the body is not rigid.
pub const VXS_PATH_STRAIGHT: u32 = 1;

/// A body's motion over a step: from pose to pose, body to world. Equal poses for a body at rest.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_motion {
    pub from: vxs_pose,
    pub to: vxs_pose,
}

/// A shape in motion.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_moving_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub shape: *const vxs_shape,
    /// Unit quaternions (checked to 1e-6).
    pub motion: vxs_motion,
}

/// Settings of a query of two motions. Fill it with `vxs_motion_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_motion_query {
    /// `sizeof(vxs_motion_query)`, set by `vxs_motion_query_init`.
    pub struct_size: u32,
    /// One of `VXS_ROLES_`.
    pub roles: u32,
    /// One of `VXS_PATH_`: the motion of the bodies between their poses.
    pub path: u32,
    /// Number of `known`.
    pub known_count: u32,
    /// A sample is in contact where its signed distance is at most this, metres. Default 0. May be negative.
    pub max_separation: f64,
    /// Fraction of the step at which the query ends, 0 to 1. Default 1.
    pub until: f64,
    /// On screws: the amount by which the separation of a reported contact may exceed `max_separation`, metres. 0, the
    /// default: a thousandth of the distance between samples.
    pub tolerance: f64,
    /// Features to leave out, in ascending order: contacts of the last step, which would end this step at once. A feature
    /// of an edge stands for the edge and for the corners in which it ends.
    /// Default: null, none.
    pub known: *const u32,
    /// One of `VXS_COVERAGE_`. Default VXS_COVERAGE_EDGES: the triangles of both meshes are tested, vertices against faces
    /// and edges against edges. They are tested only if both shapes have a mesh that is closed and a field of it, on
    /// VXS_PATH_SCREW, and with a `max_separation` of 0 or more; otherwise the samples are. With VXS_COVERAGE_FACETS, the
    /// triangles of two meshes of flat faces with at most 200 edges each. The first such query of a shape prepares it,
    /// unless `vxs_shape_prepare_coverage` has done so.
    pub coverage: u32,
    /// Zero.
    pub reserved: u32,
}

/// A contact with the interval for which it lasts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_motion_contact {
    /// The contact at its beginning, which is at its `toi`.
    pub contact: vxs_contact,
    /// Fraction of the step until which it lasts, 0 to 1: 1 if it still exists at the end.
    pub until: f64,
}

impl Growable for vxs_motion_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            roles: VXS_ROLES_AUTO,
            path: VXS_PATH_SCREW,
            known_count: 0,
            max_separation: 0.0,
            until: 1.0,
            tolerance: 0.0,
            known: std::ptr::null(),
            coverage: VXS_COVERAGE_EDGES,
            reserved: 0,
        }
    }
}

impl vxs_motion_query {
    unsafe fn to_core<'a>(self, a: &Geometry, b: &Geometry) -> Result<Query<'a>, Failure> {
        let tolerance = check::length_or_zero("query->tolerance", self.tolerance)?;
        let tolerance = if tolerance > 0.0 { tolerance } else { impact::default_tolerance(a, b) };
        let path = check::choice("query->path", self.path, "VXS_PATH_", &[Path::Screw { tolerance }, Path::Straight])?;
        let known = check::slice("query->known", self.known, "query->known_count", self.known_count as usize)?;
        check::ascending("query->known", known)?;
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        Ok(Query {
            roles: check::choice("query->roles", self.roles, "VXS_ROLES_", &ROLES)?,
            path,
            max_separation: check::coordinate("query->max_separation", self.max_separation)?,
            until: check::in_range("query->until", self.until, 0.0, 1.0)?,
            known,
            coverage: check::choice("query->coverage", self.coverage, "VXS_COVERAGE_", &COVERAGES)?,
        })
    }
}

/// Checks a motion. `prefix` is the text before the names of the motion's fields in messages.
pub(super) fn motion_value<'a>(
    prefix: impl Display,
    geometry: Geometry<'a>,
    motion: &vxs_motion,
) -> Result<Moving<'a>, Failure> {
    let from = check::pose_value(format_args!("{prefix}from."), &motion.from)?;
    let to = check::pose_value(format_args!("{prefix}to."), &motion.to)?;
    Ok(Moving { geometry, from, to })
}

unsafe fn moving_body<'a>(argument: &str, body: *const vxs_moving_body) -> Result<(&'a Shape, Moving<'a>), Failure> {
    let body = check::input(argument, body)?;
    let shape: &Shape = handle::get(format_args!("{argument}->shape"), body.shape)?;
    Ok((shape, motion_value(format_args!("{argument}->motion."), shape.geometry(), &body.motion)?))
}

/// Reads the arguments that all queries of two motions have.
unsafe fn pair<'a>(
    a: *const vxs_moving_body,
    b: *const vxs_moving_body,
    query: *const vxs_motion_query,
) -> Result<(Moving<'a>, Moving<'a>, Query<'a>), Failure> {
    let ((shape_a, mut a), (shape_b, mut b)) = (moving_body("a", a)?, moving_body("b", b)?);
    let query = vxs_motion_query::read(query)?.to_core(&a.geometry, &b.geometry)?;
    if query.may_test_triangles() {
        // The smaller mesh first: without its surface the larger one needs none.
        let triangles = |shape: &Shape| shape.mesh.as_ref().map_or(0, |mesh| mesh.triangles.len());
        let mut bodies = [(shape_a, &mut a), (shape_b, &mut b)];
        bodies.sort_by_key(|(shape, _)| triangles(shape));
        for (shape, body) in bodies {
            body.geometry = shape.geometry_for(query.coverage)?;
            if body.geometry.surface.is_none() {
                break;
            }
        }
    }
    Ok((a, b, query))
}

impl From<&Collision> for vxs_motion_contact {
    fn from(c: &Collision) -> Self {
        Self { contact: (&c.contact).into(), until: c.until }
    }
}

/// Fills `query` with the defaults.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_motion_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_motion_query_init(query: *mut vxs_motion_query, size: usize) -> vxs_status {
    entry!(vxs_motion_query_init, [], { check::init(query, size, vxs_motion_query::defaults()) })
}

/// Computes the pose of a body on its screw motion from one pose to another.
///
/// @param motion     motion of the body
/// @param t          fraction of the step, 0 to 1, such as the `toi` of a contact
/// @param[out] pose  body to world
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_motion_pose(motion: *const vxs_motion, t: f64, pose: *mut vxs_pose) -> vxs_status {
    entry!(vxs_motion_pose(motion, t, pose), [], {
        let motion = check::input("motion", motion)?;
        let body = motion_value("motion->", Geometry { field: None, shell: None, surface: None }, &motion)?;
        let t = check::in_range("t", t, 0.0, 1.0)?;
        check::out("pose", pose)?;
        check::write(pose, body.pose(t).into())
    })
}

/// Finds when two moving shapes first touch.
///
/// With VXS_COVERAGE_EDGES, the default, the triangles of both meshes decide on screws, as in `vxs_mesh_time_of_impact`: no
/// contact of the surfaces is missed, whatever the samples and the fields, and the reported features are farther apart than
/// `query->max_separation` by at most the tolerance. The feature of the contact is that of an edge. At the start, samples
/// find the contacts of shapes inside each other.
///
/// With VXS_COVERAGE_SAMPLES, and where the triangles are not tested, the contact is that of the first sample of one shape
/// whose separation from the other decreases to `query->max_separation`. On screws the time is never later than the first
/// contact of the samples. At the poses
/// of that time no sample is deeper than `max_separation`, and the separation of the reported sample exceeds
/// `max_separation` by at most the tolerance; a near miss within the tolerance may be reported. On straight paths the
/// query is exact. Shapes in contact at the start give 0, unless those features are `known`. Once the workspace is
/// warm, the query allocates nothing and takes no lock; the same input gives the same bytes.
///
/// @param a, b           the two bodies; their shapes may be the same
/// @param query          settings of the query; null for the defaults
/// @param workspace      this thread's scratch
/// @param[out] contact   the contact at its `toi`; written if found
/// @param[out] found     false if the shapes do not touch
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (no pointshell can be paired with a field),
///         VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_time_of_impact(
    a: *const vxs_moving_body,
    b: *const vxs_moving_body,
    query: *const vxs_motion_query,
    workspace: *mut vxs_workspace,
    contact: *mut vxs_contact,
    found: *mut bool,
) -> vxs_status {
    entry!(
        fast(vxs_query_time_of_impact(a, b, query, workspace, if_found(contact, found), found)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b, query) = pair(a, b, query)?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("contact", contact)?;
            check::out("found", found)?;
            let mut scratch = scratch.lock("workspace")?;
            let first = impact::time_of_impact(&a, &b, &query, &mut scratch.motion)?;
            if let Some(c) = &first {
                contact.write(c.into());
            }
            found.write(first.is_some());
            Ok(VXS_OK)
        }
    )
}

/// Finds all contacts of two moving shapes: the colliding intervals of their samples. Each contact is given as it is at
/// its beginning, with the time until which it lasts. A sample may have several intervals. With VXS_COVERAGE_EDGES the first
/// contact of the triangles is there too, if no sample is in contact before it; its `until` is its `toi`, because its end is
/// not searched for. Guarantees are those of `vxs_query_time_of_impact` with VXS_COVERAGE_SAMPLES.
///
/// @param a, b           as in `vxs_query_time_of_impact`
/// @param query          settings of the query; null for the defaults
/// @param workspace      this thread's scratch
/// @param[out] contacts  at most `capacity`, in the order in which they begin; may be null if `capacity` is 0
/// @param[out] count     number of contacts, even if it exceeds `capacity`
/// @return as `vxs_query_time_of_impact`, and VXS_TRUNCATED (more than `capacity`: `*count` tells the number)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_motion_contacts(
    a: *const vxs_moving_body,
    b: *const vxs_moving_body,
    query: *const vxs_motion_query,
    workspace: *mut vxs_workspace,
    contacts: *mut vxs_motion_contact,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_motion_contacts(a, b, query, workspace, list(contacts, capacity, count), capacity, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b, query) = pair(a, b, query)?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("contacts", contacts, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let found = impact::contacts(&a, &b, &query, &mut scratch.motion)?;
            list.write(found.iter().map(Into::into))
        }
    )
}

/// Finds which of the `known` features of a query are still in contact at the end of the step. The contacts are given
/// at the end of the step: `toi` is 1.
///
/// @param a, b           as in `vxs_query_time_of_impact`
/// @param query          settings of the query, with its `known` features
/// @param workspace      this thread's scratch
/// @param[out] contacts  at most `capacity`, sorted by feature; may be null if `capacity` is 0
/// @param[out] count     number of contacts, even if it exceeds `capacity`
/// @return as `vxs_query_motion_contacts`; VXS_INVALID_ARGUMENT also for a feature that neither shape has
#[no_mangle]
pub unsafe extern "C" fn vxs_query_known_contacts(
    a: *const vxs_moving_body,
    b: *const vxs_moving_body,
    query: *const vxs_motion_query,
    workspace: *mut vxs_workspace,
    contacts: *mut vxs_contact,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_known_contacts(a, b, query, workspace, list(contacts, capacity, count), capacity, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let (a, b, query) = pair(a, b, query)?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("contacts", contacts, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let found = impact::known_contacts(&a, &b, &query, &mut scratch.motion)?;
            list.write(found.iter().map(|c| (&c.contact).into()))
        }
    )
}
