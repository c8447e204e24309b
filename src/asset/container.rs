//! The outer format of the file: magic, version, a table of sections with lengths and checksums, then the sections.
//! Knows nothing of their contents.
//!
//! All integers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | magic `VOXSHELL` |
//! | 4 | format version |
//! | 4 | number of sections n |
//! | 8 | length of the whole file |
//! | n × 24 | tag (4 bytes), CRC-32 of the section (4), offset from the start of the file (8), length (8) |
//! | 4 | CRC-32 of everything above |
//! | … | the sections, in the order of the table |
//!
//! A section begins at the next multiple of [`ALIGNMENT`] after the one before it, with zeros between.

use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use voxshell_base::memory::{with_capacity, Bytes, CollectGuarded, GrowGuarded, ParCollectGuarded};
use voxshell_base::{output, Error, Result};

pub(super) const MAGIC: &[u8; 8] = b"VOXSHELL";
/// The only version that is written and read. Raised with every change that an older reader would misread or refuse with a
/// less clear reason.
pub(super) const VERSION: u32 = 1;
/// Bytes: a cache line, so that a program that maps a file can use numbers of any width in place.
const ALIGNMENT: usize = 64;

const HEADER: usize = 24;
const ENTRY: usize = 24;
/// More sections than any file has; a larger count is damage.
const MAX_SECTIONS: u32 = 64;

pub(super) type Tag = [u8; 4];
/// A tag and the content of the section.
pub(super) type Section = (Tag, Vec<u8>);

/// A file's bytes, checked, with its sections.
pub(super) struct Container<'a> {
    sections: Vec<(Tag, &'a [u8])>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at + 4) as u64) << 32
}

impl<'a> Container<'a> {
    /// Checks everything that can be checked without knowing the sections; returns the reason when something is wrong.
    pub fn parse(bytes: &'a [u8]) -> std::result::Result<Self, String> {
        if bytes.len() < HEADER {
            return Err(format!("truncated: {} bytes, a header has {HEADER}", bytes.len()));
        }
        if &bytes[..8] != MAGIC {
            return Err("not a Voxshell asset: it does not start with the magic VOXSHELL".into());
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(format!("the file has format version {version}; this library reads version {VERSION}"));
        }
        let count = u32_at(bytes, 12);
        if count > MAX_SECTIONS {
            return Err(format!("damaged header: {count} sections, at most {MAX_SECTIONS} are possible"));
        }
        let length = u64_at(bytes, 16);
        if length != bytes.len() as u64 {
            let what = if length > bytes.len() as u64 { "truncated" } else { "bytes were appended" };
            return Err(format!("{what}: the header says {length} bytes, the file has {}", bytes.len()));
        }
        let table_end = HEADER + count as usize * ENTRY;
        if bytes.len() < table_end + 4 {
            return Err("truncated inside the section table".into());
        }
        let stored = u32_at(bytes, table_end);
        let actual = crc32fast::hash(&bytes[..table_end]);
        if stored != actual {
            return Err(format!("damaged header: checksum {actual:08x}, expected {stored:08x}"));
        }
        let mut sections: Vec<(Tag, &[u8])> = with_capacity(count as usize);
        let mut end = table_end + 4;
        for i in 0..count as usize {
            let at = HEADER + i * ENTRY;
            let tag: Tag = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            let (crc, offset, length) = (u32_at(bytes, at + 4), u64_at(bytes, at + 8), u64_at(bytes, at + 16));
            let begin = end.next_multiple_of(ALIGNMENT);
            let fits = offset == begin as u64 && begin <= bytes.len() && length <= (bytes.len() - begin) as u64;
            if !fits || sections.iter().any(|(t, _)| *t == tag) {
                return Err(format!("damaged table: section {} at {offset} with {length} bytes", name(&tag)));
            }
            if bytes[end..begin].iter().any(|&b| b != 0) {
                return Err(format!("damaged: something is written before section {}", name(&tag)));
            }
            end = begin + length as usize;
            let data = &bytes[begin..end];
            let actual = checksum(data);
            if actual != crc {
                return Err(format!("damaged section {}: checksum {actual:08x}, expected {crc:08x}", name(&tag)));
            }
            sections.push_guarded((tag, data));
        }
        if end != bytes.len() {
            return Err(format!("damaged table: the sections end at {end}, the file at {}", bytes.len()));
        }
        Ok(Self { sections })
    }

