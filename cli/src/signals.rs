//! Ctrl-C and SIGTERM cancel the work, so that no incomplete file is left.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the process was asked to end.
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Installs handlers that only set the flag behind [`Stop::asked`]; the caller must poll it often.
    ///
    /// # Panics
    /// If the system refuses handlers for signals that every program may handle.
    pub fn on_signals() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM] {
            flag::register_usize(number, Arc::clone(&signal), number as usize)
                .expect("a handler for SIGINT and SIGTERM");
        }
        Self(signal)
    }

    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Returns 128 plus the signal's number, as shells do: 130 after Ctrl-C.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(128 + self.0.load(Ordering::Relaxed) as u8)
    }
}
