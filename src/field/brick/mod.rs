//! The signed distance field in bricks: fine where the surface is, coarse elsewhere.
//!
//! The grid is cut into bricks of 8³ cells. A brick with a node in the **narrow band** (within three cells of the surface)
//! has its own 9³ samples; any other is one trilinear cell between the **coarse** samples at its eight corners. Which of
//! the two a brick is, and where its samples are, is one number in an array over the box that all fine bricks are in.
//!
//! **Continuity.** Samples are 16-bit multiples of one quantum for the whole field, so a node that several bricks share
//! has the same value in each. Coarse samples are multiples of 64 quanta or more. On the face between a fine brick and a
//! coarse one the fine samples are not the distance but the coarse interpolant, which at eighths of an edge is a whole
//! number of quanta: both sides of every face agree exactly, and φ is continuous everywhere. Such a **seam** is outside
//! the narrow band, where nothing but far-away questions is answered; nearer than two cells to the surface φ is that of a
//! full grid, but for the quantum.
//!
//! `build` makes and certifies it, `parts` takes it apart and together for files; `index` says where samples are, `sample`
//! answers; `cells` and `masks` are for segments; `dense` makes one from a full grid, `pyramid` a tree over it.

mod build;
mod cells;
mod dense;
mod fine;
mod index;
mod masks;
mod parts;
mod pyramid;
mod sample;
mod samples;

use serde::{Deserialize, Serialize};

use super::report::{FieldError, SignReport};
use super::Grid;
use crate::math::{Aabb, Vec3};
use crate::Result;
pub use build::Certificate;
pub(super) use build::{Draft, FineBricks};
use index::Index;
use masks::Masks;
pub use parts::{BrickHeader, BrickParts};
pub use pyramid::{Pyramid, TreeForm, TreeMemory};
use sample::Hot;
pub use samples::Samples;

/// Cells along the edge of a brick.
pub(super) const CELLS: u32 = 8;
/// Nodes along the edge of a brick, those on both sides included.
pub(super) const NODES: u32 = CELLS + 1;
/// Samples of a fine brick.
pub(super) const VOLUME: usize = (NODES * NODES * NODES) as usize;
/// Numbers for a fine brick while it is made: its samples, and how far they rise above the distance.
pub(super) const STRIDE: usize = VOLUME + 1;
/// Half the width of the narrow band, cells.
pub(super) const BAND: f32 = 3.0;
/// Quanta per cell: a brick's node is at most the band and a brick's diagonal away from the surface, 16.86 cells, which
/// this makes 32,366 quanta; the rest to 32,767 is room for the rounding of coarse samples.
pub(super) const QUANTA: f32 = 1920.0;
/// Fewest quanta between coarse samples: bilinear weights at eighths are multiples of 1/64.
const STEP: u32 = 64;
/// Most of them that fit beside the 32,366.
const MAX_STEP: u32 = 512;

/// Signed distance samples in bricks near the surface, and coarse ones elsewhere. Immutable; shared by any number of
/// threads.
///
/// Inside the grid φ is piecewise trilinear and continuous; outside it is φ(p clamped to the grid's box) + distance to the
/// box, as for a [`DenseField`](super::DenseField).
///
/// Next to a full grid of the same samples φ is off by at most half a quantum in fine cells without a corner on a seam. In
/// any other cell both are means of distances at nodes around the point, so with the nodes' Lipschitz constant K and voxels
/// of h by at most K h √(¾ + 48) = 6.98 K h and half a quantum of the coarse samples; also outside the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BrickParts", into = "BrickParts")]
pub struct BrickField {
    header: BrickHeader,
    index: Index,
    /// Of the fine bricks in quanta, where `index` says; then coarse ones, one at each corner of a brick, in multiples of
    /// `header.step` quanta.
    samples: Samples,
    /// For each fine brick, by [`masks::slot`], the most that a sample is above the distance it stands for, quanta.
    rises: Box<[u16]>,
    certificate: Certificate,
    hot: Hot,
    masks: Masks,
}

/// Bricks along the axes that cover the cells of a grid.
pub(super) fn bricks_of(grid: &Grid) -> [u32; 3] {
    grid.dims.map(|n| (n - 1).div_ceil(CELLS))
}

/// The number of a brick, x fastest, to its place along the axes.
pub(super) fn place_of(brick: usize, bricks: [u32; 3]) -> [u32; 3] {
    let [nx, ny, _] = bricks.map(|n| n as usize);
    [brick % nx, brick / nx % ny, brick / (nx * ny)].map(|i| i as u32)
}

/// Numbers of the eight corners of a brick among the coarse samples, x fastest.
pub(super) fn corners_of(bricks: [u32; 3], [i, j, k]: [u32; 3]) -> [usize; 8] {
    let [nx, ny, _] = bricks.map(|n| n as usize + 1);
    std::array::from_fn(|c| {
        let [x, y, z] = [i as usize + (c & 1), j as usize + (c >> 1 & 1), k as usize + (c >> 2)];
        (z * ny + y) * nx + x
    })
}

