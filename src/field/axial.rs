//! Closed-form fields of shapes around an axis: capsule, cylinder, cone, torus. Exact Euclidean distances, inside too.
//!
//! Axes and origins are those of Bullet's shapes: centred on the body's origin, the cone at half its height. Parameters
//! are rounded to f32 once, at construction; the rounded shape is the shape.

use serde::{Deserialize, Serialize};

use super::analytic::{certified, length, normalized, SLACK};
use super::{Modulus, SignedDistance};
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::{Error, Result};

/// An axis and the two that follow it cyclically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Axes {
    along: u8,
}

impl Axes {
    fn new(axis: usize) -> Result<Self> {
        if axis < 3 {
            Ok(Self { along: axis as u8 })
        } else {
            Err(Error::argument("axis", axis, "0 (x), 1 (y) or 2 (z)"))
        }
    }

    /// Returns (along, across, across).
    #[inline(always)]
    fn split(self, p: [f32; 3]) -> (f32, f32, f32) {
        match self.along {
            0 => (p[0], p[1], p[2]),
            1 => (p[1], p[2], p[0]),
            _ => (p[2], p[0], p[1]),
        }
    }

    #[inline(always)]
    fn join(self, along: f32, u: f32, v: f32) -> [f32; 3] {
        match self.along {
            0 => [along, u, v],
            1 => [v, along, u],
            _ => [u, v, along],
        }
    }

    fn bounds(self, along: f32, across: f32) -> Aabb {
        let half = Vec3::from(self.join(along, across, across).map(f64::from));
        Aabb { min: -half, max: half }
    }
}

/// Common data of a capsule and a cylinder: a radius around an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Rod {
    axes: Axes,
    radius: f32,
    half_height: f32,
}

impl Rod {
    fn new(axis: usize, radius: f64, half_height: f64) -> Result<Self> {
        Ok(Self {
            axes: Axes::new(axis)?,
            radius: length("radius", radius)?,
            half_height: length("half_height", half_height)?,
        })
    }

    fn scaled(&self, factor: f64) -> Result<Self> {
        let [radius, half_height] = [self.radius, self.half_height].map(|x| f64::from(x) * factor);
        Self::new(self.axes.along.into(), radius, half_height)
    }

    fn size(&self) -> f32 {
        self.radius + self.half_height
    }

    fn error_bound(&self) -> f64 {
        f64::from(self.size() * 4.0 * f32::EPSILON)
    }
}

/// All points within `radius` of a segment along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capsule(Rod);

impl Capsule {
    /// Returns a capsule. `axis` is 0, 1 or 2; `half_height` is half the length of the segment between the centres of
    /// the caps; metres.
    pub fn new(axis: usize, radius: f64, half_height: f64) -> Result<Self> {
        Ok(Self(Rod::new(axis, radius, half_height)?))
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        Ok(Self(self.0.scaled(factor)?))
    }

    #[inline(always)]
    fn off_segment(&self, p: [f32; 3]) -> [f32; 3] {
        let (a, u, v) = self.0.axes.split(p);
        [a - a.max(-self.0.half_height).min(self.0.half_height), u, v]
    }
}

impl SignedDistance for Capsule {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        self.0.axes.bounds(self.0.size(), self.0.radius).inflated(self.error_bound())
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        let q = self.off_segment(p);
        ((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]).sqrt() - self.0.radius
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (len, g) = normalized(self.off_segment(p), [0.0, 1.0, 0.0]);
        (len - self.0.radius, self.0.axes.join(g[0], g[1], g[2]))
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.0.size())
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.0.size(), reach))
    }

    fn error_bound(&self) -> f64 {
        self.0.error_bound()
    }
}

/// Solid cylinder along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cylinder(Rod);

impl Cylinder {
    /// Returns a cylinder. `axis` is 0, 1 or 2; metres.
    pub fn new(axis: usize, radius: f64, half_height: f64) -> Result<Self> {
        Ok(Self(Rod::new(axis, radius, half_height)?))
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        Ok(Self(self.0.scaled(factor)?))
    }
}

impl SignedDistance for Cylinder {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        self.0.axes.bounds(self.0.half_height, self.0.radius).inflated(self.error_bound())
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        let (a, u, v) = self.0.axes.split(p);
        let side = (u * u + v * v).sqrt() - self.0.radius;
        let cap = a.abs() - self.0.half_height;
        let (s, c) = (side.max(0.0), cap.max(0.0));
        (s * s + c * c).sqrt() + side.max(cap).min(0.0)
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (a, u, v) = self.0.axes.split(p);
        let (rho, radial) = normalized([u, v, 0.0], [1.0, 0.0, 0.0]);
        let side = rho - self.0.radius;
        let cap = a.abs() - self.0.half_height;
        let (s, c) = (side.max(0.0), cap.max(0.0));
        let (len, mut g) = normalized([s, c, 0.0], [0.0; 3]);
        if len == 0.0 {
            g = if side >= cap { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        }
        (len + side.max(cap).min(0.0), self.0.axes.join(g[1].copysign(a), g[0] * radial[0], g[0] * radial[1]))
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.0.size())
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.0.size(), reach))
    }

    fn error_bound(&self) -> f64 {
        self.0.error_bound()
    }
}

