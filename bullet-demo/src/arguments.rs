//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::bridge::{Method, SceneKind};
use crate::catalogue::{METHODS, SCENES};
use crate::nut_bolt::options::NutArguments;

/// Runs the same scenes in stock Bullet and with Voxshell, side by side.
///
/// Without arguments it runs a tour of one minute: five scenes in stock Bullet (hull, V-HACD, GImpact) and with
/// Voxshell, on a built-in shape. It prints a table and writes `report.html`. `--all` runs every scene except the
/// largest piles with every method.
#[derive(Parser, Debug)]
#[command(name = "bullet-demo", version)]
pub struct Arguments {
    /// Triangle mesh (.obj, .stl, .ply) for the scenes drop-plane, drop-box, pair and rolling, scaled to 1 m. Default:
    /// a built-in shape
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,

    /// Run every scene except the largest piles with every method; takes tens of minutes
    #[arg(long, conflicts_with_all = ["scenes", "methods", "evaluation"])]
    pub all: bool,

    /// Run this scene only; may be repeated. See --list
    #[arg(long = "scene", value_name = "NAME", value_parser = scene_by_name)]
    pub scenes: Vec<SceneKind>,

    /// Run this method only; may be repeated. See --list
    #[arg(long = "method", value_name = "NAME", value_parser = method_by_name)]
    pub methods: Vec<Method>,

    /// Run the evaluation of Sagardia, Stouraitis & Lopes e Silva 2014, compare with the paper's figures, and write
    /// evaluation.txt, .jsonl, .html and the plots to --out; takes minutes
    #[arg(long, conflicts_with_all = ["scenes", "methods", "steps", "count", "patience"])]
    pub evaluation: bool,

    /// With --evaluation: run only a few steps of everything, as a smoke test; the figures are meaningless
    #[arg(long, requires = "evaluation")]
    pub quick: bool,

    /// Measure the friction at which nuts of four sizes lock under a load, and the torque that tightens them, beside the
    /// closed forms
    #[arg(long, conflicts_with_all = ["scenes", "steps", "count", "patience", "evaluation", "all", "bolt"])]
    pub screw_mechanics: bool,

    /// Apply this many random wrenches to an M16 nut, or to that of --nut, at each of five rates, and count how often it
    /// leaves its helix
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
          conflicts_with_all = ["scenes", "steps", "count", "patience", "evaluation", "all"])]
    pub strip_through: Option<u32>,

    /// Print one JSON object per row instead of the table. The report is then written only if --out is given
    #[arg(long)]
    pub json: bool,

    /// Also write the rows and the tables of each scene to SCENE.jsonl and SCENE.txt in this folder, when it is finished
    #[arg(long, value_name = "DIR", conflicts_with = "evaluation")]
    pub save: Option<PathBuf>,

    /// List scenes and methods, and stop
    #[arg(long)]
    pub list: bool,

    /// Folder for report.html
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Number of steps of 1/200 s to simulate; default: the number of each scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,

    /// Number of bodies of a pile or of each tower, or of nuts; default: the number of the scene
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub count: Option<u32>,

    /// Threads of the narrowphase in the rows of Voxshell. Default: 1; nut-bolt-1000 has rows for one and for two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: Option<u32>,

    /// Test edges and corners of two meshes against each other in the rows of Voxshell (VXS_COVERAGE_EDGES), except in
    /// scenes of nuts
    #[arg(long)]
    pub edges: bool,

    /// Stop a row after this many seconds of computing and report it; 0 never stops. Default: 60 for rows of stock Bullet,
    /// with --all 10, and in the tour 1 for all rows
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub patience: Option<f64>,

    /// Stop the convex decomposition of one body after this many seconds and skip its rows; 0 never stops. Default:
    /// 300, with --all 60, and in the tour 15
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub decomposition_limit: Option<f64>,

    #[command(flatten)]
    pub nuts: NutArguments,

    /// Decompose a mesh for another process of this program. Values: the method, the mesh file, the hull file
    #[arg(long, hide = true, num_args = 3, value_names = ["METHOD", "INPUT", "OUTPUT"])]
    pub decompose: Option<Vec<OsString>>,
}

impl Arguments {
    /// Returns true if the tour is to be run.
    pub fn tour(&self) -> bool {
        self.scenes.is_empty() && self.methods.is_empty() && !self.all && !self.evaluation
    }

    /// Returns the computing time after which a row is stopped.
    pub fn patience(&self) -> Option<Duration> {
        self.duration(self.patience, [1.0, 10.0, 60.0])
    }

    /// Returns the time after which a decomposition is stopped.
    pub fn decomposition_limit(&self) -> Option<Duration> {
        self.duration(self.decomposition_limit, [15.0, 60.0, 300.0])
    }

    /// Returns `given`, or the default of the mode: tour, all scenes, or chosen rows; `None` for 0.
    fn duration(&self, given: Option<f64>, [tour, all, chosen]: [f64; 3]) -> Option<Duration> {
        let default = match (self.tour(), self.all) {
            (true, _) => tour,
            (_, true) => all,
            _ => chosen,
        };
        Some(given.unwrap_or(default)).filter(|s| *s > 0.0).map(Duration::from_secs_f64)
    }
}

fn scene_by_name(name: &str) -> Result<SceneKind, String> {
    let entry = SCENES.iter().find(|e| e.name == name);
    entry.map(|e| e.kind).ok_or_else(|| format!("expected one of: {}", names(SCENES.iter().map(|e| e.name))))
}

pub fn method_by_name(name: &str) -> Result<Method, String> {
    let entry = METHODS.iter().find(|e| e.name == name);
    entry.map(|e| e.method).ok_or_else(|| format!("expected one of: {}", names(METHODS.iter().map(|e| e.name))))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.0..=1e9).contains(&s) => Ok(s),
        _ => Err("expected a number of seconds, 0 to 1e9".into()),
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the text of `--list`.
pub fn list() -> String {
    let mut text = String::from("Scenes:\n");
    for e in &SCENES {
        text += &format!("  {:<16} {}\n", e.name, e.text);
    }
    text += "\nMethods:\n";
    for e in &METHODS {
        text += &format!("  {:<16} {}\n", e.name, e.text);
    }
    text
}
