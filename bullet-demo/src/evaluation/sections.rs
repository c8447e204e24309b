//! The sections of the evaluation: a table and plots each.

use voxshell_report::report::page::{self, escape};
use voxshell_report::report::{Curve, Plot};
use voxshell_report::row::Row;
use voxshell_report::table::Table;

use super::paper;
use super::tagged;
use crate::bridge::{Method, SceneKind};
use crate::catalogue::RESTITUTIONS;
use crate::figures::{Figures, SceneRow};
use crate::run::{Outcome, Run};

pub struct Section {
    name: &'static str,
    title: String,
    note: String,
    tables: Vec<Table>,
    /// File name and plot of each picture.
    plots: Vec<(String, Plot)>,
    rows: Vec<Row>,
}

impl Section {
    pub fn new(name: &'static str, title: &str, note: &str, outcomes: &[Outcome]) -> Self {
        let rows = outcomes.iter().map(|o| tagged(name, o)).collect();
        Self { name, title: title.into(), note: note.into(), tables: Vec::new(), plots: Vec::new(), rows }
    }

    pub fn push_table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub fn push_plot(&mut self, name: String, plot: Plot) {
        self.plots.push((name, plot));
    }

    /// Adds a figure of the whole section, in a row of its own.
    pub fn put(&mut self, row: &str, measured: f64, target: f64, unit: &str) {
        self.rows.push(Row::new(row, measured, unit).target(target).with("experiment", self.name));
    }

    pub fn text(&self) -> String {
        let tables: String = self.tables.iter().map(|t| t.markdown() + "\n").collect();
        format!("## {}\n\n{}\n\n{tables}", self.title, self.note)
    }

    pub fn html(&self) -> voxshell::Result<String> {
        let tables: String = self.tables.iter().map(Table::html).collect();
        let curves = self.plots.iter().take(1).flat_map(|p| &p.1.curves);
        let plots = match self.plots.is_empty() {
            true => String::new(),
            false => page::legend(curves) + &page::plots(self.plots.iter().map(|p| &p.1))?,
        };
        Ok(format!(
            "<section id=\"{}\"><h2>{}</h2><p>{}</p>\n{tables}{plots}</section>\n",
            self.name,
            escape(&self.title),
            escape(&self.note)
        ))
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the plots with the names of their files.
    pub fn plots(&self) -> &[(String, Plot)] {
        &self.plots
    }
}

fn find(outcomes: &[Outcome], with: impl Fn(&SceneRow) -> bool) -> Option<&Figures> {
    outcomes.iter().find(|o| with(&o.row)).and_then(|o| o.row.outcome.as_ref().ok())
}

fn or_dash(x: Option<f64>, digits: usize) -> String {
    x.map_or("–".into(), |x| format!("{x:.digits$}"))
}

fn joules(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else {
        format!("{x:.0e}")
    }
}

/// Formats microseconds with their significant digits.
pub fn micro(x: f64) -> String {
    match x {
        x if x < 100.0 => format!("{x:.1}"),
        x => format!("{x:.0}"),
    }
}

fn plot<'a>(
    title: &str,
    log_from: Option<f64>,
    outcomes: impl Iterator<Item = &'a Outcome>,
    line: impl Fn(&Run) -> Vec<(f64, f64)>,
) -> Plot {
    let curves = outcomes.filter_map(|o| {
        let entry = o.row.method.entry();
        Some(Curve { name: entry.title.into(), colour: entry.colour, points: line(o.run.as_ref()?) })
    });
    Plot { log_from, ..Plot::over_seconds(title, curves.collect()) }
}

