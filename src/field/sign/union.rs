//! The mass of a solid whose surface meets itself: parts that overlap, nest or touch, and meshes that cut through themselves.
//!
//! The inside is bounded by those pieces of the triangles that have the inside on one side only. Along the segments in which the other
//! triangles meet it, a triangle is divided into trapezoids between parallel lines through the ends and the crossings of the
//! segments; on each of them both sides are the same everywhere, and the rule of the sign tells them. So the integrals are exact up
//! to rounding.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::solid::largest_of_parts;
use super::soup::{parts, sides};
use super::{Sides, SignRule};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_mesh::{Integral, MassProperties};

/// Distance from a triangle at which its sides are told, and within which another one is in its plane, in extents: above the rounding
/// of turned coordinates.
const NEAR: f64 = 1e-11;
/// Trapezoids that are narrower than this fraction of their triangle are left out: rounding.
const NARROW: f64 = 1e-12;
/// Largest number of segments in a triangle: the crossings grow with its square.
const MOST_SEGMENTS: usize = 512;
/// Largest number of trapezoids whose sides are told, and of what takes as long: 2 s of one core.
const MOST_PIECES: u64 = 1 << 19;
/// Number of crossings of segments, and of lines of a slab, that take as long as the sides of a trapezoid.
const QUICK: u64 = 16;
/// Largest number of triangles that are looked at: an average for each, and a minimum for any mesh.
const LOOKS: u64 = 64;
const MOST_LOOKS: u64 = 1 << 21;

type Point = [f64; 2];

/// A triangle in its plane: the longest edge along x from the origin, the third corner at a positive y.
struct Plane {
    origin: Vec3,
    along: Vec3,
    across: Vec3,
    normal: Vec3,
    length: f64,
    apex: Point,
}

/// What meets a triangle, in its plane.
#[derive(Default)]
struct Meeting {
    segments: Vec<[Point; 2]>,
    /// Triangles in the same plane.
    flat: Vec<[Point; 3]>,
}

/// A line through a slab: x at its lower and upper end, and the number of its segment.
#[derive(Clone, Copy)]
struct Line([f64; 2], u32);

/// Numbers of the sides of a triangle as lines.
const LEFT: u32 = u32::MAX - 1;
const RIGHT: u32 = u32::MAX;

impl Line {
    fn middle(&self) -> f64 {
        0.5 * (self.0[0] + self.0[1])
    }
}

