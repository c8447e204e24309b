//! Discrete queries: all contacts of two bodies.

use super::manifold::{reduce, segment, Candidate, Grouping};
use super::search::faces::{Faces, Wanted};
use super::search::{apart, approach, between, climb, edges, frames, passes, sharp, Covering, Exact, Hit, Known, Pass};
use super::types::{
    order, sort, Budget, Completeness, Contact, Coverage, Geometry, Query, Report, Roles, Segmentation, Step,
    MOST_FACETS,
};
use super::workspace::Workspace;
use voxshell_base::math::clock::Instant;
use voxshell_base::math::{limits, Pose};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_field::{Field, Surface};

/// Returns the contacts of two bodies at two poses, deepest first (ties: lower feature first).
///
/// Every sample with φ ≤ `query.max_separation` is a contact and none is missed. Near an exact surface ([`Geometry`]), φ
/// is the exact distance instead of that of the field. There are two exceptions: a limit of `query.budget` may end the
/// search, and `query.step` may select the samples that count. Then the returned contacts are still valid, and
/// [`Workspace::report`] bounds those that were left out. With `query.max_contacts` they are reduced: the deepest, then
/// those that span the largest area (Sagardia et al. 2014, section 3.2). The answer lives in the workspace until its next
/// use. Once the workspace is warm this allocates nothing, takes no lock and makes no system call, except for reading the
/// clock when time is limited. The same input gives the same bytes, unless time is limited.
///
/// # Errors
/// `Unsupported` when the bodies lack the forms that the roles need, `InvalidArgument` for a pose beyond
/// [`limits`](voxshell_base::math::limits) or a number of the query outside its range.
pub fn contacts<'w>(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    query: &Query,
    workspace: &'w mut Workspace,
) -> Result<&'w [Contact]> {
    covering_contacts(a, pose_a, b, pose_b, query, None, workspace)
}

/// Returns the contacts of two bodies, and with a `tolerance`, metres, leaves out edges that are deeper by no more than it than a
/// contact near them with a like normal.
pub(super) fn covering_contacts<'w>(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    query: &Query,
    tolerance: Option<f64>,
    workspace: &'w mut Workspace,
) -> Result<&'w [Contact]> {
    check(query)?;
    search([(a, pose_a), (b, pose_b)], query, tolerance, workspace)?;
    workspace.is_busy = false;
    Ok(&workspace.contacts)
}

