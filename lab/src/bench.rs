//! `voxshell-lab bench`: measures the parts of the library on this machine; with `--json` one JSON object per row.
//!
//! Each row names the measured work; keys carry units. Times are of one thread unless the row says otherwise.

mod calls;
mod ccd;
mod contact;
mod drops;
mod edges;
mod fields;
pub mod haptics;
mod pair;
mod pairs;
mod papers;
pub mod parry;
mod peers;
pub mod progress;
mod qp;
pub mod random;
mod segments;
mod stages;
pub mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use serde_json::json;
use voxshell::asset::Shape;
use voxshell::field::Field;
use voxshell::math::Vec3;
use voxshell::mesh::TriMesh;
use voxshell::{Error, Result};

use voxshell_cli::source;

use crate::haptics_demo;
use peers::{Files, Peer, Program};
use voxshell_lab::clock::Clock;
use voxshell_lab::machine::Machine;
use voxshell_lab::row::Row;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Name {
    /// Cooking: field, pointshell and tree from a mesh.
    Cook,
    /// Discrete queries of touching pairs, resting, moving and at random: on a plane, on a box, and against itself.
    Contact,
    /// Contacts at the edges of meshes: penetrations that the samples miss, and times; of `--mesh` and `--dense`.
    Edges,
    /// Contact pairs from step to step, compared with the stateless query and with the triangles: times and wrong answers. Takes
    /// four minutes; see `--rows`.
    Pair,
    /// A million random segments against the field, compared with rays of other libraries.
    Segments,
    /// Moving bodies: random pairs, a drop, a haptic step, screw motions (Xu & Barbič 2016, tables 3 and 4).
    Ccd,
    /// Calls of the C API: cooking, and contacts of many pairs in one call, on one thread and on two.
    Calls,
    /// Forces and haptics: steps, simulation, god-object, stability, faults, in the scenes of haptics-demo.
    Haptics,
    /// Fields, dense and in bricks: cooking, error, sampling, memory, loading, compared with other libraries. Takes a
    /// minute and 1 GB.
    Fields,
    /// Quadratic programs of constrained motions, compared with other solvers.
    Qp,
    /// Tables 1 to 4 of Xu & Barbič (2014, 2016): fields, octrees, segments and motions, with the papers' figures.
    Tables,
}

#[derive(clap::Args)]
pub struct Arguments {
    name: Name,
    /// A mesh file or the name of a built-in shape; scaled to 1 m.
    #[arg(long, default_value = "blob")]
    mesh: OsString,
    /// Divide each triangle of the mesh into four, this many times.
    #[arg(long, value_name = "TIMES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=6))]
    subdivide: u32,
    /// Mesh of the dense body of tables 3 and 4, and of the other body of edges; default: the same mesh.
    #[arg(long, value_name = "MESH")]
    dense: Option<OsString>,
    /// Number of random motions of table 3. Fewer than 1,000 also shorten the drops of table 4.
    #[arg(long, default_value_t = 1000)]
    pairs: usize,
    /// Print one JSON object per row.
    #[arg(long)]
    json: bool,
    /// Also write the JSON rows to a file.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Field cells along the largest edge of the box, which is 1.5 times the mesh's, for fields, segments and tables.
    /// The fields benchmark cooks the last one in bricks only.
    #[arg(long, value_delimiter = ',', value_name = "CELLS")]
    resolutions: Vec<u32>,
    /// Other libraries to compare with; those in C++ are used if they are installed.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Peer::Parry, Peer::Openvdb, Peer::Embree, Peer::Daqp, Peer::Eiquadprog])]
    peers: Vec<Peer>,
    /// Number of random segments.
    #[arg(long, default_value_t = segments::COUNT)]
    segments: usize,
    /// Seconds for which each group of alternating measurements is repeated; at least three rounds.
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// Haptics and pair: few steps and coarse scenes, for tests.
    #[arg(long)]
    quick: bool,
    /// Haptics: number of timed steps of the servo; default a million, fewer with --quick.
    #[arg(long)]
    steps: Option<u64>,
    /// Haptics: number of hard pushes; default a million, fewer with --quick. Each takes about a millisecond.
    #[arg(long, value_name = "NUMBER")]
    pushes: Option<usize>,
    /// Haptics: run only these parts.
    #[arg(long, value_delimiter = ',', value_enum, value_name = "PARTS")]
    parts: Vec<haptics::Part>,
    /// Pair: measure only these rows.
    #[arg(long, value_delimiter = ',', value_enum, value_name = "ROWS")]
    rows: Vec<pair::Name>,
    #[command(flatten)]
    bodies: haptics_demo::Bodies,
    #[command(flatten)]
    cook: source::CookArguments,
}

