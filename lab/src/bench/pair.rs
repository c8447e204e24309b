//! `voxshell-lab bench pair`: cost and errors of a contact pair, compared with the stateless query at the same poses.
//!
//! - The bodies are 1 m large. Cooking and pairs have default options, except where a row names another margin.
//! - The stateless query tests edges and has the margin of the pair. Its step is that of the pair if that has a duration.
//! - Times are microseconds of one thread, each the least of three runs. A *cold* update is the first one after a reset, a
//!   *warm* update each later one of a walk.
//! - The triangles give the true depth ([`oracle`]). A contact is *missed* if the bodies intersect by more than a tolerance and
//!   no contact has a separation of 0 or less. An answer is *shallow* or *deep* if its deepest contact is less deep or deeper
//!   than the triangles by more than a tolerance.
//! - The first wrong answers are printed with their poses (position, quaternion x y z w), which are the same in every run.
//!
//! | module | content |
//! | --- | --- |
//! | `bodies` | meshes, and their cooking |
//! | `scene` | random poses at which two bodies touch |
//! | `oracle` | depth and distance by the triangles |
//! | `subject` | timing of pair, query and distance |
//! | `verdict` | counts of wrong answers |
//! | `touching`, `resting`, `apart` | the rows |
//! | `log` | lines of progress |

mod apart;
mod bodies;
mod log;
mod oracle;
mod resting;
mod scene;
mod subject;
mod touching;
mod verdict;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use voxshell::Result;

use crate::haptics_demo::asset_cache::AssetCache;
use bodies::Body;
use log::Log;
use scene::Scene;
use voxshell_lab::row::Row;

/// Rows of the benchmark, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// Sharp bodies at random poses, 1 to 5 mm deep: cold, and warm at 0.1, 0.5 and 2 mm a step.
    Sharp,
    /// Two scans: cold, and warm at 0.5 mm a step.
    Scans,
    /// Updates after a motion so small that the pair keeps its answer.
    Kept,
    /// Faces that slide flush on each other.
    Flush,
    /// Margins of 10 and 50 mm, compared with the default one.
    Margin,
    /// The deepest contact of the pair, compared with the stateless distance, with exchanged bodies and with the triangles.
    Deepest,
    /// The stateless distance at gaps from 0.1 mm to 5 m, compared with all pairs of triangles.
    Distance,
    /// Plates of a 2,000th of their extent that cross.
    Thin,
    /// Nuts that turn on their bolts.
    Nut,
    /// The first update of a pair, compared with a later cold one.
    First,
    /// Bytes of the cooked assets.
    Memory,
}

/// Extent of the measurements.
#[derive(Clone, Copy)]
struct Effort {
    /// Cells along the bodies; none for the default of cooking.
    cells: Option<u32>,
    block_cells: [u32; 2],
    /// Poses of sharp bodies and of scans, and how many of them are starts of walks or have wide margins.
    poses: usize,
    walks: usize,
    scan_poses: usize,
    scan_walks: usize,
    /// Slides of each flush pair, walks of each nut, poses at each gap, and crossings of plates.
    slides: usize,
    turns: usize,
    gaps: usize,
    plates: usize,
}

const FULL: Effort = Effort {
    cells: None,
    block_cells: [64, 512],
    poses: 300,
    walks: 100,
    scan_poses: 60,
    scan_walks: 20,
    slides: 20,
    turns: 16,
    gaps: 20,
    plates: 300,
};

/// For tests.
const QUICK: Effort = Effort {
    cells: Some(64),
    block_cells: [16, 32],
    poses: 6,
    walks: 3,
    scan_poses: 3,
    scan_walks: 2,
    slides: 2,
    turns: 1,
    gaps: 1,
    plates: 6,
};

/// Name of the pair of scans, and their mesh files.
const SCAN_PAIR: &str = "bunny-horse";
const SCANS: [&str; 2] = ["bunny_34k_filled.obj", "horse_48k.obj"];

/// Folder of meshes beside the checkout.
const MESHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes");

/// Scenes that several rows share, made on first use.
struct Scenes<'a> {
    assets: &'a AssetCache,
    effort: Effort,
    log: &'a Log,
    sharp: Option<Vec<Scene>>,
    /// The scans; without their files the reason why they are left out.
    scans: Option<std::result::Result<Scene, String>>,
}

