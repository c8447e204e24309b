//! One step of time.

use nalgebra::{Matrix3, Matrix6, SMatrix, SVector};

use super::RigidBody;
use voxshell_base::math::{from_scaled_axis, Mat3, Mat6, Vec3, Vec6, Wrench};
use voxshell_response::Response;

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
                self.take(&change, &way);
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
        let Advance { way0, way, pace0, pace } = self.by_change(h)?;
        let (k, d) = (&load.by_pose, &load.by_twist);
        let system = Matrix6::identity() - (k * way + d * pace) * h;
        let known = (load.wrench.column() + k * way0 + d * pace0) * h;
        let change = system.lu().solve(&known)?;
        change.iter().all(|v| v.is_finite()).then(|| (change, way0 + way * change))
    }

    /// Returns the motion of a step of time h by the change of the momenta in it.
    fn by_change(&self, h: f64) -> Option<Advance> {
        let twist = self.twist();
        let inverse = self.inverse_inertia();
        let w = inverse * cross(&self.angular_momentum) - cross(&twist.angular);
        // Δθ = turn (ω + I⁻¹ ΔL).
        let turn = (Matrix3::identity() - w * h).try_inverse()? * h;
        let still = turn * twist.angular;
        let lightness = Matrix3::from_diagonal_element(1.0 / self.mass.mass());
        Some(Advance {
            way0: Wrench { force: twist.linear * h, torque: still }.column(),
            way: diagonal(&(lightness * h), &(turn * inverse)),
            pace0: Wrench { force: Vec3::zeros(), torque: w * still }.column(),
            pace: diagonal(&lightness, &(w * turn * inverse + inverse)),
        })
    }

    /// Adds a change of the momenta, and makes the motion that belongs to it.
    fn take(&mut self, change: &Vec6, way: &Vec6) {
        self.momentum += change.fixed_rows::<3>(0);
        self.angular_momentum += change.fixed_rows::<3>(3);
        self.advance(way.fixed_rows::<3>(0).into(), way.fixed_rows::<3>(3).into());
    }

    /// Moves the body by a translation of the centre and a rotation vector.
    fn advance(&mut self, way: Vec3, turn: Vec3) {
        self.center += way;
        self.rotation = from_scaled_axis(turn) * self.rotation;
        self.rotation.renormalize();
    }
}

/// Motion of a body in a step: (Δx, Δθ) = way0 + way (ΔP, ΔL), (Δv, Δω) = pace0 + pace (ΔP, ΔL).
struct Advance {
    way0: Vec6,
    way: Mat6,
    pace0: Vec6,
    pace: Mat6,
}

/// Load on two bodies that depends on the motion of both, such as that of a spring between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Wrench on each body about its centre of mass.
    pub wrench: [Wrench; 2],
    /// Derivatives of the wrench on one body (first index) by pose and twist of one (second index), as in [`Response`].
    pub by_pose: [[Mat6; 2]; 2],
    pub by_twist: [[Mat6; 2]; 2],
}

/// Makes a step of [`RigidBody::implicit_euler`] of two bodies at once, with a load on each and a link between them: one
/// system of twelve equations, so that forces of the link change the momenta of both bodies at the same time (Otaduy &
/// Lin 2005, section 4.2, for the tool and the handle).
///
/// Returns false when that has no finite solution: the step was then a symplectic one. Allocates nothing.
pub fn implicit_euler_of_two(bodies: [&mut RigidBody; 2], loads: [&Response; 2], link: &Link, dt: f64) -> bool {
    let [a, b] = bodies;
    let Some([change_a, change_b]) = changes_of_two([&*a, &*b], loads, link, dt) else {
        for (body, i) in [(a, 0), (b, 1)] {
            let mut wrench = loads[i].wrench;
            wrench += link.wrench[i];
            body.symplectic_euler(&wrench, dt);
        }
        return false;
    };
    a.take(&change_a.0, &change_a.1);
    b.take(&change_b.0, &change_b.1);
    true
}

/// Returns (ΔP, ΔL) and (Δx, Δθ) of each body.
fn changes_of_two(bodies: [&RigidBody; 2], loads: [&Response; 2], link: &Link, h: f64) -> Option<[(Vec6, Vec6); 2]> {
    let motions = [bodies[0].by_change(h)?, bodies[1].by_change(h)?];
    let mut system = SMatrix::<f64, 12, 12>::identity();
    let mut known = SVector::<f64, 12>::zeros();
    for i in 0..2 {
        let mut sum = loads[i].wrench.column() + link.wrench[i].column();
        for (j, Advance { way0, way, pace0, pace }) in motions.iter().enumerate() {
            let (mut k, mut d) = (link.by_pose[i][j], link.by_twist[i][j]);
            if i == j {
                k += loads[i].by_pose;
                d += loads[i].by_twist;
            }
            sum += k * way0 + d * pace0;
            let mut block = system.fixed_view_mut::<6, 6>(6 * i, 6 * j);
            block -= (k * way + d * pace) * h;
        }
        known.fixed_rows_mut::<6>(6 * i).copy_from(&(sum * h));
    }
    let solution = system.lu().solve(&known)?;
    if !solution.iter().all(|v| v.is_finite()) {
        return None;
    }
    let of = |i: usize| {
        let change: Vec6 = solution.fixed_rows::<6>(6 * i).into();
        (change, motions[i].way0 + motions[i].way * change)
    };
    Some([of(0), of(1)])
}

fn diagonal(upper: &Mat3, lower: &Mat3) -> Matrix6<f64> {
    let mut m = Matrix6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0).copy_from(upper);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(lower);
    m
}
