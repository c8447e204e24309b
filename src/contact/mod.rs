//! Floor 3: discrete queries. Pointshell against field: contact sets, distance, penetration, manifold reduction. Knows
//! nothing of files, engines or forces.
//!
//! A query runs the samples of one body, under their sphere tree, through the signed distance field of the other
//! (Sagardia, Stouraitis & Lopes e Silva 2014, Algorithm 1). Everything it may skip, it skips by a proof: a node is left
//! out only when the field's certified lower bound over the node's ball is above the wanted separation, so the traversal
//! finds exactly the samples that testing every sample finds.

mod budget;
mod features;
mod front;
mod normal;
mod place;
mod reduce;
mod region;
mod segment;
mod sheet;
mod step;
mod traverse;
mod workspace;

pub use budget::{Budget, Completeness};
pub use features::contacts_of;
pub use step::Step;
pub use workspace::{Report, Stats, Workspace};

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::field::{with_field, Field, SignedDistance};
use crate::math::{limits, limits::check_pose, Pose, RigidF32, Vec3};
use crate::pointshell::PointShell;
use crate::{Error, Result};
use budget::Left;
use front::Owners;
use region::Grouping;
use sheet::Sides;
use workspace::{Hit, Pending};

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
    /// When to stop; [`Workspace::report`] says what that left out.
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

/// One direction of a query: a shell run through a field.
struct Pass<'a> {
    shell: &'a PointShell,
    /// The field of the shell's own body, which knows the sides of a sheet.
    own_field: Option<&'a Field>,
    field: &'a Field,
    field_pose: &'a Pose,
    /// Its rotation.
    to_world: [[f64; 3]; 3],
    /// From the shell's body frame to the field's.
    relative: Pose,
    /// Body frame of the field's local origin, metres.
    field_origin: Vec3,
    to_field: RigidF32,
    shell_is_b: bool,
    /// Of samples behind a sheet, metres.
    max_depth: f32,
    owners: Option<Owners<'a>>,
}

impl<'a> Pass<'a> {
    /// `None` when one body has no pointshell or the other no field.
    fn new(
        body: &Geometry<'a>,
        shell_pose: &'a Pose,
        other: &Geometry<'a>,
        field_pose: &'a Pose,
        shell_is_b: bool,
        max_depth: f64,
    ) -> Option<Self> {
        let (shell, field) = (body.shell?, other.field?);
        let relative = field_pose.inv_mul(shell_pose);
        let near = (relative * nalgebra::Point3::from(shell.origin)).coords;
        let field_origin = match field {
            Field::Sheet(_) => near,
            _ => field.local_origin(&near),
        };
        let to_field = RigidF32::between(&relative, &shell.origin, &field_origin);
        let own_field = body.field;
        let max_depth = max_depth as f32;
        let owners = None;
        Some(Self {
            shell,
            own_field,
            field,
            field_pose,
            to_world: place::rows(&field_pose.rotation),
            relative,
            field_origin,
            to_field,
            shell_is_b,
            max_depth,
            owners,
        })
    }

    /// Of the shell's body and the other, if they hold what the pass is about.
    fn owned(mut self, body: &Owner<'a>, other: &Owner<'a>) -> Self {
        let shell = body.shell.filter(|shell| std::ptr::eq(Arc::as_ptr(shell), self.shell));
        let field = other.field.filter(|field| std::ptr::eq(Arc::as_ptr(field), self.field));
        self.owners = shell.zip(field).map(|(shell, field)| Owners { shell, field });
        self
    }