pub fn ball(outcomes: Vec<Outcome>) -> Section {
    let note =
        "A ball of 0.5 m radius and 1 kg falls from a gap of 1 m, 200 Hz. Largest penetration, mm; first rebound \
                over the ideal e². The paper's Bullet gives 42.5 mm in each row, which a true step of 1/200 s does not \
                reproduce.";
    let mut section = Section::new("ball", "Table 1 and Fig 6: bouncing ball", note, &outcomes);
    let methods = [Method::Sphere, Method::VoxshellCoarse, Method::VoxshellFine];
    let names = ["Bullet", "275 samples", "25,880 samples"];
    let mut head = vec!["e".to_string()];
    for name in names {
        head.extend([format!("{name}: paper mm"), "ours mm".to_string(), "rebound / e²".to_string()]);
    }
    let mut table = Table::new(head);
    for (e, theirs) in paper::TABLE_1 {
        let mut line = vec![e.to_string()];
        for (method, theirs) in methods.into_iter().zip(theirs) {
            let figures = find(&outcomes, |r| r.method == method && r.case.restitution == Some(e));
            line.push(format!("{theirs:.1}"));
            line.push(or_dash(figures.map(|f| f.max_penetration_run), 2));
            line.push(or_dash(figures.and_then(|f| f.rebound).map(|r| 1.0 + r.error / 100.0), 3));
        }
        table.push(line);
    }
    section.tables.push(table);
    for e in RESTITUTIONS {
        let with = outcomes.iter().filter(|o| o.row.case.restitution == Some(e));
        let height = |run: &Run| run.gaps.iter().map(|g| (g.0 as f64 * run.recording.dt, 0.5 + g.1.max(0.0))).collect();
        let mut plot = plot(&format!("Height of the centre, m, e = {e}"), None, with, height);
        plot.mark = Some((0.5 + e * e, "ideal first rebound".into()));
        section.plots.push((format!("fig6-e{e}"), plot));
    }
    section
}

pub fn stacking(outcomes: Vec<Outcome>) -> Section {
    let note =
        "Five balls of 1 m on top of each other; five gears face on face and five cups over each other's domes. \
                Nothing sleeps. A body that is more than 50 mm below its place has fallen.";
    let mut section = Section::new("stacking", "Stacking", &format!("{note} ({})", paper::STACKING), &outcomes);
    let head = [
        "scene",
        "method",
        "standing",
        "first falls after s",
        "height m",
        "built m",
        "drift mm",
        "energy J",
        "µs per step",
    ];
    let mut table = Table::new(head);
    for o in &outcomes {
        let Ok(f) = &o.row.outcome else { continue };
        let Some(t) = f.towers else { continue };
        let stands = if t.standing == t.bodies { "never".into() } else { format!("{:.2}", t.stands) };
        table.push(vec![
            o.row.scene.entry().name.into(),
            name(&o.row, f),
            format!("{} of {}", t.standing, t.bodies),
            stands,
            format!("{:.3}", t.height),
            format!("{:.3}", t.built_height),
            format!("{:.2}", t.drift),
            joules(f.kinetic_energy_late),
            micro(f.np_mean),
        ]);
    }
    section.tables.push(table);
    section
}

pub fn name(row: &SceneRow, f: &Figures) -> String {
    let name = format!("{}{}", row.method.entry().name, row.case.label());
    if f.steps < f.steps_wanted {
        format!("{name} (stopped at step {} of {})", f.steps, f.steps_wanted)
    } else {
        name
    }
}

