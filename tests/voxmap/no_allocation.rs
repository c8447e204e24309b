//! Look-ups in voxmaps do not allocate: counted by the allocator itself.

use std::hint::black_box;

use support::allocation::allocations;
use voxshell::cook::FieldOptions;
use voxshell::math::Progress;
use voxshell::mesh::primitives;
use voxshell::voxmap::{Branching, DistanceMap, LayerMap, Offset, VoxelModel, VoxelOptions, Voxmap};

#[test]
fn look_ups_do_not_allocate() {
    assert!(allocations(|| drop(black_box(vec![1u8; 100]))) > 0, "the counter counts");
    let mesh = primitives::torus(0.35, 0.15, 48, 24).unwrap();
    let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.03), &Progress::none()).unwrap();
    let map = LayerMap::new(&model, &Progress::none()).unwrap();
    let compact = map.compact(7, Branching::Tree512).unwrap();
    let voxmap = Voxmap::new(&model, Offset::MCNEELY).unwrap();
    let tree = voxmap.tree(Branching::Tree64).unwrap();
    let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.03), &Progress::none()).unwrap();
    let (real, scaled) = (DistanceMap::real(&model, &field).unwrap(), DistanceMap::scaled(&model, &field, 4).unwrap());
    let n = [0.0, 1.0, 0.0];
    let allocations = allocations(|| {
        for i in -50..50 {
            let p = [i as f32 * 0.02, 0.01, -0.013 * i as f32];
            black_box((voxmap.at(p), tree.at(p), map.layer_at(p), compact.layer_at(p), map.penetration(p, n)));
            black_box((real.penetration(p, n), real.interpolated(p), scaled.penetration(p, n), scaled.interpolated(p)));
        }
    });
    assert_eq!(allocations, 0);
}
