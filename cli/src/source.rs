//! Sources of shapes on the command line (a mesh file, a built-in shape, an asset) and the options of cooking.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Args, ValueEnum};
use voxshell::asset::{self, CookOptions, Resolution, Shape};
use voxshell::field::ExactField;
use voxshell::math::Progress;
use voxshell::mesh::primitives::Primitive;
use voxshell::mesh::{io, TriMesh};
use voxshell::pointshell::{Clustering, Sampling, ShellOptions};
use voxshell::{Error, Result};

use crate::progress::CookProgress;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Storage {
    /// Samples at all nodes of the grid.
    Dense,
    /// Samples in bricks near the surface, coarse ones elsewhere.
    Bricks,
    /// Samples at all nodes of the grid, and the exact distance within two voxels of the surface; for closed meshes.
    Exact,
}

/// Unit of the numbers of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    #[default]
    M,
    Dm,
    Cm,
    Mm,
    Um,
    #[value(alias = "in")]
    Inch,
    #[value(alias = "ft")]
    Foot,
}

impl Unit {
    pub fn metres(self) -> f64 {
        match self {
            Unit::M => 1.0,
            Unit::Dm => 1e-1,
            Unit::Cm => 1e-2,
            Unit::Mm => 1e-3,
            Unit::Um => 1e-6,
            Unit::Inch => 0.0254,
            Unit::Foot => 0.3048,
        }
    }
}

/// Kind of the pointshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pointshell {
    /// Vertices, sharp edges and fill, in balanced clusters.
    Default,
    /// Projected voxel centres in greedy clusters of four: the pointshell of Sagardia et al. 2014.
    Paper,
}

/// Options of cooking.
#[derive(Args, Clone)]
#[command(next_help_heading = "How to cook")]
pub struct CookArguments {
    /// Field cells along the largest extent. Default: 128, or 32 in exact storage of at most 1,024 triangles.
    #[arg(long, value_name = "NUMBER")]
    pub cells: Option<u32>,
    /// Edge of a field cell; replaces --cells.
    #[arg(long, value_name = "METRES")]
    pub voxel_size: Option<f64>,
    /// Largest error against the mesh; the field is the coarsest whose measured error meets it. Replaces --cells. Cooks
    /// coarser fields first, which takes two or three times as long.
    #[arg(long, value_name = "METRES", conflicts_with_all = ["cells", "voxel_size"])]
    pub error: Option<f64>,
    /// Storage of the field. Default: exact for a closed mesh of at most 1,024 triangles without --cells, --voxel-size,
    /// --error or --offset, else dense.
    #[arg(long, value_enum)]
    pub field: Option<Storage>,
    /// Thicken the mesh: the solid is everything within this distance of it. For sheets and patches.
    #[arg(long, value_name = "METRES", default_value_t = 0.0)]
    pub offset: f64,
    /// Target number of pointshell samples.
    #[arg(long, value_name = "NUMBER")]
    pub samples: Option<usize>,
    /// Distance between pointshell samples, unless --samples is given; default: the edge of a field cell.
    #[arg(long, value_name = "METRES")]
    pub spacing: Option<f64>,
    /// Samples, and their grouping under the sphere tree.
    #[arg(long, value_enum, default_value_t = Pointshell::Default)]
    pub pointshell: Pointshell,
    /// Unit of the mesh's numbers, which are scaled to metres first.
    #[arg(long, value_enum, default_value_t = Unit::M)]
    pub unit: Unit,
    /// Scale the mesh to this largest extent first, centred on its box.
    #[arg(long, value_name = "METRES", conflicts_with = "unit")]
    pub extent: Option<f64>,
    /// Refuse to cook if this takes more memory.
    #[arg(long, value_name = "GIB", default_value_t = 4.0)]
    pub memory: f64,
}

impl CookArguments {
    pub fn options(&self) -> Result<CookOptions> {
        if !(self.memory > 0.0 && self.memory.is_finite()) {
            return Err(Error::argument("--memory", self.memory, "a positive number of GiB"));
        }
        let memory_limit = (self.memory * f64::from(1 << 30)) as u64;
        let mut shell = ShellOptions { target_count: self.samples, memory_limit, ..ShellOptions::default() };
        if self.pointshell == Pointshell::Paper {
            // NaN: the voxel size of the field.
            shell.method = Sampling::Projection { voxel_size: f64::NAN };
            shell.clustering = Clustering::Greedy;
            shell.branching = 4;
        }
        if let Some(spacing) = self.spacing {
            shell.spacing = spacing;
        }
        let resolution = match (self.error, self.voxel_size) {
            (Some(error), _) => Resolution::Error(error),
            (None, Some(h)) => Resolution::VoxelSize(h),
            (None, None) => self.cells.map_or(Resolution::Automatic, Resolution::Cells),
        };
        let storage = match self.field {
            None => asset::Storage::Automatic,
            Some(Storage::Dense) => asset::Storage::Dense,
            Some(Storage::Bricks) => asset::Storage::Bricks,
            Some(Storage::Exact) => asset::Storage::Exact,
        };
        let mut options = CookOptions { resolution, storage, shell, ..CookOptions::default() };
        options.field.offset = self.offset;
        options.field.memory_limit = memory_limit;
        Ok(options)
    }
}

