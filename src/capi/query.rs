//! Queries of two shapes at two poses: contacts and distance.

use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query_options::*;
use super::record::argument::{if_found, list, Array};
use super::status::*;
use crate::asset::Shape;
use crate::contact::{Coverage, Geometry};
use crate::math::Pose;
use crate::{ccd, contact, response, voxtree};

/// Scratch memory of queries: one per thread. Once it is warm, queries neither allocate nor lock.
pub struct vxs_workspace {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_workspace {
    type Value = handle::Exclusive<Scratch>;
    const KIND: handle::Kind = handle::Kind::Workspace;

    /// A recording begins with an empty workspace: the answers of queries do not depend on its content.
    fn snapshot(_: &Self::Value) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

/// Value of a `vxs_workspace`.
#[derive(Default)]
pub(super) struct Scratch {
    pub contact: contact::Workspace,
    pub motion: ccd::shell::Workspace,
    pub mesh: ccd::mesh_impact::MeshWorkspace,
    pub known_pairs: Vec<ccd::mesh_impact::FeaturePair>,
    pub clusters: response::Clusters,
    pub patches: response::PatchWorkspace,
    pub voxels: response::VoxelWorkspace,
    pub voxtrees: voxtree::Workspace,
    pub hulls: contact::HullWorkspace,
    /// Contacts of voxel pairs.
    pub voxel_contacts: Vec<contact::Contact>,
}

/// Creates scratch memory for queries. Create one per thread and keep it. A pair that is queried repeatedly is answered
/// faster from a workspace of its own, which keeps the bounds that the last query proved.
///
/// @param[out] workspace  destroy it with `vxs_workspace_destroy`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_create(workspace: *mut *mut vxs_workspace) -> vxs_status {
    entry!(vxs_workspace_create(workspace), [], {
        handle::create("workspace", workspace, handle::Exclusive::new(Scratch::default()))
    })
}

/// Frees a workspace.
///
/// @param workspace  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (destroyed before, or not a workspace), VXS_BUSY (a query is running in it)
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_destroy(workspace: *mut vxs_workspace) -> vxs_status {
    entry!(vxs_workspace_destroy(workspace), [], {
        // Null has no lock. Taking the lock makes sure that no query uses the workspace.
        if !workspace.is_null() {
            handle::get_to_release("workspace", workspace)?.lock("workspace").map(std::mem::forget)?;
        }
        handle::release("workspace", workspace)
    })
}

/// Returns the shape and the pose of a body.
pub(super) unsafe fn placed<'a>(argument: &str, body: *const vxs_body) -> Result<(&'a Arc<Shape>, Pose), Failure> {
    let body = check::input(argument, body)?;
    let shape = handle::get(format_args!("{argument}->shape"), body.shape)?;
    Ok((shape, check::pose_value(format_args!("{argument}->pose."), &body.pose)?))
}

/// Finds the contacts of two shapes at two poses.
///
/// The query tests the pointshell of one shape against the field of the other (`query->roles` selects them, or lets the
/// library choose). It finds every sample closer than `query->max_separation`. With VXS_COVERAGE_EDGES, the default, it
/// also finds every edge of a mesh that passes through the other mesh, and the sharp edges and corners that are closer than
/// that. Once the workspace is warm and the shapes are prepared, the query allocates nothing and takes no lock; the same
/// input gives the same bytes.
///
/// @param a, b           the two bodies; their shapes may be the same
/// @param query          settings of the query; null for the defaults
/// @param workspace      this thread's scratch
/// @param[out] contacts  at most `capacity`, deepest first, normals from A to B; may be null if `capacity` is 0
/// @param[out] count     number of contacts, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE,
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
    entry!(
        fast(vxs_query_contacts(a, b, query, workspace, list(contacts, capacity, count), capacity, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let query = vxs_query::read(query)?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("contacts", contacts, capacity, count)?;
            let owners = Some([shape_a.owner(), shape_b.owner()]);
            let how = contact::Query { owners, ..query.contacts()? };
            let is_limited = how.budget != contact::Budget::UNLIMITED;
            let coverage = if is_limited { Coverage::Samples } else { how.coverage.of_surfaces() };
            let mut scratch = scratch.lock("workspace")?;
            let (body_a, body_b) = (shape_a.geometry_for(coverage)?, shape_b.geometry_for(coverage)?);
            let found = contact::contacts(body_a, &pose_a, body_b, &pose_b, &how, &mut scratch.contact)?;
            list.write(found.iter().map(Into::into))
        }
    )
}

/// Returns the geometries of two shapes for queries that do not know how the bodies move.
fn geometries_of_samples<'a>(
    a: &'a Shape,
    b: &'a Shape,
    coverage: Coverage,
) -> crate::Result<(Geometry<'a>, Geometry<'a>)> {
    let (of_a, of_b) = (a.geometry_for(coverage)?, b.geometry_for(coverage)?);
    Ok(match coverage.of_moving(&of_a, &of_b) {
        Coverage::Samples => (a.geometry(), b.geometry()),
        _ => (of_a, of_b),
    })
}

