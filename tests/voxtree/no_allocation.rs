//! Warm queries do not allocate, and give the same bytes again and on other threads.

use support::allocation::allocations;
use voxshell::field::Sphere;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::voxtree::{query, query_pointshell, Placed, QueryOptions, TreeOptions, VoxTree, VoxelPair, Workspace};

fn ball() -> VoxTree {
    VoxTree::from_field(&Sphere::new(0.5).unwrap(), &TreeOptions::new(0.03), &Progress::none()).unwrap()
}

fn shell() -> PointShell {
    let mesh = primitives::sphere(0.5, 3).unwrap();
    let normals: Vec<[f64; 3]> = mesh.vertices.iter().map(|v| Vec3::from(*v).normalize().into()).collect();
    PointShell::from_samples(&mesh.vertices, &normals, &ShellOptions::default()).unwrap()
}

fn poses() -> Vec<Pose> {
    (0..12)
        .map(|i| Pose::new(Vec3::new(1.02 - 0.02 * f64::from(i), 0.1, 0.0), Vec3::new(0.3, 0.1 * f64::from(i), 0.2)))
        .collect()
}

#[test]
fn warm_queries_do_not_allocate() {
    let (tree, shell) = (ball(), shell());
    let mut workspace = Workspace::new();
    let options = QueryOptions { deepest_first: true, ..QueryOptions::default() };
    let poses = poses();
    let all = |workspace: &mut Workspace| {
        for &pose in &poses {
            let b = Placed::new(&tree, pose);
            query(&Placed::new(&tree, Pose::identity()), &b, &options, workspace).unwrap();
            query_pointshell(&Placed::new(&shell, Pose::identity()), &b, &options, workspace).unwrap();
        }
    };
    assert!(allocations(|| all(&mut workspace)) > 0, "the first queries grow the workspace");
    assert_eq!(allocations(|| all(&mut workspace)), 0);
}

#[test]
fn same_bytes_twice_on_threads_and_on_every_simd_path() {
    let tree = ball();
    let run = || -> Vec<VoxelPair> {
        let mut workspace = Workspace::new();
        let mut out = Vec::new();
        for pose in poses() {
            let (a, b) = (Placed::new(&tree, Pose::identity()), Placed::new(&tree, pose));
            out.extend_from_slice(query(&a, &b, &QueryOptions::default(), &mut workspace).unwrap());
        }
        out
    };
    let first = run();
    assert!(first.len() > 1000, "{} pairs", first.len());
    assert_eq!(run(), first);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), first));
    });
    voxshell::field::force_baseline(true);
    let baseline = run();
    voxshell::field::force_baseline(false);
    assert_eq!(baseline, first);
}
