//! Lines to the reader. One who has seen enough closes the pipe, which is no error: what is being made is made all the same.

use std::fmt::Display;
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::sync::OnceLock;

/// The first failure to write to standard output.
static FAILURE: OnceLock<Error> = OnceLock::new();

/// Prints a line to standard output.
pub fn say(line: impl Display) {
    say_all([line]);
}

/// Prints lines to standard output, many at a time.
pub fn say_all(lines: impl IntoIterator<Item = impl Display>) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = lines.into_iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    if let Err(error) = written {
        if error.kind() != ErrorKind::BrokenPipe {
            // The first one tells the most.
            let _ = FAILURE.set(error);
        }
    }
}

/// Prints a line to standard error.
pub fn tell(line: impl Display) {
    // Nobody is left to hear of a failure here.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Returns why a line to standard output could not be written.
pub fn failure() -> Option<&'static Error> {
    FAILURE.get()
}
