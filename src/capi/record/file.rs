//! The file of a recording: a header, then chunks of records, each with a checksum. `docs/record-and-replay.md` lists
//! the bytes. The reader takes nothing for granted: a file may come from anyone.

use std::collections::HashMap;
use std::io::{self, Write};

use super::sink::Half;
use crate::haptics::Exchange;

const MAGIC: &[u8; 8] = b"\x89VXSREC\n";
/// Version of the format.
const FORMAT: u32 = 2;
/// Version whose answers have no exchange.
const WITHOUT_EXCHANGE: u32 = 1;
const HEADER: usize = 20;
const CHUNK: usize = 16;
const RECORDS: u32 = 1;
const END: u32 = 2;

/// Kinds of records.
pub(super) const BEGIN: u8 = 1;
pub(super) const ANSWER: u8 = 2;
pub(super) const OBJECT: u8 = 3;
pub(super) const HEIGHT: u8 = 4;

/// Largest number of bytes of a chunk; a call with more input is lost.
pub(super) const MOST_BYTES: usize = 1 << 30;

pub(super) fn write_header(out: &mut impl Write, version: u32) -> io::Result<()> {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    header[12..16].copy_from_slice(&version.to_le_bytes());
    let sum = crc32fast::hash(&header[..16]);
    header[16..].copy_from_slice(&sum.to_le_bytes());
    out.write_all(&header)
}

fn write_chunk(out: &mut impl Write, kind: u32, thread: u32, bytes: &[u8]) -> io::Result<()> {
    let mut head = [0; CHUNK];
    for (place, value) in head.chunks_exact_mut(4).zip([kind, thread, bytes.len() as u32]) {
        place.copy_from_slice(&value.to_le_bytes());
    }
    let mut sum = crc32fast::Hasher::new();
    sum.update(&head[..12]);
    sum.update(bytes);
    head[12..].copy_from_slice(&sum.finalize().to_le_bytes());
    out.write_all(&head)?;
    out.write_all(bytes)
}

/// Writes records of a thread, each behind its length.
pub(super) fn write_records(out: &mut impl Write, thread: u32, records: &[u8]) -> io::Result<()> {
    write_chunk(out, RECORDS, thread, records)
}

/// Writes the end: the number of records that were lost.
pub(super) fn write_end(out: &mut impl Write, lost: u64) -> io::Result<()> {
    write_chunk(out, END, 0, &lost.to_le_bytes())
}

/// Reads numbers and bytes.
#[derive(Clone, Copy)]
pub(in crate::capi) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a number of 7 bits per byte.
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

/// A call in a recording.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub number: u64,
    /// Time since the start of the recording, nanoseconds.
    pub time: u64,
    pub thread: u32,
    pub function: u32,
    /// Why the call cannot be replayed; 0: it can.
    pub refused: u8,
    pub arguments: &'a [u8],
    /// None if the call was running when the recording ended.
    pub answer: Option<Reply<'a>>,
}

/// The answer of a call in a recording.
#[derive(Clone, Copy)]
pub(super) struct Reply<'a> {
    pub number: u64,
    pub status: i32,
    pub exchange: Option<Exchanged<'a>>,
    /// Lengths and handles.
    pub items: &'a [u8],
    pub hash: u64,
}

/// The exchange of the two halves of a `vxs_haptics` in a call.
#[derive(Clone, Copy)]
pub(super) struct Exchanged<'a> {
    pub half: Half,
    pub exchange: Exchange,
    /// Numbers that the call read while another thread may have changed them, 8 bytes each.
    values: &'a [u8],
}

impl Exchanged<'_> {
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }
}

/// A step of a recording.
#[derive(Clone, Copy)]
pub(super) enum Event<'a> {
    Call(Call<'a>),
    /// An object from before the recording: its kind, its number and its content.
    Object {
        kind: u8,
        id: u64,
        content: &'a [u8],
    },
    /// The simulation of the `vxs_haptics` with this number takes the input for its next round. Not in the file: `order`
    /// makes it.
    Input(u64),
}

/// The content of a file.
pub(super) struct Content<'a> {
    pub version: u32,
    /// Whether the answers have the exchange of the halves of a `vxs_haptics`.
    pub has_exchange: bool,
    /// Calls and objects in the order in which they began.
    pub events: Vec<Event<'a>>,
    /// Heights that the height maps of the caller gave, for each call, in order.
    pub heights: HashMap<u64, Vec<f64>>,
    /// Number of records that were lost, and the number of the first one.
    pub lost: u64,
    pub first_lost: Option<u64>,
    /// Whether the recording was ended by `vxs_record_stop`.
    pub is_complete: bool,
}