impl Plane {
    /// Returns `None` for a triangle without area.
    fn new(corners: &[Vec3; 3]) -> Option<Self> {
        let length = |i: usize| (corners[(i + 1) % 3] - corners[i]).norm_squared();
        let i = (1..3).fold(0, |longest, i| if length(i) > length(longest) { i } else { longest });
        let (a, b, c) = (corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        let along = (b - a).try_normalize(0.0)?;
        let mut plane =
            Self { origin: a, along, across: normal.cross(&along), normal, length: (b - a).norm(), apex: [0.0; 2] };
        plane.apex = plane.flat(&c);
        (plane.apex[1] > 0.0).then_some(plane)
    }

    fn flat(&self, p: &Vec3) -> Point {
        let d = p - self.origin;
        [d.dot(&self.along), d.dot(&self.across)]
    }

    fn place(&self, [x, y]: Point) -> Vec3 {
        self.origin + self.along * x + self.across * y
    }

    /// Adds what another triangle has in common with the plane.
    fn meet(&self, other: &[Vec3; 3], flat: f64, meeting: &mut Meeting) {
        let height = other.map(|p| self.normal.dot(&(p - self.origin)));
        let height = height.map(|h| if h.abs() <= flat { 0.0 } else { h });
        let at = other.map(|p| self.flat(&p));
        if height == [0.0; 3] {
            meeting.flat.push_guarded(at);
            (0..3).for_each(|i| meeting.segments.push_guarded([at[i], at[(i + 1) % 3]]));
            return;
        }
        let mut ends = [[0.0; 2]; 3];
        let mut count = 0;
        for i in 0..3 {
            let j = (i + 1) % 3;
            let (from, to) = (height[i], height[j]);
            if from == 0.0 {
                ends[count] = at[i];
            } else if from * to < 0.0 {
                let t = from / (from - to);
                ends[count] = [0, 1].map(|k| at[i][k] + (at[j][k] - at[i][k]) * t);
            } else {
                continue;
            }
            count += 1;
        }
        if count == 2 {
            meeting.segments.push_guarded([ends[0], ends[1]]);
        }
    }

    /// Returns whether the triangle contains a point of its plane above its longest edge, up to rounding.
    fn contains(&self, [x, y]: Point) -> bool {
        let [apex, height] = self.apex;
        let (up, near) = (y / height, NEAR * self.length);
        y > 0.0 && y < height && x >= apex * up - near && x <= self.length + (apex - self.length) * up + near
    }

    /// Returns the heights between which no segment begins, ends or crosses another one, ascending; and the number of places
    /// where one does.
    fn levels(&self, segments: &[[Point; 2]]) -> (Vec<f64>, u64) {
        let height = self.apex[1];
        let mut levels = Vec::new();
        let mut add = |p: Point| {
            if self.contains(p) {
                levels.push_guarded(p[1]);
            }
        };
        for (i, [p, q]) in segments.iter().enumerate() {
            add(*p);
            add(*q);
            // The sides of the triangle are crossed too.
            let sides = [[[0.0, 0.0], self.apex], [[self.length, 0.0], self.apex]];
            for other in segments[..i].iter().chain(&sides) {
                crossing(&[*p, *q], other).into_iter().for_each(&mut add);
            }
        }
        levels.push_guarded(0.0);
        levels.push_guarded(height);
        levels.sort_unstable_by(f64::total_cmp);
        let count = levels.len() as u64;
        levels.dedup_by(|next, last| *next - *last <= NARROW * height);
        (levels, count)
    }

    /// Fills `lines` with the sides of the triangle and the segments through a slab, from left to right: each place once.
    fn lines(&self, [low, high]: [f64; 2], segments: &[[Point; 2]], lines: &mut Vec<Line>) {
        let side = |x: f64, number: u32| Line([low, high].map(|y| x + (self.apex[0] - x) * (y / self.apex[1])), number);
        let (left, right) = (side(0.0, LEFT), side(self.length, RIGHT));
        let middle = 0.5 * (low + high);
        lines.clear();
        lines.push_guarded(left);
        for (number, [p, q]) in (0..).zip(segments) {
            let (p, q) = if p[1] <= q[1] { (p, q) } else { (q, p) };
            if p[1] < middle && middle < q[1] {
                let at = |y: f64| p[0] + (q[0] - p[0]) * ((y - p[1]) / (q[1] - p[1]));
                let line = Line([0, 1].map(|i| at([low, high][i]).max(left.0[i]).min(right.0[i])), number);
                lines.push_guarded(line);
            }
        }
        lines.push_guarded(right);
        lines.sort_unstable_by(|p, q| p.middle().total_cmp(&q.middle()));
        lines.dedup_by(|next, last| next.middle() - last.middle() <= NARROW * self.length);
    }
}

/// Returns the point at which two segments cross; `None` if they do not, or are parallel.
fn crossing([p, q]: &[Point; 2], [r, s]: &[Point; 2]) -> Option<Point> {
    let (u, v, w) = ([q[0] - p[0], q[1] - p[1]], [s[0] - r[0], s[1] - r[1]], [r[0] - p[0], r[1] - p[1]]);
    let turn = u[0] * v[1] - u[1] * v[0];
    let (uu, vv) = (u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1]);
    // On one line rounding would cross them anywhere.
    if turn * turn <= NEAR * NEAR * uu * vv {
        return None;
    }
    let (t, at) = ((w[0] * v[1] - w[1] * v[0]) / turn, (w[0] * u[1] - w[1] * u[0]) / turn);
    let is_on_both = (0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&at);
    is_on_both.then_some([p[0] + u[0] * t, p[1] + u[1] * t])
}

/// Adds work of one of several threads; `None` beyond a limit. The sum is beyond it for one of them or for none, whatever their order.
fn count(work: &AtomicU64, more: u64, most: u64) -> Option<()> {
    (work.fetch_add(more, Ordering::Relaxed) + more <= most).then_some(())
}

