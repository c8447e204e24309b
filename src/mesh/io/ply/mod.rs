//! PLY (Turk 1994), ASCII and binary of either endianness. Elements and properties that are not part of the surface are
//! ignored; other content that the header does not announce is refused.

mod body;
mod header;

use std::borrow::Cow;

use super::polygon::{self, checked};
use super::text::{self, excerpt};
use crate::TriMesh;
use body::{Body, Number};
use header::{Element, Encoding, Header, Property};
use voxshell_base::memory::{text_of, CollectGuarded, GrowGuarded};

/// Names of the property with the vertices of a face.
const INDICES: [&str; 2] = ["vertex_indices", "vertex_index"];

/// Use of the numbers of a property.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// The coordinate along this axis.
    Coordinate(usize),
    Indices,
    Nothing,
}

/// Reads a PLY file: `vertex` with x, y, z; `face` with `vertex_indices` (polygons are triangulated), or `tristrips`.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    if text::is_wide(bytes) {
        return Err(text::wide());
    }
    let (header, rest) = Header::read(text::without_mark(bytes))?;
    let uses = header.elements.iter().map(|e| uses(e, bytes.len())).try_collect_guarded()?;
    let count_of = |name: &str| header.elements.iter().find(|e| e.name == name).map(|e| e.count);
    let vertex_count = count_of("vertex").ok_or("it has no element \"vertex\"")?;
    if count_of("face").is_none() && count_of("tristrips").is_none() {
        return Err("it has no element \"face\": a point cloud is no mesh".into());
    }
    let text = if header.encoding == Encoding::Ascii { text_of(rest) } else { Cow::Borrowed("") };
    let mut body = Body::new(&header, rest, &text);
    let (mut vertices, mut faces, mut strips) = (Vec::new(), Lists::new("face"), Lists::new("strip"));
    for (element, uses) in header.elements.iter().zip(&uses) {
        for row in 0..element.count {
            body.begin(element, row)?;
            let mut position = [0.0; 3];
            for (property, r#use) in element.properties.iter().zip(uses) {
                let count = match property.length {
                    Some(length) => list_length(&mut body, length, property, element, row)?,
                    None => 1,
                };
                for _ in 0..count {
                    let number = body.number(property.scalar, element, row)?;
                    match (r#use, number) {
                        (Use::Coordinate(axis), number) => position[*axis] = number.into(),
                        (Use::Indices, Number::Integer(i)) if element.name == "face" => {
                            faces.push(i, row, vertex_count, false)?;
                        }
                        (Use::Indices, Number::Integer(i)) => strips.push(i, row, vertex_count, true)?,
                        _ => {}
                    }
                }
            }
            body.end(element)?;
            match element.name.as_str() {
                "vertex" => vertices.push_guarded(position),
                "face" => faces.end_row(),
                "tristrips" => strips.end_row(),
                _ => {}
            }
        }
    }
    body.finish()?;
    let mut triangles = Vec::new();
    for (i, corners) in faces.rows().enumerate() {
        if corners.len() < 3 {
            return Err(format!("face {i} has {} corners; expected at least three", corners.len()));
        }
        polygon::triangulate(&vertices, corners, &mut triangles);
    }
    // The winding alternates along a strip.
    for strip in strips.rows().flat_map(|row| row.split(|&v| v == Lists::END)) {
        for (k, t) in strip.windows(3).enumerate() {
            triangles.push_guarded(if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] });
        }
    }
    checked(vertices, triangles)
}

/// Returns the uses of the properties of an element, of a file of `length` bytes.
fn uses(element: &Element, length: usize) -> Result<Vec<Use>, String> {
    let name = excerpt(&element.name);
    // Such elements take no bytes, so any number of them could be announced.
    if element.properties.is_empty() && element.count > 0 {
        return Err(format!("element {name} has no properties"));
    }
    if element.count > length {
        let count = element.count;
        return Err(format!("truncated: {count} of element {name} are announced in a file of {length} bytes"));
    }
    let uses: Vec<Use> = element
        .properties
        .iter()
        .map(|p| match (element.name.as_str(), p.name.as_str()) {
            ("vertex", "x") => Use::Coordinate(0),
            ("vertex", "y") => Use::Coordinate(1),
            ("vertex", "z") => Use::Coordinate(2),
            (_, name) if INDICES.contains(&name) => Use::Indices,
            _ => Use::Nothing,
        })
        .collect_guarded();
    let count = |what: fn(&Use) -> bool| uses.iter().filter(|u| what(u)).count();
    let (coordinates, indices) = (count(|u| matches!(u, Use::Coordinate(_))), count(|u| *u == Use::Indices));
    match element.name.as_str() {
        "vertex" if coordinates < 3 => {
            return Err("element \"vertex\" lacks one of x, y and z; expected all three".into())
        }
        "face" | "tristrips" if indices != 1 => {
            return Err(format!(
                "element {name} has {indices} properties vertex_indices or vertex_index; expected one"
            ));
        }
        "face" | "tristrips" => {}
        _ if indices > 0 => {
            return Err(format!("element {name} has vertex_indices; expected them in face and tristrips only"));
        }
        _ => {}
    }
    for (property, r#use) in element.properties.iter().zip(&uses) {
        let good = match r#use {
            Use::Coordinate(_) => property.length.is_none(),
            Use::Indices => property.length.is_some() && property.scalar.is_integer(),
            Use::Nothing => true,
        };
        if !good {
            let expected = if *r#use == Use::Indices { "a list of whole numbers" } else { "a number" };
            return Err(format!("property {} of element {name} is not {expected}", excerpt(&property.name)));
        }
    }
    Ok(uses)
}

/// Reads the length of the list that follows.
fn list_length(
    body: &mut Body,
    length: header::Scalar,
    property: &Property,
    element: &Element,
    row: usize,
) -> Result<usize, String> {
    let Number::Integer(count) = body.number(length, element, row)? else { return Ok(0) };
    let (name, of) = (excerpt(&property.name), excerpt(&element.name));
    usize::try_from(count).map_err(|_| format!("list {name} of number {row} of element {of} has length {count}"))
}

/// Lists of vertices, one after the other.
struct Lists {
    /// Name of the lists' element, for messages.
    what: &'static str,
    vertices: Vec<u32>,
    /// End of each list.
    ends: Vec<usize>,
}

impl Lists {
    /// Value in the place of a vertex that marks the end of a strip; it is −1 in the file.
    const END: u32 = u32::MAX;

    fn new(what: &'static str) -> Self {
        Self { what, vertices: Vec::new(), ends: Vec::new() }
    }

    fn push(&mut self, vertex: i64, row: usize, vertex_count: usize, may_end: bool) -> Result<(), String> {
        let known = |&v: &u32| (v as usize) < vertex_count && v != Self::END;
        let vertex = match u32::try_from(vertex).ok().filter(known) {
            Some(v) => v,
            None if may_end && vertex == -1 => Self::END,
            None => {
                let what = self.what;
                return Err(format!("{what} {row} refers to vertex {vertex}, but there are {vertex_count} vertices"));
            }
        };
        self.vertices.push_guarded(vertex);
        Ok(())
    }

    fn end_row(&mut self) {
        self.ends.push_guarded(self.vertices.len());
    }

    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.vertices[begin..end])
    }
}
