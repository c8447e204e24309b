//! Distance of two convex sets that are given by their support functions.
//!
//! Gilbert, Johnson & Keerthi 1988, "A fast procedure for computing the distance between complex objects in
//! three-dimensional space", with the closest points of simplices by Voronoi regions (Ericson 2005, chapter 5).

use super::Vec3;

/// Iterations after which the present answer is returned.
const MOST_ITERATIONS: usize = 128;
/// Convergence: the lower bound of the squared distance is within this fraction of the upper one.
const RELATIVE: f64 = 1e-15;
/// Sets closer than this fraction of the largest coordinate count as overlapping: rounding decides nothing below it.
const TOUCHING: f64 = 1e-14;

/// Extreme points of both sets: of A along a direction, of B against it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extreme {
    pub a: Vec3,
    pub b: Vec3,
    /// Numbers of the points in their sets.
    pub ids: [u32; 2],
}

/// Closest points of two sets that do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    pub on_a: Vec3,
    pub on_b: Vec3,
    /// Unit vector from A to B. Close sets need it: the difference of the points has lost digits to rounding.
    pub normal: Vec3,
    /// Metres.
    pub distance: f64,
    /// Points that span the features on which the closest points lie; the first `count` count.
    pub ids: [[u32; 2]; 3],
    pub count: usize,
}

/// Answer of [`nearest`].
#[derive(Clone, Copy, Debug)]
pub enum Separation {
    /// The sets are farther apart than the limit along this unit vector, which points from A to B.
    Beyond(Vec3),
    Near(Nearest),
    Overlapping,
}

/// A simplex of the Minkowski difference A − B and the barycentric coordinates of its point closest to the origin.
#[derive(Clone, Copy, Default)]
struct Simplex {
    points: [Extreme; 4],
    weights: [f64; 4],
    len: usize,
}

impl Simplex {
    fn w(&self, i: usize) -> Vec3 {
        self.points[i].a - self.points[i].b
    }

    fn of(points: &[(Extreme, f64)]) -> Self {
        let mut s = Self { len: points.len(), ..Self::default() };
        for (i, (p, weight)) in points.iter().enumerate() {
            (s.points[i], s.weights[i]) = (*p, *weight);
        }
        s
    }

    fn closest(&self) -> Vec3 {
        (0..self.len).fold(Vec3::zeros(), |sum, i| sum + self.w(i) * self.weights[i])
    }

    /// Returns the smallest face that has the point closest to the origin; `None` if the tetrahedron contains it.
    fn reduced(&self) -> Option<Self> {
        let p = &self.points;
        match self.len {
            0 | 1 => Some(Self::of(&[(p[0], 1.0)])),
            2 => Some(Self::segment(p[0], p[1])),
            3 => Some(Self::triangle(p[0], p[1], p[2])),
            _ => self.tetrahedron(),
        }
    }

    fn segment(p: Extreme, q: Extreme) -> Self {
        let (a, b) = (p.a - p.b, q.a - q.b);
        let d = b - a;
        let (t, length) = (-a.dot(&d), d.norm_squared());
        if t <= 0.0 {
            return Self::of(&[(p, 1.0)]);
        }
        if t >= length {
            return Self::of(&[(q, 1.0)]);
        }
        Self::of(&[(p, 1.0 - t / length), (q, t / length)])
    }

    fn triangle(p: Extreme, q: Extreme, r: Extreme) -> Self {
        let (a, b, c) = (p.a - p.b, q.a - q.b, r.a - r.b);
        let (ab, ac) = (b - a, c - a);
        let n = ab.cross(&ac);
        let area = n.norm_squared();
        // Barycentric coordinates of the origin's projection.
        let u = b.cross(&c).dot(&n);
        let v = c.cross(&a).dot(&n);
        let w = a.cross(&b).dot(&n);
        if area > 0.0 && u > 0.0 && v > 0.0 && w > 0.0 {
            let sum = u + v + w;
            return Self::of(&[(p, u / sum), (q, v / sum), (r, w / sum)]);
        }
        [Self::segment(p, q), Self::segment(q, r), Self::segment(r, p)]
            .into_iter()
            .min_by(|x, y| x.closest().norm_squared().total_cmp(&y.closest().norm_squared()))
            .unwrap_or_default()
    }

