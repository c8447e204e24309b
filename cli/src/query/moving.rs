//! Two moving shapes: their first contact, and all contacts with their durations.

use clap::{ArgGroup, ValueEnum};
use serde_json::{json, Value};
use voxshell::ccd::impact::{self, Moving, Query};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{Contact, Geometry};
use voxshell::math::Pose;
use voxshell::{Error, Result};

use voxshell_cli::print::say_all;

use super::{object, pose, words, Pair};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Path {
    /// Rigid: a screw motion of at most half a turn.
    Screw,
    /// Each sample moves straight from its first to its last position.
    Straight,
}

/// Options of the motion.
#[derive(clap::Args)]
#[command(next_help_heading = "Motion")]
#[group(skip)]
#[command(group(ArgGroup::new("ends").args(["to_a", "to_b"]).multiple(true)))]
pub struct MotionArguments {
    /// Pose of A at the end of its motion, which begins at --pose-a; contacts during the motion are reported. Without
    /// it A rests.
    #[arg(long, num_args = 3..=7, value_name = "NUMBERS", allow_negative_numbers = true)]
    to_a: Vec<f64>,
    /// Pose of B at the end of its motion.
    #[arg(long, num_args = 3..=7, value_name = "NUMBERS", allow_negative_numbers = true)]
    to_b: Vec<f64>,
    /// Path of the bodies between the poses.
    #[arg(long, value_enum, default_value_t = Path::Screw, requires = "ends")]
    path: Path,
    /// Largest distance above --max-separation of a contact reported on a screw. Default: a thousandth of the distance
    /// between samples.
    #[arg(long, value_name = "METRES", allow_negative_numbers = true, requires = "ends")]
    tolerance: Option<f64>,
    /// End the query after this fraction of the motion, 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 1.0, allow_negative_numbers = true, requires = "ends")]
    until: f64,
    /// Features to leave out, separated by commas: contacts known before. Those in contact at the end are reported as
    /// known.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', requires = "ends")]
    known: Vec<String>,
}

/// The parsed options of the motion.
pub struct Motion {
    from: [Pose; 2],
    to: [Pose; 2],
    path: Path,
    tolerance: Option<f64>,
    until: f64,
    known: Vec<u32>,
}

impl Motion {
    /// Returns the motion; `None` if neither body moves.
    pub fn new(arguments: &MotionArguments, from: [Pose; 2]) -> Result<Option<Self>> {
        let ends = [pose("--to-a", &arguments.to_a)?, pose("--to-b", &arguments.to_b)?];
        if ends == [None, None] {
            return Ok(None);
        }
        let &MotionArguments { path, tolerance, until, .. } = arguments;
        if let Some(tolerance) = tolerance {
            if path == Path::Straight {
                return Err(Error::argument("--tolerance", tolerance, "none with --path straight, which is exact"));
            }
            if !(tolerance > 0.0 && tolerance.is_finite()) {
                return Err(Error::argument("--tolerance", tolerance, "a positive, finite length in metres"));
            }
        }
        if !(0.0..=1.0).contains(&until) {
            return Err(Error::argument("--until", until, "a part of the motion, 0 to 1"));
        }
        let mut known = arguments.known.iter().map(|text| feature(text)).collect::<Result<Vec<u32>>>()?;
        known.sort_unstable();
        known.dedup();
        let to = [ends[0].unwrap_or(from[0]), ends[1].unwrap_or(from[1])];
        Ok(Some(Self { from, to, path, tolerance, until, known }))
    }

    pub fn run(&self, a: Geometry, b: Geometry, pair: &Pair) -> Result<()> {
        let tolerance = self.tolerance.unwrap_or_else(|| impact::default_tolerance(&a, &b));
        let path = match self.path {
            Path::Screw => impact::Path::Screw { tolerance },
            Path::Straight => impact::Path::Straight,
        };
        let [a, b] = [(a, 0), (b, 1)].map(|(geometry, i)| Moving { geometry, from: self.from[i], to: self.to[i] });
        let query = Query {
            roles: pair.roles.into(),
            path,
            max_separation: pair.max_separation,
            until: self.until,
            known: &self.known,
            ..Query::default()
        };
        let mut workspace = Workspace::new();
        let first = impact::time_of_impact(&a, &b, &query, &mut workspace)?;
        let still_there: Vec<Contact> =
            impact::known_contacts(&a, &b, &query, &mut workspace)?.iter().map(|c| c.contact).collect();
        let all = impact::contacts(&a, &b, &query, &mut workspace)?;
        if pair.json {
            let first = first.iter().map(|c| {
                let poses = [a.pose(c.toi), b.pose(c.toi)].map(|pose| numbers(&pose));
                labelled("first", c, &json!({ "pose_a": poses[0], "pose_b": poses[1] }))
            });
            let all = all.iter().map(|c| labelled("contact", &c.contact, &json!({ "until": c.until })));
            let still_there = still_there.iter().map(|c| labelled("known", c, &json!({})));
            say_all(first.chain(all).chain(still_there));
            return Ok(());
        }
        let mut summary = format!("{} contacts; first time of impact: ", all.len());
        summary += &first.map_or_else(|| "none".into(), |c| format!("{:.6} of the motion", c.toi));
        if !self.known.is_empty() {
            summary += &format!("\n{} of {} known contacts last to the end", still_there.len(), self.known.len());
        }
        let all = all.iter().map(|c| format!("from {:.6} to {:.6}  {}", c.contact.toi, c.until, words(&c.contact)));
        let still_there = still_there.iter().map(|c| format!("known, at the end  {}", words(c)));
        say_all(all.chain(still_there).chain([summary]));
        Ok(())
    }
}

/// Parses a feature as printed in words or in JSON.
fn feature(text: &str) -> Result<u32> {
    let read = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    read.map_err(|_| Error::argument("--known", text, "features as they are reported: 12 or 0x8000000c"))
}

fn numbers(pose: &Pose) -> Vec<f64> {
    pose.translation.vector.iter().chain(pose.rotation.coords.iter()).copied().collect()
}

/// Returns one object: its kind, the contact with its time, and further keys.
fn labelled(kind: &str, contact: &Contact, more: &Value) -> Value {
    let mut all = json!({ "kind": kind, "toi": contact.toi });
    for part in [&object(contact), more] {
        for (key, value) in part.as_object().into_iter().flatten() {
            all[key] = value.clone();
        }
    }
    all
}
