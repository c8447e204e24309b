//! The convex hull of balls: shapes with rounded corners, and Bullet's multi-sphere.
//!
//! A convex body is the intersection of its supporting half-spaces, so φ(x) = max over unit u of u·x − h(u), where
//! h(u) = max over the balls of u·c + r. That holds inside and outside. At the maximum, one, two or three balls touch
//! the plane. With one, u points from its centre to x; with two, u is the direction in which their common tangent
//! cone faces x; with three, the plane is fixed and does not depend on x. Any u gives a lower bound of φ, so the
//! largest of the few candidates is φ.

use serde::{Deserialize, Serialize};

use super::analytic::{certified, SLACK};
use super::{Modulus, SignedDistance};
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};
use voxshell_mesh::convex_hull;

/// Largest number of balls: the time of a distance grows with their number.
pub const MAX_BALLS: usize = 64;
/// A plane supports the hull when no ball is farther out than this, relative to the size.
const TOLERANCE: f64 = 1e-10;

/// One ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// Centre, metres, body frame.
    pub center: Vec3,
    /// Radius, metres; 0 for a point.
    pub radius: f64,
}

/// A plane that touches the hull: u·x ≤ h for all of its points, local frame.
#[derive(Clone, Copy, Debug)]
struct Plane {
    u: Vec3,
    h: f64,
}

/// Two balls that a plane can touch at once, local frame.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ball: usize,
    /// Unit, from the other ball's centre to this one's.
    axis: Vec3,
    /// u·axis of every plane that touches both, and √(1 − cosine²).
    cosine: f64,
    sine: f64,
}

impl Pair {
    /// Returns `None` when no plane touches both, because one is inside the other.
    fn new(balls: &[Ball], i: usize, j: usize) -> Option<Self> {
        let apart = balls[i].center - balls[j].center;
        let length = apart.norm();
        let difference = balls[j].radius - balls[i].radius;
        if difference.abs() >= length {
            return None;
        }
        let cosine = difference / length;
        // (1 − cosine)(1 + cosine) without the cancellation of 1 − cosine².
        let sine = ((length - difference) * (length + difference)).sqrt() / length;
        Some(Self { ball: i, axis: apart / length, cosine, sine })
    }

    /// Returns the normal of a plane that touches both, turned towards `to` as far as possible.
    fn normal(&self, to: &Vec3) -> Vec3 {
        let across = to - self.axis * self.axis.dot(to);
        // For a point almost on the axis the remainder is rounding, and not perpendicular: project again, or take any
        // direction.
        let across = across - self.axis * self.axis.dot(&across);
        let across = match across.norm_squared() > 1e-26 * to.norm_squared() {
            true => across.try_normalize(1e-300),
            false => None,
        };
        self.axis * self.cosine + across.unwrap_or_else(|| any_normal(&self.axis)) * self.sine
    }
}

fn any_normal(axis: &Vec3) -> Vec3 {
    let mut least = Vec3::zeros();
    least[axis.iamin()] = 1.0;
    axis.cross(&least).normalize()
}

/// Convex hull of balls.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Ball>", into = "Vec<Ball>")]
pub struct SphereHull {
    /// Balls that reach the surface, in the order in which they were given; local frame.
    balls: Vec<Ball>,
    pairs: Vec<Pair>,
    planes: Vec<Plane>,
    bounds: Aabb,
    origin: Vec3,
    /// Largest |x| + |y| + |z| of a point of the hull, local frame.
    size: f32,
}

