//! Contacts between the samples: the deepest points of edges that pass through the surface of the other body.
//!
//! Where two closed surfaces intersect, an edge of one passes through a triangle of the other. So the edges decide
//! exactly whether the surfaces intersect, whatever the spacing of the samples and the cells of the fields. Inside the
//! other body the depth along an edge is the distance to the closest triangle. The distance to one triangle is a convex
//! function of the position on the edge, hence at most its chord. The chords of the triangles that are closest at the
//! two ends of a part bound the depth between them, and the position where they meet is tried next. If the segment between
//! the closest points of the two ends is on the surface, the distance to the point of the segment that belongs to a position
//! on the edge bounds the depth there: it is convex too, so the part is deepest at one of its ends. So an edge over a flat
//! face is done at once, however many triangles the face has.

use std::num::NonZeroU32;

use super::super::types::Contact;
use super::covering::{Cover, Covering, Covers};
use super::frames::placement;
use super::sharp::Passed;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::{GrowGuarded, RoomGuarded};
use voxshell_field::{Foot, Surface};
use voxshell_mesh::{Crossing, Front, Placement, WantedEdges};

/// Precision of the depth of an edge, as a fraction of the extent of the smaller body.
const PRECISION: f64 = 1e-7;

/// Depth below which an edge is no contact, as a fraction of the extent of the smaller body.
const SHALLOW: f64 = 1e-9;

/// Precision of the depth of the deepest edge, as a fraction of the depth.
const RELATIVE_PRECISION: f64 = 1e-3;

/// Precision of the depth of the other edges, as a fraction of their depths.
const COARSE_PRECISION: f64 = 0.1;

/// Precision of the depth of the deepest edge, as a fraction of the tolerance.
const SLACK: f64 = 0.25;

/// Number of points that are tried on a part of an edge before the deepest of them is taken.
const TRIALS: usize = 1000;

/// Parts of an edge shorter than this fraction of it are a point: an edge that passes through the common edge of two
/// triangles crosses both.
const POINT: f64 = 1e-12;

/// Sine of the angle below which an edge that passes through a triangle may as well only touch it.
const GRAZING: f64 = 1e-6;

/// Crossings of an edge that are this near to each other, as a fraction of its length, may be at one place.
const APART: f64 = 1e-9;

/// Triangles whose distances differ by at most this fraction are equally close.
const EQUALLY_CLOSE: f64 = 1e-3;

/// Cosine of the largest angle between the direction to the closest triangle and the normal of a contact at a corner.
const WIDEST: f64 = 0.5;

/// Least length of a weighted mean of two directions: that of directions about 150° apart.
const SHORTEST: f64 = 0.25;

/// Sine of the angle by which the normal of a contact may be outside the normal cone of the edge.
const LEAN: f64 = 0.05;

/// Distance of a contact of the outline from the end of an edge's part, in depths.
const INSET: f64 = 2.0;

/// One of the two surfaces, in the frame of the second.
struct Placed<'a> {
    surface: &'a Surface,
    /// To the frame of the second surface; `None` for the second.
    placement: Option<&'a Placement>,
}

