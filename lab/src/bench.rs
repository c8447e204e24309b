//! `voxshell-lab bench`: the library's parts measured on this machine, one JSON object a row when asked.
//!
//! Each row names the work; figures carry their unit in the key. Times are of one thread unless the row says otherwise.

mod ccd;
mod contact;
mod drops;
mod fields;
mod haptics;
mod pairs;
mod papers;
mod parry;
mod peers;
mod progress;
mod random;
mod segments;
mod stages;
mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use serde_json::json;
use voxshell::asset::Shape;
use voxshell::field::Field;
use voxshell::{Error, Result};

use voxshell_cli::source;

use crate::haptics_demo;
use peers::{Files, Peer, Program};
use voxshell_lab::clock::Clock;
use voxshell_lab::row::Row;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Name {
    /// Cooking: field, pointshell and tree from a mesh.
    Cook,
    /// Discrete queries of touching pairs, resting, moving and at random: on a plane, on a box, and against itself.
    Contact,
    /// A million random segments against the field, beside rays of other libraries.
    Segments,
    /// Bodies that move: random pairs, a drop, a haptic step, screw motions (Xu & Barbič 2016, tables 3 and 4).
    Ccd,
    /// Forces and haptics: steps, simulation, god-object, stability, faults, in the scenes of haptics-demo.
    Haptics,
    /// Fields, full and in bricks: cooking, error, sampling, memory, loading, beside other libraries. Takes a minute, and 1 GB.
    Fields,
    /// Tables 1 to 4 of Xu & Barbič (2014, 2016): fields, octrees, segments and motions, the papers' figures beside ours.
    Tables,
}

#[derive(clap::Args)]
pub struct Arguments {
    name: Name,
    /// A mesh file or the name of a built-in shape; scaled to 1 m.
    #[arg(long, default_value = "blob")]
    mesh: OsString,
    /// The mesh of the dense body of tables 3 and 4; the same unless given.
    #[arg(long, value_name = "MESH")]
    dense: Option<OsString>,
    /// How many random motions table 3 takes; of fewer than 1,000 the drops of table 4 are shorter, too.
    #[arg(long, default_value_t = 1000)]
    pairs: usize,
    /// One JSON object a row.
    #[arg(long)]
    json: bool,
    /// Write the JSON rows to a file, whatever is printed.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Field cells along the box's largest edge, which is 1.5 times the mesh's, for fields, segments and tables; of fields the
    /// last is cooked in bricks only.
    #[arg(long, value_delimiter = ',', value_name = "CELLS")]
    resolutions: Vec<u32>,
    /// Which other libraries to measure beside; those in C++ if they are installed.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Peer::Parry, Peer::Openvdb, Peer::Embree])]
    peers: Vec<Peer>,
    /// How many random segments.
    #[arg(long, default_value_t = segments::COUNT)]
    segments: usize,
    /// How long to repeat what is measured in turns; at least three times.
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// Few steps and coarse scenes, of haptics: for tests.
    #[arg(long)]
    quick: bool,
    /// How many hard pushes, of haptics: a million unless quick. Each takes about a millisecond.
    #[arg(long, value_name = "NUMBER")]
    pushes: Option<usize>,
    /// Only these, of haptics.
    #[arg(long, value_delimiter = ',', value_enum, value_name = "PARTS")]
    parts: Vec<haptics::Part>,
    #[command(flatten)]
    bodies: haptics_demo::Bodies,
    #[command(flatten)]
    cook: source::CookArguments,
}

/// What fields, segments and tables are measured at and beside.
pub struct Setup {
    resolutions: Vec<u32>,
    peers: Vec<Peer>,
    segments: usize,
    clock: Clock,
    dense: Option<voxshell::mesh::TriMesh>,
    /// Of the dense body.
    samples: usize,
    pairs: usize,
}

impl Setup {
    /// Ascending.
    fn resolutions(&self, default: &[u32]) -> Vec<u32> {
        let mut chosen = if self.resolutions.is_empty() { default.to_vec() } else { self.resolutions.clone() };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    fn wants(&self, peer: Peer) -> bool {
        self.peers.contains(&peer)
    }

    /// `None` when it is not wanted or not installed.
    fn program(&self, peer: Peer, files: &Files) -> Result<Option<Program>> {
        Ok(if self.wants(peer) { Program::start(peer, files)? } else { None })
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mesh = source::mesh(&arguments.mesh, Some(arguments.cook.extent.unwrap_or(1.0)))?;
    let name = Path::new(&arguments.mesh).file_name().unwrap_or(&arguments.mesh).to_string_lossy();
    let dense = arguments.dense.as_ref().map(|dense| source::mesh(dense, Some(1.0))).transpose()?;
    let setup = Setup {
        resolutions: arguments.resolutions.clone(),
        peers: arguments.peers.clone(),
        segments: arguments.segments,
        clock: Clock { seconds: arguments.seconds },
        dense,
        samples: arguments.cook.samples.unwrap_or(ccd::DENSE),
        pairs: arguments.pairs,
    };
    let rows = match arguments.name {
        Name::Cook => {
            let mut rows = Vec::new();
            for cells in [64, 128, 256] {
                let options = source::CookArguments { cells, ..arguments.cook.clone() };
                let start = Instant::now();
                let shape = source::cook(&mesh, &options)?;
                rows.push(cook_row(cells, start.elapsed().as_secs_f64(), &shape));
            }
            rows
        }
        Name::Fields => fields::rows(&mesh, &setup)?,
        Name::Contact => contact::rows(&mesh, &arguments.cook)?,
        Name::Ccd => ccd::rows(&mesh, &setup)?,
        Name::Haptics => {
            let effort = haptics::Effort::new(arguments.quick, arguments.pushes);
            haptics::rows(&arguments.bodies.assets(arguments.quick, true), effort, &arguments.parts)?
        }
        Name::Segments => segments::rows(&mesh, &setup)?,
        Name::Tables => {
            let tables = tables::Tables::measure(&name, &mesh, &setup)?;
            if !arguments.json {
                tables.print();
            }
            tables.rows()
        }
    };
    let with_mesh = |row: Row| if arguments.name == Name::Haptics { row } else { row.with("mesh", &*name) };
    let rows: Vec<Row> = rows.into_iter().map(with_mesh).collect();
    let json: String = rows.iter().map(|row| format!("{row}\n")).collect();
    if arguments.json {
        print!("{json}");
    } else if arguments.name != Name::Tables {
        voxshell_lab::row::print(&rows);
    }
    match &arguments.save {
        Some(path) => std::fs::write(path, json).map_err(|source| Error::Io { path: path.clone(), source }),
        None => Ok(()),
    }
}

fn cook_row(cells: u32, seconds: f64, shape: &Shape) -> Row {
    let (samples, covering) = shape.shell.as_ref().map_or((0, 0.0), |s| (s.len(), s.spacing));
    let (bytes, error) = shape.field.as_deref().and_then(Field::gridded).map_or((0, 0.0), |f| (f.bytes, f.error.max));
    Row::from(json!({
        "row": format!("cook/{cells}"), "threads": rayon_threads(), "wall_s": seconds,
        "field_mb": bytes as f64 * 1e-6, "field_error_max_mm": error * 1e3,
        "samples": samples, "covering_radius_mm": f64::from(covering) * 1e3,
    }))
}

fn rayon_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