/// Reports on the last query in a workspace: whether `vxs_query_contacts` found every contact, a bound on the contacts
/// that it may have missed, and its cost.
///
/// @param workspace    this thread's scratch
/// @param[out] report  prepared by `vxs_query_report_init`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_report(
    workspace: *const vxs_workspace,
    report: *mut vxs_query_report,
) -> vxs_status {
    entry!(fast(vxs_workspace_get_report(workspace, report)), [workspace], {
        let scratch = handle::get("workspace", workspace)?;
        check::out("report", report)?;
        let scratch = scratch.lock("workspace")?;
        vxs_query_report::of(&scratch.contact).write(report)
    })
}

/// Gets the segment of each contact that the last `vxs_query_contacts` in a workspace found, in the order of the
/// contacts, including contacts that exceeded the capacity; all 0 without segmentation. After `vxs_query_distance` the
/// list is empty.
///
/// @param workspace      this thread's scratch
/// @param[out] segments  at most `capacity`; may be null if `capacity` is 0
/// @param[out] count     number of segments, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE,
///         VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_segments(
    workspace: *const vxs_workspace,
    segments: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_workspace_get_segments(workspace, list(segments, capacity, count), capacity, count)),
        [workspace],
        {
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("segments", segments, capacity, count)?;
            let scratch = scratch.lock("workspace")?;
            let found = scratch.contact.contacts();
            list.write(found.iter().map(|c| c.segment))
        }
    )
}

/// Computes the contacts of the samples with the given feature numbers, at any separation. Each contact is
/// bit-identical to that of `vxs_query_contacts` with the same coverage and takes a fraction of its time. For hosts that
/// know which samples matter, such as the samples of a resting body's manifold. Needs no workspace and allocates nothing,
/// except for the first call with another coverage than VXS_COVERAGE_SAMPLES of a shape that is not prepared
/// (`vxs_shape_prepare_coverage`).
///
/// @param a, b           as in `vxs_query_contacts`
/// @param coverage       one of VXS_COVERAGE_
/// @param features       `count` feature numbers, as in `vxs_contact`, in any order
/// @param count          number of features
/// @param[out] contacts  `count`, in the order of the features. An edge, and a sample on the far side of a body that
///                       touches a sheet, have no contact: the separation is infinite, and points and normal are NaN
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also for a feature that no contact of the two bodies can have),
///         VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_query_features(
    a: *const vxs_body,
    b: *const vxs_body,
    coverage: u32,
    features: *const u32,
    count: usize,
    contacts: *mut vxs_contact,
) -> vxs_status {
    entry!(
        fast(vxs_query_features(a, b, coverage, Array(features, count), count, Array(contacts, count))),
        [check::shape_of(a), check::shape_of(b)],
        {
            let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let coverage = check::choice("coverage", coverage, "VXS_COVERAGE_", &COVERAGES)?;
            let features = check::slice("features", features, "count", count)?;
            check::out_array("contacts", contacts, "count", count)?;
            let (body_a, body_b) = geometries_of_samples(shape_a, shape_b, coverage)?;
            contact::contacts_of(body_a, &pose_a, body_b, &pose_b, features, |i, c| {
                contacts.add(i).write((&c).into());
            })?;
            Ok(VXS_OK)
        }
    )
}

/// Finds the distance or penetration depth of two shapes at two poses. The distance of two shapes whose closed meshes are
/// known, and of such a shape and a convex one, is that of the meshes at any gap, and its two points lie on them. Otherwise it is
/// that of the samples. The depth is that of the sample or the edge of one shape that is deepest in the other.
///
/// @param a, b          as in `vxs_query_contacts`
/// @param query         `roles` and `max_distance` are used; null for the defaults, which find any distance
/// @param workspace     this thread's scratch
/// @param[out] closest  contact of the two closest points, or of the deepest one; its `separation` is the distance, or minus
///                      the penetration depth, metres; written if found
/// @param[out] found    false if the shapes are farther apart than `query->max_distance`
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
    entry!(
        fast(vxs_query_distance(a, b, query, workspace, if_found(closest, found), found)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let query = vxs_query::read(query)?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("closest", closest)?;
            check::out("found", found)?;
            let roles = query.roles()?;
            let mut scratch = scratch.lock("workspace")?;
            let (body_a, body_b) = (shape_a.geometry_for(Coverage::Edges)?, shape_b.geometry_for(Coverage::Edges)?);
            let limit = query.max_distance;
            let best = contact::distance(body_a, &pose_a, body_b, &pose_b, roles, limit, &mut scratch.contact)?;
            if let Some(c) = &best {
                closest.write(c.into());
            }
            found.write(best.is_some());
            Ok(VXS_OK)
        }
    )
}