impl Placed<'_> {
    fn edge(&self, edge: u32) -> [Vec3; 2] {
        let ends = self.surface.edge(edge);
        self.placement.map_or(ends, |placement| [placement.place(&ends[0]), placement.place(&ends[1])])
    }

    /// Returns the corner at a position on an edge, if it is one of its ends.
    fn corner_at(&self, edge: u32, at: f64) -> Option<u32> {
        let [from, to] = self.surface.edge_corners(edge);
        match at {
            0.0 => Some(from),
            1.0 => Some(to),
            _ => None,
        }
    }

    /// Returns whether a direction is in the normal cone of an edge, or of the corner at its end, or little beside it.
    fn faces(&self, edge: u32, corner: Option<u32>, direction: &Vec3) -> bool {
        let direction = self.placement.map_or(*direction, |placement| placement.rotation.tr_mul(direction));
        match corner {
            Some(corner) => self.surface.vertex_faces(corner, &direction, LEAN),
            None => self.surface.edge_faces(edge, &direction, LEAN),
        }
    }

    fn local(&self, p: &Vec3) -> Vec3 {
        self.placement.map_or(*p, |placement| placement.place_back(p))
    }

    fn contains(&self, p: &Vec3) -> bool {
        self.surface.contains(self.local(p))
    }

    /// Returns whether a direction leads into the surface through a triangle, where that is certain.
    fn enters(&self, triangle: u32, along: &Vec3) -> Option<bool> {
        let along = self.placement.map_or(*along, |placement| placement.rotation.tr_mul(along));
        let against = -self.surface.certain_normal(triangle)?.dot(&along);
        (against.abs() > GRAZING * along.norm()).then_some(against > 0.0)
    }

    fn distance(&self, triangle: u32, p: &Vec3) -> f64 {
        self.surface.foot_on(triangle, self.local(p)).distance
    }

    /// Returns the closest point of the surface; `near` are triangles that may be close.
    fn foot(&self, p: &Vec3, near: [u32; 2]) -> Foot {
        let p = self.local(p);
        let [a, b] = near.map(|triangle| self.surface.foot_on(triangle, p));
        let near = if b.distance < a.distance { b } else { a };
        self.surface.foot(p, near.distance).filter(|foot| foot.distance < near.distance).unwrap_or(near)
    }

    /// Returns the unit vector from `p` to the closest point of a triangle.
    fn towards(&self, triangle: u32, p: &Vec3) -> Option<Vec3> {
        let p = self.local(p);
        let direction = (self.surface.foot_on(triangle, p).point - p).try_normalize(0.0)?;
        Some(self.placement.map_or(direction, |placement| placement.rotation * direction))
    }
}

/// A point on an edge.
#[derive(Clone, Copy)]
struct Trial {
    at: f64,
    /// The closest point of the surface of the other body, in that body's frame.
    foot: Foot,
}

/// Two points on an edge, the position between them to try next, and an upper bound of the depth between them, metres.
#[derive(Clone, Copy)]
struct Stretch {
    ends: [Trial; 2],
    at: f64,
    most: f64,
}

/// Scratch memory of a search for edges.
#[derive(Default)]
pub(in super::super) struct Scratch {
    crossings: Vec<Crossing>,
    pieces: Vec<Piece>,
    parts: Vec<Cover>,
    covers: Covers,
    stretches: Vec<Stretch>,
    /// Corners with a contact, ascending: whether the corner is of the second surface, and its number.
    corners: Vec<(bool, u32)>,
    /// What a pair remembers of the descent for crossings.
    pub front: Front,
}

impl Scratch {
    /// Takes the place of a search of surfaces that are known to be apart.
    pub fn clear(&mut self) {
        self.crossings.clear();
    }

    /// Returns whether edges of the last search cross the other body.
    pub fn has_crossings(&self) -> bool {
        !self.crossings.is_empty()
    }
}

/// A part of an edge between two crossings, or a crossing and an end of the edge.
struct Part<'a> {
    other: &'a Placed<'a>,
    from: Vec3,
    along: Vec3,
}

impl<'a> Part<'a> {
    fn of(own: &Placed, other: &'a Placed<'a>, edge: u32) -> Self {
        let [from, to] = own.edge(edge);
        Self { other, from, along: to - from }
    }

    fn point(&self, at: f64) -> Vec3 {
        self.from + self.along * at
    }

    fn trial(&self, at: f64, near: [u32; 2]) -> Trial {
        Trial { at, foot: self.other.foot(&self.point(at), near) }
    }

    /// Returns whether a trial is inside the other body. Where an edge grazes a face, rounding may hide one of two crossings.
    fn is_inside(&self, trial: &Trial) -> bool {
        let p = self.other.local(&self.point(trial.at));
        let inward = |normal: Vec3| normal.dot(&(p - trial.foot.point)) < 0.0;
        self.other.surface.certain_normal(trial.foot.triangle).is_some_and(inward) || self.other.surface.contains(p)
    }

