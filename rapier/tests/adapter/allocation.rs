//! Counts the allocations of a thread in the allocator itself, as `tests/support` does for the library. That package would
//! add its oracles' dependencies to this workspace.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator; counts the calls of each thread.
pub struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending still allocates.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: forwards everything to the system's allocator; counting touches no allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        System.alloc(layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        System.alloc_zeroed(layout)
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        System.realloc(pointer, layout, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        System.dealloc(pointer, layout);
    }
}

/// Returns the number of allocations by this thread in `work`.
pub fn allocations(work: impl FnOnce()) -> usize {
    let before = CALLS.get();
    work();
    CALLS.get() - before
}