/// Finds the contacts of a query whose numbers are in range.
fn search(
    [(a, pose_a), (b, pose_b)]: [(Geometry, &Pose); 2],
    query: &Query,
    tolerance: Option<f64>,
    workspace: &mut Workspace,
) -> Result<()> {
    let is_limited = query.budget != Budget::UNLIMITED;
    let coverage = if is_limited { Coverage::Samples } else { query.coverage };
    let surfaces = surfaces(&a, &b).filter(|_| coverage != Coverage::Samples);
    let moving = coverage.of_moving(&a, &b);
    let tests_edges = moving == Coverage::Edges && surfaces.is_some();
    let mut passes = passes(a, pose_a, b, pose_b, (query.roles, tests_edges), query.max_depth)?;
    if moving == Coverage::Samples {
        passes.iter_mut().flatten().for_each(Pass::without_surface);
    }
    if let Some([of_a, of_b]) = &query.owners {
        let [first, second] = passes;
        passes = [first.map(|pass| pass.owned(of_a, of_b)), second.map(|pass| pass.owned(of_b, of_a))];
    }
    let both = passes.iter().all(Option::is_some);
    let poses = [pose_a, pose_b];
    workspace.begin_pair(query.owners.as_ref(), surfaces, poses);
    if workspace.apart > query.max_separation.max(0.0) {
        workspace.report.coverage = moving;
        return Ok(());
    }
    let is_outlined = |surfaces: &[&Surface; 2]| {
        coverage == Coverage::Edges || surfaces.iter().all(|surface| surface.triangle_count() <= MOST_FACETS)
    };
    let outlined = surfaces
        .filter(is_outlined)
        .is_some_and(|surfaces| find_outlines(surfaces, poses, &mut passes, (query, tolerance), workspace));
    if !outlined {
        lend_known(&passes, workspace, |exact, known| exact.remember(std::mem::take(known)));
        find(&mut passes, query, workspace);
        lend_known(&passes, workspace, |exact, known| *known = exact.take_known().unwrap_or_default());
        workspace.report.coverage = moving;
        if let Some(surfaces) = surfaces.filter(|_| moving == Coverage::Samples) {
            find_crossings(surfaces, poses, &passes, query, workspace);
        }
        if let Some(surfaces) = surfaces.filter(|_| moving == Coverage::Edges) {
            find_between(surfaces, poses, &passes, query, Between { alone: false, tolerance }, workspace);
            if workspace.contacts.is_empty()
                && matches!(query.roles, Roles::Auto | Roles::One)
                && can_bring_both(&a, &b)
            {
                // One body may be inside the other, where only its own samples see it.
                let mut other = self::passes(a, pose_a, b, pose_b, (other_way(&passes), true), query.max_depth)?;
                find(&mut other, query, workspace);
            }
        }
        if coverage == Coverage::Edges {
            if let Some(faces) = Faces::new([&a, &b], poses) {
                find_faces(&faces, &passes, query, workspace);
            }
        }
        if let Some((surfaces, tolerance)) = surfaces.zip(tolerance) {
            find_closest(surfaces, poses, &passes, query, tolerance, workspace);
            for pass in passes.iter_mut().flatten() {
                pass.settle_deepest([(&a, pose_a), (&b, pose_b)], query, workspace);
            }
            climb::climb(&mut workspace.contacts, [(&a, pose_a), (&b, pose_b)], tolerance);
        }
    }
    if let Some(step) = query.step.as_ref().filter(|_| !is_limited) {
        sort(&mut workspace.contacts);
        let lengths = [tolerance.map_or(0.0, |_| step.max_gap), NEIGHBOURS * spacing(&passes)];
        let bodies = [(&a, pose_a), (&b, pose_b)];
        let Workspace { contacts, nearest, .. } = &mut *workspace;
        approach::keep_real(contacts, nearest, (step, query.preferred), bodies, lengths);
    }
    if let Segmentation::Region { distance, angle } = query.segmentation {
        sort(&mut workspace.contacts);
        let grouping = Grouping {
            distance: if distance > 0.0 { distance } else { NEIGHBOURS * spacing(&passes) },
            cosine: libm::cos(angle),
            preferred: query.preferred,
            preferred_regions: query.preferred_segments,
        };
        grouping.number(&mut workspace.contacts, &mut workspace.regions);
    }
    if query.reduces_at_the_end(both || workspace.report.coverage != Coverage::Samples)
        && workspace.contacts.len() > query.max_contacts
    {
        reduce_contacts(workspace, pose_a, query);
    }
    sort(&mut workspace.contacts);
    Ok(())
}

/// Returns the contacts of the edges and sharp corners of two surfaces up to a separation, deepest first.
pub fn edge_contacts<'w>(
    surfaces: [&Surface; 2],
    poses: [&Pose; 2],
    max_separation: f64,
    workspace: &'w mut Workspace,
) -> &'w [Contact] {
    workspace.begin();
    let query = Query { max_separation, ..Query::default() };
    find_between(surfaces, poses, &[None, None], &query, Between { alone: false, tolerance: None }, workspace);
    sort(&mut workspace.contacts);
    workspace.is_busy = false;
    &workspace.contacts
}

/// Hands what a pair remembers of samples to the directions of a search, or takes it back.
fn lend_known(passes: &[Option<Pass>; 2], workspace: &mut Workspace, hand: impl Fn(&Exact, &mut Known)) {
    for (pass, known) in passes.iter().zip(&mut workspace.known) {
        if let Some(exact) = pass.as_ref().and_then(|pass| pass.exact.as_ref()).filter(|_| workspace.remembers) {
            hand(exact, known);
        }
    }
}

