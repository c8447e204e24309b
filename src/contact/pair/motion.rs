//! Motion of two bodies in a step, and how far two placements of a pair are apart.

use nalgebra::Point3;

use crate::memory::displacement;
use crate::types::Step;
use voxshell_base::math::{limits, Aabb, Pose, Vec3};
use voxshell_base::{Error, Result};

/// A body at the start of a step. World frame, SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    pub pose: Pose,
    /// Point at which the body has its linear velocity.
    pub center_of_mass: Vec3,
    /// Velocities that the body has in the step if no contact stops it, those of gravity and other forces included, m/s and
    /// rad/s.
    pub linear_velocity: Vec3,
    pub angular_velocity: Vec3,
}

impl Motion {
    /// Returns a body at rest.
    pub fn at_rest(pose: Pose) -> Self {
        let center_of_mass = pose.translation.vector;
        Self { pose, center_of_mass, linear_velocity: Vec3::zeros(), angular_velocity: Vec3::zeros() }
    }

    fn check(&self, [pose, center, linear, angular]: [&str; 4]) -> Result<()> {
        limits::check_pose(pose, &self.pose)?;
        limits::check_point(center, &self.center_of_mass)?;
        limits::check_quantities(linear, &self.linear_velocity)?;
        limits::check_quantities(angular, &self.angular_velocity)
    }
}

/// The motion of two bodies in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairStep {
    pub a: Motion,
    pub b: Motion,
    /// Length of the step, s. 0: no contact is reported ahead of time.
    pub duration: f64,
    /// What forces such as gravity add to the linear velocities of A and of B in the step, m/s: parts of them, which a third body
    /// may withstand.
    pub gained: [Vec3; 2],
}

impl PairStep {
    /// Returns a step of no time.
    pub fn at_rest(pose_a: Pose, pose_b: Pose) -> Self {
        Self { a: Motion::at_rest(pose_a), b: Motion::at_rest(pose_b), duration: 0.0, gained: [Vec3::zeros(); 2] }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.a.check(["a.pose", "a.center_of_mass", "a.linear_velocity", "a.angular_velocity"])?;
        self.b.check(["b.pose", "b.center_of_mass", "b.linear_velocity", "b.angular_velocity"])?;
        limits::check_quantities("gained[0]", &self.gained[0])?;
        limits::check_quantities("gained[1]", &self.gained[1])?;
        if !(self.duration >= 0.0 && limits::is_quantity(self.duration)) {
            return Err(Error::argument("duration", limits::Shown(self.duration), "a time of 0 s or more"));
        }
        Ok(())
    }

    /// Returns the motion of A relative to B in the step; see [`Step::center`].
    pub(super) fn relative(&self, max_gap: f64) -> Step {
        let apart = self.a.center_of_mass - self.b.center_of_mass;
        let moved_by_b = self.b.linear_velocity + self.b.angular_velocity.cross(&apart);
        Step {
            center: self.a.center_of_mass,
            shift: (self.a.linear_velocity - moved_by_b) * self.duration,
            turn: (self.a.angular_velocity - self.b.angular_velocity) * self.duration,
            gained: self.gained.map(|velocity| velocity * self.duration),
            max_gap,
            dense_above: DENSE_ABOVE,
            extremes_only: true,
        }
    }
}

/// Number of samples above which contacts are dense: far more than the points of a manifold.
const DENSE_ABOVE: usize = 1024;

/// A ball around the smaller of two bodies, body frame, metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smaller {
    pub is_a: bool,
    pub center: Vec3,
    /// Infinite if both bodies are.
    pub radius: f64,
}

impl Smaller {
    pub fn of(a: &Aabb, b: &Aabb) -> Self {
        let radius = |bounds: &Aabb| {
            let radius = 0.5 * bounds.extents().norm();
            if radius.is_finite() {
                radius
            } else {
                f64::INFINITY
            }
        };
        let (of_a, of_b) = (radius(a), radius(b));
        let is_a = of_a <= of_b;
        let (bounds, radius) = if is_a { (a, of_a) } else { (b, of_b) };
        let center = if radius.is_finite() { bounds.center() } else { Vec3::zeros() };
        Self { is_a, center, radius }
    }

    /// Returns the placement of the two bodies.
    pub fn placement(&self, step: &PairStep) -> Placed {
        let (own, other) = if self.is_a { (&step.a, &step.b) } else { (&step.b, &step.a) };
        let relative = other.pose.inv_mul(&own.pose);
        let motion = step.relative(0.0);
        let center = own.pose * Point3::from(self.center);
        let sign = if self.is_a { 1.0 } else { -1.0 };
        let back = other.pose.rotation.inverse();
        let moves = motion.shift + motion.turn.cross(&(center.coords - motion.center));
        let [of_a, of_b] = motion.gained.map(|part| back * part);
        let gained = if self.is_a { [of_a, of_b] } else { [of_b, of_a] };
        Placed { relative, moves: back * moves * sign, turns: back * motion.turn * sign, gained }
    }

    /// Returns the largest distance by which a point of the smaller body is elsewhere, metres, and the largest by which its
    /// motion in the step is another one.
    pub fn difference(&self, p: &Placed, q: &Placed) -> [f64; 2] {
        let moved = displacement(&p.relative, &q.relative, &self.center, self.radius);
        let gained = (p.gained[0] - q.gained[0]).norm() + (p.gained[1] - q.gained[1]).norm();
        [moved, (p.moves - q.moves).norm() + gained + (p.turns - q.turns).norm() * self.radius]
    }

    /// Returns the largest distance by which a point of the smaller body moves in the step, metres.
    pub fn reach(&self, placed: &Placed) -> f64 {
        let turns = placed.turns.norm();
        let [own, other] = placed.gained;
        let ways = [placed.moves, placed.moves - own, placed.moves + other, placed.moves - own + other];
        ways.iter().fold(0.0, |most, way| way.norm().max(most)) + if turns > 0.0 { turns * self.radius } else { 0.0 }
    }
}

/// Where the smaller body is, and how its middle moves and how it turns in the step, in the frame of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    relative: Pose,
    moves: Vec3,
    turns: Vec3,
    /// Parts of the motion that a third body may withstand: of the smaller body, and of the other.
    gained: [Vec3; 2],
}
