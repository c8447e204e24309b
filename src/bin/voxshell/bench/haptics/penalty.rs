//! Penalty over the times of contact beside penalty at the ends of steps, and tangent planes with braking beside those
//! without: how long steps, how hard contacts may be, and how many get through.

use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::dynamics::stability::{largest_stable, Collisions, Part, PegInHole, Pile};
use voxshell::dynamics::{Contacts, Integrator};
use voxshell::math::Progress;
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::response::PenaltySettings;
use voxshell::voxmap::{Offset, VoxelModel, VoxelOptions, Voxmap};
use voxshell::{Error, Result};

use super::super::row::Row;
use super::Effort;

/// The paper's, whose force acts a step later, and that which acts in the step that it was found for.
const WAYS: [(&str, Contacts); 2] =
    [("continuous", Contacts::Continuous { midpoints: 5 }), ("ahead", Contacts::Ahead { midpoints: 5 })];

fn part(mesh: &TriMesh, cells: u32, samples: usize) -> Result<Part> {
    let shell = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
    let options = CookOptions { resolution: Resolution::Cells(cells), shell, ..CookOptions::default() };
    let Shape { field, shell, mass, .. } = Shape::cook(mesh, &options, &Progress::none())?;
    match (field, shell, mass) {
        (Some(field), Some(shell), Some(solid)) => Ok(Part { field, shell, solid }),
        _ => Err(Error::Unsupported("a body with field, pointshell and mass".into())),
    }
}

pub fn rows(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    pile(effort, rows)?;
    peg(effort, rows)?;
    braking(effort, rows)
}

/// Xu & Barbič 2016, figure 10 (a): 20 bodies of 1 kg, 10 kN/m and 10 N·s/m a sample, for two seconds.
fn pile(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let quick = effort.quick();
    let part = part(&primitives::blob(1)?.scaled_to_extent(1.0), if quick { 32 } else { 64 }, 777)?;
    let penalty = PenaltySettings { drag: 10.0, ..PenaltySettings::new(1e4, 0.0) };
    let (count, time, tolerance) = if quick { (2, 0.3, 3.0) } else { (20, 2.0, 0.1) };
    let pile = Pile { part, count, mass: 1.0, penalty, integrator: Integrator::Symplectic, time };
    let largest = |contacts| largest_stable(5e-4, 0.1, tolerance, |dt| pile.is_stable(contacts, dt));
    let discrete = largest(Contacts::Discrete)?;
    for (name, contacts) in WAYS {
        let found = largest(contacts)?;
        let row = Row::new(format!("haptics/pile/{name}/stable_step"), discrete / found, "ratio").target(1.0 / 3.0);
        rows.push(row.peer("discrete", discrete).with("peer_unit", "s").with("step", found));
    }
    Ok(())
}

/// Xu & Barbič 2016, figure 10 (b): steps of a millisecond, implicit, contacts without damping.
fn peg(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let quick = effort.quick();
    let (samples, tolerance) = if quick { (1000, 20.0) } else { (6691, 0.05) };
    let scene = PegInHole {
        hole: part(&primitives::hole([0.1, 0.1, 0.1], 0.05, 48)?, 64, samples)?,
        peg: part(&primitives::peg(0.049, 0.25, 0.01, 48)?, 64, 1000)?,
        mass: 0.3,
        start: 0.3,
        depth: 0.25,
        aside: 0.005,
        coupling: 2000.0,
        dt: 1e-3,
        time: 1.0,
    };
    let stable = |contacts, k| scene.is_stable(contacts, Integrator::Implicit, PenaltySettings::new(k, 0.0));
    let largest = |contacts| largest_stable(1e3, 1e7, tolerance, |k| stable(contacts, k));
    let discrete = largest(Contacts::Discrete)?;
    for (name, contacts) in WAYS {
        let found = largest(contacts)?;
        let row = Row::new(format!("haptics/peg/{name}/stable_stiffness"), discrete / found, "ratio").target(0.4);
        rows.push(row.peer("discrete", discrete).with("peer_unit", "N/m").with("stiffness", found));
    }
    Ok(())
}

/// McNeely et al. 1999, table 2: steps with samples in the body over those with samples in the force layer.
fn braking(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let mesh = primitives::blob(1)?.scaled_to_extent(0.4);
    let body = part(&mesh, 64, 1000)?;
    let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.005), &Progress::none())?;
    let voxmap = Voxmap::new(&model, Offset::MCNEELY)?;
    let tool = part(&primitives::cuboid([0.03, 0.02, 0.05])?, 40, 800)?;
    let (field, tool) = (&*body.field, &*tool.shell);
    let strokes = if effort.quick() { 20 } else { 200 };
    for speed in [1.0, 2.0] {
        let run = Collisions { voxmap: &voxmap, field, tool, mass: 0.1, stiffness: 2000.0, speed, dt: 1e-3, strokes };
        let (without, with) = (run.run(false)?.ratio(), run.run(true)?.ratio());
        // None at all in either is no worse.
        let ratio = if without > 0.0 { with / without } else { f64::from(u8::from(with > 0.0)) };
        let row = Row::new(format!("haptics/braking/{speed}_mps/penetration_ratio"), ratio, "ratio").target(0.1);
        rows.push(row.peer("not braked", without).with("braked", with));
    }
    Ok(())
}
