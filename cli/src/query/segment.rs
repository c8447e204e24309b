//! Intersections of segments with a shape.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{json, Value};
use voxshell::ccd::segment::{self, Segment, SegmentHit};
use voxshell::field::Field;
use voxshell::math::{limits, Vec3};
use voxshell::{Error, Result};

use super::at;
use voxshell_cli::print::say_all;
use voxshell_cli::source;

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// The first point at or below the level, with its normal.
    First,
    /// All points where the segment crosses the level, in order.
    Crossings,
    /// The intervals of the segment at or below the level.
    Intervals,
    /// Whether any point is at or below the level.
    Meets,
}

#[derive(Clone, Copy, ValueEnum)]
enum Start {
    /// The segment hits at its start.
    Hit,
    /// Hits are ignored until the segment has left the shape and enters again.
    Leave,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Asset, mesh file or built-in shape.
    shape: OsString,
    /// Start of the segment: x y z (metres, body frame).
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    #[arg(required_unless_present = "file", requires = "to")]
    from: Vec<f64>,
    /// End of the segment.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true, requires = "from")]
    to: Vec<f64>,
    /// File with one segment per line, as six numbers; "-" reads standard input.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    file: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Mode::First)]
    mode: Mode,
    /// Distance that counts as the surface.
    #[arg(long, value_name = "METRES", default_value_t = 0.0, allow_negative_numbers = true)]
    level: f64,
    /// Result of --mode first for a segment that starts at or below the level.
    #[arg(long, value_enum, default_value_t = Start::Hit)]
    start: Start,
    /// Print one JSON object per segment.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cook: source::CookArguments,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if !arguments.level.is_finite() {
        return Err(Error::argument("--level", arguments.level, "a finite length in metres"));
    }
    let segments = segments(arguments)?;
    let shape = source::shape(&arguments.shape, &arguments.cook)?;
    let Some(field) = &shape.field else {
        let name = Path::new(&arguments.shape).display();
        return Err(Error::Unsupported(format!("segments need a field, and {name} has none")));
    };
    let (found, meets) = answers(arguments, field, &segments);
    if arguments.json {
        say_all(found.iter().enumerate().map(|(i, answer)| {
            let Segment { from, to } = &segments[i];
            answer.add_to(json!({ "segment": i, "from_m": from.as_slice(), "to_m": to.as_slice() }))
        }));
        return Ok(());
    }
    let summary = format!("{meets} of {} segments meet the level", segments.len());
    let said = found.iter().enumerate().map(|(i, answer)| format!("segment {i}: {}", answer.words()));
    say_all(said.chain([summary]));
    Ok(())
}

/// Result for one segment.
enum Answer {
    First(Option<SegmentHit>),
    /// Each with true if the segment enters there.
    Crossings(Vec<(SegmentHit, bool)>),
    Intervals(Vec<[f64; 2]>),
    Meets(bool),
}

/// Returns one answer per segment, and the number of segments that meet the level.
fn answers(arguments: &Arguments, field: &Field, segments: &[Segment]) -> (Vec<Answer>, usize) {
    let level = arguments.level;
    let each = |of: &dyn Fn(&Segment) -> Answer| segments.iter().map(of).collect::<Vec<_>>();
    let found = match arguments.mode {
        Mode::First => {
            let start = match arguments.start {
                Start::Hit => segment::Start::Hit,
                Start::Leave => segment::Start::Leave,
            };
            let mut fractions = vec![None; segments.len()];
            segment::first_fractions(field, segments, level, start, &mut fractions);
            let hit = |(t, s): (Option<f64>, &Segment)| Answer::First(t.map(|t| segment::hit(field, s, t)));
            fractions.into_iter().zip(segments).map(hit).collect()
        }
        Mode::Crossings => each(&|s| {
            let mut all = Vec::new();
            let way = s.to - s.from;
            segment::crossings(field, s, level, |hit| all.push((hit, hit.normal.dot(&way) < 0.0)));
            Answer::Crossings(all)
        }),
        Mode::Intervals => each(&|s| {
            let mut all = Vec::new();
            segment::intervals(field, s, level, |interval| all.push(interval));
            Answer::Intervals(all)
        }),
        Mode::Meets => each(&|s| Answer::Meets(segment::meets(field, s, level))),
    };
    let meets = found.iter().filter(|answer| answer.meets()).count();
    (found, meets)
}

