//! Progress reports and cancellation of long work.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::memory;
use crate::{Error, Result};

/// Gets the stage and the fraction of it that is done; false to cancel.
type Callback<'a> = dyn Fn(&str, f64) -> bool + Sync + 'a;

/// Progress of a long computation; shared by its threads.
///
/// The callback gets the stage's name and the fraction done (0..1) and returns `false` to cancel. It may be called from
/// any thread, also from several at the same time.
///
/// Work is counted in units: one triangle, sample, node or box looked at, which takes one to a hundred nanoseconds.
/// Between two calls of the callback all threads together do at most [`Progress::CALL_UNITS`], plus the work of each
/// thread between two counts. The number of units depends on the input only, not on the number of threads or on time.
pub struct Progress<'a> {
    callback: Option<&'a Callback<'a>>,
    cancelled: AtomicBool,
    /// The last stage and fraction reported, for the calls between reports.
    last: Mutex<(&'static str, f64)>,
    units: AtomicU64,
    largest: AtomicU64,
    /// Units counted before the callback asked to stop.
    when_cancelled: AtomicU64,
    /// Uses of the memory reserve before the reported work began.
    reserve_before: AtomicUsize,
}

impl<'a> Progress<'a> {
    /// Units of work after which the callback is called again: some hundredths of a second.
    pub const CALL_UNITS: u64 = 1 << 21;

    /// Makes a progress without a callback, which is never cancelled.
    pub fn none() -> Self {
        Self::with(None)
    }

    pub fn new(callback: &'a Callback<'a>) -> Self {
        Self::with(Some(callback))
    }

    fn with(callback: Option<&'a Callback<'a>>) -> Self {
        Self {
            callback,
            cancelled: AtomicBool::new(false),
            last: Mutex::new(("", 0.0)),
            units: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            when_cancelled: AtomicU64::new(u64::MAX),
            reserve_before: AtomicUsize::new(memory::uses_of_reserve()),
        }
    }

    /// Runs `work` under a [`memory::guard`]; its reports and counts here return an error when memory runs out.
    pub fn guard<T: Send>(&self, what: &'static str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.reserve_before.store(memory::uses_of_reserve(), Ordering::Relaxed);
        memory::guard(what, work)
    }

    /// Reports a stage and its fraction; `Err(Cancelled)` once the callback has asked to stop, in every thread.
    /// `Err(OutOfMemory)` once the reserve of [`memory::WithReserve`] was used in the [guarded](Self::guard) work.
    pub fn report(&self, stage: &'static str, fraction: f64) -> Result<()> {
        *self.last.lock() = (stage, fraction);
        self.call(stage, fraction)
    }

    /// Counts work that was just done, and calls the callback with the last stage and fraction where enough has been done
    /// since. Errors as for [`Progress::report`].
    pub fn work(&self, units: u64) -> Result<()> {
        self.largest.fetch_max(units, Ordering::Relaxed);
        let before = self.units.fetch_add(units, Ordering::Relaxed);
        if before / Self::CALL_UNITS != (before + units) / Self::CALL_UNITS {
            let (stage, fraction) = *self.last.lock();
            return self.call(stage, fraction);
        }
        self.check()
    }

    /// Units of work counted so far.
    pub fn units(&self) -> u64 {
        self.units.load(Ordering::Relaxed)
    }

    /// Returns the largest number of units that were counted at once: the work of one thread between two checks for
    /// cancellation.
    pub fn largest_step(&self) -> u64 {
        self.largest.load(Ordering::Relaxed)
    }

    /// Units of work counted after the callback asked to stop; 0 if it did not.
    pub fn units_after_cancelling(&self) -> u64 {
        self.units().saturating_sub(self.when_cancelled.load(Ordering::Relaxed))
    }

    /// Checks for cancellation. Errors as for [`Progress::report`]. Does not call the callback.
    pub fn check(&self) -> Result<()> {
        if memory::uses_of_reserve() != self.reserve_before.load(Ordering::Relaxed) {
            return Err(memory::ran_out("cooking"));
        }
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    fn call(&self, stage: &str, fraction: f64) -> Result<()> {
        self.check()?;
        match self.callback {
            Some(callback) if !callback(stage, fraction) => {
                self.when_cancelled.fetch_min(self.units(), Ordering::Relaxed);
                self.cancelled.store(true, Ordering::Relaxed);
                Err(Error::Cancelled)
            }
            _ => Ok(()),
        }
    }
}

/// Counts the work of one thread in loops whose steps are too short for a shared counter.
pub struct Work<'a> {
    progress: &'a Progress<'a>,
    units: u64,
}

impl<'a> Work<'a> {
    /// Units that are counted at once.
    const STEP: u64 = 1 << 14;

    pub fn new(progress: &'a Progress<'a>) -> Self {
        Self { progress, units: 0 }
    }

    /// Counts work as [`Progress::work`], but in larger portions.
    #[inline]
    pub fn add(&mut self, units: u64) -> Result<()> {
        self.units += units;
        if self.units < Self::STEP {
            return Ok(());
        }
        self.progress.work(std::mem::take(&mut self.units))
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Memory ran out: the callback is not called during the unwinding, and the count is not used.
            return;
        }
        // The next check returns the cancellation.
        let _cancelled = self.progress.work(self.units);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn calls_follow_the_units_whatever_the_threads() {
        let calls = AtomicU32::new(0);
        let count = |stage: &str, fraction: f64| {
            assert_eq!((stage, fraction), ("stage", 0.5));
            calls.fetch_add(1, Ordering::Relaxed);
            true
        };
        let progress = Progress::new(&count);
        progress.report("stage", 0.5).unwrap();
        (0..1000u64).into_par_iter().for_each(|i| {
            let mut work = Work::new(&progress);
            (0..1000).for_each(|_| work.add(i % 50).unwrap());
        });
        assert_eq!(progress.units(), 1000 * 24_500);
        assert_eq!(u64::from(calls.load(Ordering::Relaxed)), 1 + progress.units() / Progress::CALL_UNITS);
        assert!(progress.largest_step() < Work::STEP + 50);
    }

    #[test]
    fn a_cancelled_thread_stops_the_others_at_their_next_count() {
        let stop = |_: &str, _: f64| false;
        let progress = Progress::new(&stop);
        let mut work = Work::new(&progress);
        assert!(work.add(5).is_ok());
        assert!(progress.work(Progress::CALL_UNITS).is_err());
        assert!(work.add(Work::STEP).is_err() && progress.report("stage", 0.0).is_err());
    }
}
