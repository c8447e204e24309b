//! Figures of Xu & Barbič 2016: 2 (bisection), 6, 7, 11 and 12 (scenes), 8 (resolution of the field), 13 (false negatives). The
//! scenes are those of `voxshell-lab haptics-demo`, played by the renderers of the figure.

use serde_json::json;
use voxshell::ccd::cell::Cubic;
use voxshell::haptics::Status;
use voxshell::Result;
use voxshell_cli::render::Image;
use voxshell_lab::report::palette::{BLUE, ORANGE};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;

use super::{Context, Outcome};
use crate::bench::random::Random;
use crate::haptics_demo::scenes::{tight_peg, wires_at, SceneName, Stage};
use crate::haptics_demo::session::{play, Recording, RendererName};
use crate::haptics_demo::{film, plot};

pub fn run(context: &Context) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    bisection(context, &mut outcome.rows);
    use RendererName::{ContinuousPenalty, GodObject, GodObjectDiscrete, Penalty};
    let figures: [(&str, SceneName, &[RendererName]); 6] = [
        ("6 a", SceneName::Alpha, &[Penalty, ContinuousPenalty, GodObject]),
        ("6 b", SceneName::HorseDragon, &[Penalty, ContinuousPenalty, GodObject]),
        ("7", SceneName::Peg, &[ContinuousPenalty, GodObject]),
        ("7", SceneName::TightPeg, &[ContinuousPenalty, GodObject]),
        ("11", SceneName::Cylinders, &[GodObject, GodObjectDiscrete]),
        ("6 c, 12", SceneName::Wires, &[Penalty, ContinuousPenalty, GodObject]),
    ];
    for (figure, scene, renderers) in figures {
        let stage = scene.build(&context.assets)?;
        let name = scene.name();
        played(figure, name, &stage, renderers, &mut outcome)?;
    }
    figure_8(context, &mut outcome)?;
    figure_13(context, &mut outcome)?;
    Ok(outcome)
}

/// Figure 2: crossings that the papers' bisection misses or finds too late, in random cells that the segment crosses.
fn bisection(context: &Context, rows: &mut Vec<Row>) {
    let mut random = Random::new(2);
    let cells = if context.quick { 20_000 } else { 1_000_000 };
    let (mut crossed, mut missed, mut late) = (0u32, 0u32, 0u32);
    for _ in 0..cells {
        let corners: [f64; 8] = std::array::from_fn(|_| random.next() - 0.4);
        let mut end = || std::array::from_fn(|_| random.next());
        let cubic = Cubic::along(&corners, &end(), &end());
        let signs = cubic.signs();
        if signs.starts_below {
            continue;
        }
        let Some(first) = signs.first_below() else { continue };
        crossed += 1;
        match cubic.bisection() {
            None => missed += 1,
            // Five halvings leave 1/32.
            Some(s) if s > first + 1.0 / 16.0 => late += 1,
            Some(_) => {}
        }
    }
    rows.push(Row::from(json!({
        "figure": "2", "row": "scenes/figure2/bisection", "crossed_cells": crossed, "missed": missed, "late": late,
        "missed_share": f64::from(missed) / f64::from(crossed), "late_share": f64::from(late) / f64::from(crossed),
    })));
    // The two cases of the figure as cubics: both ends positive; and three roots.
    for (name, b) in [("a, both ends outside", [0.3, -0.6, -0.6, 0.3]), ("b, three crossings", [0.05, -0.9, 1.1, -0.4])]
    {
        let cubic = Cubic { b };
        rows.push(Row::from(json!({
            "figure": "2", "row": format!("scenes/figure2/{name}"), "exact": cubic.signs().first_below(),
            "bisection": cubic.bisection(), "cardano": cubic.cardano(),
        })));
    }
}

