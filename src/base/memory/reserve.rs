//! A global allocator with a reserve for small blocks, used when the system has no more memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Size of the reserve, bytes. It is part of the program's zeroed data, so it is there before anything can fail, and takes
/// address space but no memory until it is used. Cooking, loading and saving have used less than 16 KiB of it in
/// `tests/memory.rs`, which refuses every allocation from the n-th on, for all n; messages and the queues of the thread pool
/// grow with the number of threads.
pub const RESERVE_BYTES: usize = 1 << 20;

/// Blocks start at multiples of this and take whole multiples.
const GRAIN: usize = 64;
const WORDS: usize = RESERVE_BYTES / GRAIN / 64;
/// No block of a larger alignment is served.
const ALIGN: usize = 4096;

#[repr(C, align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE_BYTES]>,
    /// A bit for each grain in use. Only the holder of `busy` accesses it.
    map: UnsafeCell<[u64; WORDS]>,
    busy: AtomicBool,
    /// Grains in use.
    used: AtomicUsize,
    /// Blocks served so far.
    uses: AtomicUsize,
    /// Size of the last block served.
    last: AtomicUsize,
}

// SAFETY: the map is guarded by `busy`, and each block's bytes belong to its owner.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve {
    bytes: UnsafeCell::new([0; RESERVE_BYTES]),
    map: UnsafeCell::new([0; WORDS]),
    busy: AtomicBool::new(false),
    used: AtomicUsize::new(0),
    uses: AtomicUsize::new(0),
    last: AtomicUsize::new(0),
};

thread_local! {
    /// Const and without a destructor: using it never allocates, and works until the thread has ended.
    static REFUSABLE: Cell<bool> = const { Cell::new(false) };
}

/// Runs an allocation that may fail: it is not served from the reserve.
pub fn refusable<R>(allocate: impl FnOnce() -> R) -> R {
    REFUSABLE.set(true);
    let result = allocate();
    REFUSABLE.set(false);
    result
}

pub(super) fn is_refusable() -> bool {
    REFUSABLE.get()
}

pub(super) fn uses() -> usize {
    RESERVE.uses.load(Ordering::Relaxed)
}

pub(super) fn in_use() -> usize {
    RESERVE.used.load(Ordering::Relaxed) * GRAIN
}

pub(super) fn last_request() -> usize {
    RESERVE.last.load(Ordering::Relaxed)
}

/// Returns whether half of the reserve is in use. Fallible allocations then fail, so that infallible ones have the
/// other half until the operation has ended.
pub(super) fn is_low() -> bool {
    RESERVE.used.load(Ordering::Relaxed) > RESERVE_BYTES / GRAIN / 2
}

impl Reserve {
    fn holds(&self, pointer: *mut u8) -> bool {
        (pointer as usize).wrapping_sub(self.bytes.get() as usize) < RESERVE_BYTES
    }

    /// Runs `change` on the map with exclusive access. Does not sleep in a system lock, which may allocate.
    fn alone<R>(&self, change: impl FnOnce(&mut [u64; WORDS]) -> R) -> R {
        while self.busy.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::thread::yield_now();
        }
        // SAFETY: `busy` was false and is now true, so no other thread is here.
        let result = change(unsafe { &mut *self.map.get() });
        self.busy.store(false, Ordering::Release);
        result
    }

    /// Returns a block, at the first place that is large enough; null when there is none.
    fn take(&self, layout: Layout) -> *mut u8 {
        let (grains, step) = (grains(layout), layout.align().div_ceil(GRAIN));
        if layout.align() > ALIGN || grains > WORDS * 64 {
            return std::ptr::null_mut();
        }
        let place = self.alone(|map| {
            let in_use = |map: &[u64; WORDS], n: usize| map[n / 64] >> (n % 64) & 1 == 1;
            let mut first = 0;
            while first + grains <= WORDS * 64 {
                match (first..first + grains).rev().find(|&n| in_use(map, n)) {
                    Some(n) => first = (n + 1).next_multiple_of(step),
                    None => {
                        (first..first + grains).for_each(|n| map[n / 64] |= 1 << (n % 64));
                        return Some(first);
                    }
                }
            }
            None
        });
        let Some(first) = place else { return std::ptr::null_mut() };
        self.used.fetch_add(grains, Ordering::Relaxed);
        self.last.store(layout.size(), Ordering::Relaxed);
        self.uses.fetch_add(1, Ordering::Relaxed);
        // SAFETY: within the bytes.
        unsafe { self.bytes.get().cast::<u8>().add(first * GRAIN) }
    }

    fn give_back(&self, pointer: *mut u8, layout: Layout) {
        let first = (pointer as usize - self.bytes.get() as usize) / GRAIN;
        self.alone(|map| (first..first + grains(layout)).for_each(|n| map[n / 64] &= !(1 << (n % 64))));
        self.used.fetch_sub(grains(layout), Ordering::Relaxed);
    }
}

fn grains(layout: Layout) -> usize {
    layout.size().div_ceil(GRAIN).max(1)
}

/// An allocator that serves blocks from a reserve of [`RESERVE_BYTES`] when the inner allocator has no memory, so that
/// a failed allocation of a few bytes does not end the process. The current operation ends with
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); the blocks return to the reserve as they are freed. Blocks that
/// do not fit fail.
///
/// There is one reserve for the process, as there is one global allocator. A Rust program enables it with
///
/// ```
/// use voxshell::memory::WithReserve;
///
/// #[global_allocator]
/// static ALLOCATOR: WithReserve = WithReserve(std::alloc::System);
/// # let _ = Box::new(1);
/// ```
pub struct WithReserve<A = System>(pub A);

impl<A> WithReserve<A> {
    /// Serves a request that the inner allocator refused.
    #[cold]
    fn second_try(&self, layout: Layout) -> *mut u8 {
        if is_refusable() {
            return std::ptr::null_mut();
        }
        RESERVE.take(layout)
    }
}

// SAFETY: a block belongs to the inner allocator or to the reserve, as its address shows, and is returned to its
// origin. Blocks of the reserve do not overlap: the map has a bit for each grain.
unsafe impl<A: GlobalAlloc> GlobalAlloc for WithReserve<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.0.alloc(layout);
        if block.is_null() {
            return self.second_try(layout);
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = self.0.alloc_zeroed(layout);
        if block.is_null() {
            let block = self.second_try(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            return block;
        }
        block
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let inside = RESERVE.holds(pointer);
        if !inside {
            let block = self.0.realloc(pointer, layout, size);
            if !block.is_null() {
                return block;
            }
        }
        let new = Layout::from_size_align_unchecked(size, layout.align());
        let block = if inside { self.alloc(new) } else { self.second_try(new) };
        if !block.is_null() {
            block.copy_from_nonoverlapping(pointer, layout.size().min(size));
            self.dealloc(pointer, layout);
        }
        block
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if RESERVE.holds(pointer) {
            RESERVE.give_back(pointer, layout);
        } else {
            self.0.dealloc(pointer, layout);
        }
    }
}
