//! The pairs of an answer.

use voxshell_base::math::Vec3;

/// Two voxels that intersect; in a coarse answer also two nodes whose spheres intersect. World frame, metres.
///
/// Ruffaldi et al. 2008, section 3.3.1: "each pair is described by the two voxel centers, the normal at each voxel, the
/// relative velocity of the intersecting voxels, and the penetration depth".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelPair {
    /// Centres of the voxels; of nodes the centres of their spheres; of a sample its position.
    pub center_a: Vec3,
    pub center_b: Vec3,
    /// Outward unit normals; 0 if none is known.
    pub normal_a: Vec3,
    pub normal_b: Vec3,
    /// Penetration depth, 0 or more: r_a + r_b − |centre of B − centre of A|, with the radii of the spheres around the
    /// voxels; with [`QueryOptions::cubes`](super::QueryOptions::cubes) that of the cubes.
    pub depth: f64,
    /// Velocity of B relative to A at the middle between the centres, m/s.
    pub velocity: Vec3,
    /// Numbers of the voxels in their trees, or of the sample; of a node above the voxels its number among the nodes.
    pub cell_a: u32,
    pub cell_b: u32,
    /// Levels: 0 for voxels and samples.
    pub level_a: u32,
    pub level_b: u32,
}

impl VoxelPair {
    /// Returns whether both are voxels (or a sample and a voxel).
    pub fn is_leaf(&self) -> bool {
        self.level_a == 0 && self.level_b == 0
    }

    /// Returns the direction in which A pushes B: the normal of A less that of B, and where they cancel or are not known
    /// the direction from one centre to the other. A unit vector; +z for equal centres without normals.
    pub fn direction(&self) -> Vec3 {
        let between = self.center_b - self.center_a;
        (self.normal_a - self.normal_b)
            .try_normalize(0.1)
            .or_else(|| between.try_normalize(0.0))
            .unwrap_or_else(Vec3::z)
    }
}
