//! Contacts of samples with an exact surface, against the triangles in f64 by brute force.

use nalgebra::{Point3, Translation3};
use rayon::prelude::*;
use support::allocation::allocations;
use support::parts::Part;
use support::rng::Rng;
use support::{long, shared_mesh, soup};
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{
    contacts, contacts_of, distance, Contact, Coverage, Geometry, Query, Roles, Segmentation, Step, Workspace,
    FEATURE_OF_EDGE,
};
use voxshell::field::Field;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, triangle, TriMesh};
use voxshell::pointshell::ShellOptions;

/// Largest error of a separation, voxels.
const EXACT: f64 = 0.01;

/// Distance up to which separations are checked, voxels.
const NEAR: f64 = 2.0;

struct Body {
    name: String,
    shape: Shape,
    /// Triangles and a mesh whose winding number is positive inside.
    triangles: Vec<[Vec3; 3]>,
    truth: TriMesh,
    voxel: f64,
}

impl Body {
    fn new(name: &str, mesh: &TriMesh, truth: &TriMesh, storage: Storage) -> Self {
        let shell = ShellOptions { target_count: Some(1_500), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(128), storage, shell, ..CookOptions::default() };
        let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
        let voxel = shape.field.as_deref().and_then(Field::gridded).unwrap().grid.spacing.into();
        let triangles = (0..truth.triangles.len()).map(|t| truth.corners(t).map(Vec3::from)).collect();
        Self { name: name.into(), shape, triangles, truth: truth.clone(), voxel }
    }

    fn exact(&self) -> Geometry<'_> {
        self.shape.geometry_for(Coverage::Edges).unwrap()
    }

    /// Returns the distance to the closest triangle.
    fn distance(&self, p: &Vec3) -> f64 {
        let squared = |t: &[Vec3; 3]| (triangle::closest_point(t, triangle::is_sliver(t), p).0 - p).norm_squared();
        self.triangles.iter().map(squared).fold(f64::INFINITY, f64::min).sqrt()
    }

    fn signed(&self, p: &Vec3) -> f64 {
        let distance = self.distance(p);
        if soup::winding_number(&self.truth, p) > 0.5 {
            -distance
        } else {
            distance
        }
    }
}

/// Returns a pyramid of 1 × 1 × 3 m.
fn spike() -> TriMesh {
    let vertices = vec![[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [0.5, 0.0, 0.5], [-0.5, 0.0, 0.5], [0.0, 3.0, 0.0]];
    TriMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]] }
}

/// Returns a wedge of 1 × 2 × 3 m.
fn wedge() -> TriMesh {
    let (h, z) = (0.5, 1.0);
    let vertices = vec![[-h, 0.0, -z], [h, 0.0, -z], [h, 0.0, z], [-h, 0.0, z], [0.0, 3.0, -z], [0.0, 3.0, z]];
    let triangles = [[0, 1, 2], [0, 2, 3], [1, 0, 4], [3, 2, 5], [2, 1, 4], [2, 4, 5], [0, 3, 5], [0, 5, 4]];
    TriMesh { vertices, triangles: triangles.to_vec() }
}

/// Bodies from seeds and, where the folder of meshes is there, designed ones.
fn bodies() -> Vec<Body> {
    let mut meshes: Vec<(String, TriMesh, TriMesh)> = Vec::new();
    for (name, mesh) in [
        ("gear", primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap()),
        ("spike", spike()),
        ("wedge", wedge()),
        ("plate with a hole", primitives::hole([0.5, 0.05, 0.5], 0.15, 24).unwrap()),
        ("knot", primitives::torus_knot(2, 3, 0.3, 0.08, 96, 12).unwrap()),
    ] {
        meshes.push((name.into(), mesh.clone(), mesh));
    }
    // Bodies that intersect, contain and repeat each other, some inside out.
    for seed in 0..if long() { 40 } else { 6 } {
        let part = Part::new(900 + seed);
        meshes.push((format!("soup {seed}"), part.mesh.clone(), part.truth()));
    }
    for name in ["fandisk_6k_cad.obj", "rocker_arm_10k_genus1.obj"] {
        meshes.extend(shared_mesh(name).map(|mesh| (name.into(), mesh.clone(), mesh)));
    }
    let storage = |i: usize| [Storage::Dense, Storage::Bricks, Storage::Exact][i % 3];
    (0..).zip(meshes).map(|(i, (name, mesh, truth))| Body::new(&name, &mesh, &truth, storage(i))).collect()
}

fn in_frame_of(pose: &Pose, p: &Vec3) -> Vec3 {
    pose.inverse_transform_point(&Point3::from(*p)).coords
}

