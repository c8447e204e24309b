//! `voxshell-lab papers`: the experiments of the papers behind Voxshell, in one run and one report.
//!
//! | experiment | papers |
//! | --- | --- |
//! | `xu-barbic` | Xu & Barbič 2014 and 2016: tables 1 to 4, the octree in haptics, bisection |
//! | `scenes` | Xu & Barbič 2016: figures 2, 6 to 8, 11 to 13 |
//! | `stability` | Xu & Barbič 2014, figure 6; 2016, figure 10, and the depths and steps of section 5 |
//! | `sagardia` | Sagardia et al. 2014: making, memory and checks of voxelmap and pointshell, the answer against the limit |
//! | `ruffaldi` | Ruffaldi et al. 2008: implicit sphere trees, figures 3 to 6 |
//! | `redon` | Redon et al. 2002, Ortega et al. 2007: triangles on screw motions, as the detection of the god-object |
//! | `otaduy` | Otaduy & Lin 2003, levels of detail; Otaduy & Lin 2005, figure 6 |
//! | `ortega` | Ortega et al. 2007, figures 10 and 11 |
//! | `forms` | the same pairs by pointshell in field, sphere trees and hulls |
//! | `haptics` | Xu & Barbič 2016, figure 10; McNeely et al. 1999, braking; Ortega et al. 2007, constraint forces |
//!
//! The drops of Sagardia et al. 2014 need Bullet: `bullet-demo/run --evaluation`.

mod forms;
mod haptics;
mod ortega;
mod otaduy;
mod redon;
mod report;
mod ruffaldi;
mod sagardia;
mod scenes;
mod stability;
mod xu_barbic;

use std::path::PathBuf;

use voxshell::{Error, Result};

use crate::haptics_demo;
use crate::haptics_demo::asset_cache::AssetCache;
use voxshell_lab::report::Plot;
use voxshell_lab::row::{self, Row};

/// Results of an experiment.
#[derive(Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub plots: Vec<Plot>,
    /// PNG files with their captions.
    pub pictures: Vec<(Vec<u8>, String)>,
}

/// What an experiment may use.
pub struct Context {
    /// True for a run of seconds, whose figures say little.
    pub quick: bool,
    /// Meshes of the papers, where they are present.
    pub assets: AssetCache,
}

/// An experiment of the registry.
struct Experiment {
    name: &'static str,
    title: &'static str,
    run: fn(&Context) -> Result<Outcome>,
}

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "xu-barbic",
        title: "Xu & Barbič 2014, 2016: fields, segments and motions",
        run: xu_barbic::run,
    },
    Experiment { name: "scenes", title: "Xu & Barbič 2016: figures 2, 6, 7, 8, 11, 12 and 13", run: scenes::run },
    Experiment {
        name: "stability",
        title: "Xu & Barbič 2014, figure 6; 2016, figure 10: steps, stiffness and depth",
        run: stability::run,
    },
    Experiment {
        name: "sagardia",
        title: "Sagardia et al. 2014: voxelmap and pointshell without Bullet",
        run: sagardia::run,
    },
    Experiment {
        name: "ruffaldi",
        title: "Ruffaldi et al. 2008: implicit sphere trees, figures 3 to 6",
        run: ruffaldi::run,
    },
    Experiment {
        name: "redon",
        title: "Redon et al. 2002, Ortega et al. 2007: triangles on screw motions",
        run: redon::run,
    },
    Experiment {
        name: "otaduy",
        title: "Otaduy & Lin 2003: levels of detail; Otaduy & Lin 2005, figure 6",
        run: otaduy::run,
    },
    Experiment { name: "ortega", title: "Ortega et al. 2007: figures 10 and 11", run: ortega::run },
    Experiment { name: "forms", title: "The same pairs by field, sphere trees and hulls", run: forms::run },
    Experiment { name: "haptics", title: "Stability, braking and constraint forces", run: haptics::run },
];

#[derive(clap::Args)]
pub struct Arguments {
    /// Only the experiments with these names.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Folder of the report (`papers.html`), the plots, the pictures and the rows (`papers.jsonl`); made if it is absent.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Few repetitions and coarse bodies, for tests.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object per row.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bodies: haptics_demo::Bodies,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
    if let Some(other) = arguments.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::argument("--only", other, format!("names among {}", known.join(", "))));
    }
    if let Some(out) = &arguments.out {
        haptics_demo::asset_cache::create(out)?;
    }
    let context = Context { quick: arguments.quick, assets: arguments.bodies.assets(arguments.quick, true) };
    let wanted = |e: &&Experiment| arguments.only.is_empty() || arguments.only.iter().any(|name| name == e.name);
    let chosen: Vec<&Experiment> = EXPERIMENTS.iter().filter(wanted).collect();
    let mut sections = Vec::new();
    for (i, experiment) in chosen.iter().enumerate() {
        eprintln!("{} of {}: {}", i + 1, chosen.len(), experiment.title);
        let outcome = (experiment.run)(&context)?;
        if arguments.json {
            outcome.rows.iter().for_each(|row| println!("{row}"));
        } else {
            println!("{}\n", experiment.title);
            row::print(&outcome.rows);
            println!();
        }
        sections.push(report::Section { name: experiment.name, title: experiment.title, outcome });
        // After each, so that a run that is stopped leaves what it has.
        if let Some(out) = &arguments.out {
            report::write(out, &sections)?;
        }
    }
    Ok(())
}
