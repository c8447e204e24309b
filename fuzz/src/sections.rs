//! Mutation of assets: a section changes, then lengths and checksums are made to match, so that the change reaches the
//! reader of the section.

use libfuzzer_sys::fuzzer_mutate;
use support::container::{file, sections, Section};
use support::rng::Rng;

/// Tags of all sections that the reader knows, and one that it ignores.
const TAGS: [&[u8; 4]; 13] = [
    b"META", b"MESH", b"FELD", b"EXCT", b"SHEL", b"BRIK", b"matl", b"voxm", b"cert", b"mask", b"VTRE", b"TREE", b"free",
];

/// Changes one section of the asset in `bytes[..size]`, or its table, and returns the new size. One time in sixteen, and
/// where there is no asset, it changes the bytes themselves.
pub fn mutate(bytes: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut rng = Rng(seed.into());
    let mut below = move |n: usize| (rng.next() % n.max(1) as u64) as usize;
    let mut found = match sections(&bytes[..size]) {
        Some(found) if !found.is_empty() && found.len() <= 64 && below(16) > 0 => found,
        _ => return fuzzer_mutate(bytes, size, most),
    };
    let at = below(found.len());
    match below(32) {
        0 => drop(found.remove(at)),
        1 => found[at].0 = *TAGS[below(TAGS.len())],
        2 => found.push((*TAGS[below(TAGS.len())], found[at].1.clone())),
        _ => {
            let room = most.saturating_sub(size) + found[at].1.len();
            change(&mut found[at], room);
        }
    }
    let sealed = file(&found);
    if sealed.len() > most.min(bytes.len()) {
        return size;
    }
    bytes[..sealed.len()].copy_from_slice(&sealed);
    sealed.len()
}

fn change(section: &mut Section, room: usize) {
    let content = &mut section.1;
    let size = content.len();
    content.resize(room.max(1), 0);
    let size = fuzzer_mutate(content, size, room.max(1));
    content.truncate(size);
}
