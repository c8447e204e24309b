//! Runs the same scene in stock Bullet and with Voxshell, and writes a table and a report with pictures.
//!
//! The scenes are C++, in `../scenes`, and meant to be read. This half prepares the bodies, drives the scenes through
//! the bridge, measures against the true meshes and writes the report.

mod arguments;
mod bodies;
mod bridge;
mod cache;
mod catalogue;
mod decompose;
mod degenerate;
mod evaluation;
mod exact_depth;
mod fast_bodies;
mod figures;
mod flush;
mod ground_truth;
mod nut_bolt;
mod pile;
mod prepared_body;
mod progress;
mod report;
mod run;
mod save;
mod scaling;
#[cfg(test)]
mod scene_tests;
mod screw;
mod simulate;
mod solids;
mod stack;
mod strip;
mod table;
#[cfg(test)]
mod thread_tests;
mod trial;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use arguments::Arguments;
use bridge::{Drive, Method, SceneKind};
use cache::HullCache;
use catalogue::{METHODS, SCENES};
use decompose::Decomposer;
use nut_bolt::sizes::Parts;
use progress::Progress;
use run::{run_scene, Cast, Context, Effort, Outcome};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        print!("{}", arguments::list());
        return ExitCode::SUCCESS;
    }
    let result = match &arguments.decompose {
        Some(words) => decompose_for_another(words),
        None => run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bullet-demo: {message}");
            ExitCode::FAILURE
        }
    }
}

fn decompose_for_another(words: &[OsString]) -> Result<(), String> {
    let [method, input, output] = words else { return Err("--decompose takes three arguments".into()) };
    let method = arguments::method_by_name(&method.to_string_lossy())?;
    decompose::decompose(method, input.as_ref(), output.as_ref())
}

/// A scene, the number of its bodies if it differs from the default, and its methods.
struct Part {
    scene: SceneKind,
    count: Option<u32>,
    methods: Vec<Method>,
    /// Drive of the rows to run; `None` for all.
    drive: Option<Drive>,
}

/// Measuring and drawing in full runs; the tour does less because it has one minute for everything.
const THOROUGH: Effort = Effort { frames: 60, film: (480, 320), measure_every: 1 };
const QUICK: Effort = Effort { frames: 20, film: (320, 214), measure_every: 8 };

/// Returns the scenes that show the purpose of the project within a minute, each with methods that finish in that time. Bodies
/// are cooked with the defaults, the nut and its bolt coarsely.
fn tour() -> Vec<Part> {
    let part = |scene, count, ours: Method| {
        let methods = vec![Method::Hull, Method::Vhacd32, Method::Gimpact, ours];
        Part { scene, count, methods, drive: scene.has_threads().then_some(Drive::Driver) }
    };
    vec![
        part(SceneKind::DropPlane, None, Method::Voxshell),
        part(SceneKind::DropBox, None, Method::Voxshell),
        part(SceneKind::Pair, None, Method::Voxshell),
        part(SceneKind::Pile, Some(12), Method::Voxshell),
        part(SceneKind::NutBolt, None, Method::VoxshellCoarse),
    ]
}

