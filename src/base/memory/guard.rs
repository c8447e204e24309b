//! Operations that end with an error when memory runs out.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering;

use super::refusal::{refused, GUARDS};
use super::{reserve, threads};
use crate::{Error, Result};

/// Runs `work`. Returns [`Error::OutOfMemory`] when one of its allocations was refused: one made by this module on any
/// of its threads, or one that [`WithReserve`](super::WithReserve) had to serve from its reserve meanwhile. The reserve
/// is counted per process: an operation can fail because of a refusal to another one at the same time. The partial
/// results of `work` are dropped.
///
/// `what`: the operation, as the error shows it: "cooking a field".
pub fn guard<T: Send>(what: &'static str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let before = uses_of_reserve();
    GUARDS.fetch_add(1, Ordering::Relaxed);
    // The partial results of `work` are dropped, so no code sees them.
    let outcome = catch_unwind(AssertUnwindSafe(|| threads::with_pool(what, work)?));
    GUARDS.fetch_sub(1, Ordering::Relaxed);
    match outcome {
        Ok(Err(error @ Error::OutOfMemory { .. })) => Err(error),
        Ok(_) if uses_of_reserve() != before => Err(ran_out(what)),
        Ok(result) => result,
        Err(payload) => Err(refused(what, payload.as_ref()).unwrap_or_else(|| resume_unwind(payload))),
    }
}

/// Returns how often [`WithReserve`](super::WithReserve) has served a block from its reserve since the process began; 0
/// where it is not the allocator.
pub fn uses_of_reserve() -> usize {
    reserve::uses()
}

/// Returns the number of bytes of the reserve that are in use now.
pub fn reserve_in_use() -> usize {
    reserve::in_use()
}

/// Returns whether the present allocation on this thread can fail without ending the process: it is one of this
/// module's. For allocators that count the others.
pub fn is_guarded() -> bool {
    reserve::is_refusable()
}

/// Returns the error of an operation that detects a use of the reserve.
pub fn ran_out(what: &'static str) -> Error {
    Error::OutOfMemory { what, bytes: reserve::last_request() as u64 }
}