    /// Returns a stretch with the bound of its depth: where the chords of the distances to the triangles closest at both
    /// ends meet, or the deeper end if the segment between their closest points is on the surface up to `precision`.
    fn stretch(&self, ends: [Trial; 2], precision: f64) -> Stretch {
        let [a, b] = ends;
        let (depth_a, depth_b) = (a.foot.distance, b.foot.distance);
        let to_first = self.other.distance(a.foot.triangle, &self.point(b.at));
        let to_second = self.other.distance(b.foot.triangle, &self.point(a.at));
        let (left, right) = (to_second - depth_a, to_first - depth_b);
        let share = if left + right > 0.0 { left / (left + right) } else { 0.5 };
        let (at, most) = (a.at + (b.at - a.at) * share, depth_a + (to_first - depth_a) * share);
        let deeper = depth_a.max(depth_b);
        if most > deeper + precision && self.other.surface.has_segment(&a.foot, &b.foot, precision) {
            return Stretch { ends, at, most: deeper + precision };
        }
        Stretch { ends, at, most }
    }

    /// Returns the deepest trial between two and the triangles near it. The depth is within `precision`, or
    /// [`RELATIVE_PRECISION`] of itself, of the largest, or as good as [`TRIALS`] trials find it. [`COARSE_PRECISION`] is enough
    /// if the part is not deeper than `deepest`, or if that is less than `slack`, metres.
    fn deepest(
        &self,
        ends: [Trial; 2],
        precision: f64,
        [deepest, slack]: [f64; 2],
        open: &mut Vec<Stretch>,
    ) -> (Trial, [u32; 2]) {
        let near = ends.map(|end| end.foot.triangle);
        let mut best = (if ends[1].foot.distance > ends[0].foot.distance { ends[1] } else { ends[0] }, near);
        open.clear();
        open.push_guarded(self.stretch(ends, precision));
        for _ in 0..TRIALS {
            // The greatest bound first; of equal ones the last.
            let greatest = (0..open.len()).max_by(|&i, &j| open[i].most.total_cmp(&open[j].most));
            let depth = best.0.foot.distance;
            let enough = (depth * (1.0 + RELATIVE_PRECISION) + precision)
                .max((depth * (1.0 + COARSE_PRECISION)).min(deepest.max(depth + slack)));
            let Some(i) = greatest.filter(|&i| open[i].most > enough) else { break };
            let Stretch { ends, at, .. } = open.swap_remove(i);
            let near = ends.map(|end| end.foot.triangle);
            let trial = self.trial(at, near);
            if trial.foot.distance > depth {
                best = (trial, near);
            }
            let parts = [[ends[0], trial], [trial, ends[1]]].into_iter();
            open.extend_guarded(
                parts.filter(|[from, to]| to.at - from.at > POINT).map(|ends| self.stretch(ends, precision)),
            );
        }
        best
    }

    /// Returns points near both ends of a part that is long and shallow: where a flat face is pressed into another, these are
    /// the outline of the contact. At an end that is a crossing, the point is farther inside by some depths.
    fn outline(&self, ends: [Trial; 2], deepest: &Trial, crossed: [bool; 2]) -> [Option<(Trial, [u32; 2])>; 2] {
        let near = ends.map(|end| end.foot.triangle);
        let step = INSET * deepest.foot.distance / self.along.norm();
        let inner = [ends[0].at + step, ends[1].at - step];
        [0, 1].map(|i| {
            let trial = if crossed[i] { self.trial(inner[i].clamp(ends[0].at, ends[1].at), near) } else { ends[i] };
            let is_apart = (trial.at - deepest.at).abs() > step && inner[0] < inner[1];
            is_apart.then_some((trial, near))
        })
    }

