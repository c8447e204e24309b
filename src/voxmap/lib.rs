//! The layered forms of the literature over a grid of voxels. Knows meshes and fields, but nothing of samples
//! or contacts.
//!
//! | form | type | a voxel holds | source |
//! | --- | --- | --- | --- |
//! | voxel model | [`VoxelModel`] | surface, interior or free: two sets of bits | McNeely et al. 1999, section 4.1 |
//! | 2-bit voxmap | [`Voxmap`] | one of four types, with offset and proximity layers | McNeely et al. 1999, table 1, section 4.2 |
//! | layered voxelmap | [`LayerMap`] | the number of its layer | Sagardia et al. 2014, section 2.1.1 |
//! | scaled distances | [`DistanceMap<i16>`](DistanceMap) | distance × 10ᵖ, truncated | Sagardia et al. 2014, equation 1 |
//! | real distances | [`DistanceMap<f32>`](DistanceMap) | distance, metres | Sagardia et al. 2014, section 2.1.1 |
//! | generalised octree | [`VoxelTree`] | the codes of a voxmap or of layers, uniform blocks once | McNeely et al. 1999, section 4.3 |
//!
//! [`Voxelmap`] holds any of them, but for the model, with the paper's V(P) over all.
//!
//! The model comes first, from a mesh or from a field; all other forms are made from it:
//!
//! ```
//! use voxshell::math::Progress;
//! use voxshell::mesh::primitives;
//! use voxshell::voxmap::{LayerMap, Offset, VoxelModel, VoxelOptions, VoxelType, Voxmap};
//! let mesh = primitives::torus(0.35, 0.15, 64, 32)?;
//! let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.02), &Progress::none())?;
//! let layers = LayerMap::new(&model, &Progress::none())?;
//! let voxmap = Voxmap::new(&model, Offset::SURFACE)?;
//! let in_the_tube = [0.35, 0.0, 0.0];
//! assert!(layers.layer_at(in_the_tube) > 3);
//! assert_eq!(voxmap.at(in_the_tube), VoxelType::Interior);
//! assert_eq!(voxmap.at([0.0; 3]), VoxelType::Free);
//! # voxshell::Result::Ok(())
//! ```
//!
//! Voxels are cubes of edge s around the nodes of a [`Grid`](voxshell_field::Grid), so that a field cooked on the same
//! grid has its samples at their centres. Layers and distances are positive inside, as in the papers: penetrations,
//! where φ is negative. Points are f32 in the grid's **local frame**: body axes, origin at [`VoxelGrid::center`].

mod bits;
mod distances;
mod flood;
mod grid;
mod layers;
mod map;
mod measures;
mod model;
mod stored;
mod surface;
mod tree;
mod types;
mod voxelmap;

pub use distances::{DistanceMap, DistanceSample};
pub use grid::{VoxelGrid, VoxelOptions};
pub use layers::LayerMap;
pub use map::Voxmap;
use measures::Measures;
pub use model::VoxelModel;
pub use stored::StoredVoxelmap;
pub use tree::{Branching, LayerTree, TypeTree, VoxelTree};
pub use types::{Offset, VoxelType};
pub use voxelmap::{MapForm, Rule, Voxelmap};
