//! The file of a recording, split into its records and assembled as docs/record-and-replay.md describes it, without code
//! of the library.

const MAGIC: &[u8; 8] = b"\x89VXSREC\n";
/// Version of the format of present recordings.
pub const FORMAT: u32 = 2;
const HEADER: usize = 20;
const CHUNK: usize = 16;
const RECORDS: u32 = 1;

/// Kinds of records.
pub const BEGIN: u8 = 1;
pub const ANSWER: u8 = 2;
pub const OBJECT: u8 = 3;

/// The thread that wrote a record, and its bytes: the kind, the number in eight bytes, and the content.
pub type Record = (u32, Vec<u8>);

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Returns the records of a file; `None` if it is too damaged.
pub fn records(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut rest = bytes.get(HEADER..)?;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (kind, thread, length) = (u32_at(rest, 0)?, u32_at(rest, 4)?, u32_at(rest, 8)? as usize);
        let mut chunk = rest.get(CHUNK..CHUNK.checked_add(length)?)?;
        rest = &rest[CHUNK + length..];
        while kind == RECORDS && !chunk.is_empty() {
            let length = u32_at(chunk, 0)? as usize;
            found.push((thread, chunk.get(4..4usize.checked_add(length)?)?.to_vec()));
            chunk = &chunk[4 + length..];
        }
    }
    Some(found)
}

/// Returns the number of the function of a record that begins a call.
pub fn function(record: &Record) -> Option<u32> {
    u32_at(&record.1, 17).filter(|_| record.1[0] == BEGIN)
}

/// Returns the version of the format of a recording, or that of present ones.
pub fn format(bytes: &[u8]) -> u32 {
    u32_at(bytes, MAGIC.len()).unwrap_or(FORMAT)
}

/// Returns a recording of these records, with correct lengths and checksums, that was not stopped. `version`: of the
/// library.
pub fn file(records: &[Record], format: u32, version: u32) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(format.to_le_bytes());
    out.extend(version.to_le_bytes());
    out.extend(crc32fast::hash(&out).to_le_bytes());
    for (thread, record) in records {
        let begin = out.len();
        for number in [RECORDS, *thread, record.len() as u32 + 4] {
            out.extend(number.to_le_bytes());
        }
        let chunk = [(record.len() as u32).to_le_bytes().as_slice(), record].concat();
        let sum = crc32fast::hash(&[&out[begin..], &chunk].concat());
        out.extend(sum.to_le_bytes());
        out.extend(chunk);
    }
    out
}
