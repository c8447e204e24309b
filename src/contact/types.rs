//! Bodies, contacts, queries and what they report. Continuous queries share them.

use std::fmt;
use std::sync::Arc;

use crate::field::Field;
use crate::math::Vec3;
use crate::pointshell::PointShell;
use crate::{Error, Result};

/// The two forms of a body, whichever it has.
#[derive(Clone, Copy)]
pub struct Geometry<'a> {
    pub field: Option<&'a Field>,
    pub shell: Option<&'a PointShell>,
}

/// Who holds the two forms of a body.
#[derive(Clone, Copy, Default)]
pub struct Owner<'a> {
    pub field: Option<&'a Arc<Field>>,
    pub shell: Option<&'a Arc<PointShell>>,
}

impl fmt::Debug for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, shell) = (self.field.map(Arc::as_ptr), self.shell.map(Arc::as_ptr));
        f.debug_struct("Owner").field("field", &field).field("shell", &shell).finish()
    }
}

/// Which body brings the pointshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The one with fewer samples (Sagardia et al. 2014, section 3.2), unless these are so far apart that the smaller body would
    /// slip between them: then the one with the closer samples. Or whichever is possible.
    Auto,
    /// Pointshell of A against field of B.
    ShellOfA,
    /// Pointshell of B against field of A.
    ShellOfB,
    /// Both ways, contacts merged.
    Both,
}

/// Set in [`Contact::feature`] when the sample belongs to B's pointshell.
pub const FEATURE_OF_B: u32 = 1 << 31;

/// One contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// World frame, metres. `point_on_b - point_on_a = separation * normal`.
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit, world frame, from A to B.
    pub normal: Vec3,
    /// φ at the sample: negative when penetrating, metres.
    pub separation: f64,
    /// Fraction of the step, 0 for discrete queries.
    pub toi: f64,
    /// Index of the pointshell sample; [`FEATURE_OF_B`] is set when the pointshell is B's.
    pub feature: u32,
    /// Number of the segment it belongs to ([`Segmentation`]); 0 without segmentation.
    pub segment: u32,
}

/// How contacts are grouped, so that each group can be a manifold of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segmentation {
    /// One group.
    None,
    /// The nodes of this level of the shell's sphere tree, 0 being its root and so one segment, or of the last level where
    /// there are fewer: of each, the deepest contact alone (Sagardia et al. 2014, section 2.4). Segments are numbered as the
    /// nodes in their level; those of B, when both bodies bring shells, follow those of A.
    Level(u32),
    /// What is connected: contacts within `distance` of each other, metres (0: five halves of the larger spacing of the
    /// shells), whose normals differ by at most `angle`, radians, are in the same region, and so over any number of
    /// neighbours. The middle between its two points is where a contact is. New regions are numbered deepest first, from 0;
    /// regions that share features with the last answer ([`Query::preferred_segments`]) keep their numbers.
    Region { distance: f64, angle: f64 },
}

impl Segmentation {
    /// By region, with the distance that the shells give and half a right angle.
    pub const REGION: Self = Self::Region { distance: 0.0, angle: std::f64::consts::FRAC_PI_4 };
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub roles: Roles,
    /// Contacts with φ up to this are reported, metres; 0 means touching or penetrating only; may be negative.
    pub max_separation: f64,
    /// Reduce to this many (deepest, then largest area), each region to as many; 0 means all.
    pub max_contacts: usize,
    /// Features that a reduction keeps when they are nearly as good as others, so that a manifold does not flicker
    /// between steps: the features of the last answer. Must be sorted. Changes which contacts are kept, never what they are.
    pub preferred: &'a [u32],
    /// Against sheets: samples deeper behind the surface than this are not looked for, metres; the sheet's own depth bounds
    /// it too. For callers who know how deep a body can be by now.
    pub max_depth: f64,
    pub segmentation: Segmentation,
    /// The region of each of `preferred` in the last answer, as many as those; or none, and all regions are new.
    pub preferred_segments: &'a [u32],
    /// When to stop; [`Workspace::report`](super::Workspace::report) says what that left out.
    pub budget: Budget,
    /// The step of a simulation that the query is for: of the samples that are near only those that count in it, and `preferred`,
    /// are contacts then. `None`: all are. Not looked at against sheets and when the budget is limited.
    pub step: Option<Step>,
    /// Who holds the geometries of A and B: by that a workspace knows a pair again, and a query that follows another of the
    /// same pair tests only what the motion between the two has made uncertain. `None`: every query stands for itself. The
    /// answer is the same.
    pub owners: Option<[Owner<'a>; 2]>,
}

impl Default for Query<'_> {
    /// Every touching or penetrating sample, roles chosen automatically.
    fn default() -> Self {
        Self {
            roles: Roles::Auto,
            max_separation: 0.0,
            max_contacts: 0,
            preferred: &[],
            max_depth: f64::INFINITY,
            segmentation: Segmentation::None,
            preferred_segments: &[],
            budget: Budget::UNLIMITED,
            step: None,
            owners: None,
        }
    }
}