pub fn drop(outcomes: Vec<Outcome>) -> Section {
    let note =
        "The body is dropped from half a metre onto a plane. The paper's decomposition is HACD into 8 hulls of 100 \
                vertices, its GJK hull has 42 vertices; its times are on its own machine, so the ratios to the fine \
                pointshell say more.";
    let mut section = Section::new("drop", "Figs 8 and 10: bunny drop", note, &outcomes);
    let fine = find(&outcomes, |r| r.method == Method::VoxshellFine).map(|f| f.np_mean);
    let paper_fine = paper::drop_us(Method::VoxshellFine);
    let head = [
        "method",
        "paper µs",
        "ours: mean µs",
        "median",
        "p99",
        "paper / fine",
        "ours / fine",
        "depth mm",
        "at impact mm",
        "energy J",
    ];
    let mut table = Table::new(head);
    for o in &outcomes {
        let theirs = paper::drop_us(o.row.method);
        match &o.row.outcome {
            Ok(f) => table.push(vec![
                name(&o.row, f),
                theirs.map_or("–".into(), micro),
                micro(f.np_mean),
                micro(f.np_median),
                micro(f.np_p99),
                or_dash(theirs.zip(paper_fine).map(|(a, b)| a / b), 3),
                or_dash(fine.map(|b| f.np_mean / b), 3),
                format!("{:.2}", f.max_penetration),
                format!("{:.2}", f.max_penetration_run),
                joules(f.kinetic_energy),
            ]),
            Err(reason) => {
                let mut line =
                    vec![format!("{}: {reason}", o.row.method.entry().name), theirs.map_or("–".into(), micro)];
                line.resize(head.len(), "–".into());
                table.push(line);
            }
        }
    }
    section.tables.push(table);
    let step = |i: usize, run: &Run| (i + 1) as f64 * run.recording.dt;
    let time = |run: &Run| {
        run.recording.steps.iter().enumerate().map(|(i, s)| (step(i, run), s.narrowphase_ns * 1e-3)).collect()
    };
    let energy =
        |run: &Run| run.recording.steps.iter().enumerate().map(|(i, s)| (step(i, run), s.kinetic_energy)).collect();
    let all = || outcomes.iter();
    section.plots.push(("fig8-time".into(), plot("Fig 8: narrowphase, µs per step", Some(0.1), all(), time)));
    section.plots.push(("fig8-velocity".into(), plot("Fig 8: linear velocity, m/s", Some(1e-6), all(), velocity)));
    section.plots.push(("fig10-energy".into(), plot("Fig 10: kinetic energy, J", Some(1e-10), all(), energy)));
    section
}

/// Returns the velocity of the first body over time, from its positions.
fn velocity(run: &Run) -> Vec<(f64, f64)> {
    let all: Vec<_> = run.recording.poses().collect();
    let speed = |w: &[(usize, &[crate::bridge::BodyPose])]| {
        let (a, b) = (w[0].1[0].position, w[1].1[0].position);
        let way = (0..3).map(|i| (b[i] - a[i]).powi(2)).sum::<f64>().sqrt();
        let seconds = (w[1].0 - w[0].0) as f64 * run.recording.dt;
        (w[1].0 as f64 * run.recording.dt, way / seconds)
    };
    all.windows(2).map(speed).collect()
}

/// Returns the target for the fine pointshell, µs: mean and p99.
fn target(scene: SceneKind, method: Method) -> Option<(f64, f64)> {
    match (scene, method) {
        (SceneKind::DropPlane, Method::VoxshellFine) => Some((2.0, 6.0)),
        (SceneKind::DropBox, Method::VoxshellFine) => Some((4.0, 12.0)),
        (SceneKind::Pair, Method::VoxshellFine) => Some((12.0, 40.0)),
        (SceneKind::Pair, Method::VoxshellCoarse) => Some((4.0, 12.0)),
        _ => None,
    }
}

pub fn touching(drops: &[Outcome], outcomes: Vec<Outcome>, moving: Vec<Outcome>) -> Section {
    let note = "Steps 200 to 600, at rest. Targets are means and p99 for the fine pointshell (and the coarse one in the pair); \
                true penetration at most 0.5 mm, energy under 1e-7 J.";
    let title = "Resting on a plane, on a box, on a copy; and moving all the time";
    let mut section = Section::new("touching", title, note, &outcomes);
    section.rows.extend(moving.iter().map(|o| tagged("touching", o)));
    let head =
        ["scene", "method", "mean µs", "p99 µs", "target mean / p99", "depth mm", "energy J", "largest late energy J"];
    let mut table = Table::new(head);
    for o in drops.iter().chain(&outcomes) {
        let Ok(f) = &o.row.outcome else { continue };
        table.push(vec![
            o.row.scene.entry().name.into(),
            name(&o.row, f),
            micro(f.np_mean),
            micro(f.np_p99),
            target(o.row.scene, o.row.method).map_or("–".into(), |t| format!("{} / {}", t.0, t.1)),
            format!("{:.3}", f.max_penetration),
            joules(f.kinetic_energy),
            joules(f.kinetic_energy_late),
        ]);
    }
    section.tables.push(table);
    let mut table = Table::new([
        "rolling",
        "moving: mean µs",
        "p99 µs",
        "at rest: mean µs",
        "moving / at rest",
        "target",
        "depth mm",
    ]);
    for o in &moving {
        let Ok(f) = &o.row.outcome else { continue };
        let rest = f.np_at_rest.unwrap_or(f64::NAN);
        table.push(vec![
            name(&o.row, f),
            micro(f.np_mean),
            micro(f.np_p99),
            micro(rest),
            format!("{:.2}", f.np_mean / rest),
            "3".into(),
            format!("{:.3}", f.max_penetration),
        ]);
    }
    section.tables.push(table);
    section
}

