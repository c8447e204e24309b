//! Bodies of 1 to 30 closed parts (boxes, plates from 1/2,000 of the extent, rods, tubes) that overlap, nest and touch: none is refused,
//! the mass is that of their union, and contacts are those of the triangles.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion};
use support::parts::Moments;
use support::rng::Rng;
use support::soup::joined;
use voxshell::contact::{PairPoint, Workspace, FEATURE_OF_B};
use voxshell::math::{Mat3, Pose, Vec3};
use voxshell::mesh::{MassProperties, TriMesh};

use super::bodies::{Body, Scene};
use super::cooked;
use super::invariants::{pair, update, Broken};
use super::oracle::Triangles;
use super::solids::{self, Part};

/// Thickness of the thinnest plates and walls, as a fraction of the body's extent; and the tolerance of contacts.
const THIN: f64 = 1.0 / 2000.0;

/// Largest error of the mass, a tenth of what is promised: the oracle's own error is less.
const MASS: f64 = 1e-4;

/// Largest number of rods and tubes on one axis. Many faces lie on each other there: with more than 1,024 triangles, the samples of all of
/// them take a minute to spread.
const COAXIAL: usize = 10;

/// Places the parts of a body.
#[derive(Clone, Copy)]
enum Arrangement {
    /// At random, turned at random.
    Free,
    /// Boxes and others on a lattice, along the axes: they repeat, nest and touch in faces.
    Lattice,
    /// Rods and tubes on one axis, at most [`COAXIAL`] of them: a rod fills the bore of a tube, or has room in it.
    Coaxial,
    /// At random in a large box or tube.
    Inside,
}

/// Draws the parts of a body about as large as `size`, metres, with plates and walls from [`THIN`] of `extent`.
struct Draw<'a> {
    size: f64,
    extent: f64,
    rng: &'a mut Rng,
}

impl Draw<'_> {
    fn length(&mut self, low: f64, high: f64) -> f64 {
        self.size * (low + (high - low) * self.rng.fraction())
    }

    /// Returns one of the lengths 0.05, 0.1, … up to `most` of them.
    fn step(&mut self, most: u64) -> f64 {
        self.size * 0.05 * (1 + self.rng.next() % most) as f64
    }

    fn thickness(&mut self) -> f64 {
        self.extent * THIN * 100f64.powf(self.rng.fraction())
    }

    /// Returns a box, a plate, a rod or a tube.
    fn any(&mut self, pose: &Pose) -> Part {
        let sides = 6 + (self.rng.next() % 9) as usize;
        match self.rng.next() % 4 {
            0 => Part::block(Vec3::from_fn(|_, _| self.length(0.03, 0.3)), pose),
            1 => {
                let half = [self.length(0.05, 0.4), self.length(0.05, 0.4), 0.5 * self.thickness()];
                Part::block(half.into(), pose)
            }
            2 => Part::rod(self.length(0.02, 0.15), self.length(0.05, 0.4), sides, pose),
            _ => {
                let (radius, wall) = (self.length(0.05, 0.3), self.thickness());
                Part::tube(radius, radius - wall.min(0.8 * radius), self.length(0.03, 0.4), sides, pose)
            }
        }
    }

    fn on_lattice(&mut self) -> Part {
        let at = Vec3::from_fn(|_, _| (self.rng.unit() * 4.0).round() * 0.1 * self.size);
        let pose = Pose::from_parts(at.into(), UnitQuaternion::identity());
        match self.rng.next() % 4 {
            0 => self.any(&pose),
            _ => Part::block(Vec3::from_fn(|_, _| self.step(3)), &pose),
        }
    }

    fn on_axis(&mut self, sides: usize) -> Part {
        let pose = Pose::translation(0.0, 0.0, (self.rng.unit() * 6.0).round() * 0.05 * self.size);
        let (radius, bore, half) = (self.step(6), self.step(6), self.step(4));
        match bore < radius {
            true => Part::tube(radius, bore, half, sides, &pose),
            false => Part::rod(radius, half, sides, &pose),
        }
    }

    fn free(&mut self, reach: f64) -> Part {
        let pose = Pose::from_parts((self.rng.vector() * reach * self.size).into(), self.rng.rotation());
        self.any(&pose)
    }

    fn parts(&mut self, count: usize) -> Vec<Part> {
        let arrangement = match self.rng.next() % 6 {
            0 => Arrangement::Lattice,
            1 => Arrangement::Coaxial,
            2 => Arrangement::Inside,
            _ => Arrangement::Free,
        };
        let sides = 6 + (self.rng.next() % 7) as usize;
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..count {
            let next = match arrangement {
                Arrangement::Lattice => self.on_lattice(),
                Arrangement::Coaxial if parts.len() == COAXIAL => break,
                Arrangement::Coaxial => self.on_axis(sides),
                Arrangement::Inside if !parts.is_empty() => self.free(0.2),
                Arrangement::Inside if self.rng.next() % 2 == 0 => {
                    Part::block(Vec3::repeat(0.4 * self.size), &Pose::identity())
                }
                Arrangement::Inside => {
                    Part::tube(0.5 * self.size, 0.4 * self.size, 0.5 * self.size, 12, &Pose::identity())
                }
                Arrangement::Free => self.free(0.4),
            };
            parts.push(next);
        }
        let place = Isometry3::from_parts((self.rng.vector() * 3.0).into(), self.rng.rotation());
        parts.into_iter().map(|part| part.placed(&place)).collect()
    }
}

