//! Reports the progress of a benchmark on standard error.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of so many steps; gone when dropped.
pub struct Steps(ProgressBar);

impl Steps {
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} {elapsed}").expect("a valid template"));
        Self(bar)
    }

    /// Names the step that begins now. Drawn only here: a bar that ticks would take its time from what is measured.
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
