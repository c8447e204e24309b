//! Normals of contacts against the mesh from which the field was cooked: closest points in f64.

use nalgebra::{Isometry3, Translation3};
use rayon::prelude::*;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, distance, Query, Roles, Workspace};
use voxshell::field::{Field, MeshField, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives::{self, Primitive};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::pointshell::ShellOptions;

/// A cooked body and its mesh.
struct Body {
    name: String,
    shape: Shape,
    bvh: Bvh,
    exact: MeshField,
    /// Edge of a cell and largest error of the field, metres.
    voxel: f64,
    error: f64,
}

impl Body {
    fn new(name: &str, mesh: &TriMesh, cells: u32, storage: Storage) -> Self {
        let shell = ShellOptions { target_count: Some(4_000), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(cells), storage, shell, ..CookOptions::default() };
        let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
        let known = shape.field.as_deref().and_then(Field::gridded).unwrap();
        let (voxel, error) = (f64::from(known.grid.spacing), known.error.max);
        let exact = MeshField::new(mesh.clone()).unwrap();
        Self { name: name.into(), bvh: Bvh::build(mesh), exact, voxel, error, shape }
    }

    fn inside(&self, p: Vec3) -> bool {
        let local = p - self.exact.local_origin(&p);
        self.exact.distance(local.map(|x| x as f32).into()) < 0.0
    }
}

/// Errors of the contacts of some poses.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    contacts: usize,
    /// Normals more than 60° off the direction from the closest point; and those of them that lead to no point of the
    /// surface within the field's error.
    far_off: usize,
    nowhere: usize,
    /// Contacts whose point on the field's body is farther than half a voxel from its surface, and the largest distance
    /// in voxels.
    astray: usize,
    farthest: f64,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            far_off: self.far_off + other.far_off,
            nowhere: self.nowhere + other.nowhere,
            astray: self.astray + other.astray,
            farthest: self.farthest.max(other.farthest),
        }
    }
}

/// Checks the contacts of A's samples that are 0.2 to 2 voxels from the surface of `b`, which is at the identity.
fn check(a: &Body, pose: &Pose, b: &Body, workspace: &mut Workspace) -> Tally {
    let (near, far) = (0.2 * b.voxel, 2.0 * b.voxel);
    let query = Query { roles: Roles::ShellOfA, max_separation: far, ..Query::default() };
    let (of_a, of_b) = (a.shape.geometry(), b.shape.geometry());
    let found = contacts(of_a, pose, of_b, &Pose::identity(), &query, workspace).unwrap();
    let mut tally = Tally::default();
    for c in found.iter().filter(|c| (near..=far).contains(&c.separation.abs())) {
        assert!((c.normal.norm() - 1.0).abs() < 1e-6, "{}: {c:?}", b.name);
        let closest = b.bvh.closest_point(c.point_on_a).point;
        let away = (c.point_on_a - closest) * if b.inside(c.point_on_a) { -1.0 } else { 1.0 };
        let astray = b.bvh.closest_point(c.point_on_b).distance_squared.sqrt();
        let far_off = -c.normal.dot(&away) < 0.5 * away.norm();
        tally = tally.add(Tally {
            contacts: 1,
            far_off: usize::from(far_off),
            nowhere: usize::from(far_off && astray > b.error),
            astray: usize::from(astray > 0.5 * b.voxel),
            farthest: astray / b.voxel,
        });
    }
    tally
}

/// Runs all pairs of bodies at random poses, touching or a voxel deep.
fn run(bodies: &[Body], poses: u64) -> Tally {
    let mut total = Tally::default();
    for (i, b) in bodies.iter().enumerate() {
        let tallies: Vec<Tally> = (0..poses)
            .into_par_iter()
            .map_init(Workspace::new, |workspace, case| {
                let mut rng = Rng(case * 977 + i as u64 * 31);
                let a = &bodies[(rng.next() % bodies.len() as u64) as usize];
                let mut pose = Isometry3::from_parts(Translation3::from(rng.vector() * 0.8), rng.rotation());
                for _ in 0..3 {
                    let (of_a, of_b) = (a.shape.geometry(), b.shape.geometry());
                    let still = Pose::identity();
                    let c = distance(of_a, &pose, of_b, &still, Roles::ShellOfA, f64::INFINITY, workspace);
                    let c = c.unwrap().unwrap();
                    pose.translation.vector += c.normal * (c.separation + rng.unit() * b.voxel);
                }
                check(a, &pose, b, workspace)
            })
            .collect();
        let tally = tallies.into_iter().fold(Tally::default(), Tally::add);
        eprintln!("{}: {tally:?}", b.name);
        total = total.add(tally);
    }
    eprintln!("all: {total:?}");
    total
}