/// Returns a pose of `a` in which its samples are about a voxel inside `b` or beside it.
fn touching(a: &Body, b: &Body, rng: &mut Rng, workspace: &mut Workspace) -> Pose {
    let mut pose = Pose::from_parts(Translation3::from(rng.vector() * 0.9), rng.rotation());
    for _ in 0..3 {
        let (of_a, of_b) = (a.shape.geometry(), b.shape.geometry());
        let still = Pose::identity();
        let c = distance(of_a, &pose, of_b, &still, Roles::ShellOfA, f64::INFINITY, workspace).unwrap().unwrap();
        pose.translation.vector += c.normal * (c.separation + 1.5 * rng.unit() * b.voxel);
    }
    pose
}

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    contacts: usize,
    /// Largest error of a separation, and of a separation of the field alone, voxels.
    error: f64,
    field_error: f64,
}

fn check(a: &Body, b: &Body, pose: &Pose, world: &Pose, workspace: &mut Workspace) -> Tally {
    let name = format!("{} in {}", a.name, b.name);
    let (limit, tolerance) = (NEAR * b.voxel, EXACT * b.voxel);
    let query = Query { roles: Roles::ShellOfA, max_separation: limit, ..Query::default() };
    // Without A's surface, only samples are found.
    let of_a = a.shape.geometry();
    let pose_a = world * pose;
    let found = contacts(of_a, &pose_a, b.exact(), world, &query, workspace).unwrap().to_vec();
    let rough: Vec<Contact> = contacts(of_a, &pose_a, b.shape.geometry(), world, &query, workspace).unwrap().to_vec();
    let shell = a.shape.shell.as_ref().unwrap();
    let bounds = b.truth.bounds().inflated(limit);
    let mut tally = Tally::default();
    for sample in 0..shell.len() {
        let p = (pose * Point3::from(shell.position(sample))).coords;
        let contact = found.iter().find(|c| c.feature as usize == sample);
        if contact.is_none() && !bounds.contains(&p) {
            continue;
        }
        let exact = b.signed(&p);
        let Some(c) = contact else {
            assert!(exact > limit - 1e-9, "{name}: a sample at {exact} is missed, the limit is {limit}");
            continue;
        };
        if exact.abs() > limit + tolerance {
            assert!(c.separation < -limit + tolerance, "{name}: {} found at {exact}", c.separation);
            continue;
        }
        let error = (c.separation - exact).abs();
        assert!(error <= tolerance, "{name}: {} instead of {exact}, {} voxels", c.separation, error / b.voxel);
        tally.contacts += 1;
        tally.error = tally.error.max(error / b.voxel);
        if let Some(rough) = rough.iter().find(|r| r.feature == c.feature) {
            tally.field_error = tally.field_error.max((rough.separation - exact).abs() / b.voxel);
        }
        // The normal leads to a point of the surface.
        assert!((c.normal.norm() - 1.0).abs() < 1e-9, "{name}: {c:?}");
        let foot = in_frame_of(world, &c.point_on_b);
        let astray = b.distance(&foot);
        assert!(astray <= 2.0 * tolerance, "{name}: {} voxels from the surface, {c:?}", astray / b.voxel);
        assert!((c.point_on_b - c.point_on_a - c.normal * c.separation).norm() < 1e-9, "{name}: {c:?}");
        assert!((in_frame_of(world, &c.point_on_a) - p).norm() < 1e-9, "{name}: {c:?}");
    }
    assert!(found.is_sorted_by(|p, q| (p.separation, p.feature) <= (q.separation, q.feature)));
    // Known samples have the same contacts.
    let features: Vec<u32> = found.iter().rev().map(|c| c.feature).collect();
    let mut again = Vec::new();
    contacts_of(of_a, &pose_a, b.exact(), world, &features, |_, c| again.push(c)).unwrap();
    assert!(again.iter().eq(found.iter().rev()), "{name}: contacts of known samples differ");
    tally
}

#[test]
fn samples_have_the_exact_separation_and_none_is_missed() {
    let bodies = bodies();
    let poses = if long() { 200 } else { 5 };
    let tallies: Vec<Tally> = (0..bodies.len() * poses)
        .into_par_iter()
        .map_init(Workspace::new, |workspace, case| {
            let mut rng = Rng(case as u64 * 7 + 1);
            let b = &bodies[case % bodies.len()];
            let a = &bodies[(rng.next() % bodies.len() as u64) as usize];
            let pose = touching(a, b, &mut rng, workspace);
            let world = Pose::from_parts((rng.vector() * 3.0).into(), rng.rotation());
            check(a, b, &pose, &world, workspace)
        })
        .collect();
    let most = |of: fn(&Tally) -> f64| tallies.iter().map(of).fold(0.0, f64::max);
    let contacts: usize = tallies.iter().map(|t| t.contacts).sum();
    let (error, field_error) = (most(|t| t.error), most(|t| t.field_error));
    eprintln!("{contacts} contacts: largest error {error:.1e} voxels, {field_error:.2} by the field");
    assert!(contacts > 1_500 && field_error > 0.3, "the poses are too easy: {contacts}, {field_error}");
}

