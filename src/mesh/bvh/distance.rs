//! The closest points of two meshes that are apart.
//!
//! Branch and bound over pairs of nodes, the nearer pair first (Larsen, Gottschalk, Lin & Manocha 2000, "Fast Distance
//! Queries with Rectangular Swept Sphere Volumes", with boxes). Two triangles that do not intersect are closest at a corner
//! of one and a point of the other, or at two inner points of their edges. Pairs are also as far apart as they are along the
//! direction between the closest points so far, which is the best one of all in the end.

use super::crossings::Plane;
use super::dual::{is_split_first, largest, Placement, Separation};
use super::node::{Node, MAX_DEPTH};
use super::slab::{gap_along_axes, Meshed};
use super::{Bvh, Slabs};
use crate::triangle::{closest_point, Corners, Feature};
use voxshell_base::math::Vec3;

/// Fraction of the squared distance by which the answer may be larger than the least one: far above rounding, so that of many
/// pairs that are equally close, as between parallel faces, few are looked at.
const SLACK: f64 = 1e-6;

/// Square of the sine of the angle below which two edges count as parallel: one of their ends is as close as any point
/// between, up to rounding.
const PARALLEL: f64 = 1e-12;

/// The closest points of two meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// On the first mesh and on the second, in the frame of the second, metres.
    pub points: [Vec3; 2],
    /// Triangles of both meshes, in leaf order.
    pub triangles: [u32; 2],
    /// Positions of the points on their triangles.
    pub features: [Feature; 2],
    pub distance: f64,
}

/// A pair of nodes, and a lower bound of the square of its distance.
#[derive(Clone, Copy)]
struct Pair {
    first: u32,
    second: u32,
    least: f64,
}

/// A direction from the first mesh to the second.
#[derive(Clone, Copy)]
struct Axis {
    /// In the frame of each mesh.
    in_first: Vec3,
    in_second: Vec3,
}

impl Axis {
    /// Returns the axis along a vector; without a length it is one along which nothing is apart.
    fn along(towards: Vec3, placement: &Placement) -> Self {
        let in_second = towards.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        Self { in_first: placement.rotation.tr_mul(&in_second), in_second }
    }

    /// Returns a lower bound of the squared distance between the triangles of two nodes: along the axis they are in their
    /// cylinders, and across it in balls.
    fn gap_squared(&self, (first, i): (Meshed, u32), (second, j): (Meshed, u32), placement: &Placement) -> f64 {
        let (a, b) = (&first.0.nodes[i as usize], &second.0.nodes[j as usize]);
        let middle = |n: &Node| 0.5 * (Vec3::from(n.min) + Vec3::from(n.max));
        let half = |n: &Node| 0.5 * (Vec3::from(n.max) - Vec3::from(n.min));
        let (half_a, half_b) = (half(a), half(b));
        let from = middle(b) - placement.place(&middle(a));
        let along = self.in_second.dot(&from);
        let high = self.in_first.abs().dot(&half_a).min(first.1.interval(i, &self.in_first)[1]);
        let low = (-self.in_second.abs().dot(&half_b)).max(second.1.interval(j, &self.in_second)[0]);
        let gap = (along + low - high).max(0.0);
        let across = (from.norm_squared() - along * along).max(0.0).sqrt();
        let beside = (across - half_a.norm() - half_b.norm()).max(0.0);
        gap * gap + beside * beside
    }

    fn least(&self, t: &Corners) -> f64 {
        let at = |p: &Vec3| self.in_second.dot(p);
        at(&t[0]).min(at(&t[1])).min(at(&t[2]))
    }

    fn most(&self, t: &Corners) -> f64 {
        let at = |p: &Vec3| self.in_second.dot(p);
        at(&t[0]).max(at(&t[1])).max(at(&t[2]))
    }
}

/// The nearest pair of triangles so far.
struct Nearest<'a> {
    placement: &'a Placement,
    best: Option<Between>,
    /// Pairs of at least this squared distance, and this distance, are no better.
    enough: f64,
    root: f64,
    axis: Axis,
    tests: u64,
}

impl Nearest<'_> {
    fn offer(&mut self, points: [Vec3; 2], triangles: [u32; 2], features: [Feature; 2]) {
        let across = points[1] - points[0];
        let squared = across.norm_squared();
        if squared < self.enough {
            self.enough = squared * (1.0 - SLACK);
            self.root = self.enough.sqrt();
            self.axis = Axis::along(across, self.placement);
            self.best = Some(Between { points, triangles, features, distance: squared.sqrt() });
        }
    }

    /// Tests two triangles in one frame.
    fn triangles(&mut self, [t, u]: [&Corners; 2], slivers: [bool; 2], triangles: [u32; 2]) {
        self.tests += 1;
        for i in 0..3u8 {
            let p = &t[usize::from(i)];
            let (foot, feature) = closest_point(u, slivers[1], p);
            self.offer([*p, foot], triangles, [Feature::Vertex(i), feature]);
            let q = &u[usize::from(i)];
            let (foot, feature) = closest_point(t, slivers[0], q);
            self.offer([foot, *q], triangles, [feature, Feature::Vertex(i)]);
        }
        for i in 0..3u8 {
            let (p, d) = edge(t, i);
            for j in 0..3u8 {
                let (q, e) = edge(u, j);
                if let Some(points) = inner_points((p, d), (q, e)) {
                    self.offer(points, triangles, [Feature::Edge(i), Feature::Edge(j)]);
                }
            }
        }
    }

    fn leaves(&mut self, first: &Bvh, second: &Bvh, a: &Node, b: &Node) {
        // Closer points on the way have another axis, along which `least` is another one.
        let axis = self.axis;
        let least = b.triangles().fold(f64::INFINITY, |least, kb| least.min(axis.least(&second.corners[kb])));
        for ka in a.triangles() {
            let t = self.placement.place_corners(&first.corners[ka]);
            if least - axis.most(&t) >= self.root {
                continue;
            }
            let (low, high) = (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
            if gap_squared(&low, &high, &b.min.into(), &b.max.into()) >= self.enough {
                continue;
            }
            // Planes tell triangles apart that are nearer than they are large.
            let (plane, is_far) = (Plane::of(&t), self.root > (high - low).amax());
            for kb in b.triangles() {
                let u = &second.corners[kb];
                let (lower, upper) = (u[0].inf(&u[1]).inf(&u[2]), u[0].sup(&u[1]).sup(&u[2]));
                let is_near = axis.least(u) - axis.most(&t) < self.root;
                if is_near
                    && gap_squared(&low, &high, &lower, &upper) < self.enough
                    && (is_far || (plane.gap_to(u) < self.root && Plane::of(u).gap_to(&t) < self.root))
                {
                    let slivers = [first.is_sliver(ka), second.is_sliver(kb)];
                    self.triangles([&t, u], slivers, [ka as u32, kb as u32]);
                }
            }
        }
    }
}