impl BrickField {
    /// The grid whose nodes near the surface the fine samples are, local frame.
    pub fn grid(&self) -> &Grid {
        &self.header.grid
    }

    /// Bricks along the axes.
    pub fn bricks(&self) -> [u32; 3] {
        self.index.bricks
    }

    /// Number of bricks with samples of their own.
    pub fn fine_bricks(&self) -> usize {
        self.header.fine as usize
    }

    /// Where the samples of a brick begin.
    fn first(&self, brick: usize) -> usize {
        self.index.at(place_of(brick, self.index.bricks))
    }

    /// The 9³ samples of a brick (number x fastest), in quanta, x fastest; `None` where it is coarse.
    pub fn fine(&self, brick: usize) -> Option<&[i16]> {
        let from = self.first(brick);
        (from < self.index.coarse).then(|| &self.samples[from..from + VOLUME])
    }

    /// A bit for each cell of a brick, x fastest, a word for each z: whether φ comes within two quanta of 0 in it. `None` for
    /// coarse bricks, where |φ| is at least [`BrickField::calm`].
    pub fn mixed(&self, brick: usize) -> Option<&[u64; 8]> {
        let from = self.first(brick);
        (from < self.index.coarse).then(|| self.masks.get(from).unwrap_or(&[0; 8]))
    }

    /// The coarse sample at a corner of a brick, by its number among them.
    fn corner(&self, n: usize) -> i16 {
        self.samples[self.index.coarse + n]
    }

    /// φ at the eight corners of a brick, metres, as a coarse brick has them.
    pub fn corners(&self, brick: usize) -> [f32; 8] {
        let unit = self.header.quantum * self.header.step as f32;
        corners_of(self.bricks(), place_of(brick, self.bricks())).map(|c| f32::from(self.corner(c)) * unit)
    }

    /// Distance between two values of a sample, metres.
    pub fn quantum(&self) -> f32 {
        self.header.quantum
    }

    /// Distance between two values of a coarse sample, metres.
    pub fn coarse_quantum(&self) -> f32 {
        self.header.quantum * self.header.step as f32
    }

    /// Largest |sample − distance to the mesh| at the nodes of the narrow band, metres; measured, at most half a quantum and
    /// the rounding of the distance itself.
    pub fn rounding(&self) -> f32 {
        self.header.rounding
    }

    /// Origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.header.center
    }

    /// Certified Lipschitz constant of φ inside the grid: no two points of the box differ by more per metre.
    pub fn lipschitz(&self) -> f32 {
        self.hot.lipschitz
    }

    /// Certified bound on how much the distances behind the samples differ per metre between the nodes: 1 for exact ones.
    pub fn node_lipschitz(&self) -> f32 {
        self.header.node_lipschitz
    }

    /// Certified Lipschitz constant of φ everywhere.
    pub fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    /// |φ| is at least this in coarse bricks and at seams, metres.
    pub fn calm(&self) -> f32 {
        self.hot.calm
    }

    /// Fit to the mesh, as measured at cooking.
    pub fn error(&self) -> FieldError {
        self.header.error
    }

    /// How inside was told from outside.
    pub fn sign(&self) -> &SignReport {
        &self.header.sign
    }

    /// Whether a node is inside.
    pub fn has_inside(&self) -> bool {
        // Every sample is that of a node.
        self.samples.iter().any(|&v| v < 0)
    }

    /// Memory held, bytes; samples that are used where they are in a mapped file count as well.
    pub fn bytes(&self) -> u64 {
        let arrays = self.index.bytes() + self.rises.len() * 2 + self.masks.bytes();
        (size_of::<Self>() + arrays + size_of_val(&*self.samples)) as u64
    }

    /// With what is known of a cooked field: its fit, and a box its surface is in.
    pub(super) fn described(mut self, error: FieldError, surface: &Aabb) -> Self {
        self.header.error = error;
        self.header.bounds = self.header.bounds.merged(surface);
        self
    }

    /// The field of the body `factor` times as large: the samples stay, and mean more.
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let times = |x: f32| (f64::from(x) * factor) as f32;
        let parts = self.parts();
        let BrickHeader { grid, error, sign, bounds, .. } = parts.header;
        let header = BrickHeader {
            grid: Grid { dims: grid.dims, spacing: times(grid.spacing), min: grid.min.map(times) },
            quantum: times(parts.header.quantum),
            rounding: times(parts.header.rounding),
            center: parts.header.center * factor,
            bounds: Aabb { min: bounds.min * factor, max: bounds.max * factor },
            error: FieldError { max: error.max * factor, rms: error.rms * factor, ..error },
            sign: sign.scaled(factor),
            // The quantum and the spacing are rounded each for itself.
            node_lipschitz: parts.header.node_lipschitz * (1.0 + 1e-6),
            ..parts.header
        };
        Self::from_parts(BrickParts { header, ..parts })
    }
}