/// Reads a recording.
///
/// # Errors
/// A text that says what is wrong with the file. With `partial`, a file that ends before its end is accepted.
pub(super) fn read(bytes: &[u8], partial: bool) -> Result<Content<'_>, String> {
    let mut rest = Reader(bytes);
    let header = rest.take(HEADER).ok_or("the file is too short for a recording")?;
    let mut fields = Reader(header);
    if fields.take(8) != Some(MAGIC) {
        return Err("the file is no recording of Voxshell".into());
    }
    let (format, version) = (fields.u32().unwrap_or(0), fields.u32().unwrap_or(0));
    if fields.u32() != Some(crc32fast::hash(&header[..16])) {
        return Err("the checksum of the header is wrong".into());
    }
    if !(WITHOUT_EXCHANGE..=FORMAT).contains(&format) {
        return Err(format!("the file has version {format} of the format; expected {WITHOUT_EXCHANGE} to {FORMAT}"));
    }
    let mut found = Vec::new();
    let mut lost = None;
    let mut chunk = 0u64;
    while lost.is_none() && !rest.0.is_empty() {
        let Some((kind, thread, payload)) = read_chunk(&mut rest).map_err(|what| format!("chunk {chunk}: {what}"))?
        else {
            break;
        };
        match kind {
            RECORDS => {
                read_records(payload, thread, &mut found).ok_or(format!("chunk {chunk}: a record is damaged"))?
            }
            END => lost = Some(Reader(payload).u64().ok_or(format!("chunk {chunk}: the end is too short"))?),
            other => return Err(format!("chunk {chunk}: kind {other} is unknown")),
        }
        chunk += 1;
    }
    if lost.is_none() && !partial {
        return Err("the file ends before the end of the recording: it was not stopped, or the file was cut off".into());
    }
    if lost.is_some() && !rest.0.is_empty() {
        return Err(format!("{} bytes follow the end of the recording", rest.0.len()));
    }
    let mut content = assemble(found, version, format > WITHOUT_EXCHANGE)?;
    (content.is_complete, content.lost) = (lost.is_some(), lost.unwrap_or(0));
    Ok(content)
}

/// Kind, thread and content of a chunk.
type Chunk<'a> = (u32, u32, &'a [u8]);

/// Reads a chunk; None if the file ends before the end of the chunk.
fn read_chunk<'a>(rest: &mut Reader<'a>) -> Result<Option<Chunk<'a>>, String> {
    let Some(head) = rest.take(CHUNK) else { return Ok(None) };
    let mut fields = Reader(head);
    let mut next = || fields.u32().unwrap_or(0);
    let (kind, thread, length, sum) = (next(), next(), next() as usize, next());
    let Some(payload) = rest.take(length) else { return Ok(None) };
    let mut actual = crc32fast::Hasher::new();
    actual.update(&head[..12]);
    actual.update(payload);
    match actual.finalize() == sum {
        true => Ok(Some((kind, thread, payload))),
        false => Err("the checksum is wrong".into()),
    }
}

struct Found<'a> {
    number: u64,
    thread: u32,
    kind: u8,
    body: &'a [u8],
}

fn read_records<'a>(payload: &'a [u8], thread: u32, found: &mut Vec<Found<'a>>) -> Option<()> {
    let mut rest = Reader(payload);
    while !rest.0.is_empty() {
        let length = rest.u32()? as usize;
        let mut record = Reader(rest.take(length)?);
        let (kind, number) = (record.byte()?, record.u64()?);
        found.push(Found { number, thread, kind, body: record.0 });
    }
    Some(())
}

/// Reads the exchange of an answer, if it has one.
fn read_exchange<'a>(rest: &mut Reader<'a>) -> Option<Option<Exchanged<'a>>> {
    let half = match rest.byte()? {
        0 => return Some(None),
        half => Half::of(half)?,
    };
    let (turn, taken, published) = (rest.number()?, rest.number()?, rest.number()?);
    let exchange = Exchange { turn, taken: taken.checked_sub(1), published: (published > 0).then_some(published) };
    let bytes = usize::try_from(rest.number()?).ok()?.checked_mul(8)?;
    let values = rest.take(bytes)?;
    Some(Some(Exchanged { half, exchange, values }))
}

/// Sorts records by their numbers, and joins calls with their answers.
fn assemble(mut found: Vec<Found<'_>>, version: u32, has_exchange: bool) -> Result<Content<'_>, String> {
    found.sort_unstable_by_key(|record| record.number);
    let mut first_lost = None;
    for (expected, record) in (1..).zip(&found) {
        if record.number < expected {
            return Err(format!("two records have the number {}", record.number));
        }
        if record.number > expected {
            first_lost = Some(expected);
            break;
        }
    }
    let damaged = |record: &Found| format!("record {} is damaged", record.number);
    let mut answers = HashMap::new();
    let mut heights: HashMap<u64, Vec<f64>> = HashMap::new();
    for record in found.iter().filter(|record| matches!(record.kind, ANSWER | HEIGHT)) {
        let mut rest = Reader(record.body);
        let call = rest.u64().ok_or_else(|| damaged(record))?;
        if record.kind == HEIGHT {
            let height = rest.u64().ok_or_else(|| damaged(record))?;
            heights.entry(call).or_default().push(f64::from_bits(height));
            continue;
        }
        let status = rest.u32().ok_or_else(|| damaged(record))? as i32;
        let exchange = if has_exchange { read_exchange(&mut rest).ok_or_else(|| damaged(record))? } else { None };
        let (items, hash) = rest.0.split_last_chunk::<8>().ok_or_else(|| damaged(record))?;
        answers.insert(call, Reply { number: record.number, status, exchange, items, hash: u64::from_le_bytes(*hash) });
    }
    let mut events = Vec::new();
    for record in &found {
        let mut rest = Reader(record.body);
        match record.kind {
            BEGIN => {
                let read = (|| Some((rest.u64()?, rest.u32()?, rest.byte()?)))();
                let (time, function, refused) = read.ok_or_else(|| damaged(record))?;
                let answer = answers.remove(&record.number);
                let (number, thread) = (record.number, record.thread);
                events.push(Event::Call(Call { number, time, thread, function, refused, arguments: rest.0, answer }));
            }
            OBJECT => {
                let read = (|| Some((rest.byte()?, rest.u64()?)))();
                let (kind, id) = read.ok_or_else(|| damaged(record))?;
                events.push(Event::Object { kind, id, content: rest.0 });
            }
            ANSWER | HEIGHT => {}
            other => return Err(format!("record {} has the unknown kind {other}", record.number)),
        }
    }
    Ok(Content { version, has_exchange, events, heights, lost: 0, first_lost, is_complete: false })
}
