//! The signed distance field in bricks: fine where the surface is, coarse elsewhere.
//!
//! The grid is cut into bricks of 8³ cells. A brick with a node in the **narrow band** (within three cells of the surface)
//! has its own 9³ samples; any other is one trilinear cell between the **coarse** samples at its eight corners. Which of
//! the two a brick is, and where its samples are, is one number in an array.
//!
//! **Continuity.** Samples are 16-bit multiples of one quantum for the whole field, so a node that several bricks share
//! has the same value in each. Coarse samples are multiples of 64 quanta or more. On the face between a fine brick and a
//! coarse one the fine samples are not the distance but the coarse interpolant, which at eighths of an edge is a whole
//! number of quanta: both sides of every face agree exactly, and φ is continuous everywhere. Such a **seam** is outside
//! the narrow band, where nothing but far-away questions is answered; nearer than two cells to the surface φ is that of a
//! full grid, but for the quantum.
//!
//! `build` makes and certifies it, `sample` answers; `cells` is for segments; `dense` makes one from a full
//! grid, `pyramid` a tree over it.

mod build;
mod cells;
mod dense;
mod pyramid;
mod sample;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::report::{FieldError, SignReport};
use super::Grid;
use crate::math::{Aabb, Vec3};
use crate::{Error, Result};
pub(super) use build::{Draft, FineBricks};
pub use pyramid::{Pyramid, TreeForm, TreeMemory};
use sample::Hot;

/// Cells along the edge of a brick.
pub(super) const CELLS: u32 = 8;
/// Nodes along the edge of a brick, those on both sides included.
pub(super) const NODES: u32 = CELLS + 1;
/// Samples of a fine brick.
pub(super) const VOLUME: usize = (NODES * NODES * NODES) as usize;
/// Numbers kept for a fine brick: its samples, and how far they rise above the distance.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct BrickField {
    grid: Grid,
    /// Bricks along the axes; they cover the grid's cells, the last ones perhaps in part.
    bricks: [u32; 3],
    /// For each brick, x fastest, the place of its first sample: below `coarse` its own, else that of its lower corner.
    index: Box<[u32]>,
    /// [`STRIDE`] numbers for each fine brick, in quanta; then coarse samples, one at each corner of a brick, in multiples of
    /// `step` quanta.
    samples: Box<[i16]>,
    /// Where the coarse samples begin.
    coarse: usize,
    /// Metres.
    quantum: f32,
    /// Quanta to one unit of a coarse sample.
    step: u32,
    /// Bound on how much the distances behind any two samples differ per metre between the nodes.
    node_lipschitz: f32,
    /// Largest |sample − distance| in the band, as measured when it was made, metres.
    rounding: f32,
    /// Origin of the local frame in the body frame, metres.
    center: Vec3,
    /// Box around {φ ≤ 0}, body frame, metres.
    bounds: Aabb,
    error: FieldError,
    sign: SignReport,
    hot: Hot,
    /// For each fine brick in the order of its samples, a bit for each cell, x fastest, a word for each z: set where φ comes
    /// within [`MASK_BAND`] of 0.
    mixed: Box<[[u64; 8]]>,
}

/// Quanta by which a cell that is not marked misses the level 0.
const MASK_BAND: i16 = 2;

/// All of a brick field but its samples: what an asset keeps of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BrickHeader {
    pub grid: Grid,
    /// Number of fine bricks.
    pub fine: u32,
    /// Metres.
    pub quantum: f32,
    /// Quanta to one unit of a coarse sample.
    pub step: u32,
    pub node_lipschitz: f32,
    pub rounding: f32,
    pub center: Vec3,
    pub bounds: Aabb,
    pub error: FieldError,
    pub sign: SignReport,
}

