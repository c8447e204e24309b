//! Reports the progress of a benchmark on standard error.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar with a given number of steps; it disappears when dropped.
pub struct Steps(ProgressBar);

impl Steps {
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} {elapsed}").expect("a valid template"));
        Self(bar)
    }

    /// Names the step that begins. Redraws only here, because a ticking bar would take time from the measurement.
    pub fn next(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