/// The answers of reductions, levels and steps are made of the exact contacts.
#[test]
fn settings_of_a_query_hold_for_exact_samples() {
    let (gear, wedge) = (primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap(), wedge());
    let (a, b) =
        (Body::new("gear", &gear, &gear, Storage::Bricks), Body::new("wedge", &wedge, &wedge, Storage::Bricks));
    let (mut workspace, mut rng) = (Workspace::new(), Rng(5));
    let mut dropped = 0;
    for _ in 0..20 {
        let pose = touching(&a, &b, &mut rng, &mut workspace);
        let limit = 0.3 * b.voxel;
        let plain = Query { roles: Roles::ShellOfA, max_separation: limit, ..Query::default() };
        let mut ask = |query: Query| {
            contacts(a.shape.geometry(), &pose, b.exact(), &Pose::identity(), &query, &mut workspace).unwrap().to_vec()
        };
        let all = ask(plain);
        assert!(all.iter().all(|c| c.feature & FEATURE_OF_EDGE == 0 && c.separation <= limit));
        for query in [
            Query { max_contacts: 4, ..plain },
            Query { segmentation: Segmentation::Level(2), ..plain },
            Query { segmentation: Segmentation::REGION, ..plain },
        ] {
            let some = ask(query);
            assert!(some.iter().all(|c| all.contains(&Contact { segment: 0, ..*c })));
            assert_eq!(some.first().map(|c| c.feature), all.first().map(|c| c.feature));
        }
        let shift = rng.vector() * 0.02;
        let step = Step {
            center: Vec3::zeros(),
            shift,
            turn: Vec3::zeros(),
            max_gap: 0.0,
            dense_above: 0,
            extremes_only: false,
            ..Step::default()
        };
        let gap = |c: &Contact| c.separation - c.normal.dot(&shift).max(0.0);
        let counting = ask(Query { step: Some(step), ..plain });
        assert!(counting.iter().all(|c| gap(c) <= 0.0 && all.contains(c)));
        // Samples whose direction in the field is about the exact one are all there.
        let deep = all.iter().filter(|c| c.separation <= 0.0);
        assert!(deep.clone().all(|c| counting.contains(c)), "{} of {}", counting.len(), deep.count());
        dropped += all.len() - counting.len();
        // A sample of the last answer stays although it does not count.
        if let Some(last) = all.last().filter(|c| gap(c) > 0.0) {
            let preferred = [last.feature];
            assert!(ask(Query { step: Some(step), preferred: &preferred, ..plain }).contains(last));
        }
        // The nearest sample is the first of all.
        let still = Pose::identity();
        let nearest =
            distance(a.shape.geometry(), &pose, b.exact(), &still, Roles::ShellOfA, f64::INFINITY, &mut workspace);
        let nearest = nearest.unwrap().unwrap();
        assert!(all.is_empty() || nearest == all[0], "{nearest:?} is not {:?}", all[0]);
    }
    assert!(dropped > 10, "{dropped}");
}

#[test]
fn warm_queries_of_exact_samples_do_not_allocate() {
    let gear = primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap();
    let [bricks, exact] = [Storage::Bricks, Storage::Exact].map(|s| Body::new("gear", &gear, &gear, s));
    // The exact surface beside the field, and in it.
    for (a, b) in [(bricks.shape.geometry(), bricks.exact()), (exact.shape.geometry(), exact.shape.geometry())] {
        do_not_allocate_when_warm(a, b);
    }
}

fn do_not_allocate_when_warm(a: Geometry, b: Geometry) {
    let (mut workspace, still) = (Workspace::new(), Pose::identity());
    let run = |workspace: &mut Workspace| {
        let mut found = 0;
        for i in 0..40 {
            let t = 0.02 * f64::from(i);
            let pose = Pose::new(Vec3::new(0.3 - 0.3 * t, 0.15, 0.1), Vec3::new(t, 2.0 * t, 0.5));
            let query = Query { max_separation: 0.01, max_contacts: 8 * (i as usize % 2), ..Query::default() };
            found += contacts(a, &pose, b, &still, &query, workspace).unwrap().len();
            let nearest = distance(a, &pose, b, &still, Roles::ShellOfA, f64::INFINITY, workspace).unwrap().unwrap();
            contacts_of(a, &pose, b, &still, &[nearest.feature], |_, c| assert_eq!(c, nearest)).unwrap();
        }
        found
    };
    let found = run(&mut workspace);
    assert!(found > 500, "{found}");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0);
}

