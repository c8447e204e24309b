//! Wavefront OBJ, read by `tobj` from a text reduced to its geometry.

use std::io::Write;

use super::{checked, excerpt, polygon};
use crate::mesh::TriMesh;

/// Reads OBJ text. Only `v` and `f` lines reach `tobj`: groups and materials would split shared vertices apart, and
/// texture and normal indices are of no use here and may be wrong.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    let text = geometry(&String::from_utf8_lossy(bytes));
    let options =
        tobj::LoadOptions { single_index: true, ignore_points: true, ignore_lines: true, ..Default::default() };
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| Ok(Default::default()))
        .map_err(|e| explain(&text, &e))?;
    if let Some(reason) = first_fault(&text) {
        return Err(reason);
    }
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for tobj::Model { mesh, .. } in models {
        let base = vertices.len() as u32;
        vertices.extend(mesh.positions.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
        let mut corners: Vec<u32> = mesh.indices;
        corners.iter_mut().for_each(|i| *i += base);
        if mesh.face_arities.is_empty() {
            triangles.extend(corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]));
        } else {
            let mut rest = corners.as_slice();
            for arity in mesh.face_arities {
                let (face, tail) = rest.split_at(arity as usize);
                polygon::triangulate(&vertices, face, &mut triangles);
                rest = tail;
            }
        }
    }
    checked(vertices, triangles)
}

/// Writes vertices and triangles with every digit (the shortest text that reads back as the same number).
pub fn write(out: &mut impl Write, mesh: &TriMesh) -> std::io::Result<()> {
    for v in &mesh.vertices {
        writeln!(out, "v {} {} {}", v[0], v[1], v[2])?;
    }
    for t in &mesh.triangles {
        writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1)?;
    }
    out.flush()
}

/// The `v` and `f` lines alone, on the same line numbers: positions without colours, face corners without `/vt/vn`, and
/// continued lines (ending in a backslash) joined.
fn geometry(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    let mut joined = String::new();
    while let Some(line) = lines.next() {
        let mut blank = 0;
        let line = if line.trim_end().ends_with('\\') {
            joined.clear();
            let mut part = Some(line);
            while let Some(p) = part {
                let Some(more) = p.trim_end().strip_suffix('\\') else {
                    joined.push_str(p);
                    break;
                };
                joined.push_str(more);
                joined.push(' ');
                part = lines.next();
                blank += usize::from(part.is_some());
            }
            joined.as_str()
        } else {
            line
        };
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                // x y z, then nothing, w, or a colour with or without alpha.
                let keep = if line.split_whitespace().count() == 5 { 4 } else { 3 };
                out.push('v');
                words.take(keep).for_each(|w| {
                    out.push(' ');
                    out.push_str(w);
                });
            }
            Some("f") => {
                out.push('f');
                words.for_each(|w| {
                    out.push(' ');
                    out.push_str(w.split('/').next().unwrap_or(""));
                });
            }
            _ => {}
        }
        (0..=blank).for_each(|_| out.push('\n'));
    }
    out
}

/// `tobj`'s error with the line it is about.
fn explain(text: &str, error: &tobj::LoadError) -> String {
    first_fault(text).unwrap_or_else(|| format!("not a valid OBJ file: {error}"))
}

/// The first line that is not a valid position or face.
fn first_fault(text: &str) -> Option<String> {
    let total = text.lines().filter(|l| l.starts_with('v')).count() as i64;
    let mut seen = 0;
    for (number, line) in text.lines().enumerate().map(|(i, l)| (i + 1, l)) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                seen += 1;
                let values: Vec<_> = words.map(|w| w.parse::<f64>().ok().filter(|x| x.is_finite())).collect();
                if values.len() < 3 || values.iter().any(Option::is_none) || values.get(3) == Some(&Some(0.0)) {
                    let line = excerpt(line);
                    return Some(format!("line {number}: {line}; expected `v x y z` with three finite numbers"));
                }
            }
            Some("f") => {
                let corners: Vec<_> = words.map(|w| w.parse::<i64>().ok()).collect();
                if corners.len() < 3 || corners.iter().any(Option::is_none) {
                    let line = excerpt(line);
                    return Some(format!("line {number}: {line}; expected a face with at least three vertex indices"));
                }
                let in_range = |&i: &i64| if i < 0 { seen + i >= 0 } else { i >= 1 && i <= total };
                if let Some(bad) = corners.iter().flatten().find(|&i| !in_range(i)) {
                    let line = excerpt(line);
                    return Some(format!(
                        "line {number}: {line} refers to vertex {bad}, but there are {} vertices",
                        if *bad < 0 { seen } else { total }
                    ));
                }
            }
            _ => {}
        }
    }
    None
}
