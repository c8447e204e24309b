//! `voxshell info`.

use voxshell::asset::Shape;
use voxshell::field::{Decided, Field, SignReport, SignedDistance, UNCERTAIN};
use voxshell::Result;

use crate::source;

#[derive(clap::Args)]
pub struct Arguments {
    /// An asset (.vxs), a mesh file or the name of a built-in shape.
    source: String,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.source.ends_with(".vxs") {
        print_shape(&Shape::load(arguments.source.as_ref())?);
    } else {
        println!("{}", source::mesh(&arguments.source, None)?.report());
    }
    Ok(())
}

pub fn print_shape(shape: &Shape) {
    let bounds = shape.bounds();
    let e = bounds.extents();
    println!("bounds      {:.4} x {:.4} x {:.4} m", e.x, e.y, e.z);
    if let Some(report) = &shape.report {
        println!("{report}");
    }
    if let Some((field, known)) = shape.field.as_deref().and_then(|f| f.gridded().map(|known| (f, known))) {
        let [nx, ny, nz] = known.grid.dims;
        let (voxel, megabytes) = (known.grid.spacing * 1e3, known.bytes as f64 * 1e-6);
        println!("field       {nx} x {ny} x {nz} nodes, voxel {voxel:.3} mm, {megabytes:.1} MB");
        if let Field::Bricks(bricks) = field {
            let [x, y, z] = bricks.bricks();
            println!("            in bricks: {} of {x} x {y} x {z} at the surface", bricks.fine_bricks());
        }
        println!("            Lipschitz {:.4}, largest error {:.4} mm", known.lipschitz, field.error_bound() * 1e3);
        print_sign(known.sign);
    }
    if let Some(shell) = &shape.shell {
        let levels = shell.tree.levels.len().saturating_sub(1);
        println!("pointshell  {} samples, covering radius {:.2} mm, {levels} levels", shell.len(), shell.spacing * 1e3);
    }
    if let Some(mass) = &shape.mass {
        let [x, y, z] = mass.center_of_mass;
        let how = if mass.exact { "exact" } else { "from the field" };
        println!("mass        volume {:.6} m3, centre of mass ({x:.4}, {y:.4}, {z:.4}) m, {how}", mass.volume);
    }
}

/// Which rule decided where, and how surely.
fn print_sign(sign: &SignReport) {
    let Decided { crossings, winding_number, flooding } = sign.decided;
    println!("            sign by {}", sign.rule);
    if crossings + winding_number + flooding > 0 {
        println!(
            "            nodes: {crossings} by crossings, {winding_number} by winding number, {flooding} by flooding"
        );
    }
    if sign.membrane_area > 0.0 {
        println!("            membranes of {:.6} m² across holes", sign.membrane_area);
    }
    if sign.uncertain_nodes > 0 {
        println!("            {} nodes within {UNCERTAIN} of the threshold, least sure at", sign.uncertain_nodes);
        for d in sign.least_sure.iter().flatten() {
            let [x, y, z] = [d.position.x, d.position.y, d.position.z];
            println!("              ({x:.4}, {y:.4}, {z:.4}) m, winding number {:.4}", d.winding_number);
        }
    }
}