pub(super) fn can_bring_both(a: &Geometry, b: &Geometry) -> bool {
    [a, b].iter().all(|body| body.shell.is_some() && body.field.is_some())
}

/// Returns the roles of the direction that is not among the passes.
fn other_way(passes: &[Option<Pass>; 2]) -> Roles {
    if passes[0].is_some() {
        Roles::ShellOfB
    } else {
        Roles::ShellOfA
    }
}

/// Returns the exact surfaces of both bodies, if both have one.
pub(super) fn surfaces<'a>(a: &Geometry<'a>, b: &Geometry<'a>) -> Option<[&'a Surface; 2]> {
    Some([a.surface?, b.surface?])
}

/// Returns the larger distance between samples, metres.
fn spacing(passes: &[Option<Pass>; 2]) -> f64 {
    passes.iter().flatten().fold(0.0, |most, pass| f64::max(most, pass.shell.spacing.into()))
}

/// Distance over which a contact covers edges, in spacings: each point of the surface is within one of some sample.
const COVERED: f64 = 1.5;

/// Largest distance between neighbouring contacts, in spacings. Neighbouring samples are at most two spacings apart,
/// because each point of the surface is within one spacing of some sample; the remaining half spacing allows for the
/// curvature of the surface.
pub(super) const NEIGHBOURS: f64 = 2.5;

/// Tolerance of a body, as a fraction of its extent.
pub(super) const TOLERANCE: f64 = 1.0 / 2000.0;

fn check(query: &Query) -> Result<()> {
    // Minus infinity is allowed: it finds nothing.
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
        limits::check_point("gained", &step.gained[0])?;
        limits::check_point("gained", &step.gained[1])?;
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
    /// Returns whether contacts are reduced only after all contacts and their normals are known.
    fn reduces_at_the_end(&self, both: bool) -> bool {
        self.max_contacts > 0
            && match self.segmentation {
                Segmentation::None => both,
                Segmentation::Level(_) => false,
                Segmentation::Region { .. } => true,
            }
    }
}

impl Pass<'_> {
    /// Appends every sample with a separation up to `limit` to `workspace.hits`, in ascending order; with a step,
    /// only the samples that count in it.
    fn collect(&self, limit: f32, query: &Query, workspace: &mut Workspace) {
        match query.step.as_ref().filter(|_| !matches!(self.field, Field::Sheet(_))) {
            Some(step) => self.collect_counting(limit, step, query.preferred, workspace),
            None => self.collect_all(limit, workspace),
        }
    }
}

impl Pass<'_> {
    /// Keeps the samples whose contacts are wanted, with their exact separations.
    fn keep_wanted(&self, query: &Query, hits: &mut Vec<Hit>) {
        hits.retain_mut(|hit| {
            let contact = self.contact(hit);
            hit.phi = contact.separation as f32;
            self.is_wanted(&contact, query)
        });
    }
}

