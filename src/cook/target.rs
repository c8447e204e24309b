//! Cooking to a target error: increasingly fine fields, until the measured error of one meets it.
//!
//! The resolutions are the same for every target, so a smaller target never gives a coarser field. A prediction from
//! the errors of coarse fields would save time, but the decrease of the error (with the voxel size at creases, with
//! its square on smooth surfaces, by chance where faces lie on nodes) is not known before.

use voxshell_base::math::Aabb;
use voxshell_base::{Error, Result};
use voxshell_field::Field;

/// Cells along the largest extent of the first three fields; the next three have twice these, and so on: a third of
/// an octave apart, so that a full grid has about twice the nodes of the one before.
const CELLS: [u32; 3] = [16, 20, 25];

/// Returns the first field of the series whose largest found error is at most `target`, metres, and its voxel size.
/// `cook` makes a field for a voxel size, and returns whether any of it is inside.
pub(super) fn cook(
    bounds: &Aabb,
    target: f64,
    mut cook: impl FnMut(f64) -> Result<(Field, bool)>,
) -> Result<(f64, Field)> {
    if !(target > 0.0 && target.is_finite()) {
        return Err(Error::argument("target_error", target, "a positive, finite length in metres"));
    }
    let extent = extent(bounds)?;
    // Best result so far: its error and its voxel size.
    let mut reached: Option<(f64, f64)> = None;
    let mut octave = 1.0;
    loop {
        for cells in CELLS {
            let voxel_size = extent / (octave * f64::from(cells));
            let named = || {
                let reached = reached.map_or_else(String::new, |(error, voxel_size)| {
                    format!(" ({error} m was reached with voxels of {voxel_size} m)")
                });
                format!("a field with an error of at most {target} m{reached}")
            };
            let (field, has_inside) = match cook(voxel_size) {
                Ok(cooked) => cooked,
                Err(Error::TooLarge { needed, limit, .. }) => {
                    return Err(Error::TooLarge { what: named(), needed, limit });
                }
                Err(Error::TooMany { what, needed, .. }) => {
                    let (what, expected) = (format!("{}: {what}", named()), "a larger error".into());
                    return Err(Error::TooMany { what, expected, needed });
                }
                Err(other) => return Err(other),
            };
            let error = field.gridded().map_or(f64::INFINITY, |known| known.error.max);
            // Without an inside the mesh is a plate thinner than a voxel.
            if has_inside && error <= target {
                return Ok((voxel_size, field));
            }
            if reached.is_none_or(|(best, _)| error < best) {
                reached = Some((error, voxel_size));
            }
        }
        // The memory limit ends this loop, or the number of nodes that a grid can have.
        octave *= 2.0;
    }
}

/// Returns the largest extent, metres.
pub(super) fn extent(bounds: &Aabb) -> Result<f64> {
    let extent = bounds.extents().max();
    if extent > 0.0 {
        return Ok(extent);
    }
    Err(Error::InvalidMesh("all vertices coincide, so the voxel size cannot follow from `resolution`".into()))
}
