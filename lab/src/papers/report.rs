//! The report: one page with all tables, plots and pictures, and the rows as JSON.

use std::path::Path;

use voxshell::{Error, Result};
use voxshell_lab::report::page;
use voxshell_lab::row::{figure, Row};

use super::Outcome;

/// An experiment with its results.
pub struct Section {
    pub name: &'static str,
    pub title: &'static str,
    pub outcome: Outcome,
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|source| Error::Io { path: path.into(), source })
}

/// Writes all files of the report into a folder.
pub fn write(out: &Path, sections: &[Section]) -> Result<()> {
    let mut body = String::from("<h1>The experiments of the papers</h1>\n");
    let mut json = String::new();
    for Section { name, title, outcome } in sections {
        body += &format!("<h2>{}</h2>\n{}", page::escape(title), table(&outcome.rows));
        if !outcome.plots.is_empty() {
            body += &page::plots(&outcome.plots)?;
        }
        for (i, plot) in outcome.plots.iter().enumerate() {
            body += &page::legend(&plot.curves);
            save(&out.join(format!("{name}-{}.svg", i + 1)), plot.standalone_svg()?.as_bytes())?;
        }
        for (i, (png, caption)) in outcome.pictures.iter().enumerate() {
            body += &page::figure(png, caption, &page::escape(caption));
            save(&out.join(format!("{name}-{}.png", i + 1)), png)?;
        }
        outcome.rows.iter().for_each(|row| json += &format!("{row}\n"));
    }
    save(&out.join("papers.jsonl"), json.as_bytes())?;
    save(&out.join("papers.html"), page::document("The experiments of the papers", &body).as_bytes())
}

/// Returns the rows that have a figure as a table: ours, and the paper's or the peer's beside.
fn table(rows: &[Row]) -> String {
    let lines: Vec<page::Line> = rows
        .iter()
        .filter_map(|row| {
            let measured = row.number("measured")?;
            let peer = row.number("peer_measured").map(figure).unwrap_or_default();
            let texts =
                [row.text("row").into(), figure(measured), row.text("unit").into(), peer, row.text("peer").into()];
            Some(page::Line {
                cells: texts.iter().map(|text: &String| page::escape(text)).collect(),
                ..page::Line::default()
            })
        })
        .collect();
    page::table(&["", "measured", "", "paper", ""], &lines)
}
