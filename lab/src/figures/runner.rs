//! Runs the commands of a part as child processes and collects their rows.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use voxshell::{Error, Result};

use super::parts::{Part, Program};
use super::results::{File, Row};
use super::root;

/// Longest time without a line of progress.
const SILENCE: Duration = Duration::from_secs(4);

/// Members that are not figures, or that the head of the file has.
const LEFT_OUT: [&str; 7] = ["row", "window", "machine_threads", "machine_load", "machine_mhz", "mesh", "stages_s"];

/// Members of the name of a row of a scene, in this order.
const CASE: [&str; 13] = [
    "scene",
    "method",
    "renderer",
    "case",
    "drive",
    "parts",
    "rate_hz",
    "restitution",
    "level",
    "by_region",
    "cells",
    "swept_spheres",
    "edges",
];

pub fn run(part: &Part) -> Result<File> {
    let start = Instant::now();
    let mut file = File::start(part);
    let mut names = BTreeSet::new();
    for command in part.commands {
        let mut child = command_line(&command.program)?;
        child.args(command.arguments.split(' ')).arg("--json").current_dir(root());
        // A folder without meshes, so that the figures need no file that the reader does not have.
        child.env("VOXSHELL_MESHES", root().join("benches"));
        let mut child = child
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error::Unsupported(format!("{}: {error}", command.shown())))?;
        let output = child.stdout.take().expect("piped");
        let mut errors = child.stderr.take().expect("piped");
        // The child's own progress is kept for the message of a failure.
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        for value in lines(output, part.name, start) {
            let row = row(value, command.prefix);
            if !names.insert(row.name.clone()) {
                return Err(Error::Unsupported(format!("{}: two rows have the name {}", part.name, row.name)));
            }
            file.rows.push(row);
        }
        let status = child.wait().map_err(|error| Error::Unsupported(format!("{}: {error}", command.shown())))?;
        let errors = errors.join().unwrap_or_default();
        if !status.success() {
            return Err(Error::Unsupported(format!("{} failed: {status}\n{errors}", command.shown())));
        }
    }
    file.seconds = start.elapsed().as_secs_f64();
    Ok(file)
}

fn command_line(program: &Program) -> Result<Command> {
    Ok(match program {
        Program::Lab => {
            let own = std::env::current_exe().map_err(|error| Error::Unsupported(format!("this program: {error}")))?;
            Command::new(own)
        }
        Program::Demo => Command::new(root().join("bullet-demo/run")),
    })
}

/// Returns the JSON objects that the child prints, and prints progress meanwhile.
fn lines(output: ChildStdout, part: &str, start: Instant) -> Vec<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut rows: Vec<Value> = Vec::new();
    let mut last = Instant::now();
    loop {
        let line = receiver.recv_timeout(SILENCE.saturating_sub(last.elapsed()));
        match line {
            Ok(line) => rows.extend(serde_json::from_str(&line).ok().filter(Value::is_object)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return rows,
        }
        if last.elapsed() >= SILENCE {
            eprintln!("  {part}: {} rows, {:.0} s", rows.len(), start.elapsed().as_secs_f64());
            last = Instant::now();
        }
    }
}

/// Returns the row of a line. Its name is the `row` of a benchmark, or is made of the scene, the method and the case.
fn row(value: Value, prefix: &str) -> Row {
    let Value::Object(members) = value else { return Row { name: prefix.into(), members: Map::new() } };
    let own = members.get("row").and_then(Value::as_str).map(String::from);
    let name = own.unwrap_or_else(|| {
        let shown = |key: &&str| match members.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) if *key == "rate_hz" => Some(format!("{number}hz")),
            Value::Number(number) => Some(format!("{key}{number}")),
            Value::Bool(true) => Some(key.to_string()),
            _ => None,
        };
        CASE.iter().filter_map(shown).collect::<Vec<_>>().join("/")
    });
    let name = format!("{prefix}{name}").replace(' ', "-");
    let kept = |(key, value): &(String, Value)| !LEFT_OUT.contains(&key.as_str()) && !value.is_null();
    Row { name, members: members.into_iter().filter(kept).collect() }
}
