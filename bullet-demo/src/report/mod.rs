//! `report.html`: one self-contained file with films and stills of the fields, plots and tables.

mod film;
mod page;
mod patches;

use std::path::{Path, PathBuf};

use voxshell_cli::file;

use crate::bridge::Method;
use crate::run::{Cast, Context, Outcome};

/// Draws the report and writes `report.html` and its title picture `title.png` into `folder`. Creates the folder if it
/// is missing.
pub fn write(
    folder: &Path,
    done: &[(Cast, Vec<Outcome>)],
    subject: &str,
    context: &Context,
) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (html, title) = page::page(done, subject, context).map_err(|e| e.to_string())?;
    if let Some(picture) = title {
        picture.write_png(&folder.join("title.png")).map_err(|e| e.to_string())?;
    }
    let path = folder.join("report.html");
    file::write(&path, html.as_bytes()).map_err(|e| e.to_string())?;
    Ok(path)
}

/// Scenes with more bodies than this get one picture instead of a film.
const MOST_FILMED: usize = 100;

/// Returns the methods that get a film: the best stock method that ran and the finest of ours. Scenes of trials get
/// none: the arrangements beside each other would be too small.
fn filmed(outcomes: &[Outcome]) -> Vec<Method> {
    if outcomes.iter().any(|o| o.row.scene.has_trials()) {
        return Vec::new();
    }
    if outcomes.iter().filter_map(|o| o.run.as_ref()).any(|r| r.recording.bodies.len() > MOST_FILMED) {
        return Vec::new();
    }
    let ran = |m: Method| outcomes.iter().any(|o| o.row.method == m && o.run.is_some());
    let first = |order: &[Method]| order.iter().copied().find(|&m| ran(m));
    let stock = [Method::Sphere, Method::Vhacd32, Method::Hacd, Method::HullFull, Method::Gimpact, Method::Hull];
    let ours = [Method::VoxshellFine, Method::VoxshellCoarse];
    first(&stock).into_iter().chain(first(&ours)).collect()
}