fn object(hit: &SegmentHit) -> Value {
    json!({ "fraction": hit.fraction, "point_m": hit.point.as_slice(), "normal": hit.normal.as_slice() })
}

impl Answer {
    fn meets(&self) -> bool {
        match self {
            Self::First(hit) => hit.is_some(),
            Self::Crossings(all) => !all.is_empty(),
            Self::Intervals(all) => !all.is_empty(),
            Self::Meets(meets) => *meets,
        }
    }

    fn add_to(&self, mut of: Value) -> Value {
        match self {
            Self::First(hit) => of["hit"] = hit.as_ref().map_or(Value::Null, object),
            Self::Crossings(all) => {
                let crossing = |(hit, enters): &(SegmentHit, bool)| {
                    let mut value = object(hit);
                    value["enters"] = json!(enters);
                    value
                };
                of["crossings"] = all.iter().map(crossing).collect();
            }
            Self::Intervals(all) => of["intervals"] = json!(all),
            Self::Meets(meets) => of["meets"] = json!(meets),
        }
        of
    }

    fn words(&self) -> String {
        let place = |hit: &SegmentHit| format!("at {:.6}  {}", hit.fraction, at(&hit.point, &hit.normal));
        match self {
            Self::First(Some(hit)) => format!("hit {}", place(hit)),
            Self::First(None) => "no hit".into(),
            Self::Crossings(all) => all.iter().fold(format!("{} crossings", all.len()), |said, (hit, enters)| {
                said + "\n  " + if *enters { "enters " } else { "leaves " } + &place(hit)
            }),
            Self::Intervals(all) => all.iter().fold(format!("{} intervals", all.len()), |said, [from, to]| {
                said + &format!("\n  from {from:.6} to {to:.6}")
            }),
            Self::Meets(meets) => if *meets { "meets" } else { "does not meet" }.into(),
        }
    }
}

fn segments(arguments: &Arguments) -> Result<Vec<Segment>> {
    let Some(path) = &arguments.file else {
        for (name, point) in [("--from", &arguments.from), ("--to", &arguments.to)] {
            if let Some(wrong) = point.iter().find(|c| !limits::is_coordinate(**c)) {
                let expected = "three finite coordinates of at most 1e18 m";
                return Err(Error::argument(name, limits::Shown(*wrong), expected));
            }
        }
        return Ok(vec![Segment::new(vec3(&arguments.from), vec3(&arguments.to))]);
    };
    let trouble = |source| Error::Io { path: path.clone(), source };
    if path.as_os_str() == "-" {
        return read(path, std::io::stdin().lock());
    }
    read(path, BufReader::new(std::fs::File::open(path).map_err(trouble)?))
}

fn vec3(v: &[f64]) -> Vec3 {
    Vec3::new(v[0], v[1], v[2])
}

/// Reads segments; skips empty lines and lines that begin with #.
fn read(path: &Path, lines: impl BufRead) -> Result<Vec<Segment>> {
    let mut all = Vec::new();
    for (i, line) in lines.lines().enumerate() {
        let line = line.map_err(|source| Error::Io { path: path.into(), source })?;
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let numbers: std::result::Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok(n) if n.len() == 6 && n.iter().all(|c| limits::is_coordinate(*c)) => {
                all.push(Segment::new(vec3(&n[..3]), vec3(&n[3..])));
            }
            _ => {
                let argument = format!("line {} of {}", i + 1, path.display());
                let expected = "six finite numbers of at most 1e18: start x y z and end x y z, metres";
                return Err(Error::argument(argument, format!("{text:?}"), expected));
            }
        }
    }
    Ok(all)
}
