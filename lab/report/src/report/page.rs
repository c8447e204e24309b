//! HTML pages that need no other file.

use base64::prelude::{Engine, BASE64_STANDARD};
use voxshell::Result;

use super::palette::{self, Colour};
use super::plot::{Curve, Plot};

/// Escapes text for the content and the attributes of elements.
pub fn escape(text: &str) -> String {
    html_escape::encode_double_quoted_attribute(text).into_owned()
}

/// Returns the document around `body`, which is HTML; the title is text.
pub fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title),
        palette::css(),
        include_str!("page.css")
    )
}

/// Returns the PNG as an address.
pub fn data_url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png))
}

/// Returns a picture with its caption, which is HTML; `alt` is text.
pub fn figure(png: &[u8], alt: &str, caption: &str) -> String {
    let alt = escape(alt);
    format!("<figure><img alt=\"{alt}\" src=\"{}\"><figcaption>{caption}</figcaption></figure>\n", data_url(png))
}

/// Returns a swatch of the colour.
pub fn key(colour: Colour) -> String {
    format!("<span class=\"key\" style=\"background:var(--{})\"></span>", colour.name)
}

/// Returns the names of the curves with their colours.
pub fn legend<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> String {
    let entry = |c: &Curve| format!("<span>{}{}</span> ", key(c.colour), escape(&c.name));
    format!("<p class=\"legend\">{}</p>\n", curves.into_iter().map(entry).collect::<String>())
}

/// Returns the plots in a grid.
pub fn plots<'a>(plots: impl IntoIterator<Item = &'a Plot>) -> Result<String> {
    let mut html = String::from("<div class=\"plots\">\n");
    for plot in plots {
        html += &format!("<div role=\"img\" aria-label=\"{}\">{}</div>\n", escape(&plot.title), plot.svg()?);
    }
    Ok(html + "</div>\n")
}

/// A line of a table, of HTML.
#[derive(Default)]
pub struct Line {
    /// True for a bold line.
    pub strong: bool,
    /// The last cell of a line that is shorter than the head extends over the remaining columns.
    pub cells: Vec<String>,
}

/// Returns a table; the cells of head and lines are HTML.
pub fn table<H: AsRef<str>>(head: &[H], lines: &[Line]) -> String {
    let heads: String = head.iter().map(|h| format!("<th>{}</th>", h.as_ref())).collect();
    let mut html = format!("<div class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>\n");
    for line in lines {
        html += if line.strong { "<tr class=\"strong\">" } else { "<tr>" };
        let short = line.cells.len() < head.len();
        for (i, cell) in line.cells.iter().enumerate() {
            html += &match short && i + 1 == line.cells.len() {
                true => format!("<td class=\"note\" colspan=\"{}\">{cell}</td>", head.len() - i),
                false => format!("<td>{cell}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}