    /// How the samples tell the sides of a sheet; `None` when the field has an inside.
    fn sides(&self) -> Option<Sides<'_>> {
        let Field::Sheet(sheet) = self.field else { return None };
        let around = sheet.around(self.field_origin);
        let depth = sheet.depth().min(self.max_depth);
        Some(Sides { sheet, around, depth, shell: self.shell, body: self.own_field, relative: self.relative })
    }

    /// Appends every sample with a separation up to `limit` to `workspace.hits`, in ascending order; of a step, those that count.
    fn collect(&self, limit: f32, query: &Query, workspace: &mut Workspace) {
        match query.step.as_ref().filter(|_| !matches!(self.field, Field::Sheet(_))) {
            Some(step) => self.collect_counting(limit, step, query.preferred, workspace),
            None => self.collect_all(limit, workspace),
        }
    }

    /// Appends every sample with a separation up to `limit` to `workspace.hits`, in ascending order.
    fn collect_all(&self, limit: f32, workspace: &mut Workspace) {
        match self.sides() {
            Some(sides) => sides.collect(&self.to_field, limit, workspace),
            None => {
                if self.collect_by_front(limit, true, workspace).is_none() {
                    with_field!(self.field, f => traverse::collect(f, self.shell, &self.to_field, limit, workspace));
                }
            }
        }
    }

    /// As [`Pass::collect_all`], within a budget whose time began at `start`.
    fn collect_within(&self, budget: &Budget, start: Instant, limit: f32, workspace: &mut Workspace) -> Left {
        match self.sides() {
            Some(sides) => sides.collect_within(&self.to_field, limit, budget, start, workspace),
            None => with_field!(self.field, f => {
                budget::collect(f, self.shell, &self.to_field, limit, budget, start, workspace)
            }),
        }
    }

    /// `None` when there is no front to use, and none is to be begun; then nothing was done.
    fn collect_by_front(&self, limit: f32, begin: bool, workspace: &mut Workspace) -> Option<()> {
        let owners = self.owners.as_ref()?;
        let Workspace { fronts, hits, stats, levels, .. } = workspace;
        // For the queries that are not answered by the front: by then the pair counts as warm. No level has more nodes than
        // the tree, nor a node more children.
        levels.iter_mut().for_each(|level| level.clear(2 * self.shell.tree.radius.len()));
        let front = &mut fronts[usize::from(self.shell_is_b)];
        if !front.is_worth(owners) {
            return None;
        }
        with_field!(self.field, f => front::collect(front, f, self.shell, &self.to_field, limit, begin, (hits, stats)))
    }

    /// The sample with the smallest separation up to `limit`; of equal ones the lowest.
    fn nearest(&self, limit: f32, workspace: &mut Workspace) -> Option<Hit> {
        match self.sides() {
            Some(sides) => sides.nearest(&self.to_field, limit, workspace),
            None => with_field!(self.field, f => {
                traverse::nearest(f, self.shell, &self.to_field, limit, |_| true, workspace)
            }),
        }
    }

    fn feature(&self, sample: u32) -> u32 {
        sample | if self.shell_is_b { FEATURE_OF_B } else { 0 }
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

fn passes<'a>(
    a: Geometry<'a>,
    pose_a: &'a Pose,
    b: Geometry<'a>,
    pose_b: &'a Pose,
    roles: Roles,
    max_depth: f64,
) -> Result<[Option<Pass<'a>>; 2]> {
    check_pose("pose_a", pose_a)?;
    check_pose("pose_b", pose_b)?;
    let (run_a, run_b) = directions(&a, &b, roles)?;
    let first = run_a.then(|| Pass::new(&a, pose_a, &b, pose_b, false, max_depth)).flatten();
    let second = run_b.then(|| Pass::new(&b, pose_b, &a, pose_a, true, max_depth)).flatten();
    Ok([first, second])
}

