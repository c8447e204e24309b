//! A triple buffer of one writer and one reader, through which each half reads the newest value of the other.
//!
//! There are three slots: the writer fills one, the reader reads another, and the third holds the value published last.
//! Publishing and taking swap the own slot with the third by one atomic exchange, so neither side ever waits, and the
//! reader sees whole values only. A value that was not taken before the next one is published is lost: only the newest
//! counts.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

/// Flag in the third slot's number: the slot holds a value that the reader has not taken.
const FRESH: u8 = 4;

struct Shared<T> {
    slots: [UnsafeCell<T>; 3],
    /// Number of the third slot, and whether it is fresh.
    third: AtomicU8,
}

// SAFETY: only the owner of a slot's number accesses the slot, and numbers change hands by an acquiring and releasing
// exchange.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The publishing end. Values are overwritten in place: no allocation after the start.
pub struct Writer<T> {
    shared: Arc<Shared<T>>,
    own: u8,
}

/// The reading end.
pub struct Reader<T> {
    shared: Arc<Shared<T>>,
    own: u8,
}

/// Makes both ends; the reader sees an initial value until something is published. Each slot gets an initial value of
/// its own, with the capacity that it has.
pub fn channel<T: Send>(initial: impl Fn() -> T) -> (Writer<T>, Reader<T>) {
    let slots = [(), (), ()].map(|()| UnsafeCell::new(initial()));
    let shared = Arc::new(Shared { slots, third: AtomicU8::new(1) });
    (Writer { shared: shared.clone(), own: 0 }, Reader { shared, own: 2 })
}

impl<T> Writer<T> {
    /// Returns the slot to fill. It holds an earlier published value, or the initial value, not the value published
    /// last.
    pub fn slot(&mut self) -> &mut T {
        // SAFETY: this slot is the writer's until it is published, and `self` is borrowed for as long.
        unsafe { &mut *self.shared.slots[usize::from(self.own)].get() }
    }

    /// Hands the slot over to the reader, which sees all data written into it.
    pub fn publish(&mut self) {
        self.own = self.shared.third.swap(self.own | FRESH, Ordering::AcqRel) & !FRESH;
    }

    pub fn write(&mut self, value: T) {
        *self.slot() = value;
        self.publish();
    }
}

impl<T> Reader<T> {
    /// Returns whether the next update takes a new value.
    pub fn is_fresh(&self) -> bool {
        // Only the reader clears the mark, so once seen it stays until the exchange.
        self.shared.third.load(Ordering::Relaxed) & FRESH != 0
    }

    /// Takes the value published last; returns whether it is new.
    pub fn update(&mut self) -> bool {
        if !self.is_fresh() {
            return false;
        }
        self.own = self.shared.third.swap(self.own, Ordering::AcqRel) & !FRESH;
        true
    }

    /// Returns the value taken last.
    pub fn get(&self) -> &T {
        // SAFETY: this slot is the reader's until the next update, which borrows `self` exclusively.
        unsafe { &*self.shared.slots[usize::from(self.own)].get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_newest_is_seen_and_only_once_as_new() {
        let (mut writer, mut reader) = channel(|| 0);
        assert!(!reader.update());
        assert_eq!(*reader.get(), 0);
        for round in 0..10 {
            writer.write(10 * round + 1);
            writer.write(10 * round + 2);
            assert!(reader.update());
            assert_eq!(*reader.get(), 10 * round + 2);
            assert!(!reader.update(), "round {round}");
            assert_eq!(*reader.get(), 10 * round + 2);
        }
    }

    /// The values have many equal words, and grow, so that a torn value or one that goes back is detected.
    #[test]
    fn between_two_threads_nothing_is_torn_goes_back_or_stays_unseen() {
        const LAST: u64 = if cfg!(miri) { 200 } else { 400_000 };
        let (mut writer, mut reader) = channel(|| [0u64; 64]);
        let done = Arc::new(AtomicBool::new(false));
        let writers_end = done.clone();
        let thread = std::thread::spawn(move || {
            for n in 1..=LAST {
                // In two halves, in either order, so that a torn value differs.
                let slot = writer.slot();
                let (front, back) = slot.split_at_mut(32);
                if n % 2 == 0 {
                    front.fill(n);
                    back.fill(n);
                } else {
                    back.fill(n);
                    front.fill(n);
                }
                writer.publish();
            }
            writers_end.store(true, Ordering::Release);
        });
        let (mut seen, mut takes) = (0, 0u64);
        loop {
            let over = done.load(Ordering::Acquire);
            if reader.update() {
                let value = reader.get();
                assert!(value.iter().all(|v| *v == value[0]), "torn: {value:?}");
                assert!(value[0] > seen, "went from {seen} to {}", value[0]);
                seen = value[0];
                takes += 1;
            } else if over {
                break;
            }
        }
        thread.join().unwrap();
        assert_eq!(seen, LAST, "the last value published is seen");
        assert!(takes > 1, "they ran beside each other");
    }

    #[test]
    fn the_three_slots_never_meet() {
        let (mut writer, mut reader) = channel(|| 0);
        // Every order of three moves, many times over.
        let mut state = 1u32;
        for n in 0..if cfg!(miri) { 300 } else { 10_000 } {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match state >> 30 {
                0 | 1 => writer.write(n),
                _ => drop(reader.update()),
            }
            let third = writer.shared.third.load(Ordering::Relaxed) & !FRESH;
            let mut all = [writer.own, reader.own, third];
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        }
    }
}
