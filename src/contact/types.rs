//! Bodies, contacts, queries and their reports. The continuous queries share them.

use std::fmt;
use std::sync::Arc;

use voxshell_base::math::Vec3;
use voxshell_base::{Error, Result};
use voxshell_field::{Field, Surface};
use voxshell_pointshell::PointShell;

/// The field and the pointshell of a body; a body may have only one of them.
#[derive(Clone, Copy, Default)]
pub struct Geometry<'a> {
    pub field: Option<&'a Field>,
    pub shell: Option<&'a PointShell>,
    /// The exact surface of the body with this field. Samples of the other body that are near it have exact contacts. When
    /// both bodies have one, [`contacts`](super::contacts()) and [`distance`](super::distance()) test the edges and sharp
    /// corners of both too. Queries with a limited budget and continuous queries ignore it.
    pub surface: Option<&'a Surface>,
}

/// The shared owners (`Arc`) of a body's field, pointshell and exact surface, each if it has one.
#[derive(Clone, Copy, Default)]
pub struct Owner<'a> {
    pub field: Option<&'a Arc<Field>>,
    pub shell: Option<&'a Arc<PointShell>>,
    pub surface: Option<&'a Arc<Surface>>,
}

impl fmt::Debug for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, shell) = (self.field.map(Arc::as_ptr), self.shell.map(Arc::as_ptr));
        let surface = self.surface.map(Arc::as_ptr);
        f.debug_struct("Owner").field("field", &field).field("shell", &shell).field("surface", &surface).finish()
    }
}

/// Which body brings the pointshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// Both directions if a body is sharp ([`PointShell::sharpness`]), because an edge or a tip fits between the samples of
    /// the other body; otherwise as [`Roles::One`]. A query that tests the edges of both meshes takes one direction. If only
    /// one assignment is possible, that one.
    Auto,
    /// The body with fewer samples (Sagardia et al. 2014, section 3.2), unless its samples are so far apart that the
    /// smaller body would slip between them; then the body with the closer samples. If only one assignment is
    /// possible, that one. For forces that add up over the contacts.
    One,
    /// Pointshell of A against field of B.
    ShellOfA,
    /// Pointshell of B against field of A.
    ShellOfB,
    /// Both directions; their contacts are merged.
    Both,
}

/// Set in [`Contact::feature`] when the sample belongs to B's pointshell.
pub const FEATURE_OF_B: u32 = 1 << 31;

/// Set in [`Contact::feature`] when the feature is an edge of the mesh and no sample.
pub const FEATURE_OF_EDGE: u32 = 1 << 30;

/// One contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Point on A, world frame, metres. `point_on_b - point_on_a = separation * normal`.
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit normal, world frame, from A to B.
    pub normal: Vec3,
    /// φ at the sample, metres: negative when the bodies penetrate. Near an exact surface it is the exact distance. For an
    /// edge: the exact distance to the surface of the other body, of its deepest point if it is inside, and of the closest
    /// points if it is not.
    pub separation: f64,
    /// Time of impact as a fraction of the step; 0 for discrete queries.
    pub toi: f64,
    /// Index of the pointshell sample, or with [`FEATURE_OF_EDGE`] the number of an edge of the mesh; [`FEATURE_OF_B`] is
    /// set when it is B's. A corner has the number of an edge that ends there, and two edges that of A's edge. An edge can
    /// have several contacts.
    pub feature: u32,
    /// Number of the segment it belongs to ([`Segmentation`]); 0 without segmentation.
    pub segment: u32,
}

impl Contact {
    /// Returns the contact of an edge of A, or of B: its point, and the unit vector from there towards the other body, along
    /// which that is at a signed separation. World frame, metres.
    pub(crate) fn of_edge(of_b: bool, edge: u32, point: Vec3, towards: Vec3, separation: f64) -> Self {
        let far = point + towards * separation;
        let (point_on_a, point_on_b, normal) = if of_b { (far, point, -towards) } else { (point, far, towards) };
        let feature = edge | FEATURE_OF_EDGE | if of_b { FEATURE_OF_B } else { 0 };
        Self { point_on_a, point_on_b, normal, separation, toi: 0.0, feature, segment: 0 }
    }
}