/// Contacts of two bodies at two poses, deepest first (ties: lower feature first).
///
/// Every sample with φ ≤ `query.max_separation` is a contact; none is missed, unless a limit of `query.budget` ends the search or
/// `query.step` says which count: then what was found are contacts all the same, and [`Workspace::report`] bounds what was not. With `query.max_contacts`
/// they are reduced: the deepest, then those that span the largest area (Sagardia et al. 2014, section 3.2). The answer lives
/// in the workspace until its next use. Once the workspace is warm this allocates nothing, takes no lock and makes no system
/// call but for a reading of the clock when time is limited; the same input gives the same bytes, unless time is limited.
///
/// # Errors
/// `Unsupported` when the bodies lack the forms that the roles need, `InvalidArgument` for a pose beyond
/// [`limits`](crate::math::limits) or a number of the query outside its range.
pub fn contacts<'w>(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    query: &Query,
    workspace: &'w mut Workspace,
) -> Result<&'w [Contact]> {
    check(query)?;
    let mut passes = passes(a, pose_a, b, pose_b, query.roles, query.max_depth)?;
    if let Some([of_a, of_b]) = &query.owners {
        let [first, second] = passes;
        passes = [first.map(|pass| pass.owned(of_a, of_b)), second.map(|pass| pass.owned(of_b, of_a))];
    }
    let limit = query.max_separation as f32;
    let both = passes.iter().all(Option::is_some);
    workspace.begin();
    find(&passes, limit, query, workspace);
    if let Segmentation::Region { distance, angle } = query.segmentation {
        sort(&mut workspace.contacts);
        let spacing = passes.iter().flatten().fold(0.0, |most, pass| f64::max(most, pass.shell.spacing.into()));
        let grouping = Grouping {
            distance: if distance > 0.0 { distance } else { NEIGHBOURS * spacing },
            cosine: angle.cos(),
            preferred: query.preferred,
            preferred_regions: query.preferred_segments,
        };
        grouping.number(&mut workspace.contacts, &mut workspace.regions);
    }
    if query.reduces_at_the_end(both) && workspace.contacts.len() > query.max_contacts {
        reduce_contacts(workspace, pose_a, query);
    }
    sort(&mut workspace.contacts);
    Ok(&workspace.contacts)
}

/// How far apart neighbouring contacts may be, in spacings. Between neighbouring samples there are at most two, since each
/// point of the surface is within one of some sample; the rest is for the turn of the surface.
const NEIGHBOURS: f64 = 2.5;

fn check(query: &Query) -> Result<()> {
    // Minus infinity finds nothing.
    if query.max_separation.is_nan() || query.max_separation > limits::MAX_COORDINATE {
        let value = limits::Shown(query.max_separation);
        return Err(Error::argument("max_separation", value, "a finite length of at most 1e18 m"));
    }
    if query.max_depth.is_nan() || query.max_depth < 0.0 {
        return Err(Error::argument("max_depth", query.max_depth, "a length in metres, 0 or more, or infinity"));
    }
    if !(0.0..=limits::MAX_COORDINATE).contains(&query.budget.accuracy) {
        let value = limits::Shown(query.budget.accuracy);
        return Err(Error::argument("accuracy", value, "a finite length, 0 to 1e18 m"));
    }
    if let Some(step) = &query.step {
        if step.max_gap.is_nan() {
            return Err(Error::argument("max_gap", step.max_gap, "a length in metres"));
        }
        limits::check_point("center", &step.center)?;
        limits::check_point("shift", &step.shift)?;
        limits::check_quantities("turn", &step.turn)?;
    }
    if let Segmentation::Region { distance, angle } = query.segmentation {
        if !(0.0..=limits::MAX_COORDINATE).contains(&distance) {
            return Err(Error::argument("distance", limits::Shown(distance), "a finite length, 0 to 1e18 m"));
        }
        if !(0.0..=std::f64::consts::PI).contains(&angle) {
            return Err(Error::argument("angle", angle, "an angle in radians, 0 to π"));
        }
        let (count, expected) = (query.preferred_segments.len(), query.preferred.len());
        if count != 0 && count != expected {
            let expected = format!("{expected} long, as preferred, or empty");
            return Err(Error::argument("preferred_segments", format!("{count} long"), expected));
        }
    }
    Ok(())
}

impl Query<'_> {
    /// Whether contacts are reduced once all are known, and not before their normals are.
    fn reduces_at_the_end(&self, both: bool) -> bool {
        self.max_contacts > 0
            && match self.segmentation {
                Segmentation::None => both,
                Segmentation::Level(_) => false,
                Segmentation::Region { .. } => true,
            }
    }
}

