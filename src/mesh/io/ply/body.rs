//! The numbers after the header of a PLY file, one after the other: text with an element on each line, or bytes.

use super::super::text::{self, excerpt};
use super::header::{Element, Encoding, Header, Scalar};

/// A number as in the file: integers keep all their digits, and so do the reals of text, whatever their type.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Integer(i64),
    Real(f64),
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(i) => i as f64,
            Number::Real(x) => x,
        }
    }
}

/// Source of the next number.
pub enum Body<'a> {
    Text(Lines<'a>),
    Bytes { rest: &'a [u8], big: bool },
}

/// Text with a current line.
pub struct Lines<'a> {
    lines: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    number: usize,
    line: &'a str,
    words: std::str::SplitWhitespace<'a>,
}

impl<'a> Body<'a> {
    /// Makes the body from the bytes after the header; `text` are the same bytes as text.
    pub fn new(header: &Header, bytes: &'a [u8], text: &'a str) -> Self {
        if header.encoding != Encoding::Ascii {
            return Self::Bytes { rest: bytes, big: header.encoding == Encoding::Big };
        }
        let first = header.lines + 1;
        let lines = text::lines(text).enumerate().map(move |(i, line)| (first + i, line));
        // Blank lines are not elements.
        let lines = Box::new(lines.filter(|(_, line)| !line.trim().is_empty()));
        Self::Text(Lines { lines, number: header.lines, line: "", words: "".split_whitespace() })
    }

    /// Continues with element `row`, from 0.
    pub fn begin(&mut self, element: &Element, row: usize) -> Result<(), String> {
        if let Self::Text(text) = self {
            let (number, line) = text.lines.next().ok_or_else(|| ended(element, row))?;
            (text.number, text.line, text.words) = (number, line, line.split_whitespace());
        }
        Ok(())
    }

    /// Returns the next number of the element. An integer is in the range of its type.
    pub fn number(&mut self, scalar: Scalar, element: &Element, row: usize) -> Result<Number, String> {
        match self {
            Self::Text(text) => text.number(scalar, element),
            Self::Bytes { rest, big } => {
                let (bytes, tail) = rest.split_at_checked(scalar.size()).ok_or_else(|| ended(element, row))?;
                *rest = tail;
                Ok(binary(scalar, bytes, *big))
            }
        }
    }

    /// Checks that the element has no more numbers.
    pub fn end(&mut self, element: &Element) -> Result<(), String> {
        if let Self::Text(text) = self {
            if text.words.next().is_some() {
                return Err(text.wrong(&format!("no more numbers than element {} has", excerpt(&element.name))));
            }
        }
        Ok(())
    }

    /// Checks that the file has no more content.
    pub fn finish(mut self) -> Result<(), String> {
        match &mut self {
            Self::Text(text) => match text.lines.next() {
                Some((number, line)) => Err(format!("line {number}: {}; expected the end of the file", excerpt(line))),
                None => Ok(()),
            },
            Self::Bytes { rest: [], .. } => Ok(()),
            Self::Bytes { rest, .. } => {
                Err(format!("{} bytes follow the last element; expected the end of the file", rest.len()))
            }
        }
    }
}

impl Lines<'_> {
    fn number(&mut self, scalar: Scalar, element: &Element) -> Result<Number, String> {
        let Some(word) = self.words.next() else {
            return Err(self.wrong(&format!("more numbers: those of element {}", excerpt(&element.name))));
        };
        let range = match scalar {
            Scalar::I8 => i64::from(i8::MIN)..=i8::MAX.into(),
            Scalar::U8 => 0..=u8::MAX.into(),
            Scalar::I16 => i16::MIN.into()..=i16::MAX.into(),
            Scalar::U16 => 0..=u16::MAX.into(),
            Scalar::I32 => i32::MIN.into()..=i32::MAX.into(),
            Scalar::U32 => 0..=u32::MAX.into(),
            Scalar::F32 | Scalar::F64 => {
                return word
                    .parse()
                    .map(Number::Real)
                    .map_err(|_| self.wrong(&format!("a number for {}", excerpt(word))))
            }
        };
        match word.parse() {
            Ok(i) if range.contains(&i) => Ok(Number::Integer(i)),
            _ => Err(self.wrong(&format!(
                "a whole number from {} to {} for {}",
                range.start(),
                range.end(),
                excerpt(word)
            ))),
        }
    }

    fn wrong(&self, expected: &str) -> String {
        format!("line {}: {}; expected {expected}", self.number, excerpt(self.line))
    }
}

fn ended(element: &Element, row: usize) -> String {
    let (name, count) = (excerpt(&element.name), element.count);
    format!("truncated: {count} of element {name} are announced, but the end of file is in number {row}, from 0")
}

/// Returns the number in `bytes`, which are as many as the type has.
fn binary(scalar: Scalar, bytes: &[u8], big: bool) -> Number {
    let mut little = [0; 8];
    little[..bytes.len()].copy_from_slice(bytes);
    if big {
        little[..bytes.len()].reverse();
    }
    let bits = u64::from_le_bytes(little);
    match scalar {
        Scalar::I8 => Number::Integer((bits as i8).into()),
        Scalar::U8 => Number::Integer((bits as u8).into()),
        Scalar::I16 => Number::Integer((bits as i16).into()),
        Scalar::U16 => Number::Integer((bits as u16).into()),
        Scalar::I32 => Number::Integer((bits as i32).into()),
        Scalar::U32 => Number::Integer((bits as u32).into()),
        Scalar::F32 => Number::Real(f32::from_bits(bits as u32).into()),
        Scalar::F64 => Number::Real(f64::from_bits(bits)),
    }
}
