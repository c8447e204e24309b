//! Inputs and outputs of queries: plain structs, and the functions that fill them with defaults.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::status::*;
use super::types::*;
use crate::contact::{Budget, Completeness, Contact, Coverage, Query, Roles, Segmentation, Step, Workspace};

/// A shape at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub shape: *const vxs_shape,
    /// Body to world; its quaternion has unit length (checked to 1e-6).
    pub pose: vxs_pose,
}

/// The library chooses which body brings the pointshell. Edges and tips fit between the samples of another body, so if a body
/// is sharp, both bodies do. Otherwise, and for forces, which add up over the contacts, and if the query tests the edges of
/// both meshes: the body with fewer samples; if these are farther apart than an eighth of the smaller body's radius, the body
/// with the closer samples. If only one assignment is possible, the library chooses that one.
pub const VXS_ROLES_AUTO: u32 = 0;
/// Pointshell of A against field of B.
pub const VXS_ROLES_SHELL_OF_A: u32 = 1;
/// Pointshell of B against field of A.
pub const VXS_ROLES_SHELL_OF_B: u32 = 2;
/// Both assignments; the contacts are merged.
pub const VXS_ROLES_BOTH: u32 = 3;

/// Contacts are samples of the pointshells. Faster, but what fits between the samples is missed.
pub const VXS_COVERAGE_SAMPLES: u32 = 0;
/// Contacts are samples of the pointshells, and the edges of both meshes where they pass through the other mesh: one
/// contact at the deepest point of each part of an edge that is inside; edges that are deepest at a common corner have one.
/// No intersection of the meshes is missed. With a `max_separation` above 0 also the places before touching where sharp
/// edges and corners of the meshes are locally closest: two edges, or a corner and a surface, apart by at most that
/// separation or a quarter of the smaller body's extent. Sharp is a convex edge at which the surface turns by more than 10
/// degrees. Samples within four voxels of the other mesh have the exact separation, direction and closest point of its
/// triangles. Against a bounded convex analytic shape, such as a sphere, contacts are samples, and places of the faces
/// between them, up to a separation of its least half extent: no place of the mesh is deeper than a contact near it by
/// more than 1/1000 of that, and a shape whose middle is in the mesh has a contact where it leads out. With a limit on
/// the search, contacts are as with VXS_COVERAGE_SAMPLES.
pub const VXS_COVERAGE_EDGES: u32 = 1;
/// As VXS_COVERAGE_EDGES for two meshes of flat faces that have at most 200 edges each, or at most 20,000 triangles while
/// they hardly move in a step with `extremes_only`. In such a step edges and corners are tested alone, with
/// VXS_COVERAGE_EDGES too: exact, and at a price that does not depend on the number of samples. For all others as
/// VXS_COVERAGE_SAMPLES and, where no sample touches, the edges that pass through the other mesh: none of their
/// intersections is missed.
pub const VXS_COVERAGE_FACETS: u32 = 2;

pub(super) const COVERAGES: [Coverage; 3] = [Coverage::Samples, Coverage::Edges, Coverage::Facets];

/// All contacts form one manifold, as without a `vxs_query_segmentation`.
pub const VXS_SEGMENTATION_NONE: u32 = 0;
/// Segments are the nodes of a level of the pointshell's sphere tree; only the deepest contact of each is kept.
pub const VXS_SEGMENTATION_LEVEL: u32 = 1;
/// Segments are contact regions: sets of contacts connected in space and in normal.
pub const VXS_SEGMENTATION_REGION: u32 = 2;

/// Division of contacts into segments. Fill it with `vxs_query_segmentation_init`, then change fields as needed.
/// `vxs_workspace_get_segments` gets the segment of each contact.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_segmentation {
    /// `sizeof(vxs_query_segmentation)`, set by `vxs_query_segmentation_init`.
    pub struct_size: u32,
    /// One of `VXS_SEGMENTATION_`. Default VXS_SEGMENTATION_REGION.
    pub kind: u32,
    /// VXS_SEGMENTATION_LEVEL: the level, 0 for the root of the tree, which is one segment; a level beyond the last one
    /// means the last one. Segments have the numbers of the nodes in their level; if both bodies bring pointshells, the
    /// segments of B follow those of A.
    pub level: u32,
    /// Zero.
    pub reserved: u32,
    /// VXS_SEGMENTATION_REGION: contacts up to this far apart are connected, metres. Default 0: five halves of the
    /// larger `spacing` of the pointshells used.
    pub distance: f64,
    /// VXS_SEGMENTATION_REGION: normals of connected contacts differ by at most this, radians, 0 to pi. Default pi / 4.
    pub angle: f64,
    /// VXS_SEGMENTATION_REGION: the segment of each of the query's `preferred` features in the last answer. A region
    /// then keeps its number while it keeps some of its features. Default: null, and regions are numbered anew, deepest
    /// first.
    pub preferred_segments: *const u32,
}

