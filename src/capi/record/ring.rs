//! A ring of bytes from one thread to the writer: records go in whole, without a lock and without an allocation.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::memory::{boxed, filled_with, GrowGuarded};

pub(super) struct Ring {
    bytes: Box<[UnsafeCell<u8>]>,
    /// Bytes written and read since the start. Their difference is the number of bytes in the ring.
    head: AtomicUsize,
    tail: AtomicUsize,
    /// Whether a thread writes to it.
    pub taken: AtomicBool,
}

// SAFETY: bytes between `tail` and `head` belong to the reader and the others to the one writer.
unsafe impl Sync for Ring {}

impl Ring {
    /// Makes a ring of at least `capacity` bytes: a power of two, whose pages are touched.
    pub fn new(capacity: usize) -> Self {
        let bytes = boxed(filled_with(capacity.next_power_of_two(), || UnsafeCell::new(1)));
        Self { bytes, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), taken: AtomicBool::new(false) }
    }

    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    fn base(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.bytes.as_ptr())
    }

    /// Copies bytes in at a position.
    unsafe fn copy_in(&self, at: usize, from: &[u8]) {
        let at = at & (self.capacity() - 1);
        let first = from.len().min(self.capacity() - at);
        std::ptr::copy_nonoverlapping(from.as_ptr(), self.base().add(at), first);
        std::ptr::copy_nonoverlapping(from.as_ptr().add(first), self.base(), from.len() - first);
    }

    /// Adds a record behind its length; false if it does not fit. For the one thread that owns the ring.
    #[inline]
    pub fn push(&self, record: &[u8]) -> bool {
        let (head, tail) = (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Acquire));
        let needed = record.len() + 4;
        if needed > self.capacity() - head.wrapping_sub(tail) {
            return false;
        }
        // SAFETY: the room between head and tail is the writer's.
        unsafe {
            self.copy_in(head, &(record.len() as u32).to_le_bytes());
            self.copy_in(head.wrapping_add(4), record);
        }
        self.head.store(head.wrapping_add(needed), Ordering::Release);
        true
    }

    /// Appends everything to `out` and frees its room. For the one thread that drains.
    pub fn drain(&self, out: &mut Vec<u8>) {
        let (head, tail) = (self.head.load(Ordering::Acquire), self.tail.load(Ordering::Relaxed));
        let at = tail & (self.capacity() - 1);
        let length = head.wrapping_sub(tail);
        let first = length.min(self.capacity() - at);
        // SAFETY: the bytes between tail and head are the reader's, and were written before head was stored.
        unsafe {
            out.extend_slice_guarded(std::slice::from_raw_parts(self.base().add(at), first));
            out.extend_slice_guarded(std::slice::from_raw_parts(self.base(), length - first));
        }
        self.tail.store(head, Ordering::Release);
    }

    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Acquire) == self.tail.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_arrive_whole_and_in_order_between_two_threads() {
        const LAST: u32 = if cfg!(miri) { 300 } else { 20_000 };
        let ring = std::sync::Arc::new(Ring::new(256));
        let writer = ring.clone();
        let thread = std::thread::spawn(move || {
            for n in 0..LAST {
                let record: Vec<u8> = n.to_le_bytes().repeat(1 + n as usize % 9);
                while !writer.push(&record) {
                    std::thread::yield_now();
                }
            }
        });
        let (mut bytes, mut at, mut next) = (Vec::new(), 0, 0u32);
        while next < LAST {
            ring.drain(&mut bytes);
            while at < bytes.len() {
                let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
                assert_eq!(bytes[at + 4..at + 4 + length], next.to_le_bytes().repeat(1 + next as usize % 9));
                (at, next) = (at + 4 + length, next + 1);
            }
        }
        thread.join().unwrap();
        assert!(ring.is_empty());
    }

    #[test]
    fn a_full_ring_refuses_and_keeps_what_it_has() {
        let ring = Ring::new(64);
        assert!(ring.push(&[7; 40]));
        assert!(!ring.push(&[8; 40]));
        let mut bytes = Vec::new();
        ring.drain(&mut bytes);
        assert_eq!(bytes[4..], [7; 40]);
        assert!(ring.push(&[8; 40]));
    }
}
