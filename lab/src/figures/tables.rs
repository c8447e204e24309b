//! The tables of the pages.

use voxshell_lab::table::Table;

use super::pages::quoted;
use super::results::{File, Results, Row};

/// Content of a table.
pub struct Spec {
    pub name: &'static str,
    /// Parts and the start of the names of the rows that are shown, in this order.
    pub rows: &'static [(&'static str, &'static str)],
    /// Methods whose rows are shown; empty for all.
    pub methods: &'static [&'static str],
    pub shape: Shape,
}

pub enum Shape {
    /// A line for each row: titles and keys of the columns. Columns in which no row has a value are left out.
    List(&'static [(&'static str, &'static str)]),
    /// A line for each case and a column for each method: the title of the first column, the keys of the case, the key
    /// of the column, and the keys of the values, which a cell separates by " / ".
    Cross { head: &'static str, line: &'static [&'static str], column: &'static str, cell: &'static [&'static str] },
}

const STOCK_AND_DEFAULT: &[&str] = &["hull", "vhacd32", "gimpact", "voxshell"];

/// Columns of a scene in Bullet.
const SCENE: &[(&str, &str)] = &[
    ("scene", "scene"),
    ("method", "method"),
    ("mean µs", "np_contact_mean_us"),
    ("median", "np_contact_median_us"),
    ("p99", "np_contact_p99_us"),
    ("worst", "np_contact_worst_us"),
    ("deepest mm", "max_penetration_run_mm"),
    ("deepest at the end mm", "max_penetration_late_mm"),
    ("gap at the end mm", "resting_gap_mm"),
    ("lost", "lost_bodies"),
];

/// Columns of a benchmark.
const BENCH: &[(&str, &str)] =
    &[("row", "name"), ("measured", "measured"), ("unit", "unit"), ("target", "target"), ("peer", "peer")];

const fn bench(name: &'static str, rows: &'static [(&'static str, &'static str)]) -> Spec {
    Spec { name, rows, methods: &[], shape: Shape::List(BENCH) }
}

const fn scene(name: &'static str, rows: &'static [(&'static str, &'static str)]) -> Spec {
    Spec { name, rows, methods: &[], shape: Shape::List(SCENE) }
}

const fn cross(
    name: &'static str,
    part: &'static [(&'static str, &'static str)],
    cell: &'static [&'static str],
) -> Spec {
    let line = &["case", "rate_hz"];
    Spec { name, rows: part, methods: &[], shape: Shape::Cross { head: "case", line, column: "method", cell } }
}

const TIMES: &[&str] = &["np_contact_mean_us", "np_contact_p99_us", "np_contact_worst_us"];

