//! The parts of a brick field: its header, what a file keeps of it, what it is made from, and what is certified of it.

use serde::{Deserialize, Serialize};

use super::Samples;
use crate::field::report::{FieldError, SignReport};
use crate::field::Grid;
use crate::math::{Aabb, Vec3};

/// Some bricks with samples of their own.
#[derive(Default)]
pub(crate) struct FineBricks {
    /// Number of each, x fastest.
    pub bricks: Vec<u32>,
    /// [`STRIDE`](super::STRIDE) numbers for each: the samples, quanta, x fastest, and one of no meaning yet.
    pub samples: Vec<i16>,
}

/// What a brick field is made from. Bricks that are not in `fine` have no node in the narrow band, and one sign.
pub(crate) struct Draft {
    pub grid: Grid,
    pub center: Vec3,
    /// Signed distance at the corners of bricks, metres.
    pub coarse: Vec<f32>,
    pub fine: FineBricks,
    /// Metres.
    pub quantum: f32,
    /// Bound on how much the distances of two nodes, fine or coarse, differ per metre.
    pub node_lipschitz: f32,
    /// Largest |sample − distance| in the band, metres.
    pub rounding: f32,
    pub sign: SignReport,
}

/// What is certified of the samples of a field, or of one brick; lengths in quanta and cells, so that it holds whatever these
/// measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Squared gradient where it is largest, quanta per cell.
    pub(super) steepest: f64,
    /// Least |φ| in coarse bricks and in cells with a node on a seam; `i32::MAX` without such.
    pub(super) calm: i32,
    pub(super) largest: i32,
    /// Lowest sample on the border of the grid.
    pub(super) border: i32,
    /// Box of {φ ≤ 0}, cells.
    pub(super) min: [f64; 3],
    pub(super) max: [f64; 3],
}

/// The numbers of a brick field that do not depend on how many bricks it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrickHeader {
    pub grid: Grid,
    /// Number of fine bricks.
    pub fine: u32,
    /// Metres.
    pub quantum: f32,
    /// Quanta to one unit of a coarse sample.
    pub step: u32,
    /// Bound on how much the distances behind any two samples differ per metre between the nodes.
    pub node_lipschitz: f32,
    /// Largest |sample − distance| in the band, as measured when it was made, metres.
    pub rounding: f32,
    /// Origin of the local frame in the body frame, metres.
    pub center: Vec3,
    /// Box around {φ ≤ 0}, body frame, metres.
    pub bounds: Aabb,
    pub error: FieldError,
    pub sign: SignReport,
}

/// All of a brick field: what a file keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrickParts {
    pub header: BrickHeader,
    /// The fine bricks (x fastest) in the order of their samples: by columns along z, upward, the columns x fastest.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub bricks: Vec<u32>,
    /// For each of them the most that a sample is above the distance it stands for, quanta.
    #[serde(deserialize_with = "crate::memory::deserialize_vec")]
    pub rises: Vec<u16>,
    /// Of the fine bricks, x fastest, a brick above another beginning with the last 9² of that one; then the coarse ones.
    pub samples: Samples,
    /// What is certified; without it, it is certified anew.
    pub certificate: Option<Certificate>,
    /// A bit for each fine brick that has a cell near the surface, in whole words; then for each of those a bit for each
    /// cell. Without them, they are made anew.
    pub masks: Option<Vec<u64>>,
}

impl Certificate {
    pub(super) const NONE: Self = Self {
        steepest: 0.0,
        calm: i32::MAX,
        largest: 0,
        border: i32::MAX,
        min: [f64::INFINITY; 3],
        max: [f64::NEG_INFINITY; 3],
    };

    pub(super) fn merged(mut self, other: Self) -> Self {
        self.steepest = self.steepest.max(other.steepest);
        self.calm = self.calm.min(other.calm);
        self.largest = self.largest.max(other.largest);
        self.border = self.border.min(other.border);
        for k in 0..3 {
            self.min[k] = self.min[k].min(other.min[k]);
            self.max[k] = self.max[k].max(other.max[k]);
        }
        self
    }

    pub(super) fn include(&mut self, p: [f64; 3]) {
        for k in 0..3 {
            self.min[k] = self.min[k].min(p[k]);
            self.max[k] = self.max[k].max(p[k]);
        }
    }

    /// Values between which φ does not change sign: how near to 0 it comes there.
    pub(super) fn settle(&mut self, values: impl Iterator<Item = i32> + Clone) {
        let one_sign = values.clone().all(|v| v > 0) || values.clone().all(|v| v < 0);
        let least = if one_sign { values.map(i32::abs).min().unwrap_or(i32::MAX) } else { 0 };
        self.calm = self.calm.min(least);
    }
}
