//! Grid for cooking: f64, centred, scaled by a power of two so that f32 slacks can be absolute.

use voxshell_base::math::Vec3;
use voxshell_base::memory::CollectGuarded;
use voxshell_field::Grid;
use voxshell_mesh::TriMesh;

/// A grid in its local frame, times `scale`: half the largest edge of its box is between ½ and 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    pub dims: [u32; 3],
    /// The first node, scaled.
    pub min: [f64; 3],
    /// Distance between nodes, scaled.
    pub spacing: f64,
    /// A power of two, so that scaling is exact.
    pub scale: f64,
}

impl Lattice {
    pub fn new(grid: &Grid) -> Self {
        let spacing = f64::from(grid.spacing);
        let half = grid.dims.iter().map(|&n| 0.5 * f64::from(n - 1) * spacing).fold(0.0, f64::max);
        let mut scale = 1.0;
        while half * scale > 1.0 {
            scale *= 0.5;
        }
        while half * scale <= 0.5 {
            scale *= 2.0;
        }
        Self { dims: grid.dims, min: grid.min.map(|x| f64::from(x) * scale), spacing: spacing * scale, scale }
    }

    /// Returns the lattice of every `n`th node, from the first on.
    pub fn every(&self, n: u32) -> Self {
        Self { dims: self.dims.map(|d| (d - 1) / n + 1), spacing: self.spacing * f64::from(n), ..*self }
    }

    /// Returns the triangles of a mesh in this frame; `center` is the origin of the grid's frame in the mesh's frame.
    pub fn corners(&self, mesh: &TriMesh, center: Vec3) -> Vec<[[f64; 3]; 3]> {
        let place = |p: [f64; 3]| [0, 1, 2].map(|k| (p[k] - center[k]) * self.scale);
        (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(place)).collect_guarded()
    }

    /// Returns triangles in this frame as a mesh: the inverse of `corners`.
    pub fn mesh(&self, corners: &[[[f64; 3]; 3]], center: Vec3) -> TriMesh {
        let place = |p: [f64; 3]| (Vec3::from(p) / self.scale + center).into();
        TriMesh {
            vertices: corners.iter().flatten().copied().map(place).collect_guarded(),
            triangles: (0..corners.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect_guarded(),
        }
    }
}