/// Fills `workspace.contacts` and the report from both directions.
fn find(passes: &mut [Option<Pass>; 2], query: &Query, workspace: &mut Workspace) {
    // The clock is read only when the budget is limited.
    let limited = (query.budget != Budget::UNLIMITED).then(Instant::now);
    let both = passes.iter().all(Option::is_some);
    let mut first = None;
    let mut segments = 0;
    for pass in passes.iter_mut().flatten() {
        let limit = pass.search_up_to(query.max_separation);
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
        let reduces = query.segmentation == Segmentation::None && query.max_contacts > 0;
        if pass.exact.is_some() && (reduces || matches!(query.segmentation, Segmentation::Level(_))) {
            pass.keep_wanted(query, &mut workspace.hits);
        }
        if let Segmentation::Level(level) = query.segmentation {
            let tree = &pass.shell.tree;
            segment::keep_deepest(tree, level, &mut workspace.hits);
            let Workspace { hits, contacts, .. } = workspace;
            pass.contacts(hits, |hit, contact| {
                contacts.push_guarded(Contact { segment: segments + segment::of(tree, level, hit.sample), ..contact });
            });
            segments += segment::count(tree, level);
        } else if reduces && workspace.hits.len() > query.max_contacts {
            // Reduced before the normals are computed, so that dropped contacts cost no normal.
            let (hits, candidates) = (&workspace.hits, &mut workspace.candidates);
            candidates.clear();
            candidates.extend_guarded(hits.iter().enumerate().map(|(i, h)| Candidate {
                point: h.point,
                separation: h.phi,
                feature: pass.feature(h.sample),
                index: i as u32,
                apart: 0.0,
            }));
            reduce(candidates, query.max_contacts, query.preferred);
            for k in 0..workspace.candidates.len() {
                let hit = workspace.hits[workspace.candidates[k].index as usize];
                workspace.contacts.push_guarded(pass.contact(&hit));
            }
        } else {
            let Workspace { hits, contacts, .. } = workspace;
            pass.contacts(hits, |_, contact| {
                if pass.is_wanted(&contact, query) {
                    contacts.push_guarded(contact);
                }
            });
        }
    }
}

/// Sharp features are searched up to this many times the largest motion in the step, plus a fraction of the largest separation.
const MOTIONS: f64 = 1.5;
const AT_REST: f64 = 0.1;
/// The same in a pair, at least, in tolerances.
const NEAR: f64 = 8.0;

/// Two bodies of flat faces that move by at most this fraction of the smaller one's radius, half the diagonal of its box, in
/// a step are tested by their edges and corners alone. Faster ones can meet in the step with others than those that are
/// closest now.
const SLOW: f64 = 0.006;

/// Depth up to which a pair takes the deepest edge or corner for the deepest point, in tolerances; deeper, a sample may be.
const SHALLOW: f64 = 4.0;

/// Returns the largest distance that a point of the smaller of two bodies moves in a step, metres.
fn largest_motion(step: &Step, surfaces: [&Surface; 2], poses: [&Pose; 2]) -> f64 {
    let reach = |surface: &Surface, pose: &Pose| {
        let middle = pose * nalgebra::Point3::from(surface.bounds().center());
        (middle.coords - step.center).norm() + frames::radius(surface)
    };
    let reach = reach(surfaces[0], poses[0]).min(reach(surfaces[1], poses[1]));
    step.shifts().fold(0.0, |most, shift| shift.norm().max(most)) + step.turn.norm() * reach
}

/// Appends the contacts of edges and corners alone, if they make all contacts of the step, and returns whether they do.
fn find_outlines(
    surfaces: [&Surface; 2],
    poses: [&Pose; 2],
    passes: &mut [Option<Pass>; 2],
    (query, tolerance): (&Query, Option<f64>),
    workspace: &mut Workspace,
) -> bool {
    let Some(step) = query.step.as_ref().filter(|step| step.extremes_only) else { return false };
    let is_slow = || {
        largest_motion(step, surfaces, poses)
            <= SLOW * surfaces.map(frames::radius).into_iter().fold(f64::INFINITY, f64::min)
    };
    if !sharp::suffice(surfaces, query.max_separation) || !is_slow() {
        return false;
    }
    find_between(surfaces, poses, passes, query, Between { alone: true, tolerance }, workspace);
    // Without contacts one body may be inside the other. Deep inside, faces can be deeper than their edges.
    let deepest = workspace.contacts.iter().fold(f64::INFINITY, |least, c| least.min(c.separation));
    let mut is_outdone = workspace.contacts.is_empty() || deepest < -query.max_separation;
    if let Some(tolerance) = tolerance.filter(|tolerance| !is_outdone && deepest < -SHALLOW * tolerance) {
        let limit = deepest - tolerance;
        is_outdone = passes.iter_mut().flatten().any(|pass| pass.nearest_contact(limit, workspace).is_some());
    }
    if is_outdone {
        workspace.contacts.clear();
        return false;
    }
    sort(&mut workspace.contacts);
    between::remove(&mut workspace.contacts, frames::extent(surfaces), query.max_separation);
    workspace.report =
        Report { completeness: Completeness::Extremes, coverage: Coverage::Facets, least_missed: f64::NEG_INFINITY };
    true
}

