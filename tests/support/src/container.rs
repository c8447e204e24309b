//! The container of asset files, split and assembled as docs/file-format.md describes it, without code of the library.

/// The version of the file.
pub const VERSION: u32 = 1;
/// A section begins at a multiple of this number of bytes.
const ALIGNMENT: usize = 64;

/// Tag and content of a section.
pub type Section = ([u8; 4], Vec<u8>);

/// Returns the number in the `n` bytes from `at` on, lowest byte first.
fn number(bytes: &[u8], at: usize, n: usize) -> Option<usize> {
    Some(bytes.get(at..at.checked_add(n)?)?.iter().rev().fold(0, |v, &b| v << 8 | usize::from(b)))
}

/// Returns the sections of a file; `None` if it is too damaged.
pub fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    let entry = |i: usize| {
        let at = 24 + 24 * i;
        let (begin, length) = (number(bytes, at + 8, 8)?, number(bytes, at + 16, 8)?);
        let tag = bytes.get(at..at + 4)?.try_into().ok()?;
        Some((tag, bytes.get(begin..begin.checked_add(length)?)?.to_vec()))
    };
    (0..number(bytes, 12, 4)?).map(entry).collect()
}

/// Returns a file of these sections, with correct lengths and checksums.
pub fn file(sections: &[Section]) -> Vec<u8> {
    let mut begin = 24 + 24 * sections.len() + 4;
    let mut head = [b"VOXSHELL".as_slice(), &VERSION.to_le_bytes(), &(sections.len() as u32).to_le_bytes()].concat();
    head.extend([0; 8]);
    let mut body = Vec::new();
    for (tag, data) in sections {
        let gap = begin.next_multiple_of(ALIGNMENT) - begin;
        body.extend(vec![0; gap]);
        body.extend(data);
        begin += gap;
        head.extend(tag);
        head.extend(crc32fast::hash(data).to_le_bytes());
        head.extend((begin as u64).to_le_bytes());
        head.extend((data.len() as u64).to_le_bytes());
        begin += data.len();
    }
    head[16..24].copy_from_slice(&(begin as u64).to_le_bytes());
    head.extend(crc32fast::hash(&head).to_le_bytes());
    [head, body].concat()
}
