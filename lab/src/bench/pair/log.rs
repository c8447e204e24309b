//! Lines of progress on standard error.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest time without a line, if the work calls [`Log::tick`].
const SILENCE: Duration = Duration::from_secs(4);

/// Number of wrong answers that are printed in each stage.
const SHOWN: usize = 5;

/// Prints what is measured: a line at the start of each row, and one every few seconds.
pub struct Log(Mutex<State>);

struct State {
    start: Instant,
    last: Instant,
    row: String,
    stage: String,
    /// Wrong answers of the stage so far.
    wrong: usize,
}

impl State {
    fn print(&mut self) {
        self.last = Instant::now();
        let separator = if self.stage.is_empty() { "" } else { ", " };
        eprintln!("{}: {}{separator}{:.0} s", self.row, self.stage, self.start.elapsed().as_secs_f64());
    }
}

impl Log {
    /// Starts the clock.
    pub fn new() -> Self {
        let start = Instant::now();
        Self(Mutex::new(State { start, last: start, row: String::new(), stage: String::new(), wrong: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a row and prints its name.
    pub fn row(&self, name: &str) {
        let mut state = self.state();
        (state.row, state.stage, state.wrong) = (name.into(), String::new(), 0);
        state.print();
    }

    /// Names the stage that begins.
    pub fn begin(&self, stage: &str) {
        let mut state = self.state();
        (state.stage, state.wrong) = (stage.into(), 0);
        drop(state);
        self.tick();
    }

    /// Prints a line if the last one is some seconds old. Called between measurements and never during one.
    pub fn tick(&self) {
        let mut state = self.state();
        if state.last.elapsed() >= SILENCE {
            state.print();
        }
    }

    /// Prints a wrong answer if it is one of the first of its stage.
    pub fn wrong(&self, text: &str) {
        let mut state = self.state();
        state.wrong += 1;
        if state.wrong <= SHOWN {
            eprintln!("  wrong answer in {}, {}: {text}", state.row, state.stage);
        }
    }
}
