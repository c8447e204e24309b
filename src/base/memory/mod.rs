//! Out-of-memory handling: an allocation of any size that fails becomes an error and does not end the process.
//!
//! Stable Rust has two reactions to a failed allocation. `try_reserve` returns an error to the caller; every other
//! function calls `std::alloc::handle_alloc_error`, which ends the process. So there are two mechanisms:
//!
//! - **Large memory**, which grows with grid, samples, triangles or the size of a file, is allocated by the functions of this
//!   module. They request it with `try_reserve`. When the system refuses, they unwind, without a message on stderr, to the
//!   [`guard`] around the operation, which returns an [`Error::OutOfMemory`](crate::Error::OutOfMemory). Unwinding lets a
//!   container grow in the middle of an iterator or on another thread (rayon carries it over) and still drops everything that
//!   was made so far. Without a guard around them, these functions end the process as any other container does.
//! - **Small memory** (boxes, reference counts, messages, the bookkeeping of the thread pool) stays with the ordinary
//!   containers. [`WithReserve`] is a global allocator that serves such a block from a reserve when the system refuses, and
//!   counts that; the guard and [`Progress::report`](crate::math::Progress::report) read the count and end the operation with
//!   the same error. The C library has this allocator. A Rust program chooses its own: without `WithReserve` only the first
//!   mechanism works.
//!
//! A program built with `panic = "abort"` cannot unwind, and ends when an allocation fails.

mod bytes;
mod containers;
mod derived;
mod guard;
mod refusal;
mod reserve;
mod threads;

pub use bytes::{deserialize_vec, read_to_end, text_of, Bytes};
pub use containers::{
    boxed, boxed_item, concat, exact, filled, filled_with, map_with_capacity, par_flat_collect, par_try_flat_collect,
    set_with_capacity, sort_stable_by, with_capacity, CollectGuarded, GrowGuarded, HeapGuarded, Map, ParCollectGuarded,
    RoomGuarded, Set, SliceGuarded,
};
pub use derived::Derived;
pub use guard::ran_out;
pub use guard::{guard, is_guarded, reserve_in_use, uses_of_reserve};
pub use refusal::{attempt, catch_on_this_thread, catching, refused};
pub use reserve::refusable;
pub use reserve::{WithReserve, RESERVE_BYTES};
pub use threads::{begin_work, has_room as has_room_for_threads, register_thread, HAS_THREADS, THREAD_BYTES};
