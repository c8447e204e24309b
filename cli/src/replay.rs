//! `voxshell replay`: makes the calls of a recording again and compares their answers.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use voxshell::capi::record::player::{Outcome, Played, Player};
use voxshell::{Error, Result};

use crate::replay_pictures::Film;
use voxshell_cli::print::say;

/// Differences that are shown one by one.
const SHOWN: usize = 10;

#[derive(clap::Args)]
pub struct Arguments {
    /// Recording of `vxs_record_start`.
    file: PathBuf,
    /// Print rows as JSON, one object per line: the first differences, then the counts.
    #[arg(long)]
    json: bool,
    /// Speed as a multiple of the recorded one; without it, as fast as possible.
    #[arg(long, value_name = "FACTOR")]
    speed: Option<f64>,
    /// Write a picture of the bodies for each 1/25 s of recorded time into this folder: frame_00000.png and so on.
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
    /// Height of the pictures in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 360)]
    size: usize,
    /// Pictures for each second of recorded time.
    #[arg(long, value_name = "NUMBER", default_value_t = 25.0)]
    rate: f64,
    /// Write a picture after each so many calls instead.
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Accept a recording that was not ended, such as the .part file of a program that crashed.
    #[arg(long)]
    partial: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.speed.is_some_and(|speed| !(speed > 0.0 && speed.is_finite())) {
        return Err(Error::argument("--speed", arguments.speed.unwrap_or_default(), "a positive number"));
    }
    if !(arguments.rate > 0.0 && arguments.rate <= 1e4) {
        return Err(Error::argument("--rate", arguments.rate, "a positive number of at most 10000"));
    }
    if !(16..=8192).contains(&arguments.size) {
        return Err(Error::argument("--size", arguments.size, "16 to 8192 pixels"));
    }
    let path = || arguments.file.clone();
    let bytes = std::fs::read(path()).map_err(|source| Error::Io { path: path(), source })?;
    let wrong = |reason| Error::InvalidFile { path: path(), reason };
    let mut player = Player::new(&bytes, arguments.partial).map_err(wrong)?;
    let mut film = match &arguments.pictures {
        Some(folder) => Some(Film::new(folder.clone(), arguments.size, arguments.rate, arguments.every)?),
        None => None,
    };
    // Draws nothing without a terminal.
    let bar = ProgressBar::new(player.len() as u64);
    let template = "{wide_bar} {pos} of {len} calls  {eta} left";
    bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    let (start, mut first, mut shown) = (Instant::now(), None, 0);
    while let Some(played) = player.step().map_err(wrong)? {
        if let Some(speed) = arguments.speed {
            let due = Duration::try_from_secs_f64(played.time.as_secs_f64() / speed).unwrap_or(Duration::MAX);
            std::thread::sleep(due.saturating_sub(start.elapsed()));
        }
        if played.outcome == Outcome::Different {
            first.get_or_insert(played.number);
            if shown < SHOWN {
                let line = if arguments.json { row(&played).to_string() } else { text(&played) };
                bar.suspend(|| say(line));
            }
            shown += 1;
        }
        if let Some(film) = &mut film {
            film.see(&player, &played)?;
        }
        bar.set_position(player.counts().calls);
    }
    bar.finish_and_clear();
    let pictures = film.map_or(Ok(0), Film::end)?;
    report(arguments, &player, first, pictures, start.elapsed());
    let good = player.counts().different == 0 && player.lost().is_none();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(played: &Played) -> serde_json::Value {
    json!({
        "kind": "difference",
        "call": played.number,
        "function": played.function,
        "thread": played.thread,
        "time_s": played.time.as_secs_f64(),
        "objects": played.objects,
        "status": played.status,
        "hash": played.hash.map(|hash| format!("{hash:016x}")),
    })
}

fn text(played: &Played) -> String {
    let [was, is] = played.status;
    let what = if was == is { "the outputs differ".into() } else { format!("status {is} instead of {was}") };
    let (number, function, time) = (played.number, played.function, played.time.as_secs_f64());
    let (thread, objects) = (played.thread, &played.objects);
    format!("call {number} at {time:.6} s: {function}, thread {thread}, objects {objects:?}: {what}")
}

fn report(arguments: &Arguments, player: &Player, first: Option<u64>, pictures: usize, took: Duration) {
    let counts = player.counts();
    if arguments.json {
        let lost = player.lost();
        let row = json!({
            "kind": "replay",
            "file": arguments.file.display().to_string(),
            "calls": counts.calls,
            "same": counts.same,
            "differing": counts.different,
            "not_compared": counts.not_compared,
            "skipped": counts.skipped,
            "first_differing": first,
            "records_lost": lost.map_or(0, |lost| lost.0),
            "lost_from": lost.map(|lost| lost.1),
            "complete": player.is_complete(),
            "pictures": pictures,
            "seconds": took.as_secs_f64(),
        });
        say(row);
        return;
    }
    say(format_args!(
        "{} calls: {} same, {} differing, {} not compared, {} not made",
        counts.calls, counts.same, counts.different, counts.not_compared, counts.skipped
    ));
    if let Some((lost, from)) = player.lost() {
        say(format_args!("{lost} records were lost from record {from} on: the replay ends there"));
    }
    if !player.is_complete() {
        say("the recording was not ended");
    }
    if pictures > 0 {
        say(format_args!("wrote {pictures} pictures"));
    }
}
