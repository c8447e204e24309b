//! `voxshell info`: describes an asset or a mesh, in words or as JSON with units in the keys.

use std::ffi::OsString;
use std::fmt::Write;
use voxshell_cli::print::say;

use serde_json::{json, Value};
use voxshell::asset::Shape;
use voxshell::field::{Decided, Field, SignReport, SignedDistance, UNCERTAIN};
use voxshell::math::Aabb;
use voxshell::mesh::{MassProperties, ProbableSize, Report};
use voxshell::pointshell::PointShell;
use voxshell::Result;

use voxshell_cli::source;

#[derive(clap::Args)]
pub struct Arguments {
    /// An asset (.vxs), a mesh file (.obj, .stl, .ply) or the name of a built-in shape.
    source: OsString,
    /// Unit of the numbers of a mesh, which are scaled to metres.
    #[arg(long, value_enum, default_value_t = source::Unit::M)]
    unit: source::Unit,
    /// Print one JSON object; values that do not apply are null.
    #[arg(long)]
    json: bool,
}

/// Message for a mesh without mass properties.
const NO_MASS: &str = "mass        not known from the triangles alone: the mesh is open, has no inside, or meets itself in too many places\n";

pub fn run(arguments: &Arguments) -> Result<()> {
    let source = &arguments.source;
    let file_bytes = std::fs::metadata(source).ok().map(|m| m.len());
    let (text, mut value) = if source::is_asset(source) {
        let shape = Shape::load(source.as_ref())?;
        (describe(&shape), shape_json(&shape))
    } else {
        let mesh = source::mesh_in(arguments.unit, source, None)?;
        let report = mesh.report();
        let bounds = mesh.bounds();
        let mass = voxshell::cook::mass_properties(&mesh);
        let value = json!({
            "kind": "mesh",
            "bounds": bounds_json(&bounds),
            "probable_size_m": probable_size(&bounds).map(|size| size.extent * size.factor),
            "mesh": report_json(&report),
            "mass": mass.as_ref().map(mass_json),
        });
        let mass = mass.as_ref().map_or_else(|| NO_MASS.into(), describe_mass);
        (format!("{}{report}\n{mass}", describe_bounds(&bounds)), value)
    };
    if arguments.json {
        // JSON strings are UTF-8 only.
        value["source"] = source.to_string_lossy().into();
        value["file_bytes"] = file_bytes.into();
        say(format_args!("{value:#}"));
    } else {
        say(text.trim_end());
    }
    Ok(())
}

/// Describes a shape, line by line.
pub fn describe(shape: &Shape) -> String {
    let mut text = describe_bounds(&shape.bounds());
    // Writing to a string cannot fail.
    let mut line = |arguments: std::fmt::Arguments| writeln!(text, "{arguments}").expect("a string");
    if let Some(report) = &shape.report {
        line(format_args!("{report}"));
    }
    if let Some((field, known)) = shape.field.as_deref().and_then(|f| f.gridded().map(|known| (f, known))) {
        let [nx, ny, nz] = known.grid.dims;
        let (voxel, megabytes) = (shown(f64::from(known.grid.spacing) * 1e3, 3), known.bytes as f64 * 1e-6);
        line(format_args!("field       {nx} x {ny} x {nz} nodes, voxel {voxel} mm, {megabytes:.1} MB"));
        if let Field::Bricks(bricks) = field {
            let [x, y, z] = bricks.bricks();
            line(format_args!("            in bricks: {} of {x} x {y} x {z} at the surface", bricks.fine_bricks()));
        }
        let (max, rms) = (shown(known.error.max * 1e3, 4), shown(known.error.rms * 1e3, 4));
        if let Field::Exact(exact) = field {
            let [flat, near] = exact.flat_cells();
            let share = shown(100.0 * flat as f64 / near.max(1) as f64, 1);
            line(format_args!("            exact near the surface, by the grid alone in {share}% of the cells there"));
            line(format_args!("            error at most {max} mm within two voxels of the surface"));
        } else {
            line(format_args!(
                "            largest error found {max} mm (the true one is at least this), {rms} mm rms"
            ));
        }
        line(format_args!("            Lipschitz {:.4}", known.lipschitz));
        line(format_args!("{}", describe_sign(known.sign).trim_end()));
    }
    if let Some(shell) = &shape.shell {
        let radius = shown(f64::from(shell.spacing) * 1e3, 2);
        line(format_args!(
            "pointshell  {} samples, covering radius {radius} mm, {} levels",
            shell.len(),
            levels(shell)
        ));
    }
    if let Some(mass) = &shape.mass {
        line(format_args!("{}", describe_mass(mass).trim_end()));
    }
    text
}

/// Returns a guess at the size of a body that is unusually large or small.
fn probable_size(bounds: &Aabb) -> Option<ProbableSize> {
    ProbableSize::of(bounds.extents().max())
}

/// Returns the number of levels of the sphere tree.
fn levels(shell: &PointShell) -> usize {
    shell.tree.depth()
}

