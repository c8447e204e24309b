//! Contacts of sharp features before the bodies touch: edge against edge, and corner against surface.
//!
//! Two features make a contact where the distance between the bodies is locally least: the direction from one to the
//! other is in the normal cones of both features (see `mesh/sharp.rs`). The distance between the bodies is the least of
//! these minima. Where no feature of either body at such a minimum is sharp, the samples are close enough.
//!
//! Between touching and the least depth that the search for edges that pass through a surface resolves, the distance is
//! signed: along the common normal of two edges, and along the normal of a face.
//!
//! Two sharp edges that have passed through each other keep their common normal, up to the largest separation that is
//! wanted: the closest faces beside them lead to the side, and the bodies would slide on into each other. Along it they are
//! deeper than the closest faces; a pair takes the faces where that is more than its tolerance.

use super::super::types::{Contact, FEATURE_OF_B, FEATURE_OF_EDGE};
use super::frames::{extent, placement};
use super::places::Places;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::{GrowGuarded, RoomGuarded};
use voxshell_field::Surface;
use voxshell_mesh::{Feature, Front, Placement};

/// Sine of the angle by which a direction may be outside the normal cone of a feature. The corners of a face that is
/// nearly flush with another are contacts before the face is flush, so that a solver sees all that will carry.
const LEAN: f64 = 0.05;

/// Sine of the same angle for a foot on the surface against which a corner is tested, and for edges that have passed
/// through each other: rounding alone.
const ROUNDING: f64 = 1e-6;

/// Largest depth at which features still count as apart, as a fraction of the extent of the smaller body: a little more
/// than the depth from which edges that pass through a surface are found.
const OVERLAP: f64 = 2e-6;

/// Distance below which the direction between two points is that of the surface, as a fraction of the same extent.
const NO_DIRECTION: f64 = 1e-9;

/// Largest distance of features, as a fraction of the same extent: the number of pairs grows with its square.
const FARTHEST: f64 = 0.25;

/// Edges at a smaller angle, radians, are parallel. Where parallel edges are closest, the end of one of them is.
const PARALLEL: f64 = 1e-5;

/// Fraction of an edge by which a closest point may be beyond its end: rounding.
const BEYOND: f64 = 1e-9;

/// Contacts that are closer than this fraction of the extent, and whose normals have at least this cosine, are one.
const SAME_PLACE: f64 = 1e-6;
const SAME_NORMAL: f64 = 0.98;
/// Edge of the cubes in which contacts at one place are looked for, in distances of [`SAME_PLACE`].
const CUBES: f64 = 16.0;
/// Number of pairs of features for which there is room from the beginning.
const FEATURES: usize = 1024;

/// Scratch memory of a search for sharp features.
#[derive(Default)]
pub(in super::super) struct Scratch {
    /// Position of each contact along [`SWEEP`], and its index.
    order: Vec<(f64, u32)>,
    dropped: Vec<bool>,
    /// Whether each contact of a sample gives way to those of its corner.
    superseded: Vec<bool>,
    /// Edges that have passed through an edge of the other body, by surface, edge and position.
    pub passed: Vec<Passed>,
    /// The contacts of sharp features by their places on both bodies.
    places: [Places; 2],
    /// Features of both surfaces that may be near each other.
    near: Vec<(u32, u32)>,
    /// What a pair remembers of the descents for edges, for corners of the first surface, and for those of the second.
    pub fronts: [Front; 3],
}

/// An edge that has passed through an edge of the other body.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Passed {
    pub of_second: bool,
    pub edge: u32,
    /// Position on the edge, a fraction of it, at which it is inside under the other edge.
    pub at: f64,
    /// Depth of the contact of both edges along their common normal, metres.
    pub depth: f64,
}

/// A direction along which few contacts have the same position, however the bodies are aligned.
const SWEEP: [f64; 3] = [0.612_372, 0.559_017, 0.559_017];

