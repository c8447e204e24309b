//! A field on a plane: blue inside, orange outside, lines at equal distances, and the zero level, which is the surface.

use rayon::prelude::*;

use super::image::Image;
use voxshell::field::SignedDistance;
use voxshell::math::{Aabb, Vec3};

/// A square of a plane across an axis, seen from the axis's positive side. Body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The middle of the picture, metres.
    pub center: Vec3,
    /// Unit vectors to the right and to the top of the picture.
    pub right: Vec3,
    pub up: Vec3,
    /// Side of the square, metres.
    pub side: f64,
}

impl Plane {
    /// Returns the plane across `axis` (0, 1, 2 for x, y, z) at `position` along it, metres; wide enough to show all of
    /// `bounds`. y is up, and seen from above x is to the right.
    pub fn across(axis: usize, position: f64, bounds: &Aabb) -> Self {
        let (right, up) = match axis {
            0 => (-Vec3::z(), Vec3::y()),
            1 => (Vec3::x(), -Vec3::z()),
            _ => (Vec3::x(), Vec3::y()),
        };
        let mut center = bounds.center();
        center[axis] = position;
        let extents = bounds.extents();
        let side = 1.12 * (0..3).filter(|&k| k != axis).map(|k| extents[k]).fold(0.0, f64::max);
        Self { center, right, up, side }
    }

    /// Returns the point at the middle of pixel (`column`, `row`) of `n` × `n`, body frame.
    pub fn point(&self, column: usize, row: usize, n: usize) -> Vec3 {
        let along = |i: usize| ((i as f64 + 0.5) / n as f64 - 0.5) * self.side;
        self.center + self.right * along(column) - self.up * along(row)
    }

    /// Returns the distance between lines, metres, that gives about 25 of them: 1, 2 or 5 times a power of ten.
    pub fn step(&self) -> f64 {
        let least = self.side / 25.0;
        let decade = 10f64.powf(least.log10().floor());
        [1.0, 2.0, 5.0].map(|m| m * decade).into_iter().find(|s| *s >= least).unwrap_or(10.0 * decade)
    }
}

/// Draws φ on the plane, `n` × `n` pixels: darker blue deeper inside, paler orange farther outside; a fine line at
/// every [`Plane::step`], a thick dark one at zero.
pub fn slice(field: &dyn SignedDistance, plane: &Plane, n: usize) -> Image {
    let pixel = plane.side / n as f64;
    let step = plane.step();
    let origin = field.local_origin(&plane.center);
    // Returns the fraction of a pixel covered by a line of this width, in pixels, at this distance from its middle,
    // metres.
    let cover = |width: f64, distance: f64| (0.5 + 0.5 * width - distance / pixel).clamp(0.0, 1.0);
    let mut rgba = vec![255u8; 4 * n * n];
    rgba.par_chunks_exact_mut(4 * n).enumerate().for_each(|(row, line)| {
        for (column, out) in line.chunks_exact_mut(4).enumerate() {
            let q = plane.point(column, row, n) - origin;
            let (phi, gradient) = field.distance_gradient([q.x as f32, q.y as f32, q.z as f32]);
            let (phi, gradient) = (f64::from(phi), Vec3::from(gradient.map(f64::from)));
            // Rate of change of φ in the plane: lines keep their width where the plane grazes the surface.
            let slope = gradient.dot(&plane.right).hypot(gradient.dot(&plane.up)).max(0.05);
            let (near, far) = if phi < 0.0 { (INSIDE[0], INSIDE[1]) } else { (OUTSIDE[0], OUTSIDE[1]) };
            let fade = 1.0 - 1.0 / (1.0 + phi.abs() / (6.0 * step));
            let level = (phi / step).rem_euclid(1.0);
            let fine = 0.22 * cover(1.0, level.min(1.0 - level) * step / slope);
            let zero = cover(2.6, phi.abs() / slope);
            for k in 0..3 {
                let base = (near[k] + (far[k] - near[k]) * fade) * (1.0 - fine);
                out[k] = (base + (ZERO[k] - base) * zero + 0.5) as u8;
            }
        }
    });
    Image { width: n, height: n, rgba }
}

/// Colours near the surface, far from it, and on it.
const INSIDE: [[f64; 3]; 2] = [[150.0, 190.0, 235.0], [25.0, 60.0, 130.0]];
const OUTSIDE: [[f64; 3]; 2] = [[250.0, 205.0, 150.0], [253.0, 246.0, 236.0]];
const ZERO: [f64; 3] = [30.0, 30.0, 36.0];
