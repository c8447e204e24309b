//! Pairs of features in motion: an edge and an edge, a vertex and a face, over an interval of time.
//!
//! Two proofs show that the features of a pair are apart during the whole interval; both are in intervals, rounded
//! outward.
//!
//! 1. A plane between them: along one direction n every point of B is beyond every point of A. Both features are hulls
//!    of points, so the points decide. It also holds for triangles.
//! 2. The equations of Redon, Kheddar & Coquillart 2002 have no root: edge/edge a c · (a b × c d) ≠ 0 (eq. 19),
//!    vertex/face a b · (b c × b d) ≠ 0 (eq. 20). For a distance σ > 0: |a c · (a b × c d)| > σ |a b × c d|, as the
//!    lines, or the point and the plane, are then farther apart than σ.

use super::mesh_motion::{Frames, Placed};
use voxshell_base::math::{Interval, IntervalVec, Vec3};
use voxshell_mesh::triangle::{self, Corners};

/// Corners of the two features, each in its body's frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pair {
    Edges([Vec3; 2], [Vec3; 2]),
    /// A vertex of A and a face of B.
    VertexFace(Vec3, Corners),
    /// A face of A and a vertex of B.
    FaceVertex(Corners, Vec3),
}

/// Closest points of two features, and how fast their corners move against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub on_a: Vec3,
    pub on_b: Vec3,
}

/// Result of the test of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Proven to be farther apart than the limit.
    Apart,
    /// Not proven: distance at the middle, and the largest change of it within the interval, metres, both rounded.
    Near { distance: f64, change: f64 },
}

/// Returns the closest points of two segments, each of which may be a point.
///
/// Ericson 2005, section 5.1.9. For nearly parallel segments the points are not exact, but still points of the
/// segments.
pub(super) fn closest_of_segments([p, q]: &[Vec3; 2], [r, s]: &[Vec3; 2]) -> Closest {
    let (d, e, w) = (q - p, s - r, p - r);
    let (a, b, c, f, g) = (d.norm_squared(), d.dot(&e), d.dot(&w), e.dot(&w), e.norm_squared());
    let share = |x: f64, of: f64| if of > 0.0 { (x / of).clamp(0.0, 1.0) } else { 0.0 };
    let determinant = a * g - b * b;
    let mut t = if determinant > 1e-14 * a * g { ((b * f - c * g) / determinant).clamp(0.0, 1.0) } else { 0.5 };
    // The closest point of the second segment to that of the first, then of the first to that, twice: exact where one
    // of them is at an end, and a step of descent where the segments are nearly parallel.
    let mut u = share(b * t + f, g);
    for _ in 0..2 {
        t = share(b * u - c, a);
        u = share(b * t + f, g);
    }
    Closest { on_a: p + d * t, on_b: r + e * u }
}

fn distance_squared(c: &Closest) -> f64 {
    (c.on_b - c.on_a).norm_squared()
}

/// Returns closest points of two triangles that do not pass through each other, with [`triangle::is_sliver`] of each.
pub(super) fn closest_of_triangles(a: &Corners, a_sliver: bool, b: &Corners, b_sliver: bool) -> Closest {
    let edge = |t: &Corners, i: usize| [t[i], t[(i + 1) % 3]];
    let mut best = Closest { on_a: a[0], on_b: b[0] };
    let mut least = f64::INFINITY;
    let mut offer = |c: Closest| {
        let d = distance_squared(&c);
        if d < least {
            (least, best) = (d, c);
        }
    };
    for i in 0..3 {
        for j in 0..3 {
            offer(closest_of_segments(&edge(a, i), &edge(b, j)));
        }
        offer(Closest { on_a: a[i], on_b: triangle::closest_point(b, b_sliver, &a[i]).0 });
        offer(Closest { on_a: triangle::closest_point(a, a_sliver, &b[i]).0, on_b: b[i] });
    }
    best
}

