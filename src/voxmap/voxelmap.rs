//! One type for all forms of a voxelmap: creation by options, V(P), and bounds of V over balls.

use super::{
    Branching, DistanceMap, LayerMap, LayerTree, Measures, Offset, TypeTree, VoxelGrid, VoxelModel, VoxelType, Voxmap,
};
use voxshell_base::math::Progress;
use voxshell_base::{Error, Result};
use voxshell_field::SignedDistance;

/// What a voxel holds, and how it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapForm {
    /// The number of its layer, in 16 bits.
    Layers,
    /// The number of its layer in a generalised octree; layers beyond ±`limit` as ±`limit`.
    LayerTree { limit: u8, branching: Branching },
    /// The type of McNeely et al. 1999 in 2 bits. As layers: interior 1, surface 0, proximity −1, free −2.
    Types { offset: Offset },
    /// The same types in a generalised octree.
    TypeTree { offset: Offset, branching: Branching },
    /// The distance times 10ᵖ, truncated to 16 bits (Sagardia et al. 2014, equation 1).
    Scaled { precision: u8 },
    /// The distance in 32-bit floating point.
    Real,
}

/// How V(P) is computed from a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// V = n·e + v σ: local plus global part (Sagardia et al. 2014, equation 4).
    Local,
    /// V = ∇V·(P − C)/s + V(C): interpolated from the voxel's centre (equation 5).
    Interpolated,
}

/// Voxels of a map.
#[derive(Debug, PartialEq)]
pub(super) enum Data {
    Layers(LayerMap),
    LayerTree(LayerTree),
    Types(Voxmap),
    TypeTree(TypeTree, Offset),
    Scaled(DistanceMap<i16>),
    Real(DistanceMap<f32>),
}

/// A voxelmap of any form. Immutable; shared by any number of threads. V and layers are positive inside (penetrations),
/// as in the papers, where φ is negative. Points in the grid's local frame, metres; look-ups allocate nothing.
///
/// σ v of a voxel is its layer times s, or its distance. Beyond the voxels V is that at the nearest point of their box, or 0
/// if it is positive, minus the distance to that point: a point there is never in contact.
#[derive(Debug, PartialEq)]
pub struct Voxelmap {
    pub(super) data: Data,
    pub(super) surface: u64,
    pub(super) interior: u64,
    pub(super) measures: Measures,
}

/// 2-bit types as layers.
fn layer_of(kind: VoxelType) -> i32 {
    match kind {
        VoxelType::Interior => 1,
        VoxelType::Surface => 0,
        VoxelType::Proximity => -1,
        VoxelType::Free => -2,
    }
}

/// Half the diagonal of a voxel of edge 1, rounded up.
const HALF_DIAGONAL: f32 = 0.866_025_5;

impl Voxelmap {
    /// Makes a map of a model. `field` is φ of the same body, which the forms of distances need.
    ///
    /// # Errors
    /// `Unsupported` without a field that the form needs; the errors of the single forms, `TooLarge` included.
    pub fn new<F: SignedDistance + ?Sized>(
        model: &VoxelModel,
        field: Option<&F>,
        form: MapForm,
        progress: &Progress,
    ) -> Result<Self> {
        let distances = || {
            field
                .ok_or_else(|| Error::Unsupported("a voxelmap of distances needs a field, or a mesh to make it".into()))
        };
        let data = match form {
            MapForm::Layers => Data::Layers(LayerMap::new(model, progress)?),
            MapForm::LayerTree { limit, branching } => {
                Data::LayerTree(LayerMap::new(model, progress)?.compact(limit, branching)?)
            }
            MapForm::Types { offset } => Data::Types(Voxmap::new(model, offset)?),
            MapForm::TypeTree { offset, branching } => {
                Data::TypeTree(Voxmap::new(model, offset)?.tree(branching)?, offset)
            }
            MapForm::Scaled { precision } => Data::Scaled(DistanceMap::<i16>::scaled(model, distances()?, precision)?),
            MapForm::Real => Data::Real(DistanceMap::<f32>::real(model, distances()?)?),
        };
        let (surface, interior) = (model.surface_count() as u64, model.interior_count() as u64);
        let measures = progress.guard("measuring a voxelmap", || Ok(data.measures()))?;
        Ok(Self { data, surface, interior, measures })
    }

    /// Returns the form of the map.
    pub fn form(&self) -> MapForm {
        match &self.data {
            Data::Layers(_) => MapForm::Layers,
            Data::LayerTree(map) => MapForm::LayerTree { limit: map.limit() as u8, branching: map.tree().branching() },
            Data::Types(map) => MapForm::Types { offset: map.offset() },
            Data::TypeTree(map, offset) => MapForm::TypeTree { offset: *offset, branching: map.tree().branching() },
            Data::Scaled(map) => MapForm::Scaled { precision: map.precision() },
            Data::Real(_) => MapForm::Real,
        }
    }

    /// The voxels.
    pub fn grid(&self) -> &VoxelGrid {
        self.data.grid()
    }

    /// Number of surface voxels of the model.
    pub fn surface_count(&self) -> u64 {
        self.surface
    }

    /// Number of interior voxels of the model.
    pub fn interior_count(&self) -> u64 {
        self.interior
    }

    /// Smallest and largest σ v, metres.
    pub fn range(&self) -> (f32, f32) {
        (self.measures.least, self.measures.most)
    }

