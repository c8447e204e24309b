//! PLY (Turk 1994), ASCII and binary of either endianness, read by `ply-rs-bw`.

use std::io::Cursor;

use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{Encoding, Property, PropertyAccess, PropertyAccessResult};

use super::{checked, excerpt, polygon};
use crate::mesh::TriMesh;

/// What is kept of a line of any element: a position, or a list of vertex indices.
#[derive(Default)]
struct Row {
    position: [Option<f64>; 3],
    indices: Vec<i64>,
}

impl PropertyAccess for Row {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        match name {
            "x" => self.position[0] = number(&property),
            "y" => self.position[1] = number(&property),
            "z" => self.position[2] = number(&property),
            "vertex_indices" | "vertex_index" => match integers(property) {
                Some(list) => self.indices = list,
                None => return PropertyAccessResult::UnsupportedType,
            },
            _ => return PropertyAccessResult::Ignored,
        }
        PropertyAccessResult::Set
    }
}

fn number(property: &Property) -> Option<f64> {
    Some(match *property {
        Property::Char(x) => x.into(),
        Property::UChar(x) => x.into(),
        Property::Short(x) => x.into(),
        Property::UShort(x) => x.into(),
        Property::Int(x) => x.into(),
        Property::UInt(x) => x.into(),
        Property::Float(x) => x.into(),
        Property::Double(x) => x,
        _ => return None,
    })
}

fn integers(property: Property) -> Option<Vec<i64>> {
    fn widen<T: Into<i64>>(list: Vec<T>) -> Option<Vec<i64>> {
        Some(list.into_iter().map(Into::into).collect())
    }
    match property {
        Property::ListChar(list) => widen(list),
        Property::ListUChar(list) => widen(list),
        Property::ListShort(list) => widen(list),
        Property::ListUShort(list) => widen(list),
        Property::ListInt(list) => widen(list),
        Property::ListUInt(list) => widen(list),
        _ => None,
    }
}

/// Reads a PLY file: `vertex` with x, y, z; `face` with `vertex_indices` (polygons are triangulated), or `tristrips`.
pub fn parse(bytes: &[u8]) -> Result<TriMesh, String> {
    let explain = |e: ParseError| format!("not a valid PLY file: {}", one_line(&e.to_string()));
    let parser = Parser::<Row>::new();
    let mut reader = Reader::new(Cursor::new(bytes));
    let header = parser.read_header(&mut reader).map_err(explain)?;
    for (name, element) in &header.elements {
        // Such elements take no bytes, so any number of them could be announced.
        if element.properties.is_empty() && element.count > 0 && header.encoding != Encoding::Ascii {
            return Err(format!("element {} has no properties", excerpt(name)));
        }
        if element.count > bytes.len() {
            let (count, length) = (element.count, bytes.len());
            let name = excerpt(name);
            return Err(format!("truncated: {count} of element {name} are announced in a file of {length} bytes"));
        }
    }
    let mut payload = parser.read_payload(&mut reader, &header).map_err(explain)?;
    let rows = payload.swap_remove("vertex").ok_or("it has no element \"vertex\"")?;
    let vertices = rows
        .iter()
        .enumerate()
        .map(|(i, row)| match row.position {
            [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
            _ => Err(format!("vertex {i} has no x, y and z; expected all three as numbers")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let index = |what: &str, row: usize, i: i64| {
        u32::try_from(i)
            .ok()
            .filter(|&i| (i as usize) < vertices.len())
            .ok_or_else(|| format!("{what} {row} refers to vertex {i}, but there are {} vertices", vertices.len()))
    };
    let mut triangles = Vec::new();
    let faces = payload.swap_remove("face");
    let strips = payload.swap_remove("tristrips");
    if faces.is_none() && strips.is_none() {
        return Err("it has no element \"face\": a point cloud is no mesh".into());
    }
    for (i, row) in faces.iter().flatten().enumerate() {
        let corners = row.indices.iter().map(|&v| index("face", i, v)).collect::<Result<Vec<_>, _>>()?;
        if corners.len() < 3 {
            return Err(format!("face {i} has {} corners; expected at least three", corners.len()));
        }
        polygon::triangulate(&vertices, &corners, &mut triangles);
    }
    for (i, row) in strips.iter().flatten().enumerate() {
        // −1 ends a strip; the winding alternates along it.
        for strip in row.indices.split(|&v| v == -1) {
            let corners = strip.iter().map(|&v| index("strip", i, v)).collect::<Result<Vec<_>, _>>()?;
            for (k, t) in corners.windows(3).enumerate() {
                triangles.push(if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] });
            }
        }
    }
    checked(vertices, triangles)
}

/// An error of several lines, of which one may be a whole line of the file, in one short line.
fn one_line(text: &str) -> String {
    text.split_whitespace().flat_map(|word| word.chars().chain([' '])).take(300).collect::<String>().trim_end().into()
}