/// Grouping of contacts; each group can be a manifold of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segmentation {
    /// One group.
    None,
    /// Nodes of this level of the shell's sphere tree as segments. Level 0 is the root, hence one segment; a level
    /// beyond the last one means the last one. Only the deepest contact of each segment is kept (Sagardia et al.
    /// 2014, section 2.4). Segments have the numbers of the nodes in their level; when both bodies bring shells, the
    /// segments of B follow those of A.
    Level(u32),
    /// Contact regions. Two contacts are neighbours when the midpoints of their point pairs are within `distance`,
    /// metres (0: five halves of the larger spacing of the shells), and their normals differ by at most `angle`,
    /// radians. A region is a set of contacts connected by neighbours. New regions are numbered deepest first, from
    /// 0; regions that share features with the last answer ([`Query::preferred_segments`]) keep their numbers.
    Region { distance: f64, angle: f64 },
}

impl Segmentation {
    /// Regions with the distance that the shells give and an angle of 45°.
    pub const REGION: Self = Self::Region { distance: 0.0, angle: std::f64::consts::FRAC_PI_4 };
}

/// Largest number of edges of a body of flat faces whose edges cost less to test than its samples.
pub const FEW_EDGES: usize = 200;

/// Largest number of triangles of a body of flat faces whose edges are tested alone with [`Coverage::Facets`].
pub const MOST_FACETS: usize = 20_000;

/// What a discrete query tests. If no body has an exact surface, only samples are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Samples.
    Samples,
    /// As [`Coverage::Edges`] for two bodies of flat faces that have at most [`FEW_EDGES`] edges, or that have at most
    /// [`MOST_FACETS`] triangles and hardly move in a step with [`Step::extremes_only`]. For all others samples
    /// and, where none of them touches, the edges that pass through the other body.
    Facets,
    /// Samples with exact distances, edges and sharp corners; against a convex body without a surface the faces too, whatever
    /// the spacing of the samples. Two bodies of flat faces that hardly move in a step with
    /// [`Step::extremes_only`] are tested by edges and corners alone.
    Edges,
}

impl Coverage {
    /// Returns the coverage of two bodies that may move, [`Coverage::Samples`] or [`Coverage::Edges`].
    pub fn of_moving(self, a: &Geometry, b: &Geometry) -> Self {
        let is_simple = |surface: &Surface| surface.is_faceted() && surface.edge_count() <= FEW_EDGES;
        match (self, a.surface, b.surface) {
            (Self::Edges, ..) => Self::Edges,
            (Self::Facets, Some(a), Some(b)) if is_simple(a) && is_simple(b) => Self::Edges,
            _ => Self::Samples,
        }
    }

    /// Returns the coverage whose surfaces a discrete query takes.
    pub fn of_surfaces(self) -> Self {
        match self {
            Self::Facets => Self::Edges,
            coverage => coverage,
        }
    }
}

/// Parameters of a discrete query.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub roles: Roles,
    /// Contacts with φ up to this value are reported, metres. 0: only touching or penetrating samples. May be
    /// negative.
    pub max_separation: f64,
    /// Number of contacts to which the answer is reduced (deepest, then largest area); with regions, the number per
    /// region. 0: no reduction.
    pub max_contacts: usize,
    /// Features that the reduction keeps when they are nearly as good as others: the features of the last answer.
    /// They keep the manifold stable between steps. Must be sorted. They change which contacts are kept, never the
    /// values of a contact.
    pub preferred: &'a [u32],
    /// Against sheets: largest depth behind the surface at which samples are searched for, metres. The depth of the
    /// sheet limits it too. A caller that knows a bound on the current depth can set it here.
    pub max_depth: f64,
    pub segmentation: Segmentation,
    /// Region of each of `preferred` in the last answer, with the same length as `preferred`. If empty, all regions
    /// are new.
    pub preferred_segments: &'a [u32],
    /// Limits of the search; [`Workspace::report`](super::Workspace::report) bounds the contacts that they left out.
    pub budget: Budget,
    /// Simulation step of the query. With a step, only near samples that count in it, and `preferred`, are contacts;
    /// with `None`, all near samples are. Ignored against sheets and when the budget is limited.
    pub step: Option<Step>,
    /// Selects what is tested of two bodies that both have an exact surface ([`Geometry::surface`]).
    pub coverage: Coverage,
    /// Owners of the geometries of A and B. The workspace recognises a pair by them, and a query that follows another
    /// query of the same pair tests only the nodes that the motion between the two has made uncertain. `None`: every
    /// query is independent. The answer is the same in both cases.
    pub owners: Option<[Owner<'a>; 2]>,
}

