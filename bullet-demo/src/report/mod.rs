//! `report.html`: one file that needs nothing else. Films and stills of the fields, plots, tables.

mod film;
mod page;
mod plot;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::bridge::Method;
use crate::run::{Cast, Context, Outcome};

/// Draws everything and writes `report.html`, and its title picture as `title.png`, into `folder`, which is made when it is
/// not there.
pub fn write(
    folder: &Path,
    done: &[(Cast, Vec<Outcome>)],
    subject: &str,
    context: &Context,
) -> Result<PathBuf, String> {
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(at)?;
    let (html, title) = page::page(done, subject, context).map_err(|e| e.to_string())?;
    if let Some(picture) = title {
        picture.write_png(&folder.join("title.png")).map_err(|e| e.to_string())?;
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(at)?;
    file.write_all(html.as_bytes()).map_err(at)?;
    #[cfg(unix)]
    {
        // A temporary file is private by default; a report is as readable as any other new file.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(at)?;
    }
    let path = folder.join("report.html");
    file.persist(&path).map_err(|e| at(e.error))?;
    Ok(path)
}

/// The methods that get a film: the best stock one that ran and the finest of ours.
fn filmed(outcomes: &[Outcome]) -> Vec<Method> {
    let ran = |m: Method| outcomes.iter().any(|o| o.row.method == m && o.run.is_some());
    let first = |order: &[Method]| order.iter().copied().find(|&m| ran(m));
    let stock = [Method::Sphere, Method::Vhacd32, Method::Hacd, Method::HullFull, Method::Gimpact, Method::Hull];
    let ours = [Method::VoxshellFine, Method::VoxshellCoarse];
    first(&stock).into_iter().chain(first(&ours)).collect()
}

/// For `data:` addresses (RFC 4648, section 4).
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