impl SphereHull {
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let times = |b: &Ball| Ball { center: b.center * factor, radius: b.radius * factor };
        Self::new(&self.balls().iter().map(times).collect_guarded())
    }

    /// Returns the hull of 1 to [`MAX_BALLS`] balls, body frame; balls inside the hull of the others are dropped.
    /// Balls of radius 0 are points. Fails without a volume: when all are points of one plane.
    pub fn new(balls: &[Ball]) -> Result<Self> {
        check(balls)?;
        let mut bounds = Aabb::empty();
        for ball in balls {
            bounds = bounds.merged(&Aabb { min: ball.center, max: ball.center }.inflated(ball.radius));
        }
        let origin = bounds.center();
        let extents = bounds.extents();
        if extents.max() < limits::MIN_LENGTH {
            let value = format!("of balls in {} m", limits::Shown(extents.max()));
            return Err(Error::argument("radii", value, "balls that extend over at least 1e-18 m"));
        }
        let slack = TOLERANCE * extents.max();
        let mut local: Vec<Ball> = Vec::new();
        for ball in balls {
            let ball = Ball { center: ball.center - origin, radius: ball.radius };
            let holds = |a: &Ball, b: &Ball| (a.center - b.center).norm() + b.radius <= a.radius;
            if !local.iter().any(|other| holds(other, &ball)) {
                local.retain(|other| !holds(&ball, other));
                local.push_guarded(ball);
            }
        }
        let mut hull = Self {
            balls: local,
            pairs: Vec::new(),
            planes: Vec::new(),
            bounds,
            origin,
            size: (0.5 * extents.sum()) as f32,
        };
        hull.find_planes_and_pairs(slack);
        Ok(hull)
    }

    /// Returns the balls that reach the surface, body frame.
    pub fn balls(&self) -> Vec<Ball> {
        self.balls.iter().map(|b| Ball { center: b.center + self.origin, radius: b.radius }).collect_guarded()
    }

    /// Returns h(u), the support function.
    fn support(&self, u: &Vec3) -> f64 {
        self.balls.iter().map(|b| u.dot(&b.center) + b.radius).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Finds all planes that touch three balls and all pairs that some plane touches, and drops the balls that no
    /// plane touches.
    fn find_planes_and_pairs(&mut self, slack: f64) {
        let n = self.balls.len();
        let mut touches = filled(false, n * n);
        for i in 0..n {
            for j in i + 1..n {
                // A pair that planes touch all around has no third ball: any of these planes decides.
                if let Some(pair) = Pair::new(&self.balls, i, j) {
                    let u = pair.normal(&any_normal(&pair.axis));
                    touches[i * n + j] |=
                        self.support(&u) <= u.dot(&self.balls[i].center) + self.balls[i].radius + slack;
                }
                for k in j + 1..n {
                    for u in self.normals_of_three([i, j, k]).into_iter().flatten() {
                        let h = self.support(&u);
                        if h > u.dot(&self.balls[i].center) + self.balls[i].radius + slack {
                            continue;
                        }
                        for (a, b) in [(i, j), (i, k), (j, k)] {
                            touches[a * n + b] = true;
                        }
                        // Four balls on a plane give it four times.
                        if !self.planes.iter().any(|p| (p.u - u).norm_squared() < TOLERANCE * TOLERANCE) {
                            self.planes.push_guarded(Plane { u, h });
                        }
                    }
                }
            }
        }
        let is_needed = |i: usize| n == 1 || (0..n).any(|j| touches[i * n + j] || touches[j * n + i]);
        let mut place = filled(usize::MAX, n);
        let mut kept = Vec::new();
        for i in (0..n).filter(|&i| is_needed(i)) {
            place[i] = kept.len();
            kept.push_guarded(self.balls[i]);
        }
        for i in 0..n {
            for j in (i + 1..n).filter(|j| touches[i * n + j]) {
                self.pairs.extend_guarded(Pair::new(&self.balls, i, j).map(|pair| Pair { ball: place[i], ..pair }));
            }
        }
        self.balls = kept;
    }

    /// Returns the normals of the planes that touch three balls from one side; none when a ball is too small to reach
    /// a plane that touches the other two.
    fn normals_of_three(&self, [i, j, k]: [usize; 3]) -> [Option<Vec3>; 2] {
        let [p, q, r] = [self.balls[i], self.balls[j], self.balls[k]];
        let (a, b) = (q.center - p.center, r.center - p.center);
        // u·a and u·b are known; the rest of u is along the normal of the centres' plane.
        let (ua, ub) = (p.radius - q.radius, p.radius - r.radius);
        let n = a.cross(&b);
        let squared = n.norm_squared();
        if squared <= TOLERANCE * TOLERANCE * a.norm_squared() * b.norm_squared() {
            return [None, None];
        }
        let flat = (b.cross(&n) * ua + n.cross(&a) * ub) / squared;
        let rest = 1.0 - flat.norm_squared();
        if rest < 0.0 {
            return [None, None];
        }
        let up = n * (rest / squared).sqrt();
        [Some((flat + up).normalize()), Some((flat - up).normalize())]
    }

    /// Returns φ at a point of the local frame, and its gradient.
    fn solve(&self, x: &Vec3) -> (f64, Vec3) {
        let (mut best, mut normal) = (f64::NEG_INFINITY, Vec3::x());
        for plane in &self.planes {
            let value = plane.u.dot(x) - plane.h;
            if value > best {
                (best, normal) = (value, plane.u);
            }
        }
        // `own` is the value for the balls from which u was computed; the others can only lower it.
        let mut offer = |u: Vec3, own: f64| {
            if own <= best {
                return;
            }
            let mut value = own;
            for ball in &self.balls {
                value = value.min(u.dot(&(x - ball.center)) - ball.radius);
                if value <= best {
                    return;
                }
            }
            (best, normal) = (value, u);
        };
        for pair in &self.pairs {
            let ball = &self.balls[pair.ball];
            let to = x - ball.center;
            let u = pair.normal(&to);
            offer(u, u.dot(&to) - ball.radius);
        }
        for ball in &self.balls {
            let to = x - ball.center;
            let distance = to.norm();
            let u = if distance > 0.0 { to / distance } else { Vec3::x() };
            offer(u, distance - ball.radius);
        }
        (best, normal)
    }
}

