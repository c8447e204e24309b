//! Choice of the body that brings its samples: the fraction of a small depth that each choice finds, and its cost. The
//! printed table (`cargo test --test contact -- roles:: --nocapture`) is that of docs/accuracy.md.

use nalgebra::{Isometry3, Vector3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, distance, Geometry, Query, Roles, Workspace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

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
        let shell = PointShell::sample(&plate, None, &options, &Progress::none()).unwrap();
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
