//! The layered forms of the papers: making them at the resolution of Sagardia et al. 2014 (306 × 305 × 282 voxels of
//! the bunny, "within less than 10 seconds and around 1 MB"), and looking up points. The memory of each is printed
//! first.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use voxshell::cook::FieldOptions;
use voxshell::math::Progress;
use voxshell::mesh::{io, primitives, TriMesh};
use voxshell::voxmap::{Branching, DistanceMap, LayerMap, Offset, VoxelModel, VoxelOptions, Voxmap};

const POINTS: usize = 4096;
const TREES: [(&str, Branching); 3] =
    [("octree", Branching::Octree), ("tree64", Branching::Tree64), ("tree512", Branching::Tree512)];

/// Loads the papers' bunny if the mesh collection is beside the checkout, else makes the built-in blob.
fn bunny() -> (&'static str, TriMesh) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes/bunny_34k_filled.obj");
    match io::load(&path) {
        Ok(mesh) => ("bunny_34k", mesh.scaled_to_extent(1.0)),
        Err(_) => ("blob", primitives::blob(3).expect("a blob").scaled_to_extent(1.0)),
    }
}

/// Returns options with the paper's number of voxels, border included.
fn options(mesh: &TriMesh) -> VoxelOptions {
    VoxelOptions { padding_voxels: 0, ..VoxelOptions::with_resolution(mesh, 305) }
}

fn making(c: &mut Criterion) {
    let (name, mesh) = bunny();
    let options = options(&mesh);
    let none = Progress::none();
    let model = VoxelModel::from_mesh(&mesh, &options, &none).expect("a model");
    let map = LayerMap::new(&model, &none).expect("layers");
    let voxmap = Voxmap::new(&model, Offset::SURFACE).expect("a voxmap");
    let fields = FieldOptions { padding_voxels: 0, ..FieldOptions::new(options.voxel_size) };
    let field = voxshell::cook::dense_field(&mesh, &fields, &none).expect("a field");
    let [x, y, z] = model.grid().dims();
    let report = |what: &str, bytes: u64| println!("bytes/{name}/{x}x{y}x{z}/{what}: {bytes}");
    report("model", model.bytes());
    report("voxmap", voxmap.bytes());
    report("layers", map.bytes());
    for (tree, branching) in TREES {
        report(&format!("voxmap/{tree}"), voxmap.tree(branching).expect("a tree").bytes());
        for limit in [1, 7, 127] {
            report(&format!("layers_to_{limit}/{tree}"), map.compact(limit, branching).expect("a tree").bytes());
        }
    }
    report("scaled", DistanceMap::scaled(&model, &field, 4).expect("distances").bytes());
    report("real", DistanceMap::real(&model, &field).expect("distances").bytes());

    let mut group = c.benchmark_group(format!("voxmap/{name}/{x}x{y}x{z}"));
    group.sample_size(10);
    group.bench_function("model_from_mesh", |b| b.iter(|| VoxelModel::from_mesh(&mesh, &options, &none)));
    group.bench_function("model_from_field", |b| {
        b.iter(|| VoxelModel::from_field(&field, *model.grid(), options.memory_limit, &none))
    });
    group.bench_function("layers", |b| b.iter(|| LayerMap::new(&model, &none)));
    group.bench_function("voxmap", |b| b.iter(|| Voxmap::new(&model, Offset::SURFACE)));
    for (tree, branching) in TREES {
        group.bench_function(format!("voxmap/{tree}"), |b| b.iter(|| voxmap.tree(branching)));
    }
    group.bench_function("layers_to_7/tree512", |b| b.iter(|| map.compact(7, Branching::Tree512)));
    group.bench_function("field", |b| b.iter(|| voxshell::cook::dense_field(&mesh, &fields, &none)));
    group.bench_function("scaled", |b| b.iter(|| DistanceMap::scaled(&model, &field, 4)));
    group.finish();
}

fn random(n: &mut u64) -> f32 {
    *n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*n >> 40) as f32 / (1u64 << 24) as f32
}

fn looking_up(c: &mut Criterion) {
    let (name, mesh) = bunny();
    let options = options(&mesh);
    let none = Progress::none();
    let model = VoxelModel::from_mesh(&mesh, &options, &none).expect("a model");
    let map = LayerMap::new(&model, &none).expect("layers");
    let voxmap = Voxmap::new(&model, Offset::SURFACE).expect("a voxmap");
    let fields = FieldOptions { padding_voxels: 0, ..FieldOptions::new(options.voxel_size) };
    let field = voxshell::cook::dense_field(&mesh, &fields, &none).expect("a field");
    let scaled = DistanceMap::scaled(&model, &field, 4).expect("distances");
    let real = DistanceMap::real(&model, &field).expect("distances");
    // Within two voxels of the surface, in random order, as the samples of pointshells in contact.
    let mut seed = 1;
    let mut near = || {
        let t = (random(&mut seed) * mesh.triangles.len() as f32) as usize % mesh.triangles.len();
        let corner = mesh.corners(t)[0];
        [0, 1, 2].map(|k| {
            let off = (random(&mut seed) - 0.5) * 4.0 * model.grid().voxel_size();
            (corner[k] - model.grid().center()[k]) as f32 + off
        })
    };
    let points: Vec<[f32; 3]> = (0..POINTS).map(|_| near()).collect();
    let n = [0.6, 0.0, 0.8];
    let mut group = c.benchmark_group(format!("look_up_{POINTS}/{name}"));
    let mut bench = |what: &str, look: &dyn Fn(&[[f32; 3]]) -> f32| {
        group.bench_function(what, |b| b.iter(|| look(black_box(&points))));
    };
    bench("voxmap", &|points| points.iter().map(|&p| voxmap.at(p) as u32).sum::<u32>() as f32);
    for (tree, branching) in TREES {
        let tree_of = voxmap.tree(branching).expect("a tree");
        bench(&format!("voxmap/{tree}"), &|points| points.iter().map(|&p| tree_of.at(p) as u32).sum::<u32>() as f32);
    }
    bench("layers", &|points| points.iter().map(|&p| map.layer_at(p)).sum::<i32>() as f32);
    let compact = map.compact(7, Branching::Tree512).expect("a tree");
    bench("layers_to_7/tree512", &|points| points.iter().map(|&p| compact.layer_at(p)).sum::<i32>() as f32);
    bench("layers/equation_4", &|points| points.iter().map(|&p| map.penetration(p, n)).sum());
    bench("scaled/equation_4", &|points| points.iter().map(|&p| scaled.penetration(p, n)).sum());
    bench("scaled/equation_5", &|points| points.iter().map(|&p| scaled.interpolated(p)).sum());
    bench("real/equation_5", &|points| points.iter().map(|&p| real.interpolated(p)).sum());
    group.finish();
}

criterion_group!(benches, making, looking_up);
criterion_main!(benches);
