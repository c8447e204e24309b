//! `voxshell-lab figures`: measures every figure that the pages quote, and writes the figures into the pages.
//!
//! | module | content |
//! | --- | --- |
//! | `parts` | the measurements: commands, sources, expected seconds |
//! | `runner` | runs the commands of a part and collects their rows |
//! | `results` | the files in `benches/results/MACHINE/PART.json` |
//! | `tables` | the tables of the pages |
//! | `pages` | the marks in the pages: rewriting and checking |
//! | `stale` | parts whose sources changed after they were measured |

mod pages;
mod parts;
mod results;
mod runner;
mod stale;
mod tables;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use voxshell::{Error, Result};
use voxshell_lab::table::{Align, Table};

use parts::{Part, PARTS};
use results::Results;

#[derive(clap::Args)]
#[command(after_help = "\
A page quotes figures between marks, which are comments of HTML:
  <!-- figure PART/ROW/KEY -->57.3<!-- /figure -->     a number of a results file
  <!-- table NAME -->…<!-- /table -->                  a whole table")]
pub struct Arguments {
    /// Measure only this part; may be repeated. See --list.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<String>,
    /// List the parts with what each measures and its seconds, and stop.
    #[arg(long)]
    list: bool,
    /// Measure nothing; write the figures of the results files into the pages.
    #[arg(long, conflicts_with_all = ["parts", "list"])]
    pages: bool,
    /// Measure nothing; print each line of a page that differs from the results files, and fail if there is one.
    #[arg(long, conflicts_with_all = ["parts", "list", "pages"])]
    check: bool,
    /// Measure nothing; print the parts whose sources changed after they were measured.
    #[arg(long, conflicts_with_all = ["parts", "list", "pages", "check"])]
    stale: bool,
    /// Folder of benches/results that the pages quote from now on; default: the one that they quote already.
    #[arg(long, value_name = "NAME", requires = "pages")]
    machine: Option<String>,
}

/// Returns the root of the checkout.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.into(), source })
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|source| Error::Io { path: path.into(), source })
}

pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.list {
        print!("{}", list());
        return Ok(());
    }
    if arguments.pages {
        if let Some(machine) = &arguments.machine {
            results::quote(root(), machine)?;
        }
        return rewrite();
    }
    if arguments.check {
        return check();
    }
    if arguments.stale {
        stale::changed(&Results::quoted(root())?).iter().for_each(|line| println!("{line}"));
        return Ok(());
    }
    measure(&chosen(&arguments.parts)?)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Part>> {
    let known: Vec<&str> = PARTS.iter().map(|p| p.name).collect();
    if let Some(other) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::argument("--part", other, format!("one of {}", known.join(", "))));
    }
    let wanted = |part: &&Part| names.is_empty() || names.iter().any(|name| name == part.name);
    Ok(PARTS.iter().filter(wanted).collect())
}

fn measure(parts: &[&Part]) -> Result<()> {
    let folder = results::folder(root(), &results::machine_name());
    let start = std::time::Instant::now();
    for (i, part) in parts.iter().enumerate() {
        eprintln!("{} of {}: {} ({})", i + 1, parts.len(), part.name, part.text);
        let file = runner::run(part)?;
        eprintln!("  {} rows in {:.0} s", file.rows.len(), file.seconds);
        file.save(&folder)?;
    }
    eprintln!("{:.0} s in all; the files are in {}", start.elapsed().as_secs_f64(), shown(&folder));
    eprintln!("`voxshell-lab figures --pages` writes them into the pages");
    Ok(())
}

/// Returns a path below the root without the root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn rewrite() -> Result<()> {
    let results = Results::quoted(root())?;
    for page in pages::all(root())? {
        let text = read(&page)?;
        let new = pages::generated(&text, &results).map_err(|error| in_page(&page, &error))?;
        if new != text {
            write(&page, &new)?;
            println!("{}", shown(&page));
        }
    }
    Ok(())
}

fn in_page(page: &Path, error: &pages::Mistake) -> Error {
    Error::Unsupported(format!("{}:{}: {}", shown(page), error.line, error.text))
}

/// Returns the differences between the pages and the results files, as `page:line: expected …, found …`.
fn differences(root: &Path) -> Result<Vec<String>> {
    let results = Results::quoted(root)?;
    let mut found = Vec::new();
    for page in pages::all(root)? {
        let of =
            |d: pages::Difference| format!("{}:{}: expected {}, found {}", shown(&page), d.line, d.expected, d.found);
        let differences = pages::differences(&read(&page)?, &results).map_err(|error| in_page(&page, &error))?;
        found.extend(differences.into_iter().map(of));
    }
    Ok(found)
}

fn check() -> Result<()> {
    let found = differences(root())?;
    found.iter().for_each(|line| println!("{line}"));
    match found.len() {
        0 => Ok(()),
        count => Err(Error::Unsupported(format!("{count} lines differ; `voxshell-lab figures --pages` rewrites them"))),
    }
}

/// Returns the table of `--list`: the seconds are those of the last run on this machine, or else of the authors'.
fn list() -> String {
    let folder: PathBuf = results::folder(root(), &results::machine_name());
    let mut table = Table::new(["part", "seconds", "measures"]);
    let mut sum = 0.0;
    for part in &PARTS {
        let seconds = results::File::load(&folder, part.name).map_or(part.seconds, |file| file.seconds);
        sum += seconds;
        table.push([part.name.into(), format!("{seconds:.0}"), part.text.into()]);
    }
    table.push(["all".into(), format!("{sum:.0}"), String::new()]);
    table.text(Align::Left)
}
