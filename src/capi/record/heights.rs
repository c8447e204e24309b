//! Heights of the caller's height map during a replay: those that were recorded, in their order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;

use crate::capi::types::vxs_vec3;

thread_local! {
    static HEIGHTS: RefCell<VecDeque<f64>> = const { RefCell::new(VecDeque::new()) };
}

/// Sets the heights that the next call gets.
pub(super) fn set(heights: &[f64]) {
    HEIGHTS.with_borrow_mut(|queue| {
        queue.clear();
        queue.extend(heights);
    });
}

/// Gives the next recorded height; 0 if the replay asks for more than were recorded.
pub(super) unsafe extern "C" fn next(_: usize, _: *const vxs_vec3, _: *mut c_void) -> f64 {
    HEIGHTS.with_borrow_mut(VecDeque::pop_front).unwrap_or(0.0)
}
