//! The figures of Sagardia, Stouraitis & Lopes e Silva 2014 ("Integration of a haptic rendering algorithm based on
//! voxelized and point-sampled structures into the physics engine Bullet"), measured on an Intel Xeon of 2.8 GHz with
//! Bullet 2.82.

use crate::bridge::Method;

/// Table 1: restitution, and the largest penetration of the ball in millimetres for Bullet, 275 and 25,880 samples.
pub const TABLE_1: [(f64, [f64; 3]); 3] = [(0.1, [42.5, 6.8, 3.5]), (0.5, [42.5, 9.5, 4.0]), (0.9, [42.5, 20.1, 19.2])];

/// Table 2: microseconds per check with segments of levels 1 to 5, 799 and 35,596 samples.
pub const TABLE_2: [[f64; 5]; 2] = [[102.2, 102.1, 104.2, 102.3, 102.8], [1387.9, 1477.5, 1407.4, 1449.6, 1494.3]];

/// Section 4.2, the bunny on a plane: microseconds per check, where the text gives it. The fine pointshell takes 0.71
/// ms; GImpact takes 137 times as long; GJK on a hull of 42 vertices takes 1/339 of it; the decomposition into 8 hulls
/// takes about 30 µs; the coarse pointshell takes about 100 µs.
pub fn drop_us(method: Method) -> Option<f64> {
    match method {
        Method::Hull => Some(710.0 / 339.0),
        Method::Hacd => Some(30.0),
        Method::Gimpact => Some(710.0 * 137.0),
        Method::VoxshellCoarse => Some(100.0),
        Method::VoxshellFine => Some(710.0),
        _ => None,
    }
}

/// Section 4.2.2: the lowest rates at which the bunny stays above the plane.
pub const LOWEST_RATES: &str =
    "paper: one contact point holds down to about 30 Hz, segments of levels 4 and 5 to about 10 Hz";

/// Section 4.1, on stacking.
pub const STACKING: &str =
    "paper: stacked spheres without freezing collapse eventually, the later the finer their pointshells; no figures given";