/// Returns whether every point of B's corners is farther than `limit` beyond every one of A's along `n`, unit, during
/// the whole interval of the frames. True is certain.
pub(super) fn plane_between(frames: &Frames, n: &Vec3, limit: f64, a: &[Vec3], b: &[Vec3]) -> bool {
    struct Along {
        row: IntervalVec,
        place: Interval,
        row_rate: IntervalVec,
        place_rate: Interval,
    }
    let along = |p: &Placed| Along {
        row: p.rotation.row(n),
        place: p.place.along(n),
        row_rate: p.rotation_rate.row(n),
        place_rate: p.place_rate.along(n),
    };
    let (of_a, of_b) = (along(&frames.a), along(&frames.b));
    let project = |of: &Along, placed: &Placed, x: &Vec3| {
        let y = x - placed.center;
        (of.row.along(&y) + of.place, of.row_rate.along(&y) + of.place_rate)
    };
    // A direction is a unit vector but for rounding.
    let limit = limit * (1.0 + 1e-12);
    let span = Interval::around_zero(frames.half);
    let mut projected = [(Interval::ZERO, Interval::ZERO); 3];
    for (place, x) in projected.iter_mut().zip(a) {
        *place = project(&of_a, &frames.a, x);
    }
    b.iter().all(|x| {
        let (at, rate) = project(&of_b, &frames.b, x);
        projected[..a.len()].iter().all(|(from, from_rate)| ((at - *from) + (rate - *from_rate) * span).lo > limit)
    })
}

/// A point over the interval: where it is at the middle, during the interval, and its velocities.
struct Moving {
    middle: IntervalVec,
    whole: IntervalVec,
    rate: IntervalVec,
}

impl Moving {
    fn new(placed: &Placed, x: &Vec3, half: f64) -> Self {
        let (middle, rate) = (placed.enclosure(x), placed.velocities(x));
        Self { middle, whole: middle + rate.scaled(Interval::around_zero(half)), rate }
    }

    fn minus(&self, other: &Self) -> Self {
        Self { middle: self.middle - other.middle, whole: self.whole - other.whole, rate: self.rate - other.rate }
    }
}

impl Pair {
    /// Returns the corners of the feature of A and of B, as far as there are any.
    fn corners(&self) -> ([Vec3; 3], usize, [Vec3; 3], usize) {
        let zero = Vec3::zeros();
        match *self {
            Pair::Edges([p, q], [r, s]) => ([p, q, zero], 2, [r, s, zero], 2),
            Pair::VertexFace(p, face) => ([p, zero, zero], 1, face, 3),
            Pair::FaceVertex(face, p) => (face, 3, [p, zero, zero], 1),
        }
    }

    /// Returns the closest points at the middle of the interval, in the frame of the motions.
    pub fn closest(&self, frames: &Frames) -> Closest {
        let (a, b) = (&frames.a, &frames.b);
        match self {
            Pair::Edges(p, q) => closest_of_segments(&p.map(|x| a.point(&x)), &q.map(|x| b.point(&x))),
            // The careful form for every face: a wrong direction would give no proof however short the interval is.
            Pair::VertexFace(p, face) => {
                let on_a = a.point(p);
                let face = face.map(|x| b.point(&x));
                Closest { on_a, on_b: triangle::closest_point(&face, true, &on_a).0 }
            }
            Pair::FaceVertex(face, p) => {
                let on_b = b.point(p);
                let face = face.map(|x| a.point(&x));
                Closest { on_a: triangle::closest_point(&face, true, &on_b).0, on_b }
            }
        }
    }

    /// Returns the paper's normal at the middle, not oriented: the cross product of the edges, or that of the face.
    /// Zero for parallel edges and for a face without area.
    pub fn normal(&self, frames: &Frames) -> Vec3 {
        let of_face = |placed: &Placed, t: &Corners| placed.r * (t[1] - t[0]).cross(&(t[2] - t[0]));
        let (normal, scale) = match self {
            Pair::Edges([p, q], [r, s]) => {
                let (d, e) = (frames.a.r * (q - p), frames.b.r * (s - r));
                (d.cross(&e), d.norm() * e.norm())
            }
            Pair::VertexFace(_, face) => (of_face(&frames.b, face), (face[1] - face[0]).norm_squared()),
            Pair::FaceVertex(face, _) => (of_face(&frames.a, face), (face[1] - face[0]).norm_squared()),
        };
        if normal.norm() > 1e-9 * scale {
            normal.normalize()
        } else {
            Vec3::zeros()
        }
    }

    /// Tests whether the features are farther apart than `limit` during the whole interval of the frames.
    pub fn test(&self, frames: &Frames, limit: f64) -> Verdict {
        let closest = self.closest(frames);
        let between = closest.on_b - closest.on_a;
        let distance = between.norm();
        let (a, count_a, b, count_b) = self.corners();
        let (a, b) = (&a[..count_a], &b[..count_b]);
        if distance > limit && plane_between(frames, &(between / distance), limit, a, b) {
            return Verdict::Apart;
        }
        if self.has_no_root(frames, limit) {
            return Verdict::Apart;
        }
        Verdict::Near { distance, change: change(frames, a, b) }
    }

