//! Cooking to a target error: finer and finer fields, until one is measured to meet it.
//!
//! The resolutions are the same whatever the target, so a smaller target never gets a coarser field; a prediction from the
//! errors of coarse fields would save time, but how the error falls (with the voxel size at creases, with its square on
//! smooth surfaces, by chance where faces lie on nodes) is not known before.

use crate::field::Field;
use crate::math::Aabb;
use crate::{Error, Result};

/// Cells along the largest extent of the first three fields, then twice these, and so on: a third of an octave apart, so
/// that a full grid has about twice the nodes of the one before.
const CELLS: [u32; 3] = [16, 20, 25];

/// The first field of the series whose largest error found is at most `target`, metres, and its voxel size. `cook` makes one for
/// a voxel size, and says whether any of it is inside.
pub(super) fn cook(
    bounds: &Aabb,
    target: f64,
    mut cook: impl FnMut(f64) -> Result<(Field, bool)>,
) -> Result<(f64, Field)> {
    if !(target > 0.0 && target.is_finite()) {
        return Err(Error::argument("target_error", target, "a positive, finite length in metres"));
    }
    let extent = extent(bounds)?;
    // The best so far: its error and its voxel size.
    let mut reached: Option<(f64, f64)> = None;
    let mut octave = 1.0;
    loop {
        for cells in CELLS {
            let voxel_size = extent / (octave * f64::from(cells));
            let (field, has_inside) = match cook(voxel_size) {
                Ok(cooked) => cooked,
                Err(Error::TooLarge { needed, limit, .. }) => {
                    let reached = reached.map_or_else(String::new, |(error, voxel_size)| {
                        format!(" ({error} m was reached with voxels of {voxel_size} m)")
                    });
                    let what = format!("a field with an error of at most {target} m{reached}");
                    return Err(Error::TooLarge { what, needed, limit });
                }
                Err(other) => return Err(other),
            };
            let error = field.gridded().map_or(f64::INFINITY, |known| known.error.max);
            // Without an inside it is a plate thinner than a voxel.
            if has_inside && error <= target {
                return Ok((voxel_size, field));
            }
            if reached.is_none_or(|(best, _)| error < best) {
                reached = Some((error, voxel_size));
            }
        }
        // The memory limit ends this, or the number of nodes that a grid can have.
        octave *= 2.0;
    }
}

/// The largest, metres.
pub(super) fn extent(bounds: &Aabb) -> Result<f64> {
    let extent = bounds.extents().max();
    if extent > 0.0 {
        return Ok(extent);
    }
    Err(Error::InvalidMesh("all vertices coincide, so the voxel size cannot follow from `resolution`".into()))
}
