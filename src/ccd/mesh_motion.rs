//! Rigid motions of meshes over t from 0 to 1, and their enclosures over intervals of time.
//!
//! A point x of the body, relative to a reference point of it, is at time t at
//!
//! p(t) = c + L t + sin(ωt) W + 2 sin²(ωt/2) W' + (K + cos(ωt) E + sin(ωt) F) x,
//!
//! where with the unit axis u and the rotation R₀ at the start K = u uᵀ R₀, E = R₀ − K and F = u* R₀ (Redon, Kheddar &
//! Coquillart 2002, "arbitrary in-between motions"). With W = W' = 0 the reference point moves straight, as in the
//! paper. On a screw it also moves on an arc: W = v/ω, W' = u × v/ω for its velocity v across the axis at the start.
//! The numbers c … F, in f64, define the motion: all enclosures are of this formula, and rounding of the numbers only
//! changes the motion, by rounding.

use voxshell_base::math::{from_scaled_axis, scaled_axis, Interval, IntervalMat, IntervalVec, Mat3, Pose, Vec3};
use voxshell_base::memory::filled;

/// Motion of a rigid body between two poses, which it turns by at most half a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RigidPath {
    /// The library's: a constant twist, [`Moving::pose`](super::impact::Moving::pose).
    #[default]
    Screw,
    /// The paper's: the origin of the body moves straight at a constant velocity, and the body turns about it at a
    /// constant rate.
    Straight,
}

/// A motion by the formula of this file, in a frame with the axes of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidMotion {
    /// Reference point of the body, body frame.
    pub center: Vec3,
    start: Vec3,
    linear: Vec3,
    arc: Vec3,
    arc_across: Vec3,
    axis: Vec3,
    /// ω, radians.
    rate: f64,
    fixed: Mat3,
    cosine: Mat3,
    sine: Mat3,
}

/// Rotations by less than this angle count as none, radians.
const LEAST_TURN: f64 = 1e-30;

impl RigidMotion {
    /// Returns the motion from pose to pose. `origin` is the origin of its frame, in the world; `center` is a point of
    /// the body near which precision is needed.
    pub fn new(from: &Pose, to: &Pose, path: RigidPath, origin: &Vec3, center: &Vec3) -> Self {
        let turn = scaled_axis(&(to.rotation * from.rotation.inverse()));
        let angle = turn.norm();
        let (rate, axis) = if angle > LEAST_TURN { (angle, turn / angle) } else { (0.0, Vec3::zeros()) };
        let rotation: Mat3 = from.rotation.to_rotation_matrix().into_inner();
        let fixed = if rate > 0.0 { axis * (axis.transpose() * rotation) } else { rotation };
        let (cosine, sine) = if rate > 0.0 {
            (rotation - fixed, axis.cross_matrix() * rotation)
        } else {
            (Mat3::zeros(), Mat3::zeros())
        };
        let center = if path == RigidPath::Straight { Vec3::zeros() } else { *center };
        let start = (from.translation.vector - origin) + rotation * center;
        let end = (to.translation.vector - origin) + to.rotation * center;
        let displacement = end - start;
        let (mut linear, mut arc) = (displacement, Vec3::zeros());
        if path == RigidPath::Screw && rate > 0.0 {
            linear = axis * axis.dot(&displacement);
            let half = 0.5 * rate;
            // The chord of the arc, turned back to its tangent at the start, over 2 sin(ω/2).
            arc = from_scaled_axis(axis * -half) * (displacement - linear) / (2.0 * libm::sin(half));
        }
        Self { center, start, linear, arc, arc_across: axis.cross(&arc), axis, rate, fixed, cosine, sine }
    }
}

/// Enclosures of one motion over an interval of time, m ± h.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Rotation and reference point at the middle m: exact but for rounding.
    pub rotation: IntervalMat,
    pub place: IntervalVec,
    /// Their derivatives over the whole interval.
    pub rotation_rate: IntervalMat,
    pub place_rate: IntervalVec,
    /// Rounded values at the middle: rotation, place, velocity of the reference point, rotation vector.
    pub r: Mat3,
    pub c: Vec3,
    pub v: Vec3,
    pub omega: Vec3,
    /// ω² and the length of the arc's vector, for the bound of accelerations.
    rate_squared: f64,
    arc: f64,
    pub center: Vec3,
}

impl Placed {
    pub fn new(motion: &RigidMotion, m: f64, h: f64) -> Self {
        let RigidMotion { start, linear, arc, arc_across, rate, fixed, cosine, sine, .. } = motion;
        let one = Interval::point(1.0);
        let rate_i = Interval::point(*rate);
        let middle = rate_i * m;
        let (sin, cos) = (middle.sin(), middle.cos());
        let versine = (middle * 0.5).sin().square() * 2.0;
        let rotation = IntervalMat::combination(&[(one, fixed), (cos, cosine), (sin, sine)]);
        let of = |factor: Interval, v: &Vec3| IntervalVec::point(v).scaled(factor);
        let place = IntervalVec::point(start) + of(Interval::point(m), linear) + of(sin, arc) + of(versine, arc_across);
        let whole = rate_i * Interval::new(m - h, m + h);
        let (rate_sin, rate_cos) = (rate_i * whole.sin(), rate_i * whole.cos());
        let rotation_rate = IntervalMat::combination(&[(-rate_sin, cosine), (rate_cos, sine)]);
        let place_rate = IntervalVec::point(linear) + of(rate_cos, arc) + of(rate_sin, arc_across);
        let (sin, cos) = (sin.middle(), cos.middle());
        let (r, c) = (fixed + cosine * cos + sine * sin, place.middle());
        let v = linear + (arc * cos + arc_across * sin) * *rate;
        let omega = motion.axis * *rate;
        let (rate_squared, arc) = (rate * rate, arc.norm());
        Self { rotation, place, rotation_rate, place_rate, r, c, v, omega, rate_squared, arc, center: motion.center }
    }

