//! Segments against fields: `segments/<mesh>/<cells>/<method>` is 10,000 random segments, uniform in a cube of 1.5
//! times the mesh. `cell/<method>` is the cubic of one cell that the surface passes, by the library's root search and
//! by the papers' two.
//!
//! The papers' million segments, compared with parry3d's rays: `cargo run --release -p voxshell-lab -- bench segments
//! --json`.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use voxshell::ccd::cell::Cubic;
use voxshell::ccd::segment::{first_fractions, intervals, Segment, Start};
use voxshell::cook::FieldOptions;
use voxshell::field::{Capsule, Cuboid, Field};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{io, primitives, TriMesh};

const COUNT: usize = 10_000;

fn random(n: &mut u64) -> f64 {
    *n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*n >> 11) as f64 / (1u64 << 53) as f64
}

/// Loads the papers' bunny if the mesh collection is beside the checkout, else makes the built-in blob.
fn bunny(file: &str) -> (String, TriMesh) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/meshes").join(file);
    match io::load(&path) {
        Ok(mesh) => (file.trim_end_matches(".obj").into(), mesh.scaled_to_extent(1.0)),
        Err(_) => ("blob".into(), primitives::blob(3).expect("a blob").scaled_to_extent(1.0)),
    }
}

fn segments(center: Vec3) -> Vec<Segment> {
    let mut seed = 2014;
    let mut point = || {
        let r = &mut seed;
        center + Vec3::new(random(r) - 0.5, random(r) - 0.5, random(r) - 0.5) * 1.5
    };
    (0..COUNT).map(|_| Segment::new(point(), point())).collect()
}

fn against_fields(c: &mut Criterion) {
    let mut fractions = vec![None; COUNT];
    for file in ["bunny_777_decimated.obj", "bunny_34k_filled.obj"] {
        let (name, mesh) = bunny(file);
        let segments = segments(mesh.bounds().center());
        for cells in [128, 256] {
            let voxel_size = 1.5 / f64::from(cells);
            let options = FieldOptions { padding_voxels: cells / 6, ..FieldOptions::new(voxel_size) };
            let field =
                Field::Dense(voxshell::cook::dense_field(&mesh, &options, &Progress::none()).expect("the bunny cooks"));
            let mut group = c.benchmark_group(format!("segments/{name}/{cells}"));
            group.sample_size(20);
            for (way, level) in [("first", 0.0), ("first_at_a_level_of_0.05", 0.05)] {
                group.bench_function(way, |b| {
                    b.iter(|| first_fractions(&field, black_box(&segments), level, Start::Hit, &mut fractions))
                });
            }
            group.bench_function("intervals", |b| {
                b.iter(|| {
                    let mut sum = 0.0;
                    segments.iter().for_each(|s| intervals(&field, s, 0.0, |i| sum += i[1] - i[0]));
                    sum
                })
            });
            group.finish();
        }
    }
    let shapes = [
        ("cuboid", Field::Cuboid(Cuboid::new([0.3, 0.4, 0.5]).expect("a box"))),
        ("capsule", Field::Capsule(Capsule::new(1, 0.2, 0.4).expect("a capsule"))),
    ];
    let segments = segments(Vec3::zeros());
    for (name, field) in &shapes {
        c.bench_function(&format!("segments/{name}/first"), |b| {
            b.iter(|| first_fractions(field, black_box(&segments), 0.0, Start::Hit, &mut fractions))
        });
    }
}

fn in_a_cell(c: &mut Criterion) {
    let mut seed = 7;
    let mut cells = Vec::new();
    while cells.len() < COUNT {
        // A plane of random direction and position with a little noise, like the surface of a body in a cell.
        let mut r = || random(&mut seed) * 2.0 - 1.0;
        let n = Vec3::new(r(), r(), r()).normalize();
        let offset = r();
        let corners: [f64; 8] = std::array::from_fn(|i| {
            n.dot(&Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)) - offset + 0.05 * r()
        });
        let mut place = || [0, 1, 2].map(|_| 0.5 + 0.5 * r());
        let (from, to) = (place(), place());
        if corners.iter().any(|v| *v > 0.0) && corners.iter().any(|v| *v <= 0.0) {
            cells.push((corners, from, to));
        }
    }
    let mut group = c.benchmark_group(format!("cell_{COUNT}"));
    let mut run = |name: &str, first: &dyn Fn(&Cubic) -> Option<f64>| {
        group.bench_function(name, |b| {
            b.iter(|| cells.iter().filter_map(|(v, p, q)| first(&Cubic::along(v, p, q))).sum::<f64>())
        });
    };
    run("ours", &|cubic| cubic.signs().first_below());
    run("cardano", &|cubic| cubic.cardano());
    run("bisection", &|cubic| cubic.bisection());
    group.finish();
}

criterion_group!(benches, against_fields, in_a_cell);
criterion_main!(benches);
