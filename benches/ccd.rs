//! A pointshell that moves through a field. `motion/<samples>/<what>/<tree or each>` is a hundred random motions in a
//! box three times the field's, by the tree and sample by sample. Shows the number of samples from which the tree is
//! faster.
//!
//! The papers' tables: `cargo run --release -p voxshell-lab -- bench ccd --json`.

use criterion::{criterion_group, criterion_main, Criterion};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use voxshell::ccd::motion::Motion;
use voxshell::ccd::shell::{Passage, Workspace};
use voxshell::cook::FieldOptions;
use voxshell::field::Field;
use voxshell::math::{Pose, Progress};
use voxshell::mesh::primitives;
use voxshell::pointshell::ShellOptions;

fn random(n: &mut u64) -> f64 {
    *n = n.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*n >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn motions() -> Vec<Motion> {
    let mut seed = 2016;
    let mut pose = || {
        let mut r = || random(&mut seed);
        let place = Translation3::new(4.5 * r(), 4.5 * r(), 4.5 * r());
        Isometry3::from_parts(place, UnitQuaternion::from_euler_angles(6.0 * r(), 6.0 * r(), 6.0 * r()))
    };
    (0..100).map(|_| Motion::straight([&pose(), &pose()], [&Pose::identity(); 2])).collect()
}

fn shells(c: &mut Criterion) {
    let mesh = primitives::blob(3).expect("a blob").scaled_to_extent(1.0);
    let options = FieldOptions { padding_voxels: 60, ..FieldOptions::new(1.5 / 384.0) };
    let field = Field::Bricks(voxshell::cook::brick_field(&mesh, &options, &Progress::none()).expect("the blob cooks"));
    let motions = motions();
    let mut workspace = Workspace::new();
    for samples in [8, 16, 32, 64, 256, 1000, 8000] {
        let options = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        let shell = voxshell::cook::sample(&mesh, Some(&field), &options, &Progress::none()).expect("a shell");
        let mut group = c.benchmark_group(format!("motion/{samples}"));
        group.sample_size(20);
        for (way, linear) in [("tree", false), ("each", true)] {
            let passage = |motion: &Motion| Passage { linear, ..Passage::new(&shell, &field, *motion) };
            group.bench_function(format!("first/{way}"), |b| {
                b.iter(|| motions.iter().filter(|m| passage(m).first(&mut workspace).is_some()).count())
            });
            group.bench_function(format!("all/{way}"), |b| {
                b.iter(|| motions.iter().map(|m| passage(m).spans(&mut workspace).len()).sum::<usize>())
            });
        }
        group.finish();
    }
}

criterion_group!(benches, shells);
criterion_main!(benches);
