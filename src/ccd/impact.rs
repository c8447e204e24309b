//! Two bodies that move from pose to pose: whether they touch, their first contact, and all contacts with the times
//! for which they last. World frame; `shell` does the search over the samples, `mesh_impact` that over the triangles.

use super::mesh_impact::{first_touch, FeaturePair, MeshQuery, MeshWorkspace, MovingTriangles, RigidPath};
use super::motion::Motion;
use super::screw;
use super::shell::{Passage, Span, Workspace};
pub use super::types::Collision;
use voxshell_base::math::{limits, limits::check_pose, Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_contact::{directions, Contact, Coverage, Geometry, Roles, Stats, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_field::{Field, SignedDistance, Surface};
use voxshell_mesh::{FeatureKind, MeshFeature};
use voxshell_pointshell::PointShell;

/// A body with its poses at the start and at the end of a step, body to world.
#[derive(Clone, Copy)]
pub struct Moving<'a> {
    pub geometry: Geometry<'a>,
    pub from: Pose,
    pub to: Pose,
}

impl<'a> Moving<'a> {
    /// Returns a body at rest.
    pub fn still(geometry: Geometry<'a>, pose: &Pose) -> Self {
        Self { geometry, from: *pose, to: *pose }
    }

    /// Returns the pose at t, 0 to 1.
    #[inline]
    pub fn pose(&self, t: f64) -> Pose {
        screw::pose_between(&self.from, &self.to, t)
    }
}

/// Paths of the bodies between their poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// Each sample moves straight through the field's frame, as in Xu & Barbič: exact and fastest. The body is not
    /// rigid between its poses, so a rotation of θ moves a sample at distance ρ from the axis up to ρ (1 − cos θ/2)
    /// inward.
    Straight,
    /// Both bodies are rigid and follow screw motions of at most half a turn: a constant twist from pose to pose
    /// ([`Moving::pose`]).
    Screw {
        /// Largest distance from contact of a reported sample, metres: positive.
        tolerance: f64,
    },
}

/// Parameters of a continuous query.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub roles: Roles,
    pub path: Path,
    /// A sample is in contact where its φ is at most this value, metres. Surfaces are where they are this close.
    pub max_separation: f64,
    /// Fraction of the step after which the motion is ignored, 0 to 1.
    pub until: f64,
    /// Features that are left out, ascending: contacts of the last step, which would end this step immediately (Xu &
    /// Barbič 2016, section 4.2). [`known_contacts`] returns them as they are at the end of the step.
    /// A feature of an edge stands for the edge and for the corners in which it ends: none of them ends the step.
    pub known: &'a [u32],
    /// Selects what is tested of two bodies that both have an exact surface ([`Geometry::surface`]), on screws and with a
    /// `max_separation` of 0 or more; otherwise, samples alone are tested. With [`Coverage::Edges`] the triangles of both
    /// meshes are: vertices against faces and edges against edges.
    pub coverage: Coverage,
}

impl Default for Query<'_> {
    /// Straight paths to contact over the whole step; the roles are chosen automatically.
    fn default() -> Self {
        Self {
            roles: Roles::Auto,
            path: Path::Straight,
            max_separation: 0.0,
            until: 1.0,
            known: &[],
            coverage: Coverage::Edges,
        }
    }
}

impl Query<'_> {
    /// Returns whether the query tests the triangles of bodies that have exact surfaces and whose coverage asks for it.
    pub fn may_test_triangles(&self) -> bool {
        matches!(self.path, Path::Screw { .. }) && self.max_separation >= 0.0 && self.coverage != Coverage::Samples
    }
}

/// Returns a tolerance for screw motions that suits the samples: a thousandth of the sample spacing of the finer
/// shell, metres.
pub fn default_tolerance(a: &Geometry, b: &Geometry) -> f64 {
    let spacing = |g: &Geometry| g.shell.map_or(f64::INFINITY, |shell| f64::from(shell.spacing));
    let finer = spacing(a).min(spacing(b));
    if finer.is_finite() && finer > 0.0 {
        1e-3 * finer
    } else {
        1e-6
    }
}

/// One direction of a query.
struct Direction<'a> {
    shell: &'a PointShell,
    field: &'a Field,
    field_body: &'a Moving<'a>,
    shell_is_b: bool,
    motion: Motion,
    /// Known features of this shell.
    known: &'a [u32],
}