/// Returns the common normal of two lines, of unit length, with its offset from the first to the second, and the
/// positions of the closest points as fractions of both edges; `None` if they are parallel.
fn common_normal([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> Option<(Vec3, f64, [f64; 2])> {
    let (u, w, r) = (p_end - p, q_end - q, q - p);
    let n = u.cross(&w);
    let squared = n.norm_squared();
    if squared <= PARALLEL * PARALLEL * u.norm_squared() * w.norm_squared() {
        return None;
    }
    let length = squared.sqrt();
    Some((n / length, r.dot(&n) / length, [r.cross(&w).dot(&n) / squared, r.cross(&u).dot(&n) / squared]))
}

/// Returns the position on a line at which it is inside a surface under one of its edges, in the plane that divides the
/// angle between the faces beside that edge; `None` if it is not inside there.
fn under(surface: &Surface, edge: u32, [from, to]: [Vec3; 2]) -> Option<f64> {
    let [start, end] = surface.edge(edge);
    let across = (end - start).cross(&surface.normal_of_edge(edge)?);
    let at = (start - from).dot(&across) / (to - from).dot(&across);
    ((0.0..=1.0).contains(&at) && surface.contains(from + (to - from) * at)).then_some(at)
}

/// How near sharp features are wanted, metres.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Reach {
    /// Largest separation, and largest depth of edges that have passed through each other.
    pub limit: f64,
    /// In a step, distance over which a corner in a concave place of the other body slides onto the faces around it.
    pub slides: Option<f64>,
    /// Largest difference between the depth of edges along their common normal and that of the closest faces.
    pub tolerance: f64,
}

/// The two surfaces of a search, with their lengths.
struct Search<'a> {
    first: &'a Surface,
    second: &'a Surface,
    /// From the frame of the first to that of the second.
    placement: Placement,
    reach: Reach,
    extent: f64,
}

impl Search<'_> {
    /// Returns the point of a sharp edge of the first surface that is closest to one of the second, the unit vector from
    /// the first to the second, and the separation, if they are a contact. Adds edges that have passed through each other to
    /// `passed`.
    fn edges(&self, one: u32, two: u32, passed: &mut Vec<Passed>) -> Option<(Vec3, Vec3, f64)> {
        let ends = self.first.edge(one).map(|p| self.placement.place(&p));
        let (normal, offset, at) = common_normal(ends, self.second.edge(two))?;
        if offset.abs() > self.reach.limit || at.iter().any(|x| !(-BEYOND..=1.0 + BEYOND).contains(x)) {
            return None;
        }
        let apart = if offset < 0.0 { -normal } else { normal };
        let signs = [(apart, offset.abs()), (-apart, -offset.abs())];
        let (direction, separation) = signs.into_iter().find(|(direction, separation)| {
            let lean = if *separation < -OVERLAP * self.extent { ROUNDING } else { LEAN };
            self.second.edge_faces(two, &-direction, lean)
                && self.first.edge_faces(one, &self.placement.rotation.tr_mul(direction), lean)
        })?;
        let point = ends[0] + (ends[1] - ends[0]) * at[0];
        if separation < 0.0 {
            let depth = -separation;
            let back = |p: &Vec3| self.placement.place_back(p);
            let on_first = under(self.second, two, ends);
            let on_second = under(self.first, one, self.second.edge(two).map(|p| back(&p)));
            let within = depth - self.reach.tolerance;
            let is_true = |surface: &Surface, p: Vec3| surface.contains(p) && surface.foot(p, within).is_none();
            let are_true = || {
                within <= 0.0
                    || (is_true(self.second, point) && is_true(self.first, back(&(point + direction * separation))))
            };
            match on_first.zip(on_second).filter(|_| are_true()) {
                Some(at) => {
                    passed.push_guarded(Passed { of_second: false, edge: one, at: at.0, depth });
                    passed.push_guarded(Passed { of_second: true, edge: two, at: at.1, depth });
                }
                None if separation < -OVERLAP * self.extent => return None,
                None => {}
            }
        }
        Some((point, direction, separation))
    }

    /// Returns the same for a sharp corner of the first surface and the closest point of a triangle of the second.
    fn corner(&self, corner: u32, triangle: u32) -> Option<(Vec3, Vec3, f64)> {
        let p = self.placement.place(&self.first.sharp_corner(corner).0);
        let (foot, feature) = self.second.foot_and_feature(triangle, &p);
        let from_foot = p - foot;
        let distance = from_foot.norm();
        if distance > self.reach.limit {
            return None;
        }
        if let Some(slides) = self.reach.slides.filter(|_| self.second.is_at_concave_edge(triangle, feature)) {
            // Not the closest point, but the bodies' motion may lead from the nearest face to this one.
            let out = self.second.normal(triangle)?;
            let separation = from_foot.dot(&out);
            let beside = (from_foot - out * separation).norm();
            let faces = || self.first.corner_faces(corner, &self.placement.rotation.tr_mul(&-out), LEAN);
            return (separation >= 0.0 && beside <= slides && faces()).then_some((p, -out, separation));
        }
        let (out, separation) = if feature == Feature::Face || distance <= NO_DIRECTION * self.extent {
            let normal = self.second.normal(triangle)?;
            (normal, if from_foot.dot(&normal) < 0.0 { -distance } else { distance })
        } else {
            (from_foot / distance, distance)
        };
        let is_contact = separation >= -OVERLAP * self.extent
            && self.first.corner_faces(corner, &self.placement.rotation.tr_mul(&-out), LEAN)
            && (distance <= NO_DIRECTION * self.extent
                || self.second.is_closest_from(triangle, feature, &p, &out, ROUNDING));
        is_contact.then_some((p, -out, separation))
    }
}