/// Plays a scene; rows, plots of depth, force and contacts, and a picture of each renderer.
fn played(figure: &str, name: &str, stage: &Stage, renderers: &[RendererName], outcome: &mut Outcome) -> Result<()> {
    let mut recordings = Vec::new();
    for &renderer in renderers {
        let recording = play(stage, renderer, || {})?;
        rows_of(figure, name, stage, &recording, &mut outcome.rows);
        recordings.push(recording);
    }
    for quantity in plot::QUANTITIES.iter().filter(|q| ["force", "penetration", "contacts"].contains(&q.name)) {
        let plot = quantity.plot(&recordings);
        outcome.plots.push(Plot { title: format!("Figure {figure}, {name}: {}", plot.title), ..plot });
    }
    let images =
        recordings.iter().map(|r| film::still(stage, &r.moments[r.telling()])).collect::<Result<Vec<Image>>>()?;
    let titles: Vec<&str> = renderers.iter().map(|r| r.title()).collect();
    let caption = format!("Figure {figure}, {name}: {}. Yellow: where the hand is.", titles.join(", "));
    outcome.pictures.push((Image::side_by_side(&images).png_bytes(), caption));
    Ok(())
}

fn rows_of(figure: &str, name: &str, stage: &Stage, recording: &Recording, rows: &mut Vec<Row>) {
    let figures = recording.figures();
    let row =
        Row::new(format!("scenes/{name}/{}/deepest", recording.renderer.name()), figures.penetration[1] * 1e3, "mm");
    rows.push(
        row.with("figure", figure)
            .with("passed", figures.passed)
            .with("force_max_n", figures.force[1])
            .with("contacts_max", figures.contacts[1])
            .with("step_p50_us", figures.time[0] * 1e6)
            .with("step_p99_us", figures.time[1] * 1e6)
            .with("locked_share", figures.locked)
            .with("cells", stage.cells())
            .with("samples", stage.samples()),
    );
}

/// Figure 8: the wires, two voxels of 1,024 wide, in fields of 256 and of 1,024 cells. The coarse field has no wires to hold the
/// actuator.
fn figure_8(context: &Context, outcome: &mut Outcome) -> Result<()> {
    for cells in [256, 1024] {
        let stage = wires_at(&context.assets, cells)?;
        for renderer in [RendererName::GodObject, RendererName::GodObjectDiscrete] {
            let recording = play(&stage, renderer, || {})?;
            let figures = recording.figures();
            outcome.rows.push(Row::from(json!({
                "figure": "8", "row": format!("scenes/figure8/{cells}/{}", renderer.name()), "cells": stage.cells(),
                "passed": figures.passed, "paper_passed": cells == 256,
                "deepest_mm": figures.penetration[1] * 1e3, "force_max_n": figures.force[1],
            })));
        }
    }
    Ok(())
}

/// Figure 13: how far the block gets over the peg against the room between them, by constraints and by penalty. A negative room
/// is a peg that is too thick.
fn figure_13(context: &Context, outcome: &mut Outcome) -> Result<()> {
    let rooms: &[f64] = if context.quick { &[-0.1, 0.05] } else { &[-0.1, -0.05, 0.0, 0.02, 0.05, 0.1, 0.2, 0.4] };
    let mut curves = [(RendererName::GodObject, BLUE), (RendererName::ContinuousPenalty, ORANGE)]
        .map(|(renderer, colour)| (renderer, Curve { name: renderer.title().into(), colour, points: Vec::new() }));
    for &room in rooms {
        let stage = tight_peg(&context.assets, room)?;
        for (renderer, curve) in &mut curves {
            let recording = play(&stage, *renderer, || {})?;
            let all = &recording.moments;
            // The middle of the block above the middle of the peg.
            let lowest = all.iter().map(|m| m.tool.translation.vector.y).fold(f64::INFINITY, f64::min);
            let locked = all.iter().filter(|m| m.status.contains(Status::LOCKED)).count() as f64 / all.len() as f64;
            let deepest = all.iter().map(|m| m.penetration).fold(0.0, f64::max);
            curve.points.push((room - rooms[0], lowest * 1e3));
            outcome.rows.push(
                Row::new(format!("scenes/figure13/{room}/{}/lowest", renderer.name()), lowest * 1e3, "mm")
                    .with("room_voxels", room)
                    .with("deepest_mm", deepest * 1e3)
                    .with("locked_share", locked),
            );
        }
    }
    let title = format!("Figure 13: lowest place of the block, mm, over the room in voxels, from {}", rooms[0]);
    let curves = curves.into_iter().map(|c| c.1).collect();
    outcome.plots.push(Plot { x_label: "room above the smallest, voxels", ..Plot::over_seconds(title, curves) });
    Ok(())
}
