//! Rows of figures: as JSON, one object per line, and as a table in a terminal.

use std::fmt;

use serde_json::{json, Map, Value};

use crate::clock::Timing;
use crate::table::{Align, Table};

/// One figure, its target and the figure of a peer. Lower is better.
pub struct Row(Map<String, Value>);

impl Row {
    pub fn new(name: impl Into<String>, measured: f64, unit: &str) -> Self {
        let name: String = name.into();
        Self::from(json!({ "row": name, "measured": measured, "target": null, "unit": unit }))
    }

    /// Returns the time of the fastest round, seconds; `spread` is the slowest over the fastest.
    pub fn timed(name: impl Into<String>, timing: Timing) -> Self {
        Self::new(name, timing.least, "s").with("spread", timing.spread())
    }

    /// Returns our time divided by the peer's, both in seconds.
    pub fn ratio(name: impl Into<String>, ours: f64, peer: &str, theirs: f64) -> Self {
        Self::new(name, ours / theirs, "ratio").peer(peer, theirs).with("peer_unit", "s")
    }

    /// Returns our fastest round over the peer's.
    pub fn timed_ratio(name: impl Into<String>, ours: Timing, peer: &str, theirs: Timing) -> Self {
        let row = Self::ratio(name, ours.least, peer, theirs.least);
        row.with("spread", ours.spread()).with("peer_spread", theirs.spread())
    }

    pub fn target(self, target: impl Into<Option<f64>>) -> Self {
        let target: Option<f64> = target.into();
        self.with("target", target)
    }

    /// Adds a peer's figure, in the row's own unit unless `peer_unit` says otherwise.
    pub fn peer(self, name: &str, measured: f64) -> Self {
        self.with("peer", name).with("peer_measured", measured)
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.put(key, value);
        self
    }

    /// Returns a member that is a number.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    /// Returns a member that is text, or nothing.
    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.into(), value.into());
    }
}

impl From<Value> for Row {
    /// Any JSON object is a row; only those with a figure called `measured` become lines of the table.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            other => Self(Map::from_iter([("measured".into(), other)])),
        }
    }
}

impl fmt::Display for Row {
    /// Writes the row as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match serde_json::to_string(&self.0) {
            Ok(text) => f.write_str(&text),
            Err(_) => Err(fmt::Error),
        }
    }
}

/// Prints a table of all rows with a figure; the other rows come before it.
pub fn print(rows: &[Row]) {
    let mut lines = Vec::new();
    for Row(row) in rows {
        match line(row) {
            Some(line) => lines.push(line),
            None => {
                let members: Vec<String> = row.iter().map(|(k, v)| format!("{k} {v}")).collect();
                println!("{}", members.join("  "));
            }
        }
    }
    if !lines.is_empty() {
        print!("{}", Table::new(["", "measured", "target", "", "peer"]).with(lines).text(Align::Left));
    }
}

fn line(row: &Map<String, Value>) -> Option<[String; 5]> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let (measured, unit) = (number("measured")?, text("unit"));
    let target = number("target");
    let verdict = target.map_or("", |t| if measured <= t { "reached" } else { "missed" });
    let peer = number("peer_measured").map(|p| {
        let unit = if row.contains_key("peer_unit") { text("peer_unit") } else { unit };
        format!("{} {unit}, {}", figure(p), text("peer"))
    });
    Some([
        text("row").into(),
        format!("{} {unit}", figure(measured)),
        target.map(figure).unwrap_or_default(),
        verdict.into(),
        peer.unwrap_or_default(),
    ])
}

/// Formats with three significant digits.
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || !value.is_finite() {
        format!("{value}")
    } else if !(1e-4..1e7).contains(&magnitude) {
        format!("{value:.2e}")
    } else {
        let decimals = (2 - magnitude.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    }
}
