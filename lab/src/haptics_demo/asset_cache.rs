//! Asset cache of the scenes' bodies: cooks the given mesh files once and keeps the assets if a folder is given.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxshell::asset::{CookOptions, Resolution, Shape, Storage, Store};
use voxshell::cook::FieldOptions;
use voxshell::field::Field;
use voxshell::haptics::{Forms, Obstacle, Tool};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{io, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::voxmap::{Offset, VoxelGrid, VoxelModel, VoxelOptions, Voxmap};
use voxshell::{asset, Error, Result};

use voxshell_cli::progress::CookProgress;

/// Mass of a tool that one hand can hold, kg.
const MASS: f64 = 0.3;
/// Cells of the field from which a tool is drawn and its mass properties are computed.
const DRAWN: u32 = 128;

#[derive(Default)]
pub struct AssetCache {
    /// Folder of meshes: the meshes of the papers' scenes are used if present.
    pub meshes: Option<PathBuf>,
    /// Folder in which cooked shapes are kept between runs.
    pub cache: Option<PathBuf>,
    /// True for a quarter of the cells and samples, for tests.
    pub quick: bool,
    /// True if obstacles get a voxmap.
    pub voxmaps: bool,
}

/// A tool, and the field for its pictures.
pub struct Cooked {
    pub tool: Tool,
    pub drawn: Arc<Field>,
}

impl AssetCache {
    /// Loads a mesh file by its name, if the folder has it.
    pub fn mesh(&self, name: &str) -> Result<Option<TriMesh>> {
        let Some(path) = self.meshes.as_ref().map(|folder| folder.join(name)) else { return Ok(None) };
        if path.exists() {
            io::load(&path).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Cooks a tool with this number of samples.
    pub fn tool(&self, name: &str, mesh: &TriMesh, samples: usize) -> Result<Cooked> {
        let samples = if self.quick { samples / 4 } else { samples };
        let cells = self.cells(DRAWN);
        let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(cells), shell, ..CookOptions::default() };
        let shape = self.cook(name, mesh, &options)?;
        let (Some(field), Some(shell), Some(mass)) = (shape.field, shape.shell, shape.mass) else {
            return Err(Error::InvalidMesh(format!("{name} has no inside to be weighed")));
        };
        // Roles as in the papers: the tool has the pointshell, the obstacle the field.
        let forms = Forms { shell: Some(shell), ..Forms::default() };
        Ok(Cooked { tool: Tool::of_mass(forms, &mass, MASS)?, drawn: field })
    }

    /// Cooks an obstacle at rest at the origin: a field in bricks with this number of cells along its largest edge.
    pub fn obstacle(&self, name: &str, mesh: &TriMesh, cells: u32) -> Result<Obstacle> {
        let options = CookOptions {
            forms: asset::Forms { field: true, shell: false },
            resolution: Resolution::Cells(self.cells(cells)),
            storage: Storage::Bricks,
            ..CookOptions::default()
        };
        let field = self.cook(name, mesh, &options)?.field;
        let voxmap = match field.as_deref() {
            Some(Field::Bricks(bricks)) if self.voxmaps => {
                let grid = VoxelGrid::new(*bricks.grid(), bricks.center())?;
                let limit = VoxelOptions::new(1.0).memory_limit;
                let model = VoxelModel::on_grid(mesh, grid, limit, &Progress::none())?;
                Some(Arc::new(Voxmap::new(&model, Offset::MCNEELY)?))
            }
            _ => None,
        };
        Ok(Obstacle::fixed(Forms { field, voxmap, ..Forms::default() }, Pose::identity()))
    }

    pub fn cells(&self, cells: u32) -> u32 {
        if self.quick {
            cells / 4
        } else {
            cells
        }
    }

    fn cook(&self, name: &str, mesh: &TriMesh, options: &CookOptions) -> Result<Shape> {
        let kept = self.cache.as_ref().map(|folder| folder.join(format!("{name}-{:016x}.vxs", print(mesh, options))));
        if let Some(path) = kept.as_deref().filter(|path| path.exists()) {
            return Shape::load(path);
        }
        let bar = CookProgress::new(1);
        bar.begin(name, None);
        let report = |stage: &str, fraction: f64| {
            bar.report(stage, fraction);
            true
        };
        let shape = Shape::cook(mesh, options, &Progress::new(&report))?;
        if let (Some(path), Some(folder)) = (&kept, &self.cache) {
            create(folder)?;
            shape.save_as(path, Store::Raw)?;
        }
        Ok(shape)
    }
}

/// Creates a folder and its parents.
pub fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.into(), source })
}

/// Computes the FNV-1a hash of everything that determines a cooked shape.
fn print(mesh: &TriMesh, options: &CookOptions) -> u64 {
    let numbers =
        mesh.vertices.iter().flatten().map(|x| x.to_bits()).chain(mesh.triangles.iter().flatten().map(|&i| i.into()));
    // The voxel size in the field's options is overwritten later, so it is left out.
    let said =
        format!("{:?}", CookOptions { field: FieldOptions { voxel_size: 0.0, ..options.field }, ..options.clone() });
    let bytes = numbers.flat_map(u64::to_le_bytes).chain(said.into_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell::mesh::primitives;

    #[test]
    fn the_cache_is_used_only_for_the_same_mesh_and_options() {
        let folder = tempfile::tempdir().expect("a folder");
        let assets = AssetCache { cache: Some(folder.path().join("kept")), quick: true, ..AssetCache::default() };
        let knot = primitives::torus(0.1, 0.03, 24, 12).expect("a torus");
        let count = || std::fs::read_dir(folder.path().join("kept")).map_or(0, Iterator::count);
        let cooked = [0, 1].map(|_| assets.obstacle("ring", &knot, 128).expect("an obstacle"));
        assert_eq!(count(), 1);
        let sizes = cooked.map(|o| o.forms.field.and_then(|f| f.gridded().map(|g| (g.bytes, g.error.max))));
        assert!(sizes[0].is_some() && sizes[0].map(|s| s.1) == sizes[1].map(|s| s.1), "{sizes:?}");
        assets.obstacle("ring", &knot, 96).expect("an obstacle");
        assets.obstacle("ring", &knot.scaled(1.1), 128).expect("an obstacle");
        assert_eq!(count(), 3);
    }
}
