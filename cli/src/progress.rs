//! The progress bar for all meshes together, with throughput and the remaining time. Draws nothing without a terminal.

use crate::print::say;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of the bar for one mesh.
const STEPS: u64 = 1000;

/// The stages of cooking, and the fraction of cooking done at the end of each; measured on meshes of tens of thousands
/// of triangles. Stages come in this order, except that bricks begin with a "sign" stage of zero length before the
/// distances.
const STAGES: [(&str, f64); 9] = [
    ("weld", 0.02),
    ("distance", 0.35),
    ("sign", 0.45),
    ("error", 0.5),
    ("surface", 0.55),
    ("spacing", 0.6),
    ("blue noise", 0.8),
    ("projection", 0.8),
    ("sphere tree", 0.95),
];

/// Converts the fraction of a stage to the fraction of the whole.
fn overall(stage: &str, fraction: f64) -> f64 {
    let Some(i) = STAGES.iter().position(|(name, _)| *name == stage) else { return STAGES[STAGES.len() - 1].1 };
    let from = if i == 0 { 0.0 } else { STAGES[i - 1].1 };
    from + (STAGES[i].1 - from).max(0.0) * fraction
}

pub struct CookProgress {
    bar: ProgressBar,
    start: Instant,
    count: usize,
    now: Mutex<Now>,
}

/// The current mesh.
#[derive(Default)]
struct Now {
    done: usize,
    part: f64,
    /// Number of grid cells, if it is known in advance.
    cells: f64,
}

impl CookProgress {
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64 * STEPS);
        let template = "{prefix:.bold} {wide_bar} {percent:>3}%  {msg}  {eta} left";
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        Self { bar, start: Instant::now(), count, now: Mutex::default() }
    }

    /// Begins the next mesh; `cells` is the number of cells of its grid.
    pub fn begin(&self, name: &str, cells: Option<f64>) {
        let mut now = self.now.lock().expect("no thread panics with it");
        now.part = 0.0;
        now.cells = cells.unwrap_or(0.0);
        let name = name.to_owned();
        self.bar.set_prefix(if self.count > 1 { format!("{}/{} {name}", now.done + 1, self.count) } else { name });
    }

    pub fn end(&self) {
        let mut now = self.now.lock().expect("no thread panics with it");
        now.done += 1;
        now.part = 0.0;
        self.show(&now);
    }

    /// Reports progress; can be called from any thread.
    pub fn report(&self, stage: &str, fraction: f64) {
        // Short work shows no bar.
        if self.start.elapsed() < Duration::from_millis(300) {
            return;
        }
        let mut now = self.now.lock().expect("no thread panics with it");
        // Threads report out of order, and cooking to a target error repeats the first stages many times.
        let part = if fraction > 0.0 { overall(stage, fraction) } else { 0.0 };
        if part > now.part {
            now.part = part;
            self.show(&now);
        }
    }

    fn show(&self, now: &Now) {
        let seconds = self.start.elapsed().as_secs_f64();
        let meshes = now.done as f64 + now.part;
        let speed = match now.cells {
            cells if self.count == 1 && cells > 0.0 => format!("{:.1} M cells/s", now.part * cells * 1e-6 / seconds),
            _ => format!("{:.2} meshes/s", meshes / seconds),
        };
        self.bar.set_message(speed);
        self.bar.set_position((meshes * STEPS as f64) as u64);
    }

    /// Prints a line, above the bar if there is one.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| say(line));
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

impl Drop for CookProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
