//! Random bodies, and two of them near each other, from a seed. A body is cooked once, at default settings.

use std::sync::{Arc, OnceLock};

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use support::parts;
use support::rng::Rng;
use voxshell::asset::Shape;
use voxshell::contact::Workspace;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::{primitives, TriMesh};

use super::oracle::Triangles;
use super::{closest, cooked, random_pose};

/// A body, about a metre large unless it is scaled.
pub struct Body {
    pub name: String,
    pub mesh: TriMesh,
    pub shape: Shape,
}

/// Kinds of closed bodies: those of [`parts::body_of`], brackets, an animal, and solids that overlap.
const KINDS: usize = parts::KINDS as usize + 3;

/// Bodies of a kind.
const VARIANTS: usize = 4;

/// Returns a mesh of boxes between planes along x, y and z; `is_full` tells which boxes are there.
pub fn blocks(planes: [&[f64]; 3], is_full: impl Fn([usize; 3]) -> bool) -> TriMesh {
    let counts = planes.map(|p| p.len() - 1);
    let full = |cell: [i64; 3]| {
        let is_in = |k: usize| (0..counts[k] as i64).contains(&cell[k]);
        (0..3).all(is_in) && is_full(cell.map(|i| i as usize))
    };
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for n in 0..counts[0] * counts[1] * counts[2] {
        let cell = [n % counts[0], n / counts[0] % counts[1], n / (counts[0] * counts[1])].map(|i| i as i64);
        for axis in 0..3 {
            for side in [0, 1] {
                let mut next = cell;
                next[axis] += 2 * side - 1;
                if !full(cell) || full(next) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let corner = |du: i64, dv: i64| {
                    let mut at = cell;
                    at[axis] += side;
                    (at[u], at[v]) = (at[u] + du, at[v] + dv);
                    [0, 1, 2].map(|k| planes[k][at[k] as usize])
                };
                let first = vertices.len() as u32;
                vertices.extend([corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
                let [a, b, c, d] = [first, first + 1, first + 2, first + 3];
                triangles.extend(if side == 1 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
    }
    TriMesh::new(vertices, triangles).unwrap().welded(0.0)
}

/// Returns an L, a U, a T or a Z.
fn bracket(rng: &mut Rng) -> TriMesh {
    let rows = [["#..", "##."], ["#.#", "###"], [".#.", "###"], ["##.", ".##"]][(rng.next() % 4) as usize];
    let mut planes = |count: usize| {
        let mut at = vec![0.0];
        (0..count).for_each(|i| at.push(at[i] + 0.08 + 0.25 * rng.fraction()));
        let middle = 0.5 * at[count];
        at.iter().map(|x| x - middle).collect::<Vec<f64>>()
    };
    let [x, y, z] = [planes(3), planes(2), planes(1)];
    blocks([&x, &y, &z], |[i, j, _]| rows[1 - j].as_bytes()[i] == b'#')
}

/// Returns one mesh of 2 to 6 boxes that overlap, turned at random: plates and rods among them.
fn union(rng: &mut Rng) -> TriMesh {
    let (mut vertices, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
    for _ in 0..2 + rng.next() % 5 {
        let half = [0; 3].map(|_| 0.02 + 0.3 * rng.fraction() * rng.fraction());
        let solid = primitives::cuboid(half).unwrap();
        let place = Pose::from_parts((rng.vector() * 0.15).into(), rng.rotation());
        let first = vertices.len() as u32;
        vertices.extend(solid.vertices.iter().map(|p| <[f64; 3]>::from((place * Point3::from(*p)).coords)));
        triangles.extend(solid.triangles.iter().map(|t: &[u32; 3]| t.map(|i| first + i)));
    }
    TriMesh::new(vertices, triangles).unwrap()
}

fn mesh(kind: usize, rng: &mut Rng) -> (&'static str, TriMesh) {
    let names = ["box", "plate with a hole", "gear", "spike", "ring", "knot", "stone", "organic body"];
    match names.get(kind) {
        Some(name) => (name, parts::body_of(kind as u64, [0; 3].map(|_| rng.fraction()), rng)),
        None if kind == names.len() => ("bracket", bracket(rng)),
        None if kind == names.len() + 1 => ("animal", primitives::blob(0).unwrap()),
        None => ("union", union(rng)),
    }
}

/// Returns a closed body.
fn body(kind: usize, variant: usize) -> Arc<Body> {
    static COOKED: [OnceLock<Arc<Body>>; KINDS * VARIANTS] = [const { OnceLock::new() }; KINDS * VARIANTS];
    let make = || {
        let (name, mesh) = mesh(kind, &mut Rng((1000 * variant + kind) as u64));
        Arc::new(Body { name: format!("{name} {variant}"), shape: cooked(&mesh), mesh })
    };
    COOKED[kind * VARIANTS + variant].get_or_init(make).clone()
}

/// Returns a random closed body; with VOXSHELL_LONG one of more.
pub fn any_body(rng: &mut Rng) -> Arc<Body> {
    let (kind, variant) = ((rng.next() % KINDS as u64) as usize, (rng.next() % VARIANTS as u64) as usize);
    body(kind, if support::long() { variant } else { 0 })
}

impl Body {
    pub fn new(name: &str, mesh: TriMesh) -> Self {
        Self { name: name.into(), shape: cooked(&mesh), mesh }
    }

    fn scaled(&self, factor: f64) -> Self {
        let name = format!("{} × {factor:.3}", self.name);
        Self { name, mesh: self.mesh.scaled(factor), shape: self.shape.scaled(factor).unwrap() }
    }

    pub fn extent(&self) -> f64 {
        self.mesh.bounds().extents().amax()
    }

    pub fn radius(&self) -> f64 {
        0.5 * self.mesh.bounds().extents().norm()
    }

    /// Returns a random point in the box of the body.
    pub fn any_point(&self, rng: &mut Rng) -> Vec3 {
        let bounds = self.mesh.bounds();
        bounds.center() + Vec3::new(rng.unit(), rng.unit(), rng.unit()).component_mul(&bounds.extents()) * 0.5
    }

    /// Returns a random pose with the middle of the body at a point.
    pub fn around(&self, point: &Vec3, rng: &mut Rng) -> Pose {
        let rotation = rng.rotation();
        Isometry3::from_parts((point - rotation * self.middle()).into(), rotation)
    }

    fn middle(&self) -> Vec3 {
        self.mesh.bounds().center()
    }
}

/// Two bodies.
pub struct Scene {
    pub bodies: [Arc<Body>; 2],
}

impl Scene {
    /// Returns two random bodies of like sizes, or a small one and a large one, in any order.
    pub fn new(rng: &mut Rng) -> Self {
        let mut bodies = [any_body(rng), any_body(rng)];
        let factor = [1.0, 1.2, 0.3, 0.05][(rng.next() % 4) as usize];
        if factor != 1.0 {
            bodies[0] = Arc::new(bodies[0].scaled(factor * (0.8 + 0.2 * rng.fraction())));
        }
        if rng.next() % 2 == 0 {
            bodies.swap(0, 1);
        }
        Self { bodies }
    }

    /// Returns the numbers of the smaller body and of the larger one.
    pub fn by_size(&self) -> [usize; 2] {
        [self.smaller(), 1 - self.smaller()]
    }

    /// Returns the number of the smaller body.
    fn smaller(&self) -> usize {
        usize::from(self.bodies[1].radius() < self.bodies[0].radius())
    }

    /// Returns the largest extent of the smaller body, metres.
    pub fn extent(&self) -> f64 {
        self.bodies[self.smaller()].extent()
    }

    /// Returns the tolerance of a pair of the bodies, metres.
    pub fn tolerance(&self) -> f64 {
        self.extent() / 2000.0
    }

    pub fn triangles(&self, poses: &[Pose; 2]) -> [Triangles; 2] {
        [0, 1].map(|i| Triangles::new(&self.bodies[i].mesh, &poses[i]))
    }

    /// Returns a line on which the smaller body comes to the other from outside.
    pub fn approach(&self, rng: &mut Rng, workspace: &mut Workspace) -> Approach {
        let small = self.smaller();
        let (body, other) = (&self.bodies[small], &self.bodies[1 - small]);
        let t = (rng.next() % other.mesh.triangles.len() as u64) as usize;
        let [a, b, c] = other.mesh.corners(t).map(Vec3::from);
        let target = (a + b + c) / 3.0;
        let out = (b - a).cross(&(c - a)).normalize();
        let direction = (out + rng.vector().normalize() * [0.0, 0.9, 2.0][(rng.next() % 3) as usize]).normalize();
        let placed = random_pose(rng, 3.0);
        // Faces that are parallel.
        let rotation = if rng.next() % 4 == 0 { UnitQuaternion::identity() } else { rng.rotation() };
        let mut line = Approach { small, middle: body.middle(), rotation, target, direction, touch: 0.0, placed };
        line.touch = body.radius() + 2.0 * other.radius();
        for _ in 0..40 {
            let [p, q] = line.poses(0.0);
            let gap = closest(&self.bodies[0].shape, &p, &self.bodies[1].shape, &q, workspace).separation;
            if gap <= 1e-6 * self.extent() || line.touch < -other.radius() {
                break;
            }
            line.touch -= gap;
        }
        line
    }

    /// Returns the poses after a random motion of the smaller body by about `size`, metres, and a common one of both; and the
    /// largest distance by which a corner of it moved.
    pub fn moved(&self, poses: &[Pose; 2], size: f64, rng: &mut Rng) -> ([Pose; 2], f64) {
        let small = self.smaller();
        let (body, pose) = (&self.bodies[small], &poses[small]);
        let there = Translation3::from((pose * Point3::from(body.middle())).coords);
        let turn = UnitQuaternion::from_scaled_axis(rng.vector() * (size / body.radius()));
        let moved = Translation3::from(rng.vector() * size) * (there * turn * there.inverse()) * pose;
        let points = || body.mesh.vertices.iter().map(|p| Point3::from(*p));
        let most = points().map(|p| (moved * p - pose * p).norm()).fold(0.0, f64::max);
        let together = Isometry3::from_parts(Translation3::from(rng.vector()), rng.rotation());
        let mut next = *poses;
        next[small] = moved;
        (next.map(|pose| together * pose), most)
    }
}

/// A line on which the smaller body comes to the other one.
pub struct Approach {
    small: usize,
    middle: Vec3,
    rotation: UnitQuaternion<f64>,
    target: Vec3,
    direction: Vec3,
    /// Distance of the middle from the target at which the bodies touch, metres.
    touch: f64,
    placed: Pose,
}

impl Approach {
    /// Returns the poses at a distance from touching, metres; negative: farther in.
    pub fn poses(&self, distance: f64) -> [Pose; 2] {
        let middle = self.target + self.direction * (self.touch + distance) - self.rotation * self.middle;
        let own = self.placed * Isometry3::from_parts(middle.into(), self.rotation);
        let mut poses = [self.placed; 2];
        poses[self.small] = own;
        poses
    }
}
