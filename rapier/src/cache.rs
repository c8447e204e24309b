//! Forms of parry's shapes, made on first use.

use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use parry3d::math::{Pose, Vector};
use parry3d::shape::{Shape, TypedShape};

use crate::body::Body;
use crate::shape::VoxshellShape;
use crate::stock;

/// Number of shapes above which the cache forgets all of them: a program that changes a size in each step must not fill
/// the memory.
const MOST_SHAPES: usize = 4096;

/// Number of vertices of a mesh that its key contains.
const SPREAD: usize = 64;

/// The key of a shape: its type and all its sizes. Shapes with many vertices are known by the address of their vertices,
/// their number and some of them, so that an address that is used again does not match.
type Key = u64;

type Entry = Arc<OnceLock<Option<Arc<Body>>>>;

#[derive(Default)]
pub(crate) struct Cache {
    bodies: Mutex<HashMap<Key, Entry>>,
}

impl Cache {
    /// Returns the forms of a shape, and makes them first if they are not there; `None` if it has none.
    pub fn find(&self, shape: &dyn Shape) -> Option<Arc<Body>> {
        if let Some(own) = shape.as_shape::<VoxshellShape>() {
            return Some(own.body.clone());
        }
        let mut hasher = DefaultHasher::new();
        add_shape(shape, &mut hasher);
        let entry = {
            // A panic while the lock is held cannot leave the map in a wrong state.
            let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
            if bodies.len() >= MOST_SHAPES {
                bodies.clear();
            }
            bodies.entry(hasher.finish()).or_default().clone()
        };
        // Outside the lock: other pairs go on while one shape is made.
        entry.get_or_init(|| stock::body_of(shape).map(Arc::new)).clone()
    }

    pub fn clear(&self) {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn add_number(x: f32, hasher: &mut DefaultHasher) {
    x.to_bits().hash(hasher);
}

fn add_vector(v: Vector, hasher: &mut DefaultHasher) {
    v.to_array().into_iter().for_each(|x| add_number(x, hasher));
}

fn add_pose(pose: &Pose, hasher: &mut DefaultHasher) {
    add_vector(pose.translation, hasher);
    pose.rotation.to_array().into_iter().for_each(|x| add_number(x, hasher));
}

/// Adds the address, the number and a selection of vertices.
fn add_vertices(vertices: &[Vector], hasher: &mut DefaultHasher) {
    (vertices.as_ptr() as usize, vertices.len()).hash(hasher);
    let stride = vertices.len().div_ceil(SPREAD).max(1);
    vertices.iter().step_by(stride).chain(vertices.last()).for_each(|v| add_vector(*v, hasher));
}

fn add_shape(shape: &dyn Shape, hasher: &mut DefaultHasher) {
    (shape.shape_type() as u32).hash(hasher);
    match shape.as_typed_shape() {
        TypedShape::Ball(ball) => add_number(ball.radius, hasher),
        TypedShape::Cuboid(cuboid) => add_vector(cuboid.half_extents, hasher),
        TypedShape::Capsule(capsule) => {
            add_vector(capsule.segment.a, hasher);
            add_vector(capsule.segment.b, hasher);
            add_number(capsule.radius, hasher);
        }
        TypedShape::Segment(segment) => {
            add_vector(segment.a, hasher);
            add_vector(segment.b, hasher);
        }
        TypedShape::Triangle(t) => [t.a, t.b, t.c].into_iter().for_each(|v| add_vector(v, hasher)),
        TypedShape::HalfSpace(plane) => add_vector(plane.normal, hasher),
        TypedShape::Cylinder(c) => [c.radius, c.half_height].into_iter().for_each(|x| add_number(x, hasher)),
        TypedShape::Cone(c) => [c.radius, c.half_height].into_iter().for_each(|x| add_number(x, hasher)),
        TypedShape::RoundCuboid(s) => add_round(&s.inner_shape, s.border_radius, hasher),
        TypedShape::RoundTriangle(s) => add_round(&s.inner_shape, s.border_radius, hasher),
        TypedShape::RoundCylinder(s) => add_round(&s.inner_shape, s.border_radius, hasher),
        TypedShape::RoundCone(s) => add_round(&s.inner_shape, s.border_radius, hasher),
        TypedShape::RoundConvexPolyhedron(s) => add_round(&s.inner_shape, s.border_radius, hasher),
        TypedShape::ConvexPolyhedron(hull) => add_vertices(hull.points(), hasher),
        TypedShape::TriMesh(mesh) => {
            add_vertices(mesh.vertices(), hasher);
            (mesh.indices().len(), mesh.flags().bits()).hash(hasher);
        }
        TypedShape::Polyline(line) => {
            add_vertices(line.vertices(), hasher);
            line.indices().len().hash(hasher);
        }
        TypedShape::HeightField(heights) => {
            let (rows, columns) = (heights.nrows(), heights.ncols());
            (std::ptr::from_ref(heights) as usize, rows, columns).hash(hasher);
            add_vector(heights.scale(), hasher);
            let count = (rows + 1) * (columns + 1);
            for i in (0..count).step_by(count.div_ceil(SPREAD).max(1)) {
                add_number(heights.heights()[(i % (rows + 1), i / (rows + 1))], hasher);
            }
        }
        TypedShape::Voxels(voxels) => {
            std::ptr::from_ref(voxels).hash(hasher);
            add_vector(voxels.voxel_size(), hasher);
            voxels.domain().into_iter().for_each(|corner| corner.to_array().hash(hasher));
            voxels.voxels().filter(|voxel| !voxel.state.is_empty()).count().hash(hasher);
        }
        TypedShape::Compound(compound) => {
            compound.shapes().len().hash(hasher);
            for (pose, shape) in compound.shapes() {
                add_pose(pose, hasher);
                add_shape(&**shape, hasher);
            }
        }
        TypedShape::Custom(custom) => {
            // The parts of a cached compound keep the cooked shape alive, so that no other can have its address.
            let own = custom.as_shape::<VoxshellShape>();
            own.map(|own| Arc::as_ptr(own.asset()) as usize).hash(hasher);
        }
    }
}

fn add_round(inner: &dyn Shape, border_radius: f32, hasher: &mut DefaultHasher) {
    add_shape(inner, hasher);
    add_number(border_radius, hasher);
}
