//! What queries take and give: plain structs, and the functions that fill them with defaults.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::status::*;
use super::types::*;
use crate::contact::{Budget, Completeness, Contact, Query, Roles, Segmentation, Step, Workspace};

/// A shape at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub shape: *const vxs_shape,
    /// Body to world; its quaternion is of unit length (checked to 1e-6).
    pub pose: vxs_pose,
}

/// The library chooses which body brings the pointshell: the one with fewer samples, unless these are farther apart than an
/// eighth of the smaller body's radius: then the one with the closer samples. Or whichever can.
pub const VXS_ROLES_AUTO: u32 = 0;
/// Pointshell of A against field of B.
pub const VXS_ROLES_SHELL_OF_A: u32 = 1;
/// Pointshell of B against field of A.
pub const VXS_ROLES_SHELL_OF_B: u32 = 2;
/// Both ways; the contacts are merged.
pub const VXS_ROLES_BOTH: u32 = 3;

/// All contacts are one manifold.
pub const VXS_SEGMENTATION_NONE: u32 = 0;
/// Segments are the nodes of a level of the pointshell's sphere tree: the deepest contact of each alone.
pub const VXS_SEGMENTATION_LEVEL: u32 = 1;
/// Segments are the regions in which contacts are connected, in space and in normal.
pub const VXS_SEGMENTATION_REGION: u32 = 2;

/// What a query looks for. Fill it with `vxs_query_init`, then change what you want.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query {
    /// `sizeof(vxs_query)`, set by `vxs_query_init`.
    pub struct_size: u32,
    /// One of `VXS_ROLES_`.
    pub roles: u32,
    /// Contacts: those with a separation up to this are reported, metres. Default 0: touching or penetrating. May be
    /// negative.
    pub max_separation: f64,
    /// Distance: bodies farther apart than this are not found, metres. Default infinity.
    pub max_distance: f64,
    /// Contacts: reduce to this many, each region to as many, the deepest first and then the widest spread. Default 0: all
    /// of them.
    pub max_contacts: u32,
    /// Number of `preferred`.
    pub preferred_count: u32,
    /// Contacts: features that a reduction keeps when they are nearly as good as others, so that a manifold does not
    /// flicker from step to step: those of the last answer, in ascending order. Default: null, none.
    pub preferred: *const u32,
    /// Against sheets: samples deeper behind the surface than this are not looked for, metres, 0 or more. Default infinity:
    /// as deep as the sheet sees. A caller who knows that bodies cannot be deeper by now saves time.
    pub max_depth: f64,
    /// Contacts: one of `VXS_SEGMENTATION_`. What segment each contact is in, `vxs_workspace_get_segments` says.
    pub segmentation: u32,
    /// VXS_SEGMENTATION_LEVEL: the level, 0 for the root of the tree, which is one segment; the last one where there are
    /// fewer. Segments are numbered as the nodes of the level; those of B follow those of A when both bring pointshells.
    pub segment_level: u32,
    /// VXS_SEGMENTATION_REGION: contacts up to this far apart are connected, metres. Default 0: five halves of the larger
    /// `spacing` of the pointshells used.
    pub region_distance: f64,
    /// VXS_SEGMENTATION_REGION: and whose normals differ by at most this, radians, 0 to pi. Default pi / 4.
    pub region_angle: f64,
    /// VXS_SEGMENTATION_REGION: the segment of each of `preferred` in the last answer, so that a region keeps its number
    /// while it keeps some of its features. Default: null, and regions are numbered anew, deepest first.
    pub preferred_segments: *const u32,
    /// Contacts: spheres and samples that may be tested, after which the answer is what was found. Deepest first. What was left
    /// out, `vxs_workspace_get_report` bounds. Default 0: no limit.
    pub max_tests: u64,
    /// Contacts: time that may be taken, nanoseconds. The clock is read whenever eight nodes of the tree were opened; the
    /// limit is overrun by what those take and by making the contacts. Default 0: no limit.
    pub max_nanoseconds: u64,
    /// Contacts: nodes of the sphere tree with at most this radius are not refined, metres; a sample in their middle stands
    /// for them. Default 0: all samples are looked at.
    pub accuracy: f64,
    /// Contacts: when more samples of a pointshell than this are within `max_separation` and `max_gap`, only those that may count
    /// for a solver are contacts: of each part of the pointshell and each way its surface faces the one with the least gap, the
    /// deepest, and those of `preferred`. Default 0: all are. Not together with a limit, nor against sheets.
    pub crowd: u64,
    /// Contacts: samples with gaps above this are left out, but for those of `preferred`, metres. The gap is the separation at the
    /// end of a step: max(0, normal . (step_shift + step_turn x (point - step_center))) less than it is. Default infinity. Not
    /// together with a limit, nor against sheets.
    pub max_gap: f64,
    /// The step: the point of A, metres, world frame, that moves in it against B by `step_shift`, metres, while A turns around it by
    /// the vector `step_turn`, radians. Default 0.
    pub step_center: vxs_vec3,
    pub step_shift: vxs_vec3,
    pub step_turn: vxs_vec3,
}

