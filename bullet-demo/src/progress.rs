//! Progress on standard error: a bar in a terminal, one line per event elsewhere. Neither is silent for longer than
//! [`SILENCE`].

use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::figures::SceneRow;

/// Longest time without a line where there is no terminal.
const SILENCE: Duration = Duration::from_secs(4);

pub struct Progress {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
    /// Prints a line when nothing was printed for [`SILENCE`]; `None` in a terminal, where the bar refreshes itself.
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

struct State {
    /// Empty between tasks.
    task: String,
    length: u64,
    done: u64,
    started: Instant,
    last_line: Instant,
}

impl State {
    /// Returns a line such as "pair / gimpact: 120 of 600, 8 s".
    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        match self.length {
            0 => format!("{}: {seconds:.0} s", self.task),
            length => format!("{}: {} of {length}, {seconds:.0} s", self.task, self.done),
        }
    }
}

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let now = Instant::now();
        let state = State { task: String::new(), length: 0, done: 0, started: now, last_line: now };
        let state = Arc::new(Mutex::new(state));
        let heartbeat = bar.is_hidden().then(|| heartbeat(state.clone()));
        Self { bar, state, heartbeat }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    /// Starts a task of `length` ticks; 0 means unknown length.
    pub fn start(&self, task: &str, length: usize) {
        let mut state = self.state();
        state.task = task.into();
        (state.length, state.done, state.started) = (length as u64, 0, Instant::now());
        drop(state);
        if self.heartbeat.is_none() {
            let style =
                if length > 0 { "{msg:<44} {bar:30} {pos}/{len} {elapsed}" } else { "{msg:<44} {spinner} {elapsed}" };
            self.bar.set_style(ProgressStyle::with_template(style).expect("the template is sound"));
            self.bar.reset();
            self.bar.set_length(length as u64);
            self.bar.set_message(task.to_string());
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    pub fn tick(&self) {
        self.state().done += 1;
        self.bar.inc(1);
    }

    /// Prints a finished row as a permanent line.
    pub fn row_done(&self, row: &SceneRow) {
        let name = format!("{} / {}{}", row.scene.entry().name, row.method.entry().name, row.case.label());
        let line = match &row.outcome {
            Ok(f) => format!("{name:<44} {:>9.1} µs per step, {:.2} mm deep", f.np_mean, f.max_penetration),
            Err(reason) => format!("{name:<44} skipped: {reason}"),
        };
        self.say(&line);
    }

    pub fn say(&self, line: &str) {
        self.state().last_line = Instant::now();
        if self.heartbeat.is_some() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Ends the last task.
    pub fn finish(&self) {
        self.state().task.clear();
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.heartbeat.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

fn heartbeat(state: Arc<Mutex<State>>) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel::<()>();
    let thread = std::thread::spawn(move || {
        while stopped.recv_timeout(SILENCE / 8) == Err(RecvTimeoutError::Timeout) {
            let mut state = state.lock().expect("no thread panics with it");
            if !state.task.is_empty() && state.last_line.elapsed() >= SILENCE {
                state.last_line = Instant::now();
                eprintln!("{}", state.line());
            }
        }
    });
    (stop, thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_task_share_and_time() {
        let now = Instant::now();
        let mut state = State { task: "pair / hull".into(), length: 600, done: 30, started: now, last_line: now };
        assert_eq!(state.line(), "pair / hull: 30 of 600, 0 s");
        state.length = 0;
        assert_eq!(state.line(), "pair / hull: 0 s");
    }
}