impl<'a> Direction<'a> {
    fn new(
        shell_body: &'a Moving<'a>,
        field_body: &'a Moving<'a>,
        shell_is_b: bool,
        query: &Query<'a>,
    ) -> Option<Self> {
        let (shell, field) = (shell_body.geometry.shell?, field_body.geometry.field?);
        let (of_shell, of_field) = ([&shell_body.from, &shell_body.to], [&field_body.from, &field_body.to]);
        let motion = match query.path {
            Path::Straight => Motion::straight(of_shell, of_field),
            Path::Screw { .. } => Motion::screw(of_shell, of_field, &shell.origin),
        };
        let split = query.known.partition_point(|f| f & FEATURE_OF_B == 0);
        let known = if shell_is_b { &query.known[split..] } else { &query.known[..split] };
        Some(Self { shell, field, field_body, shell_is_b, motion, known })
    }

    fn passage(&self, query: &Query) -> Passage<'a> {
        let mut passage = Passage::new(self.shell, self.field, self.motion);
        (passage.level, passage.until, passage.known) = (query.max_separation, query.until, self.known);
        passage.tag = self.tag();
        if let Path::Screw { tolerance } = query.path {
            passage.tolerance = tolerance;
        }
        passage
    }

    fn tag(&self) -> u32 {
        if self.shell_is_b {
            FEATURE_OF_B
        } else {
            0
        }
    }

    /// Returns the contact of a sample at a time.
    #[inline]
    fn contact(&self, sample: u32, t: f64) -> Contact {
        let map = self.motion.at(t);
        let point = map.point(&self.shell.position(sample as usize));
        let p = point - self.field.local_origin(&point);
        let (phi, gradient) = self.field.distance_gradient([p.x as f32, p.y as f32, p.z as f32]);
        let own = map.linear * Vec3::from(self.shell.normal(sample as usize).map(f64::from));
        let gradient = Vec3::from(gradient.map(f64::from));
        let outward = match self.field {
            // A sheet has two sides: the outward direction is against the sample's normal, towards the sample's body.
            Field::Sheet(_) if gradient.dot(&own) > 0.0 => -gradient,
            _ => gradient,
        };
        // Near the medial axis the gradient becomes short; there the reversed normal of the sample is the better
        // direction.
        let length = outward.norm();
        let outward = if length > 0.25 { outward / length } else { -own.try_normalize(0.0).unwrap_or_else(Vec3::y) };
        let separation = f64::from(phi);
        let pose = self.field_body.pose(t);
        let on_shell = pose.transform_point(&point.into()).coords;
        let outward = pose.rotation * outward;
        let on_field = on_shell - outward * separation;
        let (point_on_a, point_on_b, normal) =
            if self.shell_is_b { (on_field, on_shell, outward) } else { (on_shell, on_field, -outward) };
        Contact { point_on_a, point_on_b, normal, separation, toi: t, feature: sample | self.tag(), segment: 0 }
    }
}

fn check(a: &Moving, b: &Moving, query: &Query) -> Result<()> {
    for (name, pose) in [("a.from", &a.from), ("a.to", &a.to), ("b.from", &b.from), ("b.to", &b.to)] {
        check_pose(name, pose)?;
    }
    if !limits::is_coordinate(query.max_separation) {
        let value = limits::Shown(query.max_separation);
        return Err(Error::argument("max_separation", value, "a finite length of at most 1e18 m"));
    }
    if !(0.0..=1.0).contains(&query.until) {
        return Err(Error::argument("until", query.until, "a part of the step, 0 to 1"));
    }
    if let Path::Screw { tolerance } = query.path {
        if !(tolerance > 0.0 && limits::is_coordinate(tolerance)) {
            let value = limits::Shown(tolerance);
            return Err(Error::argument("tolerance", value, "a positive, finite length of at most 1e18 m"));
        }
    }
    if !query.known.is_sorted() {
        return Err(Error::argument("known", "not sorted", "features in ascending order"));
    }
    Ok(())
}

fn each_direction<'a>(
    a: &'a Moving<'a>,
    b: &'a Moving<'a>,
    query: &Query<'a>,
) -> Result<impl Iterator<Item = Direction<'a>>> {
    check(a, b, query)?;
    let (shell_of_a, shell_of_b) = directions(&a.geometry, &b.geometry, query.roles, false)?;
    let first = shell_of_a.then(|| Direction::new(a, b, false, query)).flatten();
    let second = shell_of_b.then(|| Direction::new(b, a, true, query)).flatten();
    Ok(first.into_iter().chain(second))
}

/// The exact surfaces of two moving bodies.
#[derive(Clone, Copy)]
struct Surfaces<'a> {
    a: &'a Surface,
    b: &'a Surface,
    tolerance: f64,
}

impl<'a> Surfaces<'a> {
    /// Returns the surfaces if the query tests them.
    fn of(a: &Moving<'a>, b: &Moving<'a>, query: &Query) -> Option<Self> {
        let Path::Screw { tolerance } = query.path else { return None };
        let tests_edges = query.coverage.of_moving(&a.geometry, &b.geometry) == Coverage::Edges;
        if !tests_edges || !query.may_test_triangles() {
            return None;
        }
        Some(Self { a: a.geometry.surface?, b: b.geometry.surface?, tolerance })
    }

