//! A pointshell in a voxelmap: manifold, force, torque and distance.

use super::check::{self, Growable};
use super::forms::vxs_pointshell;
use super::guard::{entry, Failure};
use super::handle;
use super::query::vxs_workspace;
use super::query_options::answer_of;
use super::record::argument::Out;
use super::response::vxs_wrench;
use super::status::*;
use super::types::*;
use super::voxelmap::{rule, vxs_voxelmap, VXS_PENETRATION_AUTO};
use crate::response::{voxel_query, VoxelContact, VoxelQuery};
use crate::voxmap::Voxelmap;

/// A voxelmap at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxelmap_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub voxelmap: *const vxs_voxelmap,
    /// Body to world; its quaternion has unit length (checked to 1e-6).
    pub pose: vxs_pose,
}

/// A pointshell at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_pointshell_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub pointshell: *const vxs_pointshell,
    /// Body to world; its quaternion has unit length (checked to 1e-6).
    pub pose: vxs_pose,
}

/// Settings of `vxs_query_voxelmap`. Fill it with `vxs_voxelmap_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxelmap_query {
    /// `sizeof(vxs_voxelmap_query)`, set by `vxs_voxelmap_query_init`.
    pub struct_size: u32,
    /// How V(P) is computed: one of `VXS_PENETRATION_`. Default VXS_PENETRATION_AUTO.
    pub rule: u32,
    /// Force of each contact per metre of V, N/m, 0 or more. Default 1, as in the paper.
    pub stiffness: f64,
    /// Point about which the torque is, body frame of the pointshell, metres: its centre of mass in the paper. Default 0.
    pub center: vxs_vec3,
    /// From this number of contacts on, the sum of all forces is the average times this number. Default 4294967295: always
    /// the sum.
    pub average_from: u32,
    /// Deepest level of the sphere tree that is opened, the root being 0. Nodes there are represented by their parent
    /// points. Default 4294967295: all samples.
    pub max_level: u32,
    /// Largest number of spheres and samples to test. Default 0: no limit.
    pub max_tests: u64,
    /// Time limit, nanoseconds. The clock is read after every eight opened nodes. Default 0: no limit.
    pub max_nanoseconds: u64,
    /// 1, the default: without contact the distance is found, which takes longer. 0: it is not, and `penetration` is the
    /// largest V of the samples that were tested.
    pub find_distance: u32,
    /// Zero.
    pub reserved: u32,
}

/// Answer of `vxs_query_voxelmap`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_voxelmap_answer {
    /// f and t on the pointshell's body: world frame, t about `center` of the query. Those on the other body are opposite.
    pub wrench: vxs_wrench,
    /// delta: the largest V of the samples that were tested, metres. Positive: penetration; negative: distance.
    pub penetration: f64,
    /// Proven upper bound of V of all samples, metres. Equal to `penetration` if the answer is complete and there is a
    /// contact or `find_distance`.
    pub max_penetration: f64,
    /// Number of contacts, even if it exceeds `capacity`.
    pub count: u64,
    /// Number of spheres of the tree, and of samples, that were tested.
    pub node_tests: u64,
    pub sample_tests: u64,
    /// VXS_ANSWER_COMPLETE: every sample with V >= 0 is a contact. VXS_ANSWER_COARSE: `max_level` ended the search.
    /// VXS_ANSWER_PARTIAL: a limit did. The contacts are valid in any case.
    pub answer: u32,
    /// Levels of the tree that were visited for contacts.
    pub levels: u32,
}

/// An element (P, n, V(P)) of the contact manifold M. World frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_voxel_contact {
    /// P: position of the sample, metres.
    pub point: vxs_vec3,
    /// n: unit normal into the pointshell's body, as in the paper.
    pub normal: vxs_vec3,
    /// V(P), metres, 0 or more.
    pub penetration: f64,
    /// Number of the sample, as in `vxs_pointshell_get_samples`.
    pub sample: u32,
    /// Zero.
    pub reserved: u32,
}

impl Growable for vxs_voxelmap_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = VoxelQuery::default();
        Self {
            struct_size: 0,
            rule: VXS_PENETRATION_AUTO,
            stiffness: core.stiffness,
            center: core.center.into(),
            average_from: core.average_from,
            max_level: core.max_level,
            max_tests: 0,
            max_nanoseconds: 0,
            find_distance: 1,
            reserved: 0,
        }
    }
}

