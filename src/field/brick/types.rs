//! Data types of a brick field: its header, its form in a file, the input of its construction, and its certificate.

use serde::{Deserialize, Serialize};

use super::Samples;
use crate::report::{FieldError, SignReport};
use crate::Grid;
use voxshell_base::math::{Aabb, Vec3};

/// Some fine bricks: bricks with samples of their own.
#[derive(Default)]
pub struct FineBricks {
    /// Number of each, x fastest.
    pub bricks: Vec<u32>,
    /// [`STRIDE`](super::STRIDE) numbers for each: the samples, quanta, x fastest, and one that is not yet defined.
    pub samples: Vec<i16>,
}

/// Input of the construction of a brick field. Bricks that are not in `fine` have no node in the narrow band, and one
/// sign.
pub struct Draft {
    pub grid: Grid,
    pub center: Vec3,
    /// Signed distance at the corners of bricks, metres.
    pub coarse: Vec<f32>,
    pub fine: FineBricks,
    /// Quantum, metres.
    pub quantum: f32,
    /// Bound on the difference of the distances of two nodes, fine or coarse, per metre.
    pub node_lipschitz: f32,
    /// Largest |sample − distance| in the band, metres.
    pub rounding: f32,
    pub sign: SignReport,
}

/// Certified properties of the samples of a field, or of one brick. Lengths are in quanta and cells, so they hold for
/// any size of these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Largest squared gradient, (quanta per cell)².
    pub(super) steepest: f64,
    /// Smallest |φ| in coarse bricks and in cells with a node on a seam; `i32::MAX` without such cells.
    pub(super) calm: i32,
    pub(super) largest: i32,
    /// Smallest sample on the border of the grid.
    pub(super) border: i32,
    /// Box of {φ ≤ 0}, cells.
    pub(super) min: [f64; 3],
    pub(super) max: [f64; 3],
}

/// Numbers of a brick field that do not depend on the number of its bricks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrickHeader {
    pub grid: Grid,
    /// Number of fine bricks.
    pub fine: u32,
    /// Quantum, metres.
    pub quantum: f32,
    /// Quanta per unit of a coarse sample.
    pub step: u32,
    /// Bound on the difference of the distances that any two samples represent, per metre between the nodes.
    pub node_lipschitz: f32,
    /// Largest |sample − distance| in the band, as measured at construction, metres.
    pub rounding: f32,
    /// Origin of the local frame in the body frame, metres.
    pub center: Vec3,
    /// Box around {φ ≤ 0}, body frame, metres.
    pub bounds: Aabb,
    pub error: FieldError,
    pub sign: SignReport,
}

/// All of a brick field, in the form of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrickParts {
    pub header: BrickHeader,
    /// Fine bricks (x fastest) in the order of their samples: by columns along z, upward, the columns x fastest.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub bricks: Vec<u32>,
    /// For each of them the largest excess of a sample over the distance that it represents, quanta.
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    pub rises: Vec<u16>,
    /// Samples of the fine bricks, x fastest; a brick above another begins with the last 9² samples of that one. Then
    /// the coarse samples.
    pub samples: Samples,
    /// Certificate; if `None`, the samples are certified again.
    pub certificate: Option<Certificate>,
    /// A bit for each fine brick that has a cell near the surface, in whole words; then for each of these bricks a
    /// bit for each cell. If `None`, the masks are computed again.
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

    /// Lowers `calm` by values between which φ is interpolated: to their smallest |φ| if they have one sign, else to
    /// 0.
    pub(super) fn settle(&mut self, values: impl Iterator<Item = i32> + Clone) {
        let one_sign = values.clone().all(|v| v > 0) || values.clone().all(|v| v < 0);
        let least = if one_sign { values.map(i32::abs).min().unwrap_or(i32::MAX) } else { 0 };
        self.calm = self.calm.min(least);
    }
}
