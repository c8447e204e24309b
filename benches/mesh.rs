//! The mesh hierarchy: building, closest point, winding number, ray. The body of 36k triangles is generated, so that
//! the figures need no file.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use voxshell::math::Vec3;
use voxshell::mesh::{primitives, Bvh};

/// Returns points in a box 1.4 times the body's, along a Weyl sequence.
fn points(n: u32) -> Vec<Vec3> {
    let steps = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3, 0.430_159_709_001_946_7];
    (1..=n).map(|i| Vec3::from(steps.map(|s| ((f64::from(i) * s).fract() - 0.5) * 1.4))).collect()
}

fn hierarchy(c: &mut Criterion) {
    let blob = primitives::blob(2).expect("a valid resolution");
    let bvh = Bvh::build(&blob);
    let anywhere = points(1024);
    let near: Vec<Vec3> = anywhere
        .iter()
        .map(|&p| {
            let q = bvh.closest_point(p).point;
            q + (p - q).normalize() * 0.005
        })
        .collect();
    let mut group = c.benchmark_group("mesh/blob36k");
    group.sample_size(20);
    group.bench_function("build", |b| b.iter(|| Bvh::build(black_box(&blob))));
    for (place, points) in [("anywhere", &anywhere), ("near", &near)] {
        let mut next = points.iter().cycle();
        let mut each = |name: &str, f: &dyn Fn(Vec3) -> f64| {
            group.bench_function(format!("{name}/{place}"), |b| {
                b.iter(|| f(black_box(*next.next().unwrap_or(&points[0]))))
            });
        };
        each("closest_point", &|p| bvh.closest_point(p).distance_squared);
        each("winding_number", &|p| bvh.winding_number(p));
        each("crossings_along_x", &|p| f64::from(bvh.crossings_along_x(p).0));
        each("signed_distance", &|p| bvh.signed_distance(p));
        each("ray_first_hit", &|p| bvh.ray_first_hit(p, -p, 1.0).map_or(0.0, |h| h.0));
    }
    group.bench_function("winding_number_exact", |b| b.iter(|| bvh.winding_number_exact(black_box(near[0]))));
    group.finish();
}

criterion_group!(benches, hierarchy);
criterion_main!(benches);
