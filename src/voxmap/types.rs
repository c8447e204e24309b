//! The types of voxels and the place of the force layer.

/// What a voxel is, by its two bits.
///
/// McNeely et al. 1999, table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum VoxelType {
    /// Encloses only free space.
    Free = 0,
    /// Encloses only interior.
    Interior = 1,
    /// Holds the surface, or is of the layer that stands for it: where forces are made.
    Surface = 2,
    /// Free-space neighbour of a surface voxel: where an approach is braked.
    Proximity = 3,
}

impl VoxelType {
    /// The type with these two bits; the others are ignored.
    #[inline(always)]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Free,
            1 => Self::Interior,
            2 => Self::Surface,
            _ => Self::Proximity,
        }
    }
}

/// Where the force layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offset {
    /// Layers from the surface voxels out to the force layer. The voxels within become interior, those of the layer
    /// itself surface.
    pub layers: u32,
    /// Layers of proximity voxels outside of the force layer.
    pub proximity: u32,
}

impl Offset {
    /// The force layer is that of the surface voxels, with one layer of proximity voxels around it.
    pub const SURFACE: Self = Self { layers: 0, proximity: 1 };
    /// The force layer is two layers out: a point in it is at least s from any surface voxel, and the surface that a
    /// point stands for is within its voxel, turned any way, √3/2·s. So no surfaces touch while no point is deeper than
    /// the force layer. McNeely et al. 1999, section 4.2.
    pub const MCNEELY: Self = Self { layers: 2, proximity: 1 };
}
