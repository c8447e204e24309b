//! Masks of the cells of fine bricks that the surface passes.

use rayon::prelude::*;

use super::index::{Index, PITCH};
use super::{NODES, VOLUME};
use voxshell_base::memory::{boxed, filled, CollectGuarded, ParCollectGuarded};

/// Quanta by which an unmarked cell misses the level 0.
pub(super) const MASK_BAND: i16 = 2;

const NO_MASK: u32 = u32::MAX;

/// A bit for each cell of a fine brick, x fastest, a word for each z: set where φ comes within [`MASK_BAND`] of 0.
/// Stored for the bricks that have a set bit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Masks {
    /// By [`slot`]: index of the brick's mask, or `NO_MASK`.
    place: Box<[u32]>,
    masks: Box<[[u64; 8]]>,
}

/// Returns a unique number of a fine brick from the index of its first sample: bricks are at least [`PITCH`] apart.
#[inline(always)]
pub(super) fn slot(from: usize) -> usize {
    from / PITCH
}

/// Returns a number larger than the slot of any brick.
pub(super) fn slots(index: &Index) -> usize {
    slot(index.coarse) + 1
}

impl Masks {
    pub fn new(index: &Index, samples: &[i16]) -> Self {
        let fine: Vec<usize> = index.fine().map(|(_, from)| from).collect_guarded();
        let all: Vec<[u64; 8]> = fine.into_par_iter().map(|from| mask(&samples[from..from + VOLUME])).collect_guarded();
        let kept = all.iter().copied().filter(|m| *m != [0; 8]).collect_guarded();
        Self::assemble(index, all.iter().map(|m| *m != [0; 8]), kept)
    }

    /// Assembles the masks. `has`: whether each fine brick has a mask, in their order; `masks`: those masks.
    fn assemble(index: &Index, has: impl Iterator<Item = bool>, masks: Vec<[u64; 8]>) -> Self {
        let mut place = filled(NO_MASK, slots(index));
        let with = index.fine().zip(has).filter(|(_, has)| *has);
        for (((_, from), _), n) in with.zip(0..) {
            place[slot(from)] = n;
        }
        Self { place: boxed(place), masks: boxed(masks) }
    }

    /// Returns the mask of the fine brick whose samples begin at `from`.
    #[inline(always)]
    pub fn get(&self, from: usize) -> Option<&[u64; 8]> {
        self.masks.get(self.place[slot(from)] as usize)
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.place) + size_of_val(&*self.masks)
    }

    /// Returns the words for a file: a bit for each fine brick in their order, set where it has a mask, filled up to
    /// whole words; then the masks.
    pub fn words(&self, index: &Index) -> Vec<u64> {
        let fine: Vec<bool> = index.fine().map(|(_, from)| self.get(from).is_some()).collect_guarded();
        let bits = fine.chunks(64).map(|c| (0..).zip(c).fold(0, |word, (n, &has)| word | u64::from(has) << n));
        bits.chain(self.masks.as_flattened().iter().copied()).collect_guarded()
    }

    /// Returns the masks of such words, if they fit.
    pub fn from_words(index: &Index, fine: usize, words: &[u64]) -> Option<Self> {
        let (bits, masks) = words.split_at_checked(fine.div_ceil(64))?;
        let has = |n: usize| bits[n / 64] >> (n % 64) & 1 == 1;
        let fits = masks.len() == 8 * (0..fine).filter(|&n| has(n)).count();
        let masks = masks.chunks_exact(8).map(|m| std::array::from_fn(|z| m[z])).collect_guarded();
        fits.then(|| Self::assemble(index, (0..fine).map(has), masks))
    }
}

/// Returns the mask of a brick's samples.
fn mask(samples: &[i16]) -> [u64; 8] {
    let n = NODES as usize;
    // For each layer of nodes a bit for each cell: whether one of its four corners there satisfies `fits`.
    let layers = |fits: fn(i16) -> bool| -> [u64; 9] {
        std::array::from_fn(|z| {
            let row: [u64; 9] = std::array::from_fn(|y| {
                let row = &samples[(z * n + y) * n..][..n];
                let bits = (0..).zip(row).fold(0u64, |bits, (x, &v)| bits | u64::from(fits(v)) << x);
                (bits | bits >> 1) & 0xff
            });
            (0..8).fold(0, |bits, y| bits | (row[y] | row[y + 1]) << (8 * y))
        })
    };
    let (low, high) = (layers(|v| v <= MASK_BAND), layers(|v| v >= -MASK_BAND));
    std::array::from_fn(|z| (low[z] | low[z + 1]) & (high[z] | high[z + 1]))
}

const _: () = assert!(NODES == 9);
