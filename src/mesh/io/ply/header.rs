//! The header of a PLY file: its elements in their order, and the types of their properties.

use std::collections::HashSet;

use super::super::text::excerpt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Encoding {
    Ascii,
    Little,
    Big,
}

/// Longest header, bytes: memory for its names is allocated without a guard, so a failure would end the process.
const MAX_HEADER: usize = 1 << 17;

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    /// Returns the bytes of a number in a binary file.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

#[derive(Debug, PartialEq)]
pub struct Property {
    pub name: String,
    /// The type of the length, if it is a list.
    pub length: Option<Scalar>,
    pub scalar: Scalar,
}

#[derive(Debug, PartialEq)]
pub struct Element {
    pub name: String,
    pub count: usize,
    /// At least one, no two of the same name.
    pub properties: Vec<Property>,
}

#[derive(Debug, PartialEq)]
pub struct Header {
    pub encoding: Encoding,
    /// In the order of the file, no two of the same name.
    pub elements: Vec<Element>,
    /// Number of the header's lines.
    pub lines: usize,
}

impl Header {
    /// Reads the header of a file without a byte order mark; also returns the bytes after it.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), String> {
        let mut rest = bytes;
        // In binary files a CR that ends the header must not take a first byte of 10 with it: the first line shows the
        // line end.
        let end = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(bytes.len());
        let terminator =
            if bytes[end..].starts_with(b"\r") && !bytes[end..].starts_with(b"\r\n") { b'\r' } else { b'\n' };
        let (mut encoding, mut elements) = (None, Vec::<Element>::new());
        // Names of the elements, and of the properties of the last one.
        let (mut elements_named, mut properties_named) = (HashSet::new(), HashSet::new());
        let mut lines = 0;
        loop {
            let Some(end) = rest.iter().position(|&b| b == terminator) else {
                // A file that is no PLY file may consist of its first line alone.
                let expected = if lines == 0 { "ply" } else { "end_header" };
                if rest.is_empty() || lines > 0 {
                    return Err(format!("not a valid PLY file: end of file before {expected:?}"));
                }
                let begin = String::from_utf8_lossy(&rest[..rest.len().min(400)]);
                return Err(format!("not a valid PLY file: it begins with {}; expected \"ply\"", excerpt(&begin)));
            };
            let (line, tail) = rest.split_at(end);
            rest = &tail[1..];
            lines += 1;
            if bytes.len() - rest.len() > MAX_HEADER {
                return Err(format!("not a valid PLY file: the header is longer than {MAX_HEADER} bytes"));
            }
            let line = String::from_utf8_lossy(line);
            let words: Vec<&str> = line.split_whitespace().take(6).collect();
            let wrong = |expected: &str| {
                Err(format!("not a valid PLY file: line {lines}: {}; expected {expected}", excerpt(&line)))
            };
            match (lines, words.as_slice()) {
                (1, ["ply"]) => {}
                (1, _) => return wrong("\"ply\""),
                (_, [] | ["comment" | "obj_info", ..]) => {}
                (_, ["format", name, "1.0"]) => {
                    let named = match *name {
                        "ascii" => Encoding::Ascii,
                        "binary_little_endian" => Encoding::Little,
                        "binary_big_endian" => Encoding::Big,
                        _ => return wrong("ascii, binary_little_endian or binary_big_endian"),
                    };
                    if encoding.replace(named).is_some_and(|other| other != named) {
                        return wrong("no other format than before");
                    }
                }
                (_, ["element", name, count]) => {
                    let Ok(count) = count.parse() else { return wrong("`element name count`") };
                    if !elements_named.insert(name.to_string()) {
                        return wrong("elements of different names");
                    }
                    properties_named.clear();
                    elements.push(Element { name: (*name).into(), count, properties: Vec::new() });
                }
                (_, ["property", property @ ..]) => {
                    let Some(property) = read_property(property) else {
                        return wrong("`property type name` or `property list type type name`");
                    };
                    let Some(element) = elements.last_mut() else { return wrong("an element before its properties") };
                    if !properties_named.insert(property.name.clone()) {
                        return wrong("properties of different names");
                    }
                    element.properties.push(property);
                }
                (_, ["end_header"]) => break,
                _ => return wrong("`format`, `comment`, `element`, `property` or `end_header`"),
            }
        }
        let encoding = encoding.ok_or("not a valid PLY file: its header has no line `format`")?;
        Ok((Self { encoding, elements, lines }, rest))
    }
}

fn read_property(words: &[&str]) -> Option<Property> {
    let (length, scalar, name) = match words {
        ["list", length, scalar, name] => (Some(Scalar::by_name(length).filter(|s| s.is_integer())?), scalar, name),
        [scalar, name] => (None, scalar, name),
        _ => return None,
    };
    Some(Property { name: (*name).into(), length, scalar: Scalar::by_name(scalar)? })
}
