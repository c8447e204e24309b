//! Encoding of numbers and bytes in records, and the hash of answers.

use crate::haptics::Exchange;
use crate::memory::GrowGuarded;

/// Collects the bytes of one record.
#[derive(Default)]
pub struct Sink {
    pub bytes: Vec<u8>,
    /// The reason why the call cannot be replayed.
    pub unusable: Option<Unusable>,
}

/// The half of a `vxs_haptics` that makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Servo = 1,
    Simulation = 2,
}

impl Half {
    pub fn of(number: u8) -> Option<Self> {
        [Self::Servo, Self::Simulation].into_iter().find(|half| *half as u8 == number)
    }
}

/// Why a call cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A pointer that the library refuses, or a file that cannot be read.
    Argument = 1,
    /// An object from before the recording, of a kind that cannot be copied.
    Older = 2,
}

impl Unusable {
    pub fn of(number: u8) -> Option<Self> {
        [Self::Argument, Self::Older].into_iter().find(|reason| *reason as u8 == number)
    }
}

impl Sink {
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_slice_guarded(bytes);
    }

    #[inline]
    pub fn byte(&mut self, value: u8) {
        self.bytes.push_guarded(value);
    }

    /// Writes a number in 7 bits per byte, the lowest first; the highest bit marks that more bytes follow.
    #[inline]
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    /// Writes the exchange of a call with the other half. `values` are the other numbers that the call read.
    pub fn exchange(&mut self, half: Half, exchange: &Exchange, values: &[f64]) {
        let Exchange { turn, taken, published } = *exchange;
        self.byte(half as u8);
        self.number(turn);
        self.number(taken.map_or(0, |taken| taken + 1));
        self.number(published.unwrap_or(0));
        self.number(values.len() as u64);
        values.iter().for_each(|value| self.put(&value.to_le_bytes()));
    }

    /// Marks the call as one that cannot be replayed.
    pub fn refuse(&mut self, reason: Unusable) {
        self.unusable.get_or_insert(reason);
    }
}

/// 64-bit hash of answers. Every NaN counts as the same word, because the bits of NaN differ between platforms.
#[derive(Clone, Copy)]
pub struct Hash(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hash {
    pub fn new() -> Self {
        Self(0x5678_9abc_def0_1234)
    }

    #[inline]
    pub fn word(&mut self, word: u64) {
        const INFINITY: u64 = 0x7ff << 52;
        let is_nan = word & (u64::MAX >> 1) > INFINITY;
        let word = if is_nan { INFINITY | 1 << 51 } else { word };
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(FACTOR);
        self.0 ^= self.0 >> 32;
    }

    /// Adds bytes, eight at a time.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        words.for_each(|word| self.word(u64::from_le_bytes(word.try_into().unwrap_or_default())));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
    }

    pub fn value(&self) -> u64 {
        self.0
    }
}

/// Collects the answer of a call: lengths and handles as bytes, and a hash of everything else.
pub struct Answer<'a> {
    pub sink: &'a mut Sink,
    pub hash: Hash,
}

/// Returns the number of a function in records: FNV-1a of its name, 32 bits.
pub const fn function(name: &str) -> u32 {
    let (bytes, mut hash, mut i) = (name.as_bytes(), 0x811c_9dc5_u32, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}
