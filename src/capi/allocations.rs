//! Number of the library's allocations, which shows that warm queries do not allocate.

use super::check;
use super::guard::entry;
use super::status::*;

/// Counts the allocations that the library has made on the calling thread so far, including those that grow a block.
/// Read it before and after a call to get the number of allocations of the call.
///
/// @param[out] count  number of allocations since the thread began
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_UNSUPPORTED (built without the cargo feature `allocation-counter`, which the
///         CMake build turns on)
#[no_mangle]
pub unsafe extern "C" fn vxs_allocation_count(count: *mut u64) -> vxs_status {
    entry!(vxs_allocation_count, [], {
        check::out("count", count)?;
        check::write(count, counter::count()?)
    })
}

#[cfg(not(feature = "allocation-counter"))]
mod counter {
    use crate::capi::guard::Failure;

    pub(super) fn count() -> Result<u64, Failure> {
        Err(Failure::unsupported("the library was built without its feature allocation-counter"))
    }
}

/// A Rust program has one global allocator, so only builds that serve as a C library enable this one.
#[cfg(feature = "allocation-counter")]
mod counter {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;

    use crate::capi::guard::Failure;
    use crate::memory::WithReserve;

    thread_local! {
        /// Const and without a destructor: its use never allocates, and works until the thread has ended.
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn count() -> Result<u64, Failure> {
        Ok(COUNT.get())
    }

    /// The system's allocator with a reserve, counting the calls of each thread.
    struct Counting;

    const WITH_RESERVE: WithReserve = WithReserve(System);

    // SAFETY: passes every call to another allocator; counting touches no allocated memory.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            WITH_RESERVE.alloc(layout)
        }
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            WITH_RESERVE.alloc_zeroed(layout)
        }
        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            WITH_RESERVE.realloc(pointer, layout, size)
        }
        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            WITH_RESERVE.dealloc(pointer, layout);
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;
}
