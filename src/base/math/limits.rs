//! Largest numbers that the library accepts, in one place. Every pose, point, length and count from outside is checked
//! against these constants; inner loops rely on them.
//!
//! The coordinates end where f32 does: the inner loops square differences of positions in f32, whose largest number is
//! 3.4e38. Two poses, a point of a body and the origin of its frame add up to less than 8 `MAX_COORDINATE`, of which the
//! squared norm is below 2e38.

use std::fmt;

use super::{Pose, Vec3};
use crate::{Error, Result};

/// Largest |coordinate| of poses, points and offsets, and largest size of a body, metres.
pub const MAX_COORDINATE: f64 = 1e18;
/// Smallest size of a body, metres: its square is a normal number of f32.
pub const MIN_LENGTH: f64 = 1e-18;
/// Largest magnitude of every other physical number: velocities, forces, stiffnesses, masses, times; SI units. Products of
/// twelve of them with lengths stay in the range of f64.
pub const MAX_QUANTITY: f64 = 1e18;
/// Smallest quantity used as a divisor: masses, times, stiffnesses; SI units.
pub const MIN_QUANTITY: f64 = 1e-30;
/// Largest number of steps that an iterative solver may be asked for.
pub const MAX_ITERATIONS: u32 = 1 << 16;

/// Returns whether `x` may be a coordinate, metres; false for NaN.
pub fn is_coordinate(x: f64) -> bool {
    x.abs() <= MAX_COORDINATE
}

/// Returns whether `x` may be a coordinate of a grid around a body, in its own frame, metres: grids have room around
/// the body.
pub fn is_grid_coordinate(x: f64) -> bool {
    x.abs() <= 4.0 * MAX_COORDINATE
}

/// Returns whether `x` may be the size of a body, metres; false for NaN.
pub fn is_length(x: f64) -> bool {
    (MIN_LENGTH..=MAX_COORDINATE).contains(&x)
}

/// Returns whether `x` may be a physical number of either sign, SI units; false for NaN.
pub fn is_quantity(x: f64) -> bool {
    x.abs() <= MAX_QUANTITY
}

/// Returns whether `x` may be a physical number used as a divisor, SI units; false for NaN.
pub fn is_positive_quantity(x: f64) -> bool {
    (MIN_QUANTITY..=MAX_QUANTITY).contains(&x)
}

/// A number in the format of messages: with an exponent where it has many digits.
pub struct Shown(pub f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0.abs() {
            x if x.is_finite() && (x >= 1e16 || x > 0.0 && x < 1e-9) => write!(f, "{:e}", self.0),
            _ => self.0.fmt(f),
        }
    }
}

/// Refuses a point that is not finite or beyond [`MAX_COORDINATE`].
///
/// # Errors
/// `InvalidArgument` that names `argument`.
pub fn check_point(argument: &str, point: &Vec3) -> Result<()> {
    check_vector(argument, point, is_coordinate, "finite coordinates of at most 1e18 m")
}

/// Refuses a vector of physical numbers that are not finite or beyond [`MAX_QUANTITY`].
///
/// # Errors
/// `InvalidArgument` that names `argument`.
pub fn check_quantities(argument: &str, vector: &Vec3) -> Result<()> {
    check_vector(argument, vector, is_quantity, "finite numbers of at most 1e18")
}

fn check_vector(argument: &str, v: &Vec3, fits: fn(f64) -> bool, expected: &str) -> Result<()> {
    if v.iter().all(|x| fits(*x)) {
        return Ok(());
    }
    Err(Error::argument(argument, format!("({}, {}, {})", Shown(v.x), Shown(v.y), Shown(v.z)), expected))
}

/// Refuses a pose whose position [`check_point`] refuses, or whose rotation is not finite.
///
/// # Errors
/// `InvalidArgument` that names `argument`.
pub fn check_pose(argument: &str, pose: &Pose) -> Result<()> {
    check_point(argument, &pose.translation.vector)?;
    if pose.rotation.coords.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(Error::argument(argument, format!("{:?}", pose.rotation.coords.as_slice()), "a finite quaternion"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_limit_are_accepted_and_beyond_refused() {
        for x in [0.0, -1e18, 1e18] {
            assert!(is_coordinate(x) && is_quantity(x), "{x}");
        }
        for x in [1.000_001e18, -2e18, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!is_coordinate(x) && !is_quantity(x) && !is_length(x) && !is_positive_quantity(x), "{x}");
        }
        assert!(is_length(1e-18) && !is_length(9e-19) && !is_length(-1.0) && !is_length(0.0));
        assert!(is_positive_quantity(1e-30) && !is_positive_quantity(1e-31) && !is_positive_quantity(-1.0));
        let message = check_pose("pose_a", &Pose::translation(0.0, 1e300, 0.0)).unwrap_err().to_string();
        assert_eq!(message, "pose_a is (0, 1e300, 0); expected finite coordinates of at most 1e18 m");
    }

    #[test]
    fn squared_distances_within_the_limit_stay_in_f32() {
        let farthest = 8.0 * MAX_COORDINATE as f32;
        assert!((3.0 * farthest * farthest).is_finite());
        let smallest = MIN_LENGTH as f32;
        assert!((smallest * smallest).is_normal());
    }
}
