//! Squared distance to planes, summed over the triangles around a vertex (Garland & Heckbert 1997).

use super::lattice::{normal, Point};
use voxshell_base::math::{Mat3, Vec3};

/// Σ area · (n·x − d)², with coordinates in units of the body: 2⁴⁰ steps of the lattice.
#[derive(Clone, Copy, Default)]
pub struct Quadric {
    a: Mat3,
    b: Vec3,
}

const UNIT: f64 = 1.0 / (1u64 << 40) as f64;

/// Returns a lattice point in units of the body.
pub fn unit(p: &Point) -> Vec3 {
    Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64) * UNIT
}

impl Quadric {
    pub fn of_triangle(a: &Point, b: &Point, c: &Point) -> Self {
        let n = Vec3::from(normal(a, b, c).map(|x| x as f64)) * (UNIT * UNIT);
        let area = n.norm();
        if area == 0.0 {
            return Self::default();
        }
        let n = n / area;
        Self { a: n * n.transpose() * area, b: n * (n.dot(&unit(a)) * area) }
    }

    pub fn add(&mut self, other: &Self) {
        self.a += other.a;
        self.b += other.b;
    }

    /// Returns the point with the smallest sum, as near to `near` as the planes leave it free; `None` if it is farther
    /// than `reach` from `near`.
    pub fn minimum(&self, near: &Point, reach: f64) -> Option<Point> {
        let middle = unit(near);
        // A small weight of `near` decides along directions in which the planes do not.
        let weight = self.a.trace() * 1e-3;
        let a = self.a + Mat3::identity() * weight;
        let shift = a.try_inverse()? * (self.b - self.a * middle);
        let fits = shift.norm() <= reach * UNIT;
        fits.then(|| [0, 1, 2].map(|k| near[k] + (shift[k] / UNIT).round() as i64))
    }
}