/// How edges and corners are searched.
struct Between {
    /// Without samples: then they surround the faces that touch.
    alone: bool,
    /// That of a pair, metres.
    tolerance: Option<f64>,
}

/// Appends the contacts of edges and sharp corners, and removes those that do not count in the step.
fn find_between(
    surfaces: [&Surface; 2],
    poses: [&Pose; 2],
    passes: &[Option<Pass>; 2],
    query: &Query,
    Between { alone, tolerance }: Between,
    workspace: &mut Workspace,
) {
    let covering = tolerance.filter(|_| !alone);
    let covering = covering.map(|tolerance| Covering { distance: COVERED * spacing(passes), tolerance });
    let Workspace { edges: scratch, sharp: sharp_scratch, contacts, stats, apart, .. } = workspace;
    let mut first = contacts.len();
    sharp_scratch.passed.clear();
    if query.max_separation > 0.0 {
        let slides = query.step.as_ref().map(|step| MOTIONS * largest_motion(step, surfaces, poses));
        // Without samples every contact is needed; a pair wants all that is near, whatever its motion.
        let near = covering.map_or(0.0, |covering| NEAR * covering.tolerance).max(AT_REST * query.max_separation);
        let reach = slides.filter(|_| !alone).map_or(f64::INFINITY, |slides| slides + near);
        // A pair promises true depths; to a query without a tolerance the direction that stops the bodies matters more.
        let tolerance = tolerance.unwrap_or(f64::INFINITY);
        let reach = sharp::Reach { limit: query.max_separation.min(reach), slides, tolerance };
        let (left, tests) = sharp::collect(surfaces, poses, reach, sharp_scratch, contacts);
        first = left;
        stats.edge_tests += tests;
    }
    if *apart > 0.0 {
        scratch.clear();
    } else {
        let wanted = edges::Wanted { outline: alone, passed: &sharp_scratch.passed, covering };
        stats.edge_tests += edges::collect(surfaces, poses, query.max_separation, wanted, scratch, contacts);
    }
    keep_counting(first, passes, query, contacts);
}

/// Appends the contacts of edges that pass through the other body, if no contact touches.
fn find_crossings(
    surfaces: [&Surface; 2],
    poses: [&Pose; 2],
    passes: &[Option<Pass>; 2],
    query: &Query,
    workspace: &mut Workspace,
) {
    let Workspace { edges: scratch, contacts, stats, .. } = workspace;
    let first = contacts.len();
    if contacts.iter().all(|contact| contact.separation > 0.0) {
        let limit = query.max_separation.min(0.0);
        stats.edge_tests += edges::collect(surfaces, poses, limit, edges::Wanted::default(), scratch, contacts);
        keep_counting(first, passes, query, contacts);
    }
}

/// Removes the contacts from the index `first` on, which are no samples, that do not count in the step. With a level of
/// segments, the deepest of them is a segment of its own after those of the trees.
fn keep_counting(first: usize, passes: &[Option<Pass>; 2], query: &Query, contacts: &mut Vec<Contact>) {
    if let Some(step) = &query.step {
        let mut kept = first;
        for i in first..contacts.len() {
            if step.gap(&contacts[i]) <= step.max_gap {
                contacts.swap(kept, i);
                kept += 1;
            }
        }
        contacts.truncate(kept);
    }
    if let Segmentation::Level(level) = query.segmentation {
        let segment = passes.iter().flatten().map(|pass| segment::count(&pass.shell.tree, level)).sum();
        if let Some(deepest) = contacts[first..].iter().min_by(|p, q| order(p, q)).copied() {
            contacts.truncate(first);
            contacts.push_guarded(Contact { segment, ..deepest });
        }
    }
}

