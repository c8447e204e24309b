//! Integer coordinates, on which every convexity test is exact.

use voxshell_base::math::{Aabb, Vec3};

/// A point of the lattice. Coordinates of one body differ by at most 2⁴⁰.
pub type Point = [i64; 3];

/// log₂ of the largest number of steps across a body.
const BITS: i32 = 40;

/// Relative rounding error of a determinant of exact differences.
const RELATIVE: f64 = 1e-14;

/// A cubic lattice around a body. Its step is a power of two and its origin a multiple of the step, so coordinates
/// relative to the origin are exact in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Metres, body frame.
    pub origin: Vec3,
    /// Metres.
    pub step: f64,
}

impl Lattice {
    /// Returns the lattice of a body with this box, which is not a single point.
    pub fn new(bounds: &Aabb) -> Self {
        let extent = bounds.extents().max();
        let mut step = libm::exp2((libm::log2(extent).ceil() as i32 - BITS) as f64);
        while extent > step * libm::exp2(f64::from(BITS)) * 0.999 {
            step *= 2.0;
        }
        Self { origin: bounds.center().map(|x| (x / step).round() * step), step }
    }

    /// Returns the lattice point nearest to `p`, metres, body frame.
    pub fn snap(&self, p: &[f64; 3]) -> Point {
        [0, 1, 2].map(|k| ((p[k] - self.origin[k]) / self.step).round() as i64)
    }

    /// Returns a lattice point relative to the origin, metres; exact.
    pub fn local(&self, p: &Point) -> Vec3 {
        Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64) * self.step
    }
}

pub fn difference(a: &Point, b: &Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Returns the cross product of the edges of a triangle; exact.
pub fn normal(a: &Point, b: &Point, c: &Point) -> [i128; 3] {
    let (u, v) = (difference(b, a), difference(c, a));
    let minor = |i: usize, j: usize| i128::from(u[i]) * i128::from(v[j]) - i128::from(u[j]) * i128::from(v[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// Returns the side of the plane of a triangle on which `p` lies: 1 above, where its normal points, −1 below, 0 on it.
pub fn side([a, b, c]: [&Point; 3], p: &Point) -> i8 {
    let f = |q: &Point| difference(q, a).map(|x| x as f64);
    let (u, v, w) = (f(b), f(c), f(p));
    let (mut det, mut size) = (0.0, 0.0);
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let (s, t) = (u[i] * v[j], u[j] * v[i]);
        det += (s - t) * w[k];
        size += (s.abs() + t.abs()) * w[k].abs();
    }
    if det.abs() > size * RELATIVE {
        return if det > 0.0 { 1 } else { -1 };
    }
    let (n, d) = (normal(a, b, c), difference(p, a));
    (0..3).map(|k| n[k] * i128::from(d[k])).sum::<i128>().signum() as i8
}

/// The plane of a triangle in its smallest integers, and the multiple of them that the triangle's edges span: twice its
/// area in units of the plane. `None` for a triangle without area.
pub fn plane(a: &Point, b: &Point, c: &Point) -> Option<([i128; 4], u128)> {
    let n = normal(a, b, c);
    let factor = n.iter().fold(0, |g, x| gcd(g, x.unsigned_abs()));
    if factor == 0 {
        return None;
    }
    let n = n.map(|x| x / factor as i128);
    let offset = (0..3).map(|k| n[k] * i128::from(a[k])).sum();
    Some(([n[0], n[1], n[2], offset], factor))
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_exact_where_rounding_would_decide() {
        let far = 1i64 << 39;
        let (a, b, c) = ([0, 0, 0], [far, 1, 0], [far - 1, far, 1]);
        let n = normal(&a, &b, &c);
        // A point of the plane, and its neighbours.
        let p = [2 * far - 1, far + 1, 1];
        assert_eq!(side([&a, &b, &c], &p), 0);
        for k in 0..3 {
            let mut q = p;
            q[k] += 1;
            assert_eq!(i128::from(side([&a, &b, &c], &q)), n[k].signum());
        }
        assert_eq!(plane(&a, &b, &c).map(|p| p.0), plane(&b, &c, &a).map(|p| p.0));
    }

    #[test]
    fn snapped_points_are_within_half_a_step() {
        let bounds = Aabb { min: Vec3::new(-3.0, 1e6, 0.1), max: Vec3::new(4.0, 1e6 + 2.0, 0.2) };
        let lattice = Lattice::new(&bounds);
        let p = [0.123_456_789, 1e6 + 1.7, 0.15];
        let error = lattice.local(&lattice.snap(&p)) + lattice.origin - Vec3::from(p);
        assert!(error.amax() <= 0.51 * lattice.step, "{error} {}", lattice.step);
        let across = difference(&lattice.snap(&bounds.max.into()), &lattice.snap(&bounds.min.into()));
        assert!(across.iter().all(|x| x.abs() <= 1 << 40));
    }
}