/// One contact of two bodies A and B. World frame, metres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_contact {
    /// The point on the surface of A, and the one on B.
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
    /// Unit vector from A to B.
    pub normal: vxs_vec3,
    /// Signed distance of the sample to the other body: negative when penetrating.
    pub separation: f64,
    /// Fraction of the motion at which they touch, 0 to 1; 0 for discrete queries.
    pub toi: f64,
    /// Which sample of the pointshell this is, the same from call to call; bit 31 is set for a sample of B.
    pub feature: u32,
    /// Zero.
    pub reserved: u32,
}

/// Every contact was found.
pub const VXS_ANSWER_COMPLETE: u32 = 0;
/// Samples stand for balls as small as the accuracy.
pub const VXS_ANSWER_COARSE: u32 = 1;
/// A limit ended the search.
pub const VXS_ANSWER_PARTIAL: u32 = 2;
/// Of a crowd the most urgent contacts were.
pub const VXS_ANSWER_URGENT: u32 = 3;

/// What the last query of a workspace did. Call `vxs_query_report_init`, then `vxs_workspace_get_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_report {
    /// `sizeof(vxs_query_report)`, set by `vxs_query_report_init`.
    pub struct_size: u32,
    /// One of `VXS_ANSWER_`.
    pub answer: u32,
    /// Spheres of the tree, and samples, that were tested.
    pub node_tests: u64,
    pub sample_tests: u64,
    /// No sample that was left out has a separation below this, metres: a proof. Infinity when none was left out, minus
    /// infinity when nothing is known.
    pub least_missed: f64,
}

pub(super) const ROLES: [Roles; 4] = [Roles::Auto, Roles::ShellOfA, Roles::ShellOfB, Roles::Both];

impl Growable for vxs_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] =
        &[std::mem::offset_of!(Self, max_depth), std::mem::offset_of!(Self, segmentation), std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = Query::default();
        let Segmentation::Region { distance, angle } = Segmentation::REGION else { unreachable!() };
        Self {
            struct_size: 0,
            roles: VXS_ROLES_AUTO,
            max_separation: core.max_separation,
            max_distance: f64::INFINITY,
            max_contacts: core.max_contacts as u32,
            preferred_count: 0,
            preferred: std::ptr::null(),
            max_depth: core.max_depth,
            segmentation: VXS_SEGMENTATION_NONE,
            segment_level: 0,
            region_distance: distance,
            region_angle: angle,
            preferred_segments: std::ptr::null(),
            max_tests: 0,
            max_nanoseconds: 0,
            accuracy: core.budget.accuracy,
            crowd: 0,
            max_gap: f64::INFINITY,
            step_center: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
            step_shift: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
            step_turn: vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 },
        }
    }
}