/// Appends the contacts of faces with a convex body between the samples, and that of one inside the other body.
fn find_faces(faces: &Faces, passes: &[Option<Pass>; 2], query: &Query, workspace: &mut Workspace) {
    let Workspace { faces: scratch, contacts, stats, report, .. } = workspace;
    let first = contacts.len();
    stats.edge_tests += faces.collect(query.max_separation, Wanted::All, scratch, contacts);
    if contacts.is_empty() {
        contacts.extend_guarded(faces.inside().filter(|c| c.separation <= query.max_separation));
    }
    if contacts.len() > first {
        report.coverage = Coverage::Edges;
        keep_counting(first, passes, query, contacts);
    }
}

/// Fraction of a gap by which a contact may be farther than the closest points.
const OF_GAP: f64 = 0.1;

/// The closest points are searched farther than they are wanted, by this many times the motion since the last query: the
/// distance is then known for about as many queries.
const AHEAD: f64 = 8.0;

/// Fraction of a distance by which it may be less than that of the closest points that are found.
const ROUNDING: f64 = 1e-6;

/// Appends the closest points of two surfaces that are apart, unless a contact is as near up to `tolerance`, metres, or
/// [`OF_GAP`]. Samples, and before touching the edges with a small turn, may miss them.
fn find_closest(
    surfaces: [&Surface; 2],
    poses: [&Pose; 2],
    passes: &[Option<Pass>; 2],
    query: &Query,
    tolerance: f64,
    workspace: &mut Workspace,
) {
    let Workspace { contacts, edges, stats, apart, moved, .. } = workspace;
    let nearest = contacts.iter().min_by(|p, q| order(p, q)).copied();
    let enough = |c: &Contact| (c.separation - tolerance).min(c.separation / (1.0 + OF_GAP));
    let limit = nearest.as_ref().map_or(query.max_separation, enough).min(query.max_separation);
    if limit <= *apart {
        return;
    }
    let first = contacts.len();
    let reach = (limit + AHEAD * *moved).min(limits::MAX_COORDINATE);
    let closest = apart::closest(surfaces, poses, reach, nearest.as_ref());
    stats.edge_tests += closest.tests;
    if !edges.has_crossings() {
        *apart = closest.least * (1.0 - ROUNDING);
    }
    contacts.extend_guarded(closest.contact.filter(|c| c.separation <= limit));
    keep_counting(first, passes, query, contacts);
}

/// Reduces the contacts of each segment. Works in A's frame, so that the answer does not depend on the world's
/// origin.
fn reduce_contacts(workspace: &mut Workspace, pose_a: &Pose, query: &Query) {
    let Workspace { contacts, candidates, kept, .. } = workspace;
    contacts.sort_unstable_by_key(|c| (c.segment, c.feature));
    kept.clear();
    for segment in contacts.chunk_by(|p, q| p.segment == q.segment) {
        candidates.clear();
        candidates.extend_guarded(segment.iter().enumerate().map(|(i, c)| {
            let p = pose_a.inverse_transform_point(&nalgebra::Point3::from(c.point_on_a));
            Candidate {
                point: [p.x as f32, p.y as f32, p.z as f32],
                separation: c.separation as f32,
                feature: c.feature,
                index: i as u32,
                apart: 0.0,
            }
        }));
        reduce(candidates, query.max_contacts, query.preferred);
        kept.extend_guarded(candidates.iter().map(|p| segment[p.index as usize]));
    }
    // Copied back instead of swapped: the larger of the two buffers must stay where the next query fills it.
    contacts.clear();
    contacts.extend_slice_guarded(kept);
}
