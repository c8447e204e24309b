//! Time that means something on a machine that does other things too: of the thread, and in turns.

use std::time::Instant;

use cpu_time::{ProcessTime, ThreadTime};
use voxshell::{Error, Result};

/// A run gives the seconds that count of it.
pub type Run<'a> = &'a mut dyn FnMut() -> Result<f64>;

/// Whatever time there is: as many rounds at least, and at most.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=20;

/// Repeats what it measures.
#[derive(Clone, Copy)]
pub struct Clock {
    /// To spend on one comparison, about.
    pub seconds: f64,
}

/// Seconds that this thread computed.
pub fn of_thread<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// Seconds that all threads of this process computed since they began.
pub fn of_process() -> f64 {
    ProcessTime::now().as_duration().as_secs_f64()
}

/// Seconds that passed.
pub fn of_wall<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// Runs on a pool of so many threads; of one, its thread's clock counts all of the work.
pub fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|e| Error::Unsupported(format!("{threads} threads: {e}")))?.install(run))
}

impl Clock {
    /// The least seconds of each run, over rounds in which they take turns: what disturbs the machine then disturbs all of them.
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

    /// Cooks on one thread, in turns with a peer's run: the least seconds of ours and of theirs, and what was cooked last.
    pub fn cook_beside<T: Send>(
        self,
        cook: impl Fn() -> Result<T> + Sync,
        theirs: Option<Run>,
    ) -> Result<(f64, f64, T)> {
        let mut cooked = None;
        let mut ours = || {
            // The one before must not be there when the next is made.
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
