//! The sections of the evaluation on the plugin's own settings: segmentation by level, and the number of samples.

use voxshell_report::report::palette::{Colour, BLUE, GREEN, GREY, ORANGE, RED, VIOLET, YELLOW};
use voxshell_report::report::{Curve, Plot};
use voxshell_report::table::Table;

use super::paper;
use super::sections::{below_plane, micro, name, Section};
use crate::bridge::Method;
use crate::catalogue::{segmentations, Case};
use crate::run::Outcome;
use crate::scaling::slope;

/// Colours of the segmentations, in their order.
const COLOURS: [Colour; 7] = [RED, ORANGE, YELLOW, GREEN, BLUE, VIOLET, GREY];

fn title(case: &Case) -> String {
    match case.level {
        Some(level) => format!("L = {level}"),
        None if case.by_region => "by region".into(),
        None => "widest spread".into(),
    }
}

pub fn levels(outcomes: Vec<Outcome>) -> Section {
    let note = "Ten bodies, each turned another way, are dropped from half a metre onto a plane; microseconds per body and step, \
                mean over steps 200 to 600. L is the level of the tree of four children per node whose segments have a contact each; \
                beside the paper's: four contacts for each contact region, and the plugin's own choice, up to sixteen that spread \
                widest. \"Depth\" is in these steps, \"at impact\" in the whole run.";
    let mut section = Section::new("levels", "Table 2: segment levels", note, &outcomes);
    let mut table = Table::new([
        "segments",
        "samples",
        "paper µs",
        "ours: mean µs",
        "p99",
        "contacts",
        "manifolds",
        "depth mm",
        "at impact mm",
    ]);
    for o in &outcomes {
        let Ok(f) = &o.row.outcome else { continue };
        let bodies = f.bodies as f64;
        let theirs =
            o.row.case.level.map(|l| paper::TABLE_2[usize::from(o.row.method == Method::VoxshellFine)][l as usize - 1]);
        table.push(vec![
            title(&o.row.case),
            f.samples.first().map_or("–".into(), |n| n.to_string()),
            theirs.map_or("–".into(), |us| format!("{us:.1}")),
            format!("{:.2}", f.np_mean / bodies),
            format!("{:.2}", f.np_p99 / bodies),
            format!("{:.1}", f.contacts_mean / bodies),
            format!("{:.1}", f.manifolds_mean / bodies),
            format!("{:.2}", f.max_penetration),
            format!("{:.2}", f.max_penetration_run),
        ]);
    }
    section.push_table(table);
    section
}

pub fn rates(outcomes: Vec<Outcome>, rates: &[f64]) -> Section {
    let note = format!(
        "The drop on the plane in true steps of 1/rate with each segmentation: largest penetration of the whole run, mm. \"Through\" as \
         above. No motion clamp: contacts are looked for as far as a step's motion goes. ({})",
        paper::LOWEST_RATES
    );
    let mut section = Section::new("level-rates", "Low-frequency drops, by segment level", &note, &outcomes);
    let mut head = vec!["method".to_string(), "segments".to_string()];
    head.extend(rates.iter().map(|r| format!("{r} Hz")));
    let mut table = Table::new(head);
    let methods: Vec<Method> = crate::catalogue::METHODS.iter().map(|e| e.method).filter(|m| m.is_voxshell()).collect();
    for method in methods {
        let mut curves = Vec::new();
        for (case, colour) in segmentations().iter().zip(COLOURS) {
            let same = |o: &&Outcome| o.row.method == method && o.row.case.segments() == case.segments();
            let of_case: Vec<&Outcome> = outcomes.iter().filter(same).collect();
            if of_case.is_empty() {
                continue;
            }
            let cells = of_case.iter().map(|o| below_plane(o)).collect();
            table.push([vec![method.entry().name.to_string(), title(case)], cells].concat());
            let point =
                |o: &&Outcome| Some((o.row.case.rate?, o.row.outcome.as_ref().ok()?.max_penetration_run.min(1000.0)));
            curves.push(Curve { name: title(case), colour, points: of_case.iter().filter_map(point).collect() });
        }
        if !curves.is_empty() {
            let title = format!("{}: largest penetration, mm, by stepping rate", method.entry().title);
            let plot = Plot::of_powers(&title, "Hz", 1e-2, curves);
            section.push_plot(format!("level-rates-{}", method.entry().name), plot);
        }
    }
    section.push_table(table);
    section
}

/// Largest growth of the time with the number of samples: slope in a log-log plot.
const SLOPE: f64 = 0.25;

pub fn scaling(outcomes: Vec<Outcome>) -> Section {
    let point = |o: &Outcome| {
        let f = o.row.outcome.as_ref().ok()?;
        Some((*f.samples.first()? as f64, f.np_median))
    };
    let points: Vec<(f64, f64)> = outcomes.iter().filter_map(point).collect();
    let found = slope(&points);
    let note = format!(
        "The body against a copy of itself, both ways, in a hundred poses in turn in which a dozen samples are within reach, each far \
         from the one before: microseconds per step, steps 200 to 600. Slope of the median over the number of samples in a log-log \
         plot: {found:.3}; target: under {SLOPE}."
    );
    let mut section = Section::new("scaling", "Scaling: time by number of samples", &note, &outcomes);
    section.put("scaling/slope", found, SLOPE, "log µs / log samples");
    let mut table = Table::new(["method", "samples", "contacts", "median µs", "mean µs", "p99"]);
    for o in &outcomes {
        let Ok(f) = &o.row.outcome else { continue };
        table.push(vec![
            name(&o.row, f),
            f.samples.first().map_or("–".into(), |n| n.to_string()),
            format!("{:.1}", f.contacts_mean),
            micro(f.np_median),
            micro(f.np_mean),
            micro(f.np_p99),
        ]);
    }
    section.push_table(table);
    let line = |colour, name: &str, points: Vec<(f64, f64)>| Curve { name: name.into(), colour, points };
    let limit = |first: &(f64, f64)| points.iter().map(|p| (p.0, first.1 * (p.0 / first.0).powf(SLOPE))).collect();
    let mut curves = vec![line(BLUE, "median", points.clone())];
    curves.extend(points.first().map(|first| line(GREY, "a slope of 0.25", limit(first))));
    let plot = Plot::of_powers("Narrowphase, µs per step, by number of samples", "samples", 1.0, curves);
    section.push_plot("scaling".into(), plot);
    section
}
