//! Checks of the arguments of primitives, and the directions of the segments of a turn.

use voxshell_base::math::limits;
use voxshell_base::{Error, Result};

/// Largest number of segments around or along any shape.
pub(super) const MAX_SEGMENTS: u32 = 4096;

/// Refuses a value that is not a positive, finite length.
pub(super) fn length(argument: &str, value: f64) -> Result<()> {
    if limits::is_length(value) {
        return Ok(());
    }
    Err(Error::argument(argument, format!("{} m", limits::Shown(value)), "a positive, finite length, 1e-18 to 1e18 m"))
}

/// Refuses a length that is not in (0, `limit`); `what` explains the limit.
pub(super) fn shorter(argument: &str, value: f64, limit: f64, what: &str) -> Result<()> {
    length(argument, value)?;
    if value < limit {
        return Ok(());
    }
    Err(Error::argument(argument, format!("{value} m"), format!("less than {limit} m, {what}")))
}

/// Refuses a count outside [`least`, `most`].
pub(super) fn within(argument: &str, value: u32, least: u32, most: u32) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::argument(argument, value, format!("{least} to {most}")))
}

/// Returns cos and sin of `i`/`n` of a full turn.
pub(super) fn turn(i: u32, n: u32) -> (f64, f64) {
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(i) / f64::from(n));
    (cos, sin)
}