pub const TABLES: &[Spec] = &[
    Spec {
        name: "readme",
        rows: &[("resting", "pair"), ("pile", "")],
        methods: STOCK_AND_DEFAULT,
        shape: Shape::List(SCENE),
    },
    scene("resting", &[("resting", "")]),
    scene("pile", &[("pile", "")]),
    Spec {
        name: "stacks",
        rows: &[("stacks", "")],
        methods: &[],
        shape: Shape::List(&[
            ("scene", "scene"),
            ("method", "method"),
            ("standing", "standing_bodies"),
            ("of", "stacked_bodies"),
            ("first falls after s", "stands_s"),
            ("drift mm", "drift_mm"),
            ("mean µs", "np_contact_mean_us"),
            ("median", "np_contact_median_us"),
            ("p99", "np_contact_p99_us"),
            ("worst", "np_contact_worst_us"),
            ("deepest mm", "max_penetration_run_mm"),
        ]),
    },
    Spec {
        name: "rolling",
        rows: &[("rolling", "")],
        methods: &[],
        shape: Shape::List(&[
            ("method", "method"),
            ("mean µs", "np_contact_mean_us"),
            ("median", "np_contact_median_us"),
            ("p99", "np_contact_p99_us"),
            ("worst", "np_contact_worst_us"),
            ("at rest", "np_at_rest_us"),
            ("moving / at rest", "moving_over_rest"),
            ("deepest mm", "max_penetration_run_mm"),
        ]),
    },
    Spec {
        name: "fast",
        rows: &[("fast", "")],
        methods: &[],
        shape: Shape::List(&[
            ("scene", "scene"),
            ("method", "method"),
            ("through", "through"),
            ("of", "movers"),
            ("deepest mm", "max_penetration_run_mm"),
            ("mean µs", "np_contact_mean_us"),
            ("median", "np_contact_median_us"),
            ("p99", "np_contact_p99_us"),
            ("worst", "np_contact_worst_us"),
            ("clamp, mean", "clamp_mean_us"),
        ]),
    },
    Spec {
        name: "rates",
        rows: &[("rates", "low-frequency")],
        methods: &[],
        shape: Shape::Cross { head: "method", line: &["method"], column: "rate_hz", cell: &["max_penetration_run_mm"] },
    },
    Spec {
        name: "ball",
        rows: &[("rates", "ball")],
        methods: &[],
        shape: Shape::List(&[
            ("method", "method"),
            ("e", "restitution"),
            ("deepest mm", "max_penetration_run_mm"),
            ("rebound m", "rebound_height_m"),
            ("error %", "rebound_error_pct"),
        ]),
    },
    Spec {
        name: "levels",
        rows: &[("levels", "")],
        methods: &[],
        shape: Shape::List(&[
            ("method", "method"),
            ("level", "level"),
            ("by region", "by_region"),
            ("mean µs", "np_contact_mean_us"),
            ("median", "np_contact_median_us"),
            ("p99", "np_contact_p99_us"),
            ("worst", "np_contact_worst_us"),
            ("contacts", "contacts_mean"),
            ("deepest mm", "max_penetration_run_mm"),
            ("deepest at the end mm", "max_penetration_late_mm"),
        ]),
    },
    cross("flat-times", &[("flat", "")], TIMES),
    cross("flat-depths", &[("flat", "")], &["max_penetration_run_mm"]),
    cross("flat-drift", &[("flat", "")], &["drift_mm"]),
    cross("sharp-times", &[("sharp", "")], TIMES),
    cross("sharp-depths", &[("sharp", "")], &["max_penetration_run_mm"]),
    cross("sharp-energy", &[("sharp", "")], &["energy_gained_j"]),
    cross("sharp-endings", &[("sharp", "")], &["ending"]),
    Spec {
        name: "nuts",
        rows: &[("nuts", "")],
        methods: &[],
        shape: Shape::List(&[
            ("method", "method"),
            ("turned by", "drive"),
            ("mean µs", "np_contact_mean_us"),
            ("median", "np_contact_median_us"),
            ("p99", "np_contact_p99_us"),
            ("worst", "np_contact_worst_us"),
            ("turns", "turns"),
            ("error of the travel %", "travel_per_turn_error_pct"),
            ("off the helix mm", "off_helix_mm"),
            ("deepest mm", "max_penetration_run_mm"),
            ("at the head", "arrived_at_head"),
        ]),
    },
    bench("fields", &[("fields", "")]),
    bench("segments", &[("segments", "")]),
    bench("contact", &[("contact", "")]),
    bench("edges", &[("edges", "")]),
    bench("calls", &[("calls", "")]),
    bench("ccd", &[("ccd", "")]),
    bench("qp", &[("qp", "")]),
    bench("haptics", &[("haptics", "")]),
    bench("forms", &[("forms", "")]),
    Spec {
        name: "haptic-scenes",
        rows: &[("haptic-scenes", "")],
        methods: &[],
        shape: Shape::List(&[
            ("scene", "scene"),
            ("renderer", "renderer"),
            ("deepest mm", "penetration_max_mm"),
            ("largest force N", "force_max_n"),
            ("most contacts", "contacts_max"),
            ("median µs", "time_p50_us"),
            ("p99", "time_p99_us"),
            ("got through", "passed"),
        ]),
    },
];

/// Returns a table in Markdown, and below it the command, commit and machine of each part.
pub fn markdown(name: &str, results: &Results) -> Result<String, String> {
    let spec = TABLES.iter().find(|spec| spec.name == name).ok_or_else(|| format!("there is no table {name}"))?;
    let mut rows = Vec::new();
    let mut origins: Vec<String> = Vec::new();
    for (part, start) in spec.rows {
        let Some(file) = results.files.get(*part) else {
            origins.push(format!("*Not measured yet: `voxshell-lab figures --part {part}`.*"));
            continue;
        };
        let shown = |row: &&Row| {
            row.name.starts_with(start) && (spec.methods.is_empty() || spec.methods.contains(&row.text("method")))
        };
        // A body whose mesh file the reader does not have.
        let absent = |row: &&Row| row.text("skipped").contains(".obj");
        rows.extend(file.rows.iter().filter(shown).filter(|row| !absent(row)));
        if !origins.contains(&File::origin(file)) {
            origins.push(file.origin());
        }
    }
    let origins = origins.join("\n");
    if rows.is_empty() {
        return Ok(format!("{origins}\n"));
    }
    let table = match spec.shape {
        Shape::List(columns) => list(&rows, columns),
        Shape::Cross { head, line, column, cell } => crossed(&rows, head, line, column, cell),
    };
    Ok(format!("{}\n{origins}\n", table.markdown()))
}

