//! A voxelmap as plain data for a file, and the checks of data from outside.

use serde::{Deserialize, Serialize};

use super::tree::StoredTree;
use super::voxelmap::Data;
use super::{DistanceMap, LayerMap, LayerTree, Offset, TypeTree, VoxelGrid, VoxelTree, Voxelmap, Voxmap};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{deserialize_vec, SliceGuarded};
use voxshell_field::Grid;

/// A map's parts as a file holds them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredVoxelmap {
    nodes: Grid,
    center: Vec3,
    surface: u64,
    interior: u64,
    data: Stored,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Stored {
    Layers(#[serde(deserialize_with = "deserialize_vec")] Vec<i16>),
    LayerTree { limit: u8, tree: StoredTree },
    Types { offset: [u32; 2], words: Words },
    TypeTree { offset: [u32; 2], tree: StoredTree },
    Scaled { precision: u8, values: Halves },
    Real(#[serde(deserialize_with = "deserialize_vec")] Vec<f32>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Words(#[serde(deserialize_with = "deserialize_vec")] Vec<u64>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Halves(#[serde(deserialize_with = "deserialize_vec")] Vec<i16>);

fn pair(offset: Offset) -> [u32; 2] {
    [offset.layers, offset.proximity]
}

fn offset([layers, proximity]: [u32; 2]) -> Offset {
    Offset { layers, proximity }
}

impl Voxelmap {
    /// Returns the parts of the map.
    pub fn to_stored(&self) -> StoredVoxelmap {
        let data = match &self.data {
            Data::Layers(map) => Stored::Layers(map.layers().to_vec_guarded()),
            Data::LayerTree(map) => Stored::LayerTree { limit: map.limit() as u8, tree: map.tree().to_stored() },
            Data::Types(map) => {
                Stored::Types { offset: pair(map.offset()), words: Words(map.words().to_vec_guarded()) }
            }
            Data::TypeTree(map, of) => Stored::TypeTree { offset: pair(*of), tree: map.tree().to_stored() },
            Data::Scaled(map) => {
                Stored::Scaled { precision: map.precision(), values: Halves(map.values().to_vec_guarded()) }
            }
            Data::Real(map) => Stored::Real(map.values().to_vec_guarded()),
        };
        let grid = self.grid();
        StoredVoxelmap {
            nodes: *grid.nodes(),
            center: grid.center(),
            surface: self.surface,
            interior: self.interior,
            data,
        }
    }

    /// Makes a map of parts from outside: checks every number and every reference, and measures the map anew.
    ///
    /// # Errors
    /// The reason when the parts are not those of a map.
    pub fn from_stored(stored: StoredVoxelmap) -> Result<Self, String> {
        let grid = VoxelGrid::new(stored.nodes, stored.center).map_err(|e| e.to_string())?;
        let n = grid.len();
        let whole = |what: &str, length: usize, expected: usize| match length == expected {
            true => Ok(()),
            false => Err(format!("{length} {what} for {:?} voxels; expected {expected}", grid.dims())),
        };
        let most = i32::from(VoxelGrid::MOST as i16);
        let data = match stored.data {
            Stored::Layers(layers) => {
                whole("layers", layers.len(), n)?;
                if let Some(v) = layers.iter().find(|v| i32::from(**v).abs() > most + 1) {
                    return Err(format!("a layer is {v}"));
                }
                Data::Layers(LayerMap::of_layers(grid, layers))
            }
            Stored::LayerTree { limit, tree } => {
                if !(1..=127).contains(&limit) {
                    return Err(format!("the limit of the layers is {limit}"));
                }
                Data::LayerTree(LayerTree::of_tree(VoxelTree::from_stored(&grid, tree, 2 * limit)?, limit))
            }
            Stored::Types { offset: of, words: Words(words) } => {
                whole("words of types", words.len(), n.div_ceil(32))?;
                if n % 32 != 0 && words[n / 32] >> (n % 32 * 2) != 0 {
                    return Err("there are types behind the last voxel".into());
                }
                Data::Types(Voxmap::of_words(grid, words, offset(of)))
            }
            Stored::TypeTree { offset: of, tree } => {
                Data::TypeTree(TypeTree(VoxelTree::from_stored(&grid, tree, 3)?), offset(of))
            }
            Stored::Scaled { precision, values: Halves(values) } => {
                whole("distances", values.len(), n)?;
                if precision > 9 {
                    return Err(format!("the precision is {precision}"));
                }
                Data::Scaled(DistanceMap::<i16>::of_values(grid, values, precision))
            }
            Stored::Real(values) => {
                whole("distances", values.len(), n)?;
                let sound = |d: f32| voxshell_base::math::limits::is_grid_coordinate(d.into());
                if let Some(d) = values.iter().find(|d| !sound(**d)) {
                    return Err(format!("a distance is {d}"));
                }
                Data::Real(DistanceMap::<f32>::of_values(grid, values))
            }
        };
        if stored.surface.checked_add(stored.interior).is_none_or(|sum| sum > n as u64) {
            return Err(format!("{} surface and {} interior voxels of {n}", stored.surface, stored.interior));
        }
        let measures = data.measures();
        if !(measures.slope.is_finite() && measures.steepest.is_finite()) {
            return Err(format!("its slope is {}", measures.slope));
        }
        Ok(Self { data, surface: stored.surface, interior: stored.interior, measures })
    }
}
