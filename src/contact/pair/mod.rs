//! Two bodies that stay near each other for a while: contact manifolds from step to step.
//!
//! A pair remembers its points. While the bodies hardly move against each other, its points are those of the last search,
//! turned with the bodies; otherwise it searches again ([`contacts`](super::contacts())) and hands the numbers of the host to
//! the points that stay.

mod motion;
mod points;

pub use motion::{Motion, PairStep};
pub use points::{Manifold, PairPoint};

use nalgebra::Point3;

use crate::manifold::Grouping;
use crate::query::{NEIGHBOURS, TOLERANCE};
use crate::search::far;
use crate::types::{Completeness, Contact, Coverage, Geometry, Owner, Query, Roles, Step};
use crate::workspace::Workspace;
use motion::{Placed, Smaller};
use points::{feature_of, Found, Identities, Thinning};
use voxshell_base::math::{limits, Pose, Vec3};
use voxshell_base::memory::{GrowGuarded, RoomGuarded, SliceGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::SignedDistance;

/// Settings of a pair; 0 means automatic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairOptions {
    /// Lengths below it do not matter, metres: the answer is kept while no point of the smaller body has moved by more than a
    /// quarter of it against the other body. 0: 1/2,000 of the largest extent of the smaller body.
    pub tolerance: f64,
    /// Separation up to which surfaces have contacts, metres, now or at the end of the step. 0: four tolerances.
    pub margin: f64,
    /// Largest number of points of a manifold. 0: 4.
    pub max_points: usize,
}

/// Margin of a pair, in tolerances.
const MARGIN: f64 = 4.0;
/// Motion up to which an answer is kept, in tolerances.
const KEPT: f64 = 0.25;
const MAX_POINTS: usize = 4;

/// How an update found its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The points of the last search were turned with the bodies.
    Recycled,
    #[default]
    Searched,
}

/// Contacts of two bodies from step to step. Used by one thread at a time. Once it is warm, an update neither allocates nor
/// locks.
#[derive(Default)]
pub struct Pair {
    options: PairOptions,
    workspace: Workspace,
    manifolds: Vec<Manifold>,
    points: Vec<PairPoint>,
    /// The same points in the frames of the bodies.
    anchors: Vec<Anchor>,
    /// Normals of the manifolds in the frame of B.
    normals: Vec<Vec3>,
    /// Where the bodies were when the points were found.
    placed: Option<Placed>,
    origin: Origin,
    scratch: Scratch,
}

/// Lengths that a search needs, metres: the largest extent of the smaller body, tolerance and margin of the pair, and the largest
/// motion in the step.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    extent: f64,
    tolerance: f64,
    margin: f64,
    reach: f64,
}

/// Where a point is on the bodies.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// In the frame of A, and of B.
    on_a: Vec3,
    on_b: Vec3,
    /// Normal of the contact in the frame of B.
    normal: Vec3,
}

#[derive(Default)]
struct Scratch {
    found: Vec<Found>,
    thinning: Thinning,
    identities: Identities,
    last: Vec<PairPoint>,
    /// Features of the last points, ascending, and their regions.
    preferred: Vec<u32>,
    regions: Vec<u32>,
    by_feature: Vec<(u32, u32)>,
    /// Ids of the points of a region, where they were found, and which of the last points had them.
    chosen: Vec<(u64, usize, Option<usize>)>,
}

