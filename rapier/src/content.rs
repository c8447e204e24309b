//! The content of a shape of parry: all numbers that its forms depend on.
//!
//! Two shapes with equal contents have equal forms. The cache compares contents and no addresses, so that a shape that
//! was changed in place, or that replaced another one at the same address, cannot match the old forms.

use parry3d::math::{Pose, Vector};
use parry3d::shape::{ConvexPolyhedron, Shape, TypedShape};

use crate::shape::VoxshellShape;

/// Receives the numbers of a shape one by one.
trait Sink {
    fn put(&mut self, word: u32);

    fn number(&mut self, x: f32) {
        self.put(x.to_bits());
    }

    fn vector(&mut self, v: Vector) {
        v.to_array().into_iter().for_each(|x| self.number(x));
    }

    fn pose(&mut self, pose: &Pose) {
        self.vector(pose.translation);
        pose.rotation.to_array().into_iter().for_each(|x| self.number(x));
    }

    fn count(&mut self, count: usize) {
        self.put(count as u32);
        self.put((count as u64 >> 32) as u32);
    }

    fn vertices(&mut self, vertices: &[Vector]) {
        self.count(vertices.len());
        vertices.iter().for_each(|v| self.vector(*v));
    }

    fn indices<const N: usize>(&mut self, indices: &[[u32; N]]) {
        self.count(indices.len());
        indices.iter().flatten().for_each(|i| self.put(*i));
    }
}

#[cfg(test)]
thread_local! {
    /// Number of words that this thread hashed.
    pub(crate) static WORDS_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A hash of the content. Equal hashes are no proof: [`Comparison`] is.
struct Hash(u64);

impl Sink for Hash {
    fn put(&mut self, word: u32) {
        #[cfg(test)]
        WORDS_READ.with(|count| count.set(count.get() + 1));
        // A step of FxHash.
        self.0 = (self.0.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Sink for Vec<u32> {
    fn put(&mut self, word: u32) {
        self.push(word);
    }
}

/// Compares a content with a stored one, word by word.
struct Comparison<'a> {
    stored: std::slice::Iter<'a, u32>,
    is_equal: bool,
}

impl Sink for Comparison<'_> {
    fn put(&mut self, word: u32) {
        self.is_equal &= self.stored.next() == Some(&word);
    }
}

/// Returns a hash of the content of a shape.
pub(crate) fn hash(shape: &dyn Shape) -> u64 {
    let mut hash = Hash(0);
    write(shape, &mut hash);
    hash.0
}

/// Returns the content of a shape.
pub(crate) fn content(shape: &dyn Shape) -> Box<[u32]> {
    let mut words = Vec::new();
    write(shape, &mut words);
    words.into()
}

/// Returns whether a shape has exactly this content.
pub(crate) fn has_content(shape: &dyn Shape, content: &[u32]) -> bool {
    let mut comparison = Comparison { stored: content.iter(), is_equal: true };
    write(shape, &mut comparison);
    comparison.is_equal && comparison.stored.next().is_none()
}

/// Writes the type of a shape and all numbers that its forms depend on.
fn write(shape: &dyn Shape, to: &mut impl Sink) {
    to.put(shape.shape_type() as u32);
    match shape.as_typed_shape() {
        TypedShape::Ball(ball) => to.number(ball.radius),
        TypedShape::Cuboid(cuboid) => to.vector(cuboid.half_extents),
        TypedShape::Capsule(capsule) => {
            to.vector(capsule.segment.a);
            to.vector(capsule.segment.b);
            to.number(capsule.radius);
        }
        TypedShape::Segment(segment) => {
            to.vector(segment.a);
            to.vector(segment.b);
        }
        TypedShape::Triangle(t) => [t.a, t.b, t.c].into_iter().for_each(|v| to.vector(v)),
        TypedShape::HalfSpace(plane) => to.vector(plane.normal),
        TypedShape::Cylinder(c) => [c.radius, c.half_height].into_iter().for_each(|x| to.number(x)),
        TypedShape::Cone(c) => [c.radius, c.half_height].into_iter().for_each(|x| to.number(x)),
        TypedShape::RoundCuboid(s) => write_round(&s.inner_shape, s.border_radius, to),
        TypedShape::RoundTriangle(s) => write_round(&s.inner_shape, s.border_radius, to),
        TypedShape::RoundCylinder(s) => write_round(&s.inner_shape, s.border_radius, to),
        TypedShape::RoundCone(s) => write_round(&s.inner_shape, s.border_radius, to),
        TypedShape::RoundConvexPolyhedron(s) => write_round(&s.inner_shape, s.border_radius, to),
        TypedShape::ConvexPolyhedron(hull) => write_hull(hull, to),
        TypedShape::TriMesh(mesh) => {
            to.vertices(mesh.vertices());
            to.indices(mesh.indices());
            to.put(mesh.flags().bits().into());
        }
        TypedShape::Polyline(line) => {
            to.vertices(line.vertices());
            to.indices(line.indices());
        }
        TypedShape::HeightField(heights) => {
            let (rows, columns) = (heights.nrows(), heights.ncols());
            to.count(rows);
            to.count(columns);
            to.vector(heights.scale());
            for j in 0..=columns {
                (0..=rows).for_each(|i| to.number(heights.heights()[(i, j)]));
            }
            for j in 0..columns {
                (0..rows).for_each(|i| to.put(heights.cell_status(i, j).bits().into()));
            }
        }
        TypedShape::Voxels(voxels) => {
            let full = || voxels.voxels().filter(|voxel| !voxel.state.is_empty());
            to.vector(voxels.voxel_size());
            to.count(full().count());
            for voxel in full() {
                voxel.grid_coords.to_array().into_iter().for_each(|x| to.put(x as u32));
            }
        }
        TypedShape::Compound(compound) => {
            to.count(compound.shapes().len());
            for (pose, shape) in compound.shapes() {
                to.pose(pose);
                write(&**shape, to);
            }
        }
        TypedShape::Custom(custom) => {
            // The number of a Voxshell shape belongs to no other. Other shapes of users have no forms.
            to.count(custom.as_shape::<VoxshellShape>().map_or(0, |own| own.number as usize));
        }
    }
}

fn write_round(inner: &dyn Shape, border_radius: f32, to: &mut impl Sink) {
    write(inner, to);
    to.number(border_radius);
}

fn write_hull(hull: &ConvexPolyhedron, to: &mut impl Sink) {
    to.vertices(hull.points());
    to.count(hull.faces().len());
    for face in hull.faces() {
        to.put(face.first_vertex_or_edge);
        to.put(face.num_vertices_or_edges);
    }
    to.count(hull.vertices_adj_to_face().len());
    hull.vertices_adj_to_face().iter().for_each(|i| to.put(*i));
}
