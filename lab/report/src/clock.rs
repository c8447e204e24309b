//! Timing that is robust on a busy machine: clocks of threads, and alternating runs.

use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use voxshell::{Error, Result};

/// A run; returns its counted seconds.
pub type Run<'a> = &'a mut dyn FnMut() -> Result<f64>;

/// Smallest and largest number of rounds, for any time limit.
const ROUNDS: std::ops::RangeInclusive<usize> = 5..=20;

/// Seconds of a run in the fastest and in the slowest round.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub least: f64,
    pub most: f64,
}

impl Timing {
    const NONE: Self = Self { least: f64::INFINITY, most: 0.0 };

    fn take(&mut self, seconds: f64) {
        (self.least, self.most) = (self.least.min(seconds), self.most.max(seconds));
    }

    /// Returns the slowest round over the fastest.
    pub fn spread(self) -> f64 {
        self.most / self.least
    }
}

/// Repeats measurements.
#[derive(Clone, Copy)]
pub struct Clock {
    /// Approximate time for one comparison, seconds.
    pub seconds: f64,
}

/// Returns the processor time of this thread, seconds, and the result.
pub fn of_thread<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// Returns the processor time of all threads of this process since its start, seconds.
pub fn of_process() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// Returns the elapsed time, seconds, and the result.
pub fn of_wall<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// Runs on a pool of the given number of threads. With one thread, its clock counts all of the work.
pub fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|e| Error::Unsupported(format!("{threads} threads: {e}")))?.install(run))
}

impl Clock {
    /// Times each run over rounds in which the runs alternate, so that a disturbance affects all of them.
    pub fn in_turns<const N: usize>(self, mut runs: [Run; N]) -> Result<[Timing; N]> {
        let (mut timings, mut spent) = ([Timing::NONE; N], 0.0);
        for round in 1..=*ROUNDS.end() {
            for (run, timing) in runs.iter_mut().zip(&mut timings) {
                let seconds = run()?;
                timing.take(seconds);
                spent += seconds;
            }
            if round >= *ROUNDS.start() && spent > self.seconds {
                break;
            }
        }
        Ok(timings)
    }

    /// Cooks on one thread, alternating with a peer's run: returns the times of both, and the last cooked result.
    pub fn cook_beside<T: Send>(
        self,
        cook: impl Fn() -> Result<T> + Sync,
        theirs: Option<Run>,
    ) -> Result<(Timing, Timing, T)> {
        let mut cooked = None;
        let mut ours = || {
            // The previous result must be freed before the next is made.
            drop(cooked.take());
            let (seconds, value) = on(1, || of_thread(&cook))?;
            cooked = Some(value?);
            Ok(seconds)
        };
        let [seconds, peer] = match theirs {
            Some(theirs) => self.in_turns([&mut ours, theirs])?,
            None => [self.in_turns([&mut ours])?[0], Timing::NONE],
        };
        cooked.map(|value| (seconds, peer, value)).ok_or_else(|| Error::Unsupported("nothing was cooked".into()))
    }

    /// The same without a peer.
    pub fn cook<T: Send>(self, cook: impl Fn() -> Result<T> + Sync) -> Result<(Timing, T)> {
        self.cook_beside(cook, None).map(|(seconds, _, value)| (seconds, value))
    }
}