    /// σ: metres per unit of v. s for layers and types, λ for scaled distances, 1 for real ones.
    pub fn unit(&self) -> f32 {
        match &self.data {
            Data::Scaled(map) => map.lambda(),
            Data::Real(_) => 1.0,
            _ => self.grid().voxel_size(),
        }
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            Data::Layers(map) => map.bytes(),
            Data::LayerTree(map) => map.bytes(),
            Data::Types(map) => map.bytes(),
            Data::TypeTree(map, _) => map.bytes(),
            Data::Scaled(map) => map.bytes(),
            Data::Real(map) => map.bytes(),
        }
    }

    /// Returns σ v of a voxel, metres.
    ///
    /// # Panics
    /// When the voxel does not exist.
    #[inline]
    pub fn value(&self, voxel: [u32; 3]) -> f32 {
        self.data.value(voxel)
    }

    /// Returns the layer of the voxel that holds a point; beyond the grid as [`LayerMap::layer_at`]. `None` for maps of
    /// distances.
    #[inline]
    pub fn layer_at(&self, p: [f32; 3]) -> Option<i32> {
        let (voxel, over) = self.grid().clamp(self.grid().cell(p));
        self.data.layer(voxel).map(|layer| layer.saturating_sub(over))
    }

    /// Returns σ v of the voxel nearest to a point, minus the distance of the point from the voxels' box, metres.
    #[inline]
    pub fn distance_at(&self, p: [f32; 3]) -> f32 {
        let (_, voxel, over) = self.grid().nearest(p);
        self.value(voxel) - over
    }

    /// Returns ∇V of the voxel nearest to a point: the change of σ v from voxel to voxel, metres, by central differences,
    /// one-sided at the border of the grid.
    #[inline]
    pub fn gradient_at(&self, p: [f32; 3]) -> [f32; 3] {
        let (_, voxel, _) = self.grid().nearest(p);
        self.gradient(voxel)
    }

    /// Returns ∇V of a voxel, as [`Voxelmap::gradient_at`].
    #[inline]
    pub fn gradient(&self, voxel: [u32; 3]) -> [f32; 3] {
        let dims = self.grid().dims();
        [0, 1, 2].map(|k| {
            let (low, high) = (voxel[k] > 0, voxel[k] + 1 < dims[k]);
            let (mut before, mut after) = (voxel, voxel);
            before[k] -= u32::from(low);
            after[k] += u32::from(high);
            let rise = self.value(after) - self.value(before);
            if low && high {
                0.5 * rise
            } else {
                rise
            }
        })
    }

    /// Returns V(P), metres. `n` is the unit normal of the pointshell's sample at `p` into the sample's own body, that
    /// is, out of this one; [`Rule::Interpolated`] ignores it.
    ///
    /// Sagardia et al. 2014, equations 4 and 5.
    #[inline]
    pub fn penetration(&self, rule: Rule, p: [f32; 3], n: [f32; 3]) -> f32 {
        let grid = self.grid();
        let (q, voxel, over) = grid.nearest(p);
        let cell = voxel.map(|v| v as i32);
        let part = match rule {
            Rule::Local => grid.local(cell, q, n),
            // local() uses the opposite direction of P − C.
            Rule::Interpolated => -grid.local(cell, q, self.gradient(voxel)) / grid.voxel_size(),
        };
        let v = part + self.value(voxel);
        if over > 0.0 {
            v.min(0.0) - over
        } else {
            v
        }
    }

    /// Returns an upper bound of V over the ball (`c`, `r`). `slack`, metres, is an upper bound of the rounding of `c`, of the
    /// points in the ball and of their V.
    ///
    /// With q the point of the box nearest to `c`, in voxel C: the points of the box nearest to those of the ball are
    /// within `r` of q, and their voxels' centres within r + |q − C| + √3/2 s of C. σ v rises by at most `slope` times
    /// that (`Measures`), and the local part is at most that of half a diagonal.
    #[inline]
    pub fn bound(&self, rule: Rule, c: [f32; 3], r: f32, slack: f32) -> f32 {
        let grid = self.grid();
        let (q, voxel, over) = grid.nearest(c);
        let half = HALF_DIAGONAL * grid.voxel_size();
        let center = grid.voxel_center(voxel);
        let d = [0, 1, 2].map(|k| q[k] - center[k]);
        let from_center = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
        let local = match rule {
            Rule::Local => half,
            Rule::Interpolated => half * self.measures.steepest,
        };
        let rise = self.measures.slope * (r + from_center + half);
        let most = (self.value(voxel) + rise).min(self.measures.most) + local;
        if over > r {
            most.min(0.0) - (over - r) + slack
        } else {
            most + slack
        }
    }
}

impl Data {
    pub fn grid(&self) -> &VoxelGrid {
        match self {
            Data::Layers(map) => map.grid(),
            Data::LayerTree(map) => map.tree().grid(),
            Data::Types(map) => map.grid(),
            Data::TypeTree(map, _) => map.tree().grid(),
            Data::Scaled(map) => map.grid(),
            Data::Real(map) => map.grid(),
        }
    }

    pub fn measures(&self) -> Measures {
        Measures::of(self.grid(), |voxel| self.value(voxel))
    }

    /// Returns the layer of a voxel; `None` for maps of distances.
    #[inline]
    pub fn layer(&self, voxel: [u32; 3]) -> Option<i32> {
        match self {
            Data::Layers(map) => Some(map.layer(voxel)),
            Data::LayerTree(map) => Some(map.layer(voxel)),
            Data::Types(map) => Some(layer_of(map.voxel(voxel))),
            Data::TypeTree(map, _) => Some(layer_of(map.voxel(voxel))),
            Data::Scaled(_) | Data::Real(_) => None,
        }
    }

    #[inline]
    pub fn value(&self, voxel: [u32; 3]) -> f32 {
        match self {
            Data::Scaled(map) => map.distance(voxel),
            Data::Real(map) => map.distance(voxel),
            layered => layered.layer(voxel).unwrap_or_default() as f32 * self.grid().voxel_size(),
        }
    }
}
