//! The sections of a field in bricks.
//!
//! | tag | what |
//! | --- | --- |
//! | `BRIK` | postcard: [`BrickHeader`], the numbers of the fine bricks, each brick's largest excess over the distance |
//! | `SMPL` | the samples, 16-bit, little-endian |
//! | `PACK` | or, instead, the samples in compressed blocks, each after its length (4 bytes) |
//! | `cert` | postcard: [`Certificate`] |
//! | `mask` | with `SMPL`: the masks, 64-bit words |
//!
//! A block holds 2¹⁹ samples, the last one the rest. In a block each sample is replaced by its second difference along the
//! samples' order, folded to a small positive number (0, −1, 1, −2, …), all low bytes first and then all high bytes, which
//! are mostly 0; the whole is compressed with LZ4 (block format).

use std::sync::Arc;

use rayon::prelude::*;
use serde::Deserialize;

use super::container::{decode, encode, Container, Section, Tag};
use super::lz4;
use super::Store;
use voxshell_base::memory::{
    deserialize_vec, filled, with_capacity, CollectGuarded, GrowGuarded, ParCollectGuarded, SliceGuarded,
};
use voxshell_base::Result;
use voxshell_field::{BrickField, BrickHeader, BrickParts, Certificate, Samples};

pub(super) const BRICKS: Tag = *b"BRIK";
pub(super) const RAW: Tag = *b"SMPL";
pub(super) const PACKED: Tag = *b"PACK";
const CERTIFICATE: Tag = *b"cert";
const MASKS: Tag = *b"mask";

const BLOCK: usize = 1 << 19;

/// Section BRIK; written as a tuple, which has the same encoding.
#[derive(Deserialize)]
struct Head {
    header: BrickHeader,
    #[serde(deserialize_with = "deserialize_vec")]
    bricks: Vec<u32>,
    #[serde(deserialize_with = "deserialize_vec")]
    rises: Vec<u16>,
}

fn pack(samples: &[i16]) -> Vec<u8> {
    let mut bytes = filled(0, samples.len() * 2);
    let (low, high) = bytes.split_at_mut(samples.len());
    let (mut before, mut last) = (0i16, 0i16);
    for ((s, low), high) in samples.iter().zip(low).zip(high) {
        let expected = last.wrapping_mul(2).wrapping_sub(before);
        let d = s.wrapping_sub(expected);
        let folded = ((d << 1) ^ (d >> 15)) as u16;
        [*low, *high] = folded.to_le_bytes();
        (before, last) = (last, *s);
    }
    let mut packed = filled(0, lz4::most(bytes.len()));
    let length = lz4::compress(&bytes, &mut packed);
    packed[..length].to_vec_guarded()
}

fn unpack(block: &[u8], samples: &mut [i16]) -> std::result::Result<(), String> {
    let expected = samples.len() * 2;
    let mut bytes = filled(0, expected);
    let length = lz4_flex::block::decompress_into(block, &mut bytes).map_err(|e| format!("a block of samples: {e}"))?;
    if length != expected {
        return Err(format!("a block of samples has {length} bytes, expected {expected}"));
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

/// Splits a length-prefixed part off the front.
fn part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(part)
}

/// Unpacks this number of samples from blocks.
fn unpack_all(mut bytes: &[u8], count: usize) -> std::result::Result<Vec<i16>, String> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        blocks.push_guarded(part(&mut bytes).ok_or("the samples end in a block")?);
    }
    // LZ4 expands one byte to at most 255 bytes.
    if blocks.len() != count.div_ceil(BLOCK) || count * 2 > 255 * blocks.iter().map(|b| b.len() + 16).sum::<usize>() {
        return Err(format!("there are {} blocks for {count} samples", blocks.len()));
    }
    let mut samples = filled(0i16, count);
    samples.par_chunks_mut(BLOCK).zip(&blocks).try_for_each(|(samples, block)| unpack(block, samples))?;
    Ok(samples)
}

pub(super) fn write(field: &BrickField, store: Store, sections: &mut Vec<Section>) -> Result<()> {
    let BrickParts { header, bricks, rises, samples, certificate, masks } = field.parts();
    encode(BRICKS, &(header, bricks, rises), sections)?;
    if let Some(certificate) = certificate {
        encode(CERTIFICATE, &certificate, sections)?;
    }
    match store {
        Store::Raw => {
            let masks = masks.unwrap_or_default();
            let (mut mask_bytes, mut bytes) = (with_capacity(masks.len() * 8), with_capacity(samples.len() * 2));
            mask_bytes.extend(masks.iter().flat_map(|w| w.to_le_bytes()));
            bytes.extend(samples.iter().flat_map(|s| s.to_le_bytes()));
            sections.extend([(MASKS, mask_bytes), (RAW, bytes)]);
        }
        Store::Compressed => {
            let blocks: Vec<Vec<u8>> = samples.par_chunks(BLOCK).map(pack).collect_guarded();
            let mut bytes = with_capacity(blocks.iter().map(|b| 4 + b.len()).sum());
            for block in blocks {
                bytes.extend((block.len() as u32).to_le_bytes());
                bytes.extend(block);
            }
            sections.push((PACKED, bytes));
        }
    }
    Ok(())
}

/// Reads a field. `owner`: what keeps the bytes of the container, if samples may be used in place.
pub(super) fn read(container: &Container, owner: Option<&Arc<Vec<u8>>>) -> std::result::Result<BrickField, String> {
    let bytes = container.section(&BRICKS).ok_or("section BRIK is missing")?;
    let Head { header, bricks, rises } = decode(BRICKS, bytes)?;
    let count = BrickParts::sample_count(&header, &bricks).map_err(|e| format!("section BRIK: {e}"))?;
    let samples = match (container.section(&RAW), container.section(&PACKED)) {
        (Some(bytes), None) if bytes.len() == count * 2 => raw(bytes, owner),
        (Some(bytes), None) => return Err(format!("section SMPL has {} bytes for {count} samples", bytes.len())),
        (None, Some(bytes)) => unpack_all(bytes, count).map_err(|e| format!("section PACK: {e}"))?.into(),
        _ => return Err("there must be one of the sections SMPL and PACK".into()),
    };
    let certificate = container.section(&CERTIFICATE).map(|b| decode::<Certificate>(CERTIFICATE, b)).transpose()?;
    let masks = container.section(&MASKS).map(|bytes| {
        // An incomplete last word gives one word more than is allowed.
        let words = bytes.chunks(8).map(|c| c.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)));
        words.collect_guarded()
    });
    let parts = BrickParts { header, bricks, rises, samples, certificate, masks };
    BrickField::from_parts(parts).map_err(|e| format!("a section of bricks: {e}"))
}

/// Returns the samples of a section: used in place if `owner` keeps them, at an even address, and this machine has the byte
/// order of the file.
fn raw(bytes: &[u8], owner: Option<&Arc<Vec<u8>>>) -> Samples {
    #[cfg(target_endian = "little")]
    if let Some(owner) = owner {
        // SAFETY: every bit pattern is an i16.
        let (before, samples, after) = unsafe { bytes.align_to::<i16>() };
        if before.is_empty() && after.is_empty() && owner.as_ptr_range().contains(&bytes.as_ptr()) {
            // SAFETY: nobody changes the vector, which lives as long as `owner`.
            return unsafe { Samples::kept_by(owner.clone(), samples) };
        }
    }
    let pairs = bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]]));
    pairs.collect_guarded().into()
}
