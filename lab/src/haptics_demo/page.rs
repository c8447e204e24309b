//! The report: one self-contained HTML file.

use voxshell::Result;
use voxshell_cli::render::Image;
use voxshell_lab::report::page::{self, document, escape, figure, key, legend, table, Line};
use voxshell_lab::report::Plot;

use super::plot::colour;
use super::scenes::Stage;
use super::session::{Figures, Recording};
use super::stability::Half;

/// Section of a scene.
pub struct Section {
    pub stage: Stage,
    pub recordings: Vec<Recording>,
    /// PNG files and their captions.
    pub pictures: Vec<(Vec<u8>, String)>,
    /// One of the pictures, for the title.
    pub title: Option<Image>,
    pub plots: Vec<Plot>,
}

/// Columns of the table.
pub const HEADS: [&str; 11] =
    ["force N", "max", "torque N·m", "max", "depth mm", "max", "contacts", "max", "p50 µs", "p99 µs", "got through"];

pub fn cells(f: &Figures) -> [String; 11] {
    let got_through = match (f.passed, f.locked > 0.0) {
        (true, _) => "yes".into(),
        (false, true) => format!("no, locked {:.0}%", 100.0 * f.locked),
        (false, false) => "no".into(),
    };
    [
        format!("{:.2}", f.force[0]),
        format!("{:.2}", f.force[1]),
        format!("{:.3}", f.torque[0]),
        format!("{:.3}", f.torque[1]),
        format!("{:.3}", f.penetration[0] * 1e3),
        format!("{:.3}", f.penetration[1] * 1e3),
        format!("{:.0}", f.contacts[0]),
        format!("{:.0}", f.contacts[1]),
        format!("{:.1}", f.time[0] * 1e6),
        format!("{:.1}", f.time[1] * 1e6),
        got_through,
    ]
}

pub fn html(sections: &[Section], stable: &[Half]) -> Result<String> {
    let mut body = String::from(
        "<header class=\"top\">\n<h1>6-DoF haptics</h1>\n\
         <p>Scripted hand motions through the scenes of Xu &amp; Barbič 2016, each with each renderer: 1,000 steps of the device \
         in a second, and a round of the simulation for each. Depth is that of the deepest sample where the tool is shown, \
         measured apart from the renderer. Times are of one thread: the servo's step and the simulation's round together.</p>\n\
         </header>\n<main>\n",
    );
    for section in sections {
        body += &scene(section)?;
    }
    for half in stable {
        body += &half.html()?;
    }
    Ok(document("Voxshell: 6-DoF haptics", &(body + "</main>\n")))
}

fn scene(section: &Section) -> Result<String> {
    let Section { stage, recordings, pictures, plots, .. } = section;
    let mut html = format!(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<p>{} samples; {} cells of {:.2} mm along the largest edge of the field; {:.2} s.</p>\n",
        stage.scene.title(),
        escape(stage.scene.text()),
        stage.samples(),
        stage.cells(),
        stage.voxel * 1e3,
        stage.motion.duration(),
    );
    let line = |r: &Recording| {
        let name = key(colour(r.renderer)) + r.renderer.title();
        Line { cells: std::iter::once(name).chain(cells(&r.figures())).collect(), strong: false }
    };
    let heads: Vec<&str> = std::iter::once("renderer").chain(HEADS).collect();
    html += &table(&heads, &recordings.iter().map(line).collect::<Vec<_>>());
    html += &stills(pictures.iter().map(|(png, caption)| (png.as_slice(), caption.as_str())));
    html += &legend(plots.iter().take(1).flat_map(|p| &p.curves));
    html += &page::plots(plots)?;
    Ok(html + "</section>\n")
}

/// Returns PNG files with their captions in a grid.
pub fn stills<'a>(pictures: impl Iterator<Item = (&'a [u8], &'a str)>) -> String {
    let figures: String = pictures.map(|(png, caption)| figure(png, caption, &escape(caption))).collect();
    format!("<div class=\"stills large\">\n{figures}</div>\n")
}
