//! Results files: one JSON file for each part, in a folder for each machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{json, Map, Value};
use voxshell::{Error, Result};

use super::parts::{Part, PARTS};
use super::{read, root, write};

/// Names the folder that the pages quote.
const QUOTED: &str = "benches/results/quoted.txt";

/// A row of a results file: its name, then its members with the unit in the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub members: Map<String, Value>,
}

impl Row {
    pub fn number(&self, key: &str) -> Option<f64> {
        self.members.get(key).and_then(Value::as_f64)
    }

    pub fn text(&self, key: &str) -> &str {
        self.members.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Results of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub part: String,
    /// Commands that were run, as a user would type them.
    pub commands: Vec<String>,
    /// Commit of the checkout, 12 digits.
    pub commit: String,
    /// True if the sources had changes that were not committed.
    pub uncommitted: bool,
    pub processor: String,
    pub threads: usize,
    /// Mean number of running threads in the minute before the run.
    pub load: Option<f64>,
    pub seconds: f64,
    /// Folders whose change makes the figures out of date.
    pub sources: Vec<String>,
    pub rows: Vec<Row>,
}

impl File {
    /// Returns the file of a part that starts now, without rows.
    pub fn start(part: &Part) -> Self {
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Self {
            part: part.name.into(),
            commands: part.commands.iter().map(|c| c.shown()).collect(),
            commit: git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into()),
            uncommitted: git(&[&["status", "--porcelain", "--"], part.sources].concat()).is_some_and(|t| !t.is_empty()),
            processor: processor(),
            threads: threads(),
            load: load.and_then(|text| text.split_whitespace().next()?.parse().ok()),
            seconds: 0.0,
            sources: part.sources.iter().map(|s| s.to_string()).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the command, commit and machine as one line of Markdown, to stand below a table.
    pub fn origin(&self) -> String {
        let changes = if self.uncommitted { " with changes" } else { "" };
        let commit = &self.commit[..self.commit.len().min(7)];
        format!(
            "*`voxshell-lab figures --part {}`, commit {commit}{changes}, {}, {} threads.*",
            self.part, self.processor, self.threads
        )
    }

    pub fn load(folder: &Path, part: &str) -> Result<Self> {
        let path = folder.join(format!("{part}.json"));
        let text = read(&path)?;
        Self::parse(&text).ok_or_else(|| Error::Unsupported(format!("{} is no results file", path.display())))
    }

    fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let text = |key: &str| value[key].as_str().map(String::from);
        let texts = |key: &str| -> Option<Vec<String>> {
            value[key].as_array()?.iter().map(|v| v.as_str().map(String::from)).collect()
        };
        let row = |value: &Value| -> Option<Row> {
            let mut members = value.as_object()?.clone();
            let name = members.remove("name")?.as_str()?.into();
            Some(Row { name, members })
        };
        Some(Self {
            part: text("part")?,
            commands: texts("commands")?,
            commit: text("commit")?,
            uncommitted: value["uncommitted"].as_bool()?,
            processor: text("processor")?,
            threads: value["threads"].as_u64()? as usize,
            load: value["load"].as_f64(),
            seconds: value["seconds"].as_f64()?,
            sources: texts("sources")?,
            rows: value["rows"].as_array()?.iter().map(row).collect::<Option<_>>()?,
        })
    }

    /// Returns the JSON: a member a line and a row a line, so that a diff shows the figures that changed.
    fn json(&self) -> String {
        let member = |key: &str, value: Value| format!("\"{key}\": {value},\n");
        let mut text = String::from("{\n");
        text += &member("part", json!(self.part));
        text += &member("commands", json!(self.commands));
        text += &member("commit", json!(self.commit));
        text += &member("uncommitted", json!(self.uncommitted));
        text += &member("processor", json!(self.processor));
        text += &member("threads", json!(self.threads));
        text += &member("load", json!(self.load));
        text += &member("seconds", json!(self.seconds.round()));
        text += &member("sources", json!(self.sources));
        text += "\"rows\": [\n";
        let row = |row: &Row| {
            let members: String = row.members.iter().map(|(k, v)| format!(", \"{k}\": {}", rounded(v))).collect();
            format!("{{\"name\": {}{members}}}", json!(row.name))
        };
        text += &self.rows.iter().map(row).collect::<Vec<_>>().join(",\n");
        text + "\n]\n}\n"
    }

    pub fn save(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
        write(&folder.join(format!("{}.json", self.part)), &self.json())
    }
}

/// Rounds numbers to five significant digits.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let x = n.as_f64().unwrap_or(0.0);
            json!(format!("{x:.4e}").parse::<f64>().unwrap_or(x))
        }
        Value::Array(items) => Value::Array(items.iter().map(rounded).collect()),
        other => other.clone(),
    }
}

/// The results files of one machine.
pub struct Results {
    pub files: BTreeMap<String, File>,
}

impl Results {
    /// Loads the results that the pages quote. Parts that were not measured on that machine are left out.
    pub fn quoted(root: &Path) -> Result<Self> {
        let machine = read(&root.join(QUOTED))?;
        let folder = folder(root, machine.trim());
        let measured = PARTS.iter().filter(|part| folder.join(format!("{}.json", part.name)).is_file());
        let load = |part: &Part| Ok((part.name.to_string(), File::load(&folder, part.name)?));
        Ok(Self { files: measured.map(load).collect::<Result<_>>()? })
    }
}

/// Makes the pages quote the results of a machine.
pub fn quote(root: &Path, machine: &str) -> Result<()> {
    if !folder(root, machine).is_dir() {
        return Err(Error::argument("--machine", machine, "a folder of benches/results"));
    }
    write(&root.join(QUOTED), &format!("{machine}\n"))
}

pub fn folder(root: &Path, machine: &str) -> PathBuf {
    root.join("benches/results").join(machine)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the processor's name without marks of trade and fillers.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    cleaned(model.unwrap_or("unknown processor"))
}

pub fn cleaned(model: &str) -> String {
    let plain = model.replace("(R)", " ").replace("(TM)", " ").replace("(tm)", " ").replace('@', " ");
    let words = plain.split_whitespace().filter(|word| !["CPU", "Processor"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the name of the folder for this machine, such as `intel-xeon-2.20ghz-2-cores`.
pub fn machine_name() -> String {
    named(&processor(), threads())
}

pub fn named(processor: &str, threads: usize) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let words: String = processor.chars().map(safe).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    format!("{}-{threads}-cores", words.join("-"))
}

/// Returns the output of git in the checkout; `None` without git or if it fails.
pub fn git<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root()).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
