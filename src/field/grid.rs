//! Positions of the nodes of a regular grid.

use serde::{Deserialize, Serialize};

use voxshell_base::math::limits::{self, Shown};
use voxshell_base::{Error, Result};

/// A regular grid of nodes in a field's local frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Number of nodes along x, y and z; at least two each.
    pub dims: [u32; 3],
    /// Distance between neighbouring nodes, metres.
    pub spacing: f32,
    /// The first node, metres, local frame.
    pub min: [f32; 3],
}

/// Largest number of nodes of a grid along an axis.
const MOST_ALONG: f64 = (1 << 20) as f64;
/// Largest number of nodes of a grid.
const MOST_NODES: f64 = (1u64 << 40) as f64;

impl Grid {
    /// Returns a grid with its middle at 0.
    pub fn centered(dims: [u32; 3], spacing: f32) -> Self {
        Self { dims, spacing, min: dims.map(|n| -0.5 * (n.max(1) - 1) as f32 * spacing) }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.dims.iter().map(|&n| n as usize).product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index of a node in arrays over the grid: x fastest, then y.
    #[inline(always)]
    pub fn index(&self, i: u32, j: u32, k: u32) -> usize {
        (k as usize * self.dims[1] as usize + j as usize) * self.dims[0] as usize + i as usize
    }

    /// Returns the position of a node, metres, local frame.
    #[inline(always)]
    pub fn node(&self, i: u32, j: u32, k: u32) -> [f32; 3] {
        [
            self.min[0] + i as f32 * self.spacing,
            self.min[1] + j as f32 * self.spacing,
            self.min[2] + k as f32 * self.spacing,
        ]
    }

    /// Returns the last node, metres, local frame.
    pub fn max(&self) -> [f32; 3] {
        self.node(self.dims[0] - 1, self.dims[1] - 1, self.dims[2] - 1)
    }

    /// Checks that a grid may have so many nodes along the axes, which are whole numbers.
    ///
    /// # Errors
    /// `TooMany`, which says whether the nodes along an axis are too many or those of the whole grid.
    pub fn check_counts(counts: [f64; 3]) -> Result<()> {
        let [x, y, z] = counts.map(Shown);
        let nodes = counts.iter().product::<f64>();
        let (what, expected) = if counts.iter().any(|&n| n > MOST_ALONG) {
            let expected = format!("at most {MOST_ALONG} nodes along each axis: try a larger voxel size");
            (format!("the grid has {x} x {y} x {z} nodes"), expected)
        } else if nodes > MOST_NODES {
            let expected = format!("at most {MOST_NODES} in all: try a larger voxel size");
            (format!("the grid has {x} x {y} x {z} = {} nodes", Shown(nodes)), expected)
        } else {
            return Ok(());
        };
        Err(Error::TooMany { what, expected, needed: (size_of::<f32>() as f64 * nodes) as u64 })
    }

    /// Checks that the grid has cells, and that every number is in its range.
    pub fn check(&self) -> Result<()> {
        if self.dims.iter().any(|&n| n < 2) {
            let [x, y, z] = self.dims;
            return Err(Error::argument("dims", format!("{x} x {y} x {z}"), "at least 2 nodes along each axis"));
        }
        Self::check_counts(self.dims.map(f64::from))?;
        if !(self.spacing.is_finite() && self.spacing >= f32::MIN_POSITIVE && (1.0 / self.spacing).is_finite()) {
            return Err(Error::argument("spacing", self.spacing, "a positive, finite length in metres"));
        }
        if self.min.iter().chain(&self.max()).any(|x| !limits::is_grid_coordinate(f64::from(*x))) {
            return Err(Error::argument("min", format!("{:?}", self.min), "a grid at coordinates of at most 4e18 m"));
        }
        Ok(())
    }
}
