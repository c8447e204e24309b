//! Two bodies on screw motions, seen from one of them. Independent of fields and samples.
//!
//! A screw motion goes from pose to pose with a constant twist: rotation about an axis at a constant rate and
//! translation along it at another (Chasles; Redon, Kheddar & Coquillart 2002 use it for motions between poses).

use super::types::Affine;
use voxshell_base::math::{from_scaled_axis, scaled_axis, Mat3, Pose, Rotation, Vec3};

/// A rigid motion with a constant twist, over t from 0 to 1. At time t the point that starts at `center` has moved by
/// `along` t along the axis, and on an arc that ends `across` from its start.
#[derive(Clone, Copy, Debug)]
struct Screw {
    center: Vec3,
    /// Rotation vector, radians.
    turn: Vec3,
    along: Vec3,
    across: Vec3,
}

impl Screw {
    /// Returns the motion from one pose to another that turns by at most half a turn, described about `center`.
    #[inline]
    fn between(from: &Pose, to: &Pose, center: Vec3) -> Self {
        let turn = scaled_axis(&(to.rotation * from.rotation.inverse()));
        let body = from.inverse_transform_point(&center.into());
        let displacement = to.transform_point(&body).coords - center;
        let along = turn.try_normalize(0.0).map_or_else(Vec3::zeros, |axis| axis * axis.dot(&displacement));
        Self { center, turn, along, across: displacement - along }
    }

    fn rotation(&self, t: f64) -> Rotation {
        from_scaled_axis(self.turn * t)
    }

    /// Returns the displacement of the point that starts at the centre. The chord of an arc is turned from the chord
    /// of a longer arc with the same start by half the difference of their angles, and the ratio of their lengths is
    /// that of the sines of half their angles.
    fn displacement(&self, t: f64) -> Vec3 {
        let half = 0.5 * self.turn.norm();
        let part = if half > 0.0 { libm::sin(half * t) / libm::sin(half) } else { t };
        self.along * t + self.rotation(0.5 * (t - 1.0)) * self.across * part
    }

    /// Returns the velocity of the same point at the start.
    fn velocity(&self) -> Vec3 {
        let half = 0.5 * self.turn.norm();
        let stretch = if half > 0.0 { half / libm::sin(half) } else { 1.0 };
        self.along + self.rotation(-0.5) * self.across * stretch
    }

    /// Returns the velocity, per step, of the point that is at `p` at any time: the twist is constant.
    #[inline]
    fn at(&self, p: &Vec3, velocity: &Vec3) -> Vec3 {
        velocity + self.turn.cross(&(p - self.center))
    }
}

/// Returns the pose at t on the screw motion from one pose to another, of less than half a turn.
pub fn pose_between(from: &Pose, to: &Pose, t: f64) -> Pose {
    let screw = Screw::between(from, to, from.translation.vector);
    Pose::from_parts((screw.center + screw.displacement(t)).into(), screw.rotation(t) * from.rotation)
}

/// Motion of a body's frame in another frame, each on its own screw.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    body: Screw,
    /// Pose of the body at the start, in the other frame at the start; both screws are in that frame.
    start: Pose,
    frame: Screw,
    body_velocity: Vec3,
    frame_velocity: Vec3,
}

impl Relative {
    /// Returns the motion of a body relative to a frame, each from pose to pose; `center` is a point of the body,
    /// body frame, near which precision is needed.
    pub fn new(body: [&Pose; 2], frame: [&Pose; 2], center: &Vec3) -> Self {
        let start = frame[0].inv_mul(body[0]);
        let end = frame[0].inv_mul(body[1]);
        let middle = start.transform_point(&(*center).into()).coords;
        let body = Screw::between(&start, &end, middle);
        let frame = Screw::between(&Pose::identity(), &frame[0].inv_mul(frame[1]), Vec3::zeros());
        let (body_velocity, frame_velocity) = (body.velocity(), frame.velocity());
        Self { body, start, frame, body_velocity, frame_velocity }
    }

    /// Returns the map from the body's frame to the other frame at t.
    #[inline]
    pub fn at(&self, t: f64) -> Affine {
        let Self { body, start, frame, .. } = self;
        let turn = body.rotation(t);
        let back = frame.rotation(t).inverse();
        let rotation: Mat3 = (back * turn * start.rotation).to_rotation_matrix().into_inner();
        let moved = body.center + turn * (start.translation.vector - body.center) + body.displacement(t);
        Affine { linear: rotation, shift: back * (moved - frame.displacement(t)) }
    }

