//! A sample under construction and a face of the surface.

use voxshell_base::math::Vec3;

/// A sample under construction, relative to the surface's centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub p: Vec3,
    /// Unit outward normal of the mesh there; zero where it has none.
    pub n: Vec3,
    pub component: u32,
    /// Whether the sample is on a sharp edge or at a corner, where `n` is between the faces.
    pub is_sharp: bool,
}

pub(super) struct Face {
    pub corners: [u32; 3],
    /// Zero for a sliver, whose plane is uncertain.
    pub normal: Vec3,
    pub area: f64,
}

impl Face {
    /// Reverses the winding.
    pub fn turn(&mut self) {
        self.corners.swap(1, 2);
        self.normal = -self.normal;
    }
}