impl Default for Query<'_> {
    /// Reports every touching or penetrating sample; the roles are chosen automatically.
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
            coverage: Coverage::Edges,
            owners: None,
        }
    }
}

/// Limits of the cost and of the resolution of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Largest number of sphere and sample tests. Deterministic: the same limit gives the same bytes.
    pub tests: u64,
    /// Time limit, nanoseconds. The system clock is read after every eight opened nodes. The query can overrun the
    /// limit by the time of these nodes and of computing the contacts of the samples found.
    pub nanoseconds: u64,
    /// A node whose ball has at most this radius, metres, is not refined: its representative sample stands for it.
    pub accuracy: f64,
}

impl Budget {
    /// No limit: every contact is found.
    pub const UNLIMITED: Self = Self { tests: u64::MAX, nanoseconds: u64::MAX, accuracy: 0.0 };
}

/// Step of a simulation that a query serves, and the criterion by which samples count in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Motion of A relative to B in the step, world frame: the point of A at `center` moves by `shift`, metres, and A
    /// rotates about that point by the vector `turn`, radians. The gap of a contact is separation − max(0, normal ·
    /// (shift + turn × (point − center))).
    pub center: Vec3,
    pub shift: Vec3,
    pub turn: Vec3,
    /// What forces such as gravity add to the shift of A, and to that of B, metres: parts of `shift`. A third body may withstand
    /// them, so the gap is that without the part that takes a body away from the other one.
    pub gained: [Vec3; 2],
    /// Samples with a gap above this value are no contacts, metres. May be infinite. Where both bodies have exact surfaces,
    /// samples whose closest point is beside them, more than 72° from the normals of their own surface, are no contacts
    /// either, and sharp features count only if the bodies can reach each other in the step.
    ///
    /// Of bodies that come nearer, a contact that is apart counts if the step may bring it. One that is farther than half of `max_gap`
    /// does not if its point, moved straight through the step, passes the other body by. None does if its own surface is flat up to below
    /// the other body's point, and another contact shows that the bodies are nearer there.
    pub max_gap: f64,
    /// Number of samples of a shell above which contacts are dense and are thinned to the most urgent of each part of
    /// the shell. Both are found from one sample of each leaf, and all samples of the leaves that promise most. 0: no
    /// thinning.
    pub dense_above: usize,
    /// Against a half-space: only the samples at the corners of the shell's convex hull are contacts. At every pose these
    /// are the deepest, and those with the least gaps, up to a tolerance of 2⁻¹⁶ of the shell's radius. A shell with more
    /// than 2,048 such samples, a round one, is searched as otherwise. The first such query of a shell finds them.
    ///
    /// Between two surfaces of flat faces: only edges and corners are contacts, unless there are none, or one is deeper than
    /// the largest separation.
    pub extremes_only: bool,
}

/// Orders contacts by their separations, and those with the same one by their features.
pub(super) fn order(p: &Contact, q: &Contact) -> std::cmp::Ordering {
    p.separation.total_cmp(&q.separation).then_with(|| p.feature.cmp(&q.feature))
}

pub(super) fn sort(contacts: &mut [Contact]) {
    contacts.sort_unstable_by(order);
}

impl Step {
    /// Returns the gap of a contact: see [`Step::center`].
    pub(super) fn gap(&self, contact: &Contact) -> f64 {
        let point = if contact.feature & FEATURE_OF_B == 0 { contact.point_on_a } else { contact.point_on_b };
        self.gap_at(contact.separation, &contact.normal, point)
    }

