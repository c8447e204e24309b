//! Making pointshells: sphere trees over given samples, and samples on meshes.
//!
//! Meshes come from the collection beside the checkout; without it nothing is measured.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use voxshell::math::Progress;
use voxshell::mesh::{io, TriMesh};
use voxshell::pointshell::{Clustering, PointShell, Sampling, ShellOptions, TreeKind};

fn shared_mesh(name: &str) -> Option<TriMesh> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes").join(name);
    if !path.exists() {
        eprintln!("skipped: shared/meshes/{name} is not beside the checkout");
        return None;
    }
    Some(io::load(&path).expect("a mesh of the collection loads").scaled_to_extent(1.0))
}

fn shell(mesh: &TriMesh, method: Sampling, target: usize) -> PointShell {
    let options = ShellOptions { method, target_count: Some(target), ..Default::default() };
    voxshell::cook::sample(mesh, None, &options, &Progress::none()).expect("a valid mesh")
}

/// Returns the arguments of `from_samples`.
fn samples(shell: &PointShell) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    let points = (0..shell.len()).map(|i| shell.position(i).into()).collect();
    let normals = (0..shell.len()).map(|i| shell.normal(i).map(|c| c as f64)).collect();
    (points, normals)
}

fn trees(c: &mut Criterion) {
    let mut group = c.benchmark_group("tree");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let kinds = [
        ("balanced_minimal", Clustering::Balanced, TreeKind::MinimalBalls),
        ("balanced_nested", Clustering::Balanced, TreeKind::NestedOnSamples),
        ("greedy_minimal", Clustering::Greedy, TreeKind::MinimalBalls),
    ];
    for (mesh, count) in [("bunny_34k_filled.obj", 35_000), ("dragon_10k_open.obj", 437_645)] {
        let Some(mesh) = shared_mesh(mesh) else { return };
        let (points, normals) = samples(&shell(&mesh, Sampling::Uniform, count));
        for (name, clustering, tree) in kinds {
            let options = ShellOptions { clustering, tree, ..Default::default() };
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| PointShell::from_samples(black_box(&points), black_box(&normals), &options).unwrap())
            });
        }
    }
    group.finish();
}

fn sampling(c: &mut Criterion) {
    let mut group = c.benchmark_group("sample_bunny70k");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let Some(mesh) = shared_mesh("bunny_34k_filled.obj") else { return };
    let methods = [
        ("vertices_and_uniform", Sampling::VerticesAndUniform),
        ("uniform", Sampling::Uniform),
        ("vertices", Sampling::Vertices),
        ("projection", Sampling::Projection { voxel_size: 0.006 }),
    ];
    for target in [799, 35_000] {
        for (name, method) in methods {
            group
                .bench_function(BenchmarkId::new(name, target), |b| b.iter(|| shell(black_box(&mesh), method, target)));
        }
    }
    group.finish();
}

criterion_group!(benches, trees, sampling);
criterion_main!(benches);