    fn tetrahedron(&self) -> Option<Self> {
        let p = &self.points;
        let mut best: Option<(f64, Self)> = None;
        for [i, j, k, l] in [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 3, 2, 0]] {
            let (a, b, c, d) = (self.w(i), self.w(j), self.w(k), self.w(l));
            let n = (b - a).cross(&(c - a));
            let (height, origin) = (n.dot(&(d - a)), -n.dot(&a));
            // The origin is strictly on the inner side of this face. A flat tetrahedron has no inside.
            if height * origin > 0.0 && height.abs() > 1e-14 * n.norm() * (d - a).norm() {
                continue;
            }
            let face = Self::triangle(p[i], p[j], p[k]);
            let distance = face.closest().norm_squared();
            if best.as_ref().is_none_or(|b| distance < b.0) {
                best = Some((distance, face));
            }
        }
        best.map(|b| b.1)
    }
}

/// Returns the closest points of two convex sets, or a direction along which they are farther apart than `limit`, metres.
///
/// `first`: direction from A to B with which the search begins; any vector. `size`: largest coordinate of both sets,
/// metres. `support` returns the extreme points along a direction, not unit. Allocates nothing.
pub fn nearest(first: &Vec3, limit: f64, size: f64, mut support: impl FnMut(&Vec3) -> Extreme) -> Separation {
    let first = if first.norm_squared() > 0.0 { *first } else { Vec3::x() };
    let mut simplex = Simplex::of(&[(support(&first), 1.0)]);
    let mut v = simplex.closest();
    let touching = (TOUCHING * size).powi(2);
    for _ in 0..MOST_ITERATIONS {
        let squared = v.norm_squared();
        if squared <= touching {
            return Separation::Overlapping;
        }
        let direction = -v;
        let next = support(&direction);
        let w = next.a - next.b;
        let along = v.dot(&w);
        if along > 0.0 && along > limit * squared.sqrt() {
            return Separation::Beyond(direction / squared.sqrt());
        }
        let known = simplex.points[..simplex.len].iter().any(|p| p.ids == next.ids);
        if known || squared - along <= RELATIVE * squared {
            break;
        }
        let mut grown = simplex;
        (grown.points[grown.len], grown.len) = (next, grown.len + 1);
        let Some(reduced) = grown.reduced() else { return Separation::Overlapping };
        let closer = reduced.closest();
        // Rounding has used up what the iteration can gain.
        if closer.norm_squared() >= squared {
            break;
        }
        (simplex, v) = (reduced, closer);
    }
    let distance = v.norm();
    let normal = -v / distance;
    let (on_a, on_b, count) = (Vec3::zeros(), Vec3::zeros(), simplex.len.min(3));
    let mut answer = Nearest { on_a, on_b, normal, distance, ids: [[0; 2]; 3], count };
    for i in 0..simplex.len {
        answer.on_a += simplex.points[i].a * simplex.weights[i];
        answer.on_b += simplex.points[i].b * simplex.weights[i];
        answer.ids[i.min(2)] = simplex.points[i].ids;
    }
    if distance > limit {
        return Separation::Beyond(normal);
    }
    Separation::Near(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(center: Vec3, direction: &Vec3) -> (Vec3, u32) {
        let side = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        let d = direction.map(side);
        (center + d * 0.5, (0..3).map(|k| u32::from(d[k] > 0.0) << k).sum())
    }

    fn cubes(apart: Vec3, limit: f64) -> Separation {
        nearest(&Vec3::zeros(), limit, 4.0, |d| {
            let ((a, i), (b, j)) = (cube(Vec3::zeros(), d), cube(apart, &-d));
            Extreme { a, b, ids: [i, j] }
        })
    }

    #[test]
    fn distance_of_cubes_is_that_of_their_boxes() {
        for apart in [[1.5, 0.0, 0.0], [1.25, 1.5, 0.3], [2.0, 3.0, -1.75], [1.0 + 1e-9, 0.2, 0.1]] {
            let apart = Vec3::from(apart);
            let expected = apart.map(|x| (x.abs() - 1.0f64).max(0.0)).norm();
            let Separation::Near(found) = cubes(apart, f64::INFINITY) else { panic!("{apart}") };
            assert!((found.distance - expected).abs() < 1e-14, "{apart} {} {expected}", found.distance);
            assert!(((found.on_a - found.on_b).norm() - expected).abs() < 1e-14);
            assert!((found.normal.norm() - 1.0).abs() < 1e-15 && found.normal.dot(&apart) > 0.0);
            assert!(matches!(cubes(apart, 0.5 * expected), Separation::Beyond(d) if d.dot(&apart) > 0.0));
        }
        assert!(matches!(cubes(Vec3::new(0.9, 0.1, 0.2), 1.0), Separation::Overlapping));
    }
}