impl Growable for vxs_query_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self { struct_size: 0, answer: VXS_ANSWER_COMPLETE, node_tests: 0, sample_tests: 0, least_missed: 0.0 }
    }
}

impl vxs_query_report {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let (stats, report) = (workspace.stats(), workspace.report());
        let answer = match report.completeness {
            Completeness::Complete => VXS_ANSWER_COMPLETE,
            Completeness::Urgent => VXS_ANSWER_URGENT,
            Completeness::Coarse => VXS_ANSWER_COARSE,
            Completeness::Partial => VXS_ANSWER_PARTIAL,
        };
        let least_missed = report.least_missed;
        Self { struct_size: 0, answer, node_tests: stats.node_tests, sample_tests: stats.sample_tests, least_missed }
    }
}

impl vxs_query {
    /// For contacts. The preferred features stay the caller's, for the time of the call.
    pub(super) unsafe fn contacts<'a>(&self) -> Result<Query<'a>, Failure> {
        let roles = self.roles()?;
        let max_separation = check::coordinate("query->max_separation", self.max_separation)?;
        let preferred: &[u32] =
            check::slice("query->preferred", self.preferred, "query->preferred_count", self.preferred_count as usize)?;
        check::ascending("query->preferred", preferred)?;
        let preferred_segments = match self.preferred_segments {
            none if none.is_null() => &[],
            given => check::slice("query->preferred_segments", given, "query->preferred_count", preferred.len())?,
        };
        let distance = check::length_or_zero("query->region_distance", self.region_distance)?;
        let angle = check::in_range("query->region_angle", self.region_angle, 0.0, std::f64::consts::PI)?;
        let segmentations =
            [Segmentation::None, Segmentation::Level(self.segment_level), Segmentation::Region { distance, angle }];
        Ok(Query {
            roles,
            max_separation,
            max_contacts: self.max_contacts as usize,
            preferred,
            max_depth: self.max_depth,
            segmentation: check::choice("query->segmentation", self.segmentation, "VXS_SEGMENTATION_", &segmentations)?,
            preferred_segments,
            budget: Budget {
                tests: check::limit(self.max_tests),
                nanoseconds: check::limit(self.max_nanoseconds),
                accuracy: check::length_or_zero("query->accuracy", self.accuracy)?,
            },
            step: self.step()?,
            owners: None,
        })
    }

    /// Also checks what is not used.
    fn step(&self) -> Result<Option<Step>, Failure> {
        check::bound("query->max_gap", self.max_gap)?;
        let step = Step {
            center: check::point("query->step_center", self.step_center)?,
            shift: check::point("query->step_shift", self.step_shift)?,
            turn: check::quantities("query->step_turn", self.step_turn)?,
            max_gap: self.max_gap,
            crowd: usize::try_from(self.crowd).unwrap_or(usize::MAX),
        };
        Ok((step.crowd > 0 || step.max_gap < f64::INFINITY).then_some(step))
    }

    /// Also checks what every query checks, whether it uses it or not.
    pub(super) fn roles(&self) -> Result<Roles, Failure> {
        check::bound("query->max_distance", self.max_distance)?;
        check::in_range("query->max_depth", self.max_depth, 0.0, f64::INFINITY)?;
        check::choice("query->roles", self.roles, "VXS_ROLES_", &ROLES)
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
/// @param[out] query  what to fill
/// @param size        `sizeof(vxs_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_init(query: *mut vxs_query, size: usize) -> vxs_status {
    entry!(vxs_query_init, [], { check::init(query, size, vxs_query::defaults()) })
}

/// Prepares `report` for `vxs_workspace_get_report`: sets its size and zeroes the rest.
///
/// @param[out] report  what to fill
/// @param size         `sizeof(vxs_query_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_report_init(report: *mut vxs_query_report, size: usize) -> vxs_status {
    entry!(vxs_query_report_init, [], { check::init(report, size, vxs_query_report::defaults()) })
}