/// Returns thin and creased bodies of 1 m.
fn meshes() -> Vec<(&'static str, TriMesh)> {
    let of = |name| Primitive::by_name(name).unwrap().mesh().unwrap().scaled_to_extent(1.0);
    let mut meshes = ["torus-knot", "gear", "bolt", "nut", "bowl", "box", "cone", "blob"].map(|n| (n, of(n))).to_vec();
    meshes.push(("plate", primitives::cuboid([0.5, 0.5, 0.02]).unwrap()));
    meshes.push(("thin gear", primitives::gear(24, 0.5, 0.42, 0.03, 0.1).unwrap()));
    for name in [
        "horse_48k.obj",
        "fandisk_6k_cad.obj",
        "wingnut_3k.obj",
        "rocker_arm_10k_genus1.obj",
        "factory/factory_gear_small_space_5e-4.obj",
    ] {
        meshes.extend(support::shared_mesh(name).map(|mesh| (name, mesh)));
    }
    meshes
}

fn check_normals(cells: u32, storage: Storage, poses: u64) {
    let bodies: Vec<Body> = meshes().iter().map(|(name, mesh)| Body::new(name, mesh, cells, storage)).collect();
    let total = run(&bodies, poses);
    let part = |n: usize| n as f64 / total.contacts as f64;
    assert!(total.contacts > 15_000, "{total:?}");
    assert!(part(total.far_off) < 4e-3, "{total:?}");
    assert!(part(total.nowhere) < 1.5e-3, "{total:?}");
    assert!(part(total.astray) < 2e-3 && total.farthest < 1.25, "{total:?}");
}

#[test]
fn normals_of_thin_and_creased_bodies_lead_to_the_surface() {
    check_normals(64, Storage::Dense, if support::long() { 800 } else { 40 });
}

#[test]
fn normals_from_fields_in_bricks_lead_to_the_surface() {
    check_normals(128, Storage::Bricks, if support::long() { 800 } else { 20 });
}

/// In the storage `exact` every normal is the direction from a closest point. Where two points are equally close up to the
/// field's error, less than 1/1000 of a voxel, it is one of the two directions.
#[test]
fn no_normal_from_an_exact_field_is_far_off() {
    let count = if support::long() { usize::MAX } else { 10 };
    let of_mesh = |(name, mesh): &(&str, TriMesh)| Body::new(name, mesh, 64, Storage::Exact);
    let bodies: Vec<Body> = meshes().iter().take(count).map(of_mesh).collect();
    let total = run(&bodies, if support::long() { 800 } else { 20 });
    assert!(total.contacts > 5_000, "{total:?}");
    assert!(total.nowhere == 0 && total.farthest < 2e-3, "{total:?}");
    assert!(total.far_off * 1_000 < total.contacts, "{total:?}");
}

/// In the middle of a plate both sides are equally close, and the field's gradient is zero.
#[test]
fn a_sample_in_the_middle_of_a_plate_goes_back_where_it_faces() {
    let plate = Body::new("plate", &primitives::cuboid([0.5, 0.5, 0.06]).unwrap(), 20, Storage::Dense);
    let pin = PointPin::new();
    let mut workspace = Workspace::new();
    for (turn, facing) in [(0.3, 1.0), (-0.3, 1.0), (std::f64::consts::PI - 0.3, -1.0)] {
        let pose = Isometry3::new(Vec3::new(0.013, 0.021, 0.0), Vec3::x() * turn);
        let of_b = plate.shape.geometry();
        let found = contacts(pin.0.geometry(), &pose, of_b, &Pose::identity(), &Query::default(), &mut workspace);
        let c = found.unwrap()[0];
        // In its own frame the sample faces down; the surface of the plate that it crossed faces up.
        assert!((c.normal + Vec3::z() * facing).norm() < 1e-3, "turned by {turn}: {c:?}");
    }
}

/// A single sample that faces −z.
struct PointPin(Shape);

impl PointPin {
    fn new() -> Self {
        let options = ShellOptions::default();
        let shell = voxshell::pointshell::PointShell::from_samples(&[[0.0; 3]], &[[0.0, 0.0, -1.0]], &options).unwrap();
        Self(Shape::from_parts(None, Some(shell.into())).unwrap())
    }
}
