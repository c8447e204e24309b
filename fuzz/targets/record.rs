//! Replays recordings. Mutated recordings have checksums that match.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, Corpus};
use voxshell_fuzz::{record, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if record::replay(bytes) {
        Corpus::Keep
    } else {
        Corpus::Reject
    }
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| { record::mutate(bytes, size, most, seed) });
