//! An allocator that refuses the n-th call, or all from the n-th on. A test program installs it inside the library's
//! own with `#[global_allocator] static ALLOCATOR: WithReserve<Faults> = WithReserve(Faults);`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

use voxshell::memory::{is_guarded, reserve_in_use};

/// The system's allocator; counts calls and bytes of all threads, and refuses the chosen calls.
pub struct Faults;

/// Choice of the refused calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refuse {
    /// No call.
    Never,
    /// The n-th call, counted from 1.
    Only(usize),
    /// The n-th call and all after it.
    From(usize),
}

static CALLS: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(usize::MAX);
static LAST: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicUsize = AtomicUsize::new(0);
static RESERVED: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicIsize = AtomicIsize::new(0);
static WATCHED: AtomicBool = AtomicBool::new(false);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHOWING: Cell<bool> = const { Cell::new(false) };
}

/// Size, bytes, above which a watched allocation that cannot fail is printed with a backtrace: it grows with the input,
/// and needs a guard.
pub const SHOWN_FROM: usize = 32 << 10;

/// Returns true if the current call is refused.
fn refused(size: usize) -> bool {
    if WATCHED.load(Relaxed) && !is_guarded() && !SHOWING.get() {
        LARGEST.fetch_max(size, Relaxed);
        if size > SHOWN_FROM {
            SHOWING.set(true);
            eprintln!("{size} bytes that cannot fail at\n{}", std::backtrace::Backtrace::force_capture());
            SHOWING.set(false);
        }
    }
    let n = CALLS.fetch_add(1, Relaxed) + 1;
    let refused = (FIRST.load(Relaxed)..=LAST.load(Relaxed)).contains(&n);
    REFUSED.fetch_add(usize::from(refused), Relaxed);
    RESERVED.fetch_max(reserve_in_use(), Relaxed);
    refused
}

// SAFETY: forwards everything to the system's allocator, or returns null.
unsafe impl GlobalAlloc for Faults {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return std::ptr::null_mut();
        }
        HELD.fetch_add(layout.size() as isize, Relaxed);
        System.alloc(layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return std::ptr::null_mut();
        }
        HELD.fetch_add(layout.size() as isize, Relaxed);
        System.alloc_zeroed(layout)
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if refused(size) {
            return std::ptr::null_mut();
        }
        HELD.fetch_add(size as isize - layout.size() as isize, Relaxed);
        System.realloc(pointer, layout, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Relaxed);
        System.dealloc(pointer, layout);
    }
}

/// Allocations in `run`.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Calls of the allocator.
    pub calls: usize,
    /// Number of refused calls.
    pub refused: usize,
    /// Bytes held after the run minus bytes before it, without blocks of the reserve.
    pub kept: isize,
    /// Largest part of the reserve in use at a call of the allocator, bytes.
    pub reserved: usize,
    /// Largest block of [`watched`] that could not fail, bytes.
    pub largest: usize,
}

/// Runs `work` while calls are refused. Its result is dropped before the held memory is counted.
pub fn run<T>(refuse: Refuse, work: impl FnOnce() -> T, look: impl FnOnce(&T)) -> Seen {
    let held = HELD.load(Relaxed);
    CALLS.store(0, Relaxed);
    REFUSED.store(0, Relaxed);
    RESERVED.store(0, Relaxed);
    let (first, last) = match refuse {
        Refuse::Never => (usize::MAX, 0),
        Refuse::Only(n) => (n, n),
        Refuse::From(n) => (n, usize::MAX - 1),
    };
    LAST.store(last, Relaxed);
    FIRST.store(first, Relaxed);
    let result = work();
    let calls = CALLS.load(Relaxed);
    FIRST.store(usize::MAX, Relaxed);
    LAST.store(0, Relaxed);
    look(&result);
    drop(result);
    Seen {
        calls,
        refused: REFUSED.load(Relaxed),
        kept: HELD.load(Relaxed) - held,
        reserved: RESERVED.load(Relaxed),
        largest: LARGEST.load(Relaxed),
    }
}

/// Runs `work` without refusals and records the blocks that could not fail.
pub fn watched<T>(work: impl FnOnce() -> T) -> Seen {
    LARGEST.store(0, Relaxed);
    WATCHED.store(true, Relaxed);
    let seen = run(Refuse::Never, work, |_| ());
    WATCHED.store(false, Relaxed);
    seen
}
