//! Where shapes come from on the command line: a mesh file, a built-in shape, an asset; and how cooking shows progress.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use voxshell::asset::{self, CookOptions, Resolution, Shape};
use voxshell::math::Progress;
use voxshell::mesh::primitives::Primitive;
use voxshell::mesh::{io, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::{Error, Result};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Storage {
    Dense,
    Bricks,
}

/// How fine to cook.
#[derive(Args, Clone)]
pub struct CookArguments {
    /// Edge of a field cell in metres; overrides --cells.
    #[arg(long, value_name = "METRES")]
    pub voxel_size: Option<f64>,
    /// Field cells along the largest extent.
    #[arg(long, default_value_t = 128)]
    pub cells: u32,
    /// Number of pointshell samples aimed at; overrides --spacing.
    #[arg(long)]
    pub samples: Option<usize>,
    /// Distance between pointshell samples in metres; the voxel size when absent.
    #[arg(long, value_name = "METRES")]
    pub spacing: Option<f64>,
    /// How the field is stored: at all nodes of the grid, or in bricks near the surface.
    #[arg(long, value_enum, default_value_t = Storage::Dense)]
    pub field: Storage,
    /// Scale the mesh to this largest extent in metres first.
    #[arg(long, value_name = "METRES")]
    pub extent: Option<f64>,
}

impl CookArguments {
    pub fn options(&self) -> CookOptions {
        let mut shell = ShellOptions { target_count: self.samples, ..ShellOptions::default() };
        if let Some(spacing) = self.spacing {
            shell.spacing = spacing;
        }
        let resolution = match self.voxel_size {
            Some(h) => Resolution::VoxelSize(h),
            None => Resolution::Cells(self.cells),
        };
        let storage = match self.field {
            Storage::Dense => asset::Storage::Dense,
            Storage::Bricks => asset::Storage::Bricks,
        };
        CookOptions { resolution, storage, shell, ..CookOptions::default() }
    }
}

/// A mesh by file name, or a built-in shape by its name.
pub fn mesh(source: &str, extent: Option<f64>) -> Result<TriMesh> {
    let path = Path::new(source);
    let mesh = match Primitive::by_name(source) {
        Ok(primitive) if !path.exists() => primitive.mesh()?,
        _ => io::load(path)?,
    };
    Ok(match extent {
        Some(extent) if extent > 0.0 && extent.is_finite() => mesh.scaled_to_extent(extent),
        Some(extent) => return Err(Error::argument("extent", extent, "a positive, finite length in metres")),
        None => mesh,
    })
}

/// Cooks with a progress bar on standard error.
pub fn cook(mesh: &TriMesh, arguments: &CookArguments) -> Result<Shape> {
    let bar = ProgressBar::new(1000);
    bar.set_style(ProgressStyle::with_template("{msg:12} {bar:40} {percent:>3}% {elapsed}").expect("a valid template"));
    let start = Instant::now();
    let report = |stage: &str, fraction: f64| {
        // Quick work stays quiet.
        if start.elapsed() > Duration::from_millis(300) {
            bar.set_message(stage.to_owned());
            bar.set_position((fraction * 1000.0) as u64);
        }
        true
    };
    let shape = Shape::cook(mesh, &arguments.options(), &Progress::new(&report));
    bar.finish_and_clear();
    shape
}

/// An asset, or a mesh or built-in shape cooked on the spot.
pub fn shape(source: &str, arguments: &CookArguments) -> Result<Shape> {
    let path = PathBuf::from(source);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("vxs")) {
        Shape::load(&path)
    } else {
        cook(&mesh(source, arguments.extent)?, arguments)
    }
}