fn list(rows: &[&Row], columns: &[(&str, &str)]) -> Table {
    let used = |(_, key): &&(&str, &str)| rows.iter().any(|row| !value(row, key).is_empty());
    let columns: Vec<_> = columns.iter().filter(used).collect();
    let cell = |row: &Row, key: &str| match value(row, key) {
        text if text.is_empty() => "–".to_string(),
        text => text,
    };
    let lines = rows.iter().map(|row| columns.iter().map(|(_, key)| cell(row, key)).collect::<Vec<_>>());
    Table::new(columns.iter().map(|(title, _)| *title)).with(lines)
}

fn crossed(rows: &[&Row], head: &str, line: &[&str], column: &str, cell: &[&str]) -> Table {
    let label = |row: &Row| {
        let words = line.iter().map(|key| if *key == "method" { title(row.text(key)) } else { value(row, key) });
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let column_of = |row: &Row| value(row, column);
    let distinct = |all: Vec<String>| {
        let mut once: Vec<String> = Vec::new();
        all.into_iter().for_each(|text| {
            if !once.contains(&text) {
                once.push(text)
            }
        });
        once
    };
    let columns = distinct(rows.iter().map(|row| column_of(row)).collect());
    let mut table = Table::new(std::iter::once(head.to_string()).chain(columns.iter().cloned()));
    for case in distinct(rows.iter().map(|row| label(row)).collect()) {
        let of = |column: &String| {
            let row = rows.iter().find(|row| label(row) == case && column_of(row) == *column);
            let values = |row: &&Row| cell.iter().map(|key| value(row, key)).collect::<Vec<_>>().join(" / ");
            row.map(values).filter(|text| text.chars().any(|c| !" /".contains(c))).unwrap_or_else(|| "–".into())
        };
        let cells: Vec<String> = columns.iter().map(of).collect();
        // A case without a value in any column says nothing.
        if cells.iter().any(|text| text != "–") {
            table.push(std::iter::once(case).chain(cells));
        }
    }
    table
}

fn title(method: &str) -> String {
    match method {
        "sphere" => "Bullet sphere",
        "hull" => "hull, 42 vertices",
        "vhacd32" => "V-HACD, 32 hulls",
        "gimpact" => "GImpact",
        "voxshell" => "**Voxshell**, defaults",
        "voxshell-coarse" => "**Voxshell**, coarse",
        "voxshell-fine" => "**Voxshell**, fine",
        other => other,
    }
    .into()
}

/// Returns the text of a member in a table; empty if the row does not have it.
fn value(row: &Row, key: &str) -> String {
    let number = row.number(key);
    match key {
        "name" => format!("`{}`", row.name),
        "method" => method(row),
        "renderer" => format!("`{}`", row.text(key)),
        "rate_hz" => number.map_or(String::new(), |n| format!("{n} Hz")),
        "restitution" | "level" => number.map_or(String::new(), |n| n.to_string()),
        "peer" => peer(row),
        "passed" | "by_region" => match row.members.get(key).and_then(serde_json::Value::as_bool) {
            Some(true) => "yes".into(),
            Some(false) => "no".into(),
            None => String::new(),
        },
        "ending" if row.members.get("as_expected") == Some(&false.into()) => {
            format!("{}, not {}", row.text("ending"), row.text("expected"))
        }
        _ => match number {
            Some(n) if key.ends_with("_j") => format!("{n:.0e}"),
            Some(n) if key.ends_with("_mm") => millimetres(n),
            Some(n) => quoted(n),
            None => row.text(key).into(),
        },
    }
}

/// Returns the name of the method, and where its run was stopped or why it was skipped.
fn method(row: &Row) -> String {
    let mut text = title(row.text("method"));
    if row.members.get("swept_spheres") == Some(&true.into()) {
        text += ", swept sphere";
    }
    if let (Some(steps), Some(wanted)) = (row.number("steps"), row.number("steps_wanted")) {
        if steps < wanted {
            text += &format!(", stopped after {} of {} steps", quoted(steps), quoted(wanted));
        }
    }
    if row.members.contains_key("skipped") {
        text += ", skipped";
    }
    text
}

fn peer(row: &Row) -> String {
    let unit = if row.text("peer_unit").is_empty() { row.text("unit") } else { row.text("peer_unit") };
    row.number("peer_measured").map_or(String::new(), |n| format!("{} {unit}, {}", quoted(n), row.text("peer")))
}

/// Formats millimetres with at most three decimals.
fn millimetres(n: f64) -> String {
    match n.abs() {
        size if size < 0.0005 => "0".into(),
        size if size < 1.0 => format!("{n:.3}"),
        size if size > 9999.5 => format!("{n:.1e}"),
        _ => quoted(n),
    }
}
