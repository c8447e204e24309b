//! `voxshell bench`: the library's parts measured on this machine, one JSON object a row when asked.
//!
//! Each row names the work; figures carry their unit in the key. Times are of one thread unless the row says otherwise.

mod segments;

use std::time::Instant;

use clap::ValueEnum;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use serde_json::{json, Value};
use voxshell::asset::Shape;
use voxshell::contact::{contacts, distance, Geometry, Query, Roles, Workspace};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Pose, Vec3};
use voxshell::Result;

use crate::{bench_fields, source};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Name {
    /// Cooking: field, pointshell and tree from a mesh.
    Cook,
    /// Discrete queries of touching pairs: on a plane, and against itself.
    Contact,
    /// A million random segments against the field; with the feature `peers` beside parry3d's rays.
    Segments,
    /// Fields, full and in bricks: cooking, error, sampling, memory, loading. Up to 1024 cells: takes a minute, and 1 GB.
    Fields,
}

#[derive(clap::Args)]
pub struct Arguments {
    name: Name,
    /// A mesh file or the name of a built-in shape; scaled to 1 m.
    #[arg(long, default_value = "blob")]
    mesh: String,
    /// One JSON object a row.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mesh = source::mesh(&arguments.mesh, Some(arguments.cook.extent.unwrap_or(1.0)))?;
    let name = std::path::Path::new(&arguments.mesh)
        .file_name()
        .map_or(arguments.mesh.as_str().into(), |n| n.to_string_lossy());
    let rows = match arguments.name {
        Name::Cook => {
            let mut rows = Vec::new();
            for cells in [64, 128, 256] {
                let options = source::CookArguments { cells, ..arguments.cook.clone() };
                let start = Instant::now();
                let shape = source::cook(&mesh, &options)?;
                rows.push(cook_row(&name, cells, start.elapsed().as_secs_f64(), &shape));
            }
            rows
        }
        Name::Fields => bench_fields::rows(&mesh)?,
        Name::Contact => {
            let samples = arguments.cook.samples.unwrap_or(35_000);
            let options = source::CookArguments { samples: Some(samples), ..arguments.cook.clone() };
            contact_rows(&name, &source::cook(&mesh, &options)?)?
        }
        Name::Segments => segments::rows(&name, &mesh)?,
    };
    for row in rows {
        if arguments.json {
            println!("{row}");
        } else if let Value::Object(fields) = &row {
            let line: Vec<String> = fields.iter().map(|(k, v)| format!("{k} {v}")).collect();
            println!("{}", line.join("  "));
        }
    }
    Ok(())
}

fn cook_row(mesh: &str, cells: u32, seconds: f64, shape: &Shape) -> Value {
    let (samples, covering) = shape.shell.as_ref().map_or((0, 0.0), |s| (s.len(), s.spacing));
    let (bytes, error) = shape.field.as_deref().and_then(Field::gridded).map_or((0, 0.0), |f| (f.bytes, f.error.max));
    json!({
        "row": format!("cook/{cells}"), "mesh": mesh, "threads": rayon_threads(), "wall_s": seconds,
        "field_mb": bytes as f64 * 1e-6, "field_error_max_mm": error * 1e3,
        "samples": samples, "covering_radius_mm": f64::from(covering) * 1e3,
    })
}

fn rayon_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A pose of the shape that touches `other` (at the identity) from above, `depth` metres deep.
fn touching(shape: &Shape, other: Geometry, rotation: UnitQuaternion<f64>, depth: f64) -> Result<Pose> {
    let mut workspace = Workspace::new();
    let mut height = 2.0;
    for _ in 0..60 {
        let pose = Isometry3::from_parts(Translation3::new(0.05, height, 0.02), rotation);
        let found = distance(
            shape.geometry(),
            &pose,
            other,
            &Pose::identity(),
            Roles::ShellOfA,
            f64::INFINITY,
            &mut workspace,
        )?;
        height -= 0.7 * found.map_or(0.0, |c| c.separation);
    }
    Ok(Isometry3::from_parts(Translation3::new(0.05, height - depth, 0.02), rotation))
}

/// Twenty orientations, each touching 0.2 mm deep, contacts up to 1 mm; one of them is what a resting body asks each step.
fn contact_rows(mesh: &str, shape: &Shape) -> Result<Vec<Value>> {
    let plane = Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0)?));
    let mut rows = Vec::new();
    for (row, other) in [("contact/plane", plane.geometry()), ("contact/self", shape.geometry())] {
        let mut times = Vec::new();
        let (mut nodes, mut samples, mut found) = (0, 0, 0);
        for i in 0..20 {
            let rotation = UnitQuaternion::from_euler_angles(0.7 * i as f64, 1.3 * i as f64, 0.4 * i as f64);
            let pose = touching(shape, other, rotation, 0.0002)?;
            let query = Query { roles: Roles::ShellOfA, max_separation: 0.001, max_contacts: 4, ..Query::default() };
            let mut workspace = Workspace::new();
            for repeat in 0..200 {
                let start = Instant::now();
                let n = contacts(shape.geometry(), &pose, other, &Pose::identity(), &query, &mut workspace)?.len();
                if repeat >= 20 {
                    times.push(start.elapsed().as_secs_f64() * 1e6);
                    found += n;
                }
            }
            nodes += workspace.stats().node_tests;
            samples += workspace.stats().sample_tests;
        }
        times.sort_by(f64::total_cmp);
        let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
        rows.push(json!({
            "row": row, "mesh": mesh, "samples": shape.shell.as_ref().map_or(0, |s| s.len()),
            "query_mean_us": times.iter().sum::<f64>() / times.len() as f64,
            "query_median_us": at(0.5), "query_p99_us": at(0.99),
            "node_tests_mean": nodes as f64 / 20.0, "sample_tests_mean": samples as f64 / 20.0,
            "contacts_mean": found as f64 / times.len() as f64,
        }));
    }
    Ok(rows)
}