    /// Returns the place of a point of the body at the middle, rounded.
    #[inline(always)]
    pub fn point(&self, x: &Vec3) -> Vec3 {
        self.r * (x - self.center) + self.c
    }

    /// Returns the velocity at the middle of a body's point that is at `p`.
    #[inline(always)]
    pub fn velocity(&self, p: &Vec3) -> Vec3 {
        self.v + self.omega.cross(&(p - self.c))
    }

    /// Returns an upper bound of the acceleration of a point at this distance from the reference point.
    #[inline(always)]
    pub fn acceleration(&self, distance: f64) -> f64 {
        self.rate_squared * (self.arc + distance) * (1.0 + 1e-12)
    }

    /// Returns the box of a point at the middle.
    #[inline(always)]
    pub fn enclosure(&self, x: &Vec3) -> IntervalVec {
        self.rotation.times(&(x - self.center)) + self.place
    }

    /// Returns the box of a point's velocities over the interval.
    #[inline(always)]
    pub fn velocities(&self, x: &Vec3) -> IntervalVec {
        self.rotation_rate.times(&(x - self.center)) + self.place_rate
    }
}

/// The motions of two bodies over a dyadic interval of time: m ± h = [k, k + 1] 2^−depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    pub a: Placed,
    pub b: Placed,
    pub half: f64,
    /// Map from A's frame to B's at the middle, rounded: x_B = `rotation` (x_A − A's centre) + `shift`.
    pub rotation: Mat3,
    pub shift: Vec3,
    /// Bound of the rounding of positions in either frame, per metre of distance from the centres.
    pub slack: f64,
}

/// A dyadic interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dyadic {
    pub depth: u32,
    pub index: u64,
}

/// Number of halvings at which an interval is a point.
pub(super) const MAX_HALVINGS: u32 = 48;

impl Dyadic {
    pub const WHOLE: Self = Self { depth: 0, index: 0 };

    pub fn width(self) -> f64 {
        f64::powi(0.5, self.depth as i32)
    }

    pub fn from(self) -> f64 {
        self.index as f64 * self.width()
    }

    pub fn halves(self) -> [Self; 2] {
        let half = |i| Self { depth: self.depth + 1, index: 2 * self.index + i };
        [half(0), half(1)]
    }

    /// Returns the largest dyadic interval within `whole` that begins where this one ends; `None` at its end.
    pub fn next(self, whole: Self) -> Option<Self> {
        let mut next = Self { depth: self.depth, index: self.index + 1 };
        while next.depth > whole.depth && next.index % 2 == 0 {
            next = Self { depth: next.depth - 1, index: next.index / 2 };
        }
        (next.depth > whole.depth).then_some(next)
    }
}

impl Frames {
    pub fn new(motions: &[RigidMotion; 2], interval: Dyadic) -> Self {
        let half = 0.5 * interval.width();
        Self::around(motions, interval.from() + half, half)
    }

    /// Returns the frames at one time.
    pub fn at(motions: &[RigidMotion; 2], time: f64) -> Self {
        Self::around(motions, time, 0.0)
    }

    fn around(motions: &[RigidMotion; 2], m: f64, half: f64) -> Self {
        let (a, b) = (Placed::new(&motions[0], m, half), Placed::new(&motions[1], m, half));
        let rotation = b.r.transpose() * a.r;
        let shift = b.r.transpose() * (a.c - b.c) + b.center;
        let slack = 1e-13 * (a.c.norm() + b.c.norm() + b.center.norm());
        Self { a, b, half, rotation, shift, slack }
    }
}

/// The frames used last, by their intervals. A query comes back to the same intervals for every pair of features.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameCache {
    entries: Vec<(Option<Dyadic>, Frames)>,
}

const CACHED: usize = 128;

impl FrameCache {
    /// Forgets the frames of the last query; allocates at the first use.
    pub fn begin(&mut self, motions: &[RigidMotion; 2]) {
        if self.entries.is_empty() {
            self.entries = filled((None, Frames::at(motions, 0.0)), CACHED);
        }
        self.entries.iter_mut().for_each(|(key, _)| *key = None);
    }

    pub fn get(&mut self, motions: &[RigidMotion; 2], interval: Dyadic) -> &Frames {
        let mixed = (interval.index ^ (u64::from(interval.depth) << 56)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (key, frames) = &mut self.entries[(mixed >> 57) as usize % CACHED];
        if *key != Some(interval) {
            *frames = Frames::new(motions, interval);
            *key = Some(interval);
        }
        frames
    }
}
