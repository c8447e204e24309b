//! Wavefront OBJ. Reads positions and faces; refuses unknown statements, since an ignored statement may be a part of
//! the surface.

use std::io::Write;

use super::polygon::{self, checked};
use super::text::{self, excerpt};
use crate::TriMesh;
use voxshell_base::memory::{filled, GrowGuarded, RoomGuarded};

/// Statements without a surface: attributes, names, points, lines and curves.
const IGNORED: [&str; 35] = [
    "vt",
    "vn",
    "vp",
    "g",
    "o",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "p",
    "l",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "ctech",
    "stech",
    "res",
];
/// Ignored statements whose words are names: a backslash at the end of the line is then part of the name.
const NAMES: [&str; 8] = ["g", "o", "usemtl", "mtllib", "usemap", "maplib", "shadow_obj", "trace_obj"];
/// Statements with a surface that is not made of polygons.
const FREE_FORM: [&str; 5] = ["surf", "bzp", "bsp", "cdc", "cdp"];

/// Reads OBJ text: `v` and `f` of all objects and groups, with absolute or relative numbers of vertices. Vertices that no face
/// uses are left out. Texture and normal numbers may be wrong.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    let text = text::decode(bytes)?;
    let mut obj = Obj::default();
    let mut joined = String::new();
    let mut lines = text::lines(&text).map(uncommented).enumerate();
    while let Some((i, first)) = lines.next() {
        let mut line = first;
        if let Some(begin) = continued(first) {
            joined.clear();
            joined.reserve_guarded(begin.len());
            joined.push_str(begin);
            loop {
                joined.reserve_guarded(1);
                joined.push(' ');
                let Some((_, next)) = lines.next() else {
                    return Err(format!("line {}: {}; the file ends in a continued line", i + 1, excerpt(first)));
                };
                match next.trim_end().strip_suffix('\\') {
                    Some(more) => {
                        joined.reserve_guarded(more.len() + 1);
                        joined.push_str(more);
                    }
                    None => {
                        joined.reserve_guarded(next.len());
                        joined.push_str(next);
                        break;
                    }
                }
            }
            line = &joined;
        }
        obj.statement(i + 1, line).map_err(|reason| format!("line {}: {}{reason}", i + 1, excerpt(line)))?;
    }
    if let Some(&(number, vertex)) = obj.ahead.iter().find(|&&(_, vertex)| vertex as usize > obj.vertices.len()) {
        let line = text::lines(&text).nth(number - 1).unwrap_or_default();
        return Err(format!("line {number}: {}{}", excerpt(line), missing(vertex.into(), obj.vertices.len())));
    }
    obj.into_mesh()
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

/// Returns the line without its comment: a backslash at the end of a comment does not continue the line.
fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

/// Returns the line without the backslash that continues it, if there is one.
fn continued(line: &str) -> Option<&str> {
    let begin = line.trim_end().strip_suffix('\\')?;
    let keyword = begin.split_whitespace().next().unwrap_or("");
    (!NAMES.contains(&keyword)).then_some(begin)
}

fn missing(vertex: i64, count: usize) -> String {
    format!(" refers to vertex {vertex}, but there are {count} vertices")
}

/// Data read so far.
#[derive(Default)]
struct Obj {
    vertices: Vec<[f64; 3]>,
    /// Corners of all faces one after the other, from 0.
    corners: Vec<u32>,
    /// Number of corners of each face.
    arities: Vec<u32>,
    /// Vertices, from 1, that did not exist when a face on this line referred to them; only those higher than all
    /// before. So the first missing one is among them.
    ahead: Vec<(usize, u32)>,
}

impl Obj {
    /// Reads a statement; `number` is that of its line, from 1. In an error, the reason follows the text of the line.
    fn statement(&mut self, number: usize, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        match words.next() {
            None => Ok(()),
            Some("v") => {
                let position = position(words).ok_or("; expected `v x y z` with three finite numbers")?;
                self.vertices.push_guarded(position);
                Ok(())
            }
            // `fo` is the face of the oldest files.
            Some("f" | "fo") => self.face(number, words),
            Some(word) if IGNORED.contains(&word) => Ok(()),
            Some(word) if FREE_FORM.contains(&word) => {
                Err("; expected polygons: free-form surfaces are not read".into())
            }
            Some("call" | "csh") => Err("; expected no commands: they are not carried out".into()),
            Some(_) => Err("; expected a statement of an OBJ file, such as `v` or `f`".into()),
        }
    }

    fn face<'a>(&mut self, number: usize, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let before = self.corners.len();
        for word in words {
            let vertex = corner(word).ok_or("; expected a face with at least three vertex indices")?;
            let seen = self.vertices.len();
            let from_zero = if vertex < 0 { seen as i64 + vertex } else { vertex - 1 };
            let from_zero = u32::try_from(from_zero).map_err(|_| missing(vertex, seen))?;
            if from_zero as usize >= seen && self.ahead.last().is_none_or(|&(_, highest)| from_zero >= highest) {
                let from_one = from_zero.checked_add(1).ok_or_else(|| missing(vertex, seen))?;
                self.ahead.push_guarded((number, from_one));
            }
            self.corners.push_guarded(from_zero);
        }
        let arity = self.corners.len() - before;
        if arity < 3 {
            return Err("; expected a face with at least three vertex indices".into());
        }
        self.arities.push_guarded(arity as u32);
        Ok(())
    }

    /// Makes the mesh, with vertices in the order in which faces first use them.
    fn into_mesh(self) -> Result<TriMesh, String> {
        const UNUSED: u32 = u32::MAX;
        let Self { vertices: given, mut corners, arities, .. } = self;
        if arities.is_empty() {
            return Err(format!("it has {} vertices and no triangles; expected at least one face", given.len()));
        }
        let mut renumbered = filled(UNUSED, given.len());
        let mut vertices = Vec::new();
        for corner in &mut corners {
            let new = &mut renumbered[*corner as usize];
            if *new == UNUSED {
                *new = vertices.len() as u32;
                vertices.push_guarded(given[*corner as usize]);
            }
            *corner = *new;
        }
        drop((given, renumbered));
        let mut triangles = Vec::new();
        let mut rest = corners.as_slice();
        for arity in arities {
            let (face, tail) = rest.split_at(arity as usize);
            polygon::triangulate(&vertices, face, &mut triangles);
            rest = tail;
        }
        checked(vertices, triangles)
    }
}

/// Returns the position of `x y z`, behind which a weight or a colour of three or four numbers may stand: the weight is for rational
/// curves and has no effect on polygons, and colours are NaN in some scans.
fn position<'a>(words: impl Iterator<Item = &'a str>) -> Option<[f64; 3]> {
    let mut values = [0.0; 7];
    let mut count = 0;
    for word in words {
        *values.get_mut(count)? = word.parse::<f64>().ok()?;
        count += 1;
    }
    let [x, y, z, ..] = values;
    let position = [x, y, z];
    (matches!(count, 3 | 4 | 6 | 7) && position.iter().all(|x| x.is_finite())).then_some(position)
}

/// Returns the vertex number of `v`, `v/vt`, `v//vn` or `v/vt/vn`.
fn corner(word: &str) -> Option<i64> {
    let mut numbers = word.split('/');
    let vertex = numbers.next()?.parse().ok()?;
    let others = numbers.by_ref().take(2).all(|n| n.is_empty() || n.parse::<i64>().is_ok());
    (others && numbers.next().is_none()).then_some(vertex)
}
