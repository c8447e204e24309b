//! Fields of scaled bodies.

use std::sync::Arc;

use super::{Ball, ConvexHull, Field, MeshField, Sheet, SphereHull};
use crate::math::limits;
use crate::memory::CollectGuarded;
use crate::mesh::TriMesh;
use crate::{Error, Result};

impl Field {
    /// Returns the field of the body scaled by a positive, finite `factor` about its origin: φ'(x) = factor · φ(x /
    /// factor), except for the rounding of parameters and samples. A copy; powers of two are exact.
    ///
    /// # Errors
    /// When a number leaves its range.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        Ok(match self {
            Field::Dense(f) => Field::Dense(f.scaled(factor)?),
            Field::Bricks(f) => Field::Bricks(f.scaled(factor)?),
            Field::HalfSpace(f) => Field::HalfSpace(f.scaled(factor)?),
            Field::Sphere(f) => Field::Sphere(f.scaled(factor)?),
            Field::Cuboid(f) => Field::Cuboid(f.scaled(factor)?),
            Field::Capsule(f) => Field::Capsule(f.scaled(factor)?),
            Field::Cylinder(f) => Field::Cylinder(f.scaled(factor)?),
            Field::Cone(f) => Field::Cone(f.scaled(factor)?),
            Field::ConvexHull(f) => {
                let points: Vec<[f64; 3]> = f.vertices().iter().map(|p| p.map(|x| x * factor)).collect_guarded();
                Field::ConvexHull(ConvexHull::new(&points)?)
            }
            Field::SphereHull(f) => {
                let times = |b: &Ball| Ball { center: b.center * factor, radius: b.radius * factor };
                Field::SphereHull(SphereHull::new(&f.balls().iter().map(times).collect_guarded())?)
            }
            Field::Mesh(f) => Field::Mesh(MeshField::new(checked(f.mesh().scaled(factor))?)?),
            Field::Sheet(f) => {
                let mesh = Arc::new(checked(f.mesh().scaled(factor))?);
                Field::Sheet(Sheet::new(mesh, f64::from(f.depth()) * factor)?)
            }
        })
    }
}

fn checked(mesh: TriMesh) -> Result<TriMesh> {
    let extent = mesh.bounds().extents().max();
    if !limits::is_length(extent) {
        return Err(Error::InvalidMesh(format!("it is {extent:e} m large; expected 1e-18 to 1e18 m")));
    }
    TriMesh::new(mesh.vertices, mesh.triangles)
}