    /// Returns whether equation 19 or 20 certainly has no root in the interval.
    fn has_no_root(&self, frames: &Frames, limit: f64) -> bool {
        let (a, b, half) = (&frames.a, &frames.b, frames.half);
        // The three vectors of the triple product: the first one joins the bodies, the others span the normal.
        let (u, v, w) = match self {
            Pair::Edges(p, q) => {
                let [from, to] = p.map(|x| Moving::new(a, &x, half));
                let [other, other_to] = q.map(|x| Moving::new(b, &x, half));
                (other.minus(&from), to.minus(&from), other_to.minus(&other))
            }
            Pair::VertexFace(p, face) => {
                let vertex = Moving::new(a, p, half);
                let [first, second, third] = face.map(|x| Moving::new(b, &x, half));
                (first.minus(&vertex), second.minus(&first), third.minus(&first))
            }
            Pair::FaceVertex(face, p) => {
                let vertex = Moving::new(b, p, half);
                let [first, second, third] = face.map(|x| Moving::new(a, &x, half));
                (first.minus(&vertex), second.minus(&first), third.minus(&first))
            }
        };
        let normal = v.whole.cross(w.whole);
        let direct = u.whole.dot(normal);
        // f(m) + [−h, h] f'(T): its excess shrinks with the square of the interval.
        let slope = u.rate.dot(normal) + u.whole.dot(v.rate.cross(w.whole)) + u.whole.dot(v.whole.cross(w.rate));
        let centered = u.middle.dot(v.middle.cross(w.middle)) + slope * Interval::around_zero(half);
        let f = direct.intersect(centered);
        if limit > 0.0 {
            let far = normal.norm_squared().sqrt() * limit;
            f.mignitude() > far.hi
        } else {
            !f.contains_zero()
        }
    }
}

/// Returns by how much the distance of two features may change within half the interval, metres: the speed at which
/// their corners move against each other, and half their acceleration. A little is added for rounding.
fn change(frames: &Frames, a: &[Vec3], b: &[Vec3]) -> f64 {
    let (of_a, of_b, half) = (&frames.a, &frames.b, frames.half);
    let mut fastest = 0.0f64;
    let mut farthest = [0.0f64; 2];
    for x in a {
        let p = of_a.point(x);
        let v = of_a.velocity(&p);
        farthest[0] = farthest[0].max((p - of_a.c).norm());
        for y in b {
            let q = of_b.point(y);
            farthest[1] = farthest[1].max((q - of_b.c).norm());
            fastest = fastest.max((of_b.velocity(&q) - v).norm());
        }
    }
    let bend = of_a.acceleration(farthest[0]) + of_b.acceleration(farthest[1]);
    (half * (fastest + 0.5 * half * bend)) * (1.0 + 1e-9)
}

/// Returns whether a segment passes through the interior of a triangle, or may: both in one frame, at one time. A pass
/// that rounding leaves open counts if they are within `close` of each other.
pub(super) fn pierces(segment: &[Vec3; 2], face: &Corners, sliver: bool, close: f64) -> bool {
    let [p, q] = segment.map(|x| IntervalVec::point(&x));
    let [a, b, c] = face.map(|x| IntervalVec::point(&x));
    let volume = |s: IntervalVec, t: IntervalVec, u: IntervalVec, v: IntervalVec| (t - s).dot((u - s).cross(v - s));
    let sign = |i: Interval| i32::from(i.lo > 0.0) - i32::from(i.hi < 0.0);
    let (before, after) = (sign(volume(p, a, b, c)), sign(volume(q, a, b, c)));
    if before * after > 0 {
        return false;
    }
    let sides = [sign(volume(p, q, a, b)), sign(volume(p, q, b, c)), sign(volume(p, q, c, a))];
    if sides.contains(&1) && sides.contains(&-1) {
        return false;
    }
    if before * after < 0 && !sides.contains(&0) {
        return true;
    }
    let edge = |i: usize| [face[i], face[(i + 1) % 3]];
    let near = |c: Closest| distance_squared(&c) <= close * close;
    (0..3).any(|i| near(closest_of_segments(segment, &edge(i))))
        || segment.iter().any(|x| near(Closest { on_a: *x, on_b: triangle::closest_point(face, sliver, x).0 }))
}
