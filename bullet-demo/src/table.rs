//! The rows as text for a terminal.

use voxshell_report::table::{Align, Table};

use crate::figures::{Figures, SceneRow};
use crate::trial::Conduct;

const HEAD: [&str; 24] = [
    "method",
    "mean",
    "median",
    "p99",
    "max",
    "contacts",
    "manifolds",
    "depth mm",
    "impact mm",
    "gap mm",
    "energy J",
    "rebound m",
    "lost",
    "standing",
    "at rest µs",
    "travel",
    "jump mm",
    "at head",
    "through",
    "clamp",
    "speed m/s",
    "gained J",
    "ends",
    "drift mm",
];

/// Returns one table for each scene, in the order of the rows.
pub fn table(rows: &[&SceneRow]) -> String {
    let mut text = String::new();
    let mut start = 0;
    while start < rows.len() {
        let scene = rows[start].scene;
        let end = start + rows[start..].iter().take_while(|r| r.scene == scene).count();
        text += &format!("\n{} — {}\n", scene.entry().name, scene.entry().title);
        text += &one_table(&rows[start..end]);
        start = end;
    }
    text +=
        "\nmean, median, p99, max: narrowphase, µs per step. depth and gap (at the end) are between the true meshes;\n\
             depth is the largest while at rest, impact the largest of the whole run. clamp: the part of the mean that is the\n\
             motion clamp's. through: who got past what should have stopped them; speed: at the end, mean over the bodies.\n\
             gained: largest rise of kinetic plus potential energy. drift: sideways, from rest or uniform motion. In the scene\n\
             degenerate all figures are of the whole run.\n";
    text
}

fn one_table(rows: &[&SceneRow]) -> String {
    let rebound = rows.iter().any(|r| r.case.restitution.is_some());
    let any = |has: &dyn Fn(&Figures) -> bool| rows.iter().any(|r| r.outcome.as_ref().is_ok_and(has));
    let pile = any(&|f| f.pile.is_some());
    let fast = any(&|f| f.passage.is_some());
    let shown = |column: usize| match HEAD[column] {
        "rebound m" => rebound,
        "gap mm" => any(&|f| f.resting_gap.is_some()),
        "depth mm" | "manifolds" | "median" => !fast,
        "through" | "clamp" | "speed m/s" => fast,
        "gained J" => any(&|f| f.conduct.is_some_and(|c| c.energy_gained.is_some())),
        "ends" => any(&|f| f.conduct.is_some_and(|c| c.ending.is_some())),
        "drift mm" => any(&|f| f.conduct.is_some_and(|c| c.drift.is_some())),
        "lost" => pile,
        "standing" => any(&|f| f.towers.is_some()),
        "at rest µs" => any(&|f| f.np_at_rest.is_some()),
        "travel" | "jump mm" | "at head" => any(&|f| f.threads.is_some()),
        _ => true,
    };
    let heads = HEAD.into_iter().enumerate().filter(|(c, _)| shown(*c)).map(|(_, head)| head);
    let mut table = Table::new(heads);
    for row in rows {
        let cells = cells(row);
        // A skipped row has its reason instead of figures.
        let all = cells.len() < HEAD.len();
        table.push(cells.into_iter().enumerate().filter(|(c, _)| all || shown(*c)).map(|(_, cell)| cell));
    }
    table.text(Align::Right).lines().map(|line| format!("  {line}\n")).collect()
}

fn cells(row: &SceneRow) -> Vec<String> {
    let name = format!("{}{}", row.method.entry().name, row.case.label());
    match &row.outcome {
        Ok(f) => {
            let name = if f.steps < f.steps_wanted { format!("{name} (stopped at step {})", f.steps) } else { name };
            let mut cells = vec![name];
            cells.extend(values(f));
            cells
        }
        Err(reason) => vec![name, format!("skipped: {reason}")],
    }
}

/// Returns all columns except the name, as shown in the terminal and in the report.
pub fn values(f: &Figures) -> [String; 23] {
    [
        microseconds(f.np_mean),
        microseconds(f.np_median),
        microseconds(f.np_p99),
        microseconds(f.np_max),
        format!("{:.1}", f.contacts_mean),
        format!("{:.1}", f.manifolds_mean),
        format!("{:.2}", f.max_penetration),
        format!("{:.2}", f.max_penetration_run),
        f.resting_gap.map_or(String::new(), |g| format!("{:.2}", unsigned_zero(g, 0.005))),
        energy(f.kinetic_energy),
        f.rebound.map_or(String::new(), |r| format!("{:.3} ({:+.1} %)", r.height, unsigned_zero(r.error, 0.05))),
        f.pile.map_or(String::new(), |p| {
            if p.spilled > 0 {
                format!("{} + {} spilled", p.lost, p.spilled)
            } else {
                p.lost.to_string()
            }
        }),
        f.towers.map_or(String::new(), |t| format!("{} of {}, {:.2} s", t.standing, t.bodies, t.stands)),
        f.np_at_rest.map_or(String::new(), |rest| format!("{} (moving {:.1} ×)", microseconds(rest), f.np_mean / rest)),
        f.threads.map_or(String::new(), |t| format!("{:+.2} %", unsigned_zero(t.travel_error, 0.005))),
        f.threads.map_or(String::new(), |t| format!("{:.3}", t.jump)),
        f.threads.map_or(String::new(), |t| format!("{} of {}", t.stopped, t.nuts)),
        f.passage.map_or(String::new(), |p| format!("{} of {}", p.through, p.movers)),
        f.passage.map_or(String::new(), |_| microseconds(f.clamp_mean)),
        f.passage.map_or(String::new(), |p| format!("{:.1}", unsigned_zero(p.final_speed, 0.05))),
        f.conduct.and_then(|c| c.energy_gained).map_or(String::new(), energy),
        f.conduct.map_or(String::new(), |c| ending(&c)),
        f.conduct.and_then(|c| c.drift).map_or(String::new(), |d| format!("{d:.2}")),
    ]
}

/// Returns the ending of a trial, and what was expected instead.
pub fn ending(conduct: &Conduct) -> String {
    match (conduct.ending, conduct.expected) {
        (Some(ending), _) if conduct.as_expected() == Some(true) => ending.name().into(),
        (Some(ending), Some(expected)) => format!("{}, not {}", ending.name(), expected.name()),
        _ => String::new(),
    }
}

/// Removes the sign of a value that rounds to zero.
fn unsigned_zero(x: f64, half_digit: f64) -> f64 {
    if x.abs() < half_digit {
        0.0
    } else {
        x
    }
}

pub fn microseconds(t: f64) -> String {
    if t < 99.95 {
        format!("{t:.1}")
    } else {
        format!("{t:.0}")
    }
}

pub fn energy(joules: f64) -> String {
    if joules == 0.0 {
        "0".into()
    } else {
        format!("{joules:.0e}")
    }
}
