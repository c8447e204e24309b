//! Distances from the closest surface point, at the voxels' centres.

use rayon::prelude::*;

use super::{VoxelGrid, VoxelModel};
use voxshell_base::memory::{self, boxed, filled, CollectGuarded};
use voxshell_base::{Error, Result};
use voxshell_field::SignedDistance;

/// Storage of a distance: `f32` in metres, or `i16` in units of λ.
pub trait DistanceSample: Copy + Send + Sync + 'static {
    /// Returns the distance in metres; `lambda` is the unit of the numbers.
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
/// Beyond the voxels, values are those at the nearest point of their box, minus the distance to it.
///
/// The paper takes the closest point found by walking down the layers to a surface voxel, which is approximate. These
/// distances are the field's: exact for analytic fields and meshes, and for a full grid on the model's own; bricks are
/// coarse off their band.
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

/// Returns the results of `make` for each voxel's distance, and the largest |φ|. A distance is |φ| at the voxel's
/// centre, positive in the model's interior and negative where it is free; surface voxels keep the field's value with
/// the sign reversed.
fn collect<T, F>(model: &VoxelModel, field: &F, make: impl Fn(f32) -> T + Sync) -> Result<(Box<[T]>, f32)>
where
    T: DistanceSample,
    F: SignedDistance + ?Sized,
{
    memory::guard("making a map of distances", || {
        let (grid, nodes) = (model.grid(), model.grid().nodes());
        let [nx, ny, _] = grid.dims();
        let shift = grid.center() - field.local_origin(&grid.center());
        let along =
            |k: usize, i: u32| (f64::from(nodes.min[k]) + f64::from(i) * f64::from(nodes.spacing) + shift[k]) as f32;
        let x: Vec<f32> = (0..nx).map(|i| along(0, i)).collect_guarded();
        // The centre of a surface voxel is within √3/2 s of the surface, and φ may be up to √3 times as steep as the distance.
        let near = 2.0 * nodes.spacing + field.error_bound() as f32;
        let mut values = filled(make(0.0), grid.len());
        let largest = values
            .par_chunks_mut(nx as usize)
            .enumerate()
            .map(|(row, values)| {
                let [j, k] = [row as u32 % ny, row as u32 / ny];
                let (y, z) = (filled(along(1, j), x.len()), filled(along(2, k), x.len()));
                let mut phi = filled(0.0, x.len());
                field.distance_batch(&x, &y, &z, &mut phi);
                let mut largest = 0.0f32;
                for ((i, value), &phi) in (0..nx).zip(values).zip(&phi) {
                    let signed = if model.is_surface([i, j, k]) {
                        if phi.is_nan() || phi.abs() > near {
                            let value = format!("{phi} m from the centre of voxel {:?}", [i, j, k]);
                            let expected =
                                format!("the model's own surface, at most {near} m away: the voxel is a surface voxel");
                            return Err(Error::argument("field", value, expected));
                        }
                        -phi
                    } else if model.is_interior([i, j, k]) {
                        phi.abs()
                    } else {
                        -phi.abs()
                    };
                    largest = largest.max(phi.abs());
                    *value = make(signed);
                }
                Ok(largest)
            })
            .try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
        Ok((boxed(values), largest))
    })
}

impl DistanceMap<f32> {
    /// Makes a map of real distances; four bytes per voxel. `field` is φ of the same body, in any storage and on any
    /// grid; the sign is the model's.
    ///
    /// Fails with `InvalidArgument` when the field's surface is not near the model's surface voxels.
    pub fn real<F: SignedDistance + ?Sized>(model: &VoxelModel, field: &F) -> Result<Self> {
        let grid = *model.grid();
        grid.afford("a map of real distances", grid.len() as u64 * 4, model.memory_limit())?;
        let (values, _) = collect(model, field, |d| d)?;
        Ok(Self { grid, values, lambda: 1.0, precision: 0 })
    }

    /// Makes a map of given distances, one for each voxel, metres.
    pub(super) fn of_values(grid: VoxelGrid, values: Vec<f32>) -> Self {
        Self { grid, values: boxed(values), lambda: 1.0, precision: 0 }
    }
}

impl DistanceMap<i16> {
    /// Makes a map of scaled distances; two bytes per voxel: v = d·10ᵖ truncated towards 0, so that d̃ = v·λ with λ =
    /// 10⁻ᵖ m is off by less than λ. `precision` is p, at most 9; `field` as in [`DistanceMap::real`].
    ///
    /// Fails with `InvalidArgument` when a distance does not fit; the message names a precision that would.
    ///
    /// Sagardia et al. 2014, equation 1.
    pub fn scaled<F: SignedDistance + ?Sized>(model: &VoxelModel, field: &F, precision: u8) -> Result<Self> {
        let grid = *model.grid();
        grid.afford("a map of scaled distances", grid.len() as u64 * 2, model.memory_limit())?;
        let scale = 10f64.powi(precision.into());
        // The conversion saturates where the distance does not fit, which is reported below.
        let (values, largest) = collect(model, field, |d| (f64::from(d) * scale) as i16)?;
        let fits = |p: u8| f64::from(largest) * 10f64.powi(p.into()) < 32_768.0;
        if precision > 9 || !fits(precision) {
            let value = format!("{precision} for distances of up to {largest} m");
            let expected = match (0..=9).rev().find(|&p| fits(p)) {
                Some(most) => format!("at most {most}, for 16-bit numbers"),
                None => "distances of less than 32768 m".into(),
            };
            return Err(Error::argument("precision", value, expected));
        }
        Ok(Self { grid, values, lambda: (1.0 / scale) as f32, precision })
    }

    /// Makes a map of given numbers, one for each voxel.
    pub(super) fn of_values(grid: VoxelGrid, values: Vec<i16>, precision: u8) -> Self {
        let lambda = (1.0 / 10f64.powi(precision.into())) as f32;
        Self { grid, values: boxed(values), lambda, precision }
    }

    /// λ = 10⁻ᵖ: the unit of the stored numbers, metres.
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

    /// The stored numbers; x fastest, then y.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// V_R(C): distance at the centre of a voxel, metres.
    ///
    /// # Panics
    /// When the voxel does not exist.
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

    /// V(P) = n·e + v(P)·λ: the distance at the centre of the voxel that holds a point, corrected along `n`. `n` is the
    /// unit normal of the pointshell's sample at `p` into the sample's own body, that is, out of this one. Metres.
    ///
    /// Sagardia et al. 2014, equation 4 with σ = λ.
    #[inline]
    pub fn penetration(&self, p: [f32; 3], n: [f32; 3]) -> f32 {
        let (q, voxel, over) = self.grid.nearest(p);
        (self.grid.local(voxel.map(|v| v as i32), q, n) + self.distance(voxel)) - over
    }

    /// V_R(P) = ∇V_R·(P − C)/s + V_R(C): the distance at the centre C of the voxel that holds a point, corrected along
    /// the gradient there. Metres. It jumps between voxels by the effect of the surface's curvature within one.
    ///
    /// Sagardia et al. 2014, equation 5.
    #[inline]
    pub fn interpolated(&self, p: [f32; 3]) -> f32 {
        let (q, voxel, over) = self.grid.nearest(p);
        let g = self.gradient(voxel);
        // local() uses the opposite direction of P − C.
        let along = -self.grid.local(voxel.map(|v| v as i32), q, g) / self.grid.voxel_size();
        (along + self.distance(voxel)) - over
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.values.len() * size_of::<T>()) as u64
    }
}