/// Returns whether the edges and corners of two meshes make all contacts up to `limit`, metres, that a solver needs, if they
/// make any: a part of one body lies on the other, or near it, first with an edge or a corner of either. Of faces that lie
/// on each other these are the outline.
pub(in super::super) fn suffice(surfaces: [&Surface; 2], limit: f64) -> bool {
    surfaces.iter().all(|surface| surface.is_faceted()) && limit <= FARTHEST * extent(surfaces)
}

/// Appends the contacts of sharp features that are in `reach`, up to [`FARTHEST`]. A feature has no contact where there is
/// one already in `contacts` that is as near. Samples in `contacts` that contradict the contacts of their corner are
/// removed. In a step in which points slide, a corner beside a sharp concave edge has a contact with each of the two faces
/// there that it is in front of and can slide onto, with the plane of the face. Returns the number of contacts that are
/// left of those before, and the number of tests.
pub(in super::super) fn collect(
    [a, b]: [&Surface; 2],
    [pose_a, pose_b]: [&Pose; 2],
    reach: Reach,
    scratch: &mut Scratch,
    contacts: &mut Vec<Contact>,
) -> (usize, u64) {
    let extent = extent([a, b]);
    let limit = reach.limit.min(FARTHEST * extent);
    let reach = Reach { limit, ..reach };
    let known = contacts.len();
    let mut tests = 0;
    scratch.passed.clear();
    // In a warm query more features than before may be near.
    scratch.near.clear();
    scratch.near.reserve_guarded(FEATURES);
    scratch.places.iter_mut().for_each(Places::prepare);
    for of_b in [false, true] {
        let (own, own_pose, other, pose) = if of_b { (b, pose_b, a, pose_a) } else { (a, pose_a, b, pose_b) };
        let search = Search { first: own, second: other, placement: placement(pose, own_pose), reach, extent };
        let mut push = |(p, direction, separation): (Vec3, Vec3, f64), edge: u32| {
            let point = (pose * nalgebra::Point3::from(p)).coords;
            contacts.push_guarded(Contact::of_edge(of_b, edge, point, pose.rotation * direction, separation));
        };
        let Scratch { near, fronts, passed, .. } = &mut *scratch;
        let [for_edges, of_first, of_second] = fronts;
        let for_corners = if of_b { of_second } else { of_first };
        // In an order that does not depend on what is remembered.
        let remembers = for_edges.is_used;
        let arrange = |near: &mut Vec<(u32, u32)>| {
            if remembers {
                near.sort_unstable();
            }
        };
        if !of_b {
            near.clear();
            tests += own.near_edges(other, &search.placement, limit, for_edges.used(), |one, two| {
                near.push_guarded((one, two))
            });
            arrange(near);
            for (one, two) in &*near {
                let [one, two] = [own.sharp_edge(*one), other.sharp_edge(*two)];
                if let Some(found) = search.edges(one, two, passed) {
                    push(found, one);
                }
            }
        }
        near.clear();
        tests +=
            own.near_corners(other, &search.placement, limit, for_corners.used(), |p, t| near.push_guarded((p, t)));
        arrange(near);
        for &(corner, triangle) in &*near {
            if let Some(found) = search.corner(corner, triangle) {
                push(found, own.sharp_corner(corner).1);
            }
        }
    }
    scratch.passed.sort_unstable_by(|p, q| {
        (p.of_second, p.edge).cmp(&(q.of_second, q.edge)).then(p.at.total_cmp(&q.at)).then(p.depth.total_cmp(&q.depth))
    });
    (drop_duplicates(known, SAME_PLACE * extent, scratch, contacts), tests)
}

