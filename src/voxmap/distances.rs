//! Distances from the closest surface point, at the voxels' centres.

use rayon::prelude::*;

use super::{VoxelGrid, VoxelModel};
use crate::field::DenseField;
use crate::{Error, Result};

/// How a distance is stored: `f32` in metres, or `i16` in units of λ.
pub trait DistanceSample: Copy + Send + Sync + 'static {
    /// The distance in metres; `lambda` is the unit of the numbers.
    fn metres(self, lambda: f32) -> f32;
}

impl DistanceSample for f32 {
    #[inline(always)]
    fn metres(self, _: f32) -> f32 {
        self
    }
}

impl DistanceSample for i16 {
    #[inline(always)]
    fn metres(self, lambda: f32) -> f32 {
        f32::from(self) * lambda
    }
}

/// Distance d of every voxel's centre from the closest point of the surface: positive inside (penetration), negative
/// outside. Immutable; shared by any number of threads. Points in the local frame, metres; look-ups allocate nothing
/// and are callable from any thread.
///
/// Beyond the voxels, values are those at the nearest point of their box, less the distance to it.
///
/// Where the paper takes the closest point found by walking down the layers to a surface voxel, which is approximate,
/// these distances are the field's, which are exact.
///
/// Sagardia et al. 2014, section 2.1.1.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceMap<T> {
    grid: VoxelGrid,
    /// x fastest, then y.
    values: Box<[T]>,
    /// λ, metres.
    lambda: f32,
    /// p; 0 for real distances.
    precision: u8,
}

/// A field cooked on the model's grid, or an error.
fn same_grid(model: &VoxelModel, field: &DenseField) -> Result<()> {
    let grid = model.grid();
    if grid.nodes() == field.grid() && grid.center() == field.center() {
        return Ok(());
    }
    let value = format!("{:?} around {:?}", field.grid(), field.center().as_slice());
    let expected = format!("a field on the model's grid, {:?} around {:?}", grid.nodes(), grid.center().as_slice());
    Err(Error::argument("field", value, expected))
}

/// Calls `make` with each voxel's distance: |φ|, positive in the model's interior, negative where it is free, and as
/// the field has it in surface voxels.
fn collect<T: DistanceSample>(model: &VoxelModel, field: &DenseField, make: impl Fn(f32) -> T + Sync) -> Box<[T]> {
    let [nx, ny, _] = model.grid().dims();
    let signed = |(n, &phi): (usize, &f32)| {
        let row = n as u32 / nx;
        let voxel = [n as u32 % nx, row % ny, row / ny];
        make(if model.is_surface(voxel) {
            -phi
        } else if model.is_interior(voxel) {
            phi.abs()
        } else {
            -phi.abs()
        })
    };
    field.values().par_iter().enumerate().map(signed).collect::<Vec<T>>().into()
}

impl DistanceMap<f32> {
    /// Real distances; four bytes a voxel. `field` is φ on the model's own grid, as
    /// [`DenseField::cook`] with the same voxel size and padding makes it; the sign is the model's.
    pub fn real(model: &VoxelModel, field: &DenseField) -> Result<Self> {
        same_grid(model, field)?;
        let grid = *model.grid();
        grid.afford("a map of real distances", grid.len() as u64 * 4, model.memory_limit())?;
        Ok(Self { grid, values: collect(model, field, |d| d), lambda: 1.0, precision: 0 })
    }
}

impl DistanceMap<i16> {
    /// Scaled distances; two bytes a voxel: v = d·10ᵖ truncated towards 0, so that d̃ = v·λ with λ = 10⁻ᵖ m is off by
    /// less than λ. `precision` is p, at most 9; `field` as in [`DistanceMap::real`].
    ///
    /// Fails with `InvalidArgument` when a distance does not fit, and says which precision would.
    ///
    /// Sagardia et al. 2014, equation 1.
    pub fn scaled(model: &VoxelModel, field: &DenseField, precision: u8) -> Result<Self> {
        same_grid(model, field)?;
        let grid = *model.grid();
        grid.afford("a map of scaled distances", grid.len() as u64 * 2, model.memory_limit())?;
        let largest = field.values().par_iter().map(|v| v.abs()).reduce(|| 0.0, f32::max);
        let fits = |p: u8| f64::from(largest) * 10f64.powi(p.into()) < 32_768.0;
        if precision > 9 || !fits(precision) {
            let value = format!("{precision} for distances of up to {largest} m");
            let expected = match (0..=9).rev().find(|&p| fits(p)) {
                Some(most) => format!("at most {most}, for 16-bit numbers"),
                None => "distances of less than 32768 m".into(),
            };
            return Err(Error::argument("precision", value, expected));
        }
        let scale = 10f64.powi(precision.into());
        let values = collect(model, field, |d| (f64::from(d) * scale) as i16);
        Ok(Self { grid, values, lambda: (1.0 / scale) as f32, precision })
    }