    /// Returns the direction out of the other body: between the triangles that are equally close, or to one of them. The
    /// first of these counts against which the edge `faces`, so that an edge in a flat face has the face's direction where it
    /// ends at the rim of the other body.
    ///
    /// Inside an edge, the depth is largest where it grows with the distance to one triangle on one side and to another one
    /// on the other side. The mean of both directions that is at a right angle to the edge is the normal: that of two edges
    /// that cross, and that of a flat face where an edge on it passes over its rim.
    fn outward(&self, (deepest, near): (Trial, [u32; 2]), faces: impl Fn(&Vec3) -> bool) -> Option<Vec3> {
        let p = self.point(deepest.at);
        let own = self.other.towards(deepest.foot.triangle, &p)?;
        let others = |farther: f64| {
            let is_close = move |triangle: &u32| {
                *triangle != deepest.foot.triangle
                    && self.other.distance(*triangle, &p) <= deepest.foot.distance * (1.0 + farther)
            };
            let near = near.into_iter().enumerate().filter(move |(i, t)| is_close(t) && !near[..*i].contains(t));
            near.filter_map(move |(_, t)| self.other.towards(t, &p))
        };
        let across = others(2.0 * COARSE_PRECISION).find_map(|other| {
            let (a, b) = (own.dot(&self.along), other.dot(&self.along));
            let is_inside = deepest.at > 0.0 && deepest.at < 1.0;
            // Along an edge that is parallel to both, the depths say nothing of the direction.
            let is_across = a * b < 0.0 && (a - b).abs() > LEAN * self.along.norm();
            (is_inside && is_across).then(|| ((own * b - other * a) / (b - a)).try_normalize(SHORTEST)).flatten()
        });
        let middle = across.unwrap_or_else(|| {
            let sum = others(EQUALLY_CLOSE).fold(own, |sum, direction| sum + direction);
            sum.try_normalize(0.5).filter(|middle| middle.dot(&own) >= WIDEST).unwrap_or(own)
        });
        let faced =
            std::iter::once(middle).chain([own]).chain(others(EQUALLY_CLOSE)).find(|direction| faces(&-direction));
        Some(faced.unwrap_or(middle))
    }
}

/// Which contacts of edges are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Wanted<'a> {
    /// Those near the ends of long and shallow parts too.
    pub outline: bool,
    /// Edges that have passed through another, in the order of [`super::sharp::Scratch`].
    pub passed: &'a [Passed],
    pub covering: Option<Covering>,
}

/// A part of an edge between two of its crossings, or a crossing and an end.
#[derive(Clone, Copy)]
struct Piece {
    /// The crossings of the edge, and how many of them are before the part.
    first: u32,
    end: u32,
    before: u32,
    /// Whether it is inside the other body, if its crossings tell.
    is_inside: Option<bool>,
    /// Number of what covers it, if that is known.
    cover: Option<NonZeroU32>,
}

impl Piece {
    fn cover<'a>(&self, parts: &'a [Cover]) -> Option<&'a Cover> {
        self.cover.map(|number| &parts[number.get() as usize - 1])
    }
}

