//! Bodies, poses and oracles that the tests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use parry3d::math::{Pose, Vector};
use parry3d::shape::{SharedShape, TriMesh, TriMeshFlags};
use voxshell_rapier::voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell_rapier::voxshell::math::Progress;
use voxshell_rapier::voxshell::mesh::{primitives, TriMesh as Mesh};
use voxshell_rapier::VoxshellShape;

/// A cooked body and its triangles as parry knows them.
#[derive(Clone)]
pub struct Body {
    pub shape: VoxshellShape,
    pub mesh: Arc<TriMesh>,
}

impl Body {
    pub fn shared(&self) -> SharedShape {
        SharedShape::new(self.shape.clone())
    }
}

fn mesh_named(name: &str) -> Mesh {
    match name {
        "box" => primitives::cuboid([0.05, 0.05, 0.05]),
        "torus" => primitives::torus(0.08, 0.03, 64, 32),
        "gear" => primitives::gear(12, 0.1, 0.08, 0.04, 0.03),
        "bowl" => primitives::bowl(0.1, 0.02, 96),
        "hole" => primitives::hole([0.1, 0.1, 0.03], 0.05, 48),
        "sphere" => primitives::sphere(0.05, 4),
        _ => panic!("no body {name}"),
    }
    .unwrap()
}

/// Returns a body, cooked once per program.
pub fn body(name: &'static str) -> Body {
    body_with(name, 64, Storage::Dense)
}

pub fn body_with(name: &'static str, cells: u32, storage: Storage) -> Body {
    type Bodies = Mutex<HashMap<(&'static str, u32, bool), Body>>;
    static BODIES: OnceLock<Bodies> = OnceLock::new();
    let key = (name, cells, storage == Storage::Exact);
    let mut bodies = BODIES.get_or_init(Bodies::default).lock().unwrap();
    let make = || {
        let mesh = mesh_named(name);
        let options = CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() };
        let shape = VoxshellShape::new(Arc::new(Shape::cook(&mesh, &options, &Progress::none()).unwrap())).unwrap();
        let vertices = mesh.vertices.iter().map(|v| Vector::new(v[0] as f32, v[1] as f32, v[2] as f32)).collect();
        let flags = TriMeshFlags::ORIENTED | TriMeshFlags::MERGE_DUPLICATE_VERTICES;
        Body { shape, mesh: Arc::new(TriMesh::with_flags(vertices, mesh.triangles.clone(), flags).unwrap()) }
    };
    bodies.entry(key).or_insert_with(make).clone()
}

/// Pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    /// Returns a number from −1 to 1.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0) as f32
    }

    pub fn vector(&mut self) -> Vector {
        Vector::new(self.next(), self.next(), self.next())
    }

    pub fn direction(&mut self) -> Vector {
        loop {
            let v = self.vector();
            if (0.1..=1.0).contains(&v.length()) {
                return v.normalize();
            }
        }
    }

    /// Returns a pose at a distance from the origin, with any rotation.
    pub fn pose(&mut self, distance: f32) -> Pose {
        let place = self.direction() * distance;
        Pose::new(place, self.direction() * 3.0 * self.next())
    }
}
