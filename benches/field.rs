//! Fields: sampling, certified bounds, cooking. Names give the operation, the shape and the resolution (cells along the
//! largest extent).

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, BatchSize, Criterion};
use voxshell::cook::FieldOptions;
use voxshell::field::{Cone, ConvexHull, Cuboid, DenseField, Field, SignedDistance};
use voxshell::math::Progress;
use voxshell::mesh::{io, primitives, TriMesh};

const POINTS: usize = 4096;

/// Loads the papers' bunny if the mesh collection is beside the checkout, else makes the built-in blob.
fn bunny(file: &str) -> (String, TriMesh) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes").join(file);
    match io::load(&path) {
        Ok(mesh) => (file.trim_end_matches(".obj").into(), mesh.scaled_to_extent(1.0)),
        Err(_) => ("blob".into(), primitives::blob(3).expect("a blob").scaled_to_extent(1.0)),
    }
}

fn random(n: &mut u64) -> f32 {
    *n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*n >> 40) as f32 / (1u64 << 24) as f32
}

/// Returns points within two cells of the surface, in random order, as x, y, z.
fn near_surface(field: &DenseField, mesh: &TriMesh) -> [Vec<f32>; 3] {
    let mut seed = 1;
    let mut out = [const { Vec::new() }; 3];
    while out[0].len() < POINTS {
        let t = (random(&mut seed) * mesh.triangles.len() as f32) as usize % mesh.triangles.len();
        let c = mesh.corners(t)[0];
        for k in 0..3 {
            let off = (random(&mut seed) - 0.5) * 4.0 * field.grid().spacing;
            out[k].push((c[k] - field.center()[k]) as f32 + off);
        }
    }
    out
}

fn sampling(c: &mut Criterion) {
    let (name, mesh) = bunny("bunny_34k_filled.obj");
    for cells in [128, 256] {
        let options = FieldOptions::with_resolution(&mesh, cells);
        let field = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).expect("the bunny cooks");
        let [x, y, z] = near_surface(&field, &mesh);
        let r: Vec<f32> = x.iter().map(|v| 0.02 + 0.05 * v.abs()).collect();
        let mut out = vec![0.0; POINTS];
        let mut group = c.benchmark_group(format!("sample_{POINTS}/{name}/{cells}"));
        group.bench_function("distance", |b| {
            b.iter(|| (0..POINTS).map(|i| field.distance([x[i], y[i], z[i]])).fold(0.0, f32::max))
        });
        group.bench_function("distance_batch", |b| {
            b.iter(|| {
                field.distance_batch(black_box(&x), &y, &z, &mut out);
                out[0]
            })
        });
        group.bench_function("distance_gradient", |b| {
            b.iter(|| (0..POINTS).map(|i| field.distance_gradient([x[i], y[i], z[i]]).1[0]).fold(0.0, f32::max))
        });
        group.bench_function("lower_bound_by_8", |b| {
            b.iter(|| {
                for i in (0..POINTS).step_by(8) {
                    let s = i..i + 8;
                    let (x, y, z, r) = (&x[s.clone()], &y[s.clone()], &z[s.clone()], &r[s.clone()]);
                    field.lower_bound_batch(x, y, z, r, &mut out[s]);
                }
                out[0]
            })
        });
        group.finish();
    }
    let hull = ConvexHull::new(&mesh.vertices.iter().step_by(97).copied().collect::<Vec<_>>()).expect("a hull");
    let corners = hull.vertices().len();
    let shapes = [
        ("cuboid".to_string(), Field::Cuboid(Cuboid::new([0.3, 0.4, 0.5]).expect("a box"))),
        ("cone".to_string(), Field::Cone(Cone::new(1, 0.4, 0.9).expect("a cone"))),
        (format!("hull of {corners} corners"), Field::ConvexHull(hull)),
    ];
    let mut seed = 7;
    let mut axis = || (0..POINTS).map(|_| random(&mut seed) * 1.4 - 0.7).collect::<Vec<f32>>();
    let (x, y, z) = (axis(), axis(), axis());
    let mut out = vec![0.0; POINTS];
    for (name, field) in &shapes {
        c.bench_function(&format!("sample_{POINTS}/{name}/distance_batch"), |b| {
            b.iter(|| {
                field.distance_batch(black_box(&x), &y, &z, &mut out);
                out[0]
            })
        });
        c.bench_function(&format!("sample_{POINTS}/{name}/lower_bound_batch"), |b| {
            b.iter(|| {
                field.lower_bound_batch(black_box(&x), &y, &z, &x, &mut out);
                out[0]
            })
        });
    }
}

fn cooking(c: &mut Criterion) {
    let mut group = c.benchmark_group("cook");
    group.sample_size(10);
    for file in ["bunny_777_decimated.obj", "bunny_34k_filled.obj", "bunny_34k_raw_holes.obj"] {
        let (name, mesh) = bunny(file);
        for cells in [128, 256] {
            let options = FieldOptions::with_resolution(&mesh, cells);
            group.bench_function(format!("{name}/{cells}"), |b| {
                b.iter_batched(
                    || (),
                    |()| voxshell::cook::dense_field(&mesh, &options, &Progress::none()),
                    BatchSize::PerIteration,
                )
            });
            group.bench_function(format!("{name}/{cells}/bricks"), |b| {
                b.iter_batched(
                    || (),
                    |()| voxshell::cook::brick_field(&mesh, &options, &Progress::none()),
                    BatchSize::PerIteration,
                )
            });
        }
    }
    group.finish();
}

criterion_group!(benches, sampling, cooking);
criterion_main!(benches);