    /// Returns the shifts that A may have if a third body withstands what a force adds to that of neither body, of one, or of both;
    /// equal ones once.
    pub(super) fn shifts(&self) -> impl Iterator<Item = Vec3> + '_ {
        let is_gained = self.gained.map(|part| part != Vec3::zeros());
        (0..4usize).filter(move |i| (i & 1 == 0 || is_gained[0]) && (i & 2 == 0 || is_gained[1])).map(|i| {
            let of_a = if i & 1 == 0 { Vec3::zeros() } else { self.gained[0] };
            let of_b = if i & 2 == 0 { Vec3::zeros() } else { self.gained[1] };
            self.shift - of_a + of_b
        })
    }

    /// Returns the gap of a point at `separation` along `normal`: see [`Step::center`] and [`Step::gained`].
    pub(super) fn gap_at(&self, separation: f64, normal: &Vec3, point: Vec3) -> f64 {
        let approach = normal.dot(&(self.shift + self.turn.cross(&(point - self.center))));
        let withstood = (-normal.dot(&self.gained[0])).max(0.0) + normal.dot(&self.gained[1]).max(0.0);
        separation - (approach + withstood).max(0.0)
    }
}

/// Completeness of the answer of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Every contact was found.
    Complete,
    /// Against a half-space, every contact at a corner of the convex hull was found; between surfaces of flat faces, every
    /// contact of an edge or a corner.
    Extremes,
    /// Dense contacts were thinned to the most urgent of each part of the shell.
    Urgent,
    /// Representative samples stand for balls as small as the accuracy.
    Coarse,
    /// A limit of the budget ended the search.
    Partial,
}

/// Report about the contacts that the last query left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub completeness: Completeness,
    /// What was tested: samples, the edges and corners of flat faces alone, or samples and edges or faces. All but samples
    /// alone are exact.
    pub coverage: Coverage,
    /// Proven lower bound of the separation of every sample that was left out, metres. +∞ when no sample was left
    /// out, −∞ when no bound is known.
    pub least_missed: f64,
}

impl Default for Report {
    /// Report of a query that left nothing out.
    fn default() -> Self {
        Self { completeness: Completeness::Complete, coverage: Coverage::Samples, least_missed: f64::INFINITY }
    }
}

/// Cost of the last query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of tests of spheres of the tree against the field.
    pub node_tests: u64,
    /// Number of tests of samples against the field.
    pub sample_tests: u64,
    /// Number of tests of boxes and triangles of the surfaces against each other.
    pub edge_tests: u64,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.node_tests += other.node_tests;
        self.sample_tests += other.sample_tests;
        self.edge_tests += other.edge_tests;
    }
}

/// Fraction of a small body's radius: if samples are farther apart than this, the body slips between them. Measured
/// in docs/accuracy.md.
const SLIPS: f32 = 0.125;

/// Least length of the sharp places of a sharp body, in radii of the body.
const SHARP: f32 = 0.5;

/// Returns whether the first of two shells, whose bodies both have fields, is run through the other body's field.
fn brings_samples(a: &PointShell, b: &PointShell) -> bool {
    let radius = |shell: &PointShell| shell.tree.radius.first().copied().unwrap_or(0.0);
    // Of as many samples, those of the smaller body, whichever comes first.
    let a_is_smaller = (a.len(), radius(a)) <= (b.len(), radius(b));
    let (fewer, more) = if a_is_smaller { (a, b) } else { (b, a) };
    let slips = fewer.spacing > SLIPS * radius(fewer).min(radius(more));
    a_is_smaller != (slips && more.spacing < fewer.spacing)
}

/// Directions of a query: shell of A (first) and shell of B (second). `tests_edges` tells that the query tests the edges of
/// both bodies too.
pub fn directions(a: &Geometry, b: &Geometry, roles: Roles, tests_edges: bool) -> Result<(bool, bool)> {
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
        Roles::Auto | Roles::One => match (a_in_b, b_in_a) {
            (true, true) => {
                let shells = a.shell.zip(b.shell);
                let looks_at_sharpness = roles == Roles::Auto && !tests_edges;
                let is_sharp = |shell: &PointShell| shell.sharpness() > SHARP;
                if looks_at_sharpness && shells.is_some_and(|(a, b)| is_sharp(a) || is_sharp(b)) {
                    return Ok((true, true));
                }
                let brings_a = shells.is_none_or(|(a, b)| brings_samples(a, b));
                Ok((brings_a, !brings_a))
            }
            (false, false) => missing("a pointshell of one body and a field of the other"),
            one_way => Ok(one_way),
        },
    }
}
