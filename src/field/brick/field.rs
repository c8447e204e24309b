//! The signed distance field in bricks, and its properties.

use serde::{Deserialize, Serialize};

use super::constants::Hot;
use super::index::Index;
use super::layout::{corners_of, place_of, VOLUME};
use super::masks::Masks;
use super::types::{BrickHeader, BrickParts, Certificate};
use super::Samples;
use crate::report::{FieldError, SignReport};
use crate::Grid;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::Result;

/// Signed distance samples in bricks near the surface, and coarse samples elsewhere. Immutable; shared by any number
/// of threads.
///
/// Inside the grid φ is piecewise trilinear and continuous; outside it is φ(p clamped to the grid's box) + distance
/// to the box, as for a [`DenseField`](crate::DenseField).
///
/// Compared with a full grid of the same samples, φ is off by at most half a quantum in fine cells without a corner
/// on a seam. In any other cell both are means of distances at nodes around the point, so they differ by at most K h
/// √(¾ + 48) = 6.98 K h plus half a quantum of the coarse samples, with the nodes' Lipschitz constant K and voxels of
/// h; also outside the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BrickParts", into = "BrickParts")]
pub struct BrickField {
    pub(super) header: BrickHeader,
    pub(super) index: Index,
    /// Samples of the fine bricks in quanta, at the positions of `index`; then the coarse samples, one at each corner
    /// of a brick, in multiples of `header.step` quanta.
    pub(super) samples: Samples,
    /// For each fine brick, by [`slot`](super::masks::slot): largest excess of a sample over the distance that it
    /// represents, quanta.
    pub(super) rises: Box<[u16]>,
    pub(super) certificate: Certificate,
    pub(super) hot: Hot,
    pub(super) masks: Masks,
}

impl BrickField {
    /// Returns the grid of the fine samples, local frame; only its nodes near the surface have one.
    pub fn grid(&self) -> &Grid {
        &self.header.grid
    }

    /// Returns the number of bricks along the axes.
    pub fn bricks(&self) -> [u32; 3] {
        self.index.bricks
    }

    /// Returns the number of bricks with samples of their own.
    pub fn fine_bricks(&self) -> usize {
        self.header.fine as usize
    }

    /// Returns the index of the first sample of a brick.
    pub(super) fn first(&self, brick: usize) -> usize {
        self.index.at(place_of(brick, self.index.bricks))
    }

    /// Returns the 9³ samples of a brick (number x fastest), in quanta, x fastest; `None` where it is coarse.
    pub fn fine(&self, brick: usize) -> Option<&[i16]> {
        let from = self.first(brick);
        (from < self.index.coarse).then(|| &self.samples[from..from + VOLUME])
    }

    /// Returns a bit for each cell of a brick, x fastest, a word for each z: set where φ comes within two quanta of
    /// 0. `None` for coarse bricks, where |φ| is at least [`BrickField::calm`].
    pub fn mixed(&self, brick: usize) -> Option<&[u64; 8]> {
        let from = self.first(brick);
        (from < self.index.coarse).then(|| self.masks.get(from).unwrap_or(&[0; 8]))
    }

    /// Returns the coarse sample at a corner of a brick, by its number among them.
    pub(super) fn corner(&self, n: usize) -> i16 {
        self.samples[self.index.coarse + n]
    }

    /// Returns φ at the eight corners of a brick, metres, from the coarse samples.
    pub fn corners(&self, brick: usize) -> [f32; 8] {
        let unit = self.header.quantum * self.header.step as f32;
        corners_of(self.bricks(), place_of(brick, self.bricks())).map(|c| f32::from(self.corner(c)) * unit)
    }

    /// Returns the distance between two values of a sample, metres.
    pub fn quantum(&self) -> f32 {
        self.header.quantum
    }

    /// Returns the distance between two values of a coarse sample, metres.
    pub fn coarse_quantum(&self) -> f32 {
        self.header.quantum * self.header.step as f32
    }

    /// Returns the largest |sample − distance to the mesh| at the nodes of the narrow band, metres; measured, at most
    /// half a quantum and the rounding of the distance itself.
    pub fn rounding(&self) -> f32 {
        self.header.rounding
    }

    /// Returns the origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.header.center
    }

    /// Returns the certified Lipschitz constant of φ inside the grid: no two points of the box differ by more per
    /// metre.
    pub fn lipschitz(&self) -> f32 {
        self.hot.lipschitz
    }

    /// Returns a certified bound on the difference of the distances that the samples represent, per metre between the
    /// nodes: 1 for exact distances.
    pub fn node_lipschitz(&self) -> f32 {
        self.header.node_lipschitz
    }

    /// Returns the certified Lipschitz constant of φ everywhere.
    pub fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    /// Returns a lower bound of |φ| in coarse bricks and at seams, metres.
    pub fn calm(&self) -> f32 {
        self.hot.calm
    }

    /// Returns the error against the mesh, as measured at cooking.
    pub fn error(&self) -> FieldError {
        self.header.error
    }

    /// Returns the report of the sign rule.
    pub fn sign(&self) -> &SignReport {
        &self.header.sign
    }

    /// Returns whether a node is inside.
    pub fn has_inside(&self) -> bool {
        // Every sample belongs to a node.
        self.samples.iter().any(|&v| v < 0)
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let arrays = self.index.bytes() + self.rises.len() * 2 + self.masks.bytes();
        (size_of::<Self>() + arrays + size_of_val(&*self.samples)) as u64
    }

    /// Adds the results of cooking: the error, and a box that contains the surface.
    pub fn described(mut self, error: FieldError, surface: &Aabb) -> Self {
        self.header.error = error;
        self.header.bounds = self.header.bounds.merged(surface);
        self
    }

    /// Returns the field of the body scaled by `factor`: the samples stay, their unit changes.
    pub(crate) fn scaled(&self, factor: f64) -> Result<Self> {
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
            // The quantum and the spacing are rounded separately.
            node_lipschitz: parts.header.node_lipschitz * (1.0 + 1e-6),
            ..parts.header
        };
        Self::from_parts(BrickParts { header, ..parts })
    }
}
