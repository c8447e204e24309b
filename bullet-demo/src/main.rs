//! The same scene in stock Bullet and with Voxshell, side by side: a table, and a report with pictures.
//!
//! The scenes themselves are C++, in `../scenes`, and meant to be read. This half prepares the bodies, drives the scenes
//! through the bridge, measures against the true meshes and writes the report.

mod arguments;
mod bodies;
mod bridge;
mod cache;
mod catalogue;
mod decompose;
mod evaluation;
mod fast;
mod figures;
mod nut;
mod pile;
mod progress;
mod report;
mod run;
mod scaling;
#[cfg(test)]
mod scene_tests;
mod simulate;
mod stage;
mod table;
mod towers;
mod truth;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use arguments::Arguments;
use cache::HullCache;
use catalogue::{METHODS, SCENES};
use progress::Progress;
use run::{run_scene, Cast, Context, Outcome};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        print!("{}", arguments::list());
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bullet-demo: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.evaluation {
        let out = arguments.out.clone().unwrap_or_else(default_out);
        return evaluation::run(arguments, &out, &subject(arguments));
    }
    // In the catalogue's order, each once, whatever the order of the arguments.
    let wanted = |chosen: bool, none: bool| chosen || none;
    let scenes = SCENES
        .iter()
        .filter(|e| wanted(arguments.scenes.contains(&e.kind), arguments.scenes.is_empty() && !e.long))
        .map(|e| e.kind);
    let methods: Vec<_> = METHODS
        .iter()
        .map(|e| e.method)
        .filter(|m| wanted(arguments.methods.contains(m), arguments.methods.is_empty()))
        .collect();

    let folder = tempfile::Builder::new().prefix("bullet-demo-").tempdir().map_err(|e| e.to_string())?;
    let progress = Progress::new();
    let context = Context {
        cache: HullCache::of_user(),
        folder: folder.path(),
        steps: arguments.steps.map(|n| n as usize),
        patience: Some(arguments.patience()).filter(|s| *s > 0.0).map(Duration::from_secs_f64),
        all_patience: false,
        json: arguments.json,
        progress: &progress,
    };

    let mut done: Vec<(Cast, Vec<Outcome>)> = Vec::new();
    for kind in scenes {
        progress.start(&format!("{}: preparing", kind.entry().name), 0);
        let cast = Cast::new(kind, arguments.mesh.as_deref(), arguments.count).map_err(|e| e.to_string())?;
        let outcomes = run_scene(&cast, &methods, &context);
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
        eprintln!("{}", path.display());
    }
    Ok(())
}

/// Beside the sources, where `bullet-demo/run` is.
fn default_out() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/out"))
}

/// What the scenes are played with, in words.
fn subject(arguments: &Arguments) -> String {
    match &arguments.mesh {
        Some(path) => path.file_stem().map_or_else(|| "a mesh".into(), |s| s.to_string_lossy().replace('_', " ")),
        None => "a rabbit-like body made by this project".into(),
    }
}