/// Solid cone along an axis: apex at +height/2, base at −height/2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cone {
    axes: Axes,
    radius: f32,
    half_height: f32,
    /// Outward normal of the flank in the half-plane (across, along).
    normal: [f32; 2],
    /// Length of the flank.
    slant: f32,
}

impl Cone {
    /// Returns a cone. `axis` is 0, 1 or 2; `radius` of the base and whole `height`, metres.
    pub fn new(axis: usize, radius: f64, height: f64) -> Result<Self> {
        let (r, h) = (f64::from(length("radius", radius)?), f64::from(length("height", height)?));
        let slant = (r * r + h * h).sqrt();
        Ok(Self {
            axes: Axes::new(axis)?,
            radius: r as f32,
            half_height: (0.5 * h) as f32,
            normal: [(h / slant) as f32, (r / slant) as f32],
            slant: slant as f32,
        })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let [radius, height] = [self.radius, 2.0 * self.half_height].map(|x| f64::from(x) * factor);
        Self::new(self.axes.along.into(), radius, height)
    }

    /// Returns φ and its gradient in the half-plane (across ρ ≥ 0, along a).
    #[inline(always)]
    fn planar(&self, rho: f32, a: f32) -> (f32, [f32; 2]) {
        let [nr, na] = self.normal;
        let down = a - self.half_height;
        let base = -self.half_height - a;
        let flank = nr * rho + na * down;
        // Coordinate along the flank from the apex; the excess beyond [0, slant] is measured from the ends.
        let s = na * rho - nr * down;
        let over = s - s.max(0.0).min(self.slant);
        let rim = (rho - self.radius).max(0.0);
        let to_flank = flank * flank + over * over;
        let to_base = rim * rim + base * base;
        if flank <= 0.0 && base <= 0.0 {
            if flank >= base {
                (flank, [nr, na])
            } else {
                (base, [0.0, -1.0])
            }
        } else if to_flank <= to_base {
            let d = to_flank.sqrt();
            if d > 0.0 {
                let (f, o) = (flank / d, over / d);
                (d, [f * nr + o * na, f * na - o * nr])
            } else {
                (d, [nr, na])
            }
        } else {
            let d = to_base.sqrt();
            if d > 0.0 {
                (d, [rim / d, -base / d])
            } else {
                (d, [0.0, -1.0])
            }
        }
    }
}

impl SignedDistance for Cone {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        self.axes.bounds(self.half_height, self.radius).inflated(self.error_bound())
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        let (a, u, v) = self.axes.split(p);
        self.planar((u * u + v * v).sqrt(), a).0
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (a, u, v) = self.axes.split(p);
        let (rho, radial) = normalized([u, v, 0.0], [1.0, 0.0, 0.0]);
        let (d, g) = self.planar(rho, a);
        (d, self.axes.join(g[1], g[0] * radial[0], g[0] * radial[1]))
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        certified(self.distance(c), c, r, self.radius + self.half_height)
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_distance(SLACK, self.radius + self.half_height, reach))
    }

    fn error_bound(&self) -> f64 {
        f64::from((self.radius + self.half_height) * 4.0 * f32::EPSILON)
    }
}

/// All points within `tube_radius` of a circle of `ring_radius` around an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Torus {
    axes: Axes,
    ring_radius: f32,
    tube_radius: f32,
}

impl Torus {
    /// `axis` 0, 1 or 2; `ring_radius` of the circle inside the tube, larger than `tube_radius`, metres.
    pub fn new(axis: usize, ring_radius: f64, tube_radius: f64) -> Result<Self> {
        let (axes, ring, tube) =
            (Axes::new(axis)?, length("ring_radius", ring_radius)?, length("tube_radius", tube_radius)?);
        if tube >= ring {
            let expected = format!("a length of less than ring_radius, {ring_radius:e} m");
            return Err(Error::argument("tube_radius", tube_radius, expected));
        }
        Ok(Self { axes, ring_radius: ring, tube_radius: tube })
    }

    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let [ring, tube] = [self.ring_radius, self.tube_radius].map(|x| f64::from(x) * factor);
        Self::new(self.axes.along.into(), ring, tube)
    }

    fn size(&self) -> f32 {
        self.ring_radius + self.tube_radius
    }
}

impl SignedDistance for Torus {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        Vec3::zeros()
    }

    fn bounds(&self) -> Aabb {
        self.axes.bounds(self.tube_radius, self.size()).inflated(self.error_bound())
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        let (a, u, v) = self.axes.split(p);
        let from_ring = (u * u + v * v).sqrt() - self.ring_radius;
        (from_ring * from_ring + a * a).sqrt() - self.tube_radius
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let (a, u, v) = self.axes.split(p);
        // On the axis any direction across it, on the circle any direction.
        let (rho, radial) = normalized([u, v, 0.0], [1.0, 0.0, 0.0]);
        let (from_circle, g) = normalized([rho - self.ring_radius, a, 0.0], [1.0, 0.0, 0.0]);
        (from_circle - self.tube_radius, self.axes.join(g[1], g[0] * radial[0], g[0] * radial[1]))
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