impl vxs_voxelmap_query {
    fn to_core(self, map: &Voxelmap) -> Result<VoxelQuery, Failure> {
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        Ok(VoxelQuery {
            rule: rule("query->rule", self.rule, map)?,
            stiffness: check::not_negative("query->stiffness", self.stiffness)?,
            average_from: check::in_range("query->average_from", self.average_from, 1, u32::MAX)?,
            center: check::point("query->center", self.center)?,
            distance: check::flag("query->find_distance", self.find_distance)?,
            max_level: self.max_level,
            tests: check::limit(self.max_tests),
            nanoseconds: check::limit(self.max_nanoseconds),
        })
    }
}

impl From<&VoxelContact> for vxs_voxel_contact {
    fn from(c: &VoxelContact) -> Self {
        Self {
            point: c.point.into(),
            normal: c.normal.into(),
            penetration: c.penetration,
            sample: c.sample,
            reserved: 0,
        }
    }
}

/// Fills `query` with the defaults: unit stiffness, all samples, with distance.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_voxelmap_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxelmap_query_init(query: *mut vxs_voxelmap_query, size: usize) -> vxs_status {
    entry!(vxs_voxelmap_query_init, [], { check::init(query, size, vxs_voxelmap_query::defaults()) })
}

/// Runs a pointshell against a voxelmap: contact manifold, force, torque, and penetration or distance (Sagardia, Stouraitis
/// & Lopes e Silva 2014, algorithm 1).
///
/// The sphere tree is visited in breadth-first order. A sphere collides if V can be 0 or more in it, by a bound that is proven
/// for the map. Each colliding sphere tests its parent point, a colliding leaf all its points. A sample with V(P) >= 0 is a
/// contact and pushes with f = stiffness V(P) n (equations 2 and 3). A sample beyond the voxels is never one. An answer that
/// `max_level` or a limit cuts short has valid contacts, and bounds the V of all others. Once the workspace is warm, the query
/// allocates nothing and takes no lock; the same input gives the same bytes, unless time is limited.
///
/// @param a              the voxelmap
/// @param b              the pointshell
/// @param query          null for the defaults
/// @param workspace      this thread's scratch
/// @param[out] answer    force, torque, distance, and number of contacts
/// @param[out] contacts  at most `capacity`, deepest first; may be null if `capacity` is 0
/// @param capacity       number of elements in `contacts`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `answer->count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_voxelmap(
    a: *const vxs_voxelmap_body,
    b: *const vxs_pointshell_body,
    query: *const vxs_voxelmap_query,
    workspace: *mut vxs_workspace,
    answer: *mut vxs_voxelmap_answer,
    contacts: *mut vxs_voxel_contact,
    capacity: usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_voxelmap(
            a,
            b,
            query,
            workspace,
            answer,
            Out(contacts, capacity, || (*answer).count as usize),
            capacity
        )),
        [check::first_of(a), check::first_of(b), workspace],
        {
            let (body_a, body_b) = (check::input("a", a)?, check::input("b", b)?);
            let map = handle::get("a->voxelmap", body_a.voxelmap)?;
            let shell = handle::get("b->pointshell", body_b.pointshell)?;
            let pose_a = check::pose_value("a->pose.", &body_a.pose)?;
            let pose_b = check::pose_value("b->pose.", &body_b.pose)?;
            let query = vxs_voxelmap_query::read(query)?.to_core(map)?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("answer", answer)?;
            check::out_array("contacts", contacts, "capacity", capacity)?;
            let mut scratch = scratch.lock("workspace")?;
            let found = voxel_query(map, &pose_a, shell, &pose_b, &query, &mut scratch.voxels);
            let manifold = scratch.voxels.manifold();
            for (i, contact) in manifold.iter().take(capacity).enumerate() {
                contacts.add(i).write(contact.into());
            }
            answer.write(vxs_voxelmap_answer {
                wrench: found.wrench.into(),
                penetration: found.penetration,
                max_penetration: found.most,
                count: manifold.len() as u64,
                node_tests: found.node_tests,
                sample_tests: found.sample_tests,
                answer: answer_of(found.completeness),
                levels: found.levels,
            });
            Ok(if manifold.len() > capacity { VXS_TRUNCATED } else { VXS_OK })
        }
    )
}

impl check::StartsWith<vxs_voxelmap> for vxs_voxelmap_body {}
impl check::StartsWith<vxs_pointshell> for vxs_pointshell_body {}