    /// Returns the first contact of the triangles up to `until`.
    fn first(
        &self,
        a: &Moving,
        b: &Moving,
        query: &Query,
        until: f64,
        workspace: &mut MeshWorkspace,
    ) -> Option<Contact> {
        let mesh_query = MeshQuery {
            path: RigidPath::Screw,
            max_separation: query.max_separation,
            tolerance: self.tolerance,
            time_tolerance: 0.0,
            until,
            known: &[],
        };
        let is_known = |pair: &FeaturePair| {
            is_known_feature(query.known, self.a, &pair.a, FEATURE_OF_EDGE)
                || is_known_feature(query.known, self.b, &pair.b, FEATURE_OF_EDGE | FEATURE_OF_B)
        };
        let moving_a = MovingTriangles { mesh: self.a, from: &a.from, to: &a.to };
        let moving_b = MovingTriangles { mesh: self.b, from: &b.from, to: &b.to };
        let (found, [k, l]) = first_touch(&moving_a, &moving_b, &mesh_query, &is_known, workspace)?;
        let of_a = self.a.naming_edge(k, &found.features.a).map(|edge| edge | FEATURE_OF_EDGE);
        let of_b = self.b.naming_edge(l, &found.features.b).map(|edge| edge | FEATURE_OF_EDGE | FEATURE_OF_B);
        Some(Contact {
            point_on_a: found.point_on_a,
            point_on_b: found.point_on_b,
            normal: found.normal,
            separation: found.separation,
            toi: found.time,
            feature: of_a.or(of_b)?,
            segment: 0,
        })
    }

    /// Returns the contact of a sample that is exactly in contact at the start: of a body, or a piece of it, inside the
    /// other one no triangles touch. The exact distance decides, because the samples near the surface are in contact or not
    /// only up to the field's error.
    fn at_start(&self, a: &Moving, b: &Moving, query: &Query, workspace: &mut Workspace) -> Result<Option<Contact>> {
        let has_both = [a, b].iter().all(|body| body.geometry.shell.is_some() && body.geometry.field.is_some());
        let is_chosen = matches!(query.roles, Roles::Auto | Roles::One);
        let roles = if is_chosen && has_both { Roles::Both } else { query.roles };
        let (a, b) = (Moving::still(a.geometry, &a.from), Moving::still(b.geometry, &b.from));
        let at_rest = Query { roles, path: Path::Straight, ..*query };
        for direction in each_direction(&a, &b, &at_rest)? {
            workspace.spans.clear();
            direction.passage(&at_rest).collect(workspace);
            let surface = if direction.shell_is_b { self.a } else { self.b };
            let start = direction.motion.at(0.0);
            for span in &workspace.spans {
                let point = start.point(&direction.shell.position(span.sample as usize));
                if surface.signed(point) <= query.max_separation {
                    return Ok(Some(direction.contact(span.sample, 0.0)));
                }
            }
        }
        Ok(None)
    }
}

/// Returns whether an edge, or an edge that ends at a vertex, is among the known features. `tag` is what the features of
/// the body's edges have beside their number.
fn is_known_feature(known: &[u32], surface: &Surface, feature: &MeshFeature, tag: u32) -> bool {
    let ends_there = |known: &u32| {
        let edge = known & !tag;
        let is_edge_of_body = known & (FEATURE_OF_EDGE | FEATURE_OF_B) == tag && (edge as usize) < surface.edge_count();
        is_edge_of_body && surface.edge_corners(edge).contains(&feature.index)
    };
    match feature.kind {
        FeatureKind::Face => false,
        FeatureKind::Edge => known.binary_search(&(feature.index | tag)).is_ok(),
        FeatureKind::Vertex => known.iter().any(ends_there),
    }
}