/// Removes contacts from index `known` on that have the same place and normal, within `tolerance`, metres, as another
/// that is as near. Removes samples before them that are at a corner and have no contact's normal of that corner: where
/// the other body has a crease, its field can have another direction. Returns how many of the first `known` are left.
fn drop_duplicates(
    known: usize,
    tolerance: f64,
    Scratch { order, dropped, superseded, places, .. }: &mut Scratch,
    contacts: &mut Vec<Contact>,
) -> usize {
    let (others, own) = contacts.split_at(known);
    if own.is_empty() {
        return known;
    }
    let sweep = Vec3::from(SWEEP);
    order.clear();
    order.extend_guarded((0..).zip(own).map(|(i, c)| ((c.point_on_a + c.point_on_b).dot(&sweep) * 0.5, i)));
    order.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
    dropped.clear();
    dropped.resize_guarded(own.len(), false);
    let is_near = |p: &Vec3, q: &Vec3| (p - q).norm_squared() <= tolerance * tolerance;
    let same_normal = |p: &Contact, q: &Contact| p.normal.dot(&q.normal) >= SAME_NORMAL;
    for (k, &(place, i)) in order.iter().enumerate() {
        for &(_, j) in order[k + 1..].iter().take_while(|next| next.0 - place <= tolerance) {
            let (p, q) = (&own[i as usize], &own[j as usize]);
            let is_same = is_near(&p.point_on_a, &q.point_on_a) && is_near(&p.point_on_b, &q.point_on_b);
            if is_same && same_normal(p, q) && !dropped[i as usize] && !dropped[j as usize] {
                let first_is_worse = (p.separation, p.feature) > (q.separation, q.feature);
                dropped[if first_is_worse { i } else { j } as usize] = true;
            }
        }
    }
    if known > 0 {
        places.iter_mut().for_each(|places| places.begin(CUBES * tolerance));
        for contact in own {
            places[0].push(&contact.point_on_a);
            places[1].push(&contact.point_on_b);
        }
    }
    // The sample of a corner is at the corner, but its separation and its normal are only as exact as the field.
    superseded.clear();
    superseded.resize_guarded(known, false);
    for (i, sample) in others.iter().enumerate().filter(|(_, sample)| sample.feature & FEATURE_OF_EDGE == 0) {
        let of_b = sample.feature & FEATURE_OF_B != 0;
        let own_point = |c: &Contact| if of_b { c.point_on_b } else { c.point_on_a };
        let (mut is_at_corner, mut is_right) = (false, false);
        let place = own_point(sample);
        places[usize::from(of_b)].any_near(&place, tolerance, |k| {
            let (dropped, c) = (&mut dropped[k], &own[k]);
            if !*dropped && (c.feature & FEATURE_OF_B != 0) == of_b && is_near(&place, &own_point(c)) {
                is_at_corner = true;
                if same_normal(sample, c) {
                    is_right = true;
                    *dropped = sample.separation <= c.separation + tolerance;
                }
            }
            false
        });
        superseded[i] = is_at_corner && !is_right;
    }
    let mut kept = 0;
    for i in 0..contacts.len() {
        let leaves = if i < known { superseded[i] } else { dropped[i - known] };
        if !leaves {
            contacts.swap(kept, i);
            kept += 1;
        }
    }
    contacts.truncate(kept);
    known - superseded.iter().filter(|leaves| **leaves).count()
}