/// Limits that end a search for contacts early. Fill it with `vxs_query_limit_init`, then change fields as needed.
/// `vxs_workspace_get_report` gives a bound on the contacts that were left out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_limit {
    /// `sizeof(vxs_query_limit)`, set by `vxs_query_limit_init`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Largest number of spheres and samples to test. The search visits the deepest first and returns the contacts
    /// found until then. Default 0: no limit.
    pub max_tests: u64,
    /// Time limit, nanoseconds. The clock is read after every eight opened nodes of the tree. The query can overrun the
    /// limit by the time of these nodes and of making the contacts. Default 0: no limit.
    pub max_nanoseconds: u64,
    /// Nodes of the sphere tree with at most this radius are not refined, metres; a sample in their middle represents
    /// them. Default 0: all samples are tested.
    pub accuracy: f64,
}

/// Solver step for which contacts are needed. The query leaves out contacts that cannot count in the step. Fill it with
/// `vxs_query_step_init`, then change fields as needed. `dense_above`, `extremes_only` and `max_gap` are ignored if the query
/// has a limit, and against sheets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_step {
    /// `sizeof(vxs_query_step)`, set by `vxs_query_step_init`.
    pub struct_size: u32,
    /// 1 to leave out samples between others that a solver needs. Against a half-space only the samples at the corners of
    /// the pointshell's convex hull are found. At every pose these are the deepest, and those with the least gaps, up to
    /// 1/65,536 of the pointshell's radius. A pointshell with more than 2,048 of them, a round one, is searched as
    /// otherwise. The first such query of a shape finds them, unless `vxs_shape_prepare_extremes` has done so. Between two
    /// meshes of flat faces, with VXS_COVERAGE_EDGES or VXS_COVERAGE_FACETS, only edges and corners are found: the outline of
    /// faces that lie on each other. Flat: the mesh is one piece, and each convex edge turns by more than 10 degrees or lies in
    /// a flat face. They must move in the step by
    /// at most 0.006 times the smaller mesh's radius, half the diagonal of its box. Default 0: all samples.
    pub extremes_only: u32,
    /// Number of samples above which contacts are dense. If more samples of a pointshell than this are within
    /// `max_separation` and `max_gap`, the contacts are thinned. The pointshell is divided into groups of samples, by
    /// region and by the direction that its surface faces. The query keeps of each group the sample with the least gap
    /// and the nearest sample, as found from one sample of each leaf of the tree and all samples of the leaves that promise most,
    /// and all samples of `preferred`. The number is estimated from the same samples. Default 0: no thinning.
    pub dense_above: u64,
    /// Samples with a gap above this are left out, except those of `preferred`, metres. The gap is the separation at
    /// the end of the step: the separation minus max(0, normal . (shift + turn x (point - center))). With
    /// VXS_COVERAGE_EDGES, samples whose closest point is beside them, more than 72 degrees from the normals of their own
    /// surface, and sharp features that cannot touch in the step, are left out too. So are contacts ahead of time that the
    /// step cannot bring, except those of `preferred`: one farther than half of `max_gap` whose point, moved straight through the step,
    /// passes the other body by, and one whose own surface is flat up to below the other body's point if another contact is
    /// nearer there. So is one, also of `preferred`, whose point comes past an edge of the other body and then below a face on which `gained_by_a` and
    /// `gained_by_b` press, no deeper than 1/2,000 of the extent of the smaller body. So neither a floor nor the next tile stops a
    /// body that slides over it. Default infinity.
    pub max_gap: f64,
    /// Motion of A relative to B in the step, world frame: the point of A at `center`, metres, moves by `shift`,
    /// metres, and A rotates around it by the vector `turn`, radians. Default 0.
    pub center: vxs_vec3,
    pub shift: vxs_vec3,
    pub turn: vxs_vec3,
    /// What gravity and other forces add to the motion of A, and of B, metres: parts of `shift`. A body that lies on a third one
    /// does not get it. So the gap of a contact is that without the part which takes either body away from the other, and a body
    /// that falls on one at rest is stopped at its surface. Default 0.
    pub gained_by_a: vxs_vec3,
    pub gained_by_b: vxs_vec3,
}