/// How much a query may cost, and how fine it must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Spheres and samples tested at most. Deterministic: the same limit gives the same bytes.
    pub tests: u64,
    /// Nanoseconds by the system's clock, which is read whenever eight nodes were opened. Overrun by what those take and by
    /// making the contacts of what was found.
    pub nanoseconds: u64,
    /// A node whose ball has at most this radius, metres, is not refined: its representative sample stands for it.
    pub accuracy: f64,
}

impl Budget {
    /// Everything is found.
    pub const UNLIMITED: Self = Self { tests: u64::MAX, nanoseconds: u64::MAX, accuracy: 0.0 };
}

/// The step that a query is for, and what counts in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// How A moves against B in the step, world frame: its point at `center` by `shift`, metres, and all of it around that point
    /// by the vector `turn`, radians. The gap of a contact is separation − max(0, normal · (shift + turn × (point − center))).
    pub center: Vec3,
    pub shift: Vec3,
    pub turn: Vec3,
    /// Samples whose gap is above this are no contacts, metres; may be infinite.
    pub max_gap: f64,
    /// When more samples of a shell than this are left, they are a crowd, and of its parts the most urgent are contacts; 0: all are.
    pub crowd: usize,
}

/// Whether a query found everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Every contact was found.
    Complete,
    /// Of a crowd the most urgent of each part were.
    Urgent,
    /// Representative samples stand for balls as small as the accuracy.
    Coarse,
    /// The limit ended it.
    Partial,
}

/// What the last query left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub completeness: Completeness,
    /// The separation of no sample that was left out is below this, metres: a proof. +∞ when none was left out, −∞ when
    /// nothing is known.
    pub least_missed: f64,
}

impl Default for Report {
    /// Nothing.
    fn default() -> Self {
        Self { completeness: Completeness::Complete, least_missed: f64::INFINITY }
    }
}

/// What the last query cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Spheres of the tree tested against the field.
    pub node_tests: u64,
    /// Samples tested against the field.
    pub sample_tests: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.node_tests += other.node_tests;
        self.sample_tests += other.sample_tests;
    }
}

/// Small bodies slip between samples that are farther apart than this part of their radius; measured in docs/accuracy.md.
const SLIPS: f32 = 0.125;

/// Whether of two shells, with fields both, the first is the one to run through the other's field.
fn brings_samples(a: &PointShell, b: &PointShell) -> bool {
    let a_is_smaller = a.len() <= b.len();
    let (fewer, more) = if a_is_smaller { (a, b) } else { (b, a) };
    let radius = |shell: &PointShell| shell.tree.radius.first().copied().unwrap_or(0.0);
    let slips = fewer.spacing > SLIPS * radius(fewer).min(radius(more));
    a_is_smaller != (slips && more.spacing < fewer.spacing)
}

/// The directions a query runs: shell of A (first) and shell of B (second).
pub(crate) fn directions(a: &Geometry, b: &Geometry, roles: Roles) -> Result<(bool, bool)> {
    let a_in_b = a.shell.is_some() && b.field.is_some();
    let b_in_a = b.shell.is_some() && a.field.is_some();
    let missing = |what: &str| Err(Error::Unsupported(format!("the roles asked for need {what}")));
    match roles {
        Roles::ShellOfA if a_in_b => Ok((true, false)),
        Roles::ShellOfA => missing("a pointshell of A and a field of B"),
        Roles::ShellOfB if b_in_a => Ok((false, true)),
        Roles::ShellOfB => missing("a pointshell of B and a field of A"),
        Roles::Both if a_in_b && b_in_a => Ok((true, true)),
        Roles::Both => missing("a pointshell and a field of both bodies"),
        Roles::Auto => match (a_in_b, b_in_a) {
            (true, true) => {
                let brings_a = a.shell.zip(b.shell).is_none_or(|(a, b)| brings_samples(a, b));
                Ok((brings_a, !brings_a))
            }
            (false, false) => missing("a pointshell of one body and a field of the other"),
            one_way => Ok(one_way),
        },
    }
}
