//! `voxshell-lab compare`: whether figures of two versions differ by more than the noise of the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{json, Value};
use voxshell::{Error, Result};

use voxshell_lab::rank_sum::{self, MOST};
use voxshell_lab::row::{figure, Row};
use voxshell_lab::table::{Align, Table};

/// Largest probability of a difference by chance that counts as a change. Of a hundred rows without a change, one is
/// expected to look changed.
const CHANCE: f64 = 0.01;

/// Units of times, and of quotients of times. All other figures do not depend on the machine, and are compared exactly.
const TIMES: [&str; 5] = ["ns", "us", "ms", "s", "ratio"];

/// Rows of repeated runs before and after a change. Times differ if their ranks do (Mann & Whitney 1947, exact): with five
/// runs each, all of one version must be faster than all of the other. Figures that are no times, as counts and depths, are
/// compared exactly.
#[derive(clap::Args)]
pub struct Arguments {
    /// JSON rows of the old version: the output of `bench --json` of several runs, one after the other in one file.
    old: PathBuf,
    /// The same of the new version, best of runs that alternate with the old ones.
    new: PathBuf,
    /// Print rows without a change too.
    #[arg(long)]
    all: bool,
    /// Print one JSON object per row.
    #[arg(long)]
    json: bool,
}

/// The figures of a row in all runs.
#[derive(Default)]
struct Figures {
    unit: String,
    values: Vec<f64>,
}

impl Figures {
    fn least(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn spread(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - self.least()
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let mut rows = Vec::new();
    for (name, before) in &old {
        rows.push(match new.get(name) {
            Some(after) => compared(name, before, after)?,
            None => Row::from(json!({ "row": name, "verdict": "gone" })),
        });
    }
    let added = new.keys().filter(|name| !old.contains_key(*name));
    rows.extend(added.map(|name| Row::from(json!({ "row": name, "verdict": "new" }))));
    let shown = rows.iter().filter(|row| arguments.all || !matches!(row.text("verdict"), "same" | "noise"));
    if arguments.json {
        shown.for_each(|row| println!("{row}"));
        return Ok(());
    }
    let head = ["", "old", "spread", "new", "spread", "new / old", "chance", ""];
    let cell = |row: &Row, key: &str| row.number(key).map(figure).unwrap_or_default();
    let line = |row: &Row| {
        let figures = ["old", "old_spread", "new", "new_spread", "new_over_old", "chance"].map(|key| cell(row, key));
        let verdict = row.text("verdict").to_owned();
        [vec![row.text("row").to_owned()], figures.to_vec(), vec![verdict]].concat()
    };
    print!("{}", Table::new(head).with(shown.map(line)).text(Align::Left));
    let of = |verdict: &str| rows.iter().filter(|row| row.text("verdict") == verdict).count();
    let verdicts = ["faster", "slower", "changed", "same", "noise", "few runs", "new", "gone"];
    let counts: Vec<String> = verdicts.map(|verdict| format!("{} {verdict}", of(verdict))).into();
    println!("{}", counts.join(", "));
    Ok(())
}

/// Compares the figures of a row in both versions.
fn compared(name: &str, old: &Figures, new: &Figures) -> Result<Row> {
    if old.unit != new.unit {
        let expected = format!("{}, as in the old version", old.unit);
        return Err(Error::InvalidArgument { argument: format!("unit of {name}"), value: new.unit.clone(), expected });
    }
    let mut chance = None;
    let verdict = if TIMES.contains(&old.unit.as_str()) {
        let by_chance = rank_sum::two_sided(&old.values, &new.values);
        chance = Some(by_chance);
        match by_chance {
            _ if rank_sum::least(old.values.len(), new.values.len()) > CHANCE => "few runs",
            p if p > CHANCE => "noise",
            _ if rank_sum::median(&new.values) < rank_sum::median(&old.values) => "faster",
            _ => "slower",
        }
    } else {
        let mut values = old.values.iter().chain(&new.values).map(|value| value.to_bits());
        let first = values.next();
        if values.all(|value| Some(value) == first) {
            "same"
        } else {
            "changed"
        }
    };
    let (before, after) = (old.least(), new.least());
    Ok(Row::from(json!({
        "row": name, "unit": old.unit, "old": before, "old_spread": old.spread(), "old_runs": old.values.len(),
        "new": after, "new_spread": new.spread(), "new_runs": new.values.len(),
        "new_over_old": (before != 0.0).then(|| after / before), "chance": chance, "verdict": verdict,
    })))
}

/// Reads rows by their name and mesh. Lines without a figure are left out.
fn read(path: &Path) -> Result<BTreeMap<String, Figures>> {
    let text = fs::read_to_string(path).map_err(|source| Error::Io { path: path.into(), source })?;
    let mut rows: BTreeMap<String, Figures> = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let invalid = |reason: String| Error::InvalidFile {
            path: path.into(),
            reason: format!("line {}: {reason}; expected a JSON object of `bench --json`", number + 1),
        };
        let row: Value = serde_json::from_str(line).map_err(|error| invalid(error.to_string()))?;
        let name = row["row"].as_str().ok_or_else(|| invalid("no text \"row\"".into()))?;
        let Some(measured) = row["measured"].as_f64() else { continue };
        let mesh = row["mesh"].as_str().map(|mesh| format!(" of {mesh}")).unwrap_or_default();
        let figures = rows.entry(format!("{name}{mesh}")).or_default();
        figures.unit = row["unit"].as_str().unwrap_or_default().to_owned();
        figures.values.push(measured);
        if figures.values.len() > MOST {
            return Err(invalid(format!("row {name} is there more than {MOST} times")));
        }
    }
    if rows.is_empty() {
        let reason = "no row with a figure \"measured\"; expected rows of `bench --json`".into();
        return Err(Error::InvalidFile { path: path.into(), reason });
    }
    Ok(rows)
}
