//! Figures whose sources changed after they were measured.

use super::parts::{Part, PARTS};
use super::results::{git, File, Results};

/// Returns a line for each part that was not measured, or whose sources differ from the commit of its results.
pub fn changed(results: &Results) -> Vec<String> {
    let missing = |part: &Part| Some(format!("figures of {}: not measured yet", part.name));
    PARTS.iter().filter_map(|part| results.files.get(part.name).map_or_else(|| missing(part), line)).collect()
}

fn line(file: &File) -> Option<String> {
    let sources: Vec<&str> = file.sources.iter().map(String::as_str).collect();
    let place = format!("figures of {}, measured at {}", file.part, file.commit);
    let Some(names) = git(&[&["diff", "--name-only", &file.commit, "--"], &sources[..]].concat()) else {
        return Some(format!("{place}: this repository does not have that commit"));
    };
    let count = names.lines().count();
    let changed = |folder: &&&str| names.lines().any(|name| name.starts_with(**folder));
    let folders: Vec<&str> = sources.iter().filter(changed).copied().collect();
    (count > 0).then(|| format!("{place}: {count} files changed since, in {}", folders.join(", ")))
}