/// Fills `workspace.contacts` from both directions, and the report.
fn find(passes: &[Option<Pass>; 2], limit: f32, query: &Query, workspace: &mut Workspace) {
    // The clock is read for those who ask.
    let limited = (query.budget != Budget::UNLIMITED).then(Instant::now);
    let both = passes.iter().all(Option::is_some);
    let mut first = None;
    let mut segments = 0;
    for pass in passes.iter().flatten() {
        workspace.hits.clear();
        if let Some(start) = limited {
            let budget = match &first {
                Some(first) => query.budget.second_half(first),
                None if both => query.budget.first_half(),
                None => query.budget,
            };
            let left = pass.collect_within(&budget, start, limit, workspace);
            workspace.report.add(&left);
            first = Some(left);
        } else {
            pass.collect(limit, query, workspace);
        }
        if let Segmentation::Level(level) = query.segmentation {
            let tree = &pass.shell.tree;
            segment::keep_deepest(tree, level, &mut workspace.hits);
            let Workspace { hits, contacts, .. } = workspace;
            pass.contacts(hits, |hit, contact| {
                contacts.push(Contact { segment: segments + segment::of(tree, level, hit.sample), ..contact });
            });
            segments += segment::count(tree, level);
        } else if query.segmentation == Segmentation::None
            && query.max_contacts > 0
            && workspace.hits.len() > query.max_contacts
        {
            // The normals of contacts that are dropped are never computed.
            let (hits, pending) = (&workspace.hits, &mut workspace.pending);
            pending.clear();
            pending.extend(hits.iter().enumerate().map(|(i, h)| Pending {
                point: h.point,
                separation: h.phi,
                feature: pass.feature(h.sample),
                index: i as u32,
                apart: 0.0,
            }));
            reduce::reduce(pending, query.max_contacts, query.preferred);
            for k in 0..workspace.pending.len() {
                let hit = workspace.hits[workspace.pending[k].index as usize];
                workspace.contacts.push(pass.contact(&hit));
            }
        } else {
            let Workspace { hits, contacts, .. } = workspace;
            pass.contacts(hits, |_, contact| contacts.push(contact));
        }
    }
}

fn sort(contacts: &mut [Contact]) {
    contacts.sort_unstable_by(|p, q| p.separation.total_cmp(&q.separation).then_with(|| p.feature.cmp(&q.feature)));
}

/// Reduces the contacts of each segment, in A's frame so that the answer does not depend on the world's origin.
fn reduce_contacts(workspace: &mut Workspace, pose_a: &Pose, query: &Query) {
    let Workspace { contacts, pending, kept, .. } = workspace;
    contacts.sort_unstable_by_key(|c| (c.segment, c.feature));
    kept.clear();
    for segment in contacts.chunk_by(|p, q| p.segment == q.segment) {
        pending.clear();
        pending.extend(segment.iter().enumerate().map(|(i, c)| {
            let p = pose_a.inverse_transform_point(&nalgebra::Point3::from(c.point_on_a));
            Pending {
                point: [p.x as f32, p.y as f32, p.z as f32],
                separation: c.separation as f32,
                feature: c.feature,
                index: i as u32,
                apart: 0.0,
            }
        }));
        reduce::reduce(pending, query.max_contacts, query.preferred);
        kept.extend(pending.iter().map(|p| segment[p.index as usize]));
    }
    // Copied back and not swapped: the larger of the two buffers must stay where the next query fills it.
    contacts.clear();
    contacts.extend_from_slice(kept);
}

/// The sample with the smallest φ: the deepest penetration (negative separation) or the separation distance.
///
/// Exact over the samples, by branch and bound. `limit` (metres, may be +∞) bounds the search: `None` when no sample is
/// at φ ≤ `limit`. Ties go to the lower feature. With [`Roles::Both`] the smaller of the two directions.
///
/// # Errors
/// As [`contacts`].
pub fn distance(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    roles: Roles,
    limit: f64,
    workspace: &mut Workspace,
) -> Result<Option<Contact>> {
    if limit.is_nan() {
        return Err(Error::argument("limit", limit, "a length in metres or +infinity"));
    }
    let passes = passes(a, pose_a, b, pose_b, roles, f64::INFINITY)?;
    workspace.begin();
    let mut best: Option<Contact> = None;
    for pass in passes.iter().flatten() {
        let limit = best.map_or(limit, |c| c.separation.min(limit)) as f32;
        if let Some(contact) = pass.nearest(limit, workspace).map(|h| pass.contact(&h)) {
            if best.is_none_or(|b| contact.separation < b.separation) {
                best = Some(contact);
            }
        }
    }
    Ok(best)
}