fn check(balls: &[Ball]) -> Result<()> {
    if !(1..=MAX_BALLS).contains(&balls.len()) {
        return Err(Error::argument("sphere_count", balls.len(), format!("1 to {MAX_BALLS}")));
    }
    for (i, ball) in balls.iter().enumerate() {
        limits::check_point(&format!("centers[{i}]"), &ball.center)?;
        if !(ball.radius >= 0.0 && limits::is_coordinate(ball.radius)) {
            return Err(Error::argument(
                format!("radii[{i}]"),
                limits::Shown(ball.radius),
                "0 or a positive length of at most 1e18 m",
            ));
        }
    }
    let points: Vec<[f64; 3]> = balls.iter().map(|b| b.center.into()).collect_guarded();
    if balls.iter().all(|b| b.radius == 0.0) && convex_hull(&points).is_err() {
        return Err(Error::argument("radii", "all 0, and the centers in one plane", "balls whose hull has a volume"));
    }
    Ok(())
}

impl TryFrom<Vec<Ball>> for SphereHull {
    type Error = Error;
    fn try_from(balls: Vec<Ball>) -> Result<Self> {
        Self::new(&balls)
    }
}

impl From<SphereHull> for Vec<Ball> {
    fn from(hull: SphereHull) -> Self {
        hull.balls()
    }
}

impl PartialEq for SphereHull {
    fn eq(&self, other: &Self) -> bool {
        self.balls == other.balls && self.origin == other.origin
    }
}

impl SignedDistance for SphereHull {
    /// Returns the centre of the hull's box.
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.origin
    }

    fn bounds(&self) -> Aabb {
        self.bounds.inflated(self.error_bound())
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        self.solve(&Vec3::from(p.map(f64::from))).0 as f32
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (distance, normal) = self.solve(&Vec3::from(p.map(f64::from)));
        (distance as f32, [normal.x as f32, normal.y as f32, normal.z as f32])
    }

    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.size)
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.size, reach))
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.size * f32::EPSILON)
    }
}