/// Describes the sign rule of each region, and its confidence.
fn describe_sign(sign: &SignReport) -> String {
    let Decided { crossings, winding_number, flooding } = sign.decided;
    let mut lines = vec![format!("sign by {}", sign.rule)];
    if crossings + winding_number + flooding > 0 {
        lines.push(format!(
            "nodes: {crossings} by crossings, {winding_number} by winding number, {flooding} by flooding"
        ));
    }
    if sign.membrane_area > 0.0 {
        lines.push(format!("membranes of {:.6} m² across holes", sign.membrane_area));
    }
    if sign.uncertain_nodes > 0 {
        lines.push(format!("{} nodes within {UNCERTAIN} of the threshold, least sure at", sign.uncertain_nodes));
        lines.extend(sign.least_sure.iter().flatten().map(|d| {
            let [x, y, z] = [d.position.x, d.position.y, d.position.z];
            format!("  ({x:.4}, {y:.4}, {z:.4}) m, winding number {:.4}", d.winding_number)
        }));
    }
    lines.iter().map(|line| format!("            {line}\n")).collect()
}

/// Formats a number with this many decimals, or with an exponent if these would show less than two of its digits.
fn shown(x: f64, decimals: usize) -> String {
    if x != 0.0 && x.abs() < 10.0 * 0.1f64.powi(decimals as i32) {
        format!("{x:.3e}")
    } else {
        format!("{x:.decimals$}")
    }
}

fn describe_bounds(bounds: &Aabb) -> String {
    let [x, y, z] = <[f64; 3]>::from(bounds.extents()).map(|e| shown(e, 4));
    let note = probable_size(bounds).map_or_else(String::new, |size| {
        let hint = size.unit().map_or_else(String::new, |unit| format!(" (--unit {unit})"));
        format!("note        {size}{hint}\n")
    });
    format!("bounds      {x} x {y} x {z} m\n{note}")
}

fn describe_mass(mass: &MassProperties) -> String {
    let [x, y, z] = mass.center_of_mass;
    let how = if mass.exact { "exact" } else { "from the field" };
    format!("mass        volume {:.6} m3, centre of mass ({x:.4}, {y:.4}, {z:.4}) m, {how}\n", mass.volume)
}

fn shape_json(shape: &Shape) -> Value {
    json!({
        "kind": "asset",
        "bounds": bounds_json(&shape.bounds()),
        "probable_size_m": probable_size(&shape.bounds()).map(|size| size.extent * size.factor),
        "mesh": shape.report.as_ref().map(report_json),
        "field": shape.field.as_deref().and_then(field_json),
        "pointshell": shape.shell.as_deref().map(shell_json),
        "mass": shape.mass.as_ref().map(mass_json),
    })
}

fn bounds_json(bounds: &Aabb) -> Value {
    let [min, max]: [[f64; 3]; 2] = [bounds.min.into(), bounds.max.into()];
    json!({ "min_m": min, "max_m": max })
}

fn report_json(report: &Report) -> Value {
    json!({
        "vertices": report.vertices,
        "triangles": report.triangles,
        "components": report.components,
        "closed": report.closed,
        "consistently_wound": report.consistent,
        "degenerate_triangles": report.degenerate_triangles,
        "duplicate_triangles": report.duplicate_triangles,
        "opposed_triangles": report.opposed_triangles,
        "boundary_edges": report.boundary_edges,
        "non_manifold_edges": report.non_manifold_edges,
        "inconsistent_edges": report.inconsistent_edges,
        "euler_characteristic": report.euler_characteristic,
        "area_m2": report.area,
        "volume_m3": report.volume,
    })
}

fn field_json(field: &Field) -> Option<Value> {
    let known = field.gridded()?;
    let bricks = match field {
        Field::Bricks(bricks) => Some(json!({ "grid": bricks.bricks(), "fine": bricks.fine_bricks() })),
        _ => None,
    };
    Some(json!({
        "storage": match field {
            Field::Bricks(_) => "bricks",
            Field::Exact(_) => "exact",
            _ => "dense",
        },
        "nodes": known.grid.dims,
        "voxel_size_m": known.grid.spacing,
        "bytes": known.bytes,
        "bricks": bricks,
        "error_max_m": known.error.max,
        "error_rms_m": known.error.rms,
        "error_points": known.error.samples,
        "error_bound_m": field.error_bound(),
        "lipschitz": known.lipschitz,
        "sign_rule": known.sign.rule.to_string(),
        "sign_nodes": {
            "crossings": known.sign.decided.crossings,
            "winding_number": known.sign.decided.winding_number,
            "flooding": known.sign.decided.flooding,
        },
        "sign_least_sure": known.sign.least_sure.iter().flatten().map(|d| {
            let at: [f64; 3] = d.position.into();
            json!({ "position_m": at, "winding_number": d.winding_number })
        }).collect::<Vec<_>>(),
        "uncertain_nodes": known.sign.uncertain_nodes,
        "flipped_triangles": known.sign.flipped_triangles,
        "membrane_area_m2": known.sign.membrane_area,
    }))
}

fn shell_json(shell: &PointShell) -> Value {
    json!({
        "samples": shell.len(),
        "covering_radius_m": shell.spacing,
        "levels": levels(shell),
        "branching": shell.tree.branching,
        "bytes": shell.memory_bytes(),
    })
}

fn mass_json(mass: &MassProperties) -> Value {
    json!({
        "volume_m3": mass.volume,
        "center_of_mass_m": mass.center_of_mass,
        "inertia_per_mass_m2": mass.inertia,
        "exact": mass.exact,
    })
}