    /// λ = 10⁻ᵖ: what one stands for, metres.
    pub fn lambda(&self) -> f32 {
        self.lambda
    }

    /// p.
    pub fn precision(&self) -> u8 {
        self.precision
    }
}

impl<T: DistanceSample> DistanceMap<T> {
    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// The numbers stored; x fastest, then y.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// V_R(C): distance at the centre of a voxel, metres.
    ///
    /// # Panics
    /// When there is no such voxel.
    #[inline]
    pub fn distance(&self, voxel: [u32; 3]) -> f32 {
        self.values[self.grid.index(voxel)].metres(self.lambda)
    }

    /// ∇V_R: change of the distance from voxel to voxel, metres, by central differences; one-sided at the border of the
    /// grid. Inside it points away from the surface, outside towards it; its length is about s.
    #[inline]
    pub fn gradient(&self, voxel: [u32; 3]) -> [f32; 3] {
        let at = self.grid.index(voxel);
        let dims = self.grid.dims();
        let steps = [1, dims[0] as usize, dims[0] as usize * dims[1] as usize];
        let value = |at: usize| self.values[at].metres(self.lambda);
        [0, 1, 2].map(|k| {
            let (low, high) = (voxel[k] > 0, voxel[k] + 1 < dims[k]);
            let rise = value(at + usize::from(high) * steps[k]) - value(at - usize::from(low) * steps[k]);
            if low && high {
                0.5 * rise
            } else {
                rise
            }
        })
    }

    /// V(P) = n·e + v(P)·λ: the distance at the centre of the voxel that holds a point, corrected along `n`, the unit
    /// normal of the pointshell's sample at `p` into its own body, that is out of this one. Metres.
    ///
    /// Sagardia et al. 2014, equation 4 with σ = λ.
    #[inline]
    pub fn penetration(&self, p: [f32; 3], n: [f32; 3]) -> f32 {
        let (q, voxel, over) = self.nearest(p);
        (self.grid.local(voxel.map(|v| v as i32), q, n) + self.distance(voxel)) - over
    }

    /// V_R(P) = ∇V_R·(P − C)/s + V_R(C): the distance at the centre C of the voxel that holds a point, corrected along
    /// the gradient there. Metres. Jumps between voxels by what the surface's curvature within one makes.
    ///
    /// Sagardia et al. 2014, equation 5.
    #[inline]
    pub fn interpolated(&self, p: [f32; 3]) -> f32 {
        let (q, voxel, over) = self.nearest(p);
        let g = self.gradient(voxel);
        // local() is against P − C.
        let along = -self.grid.local(voxel.map(|v| v as i32), q, g) / self.grid.voxel_size();
        (along + self.distance(voxel)) - over
    }

    /// The nearest point of the voxels' box, the voxel that holds it, and how far it is, metres.
    #[inline(always)]
    fn nearest(&self, p: [f32; 3]) -> ([f32; 3], [u32; 3], f32) {
        let nodes = self.grid.nodes();
        let h = 0.5 * nodes.spacing;
        let last = nodes.max();
        let q = [0, 1, 2].map(|k| p[k].max(nodes.min[k] - h).min(last[k] + h));
        let off = [0, 1, 2].map(|k| p[k] - q[k]);
        let over = ((off[0] * off[0] + off[1] * off[1]) + off[2] * off[2]).sqrt();
        let (voxel, _) = self.grid.clamp(self.grid.cell(q));
        (q, voxel, over)
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.values.len() * size_of::<T>()) as u64
    }
}
