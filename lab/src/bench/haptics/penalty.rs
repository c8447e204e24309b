//! Penalty over the contact intervals compared with penalty at the ends of steps, and tangent planes with and without
//! braking: largest stable steps and stiffnesses, and penetration.

use std::sync::Arc;

use voxshell::haptics::{Forms, Renderer, Settings, Tool};
use voxshell::math::Progress;
use voxshell::mesh::primitives;
use voxshell::voxmap::{Offset, VoxelModel, VoxelOptions, Voxmap};
use voxshell::Result;
use voxshell_lab::stability::Collisions;

use super::Effort;
use crate::haptics_demo::asset_cache::AssetCache;
use crate::haptics_demo::session::{LIMITS, STEP};
use crate::haptics_demo::stability;
use voxshell_lab::row::Row;

pub fn rows(assets: &AssetCache, effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    figure(assets, effort.quick(), rows)?;
    braking(effort, rows)
}

/// Xu & Barbič 2016, figure 10.
fn figure(assets: &AssetCache, quick: bool, rows: &mut Vec<Row>) -> Result<()> {
    let [steps, stiffnesses] = [
        stability::largest_steps(&stability::pile(assets)?, quick, || {})?,
        stability::largest_stiffnesses(&stability::peg(assets)?, quick, || {})?,
    ];
    let kinds = [("pile", "step", "s", steps, 1.0 / 3.0), ("peg", "stiffness", "N/m", stiffnesses, 0.4)];
    for (scene, what, unit, [discrete, continuous, ahead], target) in kinds {
        for (method, found) in stability::METHODS[1..].iter().zip([continuous, ahead]) {
            let name = format!("haptics/{scene}/{}/stable_{what}", method.name);
            let row = Row::new(name, discrete / found, "ratio").target(target);
            rows.push(row.peer("discrete", discrete).with("peer_unit", unit).with(what, found));
        }
    }
    Ok(())
}

/// McNeely et al. 1999, table 2: ratio of the steps with samples in the body to those with samples in the force layer.
fn braking(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let mesh = primitives::blob(1)?.scaled_to_extent(0.4);
    let body = stability::part(&mesh, 64, 1000)?;
    let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(0.005), &Progress::none())?;
    let voxmap = Voxmap::new(&model, Offset::MCNEELY)?;
    let body = Forms { field: Some(body.field), voxmap: Some(Arc::new(voxmap)), ..Forms::default() };
    let tool = stability::part(&primitives::cuboid([0.03, 0.02, 0.05])?, 40, 800)?;
    let tool = Tool::of_mass(Forms { shell: Some(tool.shell), ..Forms::default() }, &tool.solid, 0.3)?;
    let strokes = if effort.quick() { 20 } else { 200 };
    for speed in [1.0, 2.0] {
        let run = |braking: bool| {
            let mut settings = Settings::for_tool(Renderer::Vps, &tool, &LIMITS)?;
            settings.contact.braking = braking;
            Collisions { settings, tool: &tool, body: &body, speed, dt: STEP, strokes }.run()
        };
        let [without, with] = [run(false)?, run(true)?].map(|seen| seen.ratio());
        // Zero in both counts as equal.
        let ratio = if without > 0.0 { with / without } else { f64::from(u8::from(with > 0.0)) };
        let row = Row::new(format!("haptics/braking/{speed}_mps/penetration_ratio"), ratio, "ratio").target(0.1);
        rows.push(row.peer("not braked", without).with("braked", with));
    }
    Ok(())
}