/// Depth beyond which a body counts as having passed through the plane, metres.
const THROUGH: f64 = 0.25;

/// Formats the largest penetration of a drop on a plane, mm, or says that the body passed through.
pub fn below_plane(outcome: &Outcome) -> String {
    match (&outcome.row.outcome, &outcome.run) {
        (Ok(_), Some(run)) if run.gaps.last().is_some_and(|g| g.1 < -THROUGH) => "through".into(),
        (Ok(f), _) => format!("{:.1}", f.max_penetration_run),
        _ => "–".into(),
    }
}

pub fn rates(outcomes: Vec<Outcome>, rates: &[f64]) -> Section {
    let note = format!(
        "The drop on the plane in true steps of 1/rate: largest penetration of the whole run, mm. \"Through\" means that the body \
         ended more than {THROUGH} m below the plane. ({})",
        paper::LOWEST_RATES
    );
    let mut section = Section::new("rates", "Low-frequency drops", &note, &outcomes);
    let mut head = vec!["method".to_string()];
    head.extend(rates.iter().map(|r| format!("{r} Hz")));
    let mut table = Table::new(head);
    let mut curves = Vec::new();
    for entry in &crate::catalogue::METHODS {
        let of_method: Vec<&Outcome> = outcomes.iter().filter(|o| o.row.method == entry.method).collect();
        if of_method.is_empty() {
            continue;
        }
        let cells = of_method.iter().map(|o| below_plane(o)).collect();
        table.push([vec![entry.name.to_string()], cells].concat());
        let point = |o: &&Outcome| {
            let f = o.row.outcome.as_ref().ok()?;
            Some((o.row.case.rate?, f.max_penetration_run.min(1000.0)))
        };
        let points = of_method.iter().filter_map(point).collect();
        curves.push(Curve { name: entry.title.into(), colour: entry.colour, points });
    }
    section.tables.push(table);
    let plot = Plot::of_powers("Largest penetration, mm, by stepping rate", "Hz", 1e-2, curves);
    section.plots.push(("rates".into(), plot));
    section
}

pub fn piles(outcomes: Vec<Outcome>) -> Section {
    let note = "Knots, gears and bowls poured into a bowl; figures over the last quarter of the run. A row is stopped when its time \
                is up, and says so.";
    let mut section = Section::new("piles", "Piles of many bodies", note, &outcomes);
    let head = ["scene", "method", "pairs", "µs per pair", "narrowphase ms", "step ms", "contacts", "lost", "depth mm"];
    let mut table = Table::new(head);
    for o in &outcomes {
        let Ok(f) = &o.row.outcome else { continue };
        table.push(vec![
            o.row.scene.entry().name.into(),
            name(&o.row, f),
            format!("{:.0}", f.pairs_mean),
            format!("{:.2}", f.np_per_pair()),
            format!("{:.2}", f.np_mean * 1e-3),
            format!("{:.2}", f.step_mean),
            format!("{:.0}", f.contacts_mean),
            f.pile.map_or("–".into(), |p| p.lost.to_string()),
            format!("{:.1}", f.max_penetration),
        ]);
    }
    section.tables.push(table);
    section
}
