//! Positions of the voxels, and the voxel that holds a point.

use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::{Error, Result};
use voxshell_field::Grid;
use voxshell_mesh::TriMesh;

/// Resolution of a voxel grid, and its memory limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelOptions {
    /// Edge s of a voxel, metres.
    pub voxel_size: f64,
    /// Voxels between the mesh's box and the border of the grid. An [`Offset`](super::Offset) or distances outside need
    /// them; 0 is the grid of Sagardia et al. 2014, "sized with the bounding box of the object".
    pub padding_voxels: u32,
    /// Memory limit, bytes, of each of the model and the forms made from it, with the memory needed to make them.
    pub memory_limit: u64,
}

impl VoxelOptions {
    /// Returns options with four voxels of padding and at most 4 GiB: the grid that
    /// [`FieldOptions::new`](voxshell_cook::FieldOptions::new) gives a field.
    pub fn new(voxel_size: f64) -> Self {
        Self { voxel_size, padding_voxels: 4, memory_limit: 4 << 30 }
    }

    /// Returns options with `voxels` along the largest extent of the mesh's box.
    pub fn with_resolution(mesh: &TriMesh, voxels: u32) -> Self {
        Self::new(mesh.bounds().extents().max() / f64::from(voxels.max(1)))
    }

    /// Returns the grid for `mesh`: voxel centres all around its box, centred on it.
    pub fn grid(&self, mesh: &TriMesh) -> Result<VoxelGrid> {
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("there are no triangles; expected at least 1".into()));
        }
        self.grid_around(&mesh.bounds())
    }

    /// Returns the grid for a body in a box, centred on it. Body frame, metres.
    pub fn grid_around(&self, bounds: &Aabb) -> Result<VoxelGrid> {
        if !(self.voxel_size.is_finite() && self.voxel_size > 0.0) {
            return Err(Error::argument("voxel_size", self.voxel_size, "a positive, finite length in metres"));
        }
        let padding = 2.0 * f64::from(self.padding_voxels);
        let counts = bounds.extents().map(|e| ((e / self.voxel_size).ceil() + padding + 1.0).max(2.0));
        let most = f64::from(VoxelGrid::MOST);
        if counts.iter().any(|&n| n > most) {
            let [x, y, z] = counts.into();
            let what = format!("{} m, which makes {x} x {y} x {z} voxels", self.voxel_size);
            return Err(Error::argument("voxel_size", what, format!("at most {most} voxels along each axis")));
        }
        let counts: [f64; 3] = counts.into();
        VoxelGrid::new(Grid::centered(counts.map(|n| n as u32), self.voxel_size as f32), bounds.center())
    }
}

/// A grid of voxels: closed cubes of edge s around the nodes of a [`Grid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelGrid {
    nodes: Grid,
    center: Vec3,
    inverse: f32,
}

/// The voxel that holds a point, counted from the grid's first; also for points beyond the grid.
pub(super) type Cell = [i32; 3];

impl VoxelGrid {
    /// Largest number of voxels along an axis: layers are 16-bit numbers.
    pub const MOST: u32 = 32_000;

    /// Makes a grid. `nodes`: the centres of the voxels, in a frame whose origin is `center` in the body frame, metres.
    pub fn new(nodes: Grid, center: Vec3) -> Result<Self> {
        nodes.check()?;
        if nodes.dims.iter().any(|&n| n > Self::MOST) {
            let expected = format!("at most {} voxels along each axis", Self::MOST);
            return Err(Error::argument("dims", format!("{:?}", nodes.dims), expected));
        }
        limits::check_point("center", &center)?;
        Ok(Self { nodes, center, inverse: 1.0 / nodes.spacing })
    }

    /// The centres of the voxels, local frame.
    pub fn nodes(&self) -> &Grid {
        &self.nodes
    }

    /// Origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Number of voxels along x, y and z.
    pub fn dims(&self) -> [u32; 3] {
        self.nodes.dims
    }

    /// s: edge of a voxel, metres.
    pub fn voxel_size(&self) -> f32 {
        self.nodes.spacing
    }

    /// Number of voxels.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the index of a voxel in arrays over the grid: x fastest, then y.
    #[inline(always)]
    pub fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        self.nodes.index(i, j, k)
    }

    /// Centre of a voxel, metres, local frame.
    pub fn voxel_center(&self, [i, j, k]: [u32; 3]) -> [f32; 3] {
        self.nodes.node(i, j, k)
    }

    /// Returns the voxel that holds a point; of several that meet there, the one farther along each axis. `None`
    /// outside the grid and for NaN.
    #[inline]
    pub fn voxel_at(&self, p: [f32; 3]) -> Option<[u32; 3]> {
        let cell = self.cell(p);
        // Negative numbers become large ones.
        let voxel = cell.map(|c| c as u32);
        ((0..3).all(|k| voxel[k] < self.nodes.dims[k]) && p.iter().all(|x| !x.is_nan())).then_some(voxel)
    }

    /// Returns the voxel as `voxel_at`, in an unlimited grid; saturates far away, 0 for NaN.
    #[inline(always)]
    pub(super) fn cell(&self, p: [f32; 3]) -> Cell {
        [0, 1, 2].map(|k| {
            let t = (p[k] - self.nodes.min[k]) * self.inverse + 0.5;
            // Rounded down without floor(), which is a function call on targets for older processors.
            let towards_zero = t as i32;
            towards_zero.saturating_sub(i32::from(t < towards_zero as f32))
        })
    }

    /// Returns the voxel of the grid closest to a cell, and the largest number of voxels between them along an axis.
    #[inline(always)]
    pub(super) fn clamp(&self, cell: Cell) -> ([u32; 3], i32) {
        let voxel = [0, 1, 2].map(|k| cell[k].clamp(0, self.nodes.dims[k] as i32 - 1));
        let over = (0..3).map(|k| cell[k].abs_diff(voxel[k])).fold(0, u32::max);
        (voxel.map(|v| v as u32), over.min(i32::MAX as u32) as i32)
    }

    /// Returns the nearest point of the voxels' box, the voxel that holds it, and its distance from `p`, metres.
    #[inline(always)]
    pub(super) fn nearest(&self, p: [f32; 3]) -> ([f32; 3], [u32; 3], f32) {
        let h = 0.5 * self.nodes.spacing;
        let last = self.nodes.max();
        let q = [0, 1, 2].map(|k| p[k].max(self.nodes.min[k] - h).min(last[k] + h));
        let off = [0, 1, 2].map(|k| p[k] - q[k]);
        let over = ((off[0] * off[0] + off[1] * off[1]) + off[2] * off[2]).sqrt();
        let (voxel, _) = self.clamp(self.cell(q));
        (q, voxel, over)
    }

    /// n·e: the local part of a penetration, metres, with e from `p` to the centre of its cell.
    ///
    /// Sagardia et al. 2014, equation 4.
    #[inline(always)]
    pub(super) fn local(&self, cell: Cell, p: [f32; 3], n: [f32; 3]) -> f32 {
        let e = [0, 1, 2].map(|k| (self.nodes.min[k] + cell[k] as f32 * self.nodes.spacing) - p[k]);
        (n[0] * e[0] + n[1] * e[1]) + n[2] * e[2]
    }

    /// Returns an error when `needed` bytes are more than `limit`.
    pub(super) fn afford(&self, what: &str, needed: u64, limit: u64) -> Result<()> {
        if needed <= limit {
            return Ok(());
        }
        let [x, y, z] = self.dims();
        Err(Error::TooLarge { what: format!("{what} of {x} x {y} x {z} voxels"), needed, limit })
    }
}
