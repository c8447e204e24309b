//! Constants of a brick, and the positions of bricks, nodes and coarse samples in the grid.

use crate::Grid;

/// Number of cells along the edge of a brick.
pub const CELLS: u32 = 8;

/// Number of nodes along the edge of a brick, both sides included.
pub const NODES: u32 = CELLS + 1;

/// Number of samples of a fine brick.
pub const VOLUME: usize = (NODES * NODES * NODES) as usize;

/// Numbers per fine brick during construction: its samples, and their largest excess over the distance.
pub const STRIDE: usize = VOLUME + 1;

/// Half the width of the narrow band, cells.
pub const BAND: f32 = 3.0;

/// Quanta per cell. A node of a fine brick is at most the band and a brick's diagonal away from the surface: 16.86
/// cells, which are 32,366 quanta. The rest up to 32,767 is reserved for the rounding of coarse samples.
pub const QUANTA: f32 = 1920.0;

/// Smallest unit of coarse samples, quanta: bilinear weights at eighths are multiples of 1/64.
pub(super) const STEP: u32 = 64;

/// Largest unit of coarse samples that fits beside the 32,366, quanta.
pub(super) const MAX_STEP: u32 = 512;

/// Returns the number of bricks along the axes that cover the cells of a grid.
pub fn bricks_of(grid: &Grid) -> [u32; 3] {
    grid.dims.map(|n| (n - 1).div_ceil(CELLS))
}

/// Returns the position of a brick along the axes from its number, x fastest.
pub fn place_of(brick: usize, bricks: [u32; 3]) -> [u32; 3] {
    let [nx, ny, _] = bricks.map(|n| n as usize);
    [brick % nx, brick / nx % ny, brick / (nx * ny)].map(|i| i as u32)
}

/// Returns the numbers of the eight corners of a brick among the coarse samples, x fastest.
pub fn corners_of(bricks: [u32; 3], [i, j, k]: [u32; 3]) -> [usize; 8] {
    let [nx, ny, _] = bricks.map(|n| n as usize + 1);
    std::array::from_fn(|c| {
        let [x, y, z] = [i as usize + (c & 1), j as usize + (c >> 1 & 1), k as usize + (c >> 2)];
        (z * ny + y) * nx + x
    })
}

/// Calls `f` with the position of each node of a brick, and its number, x fastest.
pub(super) fn each_node(mut f: impl FnMut([u32; 3], usize)) {
    let mut n = 0;
    for k in 0..NODES {
        for j in 0..NODES {
            for i in 0..NODES {
                f([i, j, k], n);
                n += 1;
            }
        }
    }
}

/// Returns the planes of the grid's border that pass through a brick: axis, and node in the brick (0 to 8).
pub(super) fn borders(grid: &Grid, place: [u32; 3]) -> impl Iterator<Item = (usize, u32)> {
    let last = grid.dims.map(|n| n - 1);
    (0..3).flat_map(move |k| {
        let first = place[k] * CELLS;
        let upper = (first <= last[k] && last[k] <= first + CELLS).then(|| (k, last[k] - first));
        (first == 0).then_some((k, 0)).into_iter().chain(upper)
    })
}