/// Settings of a query. Fill it with `vxs_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query {
    /// `sizeof(vxs_query)`, set by `vxs_query_init`.
    pub struct_size: u32,
    /// One of `VXS_ROLES_`.
    pub roles: u32,
    /// Contacts: largest separation that is reported, metres. Default 0: touching or penetrating. May be negative.
    pub max_separation: f64,
    /// Distance: largest distance that is found, metres. Default infinity.
    pub max_distance: f64,
    /// Against sheets: largest depth behind the surface at which samples are searched for, metres, 0 or more. Default
    /// infinity: the depth of the sheet is the limit. A caller that knows a bound on the current depth saves time by
    /// setting it.
    pub max_depth: f64,
    /// Contacts: number to which they are reduced, the deepest first and then the widest spread; with regions, the
    /// number per region. Default 0: no reduction.
    pub max_contacts: u32,
    /// Number of `preferred`.
    pub preferred_count: u32,
    /// Contacts: features that a reduction keeps if they are nearly as good as others, so that a manifold does not
    /// flicker from step to step: the features of the last answer, in ascending order. Default: null, none.
    pub preferred: *const u32,
    /// Contacts: limits of the search. Default: null, no limits.
    pub limit: *const vxs_query_limit,
    /// Contacts: the step for which they are needed. Default: null, all contacts are reported.
    pub step: *const vxs_query_step,
    /// Contacts: their division into segments. Default: null, all form one manifold.
    pub segmentation: *const vxs_query_segmentation,
    /// One of `VXS_COVERAGE_`. Default VXS_COVERAGE_EDGES. Edges are tested only if both shapes have a mesh that is closed
    /// and a field of it, and faces only if one has and the other is a bounded convex analytic shape; neither with a
    /// `limit`. The first such query of a shape prepares it, unless `vxs_shape_prepare_coverage` has done so.
    pub coverage: u32,
    /// Zero.
    pub reserved: u32,
}

/// Set in a feature of body B.
pub const VXS_FEATURE_OF_B: u32 = 0x8000_0000;
/// Set in a feature that is an edge of a mesh and no sample.
pub const VXS_FEATURE_OF_EDGE: u32 = 0x4000_0000;

/// One contact of two bodies A and B. World frame, metres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_contact {
    /// Point on the surface of A, and point on the surface of B.
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
    /// Unit vector from A to B.
    pub normal: vxs_vec3,
    /// Signed distance of the sample to the other body: negative when penetrating. With VXS_COVERAGE_EDGES it is exact
    /// near the mesh, otherwise that of the field. For an edge: the exact distance, of its deepest point if it is inside,
    /// and of the closest points if it is not.
    pub separation: f64,
    /// Fraction of the motion at which the bodies touch, 0 to 1; 0 for discrete queries.
    pub toi: f64,
    /// Number of the sample of the pointshell or, with VXS_FEATURE_OF_EDGE, of the edge of the mesh, the same from call to
    /// call; VXS_FEATURE_OF_B is set if it is B's. A corner has the number of an edge that ends there, and two edges that of
    /// A's edge. An edge can have several contacts.
    pub feature: u32,
    /// Zero.
    pub reserved: u32,
}

/// Every contact was found.
pub const VXS_ANSWER_COMPLETE: u32 = 0;
/// Representative samples stand for balls as small as the accuracy.
pub const VXS_ANSWER_COARSE: u32 = 1;
/// A limit ended the search.
pub const VXS_ANSWER_PARTIAL: u32 = 2;
/// Dense contacts were thinned to the most urgent ones.
pub const VXS_ANSWER_URGENT: u32 = 3;
/// Against a half-space, every contact at a corner of the convex hull was found; between meshes of flat faces, every contact
/// of an edge or a corner.
pub const VXS_ANSWER_EXTREMES: u32 = 4;

/// Report on the last query of a workspace. Call `vxs_query_report_init`, then `vxs_workspace_get_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_report {
    /// `sizeof(vxs_query_report)`, set by `vxs_query_report_init`.
    pub struct_size: u32,
    /// One of `VXS_ANSWER_`.
    pub answer: u32,
    /// The query tested this, one of `VXS_COVERAGE_`: samples; the edges and corners of flat faces alone (`FACETS`); samples and
    /// edges. All but samples alone are exact.
    pub coverage: u32,
    /// Zero.
    pub reserved: u32,
    /// Number of spheres of the tree, and of samples, that were tested.
    pub node_tests: u64,
    pub sample_tests: u64,
    /// Proven lower bound on the separations of all samples that were left out, metres. Infinity if none was left out,
    /// minus infinity if no bound is known.
    pub least_missed: f64,
}

