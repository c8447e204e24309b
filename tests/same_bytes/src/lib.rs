//! One fixed scene, cooked, queried, collided and stepped, with a hash of the bytes of each answer. They are the same on every
//! platform, SIMD path and number of threads; `tests/golden/same_bytes.txt` holds them.

mod hash;
mod recordings;
mod stages;

use std::fmt::Write;
use std::sync::Mutex;

use voxshell::Result;

/// The message of the last error or panic, for hosts without a console.
static FAILURE: Mutex<String> = Mutex::new(String::new());

/// Returns a line for each stage: its name and the hash of its answers; and a line for each recording: its name and how
/// many answers of its calls are those that were recorded.
///
/// # Errors
/// Those of cooking and of the queries.
pub fn report() -> Result<String> {
    let mut text = String::new();
    for (name, hash) in stages::all()? {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name} {hash:016x}");
    }
    Ok(text + &recorded())
}

/// Returns the lines of the recordings.
pub fn recorded() -> String {
    recordings::all().into_iter().map(|(name, result)| format!("record/{name} {result}\n")).collect()
}

fn keep(message: &dyn std::fmt::Display) {
    if let Ok(mut failure) = FAILURE.lock() {
        *failure = message.to_string();
    }
}

/// Writes the start of a text to `buffer` and returns its length.
///
/// # Safety
/// `buffer` must be valid for writes of `capacity` bytes.
unsafe fn hand_out(text: &str, buffer: *mut u8, capacity: usize) -> usize {
    let length = text.len().min(capacity);
    // SAFETY: the caller promises the capacity.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, length) };
    length
}

/// For hosts without a console, such as a browser: writes the report to `buffer` and returns its length, 0 on an error.
/// On platforms that do not unwind, a panic traps; [`same_bytes_failure`] then has its message.
///
/// # Safety
/// `buffer` must be valid for writes of `capacity` bytes.
#[no_mangle]
pub unsafe extern "C" fn same_bytes_report(buffer: *mut u8, capacity: usize) -> usize {
    std::panic::set_hook(Box::new(|info| keep(&info)));
    match report() {
        // SAFETY: the caller promises the capacity.
        Ok(text) => unsafe { hand_out(&text, buffer, capacity) },
        Err(error) => {
            keep(&error);
            0
        }
    }
}

/// Writes the message of the last error or panic to `buffer` and returns its length.
///
/// # Safety
/// `buffer` must be valid for writes of `capacity` bytes.
#[no_mangle]
pub unsafe extern "C" fn same_bytes_failure(buffer: *mut u8, capacity: usize) -> usize {
    let text = FAILURE.lock().map_or_else(|_| String::new(), |text| text.clone());
    // SAFETY: the caller promises the capacity.
    unsafe { hand_out(&text, buffer, capacity) }
}

/// Returns memory for the report, which is never given back.
#[no_mangle]
pub extern "C" fn same_bytes_buffer(capacity: usize) -> *mut u8 {
    Box::leak(vec![0; capacity].into_boxed_slice()).as_mut_ptr()
}

#[cfg(test)]
mod tests {
    /// Set `VOXSHELL_WRITE_GOLDEN` to write the file anew.
    #[test]
    fn the_hashes_are_those_of_the_golden_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/same_bytes.txt");
        let found = super::report().unwrap();
        if std::env::var_os("VOXSHELL_WRITE_GOLDEN").is_some() {
            std::fs::write(path, &found).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), found);
    }
}
