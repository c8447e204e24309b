//! Mass properties of the solid that triangles bound, conditions on all mass properties, and principal axes.

use super::{MassProperties, TriMesh};
use voxshell_base::math::{Mat3, Rotation, Vec3};

/// Tolerance for rounding in the triangle inequality of the principal moments, relative to the largest.
const ROUNDING: f64 = 1e-9;

impl TriMesh {
    /// Returns volume, centre of mass and inertia at unit density of the solid that these triangles bound, by exact
    /// integration over the tetrahedra from the box's centre to each triangle (Blow & Binstock 2004, "How to find the
    /// inertia tensor (or other mass properties) of a 3D solid body represented by a triangle mesh").
    ///
    /// The caller guarantees that the triangles are the boundary of a solid, each once, facing out, and that they do
    /// not intersect each other: the function does not check this. `None` when the volume is no more than rounding, or
    /// too thin for f64 to give a valid inertia.
    pub fn mass_of_boundary(&self) -> Option<MassProperties> {
        let bounds = self.bounds();
        let origin = bounds.center();
        let mut integral = Integral::default();
        for t in 0..self.triangles.len() {
            integral.add(&self.corners(t).map(|v| Vec3::from(v) - origin), 1.0);
        }
        integral.mass(&origin, self.area() * bounds.extents().max())
    }
}

/// Volume and first and second moments of a solid about an origin, from the triangles that bound it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Integral {
    volume: f64,
    first: Vec3,
    /// ∫ x xᵀ.
    second: Mat3,
}

impl Integral {
    /// Adds a part of the tetrahedron from the origin to a triangle that faces out. Corners relative to the origin, metres.
    pub fn add(&mut self, [a, b, c]: &[Vec3; 3], part: f64) {
        let six_volumes = part * a.dot(&b.cross(c));
        let s = a + b + c;
        self.volume += six_volumes / 6.0;
        self.first += s * (six_volumes / 24.0);
        // ∫ x xᵀ over the tetrahedron (0, a, b, c).
        self.second +=
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose()) * (six_volumes / 120.0);
    }

    /// Adds what is bounded by other triangles.
    pub fn join(&mut self, other: &Self) {
        self.volume += other.volume;
        self.first += other.first;
        self.second += other.second;
    }

    /// Returns the mass properties of the solid. `None` when its volume is no more than rounding: `size` is the product of its area and its
    /// largest extent.
    pub fn mass(&self, origin: &Vec3, size: f64) -> Option<MassProperties> {
        // Closed sheets enclose only rounding.
        if self.volume <= 1e-12 * size {
            return None;
        }
        MassProperties::from_moments(self.volume, self.first, self.second, origin, true)
    }
}

impl MassProperties {
    /// Makes mass properties from the volume, ∫x and ∫x xᵀ about `origin` (body frame, metres). `None` unless the
    /// result passes [`MassProperties::check`].
    pub fn from_moments(volume: f64, first: Vec3, second: Mat3, origin: &Vec3, exact: bool) -> Option<Self> {
        let center = first / volume;
        let spread = second / volume - center * center.transpose();
        let inertia = Mat3::identity() * spread.trace() - spread;
        let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| inertia[at]);
        let mass = Self { volume, center_of_mass: (origin + center).into(), inertia: entries, exact };
        mass.check().is_ok().then_some(mass)
    }

    /// Returns whether a solid can have these mass properties: finite numbers, a positive volume, a positive definite
    /// inertia whose principal moments satisfy the triangle inequality (each at most the sum of the other two, up to
    /// rounding). The library makes, stores and reads no others.
    ///
    /// # Errors
    /// A description of the defect, with the values.
    pub fn check(&self) -> Result<(), String> {
        let finite = self.center_of_mass.iter().chain(&self.inertia).all(|x| x.is_finite());
        let positive = [self.volume, self.inertia[0], self.inertia[1], self.inertia[2]].iter().all(|x| *x > 0.0);
        if !(finite && positive && self.volume.is_finite()) {
            return Err(format!("{self:?}; expected finite numbers, volume and moments of inertia positive"));
        }
        let moments = principal_axes(self).0;
        let largest = moments.max();
        if !(moments.min() > 0.0 && self.inertia_matrix().cholesky().is_some()) {
            return Err(format!("{self:?}, principal moments {:?}; expected all positive", moments.as_slice()));
        }
        if moments.sum() - 2.0 * largest < -ROUNDING * largest {
            let what = "each at most the sum of the other two";
            return Err(format!("{self:?}, principal moments {:?}; expected {what}", moments.as_slice()));
        }
        Ok(())
    }

    /// Returns the inertia per unit mass as a matrix, about the centre of mass, body axes, m².
    pub fn inertia_matrix(&self) -> Mat3 {
        let [xx, yy, zz, xy, xz, yz] = self.inertia;
        Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }
}

/// Returns the principal moments per unit mass (m²) and the rotation from principal to body axes: column i of its
/// matrix is the axis of moment i.
///
/// Among the 24 orders and orientations of the axes the function takes the one closest to the body's own, so a body that
/// is already aligned (or symmetric enough to have no preferred axes) keeps its axes. Deterministic: cyclic Jacobi
/// rotations made of square roots only.
pub fn principal_axes(mass: &MassProperties) -> (Vec3, Rotation) {
    let mut m = mass.inertia_matrix();
    let mut axes = Mat3::identity();
    let small = 1e-12 * m.trace().abs();
    for _ in 0..32 {
        let off = m[(0, 1)].abs().max(m[(0, 2)].abs()).max(m[(1, 2)].abs());
        if off <= small {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if m[(p, q)].abs() > 1e-3 * small {
                let theta = (m[(q, q)] - m[(p, p)]) / (2.0 * m[(p, q)]);
                let t = (if theta < 0.0 { -1.0 } else { 1.0 }) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cos = 1.0 / (t * t + 1.0).sqrt();
                let mut rotation = Mat3::identity();
                (rotation[(p, p)], rotation[(q, q)]) = (cos, cos);
                (rotation[(p, q)], rotation[(q, p)]) = (t * cos, -t * cos);
                m = rotation.transpose() * m * rotation;
                axes *= rotation;
            }
        }
    }
    let mut best = (f64::NEG_INFINITY, Mat3::identity(), Vec3::zeros());
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
        let mut candidate = Mat3::from_columns(&order.map(|k| axes.column(k).into_owned()));
        for k in 0..3 {
            if candidate[(k, k)] < 0.0 {
                candidate.column_mut(k).neg_mut();
            }
        }
        if candidate.determinant() < 0.0 {
            let weakest = (0..3).min_by(|&a, &b| candidate[(a, a)].total_cmp(&candidate[(b, b)])).unwrap_or(2);
            candidate.column_mut(weakest).neg_mut();
        }
        if candidate.trace() > best.0 {
            best = (candidate.trace(), candidate, Vec3::from(order.map(|k| m[(k, k)])));
        }
    }
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(best.1);
    (best.2, Rotation::from_rotation_matrix(&rotation))
}
