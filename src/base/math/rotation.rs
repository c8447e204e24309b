//! Rotations from rotation vectors and back, with the sine, cosine and arc tangent of the crate `libm`.
//!
//! The functions of the platform's C library differ in the last bit from platform to platform. So no code of this library
//! calls them: transcendental functions come from `libm`, which is compiled from the same source everywhere, and rotation
//! vectors come from here instead of from nalgebra. `tests/same_maths.rs` checks this rule. Square roots, rounding and
//! the four operations are exact by IEEE 754, so they need no replacement.

use nalgebra::Quaternion;

use super::{Rotation, Vec3};

/// Returns the rotation about the direction of `turn` by its length, radians. Vectors shorter than 2 ε give the identity.
pub fn from_scaled_axis(turn: Vec3) -> Rotation {
    let half = turn * 0.5;
    let squared = half.norm_squared();
    if squared <= f64::EPSILON * f64::EPSILON {
        return Rotation::identity();
    }
    let angle = squared.sqrt();
    let (sin, cos) = libm::sincos(angle);
    Rotation::new_unchecked(Quaternion::from_parts(cos, half * (sin / angle)))
}

/// Returns the axis of a rotation times its angle, radians, at most π long.
pub fn scaled_axis(rotation: &Rotation) -> Vec3 {
    let (w, v) = (rotation.scalar(), rotation.vector());
    let norm = v.norm();
    if norm <= 0.0 {
        return Vec3::zeros();
    }
    let axis = if w >= 0.0 { v / norm } else { -v / norm };
    axis * (2.0 * libm::atan2(norm, w.abs()))
}

/// Returns `x` to the power of `n`. The standard library leaves the rounding of its `powi` open.
pub fn power(x: f32, n: u32) -> f32 {
    (0..n).fold(1.0, |product, _| product * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_vectors_agree_with_nalgebra() {
        for k in 0..400 {
            let t = f64::from(k) * 0.37;
            let size = 10f64.powi(k % 9 - 8) * std::f64::consts::PI;
            let turn = Vec3::new(t.sin(), (1.3 * t).cos(), (0.7 * t).sin() * 0.5).normalize() * size;
            let (found, expected) = (from_scaled_axis(turn), Rotation::from_scaled_axis(turn));
            assert!((found.coords - expected.coords).norm() < 4e-16, "{turn:?}");
            for rotation in [found, Rotation::new_unchecked(-found.into_inner())] {
                let difference = scaled_axis(&rotation) - rotation.scaled_axis();
                assert!(difference.norm() <= 1e-15 * size, "{turn:?}");
            }
        }
    }

    #[test]
    fn no_rotation_has_no_axis() {
        let none = Rotation::identity();
        assert_eq!(from_scaled_axis(Vec3::zeros()), none);
        assert_eq!(scaled_axis(&none), Vec3::zeros());
        assert!(scaled_axis(&from_scaled_axis(Vec3::repeat(f64::NAN))).x.is_nan());
    }
}
