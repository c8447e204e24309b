//! What the user sees while it works, on the error stream: a bar in a terminal, lines elsewhere.

use std::cell::RefCell;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::figures::Row;

pub struct Progress {
    bar: ProgressBar,
    said: RefCell<String>,
}

impl Progress {
    pub fn new() -> Self {
        Self { bar: ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()), said: RefCell::default() }
    }

    /// Starts a task of `length` ticks, or of unknown length for 0.
    pub fn start(&self, task: &str, length: usize) {
        if self.bar.is_hidden() {
            // Not a terminal: one line for each task that takes long enough to have a length.
            if length > 0 && *self.said.borrow() != task {
                eprintln!("{task}");
                *self.said.borrow_mut() = task.into();
            }
            return;
        }
        let style = if length > 0 { "{msg:<44} {bar:30} {pos}/{len}" } else { "{msg:<44} {spinner}" };
        self.bar.set_style(ProgressStyle::with_template(style).expect("the template is sound"));
        self.bar.set_length(length as u64);
        self.bar.set_position(0);
        self.bar.set_message(task.to_string());
        self.bar.enable_steady_tick(std::time::Duration::from_millis(100));
    }

    pub fn tick(&self) {
        self.bar.inc(1);
    }

    /// A finished row stays on the screen as one line.
    pub fn row_done(&self, row: &Row) {
        let name = format!("{} / {}{}", row.scene.entry().name, row.method.entry().name, row.case.label());
        let line = match &row.outcome {
            Ok(f) => format!("{name:<44} {:>9.1} µs per step, {:.2} mm deep", f.np_mean, f.max_penetration),
            Err(reason) => format!("{name:<44} skipped: {reason}"),
        };
        self.say(&line);
    }

    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