/// Returns the first contact of two bodies during their motion. `toi` is its time; the other values are those at that
/// time. Ties go to the lower feature.
///
/// On straight paths the result is exact over the samples. On screw motions it is never later than the first contact
/// of the true motion, and no sample is deeper at that time than `max_separation` + the tolerance; a near miss within
/// the tolerance may be reported as a contact. Bodies in contact at the start give 0, unless their features are among
/// the known ones. Once the workspace is warm this allocates nothing; the same input gives the same bytes.
///
/// Where the triangles are tested ([`Query::coverage`]), they alone decide: no contact of the surfaces is missed, whatever
/// the samples and the fields, and none is reported that is farther apart than `max_separation` + the tolerance, unless the
/// search runs out of tests ([`mesh_time_of_impact`](super::mesh_impact::mesh_time_of_impact)). Its feature is that of an edge, as in [`Contact::feature`]. At the start, samples find the contacts of bodies inside each other.
///
/// # Errors
/// `Unsupported` when the bodies lack the forms that the roles need, `InvalidArgument` for numbers out of their range.
pub fn time_of_impact(a: &Moving, b: &Moving, query: &Query, workspace: &mut Workspace) -> Result<Option<Contact>> {
    if let Some(surfaces) = Surfaces::of(a, b, query) {
        check(a, b, query)?;
        workspace.begin();
        let at_start = surfaces.at_start(a, b, query, workspace)?;
        if at_start.is_some() {
            return Ok(at_start);
        }
        let first = surfaces.first(a, b, query, query.until, &mut workspace.mesh);
        workspace.count_mesh_tests();
        return Ok(first);
    }
    let mut until = query.until;
    let mut first: Option<Contact> = None;
    let mut stats = Stats::default();
    for direction in each_direction(a, b, query)? {
        let mut passage = direction.passage(query);
        passage.until = until;
        let found = passage.first(workspace);
        stats += workspace.stats;
        if let Some((t, sample)) = found {
            if first.is_none_or(|best| t < best.toi) {
                first = Some(direction.contact(sample, t));
                until = t;
            }
        }
    }
    workspace.stats = stats;
    Ok(first)
}

/// Returns whether two bodies touch during their motion: the same test as [`time_of_impact`], but faster.
///
/// # Errors
/// As [`time_of_impact`].
pub fn touch(a: &Moving, b: &Moving, query: &Query, workspace: &mut Workspace) -> Result<bool> {
    if Surfaces::of(a, b, query).is_some() {
        return time_of_impact(a, b, query, workspace).map(|found| found.is_some());
    }
    Ok(each_direction(a, b, query)?.any(|direction| direction.passage(query).touches(workspace)))
}

/// Returns all contacts of two bodies during their motion. Each has the values at its beginning and the time until
/// which it lasts. Contacts are ordered by their beginning, then by feature. A sample may have several. They live in
/// the workspace until its next use.
///
/// Where the triangles are tested, the list also has their first contact, if no sample is in contact before it. It lasts at
/// least until it begins: its end is not searched for. The other contacts are those of the samples in the fields.
///
/// Guarantees and errors are those of [`time_of_impact`].
pub fn contacts<'w>(a: &Moving, b: &Moving, query: &Query, workspace: &'w mut Workspace) -> Result<&'w [Collision]> {
    let directions = each_direction(a, b, query)?;
    workspace.begin();
    for direction in directions {
        workspace.spans.clear();
        direction.passage(query).collect(workspace);
        let Workspace { spans, collisions, .. } = &mut *workspace;
        let of_span = |s: &Span| Collision { contact: direction.contact(s.sample, s.from), until: s.to };
        collisions.extend_guarded(spans.iter().map(of_span));
    }
    if let Some(surfaces) = Surfaces::of(a, b, query) {
        let earliest = workspace.collisions.iter().fold(f64::INFINITY, |least, c| least.min(c.contact.toi));
        let until = query.until.min(earliest);
        let first = surfaces.first(a, b, query, until, &mut workspace.mesh).filter(|c| c.toi < earliest);
        workspace.count_mesh_tests();
        workspace.collisions.extend_guarded(first.map(|contact| Collision { contact, until: contact.toi }));
    }
    let order = |p: &Contact, q: &Contact| p.toi.total_cmp(&q.toi).then_with(|| p.feature.cmp(&q.feature));
    workspace.collisions.sort_unstable_by(|p, q| order(&p.contact, &q.contact));
    Ok(&workspace.collisions)
}

/// Returns the contacts of `query.known` at the end of the step, with the values at that time (`toi` and `until` are
/// 1), by feature. Features of edges have none.
///
/// # Errors
/// As [`time_of_impact`], and for a feature that belongs to neither body.
pub fn known_contacts<'w>(
    a: &Moving,
    b: &Moving,
    query: &Query,
    workspace: &'w mut Workspace,
) -> Result<&'w [Collision]> {
    let directions = each_direction(a, b, query)?;
    workspace.begin();
    for direction in directions {
        for feature in direction.known.iter().filter(|feature| *feature & FEATURE_OF_EDGE == 0) {
            let sample = feature & !FEATURE_OF_B;
            if sample as usize >= direction.shell.len() {
                let expected = format!("a sample of {}", direction.shell.len());
                return Err(Error::argument("known", sample, expected));
            }
            let contact = direction.contact(sample, 1.0);
            if contact.separation <= query.max_separation {
                workspace.collisions.push_guarded(Collision { contact, until: 1.0 });
            }
        }
    }
    Ok(&workspace.collisions)
}