/// Appends a contact for each part of an edge of either surface inside the other body: its deepest point, with an exact
/// separation, at most `limit`. Edges that are deepest at a common corner have one contact. With `wanted.outline`, long and
/// shallow parts have contacts near their ends too. Parts that go through the other body have none if a position of
/// `wanted.passed` is on them. Returns the number of tests of boxes and triangles.
pub(in super::super) fn collect(
    [a, b]: [&Surface; 2],
    [pose_a, pose_b]: [&Pose; 2],
    limit: f64,
    Wanted { outline, passed, covering }: Wanted,
    Scratch { crossings, pieces, parts, covers, stretches, corners, front }: &mut Scratch,
    contacts: &mut Vec<Contact>,
) -> u64 {
    let placement = placement(pose_b, pose_a);
    crossings.clear();
    corners.clear();
    pieces.clear();
    parts.clear();
    // A sum of forces needs points in the middle of faces too, or it depends on which end of a rim is the deepest.
    let of = if outline || covering.is_some() { WantedEdges::Rims } else { WantedEdges::All };
    let tests = a.crossings(b, &placement, of, front.used(), |crossing| crossings.push_guarded(crossing));
    // The precision of an edge depends on those before it, and must not depend on which body is the first.
    let size = |surface: &Surface| (surface.edge_count(), surface.bounds().extents().amax());
    let second_first = size(b) < size(a);
    crossings.sort_unstable_by(|p, q| {
        let key = |c: &Crossing| (c.of_second != second_first, c.edge);
        key(p).cmp(&key(q)).then(p.at.total_cmp(&q.at)).then(p.triangle.cmp(&q.triangle))
    });
    let extent = a.bounds().extents().amax().min(b.bounds().extents().amax());
    let surfaces = [Placed { surface: a, placement: Some(&placement) }, Placed { surface: b, placement: None }];
    // An edge has one more part than crossings.
    pieces.reserve_guarded(2 * crossings.capacity());
    parts.reserve_guarded(covering.map_or(0, |_| pieces.capacity()));
    let mut first = 0;
    for edge in crossings.chunk_by(|p, q| (p.of_second, p.edge) == (q.of_second, q.edge)) {
        let end = first + edge.len() as u32;
        for before in 0..=edge.len() {
            let (start, end_at) = stretch_of(edge, before);
            if end_at - start <= POINT {
                continue;
            }
            let is_inside = side_of(&surfaces, edge, before);
            if is_inside != Some(false) {
                let cover = covering.and_then(|_| cover_of(&surfaces, edge, before, pose_b)).and_then(|cover| {
                    parts.push_guarded(cover);
                    NonZeroU32::new(parts.len() as u32)
                });
                pieces.push_guarded(Piece { first, end, before: before as u32, is_inside, cover });
            }
        }
        first = end;
    }
    if let Some(covering) = &covering {
        covers.begin(covering);
        // What may be the deepest first: it covers the others.
        let most = |piece: &Piece| piece.cover(parts).map_or(f64::INFINITY, |cover| cover.most);
        pieces.sort_unstable_by(|p, q| most(q).total_cmp(&most(p)).then((p.first, p.before).cmp(&(q.first, q.before))));
    }
    let mut deepest = 0.0f64;
    let slack = covering.map_or(0.0, |covering| SLACK * covering.tolerance);
    for piece in &*pieces {
        let edge = &crossings[piece.first as usize..piece.end as usize];
        let (of_b, i) = (edge[0].of_second, piece.before as usize);
        if covering.zip(piece.cover(parts)).is_some_and(|(covering, part)| covers.cover(&covering, contacts, part)) {
            continue;
        }
        let (own, other) = (&surfaces[usize::from(of_b)], &surfaces[usize::from(!of_b)]);
        let part = Part::of(own, other, edge[0].edge);
        let (before, after) = (i.checked_sub(1).map(|i| &edge[i]), edge.get(i));
        let (start, end) = stretch_of(edge, i);
        if !piece.is_inside.unwrap_or_else(|| other.contains(&part.point(0.5 * (start + end)))) {
            continue;
        }
        // At least one of the two ends is a crossing, and on the surface.
        let near = [before.or(after), after.or(before)].map(|c| c.map_or(0, |c| c.triangle));
        let ends = [(start, before), (end, after)].map(|(at, crossing)| match crossing {
            Some(crossing) => {
                let point = other.local(&part.point(at));
                Trial { at, foot: Foot { point, triangle: crossing.triangle, distance: 0.0 } }
            }
            None => part.trial(at, near),
        });
        let found = part.deepest(ends, PRECISION * extent, [deepest, slack], stretches);
        if !part.is_inside(&found.0) {
            continue;
        }
        let has_passed = || {
            let key = (of_b, edge[0].edge);
            let from = passed.partition_point(|p| (p.of_second, p.edge) < key);
            let mut own = passed[from..].iter().take_while(|p| (p.of_second, p.edge) == key);
            let depth = found.0.foot.distance - PRECISION * extent;
            own.any(|p| (start..=end).contains(&p.at) && depth <= p.depth)
        };
        if before.and(after).is_some() && has_passed() {
            continue;
        }
        deepest = deepest.max(found.0.foot.distance);
        let mut push = |found: (Trial, [u32; 2])| {
            let corner = own.corner_at(edge[0].edge, found.0.at).map(|corner| (of_b, corner));
            let place = corner.map_or(Err(0), |corner| corners.binary_search(&corner));
            let separation = -found.0.foot.distance;
            let Err(place) = place else { return };
            if separation >= -SHALLOW * extent || separation > limit {
                return;
            }
            let faces = |direction: &Vec3| own.faces(edge[0].edge, corner.map(|(_, corner)| corner), direction);
            let Some(outward) = part.outward(found, faces) else { return };
            if let Some(corner) = corner {
                corners.insert_guarded(place, corner);
            }
            let point = (pose_b * nalgebra::Point3::from(part.point(found.0.at))).coords;
            let towards = -(pose_b.rotation * outward);
            contacts.push_guarded(Contact::of_edge(of_b, edge[0].edge, point, towards, separation));
        };
        push(found);
        if outline {
            part.outline(ends, &found.0, [before.is_some(), after.is_some()]).into_iter().flatten().for_each(push);
        }
    }
    tests
}