/// Returns whether a triangle contains a point.
fn contains(t: &[Point; 3], p: Point) -> bool {
    let turn = |i: usize| {
        let (a, b) = (t[i], t[(i + 1) % 3]);
        (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    };
    let turns = [turn(0), turn(1), turn(2)];
    turns.iter().all(|x| *x >= 0.0) || turns.iter().all(|x| *x <= 0.0)
}

impl Sides {
    /// Returns 1 if the inside is only behind a place on a triangle, -1 if it is only before it, and 0 otherwise.
    fn side_of_inside(&self, p: &Vec3, normal: &Vec3) -> f64 {
        let step = normal * (NEAR * self.bounds.extents().max());
        f64::from(i8::from(self.inside(p - step)) - i8::from(self.inside(p + step)))
    }

    /// Adds the pieces of triangle `k`, in leaf order, that bound the inside. `None` where they are too many.
    fn add_pieces(&self, k: usize, corners: &[Vec3; 3], pieces: &AtomicU64, integral: &mut Integral) -> Option<()> {
        let Some(plane) = Plane::new(corners) else { return Some(()) };
        let (mesh, origin) = (&self.mesh, self.bounds.center());
        let mut meeting = Meeting::default();
        let extent = self.bounds.extents().max();
        self.bvh.each_near(mesh, k, NEAR * extent, |u| {
            plane.meet(&mesh.corners(u as usize).map(Vec3::from), NEAR * extent, &mut meeting);
        });
        let Meeting { segments, flat } = &meeting;
        if segments.len() > MOST_SEGMENTS {
            return None;
        }
        // Heights of segments along a level. They separate the trapezoids below it from those above.
        let is_level = |[p, q]: &&[Point; 2]| (p[1] - q[1]).abs() <= 2.0 * NARROW * plane.apex[1];
        let along: Vec<f64> = segments.iter().filter(is_level).map(|[p, _]| p[1]).collect_guarded();
        let is_along = |y: f64| along.iter().any(|at| (at - y).abs() <= NEAR * plane.apex[1]);
        let (mut lines, mut sides, mut below) = (Vec::new(), Vec::new(), Vec::new());
        let (levels, crossings) = plane.levels(segments);
        count(pieces, levels.len() as u64 + crossings / QUICK, MOST_PIECES)?;
        for slab in levels.windows(2) {
            let (low, high) = (slab[0], slab[1]);
            plane.lines([low, high], segments, &mut lines);
            count(pieces, lines.len() as u64 / QUICK, MOST_PIECES)?;
            std::mem::swap(&mut sides, &mut below);
            sides.clear();
            if is_along(low) {
                below.clear();
            }
            for pair in lines.windows(2) {
                let [left, right] = [pair[0], pair[1]];
                let middle = [0.5 * (left.middle() + right.middle()), 0.5 * (low + high)];
                // Between the same lines as in the slab below, nothing separates the two trapezoids.
                let between = (left.1, right.1);
                let part = match below.iter().find(|(lines, _)| *lines == between) {
                    Some((_, part)) => *part,
                    None => {
                        count(pieces, 1, MOST_PIECES)?;
                        let side = self.side_of_inside(&plane.place(middle), &plane.normal);
                        // Each of several triangles in one place has its part.
                        side / (1 + flat.iter().filter(|t| contains(t, middle)).count()) as f64
                    }
                };
                sides.push_guarded((between, part));
                if part == 0.0 {
                    continue;
                }
                let corner = |line: &Line, i: usize| plane.place([line.0[i], [low, high][i]]) - origin;
                let [a, b, c, d] = [corner(&left, 0), corner(&right, 0), corner(&right, 1), corner(&left, 1)];
                integral.add(&[a, b, c], part);
                integral.add(&[a, c, d], part);
            }
        }
        Some(())
    }

    /// Returns the mass properties of the inside by the rule, body frame, of a closed surface that may meet itself. `None` for an
    /// open surface, where nothing is inside, and where it would take too long.
    pub(super) fn mass_of_pieces(&self) -> Option<MassProperties> {
        if !matches!(self.rule, SignRule::Crossings | SignRule::Parity) {
            return None;
        }
        let (mesh, bounds) = (&self.mesh, self.bounds);
        let (extent, origin) = (bounds.extents().max(), bounds.center());
        let (looks, most_looks) = (AtomicU64::new(0), MOST_LOOKS + LOOKS * self.bvh.len() as u64);
        let is_near = |k: usize| {
            count(&looks, 0, most_looks)?;
            let mut is_near = false;
            let looked_at = self.bvh.each_near(mesh, k, NEAR * extent, |_| is_near = true);
            count(&looks, looked_at, most_looks).map(|()| is_near)
        };
        let near: Vec<Option<bool>> = (0..self.bvh.len()).into_par_iter().map(is_near).collect_guarded();
        let mut meet = filled(false, mesh.triangles.len());
        for (k, is_near) in near.iter().enumerate() {
            meet[self.bvh.id(k) as usize] = (*is_near)?;
        }
        let (part, against, number) = parts(&mesh.triangles, &sides(&mesh.triangles), |t| !meet[t as usize]);
        let largest = largest_of_parts(mesh, &part, number);
        let side_of_part = |&(_, t): &(f64, usize)| {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0).filter(|_| !meet[t]);
            normal.map_or(0.0, |normal| self.side_of_inside(&((a + b + c) / 3.0), &normal))
        };
        let side_of_parts: Vec<f64> = largest.par_iter().map(side_of_part).collect_guarded();
        let pieces = AtomicU64::new(0);
        let integrals: Vec<Option<Integral>> = (0..self.bvh.len())
            .into_par_iter()
            .map(|k| {
                let t = self.bvh.id(k) as usize;
                let corners = mesh.corners(t).map(Vec3::from);
                let mut integral = Integral::default();
                if meet[t] {
                    self.add_pieces(k, &corners, &pieces, &mut integral)?;
                } else {
                    let part = part[t] as usize;
                    let is_against = against[t] != against[largest[part].1];
                    let side = side_of_parts[part] * if is_against { -1.0 } else { 1.0 };
                    integral.add(&corners.map(|p| p - origin), side);
                }
                Some(integral)
            })
            .collect_guarded();
        let mut sum = Integral::default();
        for integral in &integrals {
            sum.join(integral.as_ref()?);
        }
        sum.mass(&origin, mesh.area() * extent)
    }
}
