//! STL, ASCII and binary. The first word of a file does not determine its type: a binary file may begin with "solid"
//! too. ASCII files may have several solids, capitals, and normals that are no numbers.

use super::polygon::checked;
use super::text::{self, excerpt};
use crate::TriMesh;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};

/// Bytes before the triangles of a binary file (title and count), and of each triangle.
const HEADER: usize = 84;
const RECORD: usize = 50;
/// Bytes of the normal, before the corners.
const NORMAL: usize = 12;

/// Reads an STL file and merges vertices at equal coordinates. Normals and attributes are ignored.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    let header = bytes.get(..HEADER);
    let announced = header.map(|h| u32::from_le_bytes([h[80], h[81], h[82], h[83]]) as usize);
    let exact = announced.is_some_and(|n| n.checked_mul(RECORD) == Some(bytes.len() - HEADER));
    let begin = text::without_mark(bytes).trim_ascii_start();
    let begins_solid = begin.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let vertices = if exact {
        records(bytes)?
    } else if text::is_wide(bytes) {
        return Err(text::wide());
    } else if begins_solid && !header.unwrap_or(bytes).contains(&0) {
        facets(&text::decode(bytes)?)?
    } else {
        let n = announced.ok_or_else(|| {
            format!(
                "{} bytes and not beginning with \"solid\"; expected an STL file, which has at least {HEADER}",
                bytes.len()
            )
        })?;
        let (whole, more) = ((bytes.len() - HEADER) / RECORD, (bytes.len() - HEADER) % RECORD);
        return Err(if whole < n {
            format!("truncated: {n} triangles are announced, but there are bytes for {whole} only")
        } else if whole == n {
            format!("{n} triangles are announced, but {more} bytes follow them; expected the end of the file")
        } else {
            format!("{n} triangles are announced, but there are bytes for {whole}; expected as many as are announced")
        });
    };
    let triangles = (0..vertices.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect_guarded();
    Ok(checked(vertices, triangles)?.welded(0.0))
}

/// Returns the corners of the triangles of a binary file of the right length.
fn records(bytes: &[u8]) -> Result<Vec<[f64; 3]>, String> {
    let mut vertices = with_capacity((bytes.len() - HEADER) / RECORD * 3);
    for (i, record) in bytes[HEADER..].chunks_exact(RECORD).enumerate() {
        for corner in record[NORMAL..NORMAL + 36].chunks_exact(12) {
            let [x, y, z] = [0, 4, 8].map(|k| f32::from_le_bytes([0, 1, 2, 3].map(|b| corner[k + b])));
            if !(x.is_finite() && y.is_finite() && z.is_finite()) {
                return Err(format!("triangle {i} has a corner at ({x}, {y}, {z}); expected finite coordinates"));
            }
            vertices.push([x.into(), y.into(), z.into()]);
        }
    }
    Ok(vertices)
}

/// Returns the corners of the triangles of all solids of an ASCII file, with all their digits; the first line out of
/// order is an error.
fn facets(text: &str) -> Result<Vec<[f64; 3]>, String> {
    const FACET: [&str; 7] = ["facet", "outer loop", "vertex", "vertex", "vertex", "endloop", "endfacet"];
    let mut vertices = Vec::new();
    let (mut step, mut open) = (0, false);
    for (number, line) in text::lines(text).enumerate().map(|(i, l)| (i + 1, l)) {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let wrong = |expected: &str| Err(format!("line {number}: {}; expected {expected}", excerpt(line)));
        let is = |word: &str, keyword: &str| word.eq_ignore_ascii_case(keyword);
        match FACET[step] {
            // The rest of the line is the solid's name, which may be anything.
            "facet" if is(first, "solid") => {
                open = true;
                continue;
            }
            "facet" if is(first, "endsolid") => {
                open = false;
                continue;
            }
            _ if !open => return wrong("\"solid\""),
            "facet" => {
                let good = is(first, "facet") && words.next().is_none_or(|w| is(w, "normal")) && words.count() <= 3;
                if !good {
                    return wrong("\"facet normal x y z\"");
                }
            }
            "outer loop" => {
                if !(is(first, "outer") && words.next().is_some_and(|w| is(w, "loop")) && words.next().is_none()) {
                    return wrong("\"outer loop\"");
                }
            }
            "vertex" => {
                let mut number = || words.next()?.parse::<f64>().ok().filter(|x| x.is_finite());
                let position = (number(), number(), number());
                match position {
                    (Some(x), Some(y), Some(z)) if is(first, "vertex") && words.next().is_none() => {
                        vertices.push_guarded([x, y, z]);
                    }
                    _ => return wrong("\"vertex x y z\" with three finite numbers"),
                }
            }
            keyword => {
                if !is(first, keyword) || words.next().is_some() {
                    return wrong(&format!("{keyword:?}"));
                }
            }
        }
        step = (step + 1) % FACET.len();
    }
    if open || step != 0 {
        return Err("truncated: the file ends before \"endsolid\"".into());
    }
    Ok(vertices)
}
