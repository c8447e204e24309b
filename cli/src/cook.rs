//! `voxshell cook`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;
use voxshell::asset::{self, Shape};
use voxshell::field::Field;
use voxshell::math::Progress;
use voxshell::{Error, Result};

use voxshell_cli::print::{say, tell};
use voxshell_cli::progress::CookProgress;
use voxshell_cli::signals::Stop;
use voxshell_cli::source;

use crate::info;

#[derive(Clone, Copy, ValueEnum)]
enum Store {
    /// Compressed, the smallest file.
    Compressed,
    /// As in memory.
    Raw,
}

impl From<Store> for asset::Store {
    fn from(store: Store) -> Self {
        match store {
            Store::Compressed => Self::Compressed,
            Store::Raw => Self::Raw,
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  voxshell cook part.stl -o part.vxs                      the resolution and storage that suit it
  voxshell cook part.stl -o part.vxs --error 0.0001       no error above 0.1 mm found
  voxshell cook parts/*.obj -o assets --field bricks --cells 512

A file appears whole or not at all. The same mesh and options give the same bytes, on any machine and any number of
threads (RAYON_NUM_THREADS). Exit code: 0 if all was cooked, 1 if a mesh could not be (the others are), 2 for arguments
that cannot be understood, 130 after Ctrl-C.")]
pub struct Arguments {
    /// Mesh files (.obj, .stl, .ply), or built-in shapes by name; random:SEED is a random primitive. Assets (.vxs) are
    /// rewritten in the present version of the file format.
    #[arg(required = true, value_name = "MESH")]
    sources: Vec<OsString>,
    /// The asset to write (.vxs); with several meshes the folder of the assets, which get the names of the meshes.
    #[arg(short, long, value_name = "FILE|FOLDER", default_value = "shape.vxs")]
    out: PathBuf,
    /// Storage of a field in bricks: a small file, or a large one that loads faster.
    #[arg(long, value_enum, default_value_t = Store::Compressed)]
    store: Store,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let outputs = outputs(&arguments.sources, &arguments.out)?;
    let stop = Stop::on_signals();
    let bar = CookProgress::new(outputs.len());
    let mut cells = 0.0;
    let mut stopped = false;
    let mut failed = Vec::new();
    for (source, out) in arguments.sources.iter().zip(&outputs) {
        let start = Instant::now();
        let name = Path::new(source).display();
        match cook(source, out, arguments, &bar, &stop) {
            Ok(shape) => {
                cells += shape.field.as_deref().map_or(0.0, cells_of);
                let took = start.elapsed().as_secs_f64();
                if outputs.len() == 1 {
                    bar.say(info::describe(&shape).trim_end());
                    bar.say(&format!("wrote {} (cooked in {took:.2} s)", out.display()));
                } else {
                    bar.say(&format!("{name} -> {}: {} in {took:.2} s", out.display(), summary(&shape)));
                }
            }
            Err(Error::Cancelled) => {
                stopped = true;
                break;
            }
            // A folder without write permission or a full disk fails all meshes; each reports its own error.
            Err(error) if outputs.len() > 1 => {
                bar.say(&format!("{name}: failed"));
                let reason = error.to_string();
                // Errors of files begin with their path.
                let named = reason.starts_with(&name.to_string());
                failed.push(if named { reason } else { format!("{name}: {reason}") });
            }
            Err(error) => return Err(error),
        }
        bar.end();
    }
    let seconds = bar.seconds();
    drop(bar);
    if stopped {
        tell("voxshell: stopped; what was not finished was not written");
        return Ok(stop.exit_code());
    }
    if outputs.len() > 1 {
        let (count, good) = (outputs.len(), outputs.len() - failed.len());
        let speed = format!("{:.1} meshes/s, {:.1} M cells/s", count as f64 / seconds, cells * 1e-6 / seconds);
        say(format_args!(
            "{good} of {count} meshes cooked into {} in {seconds:.1} s ({speed})",
            arguments.out.display()
        ));
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    tell(format_args!("voxshell: {} of {} meshes could not be cooked:", failed.len(), outputs.len()));
    failed.iter().for_each(|line| tell(format_args!("  {line}")));
    Ok(ExitCode::FAILURE)
}

fn cook(source: &OsStr, out: &Path, how: &Arguments, bar: &CookProgress, stop: &Stop) -> Result<Shape> {
    let report = |stage: &str, fraction: f64| {
        bar.report(stage, fraction);
        !stop.asked()
    };
    let progress = Progress::new(&report);
    progress.report("load", 0.0)?;
    let shape = if source::is_asset(source) {
        Shape::load(source.as_ref())?
    } else {
        let mesh = source::mesh_in(how.cook.unit, source, how.cook.extent)?;
        let options = how.cook.options()?;
        bar.begin(&source.to_string_lossy(), source::cells(&mesh, &options));
        Shape::cook(&mesh, &options, &progress)?
    };
    // Last check for cancellation: writing is short and is not interrupted.
    progress.report("save", 0.0)?;
    shape.save_as(out, how.store.into())?;
    Ok(shape)
}

/// Returns the path of each asset.
fn outputs(sources: &[OsString], out: &Path) -> Result<Vec<PathBuf>> {
    let is_folder = out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/');
    let outputs: Vec<PathBuf> = if sources.len() == 1 && !is_folder {
        vec![out.into()]
    } else if out.extension().is_some_and(|e| e.eq_ignore_ascii_case("vxs")) && !out.is_dir() {
        let expected = format!("a folder for the assets of {} meshes", sources.len());
        return Err(Error::argument("--out", out.display(), expected));
    } else {
        sources.iter().map(|source| out.join(source::asset_name(source))).collect()
    };
    let mut from = HashMap::new();
    for (source, out) in sources.iter().zip(&outputs) {
        if let Some(other) = from.insert(out, source) {
            let value = format!("{other:?} and {source:?}");
            let expected = format!("meshes of different names: both would be {}", out.display());
            return Err(Error::argument("MESH", value, expected));
        }
        if let Some(read) = sources.iter().find(|source| is_same_file(Path::new(source), out)) {
            let expected = format!("another file than the mesh {read:?}, which it would replace");
            return Err(Error::argument("--out", out.display(), expected));
        }
    }
    if sources.len() > 1 || is_folder {
        std::fs::create_dir_all(out).map_err(|source| Error::Io { path: out.into(), source })?;
    }
    Ok(outputs)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn cells_of(field: &Field) -> f64 {
    field.gridded().map_or(0.0, |known| known.grid.dims.iter().map(|&n| f64::from(n - 1)).product())
}

/// Summarises a shape in one line.
fn summary(shape: &Shape) -> String {
    let mut parts = Vec::new();
    if let Some(known) = shape.field.as_deref().and_then(Field::gridded) {
        let [x, y, z] = known.grid.dims;
        parts.push(format!("{x} x {y} x {z} nodes, largest error {:.4} mm", known.error.max * 1e3));
    }
    if let Some(shell) = &shape.shell {
        parts.push(format!("{} samples", shell.len()));
    }
    parts.join(", ")
}
