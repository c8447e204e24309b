//! Queries of two implicit sphere trees, and the impulses at their voxel pairs.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::impulse::{mobility, vxs_impulse, vxs_impulses, vxs_mobility};
use super::query::vxs_workspace;
use super::record::argument::list;
use super::response::{kinematics, vxs_kinematics};
use super::status::*;
use super::types::*;
use super::voxtree::vxs_voxtree;
use crate::response::{self, Kinematics};
use crate::voxtree::{self, Placed, QueryOptions, VoxelPair};

/// A tree in motion.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxtree_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub voxtree: *const vxs_voxtree,
    /// Unit quaternion (checked to 1e-6).
    pub kinematics: vxs_kinematics,
}

/// Settings of a query of two trees. Fill it with `vxs_voxtree_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxtree_query {
    /// `sizeof(vxs_voxtree_query)`, set by `vxs_voxtree_query_init`.
    pub struct_size: u32,
    /// 1: spheres around whole cubes, and not only around the octants that have voxels. Slower, for comparison. Default 0.
    pub loose: u32,
    /// 1: tests the only child of a node, too. For comparison. Default 0.
    pub test_single: u32,
    /// 1: only voxels whose cubes have a common point, with the depth of the cubes. Default 0: of the spheres around the voxels.
    pub cubes: u32,
    /// Largest number of pairs, of the answer and of the lists on the way to it. Then the answer is coarse. Default 2^20.
    pub max_pairs: u32,
    /// Nodes of this level and below are not opened: a coarse answer. Default 0, which is the level of the voxels.
    pub least_level: u32,
    /// Number of sphere tests after which nothing is opened any more: a budget that does not depend on the clock. 0, the default: no
    /// limit.
    pub max_tests: u64,
}

/// Two voxels that intersect; in a coarse answer also two nodes whose spheres intersect. World frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_voxel_pair {
    /// Centres of the voxels, metres; of nodes those of their spheres.
    pub center_a: vxs_vec3,
    pub center_b: vxs_vec3,
    /// Outward unit normals; 0 if none is known.
    pub normal_a: vxs_vec3,
    pub normal_b: vxs_vec3,
    /// Velocity of B relative to A at the middle between the centres, m/s.
    pub velocity: vxs_vec3,
    /// Penetration depth, metres, 0 or more: the sum of the radii less the distance of the centres, or that of the cubes.
    pub depth: f64,
    /// Numbers of the voxels in their trees; of a node its number among the nodes.
    pub cell_a: u32,
    pub cell_b: u32,
    /// Levels: 0 for voxels.
    pub level_a: u32,
    pub level_b: u32,
}

/// Completeness and cost of the last query of two trees.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_voxtree_report {
    /// 1 if the answer has every pair of voxels that intersect. 0: the answer is coarse, and every such pair is below one of its pairs.
    pub complete: u32,
    /// Zero.
    pub reserved: u32,
    /// Number of tests of a sphere against a sphere.
    pub tests: u64,
    /// Number of pairs of nodes that were opened.
    pub opened: u64,
    /// Length of the longest list of pairs.
    pub longest: u64,
}

impl Growable for vxs_voxtree_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, loose: 0, test_single: 0, cubes: 0, max_pairs: 1 << 20, least_level: 0, max_tests: 0 }
    }
}

impl vxs_voxtree_query {
    fn to_core(self) -> Result<QueryOptions, Failure> {
        Ok(QueryOptions {
            tight: !check::flag("query->loose", self.loose)?,
            one_child: !check::flag("query->test_single", self.test_single)?,
            cubes: check::flag("query->cubes", self.cubes)?,
            max_pairs: check::in_range("query->max_pairs", self.max_pairs, 1, u32::MAX)? as usize,
            max_tests: check::limit(self.max_tests),
            least_level: self.least_level,
            deepest_first: true,
            ..QueryOptions::default()
        })
    }
}

impl From<&VoxelPair> for vxs_voxel_pair {
    fn from(p: &VoxelPair) -> Self {
        Self {
            center_a: p.center_a.into(),
            center_b: p.center_b.into(),
            normal_a: p.normal_a.into(),
            normal_b: p.normal_b.into(),
            velocity: p.velocity.into(),
            depth: p.depth,
            cell_a: p.cell_a,
            cell_b: p.cell_b,
            level_a: p.level_a,
            level_b: p.level_b,
        }
    }
}

/// Returns the handle at the start of a body, for the guard; null if there is none to read.
unsafe fn tree_of(body: *const vxs_voxtree_body) -> *const vxs_voxtree {
    check::shape_of(body).cast()
}

