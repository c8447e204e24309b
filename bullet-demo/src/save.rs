//! Files of `--save`: the rows of a scene, and its tables as text. Scenes of trials get one table for each figure, with
//! a line for each trial and a column for each method.

use std::fs;
use std::path::Path;

use voxshell_cli::file;
use voxshell_report::table::Table;

use crate::bridge::{Method, SceneKind};
use crate::catalogue::{Case, METHODS};
use crate::figures::{Figures, SceneRow};
use crate::run::Outcome;
use crate::table::{self, ending, energy, microseconds};

/// Writes SCENE.jsonl and SCENE.txt into `folder`.
pub fn write(folder: &Path, scene: SceneKind, outcomes: &[Outcome]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let rows: Vec<&SceneRow> = outcomes.iter().map(|o| &o.row).collect();
    let put = |extension: &str, content: String| {
        let path = folder.join(format!("{}.{extension}", scene.entry().name));
        file::write(&path, content.as_bytes()).map_err(|e| e.to_string())
    };
    put("jsonl", rows.iter().map(|row| format!("{}\n", row.json())).collect())?;
    put("txt", if scene.has_trials() { text(&rows) } else { table::table(&rows) })
}

/// Title of a table, and the text of a cell; `None` where a row has no such figure.
type Figure = (&'static str, fn(&Figures) -> Option<String>);

const FIGURES: [Figure; 5] = [
    ("Narrowphase, µs per step: mean / p99", |f| Some(time(f))),
    ("Largest penetration between the true meshes within the window, mm", |f| {
        Some(format!("{:.3}", f.max_penetration))
    }),
    ("Energy gained, J", |f| f.conduct?.energy_gained.map(energy)),
    ("Ending", |f| Some(ending(&f.conduct?)).filter(|e| !e.is_empty())),
    ("Drift, mm", |f| f.conduct?.drift.map(|d| format!("{d:.2}"))),
];

fn time(f: &Figures) -> String {
    let note = if f.steps < f.steps_wanted { format!(" ({} steps)", f.steps) } else { String::new() };
    format!("{} / {}{note}", microseconds(f.np_mean), microseconds(f.np_p99))
}

/// Returns the tables of a scene of trials, and the reasons for missing rows.
fn text(rows: &[&SceneRow]) -> String {
    let mut text = String::new();
    for (title, cell) in FIGURES {
        if let Some(table) = pivot(rows, cell) {
            text += &format!("{title}\n\n{}\n", table.markdown());
        }
    }
    for row in rows {
        if let Err(reason) = &row.outcome {
            text += &format!("{}{} skipped: {reason}\n", row.method.entry().name, row.case.label());
        }
    }
    text
}

/// Returns the name of a line. Methods with different cells share it.
fn line_of(case: &Case) -> String {
    Case { cells: None, ..*case }.label().trim_start().to_string()
}

/// Returns the table of one figure, without lines that have none; `None` if no row has it.
fn pivot(rows: &[&SceneRow], cell: fn(&Figures) -> Option<String>) -> Option<Table> {
    let has = |m: Method| rows.iter().any(|r| r.method == m);
    let methods: Vec<Method> = METHODS.iter().map(|e| e.method).filter(|&m| has(m)).collect();
    let mut lines: Vec<String> = rows.iter().map(|r| line_of(&r.case)).collect();
    let mut seen = std::collections::HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let mut table = Table::new(std::iter::once("case").chain(methods.iter().map(|m| m.entry().name)));
    let mut any = false;
    for line in lines {
        let cell_of = |&m: &Method| {
            let row = rows.iter().find(|r| r.method == m && line_of(&r.case) == line);
            row.and_then(|r| r.outcome.as_ref().ok()).and_then(cell)
        };
        let cells: Vec<Option<String>> = methods.iter().map(cell_of).collect();
        if cells.iter().any(Option::is_some) {
            any = true;
            let cells = cells.into_iter().map(|c| c.unwrap_or_else(|| "–".into()));
            table.push(std::iter::once(line).chain(cells));
        }
    }
    any.then_some(table)
}
