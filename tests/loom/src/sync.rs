//! The names that the sources under test import, with the types of loom behind them.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicUsize;
use std::sync::MutexGuard;

pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicU8, Ordering};
pub use loom::sync::Arc;

/// A cell that reports each access to loom. Every access counts as a write: no two threads may have one without an order
/// between them.
pub struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value))
    }

    pub fn get(&self) -> *mut T {
        self.0.with_mut(|pointer| pointer)
    }
}

/// Number of the execution: loom runs a test once for each interleaving.
static EXECUTION: AtomicUsize = AtomicUsize::new(0);

/// Checks a test in all its interleavings, and prints their number.
pub fn model(test: impl Fn() + Sync + Send + 'static) {
    let count = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    loom::model(move || {
        EXECUTION.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        test();
    });
    eprintln!("{} interleavings", count.load(std::sync::atomic::Ordering::Relaxed));
}

/// A lock for a static, which loom does not see: no code under it touches a type of loom, so no thread waits. Each
/// execution starts with the default value, because the objects of an earlier one are dead to loom.
pub struct Mutex<T>(std::sync::Mutex<(usize, T)>);

pub struct Locked<'a, T>(MutexGuard<'a, (usize, T)>);

impl<T: Default> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new((0, value)))
    }

    pub fn lock(&self) -> Locked<'_, T> {
        let mut guard = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let execution = EXECUTION.load(std::sync::atomic::Ordering::Relaxed);
        if guard.0 != execution {
            *guard = (execution, T::default());
        }
        Locked(guard)
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0 .1
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0 .1
    }
}
