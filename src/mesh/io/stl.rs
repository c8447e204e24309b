//! STL, ASCII and binary, read by `stl_io` after deciding which of the two it is: a binary file may begin with "solid"
//! too, and ASCII files come with several solids, capitals and normals that are no numbers.

use std::io::Cursor;

use super::{checked, excerpt};
use crate::mesh::TriMesh;

/// Bytes before the triangles of a binary file (title and count), and of each triangle.
const HEADER: usize = 84;
const RECORD: usize = 50;

/// Reads an STL file and merges vertices at equal coordinates.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    let title = bytes.iter().position(|b| !b.is_ascii_whitespace()).map_or(&bytes[..0], |i| &bytes[i..]);
    let begins_solid = title.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    let announced = bytes.get(80..HEADER).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]) as usize);
    let exact = announced.and_then(|n| n.checked_mul(RECORD)?.checked_add(HEADER)) == Some(bytes.len());
    let text = begins_solid && !exact && !bytes.contains(&0);
    let normalised = if text {
        normalise(&String::from_utf8_lossy(bytes))?.into_bytes()
    } else {
        let n = announced.ok_or_else(|| {
            format!(
                "{} bytes and not beginning with \"solid\"; expected an STL file, which has at least {HEADER}",
                bytes.len()
            )
        })?;
        if (bytes.len() - HEADER) / RECORD < n {
            let whole = (bytes.len() - HEADER) / RECORD;
            return Err(format!("truncated: {n} triangles are announced, but there are bytes for {whole} only"));
        }
        // A blank title, so that it is not taken for text.
        let mut blank = vec![0; 80];
        blank.extend_from_slice(&bytes[80..]);
        blank
    };
    let mut reader = Cursor::new(normalised);
    let triangles = stl_io::create_stl_reader(&mut reader).map_err(|e| format!("not a valid STL file: {e}"))?;
    let mut vertices = Vec::new();
    for (i, triangle) in triangles.enumerate() {
        let triangle = triangle.map_err(|e| format!("triangle {i}: {e}"))?;
        for v in triangle.vertices {
            let v = v.0.map(f64::from);
            if !v.iter().all(|x| x.is_finite()) {
                let [x, y, z] = v;
                return Err(format!("triangle {i} has a corner at ({x}, {y}, {z}); expected finite coordinates"));
            }
            vertices.push(v);
        }
    }
    let triangles = (0..vertices.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Ok(checked(vertices, triangles)?.welded(0.0))
}

/// One solid in small letters without normals, as `stl_io` expects it; the first line out of order is an error.
fn normalise(text: &str) -> Result<String, String> {
    const FACET: [&str; 7] = ["facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet"];
    let mut out = String::from("solid merged\n");
    let (mut step, mut open) = (0, false);
    for (number, line) in text.lines().enumerate().map(|(i, l)| (i + 1, l)) {
        let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
        let Some(first) = words.first().map(String::as_str) else { continue };
        let wrong = |expected: &str| Err(format!("line {number}: {}; expected {expected}", excerpt(line)));
        match first {
            // The rest of the line is the solid's name, which may be anything.
            "solid" if step == 0 => open = true,
            "endsolid" if step == 0 => open = false,
            _ if !open => return wrong("\"solid\""),
            _ if first != FACET[step] => return wrong(&format!("{:?}", FACET[step])),
            _ => {
                match first {
                    "facet" => out.push_str("facet normal 0 0 0"),
                    "outer" => out.push_str("outer loop"),
                    "vertex" => {
                        let good = |w: &String| w.parse::<f32>().is_ok_and(f32::is_finite);
                        if words.len() != 4 || !words[1..].iter().all(good) {
                            return wrong("\"vertex x y z\" with three finite numbers");
                        }
                        out.push_str(&words.join(" "));
                    }
                    other => out.push_str(other),
                }
                out.push('\n');
                step = (step + 1) % FACET.len();
            }
        }
    }
    if open || step != 0 {
        return Err("truncated: the file ends before \"endsolid\"".into());
    }
    out.push_str("endsolid merged\n");
    Ok(out)
}
