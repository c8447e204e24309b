//! Two shapes at two poses: contacts and distance.

use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query_options::*;
use super::status::*;
use crate::asset::Shape;
use crate::math::Pose;
use crate::{ccd, contact, response};

/// Scratch memory of queries: one per thread. Once warm, queries neither allocate nor lock.
pub struct vxs_workspace {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_workspace {
    type Value = handle::Exclusive<Scratch>;
    const KIND: handle::Kind = handle::Kind::Workspace;
}

/// What is behind a `vxs_workspace`.
#[derive(Default)]
pub(super) struct Scratch {
    pub contact: contact::Workspace,
    pub motion: ccd::shell::Workspace,
    pub clusters: response::Clusters,
}

/// Scratch memory for queries. Make one per thread and keep it; a pair that is asked about again and again is answered faster
/// from one of its own, which remembers what it proved the last time.
///
/// @param[out] workspace  destroy it with `vxs_workspace_destroy`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_create(workspace: *mut *mut vxs_workspace) -> vxs_status {
    entry!(vxs_workspace_create, [], {
        handle::create("workspace", workspace, handle::Exclusive::new(Scratch::default()))
    })
}

/// Frees a workspace.
///
/// @param workspace  null is fine and does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (destroyed before, or no workspace), VXS_BUSY (a query is running in it)
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_destroy(workspace: *mut vxs_workspace) -> vxs_status {
    entry!(vxs_workspace_destroy, [], {
        // Null has no lock to take; one that is in use must not be pulled from under its query.
        if !workspace.is_null() {
            handle::get_to_release("workspace", workspace)?.lock("workspace").map(std::mem::forget)?;
        }
        handle::release("workspace", workspace)
    })
}

/// The shape and the pose of a body.
unsafe fn placed<'a>(argument: &str, body: *const vxs_body) -> Result<(&'a Arc<Shape>, Pose), Failure> {
    let body = check::input(argument, body)?;
    let shape = handle::get(format_args!("{argument}->shape"), body.shape)?;
    Ok((shape, check::pose_value(format_args!("{argument}->pose."), &body.pose)?))
}

/// Contacts of two shapes at two poses.
///
/// Runs the pointshell of one against the field of the other (`query->roles` says which, or lets the library choose).
/// Every sample closer than `query->max_separation` is found. Once the workspace is warm, allocates nothing and takes no
/// lock; the same input gives the same bytes.
///
/// @param a, b           the two bodies; their shapes may be the same
/// @param query          what to look for; null for the defaults
/// @param workspace      this thread's scratch
/// @param[out] contacts  at most `capacity`, deepest first, normals from A to B; may be null if `capacity` is 0
/// @param[out] count     how many there are, also when they did not all fit
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` says how many), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED (no pointshell can be paired with a field), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_contacts(
    a: *const vxs_body,
    b: *const vxs_body,
    query: *const vxs_query,
    workspace: *mut vxs_workspace,
    contacts: *mut vxs_contact,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_query_contacts, [check::shape_of(a), check::shape_of(b), workspace], {
        let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
        let query = vxs_query::read(query)?;
        let scratch = handle::get("workspace", workspace)?;
        let list = check::list("contacts", contacts, capacity, count)?;
        let owners = Some([shape_a.owner(), shape_b.owner()]);
        let how = contact::Query { owners, ..query.contacts()? };
        let mut scratch = scratch.lock("workspace")?;
        let found =
            contact::contacts(shape_a.geometry(), &pose_a, shape_b.geometry(), &pose_b, &how, &mut scratch.contact)?;
        list.write(found.iter().map(Into::into))
    })
}

/// What the last query in a workspace did: whether `vxs_query_contacts` found everything, what it may have missed, what it cost.
///
/// @param workspace    this thread's scratch
/// @param[out] report  prepared by `vxs_query_report_init`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_report(
    workspace: *const vxs_workspace,
    report: *mut vxs_query_report,
) -> vxs_status {
    entry!(vxs_workspace_get_report, [workspace], {
        let scratch = handle::get("workspace", workspace)?;
        check::out("report", report)?;
        let scratch = scratch.lock("workspace")?;
        vxs_query_report::of(&scratch.contact).write(report)
    })
}

/// The segment of each contact that the last `vxs_query_contacts` in a workspace found, in the order of the contacts, those that
/// did not fit included; all 0 without segmentation. After `vxs_query_distance` there are none.
///
/// @param workspace      this thread's scratch
/// @param[out] segments  at most `capacity`; may be null if `capacity` is 0
/// @param[out] count     how many there are, also when they did not all fit
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` says how many), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE,
///         VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_segments(
    workspace: *const vxs_workspace,
    segments: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_workspace_get_segments, [workspace], {
        let scratch = handle::get("workspace", workspace)?;
        let list = check::list("segments", segments, capacity, count)?;
        let scratch = scratch.lock("workspace")?;
        let found = scratch.contact.contacts();
        list.write(found.iter().map(|c| c.segment))
    })
}

/// Contacts of samples that are known by their feature numbers, however far apart: what `vxs_query_contacts` says of each, to
/// the bit, in a fraction of its time. For hosts that know which samples matter, such as those of a resting body's manifold.
/// Needs no workspace and allocates nothing.
///
/// @param a, b           as in `vxs_query_contacts`
/// @param features       `count` of them, as in `vxs_contact`, in any order
/// @param count          number of features
/// @param[out] contacts  `count`, in the order of the features. A sample on the far side of a body that touches a sheet has
///                       none: its separation is infinite, and its points and normal are not numbers
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also: a feature that no contact of the two can have), VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_query_features(
    a: *const vxs_body,
    b: *const vxs_body,
    features: *const u32,
    count: usize,
    contacts: *mut vxs_contact,
) -> vxs_status {
    entry!(vxs_query_features, [check::shape_of(a), check::shape_of(b)], {
        let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
        let features = check::slice("features", features, "count", count)?;
        check::out_array("contacts", contacts, "count", count)?;
        contact::contacts_of(shape_a.geometry(), &pose_a, shape_b.geometry(), &pose_b, features, |i, c| {
            contacts.add(i).write((&c).into());
        })?;
        Ok(VXS_OK)
    })
}

/// Distance or penetration depth of two shapes at two poses: the sample of the one that is closest to, or deepest in, the
/// other. Roles and guarantees as `vxs_query_contacts`.
///
/// @param a, b          as in `vxs_query_contacts`
/// @param query         `roles` and `max_distance` are used; null for the defaults: any distance
/// @param workspace     this thread's scratch
/// @param[out] closest  its `separation` is the distance, or minus the penetration depth, metres; written if found
/// @param[out] found    false when the shapes are farther apart than `query->max_distance`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_distance(
    a: *const vxs_body,
    b: *const vxs_body,
    query: *const vxs_query,
    workspace: *mut vxs_workspace,
    closest: *mut vxs_contact,
    found: *mut bool,
) -> vxs_status {
    entry!(vxs_query_distance, [check::shape_of(a), check::shape_of(b), workspace], {
        let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
        let query = vxs_query::read(query)?;
        let scratch = handle::get("workspace", workspace)?;
        check::out("closest", closest)?;
        check::out("found", found)?;
        let roles = query.roles()?;
        let mut scratch = scratch.lock("workspace")?;
        let best = contact::distance(
            shape_a.geometry(),
            &pose_a,
            shape_b.geometry(),
            &pose_b,
            roles,
            query.max_distance,
            &mut scratch.contact,
        )?;
        if let Some(c) = &best {
            closest.write(c.into());
        }
        found.write(best.is_some());
        Ok(VXS_OK)
    })
}
