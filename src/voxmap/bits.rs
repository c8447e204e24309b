//! Sets of voxels: one bit each, rows along x padded to whole words.
use voxshell_base::memory::{filled, filled_with, CollectGuarded, SliceGuarded};

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

/// A set of voxels.
#[derive(Debug, PartialEq)]
pub(super) struct Bits {
    dims: [u32; 3],
    /// Words per row.
    words: usize,
    /// Bits beyond the end of a row are 0.
    data: Vec<u64>,
}

fn words(dims: [u32; 3]) -> usize {
    dims[0].div_ceil(64) as usize
}

impl Clone for Bits {
    fn clone(&self) -> Self {
        Self { data: self.data.to_vec_guarded(), ..*self }
    }
}

impl Bits {
    pub fn new(dims: [u32; 3]) -> Self {
        let words = words(dims);
        Self { dims, words, data: filled(0, words * dims[1] as usize * dims[2] as usize) }
    }

    /// Bytes of a set over `dims`.
    pub fn bytes(dims: [u32; 3]) -> u64 {
        words(dims) as u64 * 8 * u64::from(dims[1]) * u64::from(dims[2])
    }

    /// The words of row (j, k).
    #[inline]
    pub fn row(&self, j: u32, k: u32) -> &[u64] {
        let at = (k as usize * self.dims[1] as usize + j as usize) * self.words;
        &self.data[at..at + self.words]
    }

    /// Returns all rows of slice k.
    #[inline]
    pub fn slice(&self, k: u32) -> impl Iterator<Item = &[u64]> {
        let size = self.words * self.dims[1] as usize;
        self.data[k as usize * size..][..size].chunks_exact(self.words)
    }

    /// Returns the slices, each with its rows' words one after the other, for writing.
    pub fn par_slices_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [u64]> {
        self.data.par_chunks_mut(self.words * self.dims[1] as usize)
    }

    /// Returns the slices as `par_slices_mut`, one after the other.
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.data.chunks_mut(self.words * self.dims[1] as usize)
    }

    /// Words in a row.
    pub fn row_words(&self) -> usize {
        self.words
    }

    #[inline]
    pub fn get(&self, [i, j, k]: [u32; 3]) -> bool {
        has(self.row(j, k), i)
    }

    /// Number of voxels in the set.
    pub fn count(&self) -> usize {
        self.data.par_iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The set with all of its 26 neighbours, within the grid.
    pub fn grown(&self) -> Self {
        let last = u64::MAX >> (64 * self.words as u32 - self.dims[0]);
        let mut wide = Self::new(self.dims);
        wide.data.par_chunks_mut(self.words).zip(self.data.par_chunks(self.words)).for_each(|(to, from)| {
            for w in 0..from.len() {
                let before = if w > 0 { from[w - 1] >> 63 } else { 0 };
                let after = from.get(w + 1).map_or(0, |next| next << 63);
                to[w] = from[w] | from[w] << 1 | before | from[w] >> 1 | after;
            }
            to[from.len() - 1] &= last;
        });
        let mut out = Self::new(self.dims);
        let ny = self.dims[1] as usize;
        let rows = ny * self.dims[2] as usize;
        out.data.par_chunks_mut(self.words).enumerate().for_each(|(row, to)| {
            for k in (row / ny).saturating_sub(1)..=(row / ny + 1).min(rows / ny - 1) {
                for j in (row % ny).saturating_sub(1)..=(row % ny + 1).min(ny - 1) {
                    let from = &wide.data[(k * ny + j) * self.words..][..self.words];
                    to.iter_mut().zip(from).for_each(|(t, f)| *t |= f);
                }
            }
        });
        out
    }

    /// Returns whether some voxel of the set is at the border of the grid.
    pub fn touches_wall(&self) -> bool {
        let [nx, ny, nz] = self.dims;
        (0..nz).any(|k| {
            self.slice(k).zip(0u32..).any(|(row, j)| {
                let wall = j == 0 || j == ny - 1 || k == 0 || k == nz - 1;
                has(row, 0) || has(row, nx - 1) || wall && row.iter().any(|&w| w != 0)
            })
        })
    }
}

/// Returns whether voxel i of a row is in the set.
#[inline(always)]
pub(super) fn has(row: &[u64], i: u32) -> bool {
    row[i as usize / 64] >> (i % 64) & 1 == 1
}

/// Adds voxels `from..to` to a row.
pub(super) fn set_run(row: &mut [u64], from: u32, to: u32) {
    let mut i = from;
    while i < to {
        let end = to.min((i / 64 + 1) * 64);
        row[i as usize / 64] |= (u64::MAX >> (64 - (end - i))) << (i % 64);
        i = end;
    }
}

/// Returns the first voxel from `from` on that is in the set (`value`) or not in it, or `n`, the length of the row.
pub(super) fn next(row: &[u64], from: u32, n: u32, value: bool) -> u32 {
    let mut w = from as usize / 64;
    let mut keep = u64::MAX.checked_shl(from % 64).unwrap_or(0);
    while w < row.len() {
        let word = (if value { row[w] } else { !row[w] }) & keep;
        if word != 0 {
            return (w as u32 * 64 + word.trailing_zeros()).min(n);
        }
        keep = u64::MAX;
        w += 1;
    }
    n
}

/// A set to which several threads add at once: the result does not depend on their order.
pub(super) struct SharedBits {
    dims: [u32; 3],
    words: usize,
    data: Vec<AtomicU64>,
}

impl SharedBits {
    pub fn new(dims: [u32; 3]) -> Self {
        let words = words(dims);
        let data = filled_with(words * dims[1] as usize * dims[2] as usize, || AtomicU64::new(0));
        Self { dims, words, data }
    }

    #[inline]
    pub fn insert(&self, [i, j, k]: [u32; 3]) {
        let word = &self.data[(k as usize * self.dims[1] as usize + j as usize) * self.words + i as usize / 64];
        let bit = 1 << (i % 64);
        // Neighbouring triangles share most of their voxels: a read is cheaper than adding again.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub fn into_bits(self) -> Bits {
        let data = self.data.into_iter().map(AtomicU64::into_inner).collect_guarded();
        Bits { dims: self.dims, words: self.words, data }
    }
}
