//! Trees of chosen voxels.

use support::rng::Rng;
use voxshell::field::{Grid, MeshField};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::voxmap::{VoxelGrid, VoxelModel};
use voxshell::voxtree::{Branching, TreeOptions, VoxTree, Voxels};

pub const BRANCHINGS: [Branching; 3] = [Branching::Octree, Branching::Tree64, Branching::Tree512];

/// Returns the model whose surface voxels are those given: a small triangle within each.
pub fn model(voxels: &[[u32; 3]], dims: [u32; 3], spacing: f32) -> VoxelModel {
    let s = f64::from(spacing);
    let corner = |v: [u32; 3], d: [f64; 3]| [0, 1, 2].map(|k| (f64::from(v[k]) + d[k]) * s);
    let vertices =
        voxels.iter().flat_map(|&v| [[0.1, 0.0, 0.0], [-0.1, 0.1, 0.0], [0.0, -0.1, 0.1]].map(|d| corner(v, d)));
    let triangles = (0..voxels.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mesh = TriMesh::new(vertices.collect(), triangles).unwrap();
    let grid = VoxelGrid::new(Grid { dims, spacing, min: [0.0; 3] }, Vec3::zeros()).unwrap();
    VoxelModel::on_grid(&mesh, grid, 1 << 30, &Progress::none()).unwrap()
}

/// Returns a tree without normals.
pub fn tree(model: &VoxelModel, branching: Branching, voxels: Voxels) -> VoxTree {
    let options = TreeOptions { branching, voxels, normals: false, ..TreeOptions::new(1.0) };
    VoxTree::from_model(model, None::<&MeshField>, &options, &Progress::none()).unwrap()
}

/// Returns `n` random voxels: clusters, lines and loose ones.
pub fn random_voxels(rng: &mut Rng, n: usize, dims: [u32; 3]) -> Vec<[u32; 3]> {
    let mut at = [0; 3];
    (0..n)
        .map(|i| {
            if i % 7 == 0 {
                at = dims.map(|d| (rng.fraction() * f64::from(d)) as u32);
            } else {
                let k = (rng.next() % 3) as usize;
                at[k] = (at[k] + 1 + (rng.next() % 2) as u32 * (dims[k] - 2)) % dims[k];
            }
            at
        })
        .collect()
}
