//! The numbers of a brick and the places of bricks, nodes and coarse samples in the grid.

use crate::field::Grid;

/// Cells along the edge of a brick.
pub(crate) const CELLS: u32 = 8;

/// Nodes along the edge of a brick, those on both sides included.
pub(crate) const NODES: u32 = CELLS + 1;

/// Samples of a fine brick.
pub(crate) const VOLUME: usize = (NODES * NODES * NODES) as usize;

/// Numbers for a fine brick while it is made: its samples, and how far they rise above the distance.
pub(crate) const STRIDE: usize = VOLUME + 1;

/// Half the width of the narrow band, cells.
pub(crate) const BAND: f32 = 3.0;

/// Quanta per cell: a brick's node is at most the band and a brick's diagonal away from the surface, 16.86 cells, which
/// this makes 32,366 quanta; the rest to 32,767 is room for the rounding of coarse samples.
pub(crate) const QUANTA: f32 = 1920.0;

/// Fewest quanta between coarse samples: bilinear weights at eighths are multiples of 1/64.
pub(super) const STEP: u32 = 64;

/// Most of them that fit beside the 32,366.
pub(super) const MAX_STEP: u32 = 512;

/// Bricks along the axes that cover the cells of a grid.
pub(crate) fn bricks_of(grid: &Grid) -> [u32; 3] {
    grid.dims.map(|n| (n - 1).div_ceil(CELLS))
}

/// The number of a brick, x fastest, to its place along the axes.
pub(crate) fn place_of(brick: usize, bricks: [u32; 3]) -> [u32; 3] {
    let [nx, ny, _] = bricks.map(|n| n as usize);
    [brick % nx, brick / nx % ny, brick / (nx * ny)].map(|i| i as u32)
}

/// Numbers of the eight corners of a brick among the coarse samples, x fastest.
pub(crate) fn corners_of(bricks: [u32; 3], [i, j, k]: [u32; 3]) -> [usize; 8] {
    let [nx, ny, _] = bricks.map(|n| n as usize + 1);
    std::array::from_fn(|c| {
        let [x, y, z] = [i as usize + (c & 1), j as usize + (c >> 1 & 1), k as usize + (c >> 2)];
        (z * ny + y) * nx + x
    })
}

/// Calls `f` with the place of each node of a brick, and its number, x fastest.
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

/// Which planes of the grid's border pass through a brick: by axis, the node in the brick (0 to 8).
pub(super) fn borders(grid: &Grid, place: [u32; 3]) -> impl Iterator<Item = (usize, u32)> {
    let last = grid.dims.map(|n| n - 1);
    (0..3).flat_map(move |k| {
        let first = place[k] * CELLS;
        let upper = (first <= last[k] && last[k] <= first + CELLS).then(|| (k, last[k] - first));
        (first == 0).then_some((k, 0)).into_iter().chain(upper)
    })
}
