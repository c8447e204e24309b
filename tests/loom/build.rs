//! Copies the sources under test into the build's folder, with the atomics and cells of loom in place of those of the
//! standard library. Further copies have one defect each: the tests check that loom finds it.

use std::path::{Path, PathBuf};

/// Replaces each text by another, and fails if a text is not in the source: the source has changed, and a copy without
/// its defect would check nothing.
fn copy(source: &str, name: &str, replacements: &[(&str, &str)]) {
    let path = Path::new("../../src").join(source);
    println!("cargo:rerun-if-changed={}", path.display());
    let mut text = std::fs::read_to_string(&path).expect("the source is there");
    for (from, to) in replacements {
        assert!(text.contains(from), "{source} has no {from:?}");
        text = text.replace(from, to);
    }
    // A file that is included has no comments of its module, and loom has tests of its own.
    let text: String = text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .filter(|line| !line.starts_with("//!"))
        .fold(String::new(), |text, line| text + line + "\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join(name), text).expect("the copy is written");
}

fn main() {
    let buffer = [
        ("use std::cell::UnsafeCell;", "use crate::sync::UnsafeCell;"),
        ("use std::sync::atomic::{AtomicU8, Ordering};", "use crate::sync::{AtomicU8, Ordering};"),
        ("use std::sync::Arc;", "use crate::sync::Arc;"),
    ];
    let publish = "third.swap(self.own | FRESH, Ordering::AcqRel)";
    let take = "third.swap(self.own, Ordering::AcqRel)";
    let with = |from, to| [buffer.as_slice(), &[(from, to)]].concat();
    copy("haptics/triple_buffer.rs", "triple_buffer.rs", &buffer);
    let relaxed = "third.swap(self.own | FRESH, Ordering::Acquire)";
    copy("haptics/triple_buffer.rs", "publish_without_release.rs", &with(publish, relaxed));
    copy("haptics/triple_buffer.rs", "take_without_acquire.rs", &with(take, "third.swap(self.own, Ordering::Release)"));

    let handle = [
        ("use std::cell::UnsafeCell;", "use crate::sync::UnsafeCell;"),
        (
            "use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};",
            "use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};",
        ),
        ("use std::sync::Arc;", "use crate::sync::Arc;"),
        ("use parking_lot::Mutex;", "use crate::sync::Mutex;"),
    ];
    let with = |from, to| [handle.as_slice(), &[(from, to)]].concat();
    copy("capi/handle.rs", "handle.rs", &handle);
    let swap = "header.magic.compare_exchange(ALIVE, DEAD, Ordering::AcqRel, Ordering::Acquire).is_err()";
    let two_steps = "{ let dead = header.magic.load(Ordering::Acquire) != ALIVE; header.magic.store(DEAD, Ordering::Release); dead }";
    copy("capi/handle.rs", "release_in_two_steps.rs", &with(swap, two_steps));
    let lock = "(false, true, Ordering::Acquire, Ordering::Relaxed)";
    copy(
        "capi/handle.rs",
        "lock_without_acquire.rs",
        &with(lock, "(false, true, Ordering::Relaxed, Ordering::Relaxed)"),
    );
}
