//! Large arrays of zeros: untouched until they are written, and in huge pages where the system has them.

use std::alloc::{alloc_zeroed, Layout};

use voxshell_base::memory;

/// Size from which an array asks for huge pages, bytes.
const LARGE: usize = 8 << 20;

/// Returns `count` zeros; `None` when the system does not have the memory.
///
/// A fresh page costs its first writer a fault: with pages of 4 KiB a quarter of a second for a grid of 512³ nodes, with
/// those of 2 MiB a fifth of that.
pub(super) fn zeros(count: usize) -> Option<Vec<f32>> {
    let layout = Layout::array::<f32>(count).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout is not empty.
    let first = memory::refusable(|| unsafe { alloc_zeroed(layout) }).cast::<f32>();
    if first.is_null() {
        return None;
    }
    if layout.size() >= LARGE {
        advise(first.addr(), layout.size());
    }
    // SAFETY: from the global allocator with the layout of `count` f32, all of them 0.
    Some(unsafe { Vec::from_raw_parts(first, count, count) })
}

/// Asks the system for huge pages; a refusal is ignored.
#[cfg(target_os = "linux")]
fn advise(from: usize, size: usize) {
    const HUGE: usize = 2 << 20;
    let (first, end) = (from.next_multiple_of(HUGE), (from + size) / HUGE * HUGE);
    if first < end {
        // SAFETY: whole pages inside an allocation that is alive; the advice changes the kind of the pages, not their
        // content.
        unsafe { libc::madvise(std::ptr::without_provenance_mut(first), end - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_from: usize, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_all_sizes_are_zero_and_can_be_written() {
        for count in [0, 1, 1000, LARGE / 4 - 1, LARGE / 4, (5 << 20) / 4 * 3 + 7] {
            let mut array = zeros(count).unwrap();
            assert_eq!(array.len(), count);
            assert!(array.iter().all(|&v| v.to_bits() == 0));
            array.fill(1.0);
            assert_eq!(array.iter().filter(|&&v| v == 1.0).count(), count);
        }
        assert!(zeros(usize::MAX / 2).is_none());
    }
}
