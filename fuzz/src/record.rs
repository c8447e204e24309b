//! Recordings: mutation with checksums that match, and replay with the calls that may take long left out.

use libfuzzer_sys::fuzzer_mutate;
use support::recording::{file, format, function, records, Record, BEGIN};
use support::rng::Rng;
use voxshell::capi::record::calls::CALLS;
use voxshell::capi::record::player::Player;
use voxshell::capi::status::vxs_version;

/// Changes one record of the recording in `bytes[..size]`, and returns the new size. One time in sixteen, and where there
/// is no recording, it changes the bytes themselves.
pub fn mutate(bytes: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut rng = Rng(seed.into());
    let mut below = move |n: usize| (rng.next() % n.max(1) as u64) as usize;
    let mut found = match records(&bytes[..size]) {
        Some(found) if !found.is_empty() && found.len() <= 4096 && below(16) > 0 => found,
        _ => return fuzzer_mutate(bytes, size, most),
    };
    let at = below(found.len());
    match below(24) {
        0 => drop(found.remove(at)),
        1 => found.insert(at, found[below(found.len())].clone()),
        2 => {
            let other = below(found.len());
            found.swap(at, other);
        }
        // Another function gets the arguments.
        3 if found[at].1.len() >= 21 && found[at].1[0] == BEGIN => {
            let number = CALLS[below(CALLS.len())].number();
            found[at].1[17..21].copy_from_slice(&number.to_le_bytes());
        }
        _ => {
            // The head of a record is its kind and its number, which must stay in sequence for a replay.
            let head = if below(8) == 0 { 0 } else { 9.min(found[at].1.len()) };
            let mut body = found[at].1.split_off(head);
            let size_before = body.len();
            let room = (most.saturating_sub(size) + size_before).max(1);
            body.resize(room, 0);
            let size = fuzzer_mutate(&mut body, size_before, room);
            found[at].1.extend(&body[..size]);
        }
    }
    let sealed = file(&found, format(&bytes[..size]), vxs_version());
    if sealed.len() > most.min(bytes.len()) {
        return size;
    }
    bytes[..sealed.len()].copy_from_slice(&sealed);
    sealed.len()
}

/// Calls that a replay of an input may make.
const MOST_CALLS: usize = 48;

/// Functions whose time depends on a resolution or a number of samples in their arguments, not on the size of the file.
const SLOW: [&str; 9] = [
    "vxs_shape_create_from_triangles",
    "vxs_cook_estimate_memory",
    "vxs_shape_create_from_file",
    "vxs_shape_create_primitive",
    "vxs_voxelmap_create",
    "vxs_voxelmap_create_from_triangles",
    "vxs_voxtree_create_from_shape",
    "vxs_hulls_create_from_shape",
    "vxs_hulls_create_from_triangles",
];

fn is_slow(record: &Record) -> bool {
    let number = function(record);
    CALLS.iter().any(|call| number == Some(call.number()) && SLOW.contains(&call.name))
}

/// Replays a recording up to its first defect. Returns whether it was replayed: recordings with slow calls are left out.
pub fn replay(bytes: &[u8]) -> bool {
    crate::start();
    if records(bytes).is_some_and(|records| records.iter().any(is_slow)) {
        return false;
    }
    let mut player = match Player::new(bytes, true) {
        Ok(player) => player,
        Err(reason) => {
            crate::is_readable(&reason);
            return true;
        }
    };
    for _ in 0..MOST_CALLS {
        match player.step() {
            Ok(Some(played)) => assert_ne!(played.status[1], voxshell::capi::status::VXS_PANIC, "{played:?}"),
            Ok(None) => break,
            Err(reason) => {
                crate::is_readable(&reason);
                break;
            }
        }
    }
    true
}