/// Resolutions and peers of the benchmarks of fields, segments and tables.
pub struct Setup {
    resolutions: Vec<u32>,
    peers: Vec<Peer>,
    segments: usize,
    clock: Clock,
    dense: Option<TriMesh>,
    /// Samples of the dense body.
    samples: usize,
    pairs: usize,
}

impl Setup {
    /// Returns the setup of the papers' tables, without peers: cells of the fields, number of segments, of random motions
    /// and of samples of the dense body.
    pub fn of_tables(cells: &[u32], segments: usize, pairs: usize, samples: usize, dense: Option<TriMesh>) -> Self {
        let (resolutions, clock) = (cells.to_vec(), Clock { seconds: 0.5 });
        Self { resolutions, peers: Vec::new(), segments, clock, dense, samples, pairs }
    }

    /// Returns the resolutions in ascending order.
    fn resolutions(&self, default: &[u32]) -> Vec<u32> {
        let mut chosen = if self.resolutions.is_empty() { default.to_vec() } else { self.resolutions.clone() };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    fn wants(&self, peer: Peer) -> bool {
        self.peers.contains(&peer)
    }

    /// Starts a peer's program; `None` if the peer is not selected or not installed.
    fn program(&self, peer: Peer, files: &Files) -> Result<Option<Program>> {
        Ok(if self.wants(peer) { Program::start(peer, files)? } else { None })
    }
}

/// Returns the mesh with each triangle divided into four.
fn subdivided(mesh: &TriMesh) -> Result<TriMesh> {
    let mut corners = Vec::with_capacity(12 * mesh.triangles.len());
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        // Both triangles of an edge get the same bits.
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| (p + q) * 0.5);
        corners.extend([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca].map(<[f64; 3]>::from));
    }
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Ok(TriMesh::new(corners, triangles)?.welded(0.0))
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let machine = Machine::now();
    let mut mesh = source::mesh(&arguments.mesh, Some(arguments.cook.extent.unwrap_or(1.0)))?;
    for _ in 0..arguments.subdivide {
        mesh = subdivided(&mesh)?;
    }
    let name = Path::new(&arguments.mesh).file_name().unwrap_or(&arguments.mesh).to_string_lossy();
    let name = match arguments.subdivide {
        0 => name,
        times => format!("{name}, divided {times} times").into(),
    };
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
                let options = source::CookArguments { cells: Some(cells), ..arguments.cook.clone() };
                let start = Instant::now();
                let shape = source::cook(&mesh, &options)?;
                rows.push(cook_row(cells, start.elapsed().as_secs_f64(), &shape));
            }
            rows
        }
        Name::Fields => fields::rows(&mesh, &setup)?,
        Name::Contact => contact::rows(&mesh, &arguments.cook)?,
        Name::Edges => {
            let other = setup.dense.as_ref().unwrap_or(&mesh);
            edges::rows(&source::cook(&mesh, &arguments.cook)?, &source::cook(other, &arguments.cook)?)?
        }
        Name::Calls => calls::rows(&mesh, &setup)?,
        Name::Ccd => ccd::rows(&mesh, &setup)?,
        Name::Haptics => {
            let effort = haptics::Effort::new(arguments.quick, arguments.steps, arguments.pushes);
            haptics::rows(&arguments.bodies.assets(arguments.quick, true), effort, &arguments.parts)?
        }
        Name::Pair => pair::rows(arguments.bodies.assets(arguments.quick, false), &arguments.rows, arguments.quick)?,
        Name::Qp => qp::rows(&setup)?,
        Name::Segments => segments::rows(&mesh, &setup)?,
        Name::Tables => {
            let tables = tables::Tables::measure(&name, &mesh, &setup)?;
            if !arguments.json {
                tables.print();
            }
            tables.rows()
        }
    };
    let has_own_bodies = matches!(arguments.name, Name::Haptics | Name::Pair | Name::Qp);
    let with_mesh = |row: Row| if has_own_bodies { row } else { row.with("mesh", &*name) };
    let rows: Vec<Row> = rows.into_iter().map(|row| machine.told(with_mesh(row))).collect();
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
