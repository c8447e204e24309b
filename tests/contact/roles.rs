//! Choice of the body that brings its samples: the fraction of a small depth that each choice finds, and its cost. The
//! printed table (`cargo test --test contact -- roles:: --nocapture`) is that of docs/accuracy.md.

use super::edges::{piercing, touching, Body};
use nalgebra::{Isometry3, Vector3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, distance, Geometry, Query, Roles, Workspace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

fn cook(mesh: &TriMesh, samples: usize) -> Shape {
    let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(64), shell, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Depth of the bodies, metres, measured with the finest samples.
const DEPTH: f64 = 0.002;

/// Result of one choice of roles over many poses.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Fraction of the poses in which no contact was found.
    missed: f64,
    /// Mean depth found, relative to the true depth.
    depth: f64,
    /// Mean number of tested spheres and samples.
    tests: f64,
}

/// Returns random poses of A above B, at the depth.
fn poses(a: Geometry, b: Geometry) -> Vec<Pose> {
    let mut workspace = Workspace::new();
    let pose = |i: u64| {
        let mut rng = Rng(i * 71 + 5);
        let over = Vector3::new(0.35 * rng.unit(), 0.35 * rng.unit(), 0.4);
        let mut pose = Isometry3::from_parts(over.into(), rng.rotation());
        for _ in 0..30 {
            let c = distance(a, &pose, b, &Pose::identity(), Roles::ShellOfA, f64::INFINITY, &mut workspace);
            pose.translation.z -= c.unwrap().unwrap().separation + DEPTH;
        }
        pose
    };
    (0..60).map(pose).collect()
}

fn ask(a: Geometry, b: Geometry, poses: &[Pose], roles: Roles) -> Found {
    let mut workspace = Workspace::new();
    let mut all = Found::default();
    let n = poses.len() as f64;
    for pose in poses {
        let query = Query { roles, ..Query::default() };
        let found = contacts(a, pose, b, &Pose::identity(), &query, &mut workspace).unwrap();
        all.missed += f64::from(u8::from(found.is_empty())) / n;
        all.depth += found.first().map_or(0.0, |c| -c.separation / DEPTH) / n;
        let stats = workspace.stats();
        all.tests += (stats.node_tests + stats.sample_tests) as f64 / n;
    }
    all
}

#[test]
fn automatic_roles_do_not_miss_bodies_between_samples() {
    let knot = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap().scaled_to_extent(0.2);
    let plate = primitives::cuboid([0.5, 0.5, 0.05]).unwrap();
    // Its field is exact, and its shell is the tested one.
    let reference = cook(&knot, 30_000);
    let field = cook(&plate, 100);
    let plates = [60, 250, 1_000, 4_000, 16_000, 64_000].map(|samples| {
        let options = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        let shell = voxshell::cook::sample(&plate, None, &options, &Progress::none()).unwrap();
        Shape::from_parts(field.field.clone(), Some(shell.into())).unwrap()
    });
    let poses = poses(reference.geometry(), field.geometry());
    println!(
        "knot: spacing, plate: spacing over radius of the knot; missed, depth, tests by shell of knot, plate; by auto"
    );
    for samples in [500, 5_000, 30_000] {
        let small = cook(&knot, samples);
        let a = small.geometry();
        let shell = a.shell.unwrap();
        for plate in &plates {
            let b = plate.geometry();
            let [of_knot, of_plate, auto] =
                [Roles::ShellOfA, Roles::ShellOfB, Roles::Auto].map(|roles| ask(a, b, &poses, roles));
            let ratio = b.shell.unwrap().spacing / shell.tree.radius[0];
            println!(
                "{:5} {:.4}  {:5} {:.4} {ratio:6.3}  {}",
                shell.len(),
                shell.spacing,
                b.shell.unwrap().len(),
                b.shell.unwrap().spacing,
                [of_knot, of_plate, auto]
                    .map(|f| format!("  {:3.0}% {:3.0}% {:6.1}", 100.0 * f.missed, 100.0 * f.depth, f.tests))
                    .concat()
            );
            let best = f64::min(of_knot.missed, of_plate.missed);
            let samples = b.shell.unwrap().len();
            assert!(auto.missed <= best + 0.01, "knot of {}, plate of {samples}: {}", shell.len(), auto.missed);
        }
    }
}

/// Random bodies of 1 m with 300 samples: sharp ones (boxes, plates with a hole, gears, spikes, stones of 20 triangles) and
/// smooth ones (ellipsoids of many triangles, thick tori, organic bodies).
fn random_body(sharp: bool, rng: &mut Rng) -> Body {
    let mut length = |low: f64, high: f64| low + (high - low) * rng.fraction();
    let (a, b) = (length(0.0, 1.0), length(0.0, 1.0));
    let mesh = match (sharp, rng.next() % 5) {
        (true, 0) => primitives::cuboid([0.5, 0.1 + 0.4 * a, 0.1 + 0.4 * b]),
        (true, 1) => primitives::hole([0.5, 0.04 + 0.1 * a, 0.5], 0.1 + 0.2 * b, 16),
        (true, 2) => primitives::gear(8 + (8.0 * a) as u32, 0.5, 0.35 + 0.08 * b, 0.2, 0.1),
        (true, 3) => primitives::cone(0.1 + 0.2 * a, 1.0, 6 + (10.0 * b) as u32),
        (true, _) => primitives::sphere(0.5, 0),
        (false, 0 | 1) => primitives::sphere(0.5, 3),
        (false, 2 | 3) => primitives::torus(0.33, 0.16, 40, 24),
        (false, _) => primitives::capsule(0.25, 0.25, 32),
    };
    let mut mesh = mesh.unwrap();
    if !sharp {
        let stretch = [1.0, 0.75 + 0.25 * a, 0.75 + 0.25 * b];
        mesh.vertices.iter_mut().for_each(|v| (0..3).for_each(|i| v[i] *= stretch[i]));
    }
    Body::new(&mesh)
}

/// Penetrations are those of exact crossings of all triangles. With samples only, automatic roles miss no more of them than
/// both roles where a body is sharp. Of smooth bodies they miss no more than the worse of the two single roles.
#[test]
fn automatic_roles_miss_no_more_of_sharp_bodies_than_both() {
    let (pairs, poses) = if support::long() { (200, 200) } else { (5, 8) };
    let mut workspace = Workspace::new();
    for (sharp_a, sharp_b) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut missed = [0usize; 4];
        let mut all = 0;
        for seed in 0..pairs {
            let mut rng = Rng(seed * 4 + 100);
            let (a, b) = (random_body(sharp_a, &mut rng), random_body(sharp_b, &mut rng));
            for _ in 0..poses {
                let goal = 10f64.powf(-2.0 - 2.0 * rng.fraction());
                let pose = touching(&a, &b, goal, &mut rng, &mut workspace);
                let pierced = |(own, pose): (&Body, &Pose), (other, other_pose): (&Body, &Pose)| {
                    !piercing(&own.mesh, pose, &other.mesh, other_pose).is_empty()
                };
                let (on_a, on_b) = ((&a, &pose), (&b, &Pose::identity()));
                if !pierced(on_a, on_b) && !pierced(on_b, on_a) {
                    continue;
                }
                all += 1;
                let all_roles = [Roles::Auto, Roles::Both, Roles::ShellOfA, Roles::ShellOfB];
                for (missed, roles) in missed.iter_mut().zip(all_roles) {
                    let query = Query { roles, ..Query::default() };
                    let found = contacts(a.shape(), &pose, b.shape(), &Pose::identity(), &query, &mut workspace);
                    *missed += usize::from(found.unwrap().is_empty());
                }
            }
        }
        let [auto, both, by_a, by_b] = missed;
        println!("sharp: {sharp_a} {sharp_b}: {all} poses, missed by auto {auto}, both {both}, A's {by_a}, B's {by_b}");
        assert!(all > pairs as usize * poses / 2, "{all}");
        if sharp_a || sharp_b {
            assert!(auto <= both, "{auto} missed, {both} by both");
            assert!(by_a.min(by_b) > both, "the poses are too easy: {by_a} and {by_b} missed by one, {both} by both");
        } else {
            assert!(auto <= by_a.max(by_b), "{auto} missed, {by_a} and {by_b} by one");
        }
    }
}

/// The measure is a length in radii: about that of the edges, the same at every scale, and 0 for smooth bodies.
#[test]
fn sharpness_is_the_length_of_sharp_edges() {
    let shell = |mesh: &TriMesh, samples: usize| {
        let options = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        voxshell::cook::sample(mesh, None, &options, &Progress::none()).unwrap()
    };
    let cube = primitives::cuboid([0.5; 3]).unwrap();
    // Twelve edges of 1 m, over a radius of √3/2 m.
    let expected = 12.0 / 0.75f32.sqrt();
    for samples in [1_500, 5_000] {
        let of_cube = shell(&cube, samples);
        let sharpness = of_cube.sharpness();
        assert!((0.4 * expected..2.0 * expected).contains(&sharpness), "{sharpness} of a cube");
        assert!((of_cube.scaled(7.0).unwrap().sharpness() / sharpness - 1.0).abs() < 1e-3);
        assert_eq!(shell(&primitives::sphere(0.5, 4).unwrap(), samples).sharpness(), 0.0);
    }
    // The edges of a hollow are no sharp places: nothing of this body enters between the samples of another there.
    let gear = primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap();
    assert!(shell(&gear, 3_000).sharpness() > expected);
}