/// Returns the chosen scenes in the order of the catalogue, each once, in any order of the arguments.
fn chosen(arguments: &Arguments) -> Vec<Part> {
    let wanted = |chosen: bool, none: bool| chosen || none;
    let methods: Vec<_> = METHODS
        .iter()
        .map(|e| e.method)
        .filter(|m| wanted(arguments.methods.contains(m), arguments.methods.is_empty()))
        .collect();
    let scenes = SCENES
        .iter()
        .filter(|e| wanted(arguments.scenes.contains(&e.kind), arguments.scenes.is_empty() && !e.long))
        .map(|e| e.kind);
    scenes.map(|scene| Part { scene, count: arguments.count, methods: methods.clone(), drive: None }).collect()
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.evaluation {
        let out = arguments.out.clone().unwrap_or_else(default_out);
        return evaluation::run(arguments, &out, &subject(arguments));
    }
    if arguments.screw_mechanics || arguments.strip_through.is_some() {
        return experiments(arguments);
    }
    let parts = if arguments.tour() { tour() } else { chosen(arguments) };
    let start = Instant::now();
    let folder = tempfile::Builder::new().prefix("bullet-demo-").tempdir().map_err(|e| e.to_string())?;
    let progress = Progress::new();
    let context = Context {
        decomposer: Decomposer {
            cache: HullCache::of_user(),
            folder: folder.path(),
            limit: arguments.decomposition_limit(),
            progress: &progress,
        },
        steps: arguments.steps.map(|n| n as usize),
        threads: arguments.threads,
        edges: arguments.edges,
        patience: arguments.patience(),
        all_patience: arguments.tour() || arguments.patience.is_some(),
        json: arguments.json,
        effort: if arguments.tour() { QUICK } else { THOROUGH },
        progress: &progress,
    };

    let mut done: Vec<(Cast, Vec<Outcome>)> = Vec::new();
    for Part { scene, count, methods, drive } in parts {
        progress.start(&format!("{}: preparing", scene.entry().name), 0);
        let count = arguments.count.or(count);
        let nuts = arguments.nuts.options();
        let mut cast = Cast::with_nuts(scene, arguments.mesh.as_deref(), count, nuts).map_err(|e| e.to_string())?;
        // Reuses what the previous scene cooked and decomposed.
        if let Some((last, _)) = done.iter_mut().find(|(last, _)| last.of_one_subject() && cast.of_one_subject()) {
            cast.stages = last.stages.clone();
        }
        let outcomes = run_scene(&cast, &methods, drive, &context);
        if let Some(folder) = &arguments.save {
            save::write(folder, scene, &outcomes)?;
        }
        done.push((cast, outcomes));
    }
    progress.finish();
    if !arguments.json {
        let rows: Vec<_> = done.iter().flat_map(|d| d.1.iter().map(|o| &o.row)).collect();
        print!("{}", table::table(&rows));
    }
    let out = arguments.out.clone().or_else(|| (!arguments.json).then(default_out));
    if let Some(out) = out {
        let path = report::write(&out, &done, &subject(arguments), &context)?;
        progress.finish();
        eprintln!("{:.0} s; the report, with films: {}", start.elapsed().as_secs_f64(), path.display());
    }
    Ok(())
}

/// Runs the experiments with one nut and prints their rows.
fn experiments(arguments: &Arguments) -> Result<(), String> {
    let folder = tempfile::Builder::new().prefix("bullet-demo-").tempdir().map_err(|e| e.to_string())?;
    let progress = Progress::new();
    let decomposer =
        Decomposer { cache: HullCache::of_user(), folder: folder.path(), limit: None, progress: &progress };
    let options = arguments.nuts.options();
    let method = arguments.methods.first().copied().unwrap_or(Method::VoxshellCoarse);
    if !method.is_voxshell() || arguments.methods.len() > 1 {
        return Err("--method: the experiments with one nut take one of voxshell-coarse, voxshell-fine".into());
    }
    let mut rows = Vec::new();
    let mut emit = |row: voxshell_report::row::Row| {
        if arguments.json {
            println!("{row}");
        }
        rows.push(row);
    };
    if arguments.screw_mechanics {
        screw::rows(method, &Parts::OWN, &screw::LOADS, &options, &decomposer, &mut emit)?;
    }
    if let Some(wrenches) = arguments.strip_through {
        strip::rows(method, wrenches as usize, &options, &decomposer, &mut emit)?;
    }
    progress.finish();
    if !arguments.json {
        voxshell_report::row::print(&rows);
    }
    Ok(())
}

/// Returns the default output folder, beside the sources.
fn default_out() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/out"))
}

/// Describes the bodies of the scenes in words.
fn subject(arguments: &Arguments) -> String {
    match &arguments.mesh {
        Some(path) => path.file_stem().map_or_else(|| "a mesh".into(), |s| s.to_string_lossy().replace('_', " ")),
        None => "a rabbit-like body made by this project".into(),
    }
}
