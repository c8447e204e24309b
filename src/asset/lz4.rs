//! Compresses to the LZ4 block format with the same bytes on every platform.
//!
//! `lz4_flex` hashes five bytes where pointers have 64 bits and four bytes elsewhere, so its bytes differ between 64-bit
//! platforms and wasm32. This compressor makes the bytes of `lz4_flex` 0.14 on 64-bit platforms everywhere. `lz4_flex`
//! decompresses them.

use voxshell_base::memory::filled;

/// Matches start at least this far before the end, bytes.
const LAST_START: usize = 12;
/// Matches end at least this far before the end, bytes. The format asks for 5; `lz4_flex` keeps one more.
const LAST_END: usize = 6;
const SHORTEST: usize = 4;
/// Largest distance to an earlier match, bytes: distances have 16 bits.
const FARTHEST: usize = 0xffff;
/// Inputs below this length hash four bytes at a time, others hash five.
const SMALL: usize = 0xffff;
/// The table of positions has 2^12 entries.
const TABLE: usize = 1 << 12;
/// The search skips one more byte per position after each 2^5 positions without a match.
const PATIENCE: u32 = 5;

/// Longest block for an input of this many bytes.
pub(super) fn most(length: usize) -> usize {
    lz4_flex::block::get_maximum_output_size(length)
}

/// Compresses `input` to `output`, which has [`most`] bytes, and returns the length of the block, bytes.
pub(super) fn compress(input: &[u8], output: &mut [u8]) -> usize {
    let mut output = Output { bytes: output, length: 0 };
    let mut table = filled(0u32, TABLE);
    let mut literals = 0;
    // The format has no match at the start, so the search begins at the second byte.
    let mut at = 1;
    if input.len() > LAST_START {
        table[hash(input, 0)] = 0;
        while let Some((mut here, mut earlier)) = find(input, at, &mut table) {
            let distance = here - earlier;
            while earlier > 0 && here > literals && input[here - 1] == input[earlier - 1] {
                (here, earlier) = (here - 1, earlier - 1);
            }
            let length = common(&input[here..input.len() - LAST_END], &input[earlier..]);
            output.literals(&input[literals..here], length - SHORTEST);
            output.push(&(distance as u16).to_le_bytes());
            output.rest(length - SHORTEST);
            at = here + length;
            table[hash(input, at - 2)] = (at - 2) as u32;
            literals = at;
        }
    }
    output.literals(&input[literals..], 0);
    output.length
}

/// Returns the next position from `from` on whose four bytes occur earlier, and the earlier position.
fn find(input: &[u8], from: usize, table: &mut [u32]) -> Option<(usize, usize)> {
    let (mut at, mut tried) = (from, 1u32 << PATIENCE);
    while at <= input.len() - LAST_START {
        let entry = &mut table[hash(input, at)];
        let earlier = std::mem::replace(entry, at as u32) as usize;
        if at - earlier <= FARTHEST && word(input, earlier) == word(input, at) {
            return Some((at, earlier));
        }
        at += (tried >> PATIENCE) as usize;
        tried += 1;
    }
    None
}

fn word(input: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([input[at], input[at + 1], input[at + 2], input[at + 3]])
}

/// Returns the place of the bytes at a position in the table. The multipliers are those of the reference implementation.
#[inline(always)]
fn hash(input: &[u8], at: usize) -> usize {
    let low = word(input, at);
    if input.len() < SMALL {
        return (low.wrapping_mul(2_654_435_761) >> 20) as usize;
    }
    let five = u64::from(low) | u64::from(input[at + 4]) << 32;
    ((five << 24).wrapping_mul(889_523_592_379) >> 52) as usize
}

/// Returns the number of equal bytes at the start of both.
fn common(a: &[u8], b: &[u8]) -> usize {
    let whole = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(a, b)| a == b).count() * 8;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

struct Output<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Output<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Writes the token, and the literals before a match of `extra` bytes more than the shortest.
    fn literals(&mut self, literals: &[u8], extra: usize) {
        self.push(&[(literals.len().min(15) << 4 | extra.min(15)) as u8]);
        self.rest(literals.len());
        self.push(literals);
    }

    /// Writes what a length has beyond the 15 of the token.
    fn rest(&mut self, length: usize) {
        let Some(mut length) = length.checked_sub(15) else { return };
        while length >= 255 {
            self.push(&[255]);
            length -= 255;
        }
        self.push(&[length as u8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes of which some repeat, from nearly none to nearly all.
    fn bytes(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let symbols = 2 + next() % 254;
        let mut out: Vec<u8> = Vec::new();
        while out.len() < length {
            if next() % 3 == 0 && !out.is_empty() {
                let from = next() % out.len();
                let until = (from + next() % 400).min(out.len());
                out.extend_from_within(from..until);
            } else {
                let n = next() % 40;
                out.extend((0..n).map(|_| (next() % symbols) as u8));
            }
        }
        out.truncate(length);
        out
    }

    fn lengths() -> impl Iterator<Item = usize> {
        let long = [100, 1000, 65_533, 65_534, 65_535, 65_536, 70_000, 200_000, 1 << 20];
        // Miri takes minutes for each of the last ones.
        (0..40).chain(long.into_iter().filter(|&length| !cfg!(miri) || length <= 1000))
    }

    #[test]
    fn blocks_decompress_to_the_input() {
        for (seed, length) in lengths().enumerate() {
            let input = bytes(seed as u64, length);
            let mut block = vec![0; most(length)];
            let n = compress(&input, &mut block);
            assert_eq!(lz4_flex::block::decompress(&block[..n], length).unwrap(), input, "{length} bytes");
        }
    }

    #[test]
    #[cfg(all(target_pointer_width = "64", target_endian = "little"))]
    fn blocks_are_those_of_lz4_flex_on_64_bit_platforms() {
        for (seed, length) in lengths().enumerate() {
            for input in [bytes(seed as u64, length), bytes(seed as u64 + 1000, length), vec![7; length]] {
                let mut block = vec![0; most(length)];
                let n = compress(&input, &mut block);
                assert!(block[..n] == lz4_flex::block::compress(&input), "{length} bytes");
            }
        }
    }
}