/// Returns where the part of an edge after some of its crossings begins and ends.
fn stretch_of(crossings: &[Crossing], before: usize) -> (f64, f64) {
    let at = |crossing: &Crossing| crossing.at;
    (before.checked_sub(1).map_or(0.0, |i| at(&crossings[i])), crossings.get(before).map_or(1.0, at))
}

/// Returns whether the part of an edge after some of its crossings is inside the other body, if they tell.
fn side_of(surfaces: &[Placed; 2], crossings: &[Crossing], before: usize) -> Option<bool> {
    let of_b = crossings[0].of_second;
    let other = &surfaces[usize::from(!of_b)];
    let along = Part::of(&surfaces[usize::from(of_b)], other, crossings[0].edge).along;
    // Unless there is another one at the same place: an edge that touches a ridge.
    let is_single = |k: usize| {
        let at = |k: usize| crossings.get(k).map_or(f64::INFINITY, |crossing| crossing.at);
        let before = k.checked_sub(1).map_or(f64::NEG_INFINITY, at);
        crossings[k].at - before > APART && at(k + 1) - crossings[k].at > APART
    };
    let is_after = |k: usize| is_single(k).then(|| other.enters(crossings[k].triangle, &along)).flatten();
    let is_before = |k: usize| is_single(k).then(|| other.enters(crossings[k].triangle, &-along)).flatten();
    match (before.checked_sub(1), before < crossings.len()) {
        (None, true) => is_before(before),
        (Some(last), false) => is_after(last),
        (Some(last), true) => is_after(last).filter(|is_inside| is_before(before) == Some(*is_inside)),
        (None, false) => None,
    }
}

/// Returns what covers the part of an edge after some of its crossings, if the direction there is known.
fn cover_of(surfaces: &[Placed; 2], crossings: &[Crossing], before: usize, pose_b: &Pose) -> Option<Cover> {
    let of_b = crossings[0].of_second;
    let other = &surfaces[usize::from(!of_b)];
    let part = Part::of(&surfaces[usize::from(of_b)], other, crossings[0].edge);
    let (first, last) = (before.checked_sub(1).map(|i| &crossings[i]), crossings.get(before));
    let (start, end) = stretch_of(crossings, before);
    let normal_at = |crossing: &Crossing| {
        let outward = other.surface.normal(crossing.triangle)?;
        let outward = pose_b.rotation * other.placement.map_or(outward, |placement| placement.rotation * outward);
        Some(if of_b { outward } else { -outward })
    };
    let normals = [normal_at(first.or(last)?)?, normal_at(last.or(first)?)?];
    let middle = (pose_b * nalgebra::Point3::from(part.point(0.5 * (start + end)))).coords;
    // The distance from a triangle is convex along the edge, and 0 at the crossing.
    let far = |at: f64, crossing: &Crossing| other.distance(crossing.triangle, &part.point(at));
    let most = match (first, last) {
        (Some(first), Some(last)) => {
            let (up, down) = (far(end, first), far(start, last));
            if up + down > 0.0 {
                up * down / (up + down)
            } else {
                0.0
            }
        }
        (Some(first), None) => far(end, first),
        (None, last) => far(start, last?),
    };
    let half = 0.5 * (end - start) * part.along.norm();
    Some(Cover { of_b, most, middle, half, normals })
}
