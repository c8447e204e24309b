//! Height maps of the user: a height function over the surfaces of bodies turns forces as its slope does. Knows no
//! queries.

use std::fmt;
use std::sync::Arc;

use voxshell_base::math::{limits, Vec3};
use voxshell_base::{Error, Result};

/// Height function: of the obstacle's number and a point near its surface, in the frame of the body, metres.
pub type Height = dyn Fn(u32, &Vec3) -> f64 + Send + Sync;

/// Bumps that turn the force as the slope of a height function does, without moving the surface (bump mapping, Blinn
/// 1978; haptically Minsky et al. 1990). They add to [`Texture`](super::Texture).
///
/// The function is called six times for each constraint that holds the tool, by the servo's thread in each step and by
/// the simulation's in each round, perhaps at the same time: it must neither block nor allocate, and return the same
/// value for the same point. Where a slope is not finite the surface is smooth, and the status contains
/// [`BAD_HEIGHT`](super::Status::BAD_HEIGHT).
#[derive(Clone)]
pub struct HeightMap {
    height: Arc<Height>,
    reach: f64,
}

impl HeightMap {
    /// Makes a height map. Slopes are differences of heights `reach` to each side, metres: finer detail is not felt.
    ///
    /// # Errors
    /// `InvalidArgument` for a reach that is not positive and finite.
    pub fn new(height: Arc<Height>, reach: f64) -> Result<Self> {
        if !limits::is_length(reach) {
            let expected = "positive and finite, 1e-18 to 1e18 m, where there are heights";
            return Err(Error::argument("surface.height_reach", limits::Shown(reach), expected));
        }
        Ok(Self { height, reach })
    }

    /// Returns ∇h at a point, both in the body's frame; without a unit. `None` where it is not finite.
    pub fn slope(&self, body: u32, p: &Vec3) -> Option<Vec3> {
        let difference = |k: usize| {
            let [above, below] = [self.reach, -self.reach].map(|d| (self.height)(body, &(p + Vec3::ith(k, d))));
            (above - below) / (2.0 * self.reach)
        };
        let slope = Vec3::new(difference(0), difference(1), difference(2));
        slope.norm_squared().is_finite().then_some(slope)
    }
}

impl fmt::Debug for HeightMap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("HeightMap").field("reach", &self.reach).finish_non_exhaustive()
    }
}