    pub fn section(&self, tag: &Tag) -> Option<&'a [u8]> {
        self.sections.iter().find(|(t, _)| t == tag).map(|(_, data)| *data)
    }

    pub fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.sections.iter().map(|(tag, _)| tag)
    }
}

/// Returns a tag as text.
pub(super) fn name(tag: &Tag) -> String {
    tag.escape_ascii().to_string()
}

/// Returns the start of each section in a file.
fn begins(sections: &[Section]) -> Vec<usize> {
    let mut end = HEADER + sections.len() * ENTRY + 4;
    let begin = |(_, data): &Section| {
        let begin = end.next_multiple_of(ALIGNMENT);
        end = begin + data.len();
        begin
    };
    sections.iter().map(begin).collect_guarded()
}

/// Returns the length of a file of sections, bytes.
pub(super) fn length(sections: &[Section]) -> usize {
    sections.iter().zip(begins(sections)).fold(0, |_, ((_, data), begin)| begin + data.len())
}

/// Returns the CRC-32 of a section, computed by blocks on several threads.
fn checksum(data: &[u8]) -> u32 {
    let blocks = data.par_chunks(1 << 20).map(|block| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(block);
        hasher
    });
    let blocks: Vec<crc32fast::Hasher> = blocks.collect_guarded();
    let whole = blocks.iter().fold(crc32fast::Hasher::new(), |mut whole, block| {
        whole.combine(block);
        whole
    });
    whole.finalize()
}

/// Writes a file of sections.
pub(super) fn emit(sections: &[Section], out: &mut impl Write) -> std::io::Result<()> {
    let begins = begins(sections);
    let total = length(sections);
    let mut head = Vec::new();
    head.extend_from_slice(MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    head.extend_from_slice(&(total as u64).to_le_bytes());
    for ((tag, data), begin) in sections.iter().zip(&begins) {
        head.extend_from_slice(tag);
        head.extend_from_slice(&checksum(data).to_le_bytes());
        head.extend_from_slice(&(*begin as u64).to_le_bytes());
        head.extend_from_slice(&(data.len() as u64).to_le_bytes());
    }
    let crc = crc32fast::hash(&head);
    head.extend_from_slice(&crc.to_le_bytes());
    out.write_all(&head)?;
    let mut end = head.len();
    for ((_, data), begin) in sections.iter().zip(begins) {
        out.write_all(&[0; ALIGNMENT][..begin - end])?;
        out.write_all(data)?;
        end = begin + data.len();
    }
    Ok(())
}

/// Writes sections to a file that gets the name `path` later: see [`output::prepare`].
pub(super) fn prepare(path: &Path, sections: &[Section]) -> Result<output::Prepared> {
    output::prepare(path, |mut out| emit(sections, &mut out))
}

pub(super) fn encode<T: serde::Serialize>(tag: Tag, value: &T, sections: &mut Vec<Section>) -> Result<()> {
    let bytes = postcard::serialize_with_flavor(value, Bytes::default())
        .map_err(|e| Error::Unsupported(format!("section {} cannot be written: {e}", name(&tag))))?;
    sections.push((tag, bytes));
    Ok(())
}

pub(super) fn decode<T: serde::de::DeserializeOwned>(tag: Tag, bytes: &[u8]) -> std::result::Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("section {} has {} bytes too many", name(&tag), rest.len())),
        Err(e) => Err(format!("section {} cannot be read: {e}", name(&tag))),
    }
}

/// Encoding of the samples of a field in bricks in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// Compressed: a small file.
    #[default]
    Compressed,
    /// The format in memory: a larger file that loads faster, because nothing is unpacked.
    Raw,
}
