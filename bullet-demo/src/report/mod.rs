//! `report.html`: one self-contained file with films and stills of the fields, plots and tables.

mod film;
mod page;
pub mod plot;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::bridge::Method;
use crate::run::{Cast, Context, Outcome};

/// Draws the report and writes `report.html` and its title picture `title.png` into `folder`. Creates the folder if it
/// is missing.
pub fn write(
    folder: &Path,
    done: &[(Cast, Vec<Outcome>)],
    subject: &str,
    context: &Context,
) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (html, title) = page::page(done, subject, context).map_err(|e| e.to_string())?;
    if let Some(picture) = title {
        picture.write_png(&folder.join("title.png")).map_err(|e| e.to_string())?;
    }
    persist(folder, "report.html", html.as_bytes())
}

/// Writes a file completely or not at all.
pub fn persist(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let at = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(at)?;
    file.write_all(bytes).map_err(at)?;
    #[cfg(unix)]
    {
        // A temporary file is private by default; a report gets the permissions of a new file.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(at)?;
    }
    file.persist(&path).map_err(|e| at(e.error))?;
    Ok(path)
}

/// Returns a page around `body`.
pub fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        page::style()
    )
}

/// Returns the legend of the colours of a plot's lines.
pub fn legend(plot: &plot::Plot) -> String {
    let key = |s: &plot::Series| format!("<span><span class=\"key m-{}\"></span>{}</span> ", s.class, s.title);
    format!("<p class=\"legend\">{}</p>\n", plot.series.iter().map(key).collect::<String>())
}

/// Returns the plot as a separate file, with its legend below.
pub fn standalone(plot: &plot::Plot) -> String {
    let (mut keys, mut x, mut y) = (String::new(), 0.0, plot::HEIGHT + 16.0);
    for s in &plot.series {
        let wide = 34.0 + 5.7 * s.title.chars().count() as f64;
        if x + wide > plot::WIDTH {
            (x, y) = (0.0, y + 16.0);
        }
        keys += &format!(
            "<path class=\"line m-{}\" d=\"M{x:.0} {:.0}h12\"/><text class=\"tick\" x=\"{:.0}\" y=\"{y:.0}\">{}</text>",
            s.class,
            y - 4.0,
            x + 16.0,
            s.title
        );
        x += wide;
    }
    let svg = plot.svg();
    let (head, rest) = svg.split_once('>').expect("an element");
    let head =
        head.replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"system-ui, sans-serif\" ");
    let head =
        head.replace(&format!("{} {}\"", plot::WIDTH, plot::HEIGHT), &format!("{} {:.0}\"", plot::WIDTH, y + 8.0));
    let rest = rest.trim_end_matches("</svg>");
    format!("{head}><style>{}</style>{rest}{keys}</svg>\n", page::style())
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Scenes with more bodies than this get one picture instead of a film.
const MOST_FILMED: usize = 100;

/// Returns the methods that get a film: the best stock method that ran and the finest of ours.
fn filmed(outcomes: &[Outcome]) -> Vec<Method> {
    if outcomes.iter().filter_map(|o| o.run.as_ref()).any(|r| r.recording.bodies.len() > MOST_FILMED) {
        return Vec::new();
    }
    let ran = |m: Method| outcomes.iter().any(|o| o.row.method == m && o.run.is_some());
    let first = |order: &[Method]| order.iter().copied().find(|&m| ran(m));
    let stock = [Method::Sphere, Method::Vhacd32, Method::Hacd, Method::HullFull, Method::Gimpact, Method::Hull];
    let ours = [Method::VoxshellFine, Method::VoxshellCoarse];
    first(&stock).into_iter().chain(first(&ours)).collect()
}

/// Encodes base64 for `data:` addresses (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |b, &x| b << 8 | u32::from(x)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_the_standard_examples() {
        let of = |s: &str| super::base64(s.as_bytes());
        assert_eq!(
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(of),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        );
    }
}
