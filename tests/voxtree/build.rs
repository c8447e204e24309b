//! Trees against their definition: the voxels of the model, and spheres that contain the cubes below them.

use std::collections::BTreeSet;

use support::rng::Rng;
use voxshell::cook::FieldOptions;
use voxshell::field::{HalfSpace, MeshField, SignedDistance, Sphere};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::voxmap::VoxelModel;
use voxshell::voxtree::{Branching, TreeOptions, VoxTree, Voxels, TABLE};
use voxshell::Error;

use super::make::{model, random_voxels, tree, BRANCHINGS};

/// Checks that a tree has the voxels of the model, and that each sphere contains the cubes of all voxels below.
fn check(tree: &VoxTree, model: &VoxelModel) {
    let dims = model.grid().dims();
    let mut voxels = BTreeSet::new();
    tree.each_voxel(|number, at| {
        assert_eq!(number as usize, voxels.len());
        assert!(voxels.insert(at));
    });
    assert_eq!(voxels.len(), tree.voxel_count() as usize);
    for z in 0..dims[2] {
        for y in 0..dims[1] {
            for x in 0..dims[0] {
                let v = [x, y, z];
                let wanted = model.is_surface(v) || tree.is_solid() && model.is_interior(v);
                assert_eq!(voxels.contains(&v.map(|x| x as u16)), wanted, "voxel {v:?}");
                if wanted {
                    let nodes = model.grid().nodes();
                    let center = Vec3::from(nodes.node(x, y, z).map(f64::from)) + model.grid().center();
                    let error = (tree.voxel_center(v.map(|x| x as u16)) - center).norm();
                    assert!(error < 1e-6 * tree.edge(tree.root_level()), "voxel {v:?}: {error}");
                }
            }
        }
    }
    let n = tree.branching() as u32;
    let s = tree.voxel_size();
    tree.each_node(|level, node, at| {
        let (full, full_radius) = tree.sphere(level, node, at, false);
        let (center, radius) = tree.sphere(level, node, at, true);
        assert!(radius <= full_radius * (1.0 + 1e-12));
        assert!(
            (full_radius - tree.root_radius() / f64::from(1u32 << (n * (tree.root_level() - level)))).abs() < 1e-12
        );
        let below = voxels.iter().filter(|v| (0..3).all(|k| v[k] >> (n * level) == at[k]));
        for &v in below {
            for corner in 0..8 {
                let d = Vec3::from([0, 1, 2].map(|k| f64::from(corner >> k & 1) - 0.5)) * s;
                let p = tree.voxel_center(v) + d;
                assert!((p - full).norm() <= full_radius * (1.0 + 1e-9));
                assert!((p - center).norm() <= radius * (1.0 + 1e-9), "level {level}, node {node}, voxel {v:?}");
            }
        }
    });
}

#[test]
fn trees_of_random_voxels_have_these_voxels_in_their_spheres() {
    let mut rng = Rng(7);
    for round in 0..12 {
        let dims = [2 + rng.next() % 19, 2 + rng.next() % 70, 2 + rng.next() % 12].map(|d| d as u32);
        let voxels = random_voxels(&mut rng, 1 + round * 9, dims);
        let model = model(&voxels, dims, 0.125);
        for branching in BRANCHINGS {
            check(&tree(&model, branching, Voxels::Surface), &model);
        }
    }
}

#[test]
fn all_255_sets_of_octants_become_their_table_entry() {
    for set in 1usize..256 {
        let octants: Vec<[u32; 3]> =
            (0..8).filter(|o| set >> o & 1 == 1).map(|o| [0, 1, 2].map(|k| (o >> k & 1) as u32)).collect();
        for branching in BRANCHINGS {
            let half = 1 << (branching as u32 - 1);
            let voxels: Vec<[u32; 3]> = octants.iter().map(|o| o.map(|x| x * half)).collect();
            let model = model(&voxels, [2 * half; 3], 0.5);
            let tree = tree(&model, branching, Voxels::Surface);
            assert_eq!(tree.root_level(), 1);
            check(&tree, &model);
            let (_, full) = tree.sphere(1, 0, [0; 3], false);
            let (center, radius) = tree.sphere(1, 0, [0; 3], true);
            assert!((radius / full - f64::from(TABLE[set].scale)).abs() < 1e-7, "set {set:08b}");
            let offset = (center - tree.origin()) / tree.edge(1);
            assert!((offset - Vec3::from(TABLE[set].offset.map(f64::from))).norm() < 1e-7, "set {set:08b}");
        }
    }
}

