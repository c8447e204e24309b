//! How long work reports and is stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// Gets the stage and the fraction of it that is done; false to cancel.
type Callback<'a> = dyn Fn(&str, f64) -> bool + Sync + 'a;

/// Progress of a long computation; shared by its threads.
///
/// The callback gets the stage's name and the fraction done (0..1) and returns `false` to cancel. It may be called from
/// any thread, one call at a time is not guaranteed.
pub struct Progress<'a> {
    callback: Option<&'a Callback<'a>>,
    cancelled: AtomicBool,
}

impl<'a> Progress<'a> {
    /// Reports to nobody and is never cancelled.
    pub fn none() -> Self {
        Self { callback: None, cancelled: AtomicBool::new(false) }
    }

    pub fn new(callback: &'a Callback<'a>) -> Self {
        Self { callback: Some(callback), cancelled: AtomicBool::new(false) }
    }

    /// Reports; `Err(Cancelled)` once the callback has asked to stop, in every thread.
    pub fn report(&self, stage: &str, fraction: f64) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        match self.callback {
            Some(callback) if !callback(stage, fraction) => {
                self.cancelled.store(true, Ordering::Relaxed);
                Err(Error::Cancelled)
            }
            _ => Ok(()),
        }
    }
}
