//! Marks in the pages: comments of HTML, which GitHub and mdBook do not show.

use std::path::{Path, PathBuf};

use voxshell::{Error, Result};
use voxshell_lab::row::figure;

use super::results::Results;
use super::tables;

/// A mark that is wrong.
#[derive(Debug)]
pub struct Mistake {
    pub line: usize,
    pub text: String,
}

/// A line that differs from the results files.
#[derive(Debug, PartialEq)]
pub struct Difference {
    pub line: usize,
    pub expected: String,
    pub found: String,
}

/// Folders with pages, and whether their subfolders have pages too.
const FOLDERS: [(&str, bool); 6] =
    [("", false), ("docs", true), ("js", false), ("python", false), ("page", false), ("cpp", true)];

/// Returns the pages that may quote figures.
pub fn all(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for (folder, deep) in FOLDERS {
        collect(&root.join(folder), deep, &mut pages)?;
    }
    pages.sort();
    Ok(pages)
}

fn collect(folder: &Path, deep: bool, pages: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |source| Error::Io { path: folder.into(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && deep {
            collect(&path, deep, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Returns the page with the figures of the results between its marks.
pub fn generated(page: &str, results: &Results) -> std::result::Result<String, Mistake> {
    let mut text = String::new();
    let mut rest = page;
    loop {
        let next = ["figure", "table"].into_iter().filter_map(|kind| {
            let open = format!("<!-- {kind} ");
            rest.find(&open).map(|at| (at, kind, open.len()))
        });
        let Some((at, kind, length)) = next.min() else { return Ok(text + rest) };
        let line = 1 + page[..page.len() - rest.len() + at].matches('\n').count();
        let mistake = |text: String| Mistake { line, text };
        let after = &rest[at + length..];
        let (name, after) =
            after.split_once(" -->").ok_or_else(|| mistake(format!("a mark of a {kind} has no end")))?;
        let close = format!("<!-- /{kind} -->");
        let (_, after) = after.split_once(&close).ok_or_else(|| mistake(format!("{kind} {name} has no {close}")))?;
        let new = match kind {
            "figure" => number(name, results).map_err(mistake)?,
            _ => format!("\n{}", tables::markdown(name, results).map_err(mistake)?),
        };
        text += &format!("{}<!-- {kind} {name} -->{new}{close}", &rest[..at]);
        rest = after;
    }
}

/// Returns the number of a mark `PART/ROW/KEY`.
fn number(name: &str, results: &Results) -> std::result::Result<String, String> {
    let parsed = name.split_once('/').and_then(|(part, rest)| Some((part, rest.rsplit_once('/')?)));
    let (part, (row, key)) = parsed.ok_or_else(|| format!("{name} is not PART/ROW/KEY"))?;
    let file = results.files.get(part).ok_or_else(|| format!("there is no part {part}"))?;
    let row = file.row(row).ok_or_else(|| format!("{part} has no row {row}"))?;
    row.number(key).map(quoted).ok_or_else(|| format!("{}/{} has no number {key}", part, row.name))
}

/// Formats with three significant digits, and with commas between thousands.
pub fn quoted(value: f64) -> String {
    if value.abs() < 999.5 {
        return figure(value);
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

/// Returns the lines of the page that differ from the results. Where a table has another number of lines, returns the
/// first line that differs.
pub fn differences(page: &str, results: &Results) -> std::result::Result<Vec<Difference>, Mistake> {
    let new = generated(page, results)?;
    let (found, expected): (Vec<&str>, Vec<&str>) = (page.lines().collect(), new.lines().collect());
    let at = |lines: &[&str], i: usize| lines.get(i).map_or("no line".into(), |line| line.trim().to_string());
    let differs = |i: &usize| found.get(*i) != expected.get(*i);
    let lines = (0..found.len().max(expected.len())).filter(differs);
    let most = if found.len() == expected.len() { usize::MAX } else { 1 };
    let difference = |i| Difference { line: i + 1, expected: at(&expected, i), found: at(&found, i) };
    Ok(lines.take(most).map(difference).collect())
}