pub(super) const ROLES: [Roles; 4] = [Roles::Auto, Roles::ShellOfA, Roles::ShellOfB, Roles::Both];
/// The same for forces that add up over the contacts.
pub(super) const ROLES_OF_FORCES: [Roles; 4] = [Roles::One, Roles::ShellOfA, Roles::ShellOfB, Roles::Both];

impl Growable for vxs_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = Query::default();
        Self {
            struct_size: 0,
            roles: VXS_ROLES_AUTO,
            max_separation: core.max_separation,
            max_distance: f64::INFINITY,
            max_depth: core.max_depth,
            max_contacts: core.max_contacts as u32,
            preferred_count: 0,
            preferred: std::ptr::null(),
            limit: std::ptr::null(),
            step: std::ptr::null(),
            segmentation: std::ptr::null(),
            coverage: VXS_COVERAGE_EDGES,
            reserved: 0,
        }
    }
}

impl Growable for vxs_query_limit {
    const ARGUMENT: &'static str = "limit";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let accuracy = Query::default().budget.accuracy;
        Self { struct_size: 0, reserved: 0, max_tests: 0, max_nanoseconds: 0, accuracy }
    }
}

impl Growable for vxs_query_step {
    const ARGUMENT: &'static str = "step";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let zero = vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 };
        Self {
            struct_size: 0,
            extremes_only: 0,
            dense_above: 0,
            max_gap: f64::INFINITY,
            center: zero,
            shift: zero,
            turn: zero,
            gained_by_a: zero,
            gained_by_b: zero,
        }
    }
}

impl Growable for vxs_query_segmentation {
    const ARGUMENT: &'static str = "segmentation";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        let Segmentation::Region { distance, angle } = Segmentation::REGION else { unreachable!() };
        Self {
            struct_size: 0,
            kind: VXS_SEGMENTATION_REGION,
            level: 0,
            reserved: 0,
            distance,
            angle,
            preferred_segments: std::ptr::null(),
        }
    }
}

impl Growable for vxs_query_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            answer: VXS_ANSWER_COMPLETE,
            coverage: VXS_COVERAGE_SAMPLES,
            reserved: 0,
            node_tests: 0,
            sample_tests: 0,
            least_missed: 0.0,
        }
    }
}

/// Returns the constant of a completeness.
pub(super) fn answer_of(completeness: Completeness) -> u32 {
    match completeness {
        Completeness::Complete => VXS_ANSWER_COMPLETE,
        Completeness::Extremes => VXS_ANSWER_EXTREMES,
        Completeness::Urgent => VXS_ANSWER_URGENT,
        Completeness::Coarse => VXS_ANSWER_COARSE,
        Completeness::Partial => VXS_ANSWER_PARTIAL,
    }
}

impl vxs_query_report {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let (stats, report) = (workspace.stats(), workspace.report());
        let answer = answer_of(report.completeness);
        let coverage = match report.coverage {
            Coverage::Samples => VXS_COVERAGE_SAMPLES,
            Coverage::Edges => VXS_COVERAGE_EDGES,
            Coverage::Facets => VXS_COVERAGE_FACETS,
        };
        let (node_tests, sample_tests) = (stats.node_tests, stats.sample_tests);
        let least_missed = report.least_missed;
        Self { struct_size: 0, answer, coverage, reserved: 0, node_tests, sample_tests, least_missed }
    }
}

impl vxs_query {
    /// Converts to a query for contacts. It borrows the caller's preferred features for the time of the call.
    pub(super) unsafe fn contacts<'a>(&self) -> Result<Query<'a>, Failure> {
        let roles = self.roles()?;
        let max_separation = check::coordinate("query->max_separation", self.max_separation)?;
        let preferred: &[u32] =
            check::slice("query->preferred", self.preferred, "query->preferred_count", self.preferred_count as usize)?;
        check::ascending("query->preferred", preferred)?;
        let (segmentation, preferred_segments) = self.segmentation(preferred.len())?;
        let limit = vxs_query_limit::read_as("query->limit", self.limit)?;
        Ok(Query {
            roles,
            max_separation,
            max_contacts: self.max_contacts as usize,
            preferred,
            max_depth: self.max_depth,
            segmentation,
            preferred_segments,
            budget: Budget {
                tests: check::limit(limit.max_tests),
                nanoseconds: check::limit(limit.max_nanoseconds),
                accuracy: check::length_or_zero("query->limit->accuracy", limit.accuracy)?,
            },
            step: self.step()?,
            coverage: self.coverage()?,
            owners: None,
        })
    }

