//! The progress bar: all meshes as one, with throughput and the time left. Nothing is drawn where there is no terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of the bar for one mesh.
const STEPS: u64 = 1000;

/// The stages of cooking, and how much of it is done when each ends; measured on meshes of tens of thousands of triangles.
/// Stages come in this order but for a first "sign", with nothing done, before the distances of bricks.
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

/// What part of the whole a stage's fraction is.
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

/// The mesh at work.
#[derive(Default)]
struct Now {
    done: usize,
    part: f64,
    /// Grid cells, where their number is known before.
    cells: f64,
}

impl CookProgress {
    pub fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64 * STEPS);
        let template = "{prefix:.bold} {wide_bar} {percent:>3}%  {msg}  {eta} left";
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        Self { bar, start: Instant::now(), count, now: Mutex::default() }
    }

    /// The next mesh, and the cells of its grid.
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

    /// From any thread.
    pub fn report(&self, stage: &str, fraction: f64) {
        // Quick work stays quiet.
        if self.start.elapsed() < Duration::from_millis(300) {
            return;
        }
        let mut now = self.now.lock().expect("no thread panics with it");
        // Threads report out of order, and a target error goes through the first stages many times.
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

    /// Prints a line, above the bar where there is one.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
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
