//! The voxels that a triangle touches: separating axes, row by row.
//!
//! A triangle and a box are separated exactly when they are separated along one of 13 directions: the three axes of the
//! box, the triangle's normal, and the nine products of its edges with those axes (Akenine-Möller 2001). With voxel
//! centres at whole numbers each direction a gives the condition low ≤ a·c ≤ high on the centre c, and low and high
//! depend on the triangle alone (Schwarz & Seidel 2010). For a triangle without area some directions vanish and give no
//! condition: the rest is the test of a segment, or of a point.

use rayon::prelude::*;

use super::bits::{Bits, SharedBits};
use super::VoxelGrid;
use voxshell_base::math::Vec3;
use voxshell_base::{Error, Result};
use voxshell_mesh::TriMesh;

/// One direction: low ≤ a·c ≤ high for the centre c of a voxel that may be touched.
#[derive(Clone, Copy, Default)]
struct Axis {
    a: [f64; 3],
    low: f64,
    high: f64,
    /// Bound on the rounding of a·c, low and high.
    slack: f64,
}

impl Axis {
    fn new(a: Vec3, corners: &[Vec3; 3], reach: f64) -> Self {
        let d = corners.map(|p| p.dot(&a));
        let sum = a.abs().sum();
        let slack = 8.0 * f64::EPSILON * reach * sum;
        let half = 0.5 * sum + slack;
        Self { a: a.into(), low: d[0].min(d[1]).min(d[2]) - half, high: d[0].max(d[1]).max(d[2]) + half, slack }
    }

    #[inline(always)]
    fn admits(&self, c: [f64; 3]) -> bool {
        let d = (self.a[0] * c[0] + self.a[1] * c[1]) + self.a[2] * c[2];
        self.low <= d && d <= self.high
    }

    /// Returns the range of x in row (y, z) outside of which no voxel is admitted, cut down from `range`.
    #[inline(always)]
    fn narrow(&self, y: f64, z: f64, range: [f64; 2]) -> [f64; 2] {
        let rest = self.a[1] * y + self.a[2] * z;
        let (low, high) = (self.low - self.slack - rest, self.high + self.slack - rest);
        let a = self.a[0];
        if a == 0.0 {
            return if low <= 0.0 && 0.0 <= high { range } else { [1.0, 0.0] };
        }
        let (from, to) = if a > 0.0 { (low / a, high / a) } else { (high / a, low / a) };
        // The division rounds, too.
        [range[0].max(from - 1e-6), range[1].min(to + 1e-6)]
    }
}

/// A triangle prepared for tests against voxels.
struct Touch {
    /// Voxels of its box, first and last.
    first: [u32; 3],
    last: [u32; 3],
    /// Voxel from which `c` is counted, so that numbers are as small as the triangle.
    base: [f64; 3],
    /// Directions across x: the same for a whole row.
    rows: [Axis; 3],
    others: [Axis; 7],
}

impl Touch {
    /// Prepares a triangle. `corners` in voxels from the centre of the first one; `reach` is the largest number of
    /// voxels along an axis.
    fn new(corners: [Vec3; 3], dims: [u32; 3], reach: f64) -> Self {
        let slack = 8.0 * f64::EPSILON * reach;
        let (min, max) = (corners[0].inf(&corners[1]).inf(&corners[2]), corners[0].sup(&corners[1]).sup(&corners[2]));
        let voxel = |x: f64, k: usize| x.clamp(0.0, f64::from(dims[k] - 1)) as u32;
        let first = [0, 1, 2].map(|k| voxel((min[k] - 0.5 - slack).ceil(), k));
        let last = [0, 1, 2].map(|k| voxel((max[k] + 0.5 + slack).floor(), k));
        let base = first.map(f64::from);
        let p = corners.map(|c| c - Vec3::from(base));
        let e = [p[1] - p[0], p[2] - p[1], p[0] - p[2]];
        let axis = |a: Vec3| Axis::new(a, &p, reach);
        let across = |u: Vec3| e.map(|e| axis(u.cross(&e)));
        let ([a, b, c], [d, e0, f]) = (across(Vec3::y()), across(Vec3::z()));
        let others = [axis(e[0].cross(&e[1])), a, b, c, d, e0, f];
        Self { first, last, base, rows: across(Vec3::x()), others }
    }

    fn insert(&self, out: &SharedBits) {
        let span = [0.0, f64::from(self.last[0] - self.first[0])];
        for k in self.first[2]..=self.last[2] {
            let z = f64::from(k) - self.base[2];
            for j in self.first[1]..=self.last[1] {
                let y = f64::from(j) - self.base[1];
                if !self.rows.iter().all(|axis| axis.admits([0.0, y, z])) {
                    continue;
                }
                let [from, to] = self.others.iter().fold(span, |range, axis| axis.narrow(y, z, range));
                let mut x = from.ceil();
                while x <= to {
                    if self.others.iter().all(|axis| axis.admits([x, y, z])) {
                        out.insert([self.first[0] + x as u32, j, k]);
                    }
                    x += 1.0;
                }
            }
        }
    }
}

/// Returns the voxels, closed cubes, that have a point in common with a triangle; rounding only adds voxels.
///
/// Sagardia et al. 2014, section 2.1.1: the voxels of value 0.
pub(super) fn touched(mesh: &TriMesh, grid: &VoxelGrid) -> Result<Bits> {
    let (nodes, dims) = (grid.nodes(), grid.dims());
    let s = f64::from(nodes.spacing);
    let origin = Vec3::from(nodes.min.map(f64::from));
    let reach = f64::from(dims[0].max(dims[1]).max(dims[2]));
    let place = |p: [f64; 3]| ((Vec3::from(p) - grid.center()) - origin) / s;
    let bounds = mesh.bounds();
    let (low, high) = (place(bounds.min.into()), place(bounds.max.into()));
    // f32 spacing and origin move the walls by their rounding.
    let room = 0.5 + 4.0 * f64::from(f32::EPSILON) * reach;
    if (0..3).any(|k| low[k] < -room || high[k] > f64::from(dims[k] - 1) + room) {
        let value = format!("{dims:?} voxels of {s} m around {:?}", grid.center().as_slice());
        let expected = format!("voxels all over the mesh, {:?} to {:?}", bounds.min.as_slice(), bounds.max.as_slice());
        return Err(Error::argument("grid", value, expected));
    }
    // A point that rounding puts beyond a wall is moved onto it.
    let within = |p: [f64; 3]| {
        let q = place(p);
        Vec3::from([0, 1, 2].map(|k| q[k].clamp(-0.5, f64::from(dims[k]) - 0.5)))
    };
    let out = SharedBits::new(dims);
    (0..mesh.triangles.len())
        .into_par_iter()
        .for_each(|t| Touch::new(mesh.corners(t).map(within), dims, reach).insert(&out));
    Ok(out.into_bits())
}