    /// Returns the segmentation and, if the caller gives them, the segments of the preferred features.
    unsafe fn segmentation<'a>(&self, preferred_count: usize) -> Result<(Segmentation, &'a [u32]), Failure> {
        if self.segmentation.is_null() {
            return Ok((Segmentation::None, &[]));
        }
        let given = vxs_query_segmentation::read_as("query->segmentation", self.segmentation)?;
        let segments = match given.preferred_segments {
            none if none.is_null() => &[],
            some => check::slice(
                "query->segmentation->preferred_segments",
                some,
                "query->preferred_count",
                preferred_count,
            )?,
        };
        let distance = check::length_or_zero("query->segmentation->distance", given.distance)?;
        let angle = check::in_range("query->segmentation->angle", given.angle, 0.0, std::f64::consts::PI)?;
        let kinds = [Segmentation::None, Segmentation::Level(given.level), Segmentation::Region { distance, angle }];
        Ok((check::choice("query->segmentation->kind", given.kind, "VXS_SEGMENTATION_", &kinds)?, segments))
    }

    /// Returns the step if it leaves anything out. Checks fields that are not used too.
    unsafe fn step(&self) -> Result<Option<Step>, Failure> {
        let given = vxs_query_step::read_as("query->step", self.step)?;
        check::bound("query->step->max_gap", given.max_gap)?;
        let step = Step {
            center: check::point("query->step->center", given.center)?,
            shift: check::point("query->step->shift", given.shift)?,
            turn: check::quantities("query->step->turn", given.turn)?,
            gained: [
                check::point("query->step->gained_by_a", given.gained_by_a)?,
                check::point("query->step->gained_by_b", given.gained_by_b)?,
            ],
            max_gap: given.max_gap,
            dense_above: usize::try_from(given.dense_above).unwrap_or(usize::MAX),
            extremes_only: check::flag("query->step->extremes_only", given.extremes_only)?,
        };
        let leaves_out = step.dense_above > 0 || step.extremes_only || step.max_gap < f64::INFINITY;
        Ok(leaves_out.then_some(step))
    }

    /// Returns the roles. Also checks the fields that every query checks, whether it uses them or not.
    pub(super) fn roles(&self) -> Result<Roles, Failure> {
        check::bound("query->max_distance", self.max_distance)?;
        check::in_range("query->max_depth", self.max_depth, 0.0, f64::INFINITY)?;
        self.coverage()?;
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        check::choice("query->roles", self.roles, "VXS_ROLES_", &ROLES)
    }

    pub(super) fn coverage(&self) -> Result<Coverage, Failure> {
        check::choice("query->coverage", self.coverage, "VXS_COVERAGE_", &COVERAGES)
    }
}

impl From<&Contact> for vxs_contact {
    fn from(c: &Contact) -> Self {
        Self {
            point_on_a: c.point_on_a.into(),
            point_on_b: c.point_on_b.into(),
            normal: c.normal.into(),
            separation: c.separation,
            toi: c.toi,
            feature: c.feature,
            reserved: 0,
        }
    }
}

/// Fills `query` with the defaults.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_init(query: *mut vxs_query, size: usize) -> vxs_status {
    entry!(vxs_query_init, [], { check::init(query, size, vxs_query::defaults()) })
}

/// Fills `limit` with the defaults: no limit.
///
/// @param[out] limit  the struct to fill
/// @param size         `sizeof(vxs_query_limit)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_limit_init(limit: *mut vxs_query_limit, size: usize) -> vxs_status {
    entry!(vxs_query_limit_init, [], { check::init(limit, size, vxs_query_limit::defaults()) })
}

/// Fills `step` with the defaults: nothing is left out.
///
/// @param[out] step  the struct to fill
/// @param size        `sizeof(vxs_query_step)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_step_init(step: *mut vxs_query_step, size: usize) -> vxs_status {
    entry!(vxs_query_step_init, [], { check::init(step, size, vxs_query_step::defaults()) })
}

/// Fills `segmentation` with the defaults: regions.
///
/// @param[out] segmentation  the struct to fill
/// @param size                `sizeof(vxs_query_segmentation)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_segmentation_init(
    segmentation: *mut vxs_query_segmentation,
    size: usize,
) -> vxs_status {
    entry!(vxs_query_segmentation_init, [], { check::init(segmentation, size, vxs_query_segmentation::defaults()) })
}

/// Prepares `report` for `vxs_workspace_get_report`: sets its size and zeroes the rest.
///
/// @param[out] report  the struct to fill
/// @param size         `sizeof(vxs_query_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_report_init(report: *mut vxs_query_report, size: usize) -> vxs_status {
    entry!(vxs_query_report_init, [], { check::init(report, size, vxs_query_report::defaults()) })
}