    /// Returns an upper bound of the acceleration, in the other frame, of any point within `radius` of `point` (body
    /// frame, metres) between the times `t` − `half` and `t` + `half`: metres per step squared.
    ///
    /// Let u and v be the velocities of the two twists at the point's position w in the other frame at the start, and
    /// ω and η their rotation vectors. In the moving frame the point has the velocity u(w) − v(w), rotated back. This
    /// rotation changes the velocity by −η × (u − v), and as w moves with u(w), it changes by (ω − η) × u(w): the sum
    /// is the acceleration. |u(w)| is constant, and along the path u changes by at most |ω| |u|, u − v by at most |ω
    /// − η| |u|.
    pub fn acceleration(&self, point: &Vec3, radius: f64, t: f64, half: f64) -> f64 {
        let Self { body, start, frame, .. } = self;
        let (omega, eta) = (body.turn, frame.turn);
        let difference = omega - eta;
        let from = start.transform_point(&(*point).into()).coords - body.center;
        let place = body.center + body.rotation(t) * from + body.displacement(t);
        let u = body.at(&place, &self.body_velocity);
        let relative = u - frame.at(&place, &self.frame_velocity);
        let (w, d, e) = (omega.norm(), difference.norm(), eta.norm());
        let reach = (u.norm() + w * radius) * half + radius;
        let near = difference.cross(&u).norm() + d * w * reach + eta.cross(&relative).norm() + e * d * reach;
        let anywhere = d * (u.norm() + w * radius) + e * (relative.norm() + d * reach);
        near.min(anywhere) * (1.0 + 1e-12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix4, Point3};

    fn pose(seed: u64, size: f64) -> Pose {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let turn = Vec3::new(next(), next(), next()) * 2.0;
        Pose::new(Vec3::new(next(), next(), next()) * size, turn)
    }

    /// Returns the square root of a matrix by Denman & Beavers' iteration: half of a motion, computed with matrices
    /// only.
    fn half(whole: Matrix4<f64>) -> Matrix4<f64> {
        let (mut y, mut z) = (whole, Matrix4::identity());
        for _ in 0..30 {
            let (u, v) = (y.try_inverse().unwrap(), z.try_inverse().unwrap());
            (y, z) = ((y + v) * 0.5, (z + u) * 0.5);
        }
        y
    }

    #[test]
    fn equal_parts_of_a_screw_are_the_same_motion_again_and_again() {
        for seed in 0..50 {
            let (from, to) = (pose(seed, 1.0), pose(seed + 1000, 1.0));
            let turn = (to.rotation * from.rotation.inverse()).angle();
            let relative = Relative::new([&from, &to], [&Pose::identity(); 2], &Vec3::new(0.1, 0.2, 0.3));
            let at = |t: f64| relative.at(t).pose_for_tests();
            assert!((at(0.0).to_homogeneous() - from.to_homogeneous()).amax() < 1e-14);
            assert!((at(1.0).to_homogeneous() - to.to_homogeneous()).amax() < 1e-14);
            let step = at(0.25) * at(0.0).inverse();
            for k in 1..4 {
                let again = at(0.25 * f64::from(k + 1)) * at(0.25 * f64::from(k)).inverse();
                assert!((again.to_homogeneous() - step.to_homogeneous()).amax() < 1e-13, "seed {seed}");
            }
            if turn < 2.5 {
                let quarter = half(half((to * from.inverse()).to_homogeneous())) * from.to_homogeneous();
                assert!((at(0.25).to_homogeneous() - quarter).amax() < 1e-9, "seed {seed}");
                assert!((pose_between(&from, &to, 0.25).to_homogeneous() - quarter).amax() < 1e-9, "seed {seed}");
            }
        }
    }

    #[test]
    fn no_point_changes_its_velocity_faster_than_the_bound() {
        let mut tightest = f64::INFINITY;
        for seed in 0..400 {
            let poses = [0, 1, 2, 3].map(|k| pose(seed * 4 + k, if seed % 3 == 0 { 100.0 } else { 1.0 }));
            let still = seed % 4 == 1;
            let frame = if still { [&poses[2]; 2] } else { [&poses[2], &poses[3]] };
            let center = Vec3::new(0.2, -0.1, 0.4);
            let relative = Relative::new([&poses[0], &poses[1]], frame, &center);
            let radius = 0.3;
            let p = center + pose(seed + 9999, 1.0).translation.vector.normalize() * radius;
            for (t, half) in [(0.5, 0.5), (0.1, 0.1), (0.7, 0.05)] {
                let bound = relative.acceleration(&center, radius, t, half);
                for k in 0..=20 {
                    let s = t - half + 2.0 * half * f64::from(k) / 20.0;
                    let h = 1e-3;
                    let x = |s: f64| relative.at(s).point(&p);
                    let found = (x(s - h) - 2.0 * x(s) + x(s + h)).norm() / (h * h);
                    assert!(found <= bound * 1.0001 + 1e-5 * (1.0 + bound), "seed {seed} at {s}: {found} over {bound}");
                    tightest = tightest.min(bound / found);
                }
            }
        }
        assert!(tightest < 1.3, "the bound is loose: {tightest} at best");
    }

    #[test]
    fn bodies_that_move_as_one_do_not_bend_each_other() {
        let (from, to) = (pose(3, 10.0), pose(4, 10.0));
        let beside = Pose::new(Vec3::new(0.3, 0.1, 0.0), Vec3::new(0.1, 1.0, 0.3));
        let (body_from, body_to) = (from * beside, to * beside);
        let relative = Relative::new([&body_from, &body_to], [&from, &to], &Vec3::zeros());
        let p = Point3::new(0.2, 0.3, 0.1);
        let there = (beside * p).coords;
        for t in [0.0, 0.3, 1.0] {
            assert!((relative.at(t).point(&p.coords) - there).norm() < 1e-12);
        }
        assert!(relative.acceleration(&p.coords, 0.5, 0.5, 0.5) < 1e-10);
    }
}
