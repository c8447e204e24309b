//! One step of time.

use nalgebra::{Matrix3, Matrix6};

use super::RigidBody;
use crate::math::{Mat3, Rotation, Vec3, Vec6, Wrench};
use crate::response::Response;

fn cross(v: &Vec3) -> Mat3 {
    v.cross_matrix()
}

impl RigidBody {
    /// Makes a step of symplectic Euler: momenta first, then the pose with the new ones (Xu & Barbič 2014, section 4).
    /// `wrench` is about the centre of mass, `dt` in seconds. The method is of first order; it keeps angular momentum
    /// up to rounding where there is no torque.
    pub fn symplectic_euler(&mut self, wrench: &Wrench, dt: f64) {
        self.momentum += wrench.force * dt;
        self.angular_momentum += wrench.torque * dt;
        let twist = self.twist();
        self.advance(twist.linear * dt, twist.angular * dt);
    }

    /// Makes a step of linearly implicit Euler: one Newton step of backward Euler on (x, q, P, L) with the load's
    /// gradients (Otaduy & Lin 2005, section 4.2; Xu & Barbič 2016, section 4.1). `load` acts at the start of the step,
    /// about the centre of mass. The method is stable on springs of any stiffness whose gradients are right, and damps
    /// as backward Euler does. With θ the rotation vector of the step, ω = I⁻¹L changes with it by W = I⁻¹ L× − ω×, and
    ///
    /// Δx = h (P + ΔP)/m, Δθ = h (ω + W Δθ + I⁻¹ ΔL), (ΔP, ΔL) = h (w + K (Δx, Δθ) + D (ΔP/m, W Δθ + I⁻¹ ΔL)).
    ///
    /// Returns false when that has no finite solution: the step was then a symplectic one. Allocates nothing.
    pub fn implicit_euler(&mut self, load: &Response, dt: f64) -> bool {
        match self.implicit_change(load, dt) {
            Some((change, way)) => {
                self.momentum += change.fixed_rows::<3>(0);
                self.angular_momentum += change.fixed_rows::<3>(3);
                self.advance(way.fixed_rows::<3>(0).into(), way.fixed_rows::<3>(3).into());
                true
            }
            None => {
                self.symplectic_euler(&load.wrench, dt);
                false
            }
        }
    }

    /// Returns (ΔP, ΔL) and (Δx, Δθ).
    fn implicit_change(&self, load: &Response, h: f64) -> Option<(Vec6, Vec6)> {
        let twist = self.twist();
        let inverse = self.inverse_inertia();
        let w = inverse * cross(&self.angular_momentum) - cross(&twist.angular);
        // Δθ = turn (ω + I⁻¹ ΔL).
        let turn = (Matrix3::identity() - w * h).try_inverse()? * h;
        let still = turn * twist.angular;
        // (Δx, Δθ) = way0 + way (ΔP, ΔL), (Δv, Δω) = pace0 + pace (ΔP, ΔL).
        let way0 = Wrench { force: twist.linear * h, torque: still }.column();
        let pace0 = Wrench { force: Vec3::zeros(), torque: w * still }.column();
        let lightness = Matrix3::from_diagonal_element(1.0 / self.mass.mass());
        let way = diagonal(&(lightness * h), &(turn * inverse));
        let pace = diagonal(&lightness, &(w * turn * inverse + inverse));
        let (k, d) = (&load.by_pose, &load.by_twist);
        let system = Matrix6::identity() - (k * way + d * pace) * h;
        let known = (load.wrench.column() + k * way0 + d * pace0) * h;
        let change = system.lu().solve(&known)?;
        change.iter().all(|v| v.is_finite()).then(|| (change, way0 + way * change))
    }

    /// Moves the body by a translation of the centre and a rotation vector.
    fn advance(&mut self, way: Vec3, turn: Vec3) {
        self.center += way;
        self.rotation = Rotation::from_scaled_axis(turn) * self.rotation;
        self.rotation.renormalize();
    }
}

fn diagonal(upper: &Mat3, lower: &Mat3) -> Matrix6<f64> {
    let mut m = Matrix6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0).copy_from(upper);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(lower);
    m
}