#[test]
fn solid_trees_have_the_voxels_inside_too() {
    let mesh = primitives::torus(0.35, 0.15, 48, 24).unwrap();
    let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(0.03), &Progress::none()).unwrap();
    let options = voxshell::voxmap::VoxelOptions::new(0.04);
    let model = VoxelModel::from_mesh(&mesh, &options, &Progress::none()).unwrap();
    for branching in BRANCHINGS {
        let solid = tree(&model, branching, Voxels::Solid);
        assert_eq!(solid.voxel_count() as usize, model.surface_count() + model.interior_count());
        check(&solid, &model);
    }
    for voxels in [Voxels::Surface, Voxels::Solid] {
        let options = TreeOptions { voxels, ..TreeOptions::new(0.04) };
        let of_field = VoxTree::from_field(&field, &options, &Progress::none()).unwrap();
        let of_mesh = VoxTree::from_mesh(&mesh, &options, &Progress::none()).unwrap();
        let counts = [of_field.voxel_count(), of_mesh.voxel_count()].map(f64::from);
        assert!((counts[0] / counts[1] - 1.0).abs() < 0.25, "{counts:?}");
    }
}

#[test]
fn normals_are_directions_of_the_gradient() {
    let ball = Sphere::new(0.5).unwrap();
    for branching in BRANCHINGS {
        let options = TreeOptions { branching, voxels: Voxels::Solid, ..TreeOptions::new(0.06) };
        let tree = VoxTree::from_field(&ball, &options, &Progress::none()).unwrap();
        tree.each_voxel(|number, at| {
            let p = tree.voxel_center(at);
            if p.norm() > 1e-3 {
                let normal = tree.normal(number).unwrap();
                assert!((normal - p.normalize()).norm() < 2e-4, "{p:?}: {normal:?}");
            }
        });
    }
    let mesh = primitives::cuboid([0.5; 3]).unwrap();
    let field = MeshField::new(primitives::cuboid([0.5; 3]).unwrap()).unwrap();
    let tree = VoxTree::from_mesh(&mesh, &TreeOptions::new(0.11), &Progress::none()).unwrap();
    tree.each_voxel(|number, at| {
        let p = tree.voxel_center(at) - field.local_origin(&Vec3::zeros());
        let (_, g) = field.distance_gradient([p.x as f32, p.y as f32, p.z as f32]);
        if let Some(normal) = tree.normal(number) {
            assert!((normal - Vec3::from(g.map(f64::from)).normalize()).norm() < 2e-4);
        }
    });
}

#[test]
fn only_bits_are_stored() {
    let ball = Sphere::new(0.5).unwrap();
    let base = TreeOptions { normals: false, ..TreeOptions::new(0.1) };
    let options = base.with_level(&ball.bounds(), 7).unwrap();
    let tree = VoxTree::from_field(&ball, &options, &Progress::none()).unwrap();
    assert_eq!(tree.root_level(), 7);
    let per_voxel = tree.bytes() as f64 / f64::from(tree.voxel_count());
    // A byte and a half for each inner node, of which there are fewer than voxels.
    assert!(per_voxel < 0.7, "{per_voxel} bytes in a voxel");
}

#[test]
fn invalid_options_are_refused() {
    let ball = Sphere::new(0.5).unwrap();
    let none = Progress::none();
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-6, 1e30] {
        let error = VoxTree::from_field(&ball, &TreeOptions::new(size), &none).unwrap_err();
        assert!(error.to_string().contains("voxel_size"), "{error}");
    }
    let ground = HalfSpace::new(Vec3::y(), 0.0).unwrap();
    let error = VoxTree::from_field(&ground, &TreeOptions::new(0.1), &none).unwrap_err();
    assert!(error.to_string().contains("the body is"), "{error}");
    let small = TreeOptions { memory_limit: 10_000, ..TreeOptions::new(0.02) };
    assert!(matches!(VoxTree::from_field(&ball, &small, &none), Err(Error::TooLarge { .. })));
    assert!(TreeOptions::new(1.0).with_level(&ball.bounds(), 1).is_err());
    let empty = TriMesh::new(Vec::new(), Vec::new());
    assert!(empty.is_err() || VoxTree::from_mesh(&empty.unwrap(), &TreeOptions::new(0.1), &none).is_err());
    let mesh = primitives::cuboid([0.5; 3]).unwrap();
    let grid = voxshell::voxmap::VoxelOptions::new(0.1);
    let model = VoxelModel::from_mesh(&mesh, &grid, &none).unwrap();
    let with = TreeOptions { branching: Branching::Octree, ..TreeOptions::new(0.1) };
    let error = VoxTree::from_model(&model, None::<&MeshField>, &with, &none).unwrap_err();
    assert!(error.to_string().contains("normals"), "{error}");
}