fn mesh_of(parts: &[Part]) -> TriMesh {
    joined(&parts.iter().map(|part| part.mesh.clone()).collect::<Vec<_>>())
}

/// Returns `count` parts that are about as large as `size` together, metres.
fn parts(count: usize, size: f64, rng: &mut Rng) -> Vec<Part> {
    // The first draw gives the extent, of which plates have a part.
    let seed = rng.next();
    let draw = |extent: f64| Draw { size, extent, rng: &mut Rng(seed) }.parts(count);
    let extent = mesh_of(&draw(size)).bounds().extents().amax();
    draw(extent)
}

/// Returns 1 to 30 parts, about a metre large.
fn any_parts(rng: &mut Rng) -> Vec<Part> {
    let count = 1 + (rng.next() % 30) as usize;
    parts(count, 1.0, rng)
}

/// Returns volume, centre of mass and inertia per mass.
fn mass_of(m: &Moments) -> (f64, Vec3, Mat3) {
    let center = Vec3::from(m.first) / m.volume;
    let [xx, yy, zz, xy, xz, yz] = m.second.map(|x| x / m.volume);
    let spread = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) - center * center.transpose();
    (m.volume, center, Mat3::identity() * spread.trace() - spread)
}

/// Returns the largest of the differences of volume, centre (in radii of gyration) and inertia.
fn difference(a: &(f64, Vec3, Mat3), b: &(f64, Vec3, Mat3)) -> f64 {
    let volume = (a.0 - b.0).abs() / b.0;
    volume.max((a.1 - b.1).norm() / b.2.trace().sqrt()).max((a.2 - b.2).norm() / b.2.norm())
}

#[test]
fn closed_parts_cook_with_the_mass_of_their_union() {
    let (mut broken, mut bodies) = (Broken::default(), 0);
    for seed in 10..10 + super::seeds(12) {
        let parts = any_parts(&mut Rng(seed));
        let what = format!("seed {seed}, {} parts", parts.len());
        let mass: MassProperties = cooked(&mesh_of(&parts)).mass.unwrap_or_else(|| panic!("{what}: no mass"));
        let [coarse, expected] = [40, 80].map(|steps| mass_of(&solids::moments(&parts, steps)));
        let error = difference(&coarse, &expected);
        assert!(error <= MASS, "{what}: the oracle differs from itself by {error}");
        let found = (mass.volume, Vec3::from(mass.center_of_mass), mass.inertia_matrix());
        let off = difference(&found, &expected);
        broken.unless(off <= MASS, || format!("{what}: the mass is off by {off}, exact: {}", mass.exact));
        broken.unless(mass.exact, || format!("{what}: an estimate"));
        bodies += 1;
    }
    broken.none(2 * bodies);
}

/// A cooked body of parts.
struct Solid {
    parts: Vec<Part>,
    /// All triangles, also those in other parts.
    mesh: TriMesh,
    /// Its mesh is the surface of the union.
    body: Arc<Body>,
}

impl Solid {
    fn new(parts: Vec<Part>) -> Self {
        let mesh = mesh_of(&parts);
        let name = format!("{} parts", parts.len());
        let body = Body { name, mesh: solids::surface(&parts), shape: cooked(&mesh) };
        Self { parts, mesh, body: Arc::new(body) }
    }

    fn contains(&self, pose: &Pose, p: &Vec3) -> bool {
        solids::is_inside(&self.parts, &pose.inverse_transform_point(&Point3::from(*p)).coords)
    }
}

/// Two bodies at two poses.
struct Placed<'a> {
    solids: &'a [Solid; 2],
    poses: [Pose; 2],
    /// Surfaces of the unions.
    surfaces: [Triangles; 2],
    /// All triangles.
    triangles: [Triangles; 2],
    tolerance: f64,
}

impl<'a> Placed<'a> {
    fn new(solids: &'a [Solid; 2], scene: &Scene, poses: [Pose; 2]) -> Self {
        let triangles = [0, 1].map(|i| Triangles::new(&solids[i].mesh, &poses[i]));
        Self { solids, poses, surfaces: scene.triangles(&poses), triangles, tolerance: scene.tolerance() }
    }

    fn signed(&self, of: usize, surface: &Triangles, p: &Vec3) -> f64 {
        let is_in = self.solids[of].contains(&self.poses[of], p);
        surface.off(p) * if is_in { -1.0 } else { 1.0 }
    }

