//! Values that follow from the rest of a struct, computed when they are first asked for.

use std::sync::OnceLock;

use super::guard;

/// A value that follows from the other fields of its struct. Two are always equal, a clone is empty, and files leave it
/// out.
pub struct Derived<T>(OnceLock<T>);

impl<T: Default + Send + Sync> Derived<T> {
    /// Returns the value, and computes it on the first call; the default where memory runs out. Threads that call it at
    /// the same time wait for the first; later calls take no lock.
    pub fn get_or_compute(&self, what: &'static str, compute: impl FnOnce() -> T + Send) -> &T {
        self.0.get_or_init(|| guard(what, || Ok(compute())).unwrap_or_default())
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> std::fmt::Debug for Derived<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Derived")
    }
}
