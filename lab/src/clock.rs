//! Timing that is robust on a busy machine: clocks of threads, and alternating runs.

use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use voxshell::{Error, Result};

/// A run; returns its counted seconds.
pub type Run<'a> = &'a mut dyn FnMut() -> Result<f64>;

/// Smallest and largest number of rounds, for any time limit.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=20;

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
    /// Returns the least seconds of each run over rounds in which the runs alternate, so that a disturbance affects all
    /// of them.
    pub fn in_turns<const N: usize>(self, mut runs: [Run; N]) -> Result<[f64; N]> {
        let (mut least, mut spent) = ([f64::INFINITY; N], 0.0);
        for round in 1..=*ROUNDS.end() {
            for (run, least) in runs.iter_mut().zip(&mut least) {
                let seconds = run()?;
                *least = least.min(seconds);
                spent += seconds;
            }
            if round >= *ROUNDS.start() && spent > self.seconds {
                break;
            }
        }
        Ok(least)
    }

    /// Cooks on one thread, alternating with a peer's run: returns the least seconds of both, and the last cooked
    /// result.
    pub fn cook_beside<T: Send>(
        self,
        cook: impl Fn() -> Result<T> + Sync,
        theirs: Option<Run>,
    ) -> Result<(f64, f64, T)> {
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
            None => [self.in_turns([&mut ours])?[0], f64::NAN],
        };
        cooked.map(|value| (seconds, peer, value)).ok_or_else(|| Error::Unsupported("nothing was cooked".into()))
    }

    /// The same without a peer.
    pub fn cook<T: Send>(self, cook: impl Fn() -> Result<T> + Sync) -> Result<(f64, T)> {
        self.cook_beside(cook, None).map(|(seconds, _, value)| (seconds, value))
    }
}
