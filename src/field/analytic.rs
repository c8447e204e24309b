//! Closed-form fields: half-space, sphere, cuboid. Exact Euclidean distances, inside too.
//!
//! Origins are those of Bullet's shapes: centred on the body's origin. Parameters are rounded to f32 once, at construction; the
//! rounded shape is the shape.

use serde::{Deserialize, Serialize};

use super::{Modulus, SignedDistance};
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::{Error, Result};

/// Upper bound, relative to the size of the input numbers, on the rounding of any distance here and of the
/// subtraction of a radius: 13 units in the last place, where the longest chain of operations makes seven.
pub(super) const SLACK: f32 = 8.0e-7;

/// Returns `distance − r`, rounded so that it bounds every computed distance in the ball (c, r) of a 1-Lipschitz
/// function.
#[inline(always)]
pub(super) fn certified(distance: f32, c: [f32; 3], r: f32, size: f32) -> f32 {
    distance - r - SLACK * (((c[0].abs() + c[1].abs()) + c[2].abs()) + r.abs() + size)
}

pub(super) fn length(argument: &str, value: f64) -> Result<f32> {
    if limits::is_length(value) {
        Ok(value as f32)
    } else {
        let expected = "a positive, finite length of 1e-18 to 1e18 m";
        Err(Error::argument(argument, limits::Shown(value), expected))
    }
}

/// Returns `(length, v / length)`, with `fallback` as the direction where the length is 0.
#[inline(always)]
pub(super) fn normalized(v: [f32; 3], fallback: [f32; 3]) -> (f32, [f32; 3]) {
    let len = ((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]).sqrt();
    if len > 0.0 {
        let inv = 1.0 / len;
        (len, [v[0] * inv, v[1] * inv, v[2] * inv])
    } else {
        (len, fallback)
    }
}

fn check_offset(offset: f64) -> Result<()> {
    if limits::is_coordinate(offset) {
        return Ok(());
    }
    Err(Error::argument("offset", limits::Shown(offset), "a finite length of at most 1e18 m"))
}

/// The half-space {x : n·x ≤ offset}: solid below a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HalfSpace {
    normal: Vec3,
    offset: f64,
    n: [f32; 3],
}

impl HalfSpace {
    /// Returns a half-space. `normal` is outward, of any length but 0 (it is normalised, and `offset` is not scaled);
    /// `offset` in metres.
    pub fn new(normal: Vec3, offset: f64) -> Result<Self> {
        let norm = normal.norm();
        if !(norm.is_finite() && norm > 1e-100) {
            let value = format!("({}, {}, {})", normal.x, normal.y, normal.z);
            return Err(Error::argument("normal", value, "a finite vector that is not 0"));
        }
        check_offset(offset)?;
        let normal = normal / norm;
        Ok(Self { normal, offset, n: [normal.x as f32, normal.y as f32, normal.z as f32] })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let offset = self.offset * factor;
        check_offset(offset)?;
        Ok(Self { offset, ..*self })
    }

    /// Returns the outward unit normal, body frame.
    pub fn normal(&self) -> Vec3 {
        self.normal
    }

    /// Returns n·x on the plane, metres.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl SignedDistance for HalfSpace {
    /// Returns the projection of `near` onto the plane, so that distances near it are as precise as those near the
    /// body's origin.
    fn local_origin(&self, near: &Vec3) -> Vec3 {
        near - self.normal * (self.normal.dot(near) - self.offset)
    }

    /// Infinite, except for the side of an axis-aligned plane.
    fn bounds(&self) -> Aabb {
        let mut b = Aabb { min: Vec3::repeat(f64::NEG_INFINITY), max: Vec3::repeat(f64::INFINITY) };
        for i in 0..3 {
            if self.normal[i] == 1.0 {
                b.max[i] = self.offset;
            } else if self.normal[i] == -1.0 {
                b.min[i] = -self.offset;
            }
        }
        b
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        (self.n[0] * p[0] + self.n[1] * p[1]) + self.n[2] * p[2]
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        (self.distance(p), self.n)
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, 0.0)
    }

    /// The gradient is the same everywhere.
    #[inline(always)]
    fn farthest_against(&self, m: [f32; 3]) -> f32 {
        -self.distance(m)
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, 0.0, reach))
    }

    fn error_bound(&self) -> f64 {
        // Rounding of the normal over a reach of a metre from the local origin.
        f64::from(f32::EPSILON)
    }
}

/// Ball around the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sphere {
    radius: f32,
}

impl Sphere {
    /// Returns a sphere; `radius` in metres.
    pub fn new(radius: f64) -> Result<Self> {
        Ok(Self { radius: length("radius", radius)? })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        Self::new(self.radius() * factor)
    }

    pub fn radius(&self) -> f64 {
        f64::from(self.radius)
    }
}

impl SignedDistance for Sphere {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        let r = self.radius();
        Aabb { min: Vec3::repeat(-r), max: Vec3::repeat(r) }
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        ((p[0] * p[0] + p[1] * p[1]) + p[2] * p[2]).sqrt() - self.radius
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (len, g) = normalized(p, [0.0, 0.0, 1.0]);
        (len - self.radius, g)
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.radius)
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.radius, reach))
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.radius * 4.0 * f32::EPSILON)
    }
}

/// Axis-aligned box around the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuboid {
    half: [f32; 3],
}

impl Cuboid {
    /// Returns a cuboid from half its edge lengths, metres.
    pub fn new(half_extents: [f64; 3]) -> Result<Self> {
        let [x, y, z] = half_extents;
        Ok(Self { half: [length("half_extents.x", x)?, length("half_extents.y", y)?, length("half_extents.z", z)?] })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        Self::new(self.half_extents().map(|x| x * factor))
    }

    pub fn half_extents(&self) -> [f64; 3] {
        self.half.map(f64::from)
    }

    #[inline(always)]
    fn excess(&self, p: [f32; 3]) -> [f32; 3] {
        [p[0].abs() - self.half[0], p[1].abs() - self.half[1], p[2].abs() - self.half[2]]
    }

    fn size(&self) -> f32 {
        (self.half[0] + self.half[1]) + self.half[2]
    }
}

impl SignedDistance for Cuboid {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        let h = Vec3::from(self.half_extents());
        Aabb { min: -h, max: h }
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        let q = self.excess(p);
        let o = q.map(|x| x.max(0.0));
        ((o[0] * o[0] + o[1] * o[1]) + o[2] * o[2]).sqrt() + q[0].max(q[1]).max(q[2]).min(0.0)
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let q = self.excess(p);
        let deepest = q[0].max(q[1]).max(q[2]);
        if deepest > 0.0 {
            let (len, g) = normalized(q.map(|x| x.max(0.0)), [0.0; 3]);
            if len > 0.0 {
                return (len, [g[0].copysign(p[0]), g[1].copysign(p[1]), g[2].copysign(p[2])]);
            }
        }
        let axis = if q[0] >= q[1] && q[0] >= q[2] {
            0
        } else if q[1] >= q[2] {
            1
        } else {
            2
        };
        let mut g = [0.0; 3];
        g[axis] = 1f32.copysign(p[axis]);
        (self.distance(p), g)
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.size())
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.size(), reach))
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.size() * 4.0 * f32::EPSILON)
    }
}