/// With coverage of edges the surface decides near it, and the field in the storage `exact` is searched as its grid.
#[test]
fn contacts_with_edges_are_those_of_a_plain_grid() {
    let (gear, wedge) = (primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap(), wedge());
    let (mut workspace, mut rng) = (Workspace::new(), Rng(8));
    let body = |name, mesh: &TriMesh, storage| Body::new(name, mesh, mesh, storage);
    let [of_grid, exact] = [Storage::Dense, Storage::Exact].map(|s| [body("gear", &gear, s), body("wedge", &wedge, s)]);
    let (mut found, mut sampled) = (0, 0);
    for n in 0..20 {
        let pose = touching(&of_grid[0], &of_grid[1], &mut rng, &mut workspace);
        let query = Query { max_separation: of_grid[1].voxel, max_contacts: 4 * (n % 2), ..Query::default() };
        let mut ask = |[a, b]: &[Body; 2], query: &Query| {
            contacts(a.exact(), &pose, b.exact(), &Pose::identity(), query, &mut workspace).unwrap().to_vec()
        };
        let near = |contacts: Vec<Contact>| contacts.into_iter().filter(|c| c.separation > -2.0 * of_grid[1].voxel);
        let expected: Vec<Contact> = near(ask(&of_grid, &query)).collect();
        assert_eq!(near(ask(&exact, &query)).collect::<Vec<_>>(), expected);
        found += expected.len();
        // Without the edges the field itself is exact.
        let samples = Query { coverage: Coverage::Samples, max_contacts: 0, roles: Roles::ShellOfA, ..query };
        let edges = ask(&exact, &Query { coverage: Coverage::Edges, ..samples });
        for c in ask(&exact, &samples) {
            let same = edges.iter().find(|e| e.feature == c.feature && e.separation > -2.0 * of_grid[1].voxel);
            if let Some(same) = same {
                sampled += 1;
                let off = (same.separation - c.separation).abs() / of_grid[1].voxel;
                assert!(off < 1e-3, "{c:?}, but {same:?}");
            }
        }
    }
    assert!(found > 100 && sampled > 500, "{found} found, {sampled} sampled");
}

/// A block lies flush on a larger one. Samples of the lower face beside the block are closest to its edge, but they do not
/// stop it.
#[test]
fn samples_beside_the_other_body_do_not_count_in_a_step() {
    let [small, large] = [[0.25, 0.1, 0.25], [0.5, 0.1, 0.5]].map(|half| primitives::cuboid(half).unwrap());
    let body = |name, mesh: &TriMesh| Body::new(name, mesh, mesh, Storage::Dense);
    let (a, b) = (body("block", &small), body("floor", &large));
    let mut workspace = Workspace::new();
    let shift = Vec3::new(0.01, -1e-4, 0.0);
    let step = Step {
        center: Vec3::zeros(),
        shift,
        turn: Vec3::zeros(),
        max_gap: 0.01,
        dense_above: 0,
        extremes_only: false,
        ..Step::default()
    };
    for height in [1e-4, 1e-7, 0.0, -1e-7, -1e-5] {
        let pose = Pose::translation(0.02, 0.2 + height, 0.03);
        let mut ask = |step| {
            let query = Query { roles: Roles::Both, max_separation: 0.02, step, ..Query::default() };
            contacts(a.exact(), &pose, b.exact(), &Pose::identity(), &query, &mut workspace).unwrap().to_vec()
        };
        let is_beside = |c: &&Contact| c.normal.y > -0.3;
        assert!(ask(None).iter().any(|c| is_beside(&c)), "at {height} the sides are not near");
        let counting = ask(Some(step));
        assert!(counting.len() > 100, "at {height}");
        assert_eq!(counting.iter().find(is_beside), None, "at {height}");
    }
}

/// A body of a hundredth of a plate's extent, in the middle of the plate: the normal is that of one of its two sides, and the
/// separation is the distance along it.
#[test]
fn points_of_a_small_body_in_a_plate_lie_on_the_plate() {
    let [plate, cube] = [[0.5, 0.01, 0.5], [0.005; 3]].map(|half| {
        Shape::cook(&primitives::cuboid(half).unwrap(), &CookOptions::default(), &Progress::none()).unwrap()
    });
    let mut workspace = Workspace::new();
    let mut count = 0;
    for seed in 0..20 {
        let mut rng = Rng(seed);
        let pose = Pose::from_parts((rng.vector() * 1e-4 + Vec3::x() * 0.2).into(), rng.rotation());
        let [a, b] = [&cube, &plate].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
        let query = Query { roles: Roles::ShellOfA, ..Query::default() };
        for contact in contacts(a, &pose, b, &Pose::identity(), &query, &mut workspace).unwrap() {
            let off = (contact.point_on_b.y.abs() - 0.01).abs();
            assert!(off <= 0.01 / 2000.0, "seed {seed}: {off} m off: {contact:?}");
            count += 1;
        }
    }
    assert!(count > 1_000, "{count} contacts");
}
