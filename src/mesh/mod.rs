//! Floor 1: triangle soup. Import, validation, welding, mass properties, BVH with closest point and winding number, and
//! the primitives this project makes itself. Knows nothing of grids, samples or contacts.

use crate::math::{Aabb, Pose};
use crate::Result;

/// An indexed triangle soup, metres, body frame. Counter-clockwise triangles seen from outside, where there is an outside.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TriMesh {
    pub vertices: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// Mass properties for unit density and for a total mass; body frame.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MassProperties {
    /// Enclosed volume, m³.
    pub volume: f64,
    /// Centre of mass, metres, body frame.
    pub center_of_mass: [f64; 3],
    /// Inertia per unit mass about the centre of mass, body axes, m²: xx, yy, zz, xy, xz, yz (tensor entries, so the
    /// products carry their minus sign).
    pub inertia: [f64; 6],
    /// True when integrated exactly over a closed mesh, false when estimated from the field's interior.
    pub exact: bool,
}

impl TriMesh {
    /// Checks indices and coordinates and takes ownership; the only way in for outside data.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self> {
        let _ = (vertices, triangles);
        todo!()
    }
    pub fn bounds(&self) -> Aabb {
        todo!()
    }
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }
    pub fn transformed(&self, pose: &Pose, scale: f64) -> Self {
        let _ = (pose, scale);
        todo!()
    }
}
