//! Comparison with parry3d: projection of points on a mesh, rays against it, and the distance of two meshes.

use parry3d::math::{Pose, Rotation, Vector};
use parry3d::query::{PointQuery, Ray, RayCast};
use parry3d::shape::{TriMesh as Shape, TriMeshFlags};
use voxshell::ccd::segment::Segment;
use voxshell::math::{self, Vec3};
use voxshell::mesh::TriMesh;

pub const NAME: &str = "parry3d 0.31";

pub struct Parry(Shape);

fn vector(v: &Vec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

impl Parry {
    /// Returns `None` for a mesh that parry3d refuses.
    pub fn new(mesh: &TriMesh) -> Option<Self> {
        let vertices: Vec<Vector> = mesh.vertices.iter().map(|v| vector(&Vec3::from(*v))).collect();
        // With pseudo-normals, which parry3d needs to tell inside from outside; a non-manifold mesh has none.
        let shape = Shape::with_flags(vertices.clone(), mesh.triangles.clone(), TriMeshFlags::ORIENTED)
            .or_else(|_| Shape::new(vertices, mesh.triangles.clone()));
        shape.ok().map(Self)
    }

    /// Returns the signed distance, metres.
    pub fn distance(&self, p: [f32; 3]) -> f32 {
        let p = Vector::new(p[0], p[1], p[2]);
        let projection = self.0.project_local_point(p, false);
        let distance = (projection.point - p).length();
        if projection.is_inside {
            -distance
        } else {
            distance
        }
    }

    /// Returns the distance to another mesh at a pose, metres; 0 where the surfaces meet.
    pub fn apart(&self, other: &Self, pose: &math::Pose) -> Option<f32> {
        let q = pose.rotation.coords;
        let turn = Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32);
        let placed = Pose::from_parts(vector(&pose.translation.vector), turn);
        let still = Pose::from_parts(Vector::new(0.0, 0.0, 0.0), Rotation::IDENTITY);
        let found = parry3d::query::distance(&still, &self.0, &placed, &other.0);
        found.ok().map(|found| found.distance)
    }

    pub fn rays(segments: &[Segment]) -> Vec<Ray> {
        segments.iter().map(|s| Ray::new(vector(&s.from), vector(&(s.to - s.from)))).collect()
    }

    /// Returns the number of rays that hit the mesh.
    pub fn cast(&self, rays: &[Ray]) -> usize {
        rays.iter().filter(|r| self.0.cast_local_ray(r, 1.0, false).is_some()).count()
    }
}