impl BrickHeader {
    /// How many samples the field has: those of the fine bricks, and the coarse ones.
    pub fn sample_count(&self) -> Result<usize> {
        self.grid.check()?;
        let corners = bricks_of(&self.grid).iter().fold(1u64, |n, &b| n * u64::from(b + 1));
        let count = u64::from(self.fine) * STRIDE as u64 + corners;
        usize::try_from(count).ok().filter(|_| count <= u64::from(u32::MAX)).ok_or_else(|| {
            let what = format!("{} bricks with samples of their own, and {corners} corners", self.fine);
            Error::argument("bricks", what, format!("at most {} samples", u32::MAX))
        })
    }
}

/// The serialised form.
#[derive(Serialize, Deserialize)]
struct Stored {
    header: BrickHeader,
    bricks: Vec<u32>,
    samples: Vec<i16>,
}

impl TryFrom<Stored> for BrickField {
    type Error = Error;
    fn try_from(s: Stored) -> Result<Self> {
        Self::from_parts(s.header, &s.bricks, s.samples.into())
    }
}

impl From<BrickField> for Stored {
    fn from(field: BrickField) -> Self {
        let (header, bricks, _) = field.parts();
        Self { header, bricks, samples: field.samples.into_vec() }
    }
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
        &self.grid
    }

    /// Bricks along the axes.
    pub fn bricks(&self) -> [u32; 3] {
        self.bricks
    }

    /// Number of bricks with samples of their own.
    pub fn fine_bricks(&self) -> usize {
        self.coarse / STRIDE
    }

    /// The 9³ samples of a brick (number x fastest), in quanta, x fastest; `None` where it is coarse.
    pub fn fine(&self, brick: usize) -> Option<&[i16]> {
        let from = self.index[brick] as usize;
        (from < self.coarse).then(|| &self.samples[from..from + VOLUME])
    }

    /// A bit for each cell of a brick, x fastest, a word for each z: whether φ comes within two quanta of 0 in it. `None` for
    /// coarse bricks, where |φ| is at least [`BrickField::calm`].
    pub fn mixed(&self, brick: usize) -> Option<&[u64; 8]> {
        self.mixed.get(self.index[brick] as usize / STRIDE)
    }

    /// φ at the eight corners of a brick, metres, as a coarse brick has them.
    pub fn corners(&self, brick: usize) -> [f32; 8] {
        let unit = self.quantum * self.step as f32;
        corners_of(self.bricks, place_of(brick, self.bricks)).map(|c| f32::from(self.samples[self.coarse + c]) * unit)
    }

    /// Distance between two values of a sample, metres.
    pub fn quantum(&self) -> f32 {
        self.quantum
    }

    /// Largest |sample − distance to the mesh| at the nodes of the narrow band, metres; measured, at most half a quantum and
    /// the rounding of the distance itself.
    pub fn rounding(&self) -> f32 {
        self.rounding
    }

    /// Origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Certified Lipschitz constant of φ inside the grid: no two points of the box differ by more per metre.
    pub fn lipschitz(&self) -> f32 {
        self.hot.lipschitz
    }

    /// Certified bound on how much the distances behind the samples differ per metre between the nodes: 1 for exact ones.
    pub fn node_lipschitz(&self) -> f32 {
        self.node_lipschitz
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
        self.error
    }

    /// How inside was told from outside.
    pub fn sign(&self) -> &SignReport {
        &self.sign
    }

    /// Whether a node is inside.
    pub fn has_inside(&self) -> bool {
        let (fine, coarse) = self.samples.split_at(self.coarse);
        coarse.iter().any(|&v| v < 0) || fine.chunks_exact(STRIDE).any(|b| b[..VOLUME].iter().any(|&v| v < 0))
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.index.len() * 4 + self.samples.len() * 2 + size_of_val(&*self.mixed)) as u64
    }

    /// With what is known of a cooked field: its fit, and a box its surface is in.
    pub(super) fn described(mut self, error: FieldError, surface: &Aabb) -> Self {
        self.error = error;
        self.bounds = self.bounds.merged(surface);
        self
    }

    /// The field of the body `factor` times as large: the samples stay, and mean more.
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let times = |x: f32| (f64::from(x) * factor) as f32;
        let (header, numbers, samples) = self.parts();
        let BrickHeader { grid, error, sign, bounds, .. } = header;
        let header = BrickHeader {
            grid: Grid { dims: grid.dims, spacing: times(grid.spacing), min: grid.min.map(times) },
            quantum: times(header.quantum),
            rounding: times(header.rounding),
            center: header.center * factor,
            bounds: Aabb { min: bounds.min * factor, max: bounds.max * factor },
            error: FieldError { max: error.max * factor, rms: error.rms * factor, ..error },
            sign: sign.scaled(factor),
            // The quantum and the spacing are rounded each for itself.
            node_lipschitz: header.node_lipschitz * (1.0 + 1e-6),
            ..header
        };
        Self::from_parts(header, &numbers, samples.into())
    }

    /// What a file keeps: the header, the number of each fine brick, and all samples.
    pub fn parts(&self) -> (BrickHeader, Vec<u32>, &[i16]) {
        let mut numbers = vec![0; self.fine_bricks()];
        for (brick, &from) in self.index.iter().enumerate() {
            if (from as usize) < self.coarse {
                numbers[from as usize / STRIDE] = brick as u32;
            }
        }
        let header = BrickHeader {
            grid: self.grid,
            fine: numbers.len() as u32,
            quantum: self.quantum,
            step: self.step,
            node_lipschitz: self.node_lipschitz,
            rounding: self.rounding,
            center: self.center,
            bounds: self.bounds,
            error: self.error,
            sign: self.sign,
        };
        (header, numbers, &self.samples)
    }

    /// The field of such parts, after checking that they fit each other.
    pub fn from_parts(header: BrickHeader, numbers: &[u32], samples: Box<[i16]>) -> Result<Self> {
        let expected = header.sample_count()?;
        let bricks = bricks_of(&header.grid);
        let (total, coarse) = (bricks.iter().map(|&n| n as usize).product(), header.fine as usize * STRIDE);
        if numbers.len() != header.fine as usize || samples.len() != expected {
            let what = format!("{} bricks and {} samples", numbers.len(), samples.len());
            return Err(Error::argument("samples", what, format!("{} and {expected}", header.fine)));
        }
        let sound = |x: f32| x.is_finite() && x > 0.0;
        if !sound(header.quantum) || !sound(header.node_lipschitz) || !header.rounding.is_finite() {
            let what = format!("{}, {}, {}", header.quantum, header.node_lipschitz, header.rounding);
            return Err(Error::argument("quantum, node_lipschitz, rounding", what, "finite, positive numbers"));
        }
        if header.step < STEP || !header.step.is_power_of_two() || header.step > 1 << 15 {
            return Err(Error::argument("step", header.step, "a power of two from 64"));
        }
        if header.center.iter().any(|x| !x.is_finite()) {
            let center = format!("{:?}", header.center.as_slice());
            return Err(Error::argument("center", center, "finite coordinates in metres"));
        }
        let mut index: Vec<u32> = vec![0; total];
        for (brick, from) in index.iter_mut().enumerate() {
            *from = (coarse + corners_of(bricks, place_of(brick, bricks))[0]) as u32;
        }
        for (n, &brick) in numbers.iter().enumerate() {
            match index.get_mut(brick as usize).filter(|from| **from as usize >= coarse) {
                Some(from) => *from = (n * STRIDE) as u32,
                None => return Err(Error::argument(format!("bricks[{n}]"), brick, format!("one of {total}, once"))),
            }
        }
        let (hot, lower) = build::certify(&header, &index, &samples, coarse);
        let mixed = samples[..coarse].par_chunks_exact(STRIDE).map(|s| cells::mixed(&s[..VOLUME])).collect::<Vec<_>>();
        let BrickHeader { grid, quantum, step, node_lipschitz, rounding, center, bounds, error, sign, .. } = header;
        let bounds = Aabb { min: lower.min + center, max: lower.max + center }.merged(&bounds);
        Ok(Self {
            grid,
            bricks,
            index: index.into(),
            samples,
            coarse,
            quantum,
            step,
            node_lipschitz,
            rounding,
            center,
            bounds,
            error,
            sign,
            hot,
            mixed: mixed.into(),
        })
    }
}