    /// Returns the least signed distance of a point of either body's edges or faces from the other body's surface, at most `limit`.
    fn deepest(&self, cells: [Vec<Vec<Vec3>>; 2], surfaces: &[Triangles; 2], limit: f64) -> f64 {
        cells.into_iter().enumerate().fold(limit, |least, (own, cells)| {
            let other = 1 - own;
            let is_in = |p: &Vec3| self.solids[other].contains(&self.poses[other], p);
            surfaces[other].deepest(cells, is_in, least, 0.2 * self.tolerance)
        })
    }

    /// The point is on a triangle of its body, and as far from the triangles of the other body as it says. Triangles that are in
    /// another part count too.
    fn is_true(&self, point: &PairPoint, what: &str, broken: &mut Broken) {
        let is_of_b = (point.id >> 32) as u32 & FEATURE_OF_B != 0;
        let (own, other, p) = if is_of_b { (1, 0, point.point_on_b) } else { (0, 1, point.point_on_a) };
        let t = self.tolerance;
        let off = self.triangles[own].off(&p);
        broken.unless(off <= t, || format!("{what}: a point {:.2} t off its surface", off / t));
        let (given, real) = (point.separation, self.signed(other, &self.triangles[other], &p));
        broken.unless((real - given).abs() <= t, || format!("{what}: {:.2} t instead of {:.2} t", given / t, real / t));
    }
}

/// Returns distances from touching, metres: apart, touching, shallow and deep.
fn distances(extent: f64, rng: &mut Rng) -> [f64; 5] {
    let mut between = |low: f64, high: f64| low * (high / low).powf(rng.fraction()) * extent;
    [between(1e-4, 3e-3), 0.0, -between(1e-4, 1e-3), -between(1e-3, 0.01), -between(0.01, 0.1)]
}

/// Largest fraction of poses in which the deepest contact is less deep than the deepest point of a face, by more than the tolerance: a
/// plate that goes through a body between the plate's samples has no edge there.
const BETWEEN_SAMPLES: f64 = 0.01;

/// Largest fraction of poses in which a triangle in another part is nearer than the surface of the union, by more than the tolerance: 1 in
/// 100 of all poses, 3 in 100 of those deeper than a hundredth of the smaller body.
const BURIED: f64 = 0.05;

#[test]
fn contacts_of_closed_parts_are_those_of_the_triangles() {
    let (mut broken, mut workspace) = (Broken::default(), Workspace::new());
    let (mut poses_seen, mut between_samples, mut buried) = (0, 0, 0);
    for seed in 1000..1000 + super::seeds(8) {
        let mut rng = Rng(seed);
        let large = Solid::new(any_parts(&mut rng));
        let (count, size) = (1 + (rng.next() % 3) as usize, 0.03f64.powf(rng.fraction()));
        let solids = [Solid::new(parts(count, size, &mut rng)), large];
        let scene = Scene { bodies: [0, 1].map(|i| solids[i].body.clone()) };
        let (t, margin) = (scene.tolerance(), 4.0 * scene.tolerance());
        for _ in 0..2 {
            let line = scene.approach(&mut rng, &mut workspace);
            for distance in distances(scene.extent(), &mut rng) {
                let placed = Placed::new(&solids, &scene, line.poses(distance));
                let [a, b] = &scene.bodies;
                let what = format!("seed {seed}, {} and {} at {:.2} t", a.name, b.name, distance / t);
                let mut pair = pair(0.0);
                update(&mut pair, [a, b], &placed.poses);
                pair.points().iter().for_each(|point| placed.is_true(point, &what, &mut broken));
                let found = pair.points().iter().map(|point| point.separation).fold(margin, f64::min);
                let [p, q] = &placed.triangles;
                let all = placed.deepest([p.faces(), q.faces()], &placed.triangles, margin);
                let of_edges = placed.deepest([p.edges(), q.edges()], &placed.triangles, margin);
                let [p, q] = &placed.surfaces;
                let union = placed.deepest([p.faces(), q.faces()], &placed.surfaces, margin);
                let is_near = |found: f64, real: f64| (found - real).abs() <= t;
                let shown = || format!("{what}: {:.2} t instead of {:.2} t", found / t, all / t);
                broken.unless(found >= all - t, || format!("too deep: {}", shown()));
                broken.unless(found <= of_edges + t, || format!("missed: {}, edges {:.2} t", shown(), of_edges / t));
                broken.unless(union > -t || found <= 0.0, || format!("not touching: {}", shown()));
                poses_seen += 1;
                between_samples += usize::from(!is_near(found, all));
                buried += usize::from(!is_near(found, union));
            }
        }
    }
    broken.none(3 * poses_seen);
    let share = |count: usize| count as f64 / poses_seen as f64;
    assert!(share(between_samples) <= BETWEEN_SAMPLES, "{between_samples} of {poses_seen} miss a face");
    assert!(share(buried) <= BURIED, "{buried} of {poses_seen} are not those of the union");
}
