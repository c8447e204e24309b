//! The section of a field in bricks: a header, then the samples in compressed blocks.
//!
//! | bytes | what |
//! | --- | --- |
//! | 4 | length of the header, h |
//! | h | postcard: [`BrickHeader`], the packing (now always 1), the numbers of the fine bricks |
//! | 4 | length of the first block, compressed |
//! | … | the block; and so on to the end |
//!
//! A block holds 2¹⁹ samples, the last one the rest. Samples are 16-bit; in a block each is replaced by its second
//! difference along the samples' order, folded to a small positive number (0, −1, 1, −2, …), all low bytes first and then
//! all high bytes, which are mostly 0; the whole is compressed with LZ4 (block format).

use rayon::prelude::*;
use serde::de::DeserializeOwned;

use crate::field::{BrickField, BrickHeader};
use crate::{Error, Result};

const BLOCK: usize = 1 << 19;
/// Second differences, bytes apart, LZ4.
const PACKED: u8 = 1;

type Head<H> = (H, u8, Vec<u32>);

fn pack(samples: &[i16]) -> Vec<u8> {
    let mut bytes = vec![0; samples.len() * 2];
    let (low, high) = bytes.split_at_mut(samples.len());
    let (mut before, mut last) = (0i16, 0i16);
    for ((s, low), high) in samples.iter().zip(low).zip(high) {
        let expected = last.wrapping_mul(2).wrapping_sub(before);
        let d = s.wrapping_sub(expected);
        let folded = ((d << 1) ^ (d >> 15)) as u16;
        [*low, *high] = folded.to_le_bytes();
        (before, last) = (last, *s);
    }
    lz4_flex::block::compress(&bytes)
}

fn unpack(block: &[u8], samples: &mut [i16]) -> std::result::Result<(), String> {
    let expected = samples.len() * 2;
    let bytes = lz4_flex::block::decompress(block, expected).map_err(|e| format!("a block of samples: {e}"))?;
    if bytes.len() != expected {
        return Err(format!("a block of samples has {} bytes, expected {expected}", bytes.len()));
    }
    let (low, high) = bytes.split_at(samples.len());
    let (mut before, mut last) = (0i16, 0i16);
    for ((s, low), high) in samples.iter_mut().zip(low).zip(high) {
        let folded = u16::from_le_bytes([*low, *high]);
        let d = (folded >> 1) as i16 ^ -((folded & 1) as i16);
        *s = last.wrapping_mul(2).wrapping_sub(before).wrapping_add(d);
        (before, last) = (last, *s);
    }
    Ok(())
}

pub(super) fn encode(field: &BrickField) -> Result<Vec<u8>> {
    let (header, numbers, samples) = field.parts();
    let head: Head<BrickHeader> = (header, PACKED, numbers);
    let head = postcard::to_stdvec(&head)
        .map_err(|e| Error::Unsupported(format!("the header of a field in bricks cannot be written: {e}")))?;
    let blocks: Vec<Vec<u8>> = samples.par_chunks(BLOCK).map(pack).collect();
    let mut out = Vec::with_capacity(4 + head.len() + blocks.iter().map(|b| 4 + b.len()).sum::<usize>());
    for part in std::iter::once(&head).chain(&blocks) {
        out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        out.extend_from_slice(part);
    }
    Ok(out)
}

/// Takes a part and its length off the front.
fn part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(part)
}

/// `H`: the header as the file's version has it.
pub(super) fn decode<H>(mut bytes: &[u8]) -> std::result::Result<BrickField, String>
where
    H: DeserializeOwned + Into<BrickHeader>,
{
    let head = part(&mut bytes).ok_or("section BRIK is too short for its header")?;
    let ((header, packing, numbers), rest): (Head<H>, _) =
        postcard::take_from_bytes(head).map_err(|e| format!("the header of section BRIK cannot be read: {e}"))?;
    let header: BrickHeader = header.into();
    if !rest.is_empty() || packing != PACKED {
        return Err(format!("the header of section BRIK has packing {packing} and {} bytes too many", rest.len()));
    }
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        blocks.push(part(&mut bytes).ok_or("section BRIK ends in a block of samples")?);
    }
    let count = header.sample_count().map_err(|e| format!("section BRIK: {e}"))?;
    // LZ4 makes at most 255 bytes of one.
    if blocks.len() != count.div_ceil(BLOCK) || count * 2 > 255 * blocks.iter().map(|b| b.len() + 16).sum::<usize>() {
        return Err(format!("section BRIK has {} blocks for {count} samples", blocks.len()));
    }
    let mut samples = vec![0i16; count];
    samples.par_chunks_mut(BLOCK).zip(&blocks).try_for_each(|(samples, block)| unpack(block, samples))?;
    BrickField::from_parts(header, &numbers, samples.into()).map_err(|e| format!("section BRIK: {e}"))
}
