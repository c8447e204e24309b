//! The types of voxels and the place of the force layer.

/// Type of a voxel, by its two bits.
///
/// McNeely et al. 1999, table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum VoxelType {
    /// Encloses only free space.
    Free = 0,
    /// Encloses only interior.
    Interior = 1,
    /// Holds the surface, or belongs to the layer that represents it: force voxels.
    Surface = 2,
    /// Free-space neighbour of a surface voxel: braking voxels.
    Proximity = 3,
}

impl VoxelType {
    /// Returns the type with these two bits; the other bits are ignored.
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

/// Place of the force layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offset {
    /// Layers from the surface voxels out to the force layer. The voxels inside that layer become interior, those of
    /// the layer itself surface.
    pub layers: u32,
    /// Layers of proximity voxels outside of the force layer.
    pub proximity: u32,
}

impl Offset {
    /// The force layer is that of the surface voxels, with one layer of proximity voxels around it.
    pub const SURFACE: Self = Self { layers: 0, proximity: 1 };
    /// The force layer is two layers out. A point in it is at least s from any surface voxel, and the surface
    /// represented by a point is within √3/2·s of it, the half diagonal of its voxel in any orientation. So no surfaces
    /// touch while no point is deeper than the force layer. McNeely et al. 1999, section 4.2.
    pub const MCNEELY: Self = Self { layers: 2, proximity: 1 };
}
