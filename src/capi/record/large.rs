//! Records that are too large for a ring, on their way to the writer.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::memory::{self, GrowGuarded};

/// Most bytes that wait for the writer at one time. One record may be larger. The writer comes every 5 ms, so this much
/// keeps a disk of 3 GB/s busy, and a disk that is slower than the calls costs no more memory than this.
pub(super) const MOST_WAITING: usize = 16 << 20;

/// A queue of bounded size.
#[derive(Default)]
pub(super) struct Large(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    /// Records behind their length, with the number of their thread.
    records: VecDeque<(u32, Vec<u8>)>,
    /// Bytes of the records above, and of the one that is being written.
    bytes: usize,
    is_closed: bool,
}

impl Large {
    /// Adds a record behind its length. Returns false and keeps nothing if there is no room or the queue is closed.
    pub fn push(&self, thread: u32, record: &[u8]) -> bool {
        let mut queue = self.0.lock();
        let length = record.len() + 4;
        let has_room = queue.bytes == 0 || queue.bytes.saturating_add(length) <= MOST_WAITING;
        if queue.is_closed || !has_room {
            return false;
        }
        let mut behind_length = memory::with_capacity(length);
        behind_length.extend_slice_guarded(&(record.len() as u32).to_le_bytes());
        behind_length.extend_slice_guarded(record);
        queue.records.push_back((thread, behind_length));
        queue.bytes += length;
        true
    }

    /// Hands the records that wait now to `write`, one by one. Records that come meanwhile stay for the next call, so that
    /// threads with many large records do not keep the writer from the rings.
    pub fn drain<E>(&self, mut write: impl FnMut(u32, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let waiting = self.0.lock().records.len();
        for _ in 0..waiting {
            let Some((thread, record)) = self.0.lock().records.pop_front() else { break };
            write(thread, &record)?;
            let length = record.len();
            drop(record);
            self.0.lock().bytes -= length;
        }
        Ok(())
    }

    /// Refuses all further records. Those that wait stay.
    pub fn close(&self) {
        self.0.lock().is_closed = true;
    }

    /// Refuses all further records and frees those that wait.
    pub fn discard(&self) {
        *self.0.lock() = Queue { is_closed: true, ..Queue::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(large: &Large) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        let _ = large.drain(|thread, record| {
            all.push((thread, record.len()));
            Ok::<(), ()>(())
        });
        all
    }

    #[test]
    fn waiting_bytes_are_bounded_and_one_record_always_fits() {
        let large = Large::default();
        let record = vec![0; MOST_WAITING + 1];
        assert!(large.push(1, &record));
        assert!(!large.push(2, &[1]));
        assert_eq!(drained(&large), [(1, record.len() + 4)]);
        let record = &record[..MOST_WAITING / 2 - 4];
        assert!(large.push(2, record) && large.push(3, record));
        assert!(!large.push(4, &[1]));
        assert_eq!(drained(&large).len(), 2);
        assert!(large.push(4, &[1]));
    }

    #[test]
    fn the_record_that_is_being_written_counts() {
        let large = Large::default();
        assert!(large.push(1, &vec![0; MOST_WAITING]));
        let written = large.drain(|_, _| if large.push(2, &[1]) { Ok(()) } else { Err("no room") });
        assert_eq!(written, Err("no room"));
    }

    #[test]
    fn a_closed_queue_refuses_records() {
        let large = Large::default();
        assert!(large.push(1, &[1]));
        large.close();
        assert!(!large.push(1, &[1]));
        assert_eq!(drained(&large), [(1, 5)]);
        large.discard();
        assert!(!large.push(1, &[1]));
        assert_eq!(drained(&large), []);
    }
}