/// Prefix of the seed of a random primitive.
const RANDOM: &str = "random:";

/// Loads a mesh as [`mesh`] does, and scales its numbers, which are in `unit`, to metres.
pub fn mesh_in(unit: Unit, source: &OsStr, extent: Option<f64>) -> Result<TriMesh> {
    let mesh = mesh(source, extent)?;
    Ok(if unit == Unit::M { mesh } else { mesh.scaled(unit.metres()) })
}

/// Loads a mesh by file name, or makes a built-in shape by its name.
pub fn mesh(source: &OsStr, extent: Option<f64>) -> Result<TriMesh> {
    let path = Path::new(source);
    // Names of shapes are ASCII; a path may have any bytes.
    let name = source.to_str().unwrap_or_default();
    let built_in = match name.strip_prefix(RANDOM) {
        _ if path.exists() => None,
        Some(seed) => {
            let expected = format!("{RANDOM} and a whole number");
            Some(Primitive::random(seed.parse().map_err(|_| Error::argument("MESH", name, expected))?))
        }
        None => Primitive::by_name(name).ok(),
    };
    let mesh = match built_in {
        Some(primitive) => primitive.mesh()?,
        // Neither an existing file nor the name of a file.
        None if !path.exists() && path.extension().is_none() => {
            let names = Primitive::NAMES.join(", ");
            let expected = format!("a mesh file (.obj, .stl, .ply), {RANDOM}SEED or one of {names}");
            return Err(Error::argument("MESH", path.display(), expected));
        }
        None => io::load(path)?,
    };
    Ok(match extent {
        Some(extent) if extent > 0.0 && extent.is_finite() => mesh.scaled_to_extent(extent),
        Some(extent) => return Err(Error::argument("--extent", extent, "a positive, finite length in metres")),
        None => mesh,
    })
}

/// Returns the file name of the asset of this source. The bytes of a path that is not UTF-8 stay unchanged.
pub fn asset_name(source: &OsStr) -> OsString {
    let stem = Path::new(source).file_stem().unwrap_or_default();
    let mut name = stem.to_str().map_or_else(|| stem.to_owned(), |stem| stem.replace(':', "-").into());
    name.push(".vxs");
    name
}

/// Returns the number of cells of the mesh's grid, if it is known in advance.
pub fn cells(mesh: &TriMesh, options: &CookOptions) -> Option<f64> {
    let extents = mesh.bounds().extents();
    let (resolution, storage) = options.chosen(mesh);
    let voxel_size = match resolution {
        Resolution::VoxelSize(h) => h,
        Resolution::Cells(n) => extents.max() / f64::from(n),
        Resolution::Automatic | Resolution::Error(_) => return None,
    };
    let padding = match storage {
        asset::Storage::Exact => ExactField::PADDING.max(options.field.padding_voxels),
        _ => options.field.padding_voxels,
    };
    let padding = 2.0 * f64::from(padding);
    Some(extents.iter().map(|e| (e / voxel_size).ceil() + padding).product())
}

/// Cooks with a progress bar on standard error.
pub fn cook(mesh: &TriMesh, arguments: &CookArguments) -> Result<Shape> {
    let options = arguments.options()?;
    let bar = CookProgress::new(1);
    bar.begin("cooking", cells(mesh, &options));
    let report = |stage: &str, fraction: f64| {
        bar.report(stage, fraction);
        true
    };
    Shape::cook(mesh, &options, &Progress::new(&report))
}

/// Loads an asset, or cooks a mesh or built-in shape.
pub fn shape(source: &OsStr, arguments: &CookArguments) -> Result<Shape> {
    if is_asset(source) {
        Shape::load(source.as_ref())
    } else {
        cook(&mesh_in(arguments.unit, source, arguments.extent)?, arguments)
    }
}

pub fn is_asset(source: &OsStr) -> bool {
    Path::new(source).extension().is_some_and(|e| e.eq_ignore_ascii_case("vxs"))
}
