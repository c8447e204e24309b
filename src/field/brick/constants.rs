//! Precomputed constants for sampling a brick field.

use super::index::Index;
use super::types::BrickHeader;
use crate::trilinear::{lipschitz_outside, slack, Axes, Flatness};

/// Certified properties of φ in the whole grid.
pub(super) struct Certified {
    pub lipschitz: f32,
    /// Lipschitz constant of the distances that the samples represent.
    pub node_lipschitz: f32,
    /// Lower bound of |φ| in coarse bricks and in the cells of fine bricks that have a node on a seam.
    pub calm: f32,
    /// Largest |φ|.
    pub largest: f32,
    /// Lower bound of φ on the border of the grid.
    pub border: f32,
}

/// Precomputed constants that sampling reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hot {
    pub axes: Axes,
    /// Box of the bricks that have an entry: lowest brick, number of bricks along the axes, and strides to the next
    /// entry along y and z.
    pub first: [u32; 3],
    pub size: [u32; 3],
    pub brick_row: usize,
    pub brick_slice: usize,
    /// Strides to the next coarse sample along y and z.
    pub row: usize,
    pub slice: usize,
    /// Index of the first coarse sample.
    pub coarse: u32,
    /// Metres per unit of a fine sample, and of a coarse one.
    pub quantum: f32,
    pub coarse_quantum: f32,
    pub lipschitz: f32,
    pub lipschitz_outside: f32,
    pub node_lipschitz: f32,
    pub node_lipschitz_outside: f32,
    /// Smallest distance of two nodes, cells, per metre of difference of the distances that they represent.
    pub cells_per_metre: f64,
    pub calm: f32,
    /// Largest |φ|, and a lower bound of φ on the border of the grid, metres.
    pub largest: f32,
    pub border: f32,
    /// Largest variance of the random corner for a point of a fine cell, m²: ¾ h²; and for any point, ¾ (8 h)².
    pub variance: f32,
    pub coarse_variance: f32,
    /// Rounding of φ anywhere in the box, and twice the rounding of the distances, metres.
    pub slack: f32,
    pub flat: Flatness,
}

impl Hot {
    pub fn new(header: &BrickHeader, index: &Index, certified: Certified) -> Self {
        let BrickHeader { grid, quantum, step, .. } = header;
        let Certified { lipschitz, node_lipschitz, calm, largest, border } = certified;
        let [nx, ny, _] = index.bricks.map(|n| n as usize);
        let h = grid.spacing;
        Self {
            axes: Axes::new(grid),
            first: index.first,
            size: index.size,
            brick_row: index.size[0] as usize,
            brick_slice: index.size[0] as usize * index.size[1] as usize,
            row: nx + 1,
            slice: (nx + 1) * (ny + 1),
            coarse: index.coarse as u32,
            quantum: *quantum,
            coarse_quantum: quantum * *step as f32,
            lipschitz,
            lipschitz_outside: lipschitz_outside(lipschitz),
            node_lipschitz,
            node_lipschitz_outside: lipschitz_outside(node_lipschitz),
            cells_per_metre: 0.999_999 / (f64::from(node_lipschitz) * f64::from(h)),
            calm,
            largest,
            border,
            variance: 0.7501 * h * h,
            coarse_variance: 0.7501 * 64.0 * h * h,
            slack: slack(grid, largest, lipschitz),
            flat: Flatness::new(lipschitz, node_lipschitz),
        }
    }
}