fn edge(t: &Corners, i: u8) -> (Vec3, Vec3) {
    let from = t[usize::from(i)];
    (from, t[(usize::from(i) + 1) % 3] - from)
}

/// Returns the squared distance of two boxes along the axes.
fn gap_squared(low: &Vec3, high: &Vec3, lower: &Vec3, upper: &Vec3) -> f64 {
    let gap = |i: usize| (low[i] - upper[i]).max(lower[i] - high[i]).max(0.0);
    let (x, y, z) = (gap(0), gap(1), gap(2));
    (x * x + y * y) + z * z
}

/// Returns the closest points of two lines, each by a point and a direction, if they are between the ends of both segments.
fn inner_points((p, d): (Vec3, Vec3), (q, e): (Vec3, Vec3)) -> Option<[Vec3; 2]> {
    let r = q - p;
    let (dd, ee, de) = (d.norm_squared(), e.norm_squared(), d.dot(&e));
    let (dr, er) = (d.dot(&r), e.dot(&r));
    let squared = dd * ee - de * de;
    if squared <= PARALLEL * dd * ee {
        return None;
    }
    let (s, t) = ((dr * ee - er * de) / squared, (dr * de - er * dd) / squared);
    let is_inner = |x: f64| x > 0.0 && x < 1.0;
    (is_inner(s) && is_inner(t)).then(|| [p + d * s, q + e * t])
}

/// Returns the closest points of two meshes that do not intersect, if they are at most `limit` metres apart, and the number of
/// tests of boxes and triangles; `placement` takes the first mesh to the frame of the second. The smaller the limit, the
/// faster, and the closer `towards`, a vector from the first to the second in the frame of the second, is to the direction of
/// the closest points. Of meshes that intersect, the points are on both, and no closer than the surfaces.
pub fn closest_between(
    first: (&Bvh, &Slabs),
    second: (&Bvh, &Slabs),
    placement: &Placement,
    limit: f64,
    towards: Vec3,
) -> (Option<Between>, u64) {
    let (meshes, first, second) = ([first, second], first.0, second.0);
    // A little above the square, so that the strict comparisons admit the limit itself.
    let enough = (limit * limit + f64::MIN_POSITIVE) * (1.0 + 4.0 * f64::EPSILON);
    let axis = Axis::along(towards, placement);
    let mut nearest = Nearest { placement, best: None, enough, root: enough.sqrt(), axis, tests: 0 };
    if first.is_empty() || second.is_empty() || limit.is_nan() || limit < 0.0 {
        return (None, 0);
    }
    let separation = Separation::new(placement, 0.0);
    // The bound along the axis costs less than that of the boxes, and is mostly the better one.
    let pair = |i: u32, j: u32, nearest: &Nearest| {
        let along = nearest.axis.gap_squared((meshes[0], i), (meshes[1], j), placement);
        if along >= nearest.enough {
            return None;
        }
        let (a, b) = (&first.nodes[i as usize], &second.nodes[j as usize]);
        let least = separation.gap_squared(&separation.placed(a), b).max(along);
        if least >= nearest.enough {
            return None;
        }
        // Of nodes that are farther apart than they are large, the bounds so far tell all.
        let is_near = nearest.root < largest(a).max(largest(b));
        let gap = if is_near { gap_along_axes(meshes, [i, j], placement) } else { 0.0 };
        let least = least.max(gap * gap);
        (least < nearest.enough).then_some(Pair { first: i, second: j, least })
    };
    // Each opened pair leaves one more behind.
    let mut stack = [Pair { first: 0, second: 0, least: 0.0 }; 2 * MAX_DEPTH + 4];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let Pair { first: i, second: j, least } = stack[top];
        nearest.tests += 1;
        if least >= nearest.enough {
            continue;
        }
        let (a, b) = (&first.nodes[i as usize], &second.nodes[j as usize]);
        if a.count > 0 && b.count > 0 {
            nearest.leaves(first, second, a, b);
            continue;
        }
        let parts = if is_split_first(a, b) {
            [pair(a.first, j, &nearest), pair(a.first + 1, j, &nearest)]
        } else {
            [pair(i, b.first, &nearest), pair(i, b.first + 1, &nearest)]
        };
        let is_swapped = matches!(parts, [Some(p), Some(q)] if q.least < p.least);
        let [near, far] = if is_swapped { [parts[1], parts[0]] } else { parts };
        for part in [far, near].into_iter().flatten() {
            stack[top] = part;
            top += 1;
        }
    }
    (nearest.best, nearest.tests)
}