impl Scenes<'_> {
    fn make_sharp(&mut self) -> Result<()> {
        if self.sharp.is_none() {
            let options = bodies::options(self.effort.cells);
            let mut scenes = Vec::new();
            for (name, [a, b]) in bodies::sharp(1)? {
                let (of_a, of_b) = name.split_once('-').unwrap_or((name, name));
                let bodies = [Body::cook(of_a, a, &options, self.log)?, Body::cook(of_b, b, &options, self.log)?];
                scenes.push(Scene::touching(name, bodies, self.effort.poses, self.log));
            }
            self.sharp = Some(scenes);
        }
        Ok(())
    }

    fn make_scans(&mut self) -> Result<()> {
        if self.scans.is_none() {
            let options = bodies::options(self.effort.cells);
            let mut bodies = Vec::new();
            for file in SCANS {
                let Some(mesh) = self.assets.mesh(file)? else {
                    self.scans = Some(Err(format!("no {file}; set --meshes to a folder that has it")));
                    return Ok(());
                };
                bodies.push(Body::cook(file, mesh.scaled_to_extent(1.0), &options, self.log)?);
            }
            if let Ok(bodies) = <[Body; 2]>::try_from(bodies) {
                let scene = Scene::touching(SCAN_PAIR, bodies, self.effort.scan_poses, self.log);
                self.scans = Some(Ok(scene));
            }
        }
        Ok(())
    }

    /// Makes all scenes that touch; without the scans adds a row with the reason.
    fn make_all(&mut self, name: &str, rows: &mut Vec<Row>) -> Result<()> {
        self.make_sharp()?;
        self.make_scans()?;
        rows.extend(self.skipped(name));
        Ok(())
    }

    /// Returns a row with the reason why the scans are left out, if they are, and prints it.
    fn skipped(&self, name: &str) -> Option<Row> {
        let reason = self.scans.as_ref()?.as_ref().err()?;
        eprintln!("pair/{name}: the scans are skipped: {reason}");
        Some(Row::from(json!({ "row": format!("pair/{name}/{SCAN_PAIR}"), "skipped": reason })))
    }

    fn sharp(&self) -> &[Scene] {
        self.sharp.as_deref().unwrap_or_default()
    }

    fn scans(&self) -> Option<&Scene> {
        self.scans.as_ref()?.as_ref().ok()
    }

    fn all(&self) -> impl Iterator<Item = &Scene> {
        self.sharp().iter().chain(self.scans())
    }
}

/// Measures some of the rows, or all if none is named.
pub fn rows(mut assets: AssetCache, names: &[Name], quick: bool) -> Result<Vec<Row>> {
    assets.meshes.get_or_insert_with(|| PathBuf::from(MESHES));
    let effort = if quick { QUICK } else { FULL };
    let log = Log::new();
    let mut scenes = Scenes { assets: &assets, effort, log: &log, sharp: None, scans: None };
    let mut rows = Vec::new();
    let wanted = |name: &&Name| names.is_empty() || names.contains(name);
    for name in Name::value_variants().iter().filter(wanted) {
        let value = name.to_possible_value();
        let title = value.as_ref().map_or("", |value| value.get_name());
        log.row(&format!("pair/{title}"));
        match name {
            Name::Sharp | Name::Deepest => scenes.make_sharp()?,
            Name::Scans => {
                scenes.make_scans()?;
                rows.extend(scenes.skipped(title));
            }
            Name::Kept | Name::Margin | Name::First | Name::Memory => scenes.make_all(title, &mut rows)?,
            Name::Flush | Name::Distance | Name::Thin | Name::Nut => {}
        }
        rows.extend(match name {
            Name::Sharp => touching::sharp(scenes.sharp(), effort, &log)?,
            Name::Scans => touching::scans(scenes.scans(), effort, &log)?,
            Name::Kept => touching::kept(scenes.all(), &log)?,
            Name::Flush => resting::flush(effort, &log)?,
            Name::Margin => touching::margin(scenes.all(), effort, &log)?,
            Name::Deepest => touching::deepest_contacts(scenes.sharp(), effort, &log)?,
            Name::Distance => apart::distances(effort, &log)?,
            Name::Thin => apart::thin(effort, &log)?,
            Name::Nut => resting::nut(effort, &log)?,
            Name::First => touching::first(scenes.all(), &log)?,
            Name::Memory => memory(scenes.all())?,
        });
    }
    Ok(rows)
}

/// Returns the bytes of the assets of all bodies, as they are saved, and of their exact surfaces in memory.
fn memory<'a>(scenes: impl Iterator<Item = &'a Scene>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for scene in scenes {
        for body in scene.bodies() {
            let bytes = body.shape.to_bytes()?.len();
            let surface = body.shape.surface()?.map_or(0, |surface| surface.bytes());
            let samples = body.shape.shell.as_ref().map_or(0, |shell| shell.len());
            let row = Row::new(format!("pair/memory/{}/{}", scene.name, body.name), bytes as f64, "bytes")
                .with("asset_bytes", bytes)
                .with("surface_bytes", surface)
                .with("triangles", body.mesh.triangles.len())
                .with("samples", samples);
            rows.push(row);
        }
    }
    Ok(rows)
}