unsafe fn placed<'a>(argument: &str, body: *const vxs_voxtree_body) -> Result<Placed<'a>, Failure> {
    let body = check::input(argument, body)?;
    let shape = &**handle::get(format_args!("{argument}->voxtree"), body.voxtree)?;
    let Kinematics { pose, center, twist } = kinematics(format_args!("{argument}->kinematics"), &body.kinematics)?;
    Ok(Placed { shape, pose, center, twist })
}

/// Fills `query` with the defaults: all pairs of voxels whose spheres intersect.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_voxtree_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_query_init(query: *mut vxs_voxtree_query, size: usize) -> vxs_status {
    entry!(vxs_voxtree_query_init, [], { check::init(query, size, vxs_voxtree_query::defaults()) })
}

/// Finds the pairs of voxels of two trees that intersect (Ruffaldi et al. 2008, section 3.2). Once the workspace is warm, the query
/// allocates nothing and takes no lock; the same input gives the same bytes.
///
/// @param a, b         the two bodies; their trees may be the same
/// @param query        settings of the query; null for the defaults
/// @param workspace    this thread's scratch; keeps the report
/// @param[out] pairs   at most `capacity`, deepest first; may be null if `capacity` is 0
/// @param capacity     number of elements in `pairs`
/// @param[out] count   number of pairs, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_voxtrees(
    a: *const vxs_voxtree_body,
    b: *const vxs_voxtree_body,
    query: *const vxs_voxtree_query,
    workspace: *mut vxs_workspace,
    pairs: *mut vxs_voxel_pair,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_voxtrees(a, b, query, workspace, list(pairs, capacity, count), capacity, count)),
        [tree_of(a), tree_of(b), workspace],
        {
            let (a, b) = (placed("a", a)?, placed("b", b)?);
            let options = vxs_voxtree_query::read(query)?.to_core()?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("pairs", pairs, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let found = voxtree::query(&a, &b, &options, &mut scratch.voxtrees)?;
            list.write(found.iter().map(Into::into))
        }
    )
}

/// Gets the report on the last query of two trees in a workspace.
///
/// @param workspace    the workspace of the query
/// @param[out] report  completeness and cost; all 0 before the first query
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_voxtree_report(
    workspace: *mut vxs_workspace,
    report: *mut vxs_voxtree_report,
) -> vxs_status {
    entry!(fast(vxs_workspace_get_voxtree_report(workspace, report)), [workspace], {
        let scratch = handle::get("workspace", workspace)?;
        check::out("report", report)?;
        let last = scratch.lock("workspace")?.voxtrees.report();
        let complete = last.complete.into();
        let value =
            vxs_voxtree_report { complete, reserved: 0, tests: last.tests, opened: last.opened, longest: last.longest };
        check::write(report, value)
    })
}

/// Computes the impulses that separate two trees at their voxel pairs, deepest pair first (Ruffaldi et al. 2008, section 3.3.1): as
/// `vxs_query_impulse`, with one contact for each pair of voxels whose spheres intersect. The normal of a contact is that of A's voxel
/// less that of B's, and the direction between the centres where there is none.
///
/// @param a, b                    the two bodies; `center` is the centre of mass
/// @param mobility_a, mobility_b  response of each body to impulses
/// @param impulse                 settings of the impulses; `max_separation` must be 0
/// @param workspace               this thread's scratch; keeps the report
/// @param[out] impulses           impulse on each body
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_voxtree_impulse(
    a: *const vxs_voxtree_body,
    mobility_a: *const vxs_mobility,
    b: *const vxs_voxtree_body,
    mobility_b: *const vxs_mobility,
    impulse: *const vxs_impulse,
    workspace: *mut vxs_workspace,
    impulses: *mut vxs_impulses,
) -> vxs_status {
    entry!(
        fast(vxs_query_voxtree_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses)),
        [tree_of(a), tree_of(b), workspace],
        {
            let (a, b) = (placed("a", a)?, placed("b", b)?);
            let (of_a, of_b) = (mobility("mobility_a", mobility_a)?, mobility("mobility_b", mobility_b)?);
            let given = vxs_impulse::read(impulse)?;
            let settings = given.to_core()?;
            if given.max_separation != 0.0 {
                return Err(Failure::argument("impulse->max_separation", given.max_separation, "0"));
            }
            let scratch = handle::get("workspace", workspace)?;
            check::out("impulses", impulses)?;
            let mut scratch = scratch.lock("workspace")?;
            let scratch = &mut *scratch;
            let pairs = voxtree::query(&a, &b, &QueryOptions::default(), &mut scratch.voxtrees)?;
            response::voxel_contacts(pairs, &mut scratch.voxel_contacts);
            let at = |p: &Placed| Kinematics { pose: p.pose, center: p.center, twist: p.twist };
            let (at_a, at_b) = (at(&a), at(&b));
            let found = &scratch.voxel_contacts;
            check::write(impulses, response::impulse(found, (&at_a, &of_a), (&at_b, &of_b), &settings).into())
        }
    )
}