impl Pair {
    /// Returns a pair without a memory.
    ///
    /// # Errors
    /// `InvalidArgument` for a length that is negative or not finite.
    pub fn new(options: PairOptions) -> Result<Self> {
        for (name, length) in [("tolerance", options.tolerance), ("margin", options.margin)] {
            if !(0.0..=limits::MAX_COORDINATE).contains(&length) {
                return Err(Error::argument(name, limits::Shown(length), "a finite length, 0 to 1e18 m"));
            }
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Forgets everything but the options: the next answer is that of a new pair, byte for byte.
    pub fn reset(&mut self) {
        // The workspace keeps bounds, which change the time of an answer and nothing else.
        self.manifolds.clear();
        self.points.clear();
        self.anchors.clear();
        self.normals.clear();
        self.placed = None;
        self.workspace.memory.clear();
    }

    /// Returns a pair with the same memory, whose next answer is the same.
    pub fn copied(&self) -> Self {
        Self {
            options: self.options,
            manifolds: self.manifolds.to_vec_guarded(),
            points: self.points.to_vec_guarded(),
            anchors: self.anchors.to_vec_guarded(),
            normals: self.normals.to_vec_guarded(),
            placed: self.placed,
            origin: self.origin,
            ..Self::default()
        }
    }

    /// Returns the manifolds of the last update, in the order of their regions.
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// Returns the points of all manifolds of the last update.
    pub fn points(&self) -> &[PairPoint] {
        &self.points
    }

    /// Returns the same; the host may write its own numbers into them.
    pub fn points_mut(&mut self) -> &mut [PairPoint] {
        &mut self.points
    }

    /// Returns how the last update found its answer.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the workspace of the last search, with its report.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Finds the manifolds of two bodies in a step. `owners` are those of the geometries, if they are known, which must be the
    /// same in all updates.
    ///
    /// # Errors
    /// As [`contacts`](super::contacts()), and `InvalidArgument` for a number of the step that is out of its range. The
    /// memory stays as it was.
    pub fn update(
        &mut self,
        [a, b]: [&Geometry; 2],
        owners: Option<[Owner; 2]>,
        step: &PairStep,
    ) -> Result<&[Manifold]> {
        step.check()?;
        let bounds = |body: &Geometry| match (body.field, body.shell) {
            (Some(field), _) => field.bounds(),
            (None, Some(shell)) => shell.bounds(),
            (None, None) => voxshell_base::math::Aabb::empty(),
        };
        let (of_a, of_b) = (bounds(a), bounds(b));
        let smaller = Smaller::of(&of_a, &of_b);
        let placed = smaller.placement(step);
        let extent = if smaller.is_a { of_a.extents().amax() } else { of_b.extents().amax() };
        let tolerance = match self.options.tolerance {
            length if length > 0.0 => length,
            _ if extent.is_finite() => TOLERANCE * extent,
            _ => 0.0,
        };
        let margin = if self.options.margin > 0.0 { self.options.margin } else { MARGIN * tolerance };
        let is_kept = |last: &Placed| smaller.difference(last, &placed).iter().all(|d| *d <= KEPT * tolerance);
        if self.placed.as_ref().is_some_and(is_kept) {
            self.recycle(step);
        } else {
            let reach = smaller.reach(&placed).min(smaller.radius);
            self.search([a, b], owners, step, Lengths { extent, tolerance, margin, reach })?;
            self.placed = Some(placed);
        }
        Ok(&self.manifolds)
    }

    /// Turns the points with the bodies.
    fn recycle(&mut self, step: &PairStep) {
        self.origin = Origin::Recycled;
        let motion = step.relative(0.0);
        let (pose_a, pose_b) = (&step.a.pose, &step.b.pose);
        for (point, anchor) in self.points.iter_mut().zip(&self.anchors) {
            point.point_on_a = (pose_a * Point3::from(anchor.on_a)).coords;
            point.point_on_b = (pose_b * Point3::from(anchor.on_b)).coords;
            point.normal = (pose_b.rotation * anchor.normal).normalize();
            point.separation = point.normal.dot(&(point.point_on_b - point.point_on_a));
            point.gap = motion.gap_at(point.separation, &point.normal, point.point_on_a);
        }
        for (manifold, normal) in self.manifolds.iter_mut().zip(&self.normals) {
            manifold.normal = (pose_b.rotation * normal).normalize();
        }
    }

    /// Finds the points anew.
    fn search(
        &mut self,
        [a, b]: [&Geometry; 2],
        owners: Option<[Owner; 2]>,
        step: &PairStep,
        Lengths { extent, tolerance, margin, reach }: Lengths,
    ) -> Result<()> {
        let motion = step.relative(margin);
        let (pose_a, pose_b) = (&step.a.pose, &step.b.pose);
        self.list_last();
        let Scratch { found, preferred, regions, .. } = &mut self.scratch;
        // Faces may be deeper than their edges, those of either body.
        let can_bring_both = [a, b].iter().all(|body| body.shell.is_some() && body.field.is_some());
        let query = Query {
            roles: if can_bring_both { Roles::Both } else { Roles::Auto },
            max_separation: (margin + reach).min(limits::MAX_COORDINATE),
            step: Some(motion),
            coverage: Coverage::Edges,
            preferred,
            owners,
            ..Query::default()
        };
        crate::query::covering_contacts(*a, pose_a, *b, pose_b, &query, Some(tolerance), &mut self.workspace)?;
        let Workspace { contacts, regions: scratch, report, .. } = &mut self.workspace;
        let spacing = [a, b].iter().filter_map(|body| body.shell).fold(0.0, |most, shell| shell.spacing.max(most));
        // Extremes and thinned contacts are far apart: their normals alone tell what belongs together.
        let distance = match report.completeness {
            Completeness::Extremes | Completeness::Urgent => FAR * extent,
            _ => NEIGHBOURS * f64::from(spacing),
        };
        let cosine = libm::cos(std::f64::consts::FRAC_PI_4);
        Grouping { distance, cosine, preferred, preferred_regions: regions }.number(contacts, scratch);
        found.clear();
        for contact in &*contacts {
            let gap = motion.gap_at(contact.separation, &contact.normal, contact.point_on_a);
            if gap <= margin {
                // The quaternions of poses have unit length up to 1e-6 only.
                let normal = contact.normal.try_normalize(0.0).unwrap_or(contact.normal);
                found.push_guarded(Found { contact: Contact { normal, ..*contact }, gap });
            }
        }
        found.sort_unstable_by(|p, q| {
            let (p, q) = (&p.contact, &q.contact);
            p.segment.cmp(&q.segment).then(p.separation.total_cmp(&q.separation)).then(p.feature.cmp(&q.feature))
        });
        self.origin = Origin::Searched;
        let most = if self.options.max_points > 0 { self.options.max_points } else { MAX_POINTS };
        self.choose([(a, pose_a), (b, pose_b)], &motion, most);
        Ok(())
    }

    /// Lists the features of the last points with their regions.
    fn list_last(&mut self) {
        let Scratch { preferred, regions, by_feature, .. } = &mut self.scratch;
        by_feature.clear();
        for manifold in &self.manifolds {
            let points = &self.points[manifold.first..manifold.first + manifold.count];
            by_feature.extend_guarded(points.iter().map(|point| (feature_of(point.id), manifold.region)));
        }
        by_feature.sort_unstable();
        by_feature.dedup_by_key(|listed| listed.0);
        preferred.clear();
        preferred.extend_guarded(by_feature.iter().map(|listed| listed.0));
        regions.clear();
        regions.extend_guarded(by_feature.iter().map(|listed| listed.1));
    }

    /// Reduces the contacts that were found to the points of the answer.
    fn choose(&mut self, bodies: [(&Geometry, &Pose); 2], motion: &Step, most: usize) {
        let [pose_a, pose_b] = bodies.map(|body| body.1);
        let Self { manifolds, points, anchors, normals, scratch, .. } = self;
        let Scratch { found, thinning, identities, last, preferred, chosen, .. } = scratch;
        // Copied instead of swapped: the larger of two buffers must stay where the next answer fills it.
        last.clear();
        last.extend_slice_guarded(points);
        let on_b = |c: &Contact| pose_b.inverse_transform_point(&Point3::from(c.point_on_b)).coords;
        let middle = |c: &Contact| {
            let middle = 0.5 * (c.point_on_a + c.point_on_b);
            pose_b.inverse_transform_point(&Point3::from(middle)).coords
        };
        identities.begin(last.iter().zip(&*anchors).map(|(point, anchor)| (point.id, anchor.on_b)));
        // All room is taken before the answer changes: a pair that runs out of memory keeps its last one.
        let regions = || found.chunk_by(|p, q| p.contact.segment == q.contact.segment).map(<[Found]>::len);
        let (largest, count) = (regions().max().unwrap_or(0), regions().map(|n| n.min(most)).sum::<usize>());
        thinning.reserve(largest);
        identities.reserve(count);
        chosen.clear();
        chosen.reserve_guarded(largest.min(most));
        manifolds.reserve_guarded(regions().count().saturating_sub(manifolds.len()));
        points.reserve_guarded(count.saturating_sub(points.len()));
        anchors.reserve_guarded(count.saturating_sub(anchors.len()));
        normals.reserve_guarded(regions().count().saturating_sub(normals.len()));
        manifolds.clear();
        points.clear();
        anchors.clear();
        normals.clear();
        for region in found.chunk_by(|p, q| p.contact.segment == q.contact.segment) {
            thinning.thin(region, most, preferred, middle);
            chosen.clear();
            for &k in &thinning.kept {
                let contact = &region[k].contact;
                let (id, before) = identities.of(contact.feature, &on_b(contact));
                chosen.push_guarded((id, k, before));
            }
            chosen.sort_unstable_by_key(|chosen| chosen.0);
            let first = points.len();
            let mut sum = Vec3::zeros();
            for &(id, k, before) in chosen.iter() {
                let Found { mut contact, gap: mut ahead } = region[k];
                if let Some(exact) = far::exact(&contact, bodies) {
                    ahead = motion.gap_at(exact.separation, &exact.normal, exact.point_on_a);
                    contact = exact;
                }
                sum += contact.normal;
                points.push_guarded(PairPoint {
                    point_on_a: contact.point_on_a,
                    point_on_b: contact.point_on_b,
                    normal: contact.normal,
                    separation: contact.separation,
                    gap: ahead,
                    id,
                    user: before.map_or([0.0; 4], |i| last[i].user),
                });
                anchors.push_guarded(Anchor {
                    on_a: pose_a.inverse_transform_point(&Point3::from(contact.point_on_a)).coords,
                    on_b: on_b(&contact),
                    normal: pose_b.rotation.inverse() * contact.normal,
                });
            }
            let deepest = region[thinning.kept[0]].contact;
            let normal = sum.try_normalize(LEAST_SUM).unwrap_or(deepest.normal);
            normals.push_guarded(pose_b.rotation.inverse() * normal);
            let count = points.len() - first;
            manifolds.push_guarded(Manifold { normal, first, count, region: deepest.segment });
        }
    }
}

/// A distance that connects all contacts of two bodies, in extents of the smaller.
const FAR: f64 = 4.0;

/// Length below which a sum of unit normals has no direction.
const LEAST_SUM: f64 = 1e-9;
