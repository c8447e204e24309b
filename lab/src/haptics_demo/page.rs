//! The report: one self-contained HTML file.

use std::fmt::Write;

use base64::prelude::{Engine, BASE64_STANDARD};
use plotters::style::RGBColor;
use voxshell_cli::render::Image;

use super::plot::colour;
use super::scenes::Stage;
use super::session::{Figures, Recording, RendererName};
use super::stability::Half;

/// Section of a scene.
pub struct Section {
    pub stage: Stage,
    pub recordings: Vec<Recording>,
    /// PNG files and their captions.
    pub pictures: Vec<(Vec<u8>, String)>,
    /// One of the pictures, for the title.
    pub title: Option<Image>,
    /// Plots as SVG.
    pub plots: Vec<String>,
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

pub fn html(sections: &[Section], stable: &[Half]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Voxshell: 6-DoF haptics</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>6-DoF haptics</h1>\n\
         <p>Scripted hand motions through the scenes of Xu &amp; Barbič 2016, each with each renderer: 1,000 steps of the device \
         in a second, and a round of the simulation for each. Depth is that of the deepest sample where the tool is shown, \
         measured apart from the renderer. Times are of one thread: the servo's step and the simulation's round together.</p>\n",
        include_str!("page.css")
    );
    for section in sections {
        scene(&mut html, section);
    }
    stable.iter().for_each(|half| html.push_str(&half.html()));
    html + "</main>\n</body>\n</html>\n"
}

fn scene(html: &mut String, section: &Section) {
    let Section { stage, recordings, pictures, plots, .. } = section;
    let _ = write!(
        html,
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<p>{} samples; {} cells of {:.2} mm along the largest edge of the field; {:.2} s.</p>\n",
        stage.scene.title(),
        escaped(stage.scene.text()),
        stage.samples(),
        stage.cells(),
        stage.voxel * 1e3,
        stage.motion.duration(),
    );
    html.push_str("<div class=\"scroll\"><table><thead><tr><th>renderer</th>");
    HEADS.iter().for_each(|head| html.push_str(&format!("<th>{head}</th>")));
    html.push_str("</tr></thead><tbody>\n");
    for recording in recordings {
        let _ = write!(html, "<tr><td>{}{}</td>", key(recording.renderer), recording.renderer.title());
        cells(&recording.figures()).iter().for_each(|cell| html.push_str(&format!("<td>{cell}</td>")));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n<div class=\"pictures\">\n");
    for (png, caption) in pictures {
        html.push_str(&figure(png, caption));
    }
    html.push_str("</div>\n<div class=\"plots\">\n");
    plots.iter().for_each(|plot| html.push_str(plot));
    html.push_str("</div>\n</section>\n");
}

pub fn figure(png: &[u8], caption: &str) -> String {
    let (caption, data) = (escaped(caption), BASE64_STANDARD.encode(png));
    format!("<figure><img alt=\"{caption}\" src=\"data:image/png;base64,{data}\"><figcaption>{caption}</figcaption></figure>\n")
}

fn key(renderer: RendererName) -> String {
    let RGBColor(r, g, b) = colour(renderer);
    format!("<span class=\"key\" style=\"background:rgb({r},{g},{b})\"></span>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
