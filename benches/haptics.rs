//! Haptics: `qp/<rows>/<start>` is the constrained motion of a body with that many contacts, started from nothing or
//! from the active rows of a slightly different program (by a thousandth). The contacts are those of the samples of a
//! box of 20 cm on a plane and at two walls.

use criterion::{criterion_group, criterion_main, Criterion};
use voxshell::haptics::qp::{Row, Solver};
use voxshell::math::{Mat6, Vec3, Vec6};

fn random(n: &mut u64) -> f64 {
    *n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*n >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn contacts(count: usize, seed: &mut u64) -> Vec<Row> {
    (0..count)
        .map(|i| {
            let wall = Vec3::ith(i % 3, 1.0);
            let noise = Vec3::new(random(seed), random(seed), random(seed)) * 1e-3;
            let normal = (noise - wall).normalize();
            let mut arm = Vec3::new(random(seed), random(seed), random(seed)) * 0.1;
            arm[i % 3] = -0.1;
            let moment = arm.cross(&normal);
            let normal = Vec6::new(normal.x, normal.y, normal.z, moment.x, moment.y, moment.z);
            Row { normal: -normal, slack: 1e-5 * random(seed).abs() }
        })
        .collect()
}

fn programs(c: &mut Criterion) {
    let mass = Mat6::from_diagonal(&Vec6::new(1.0, 1.0, 1.0, 7e-3, 7e-3, 7e-3));
    for count in [1, 4, 20, 64, 256] {
        let mut seed = 7;
        let rows = contacts(count, &mut seed);
        let pulls: Vec<Vec6> = (0..64)
            .map(|i| {
                let t = f64::from(i) * 1e-3;
                Vec6::new(0.01 * t.cos(), 0.01 * t.sin(), 0.01, 0.02 * t, -0.02, 0.01) * -1.0
            })
            .collect();
        let mut group = c.benchmark_group(format!("qp/{count}"));
        let mut solver = Solver::new();
        for (start, cold) in [("cold", true), ("warm", false)] {
            let mut next = 0;
            group.bench_function(start, |b| {
                b.iter(|| {
                    if cold {
                        solver.try_first([]);
                    }
                    next = (next + 1) % pulls.len();
                    solver.solve(&mass, &pulls[next], &rows).expect("a solution").constrained
                })
            });
        }
        group.finish();
    }
}

criterion_group!(benches, programs);
criterion_main!(benches);
