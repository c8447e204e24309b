//! Memory of a recording whose disk is full or slow. A pipe in the place of the file is such a disk: it takes bytes as
//! fast as the test reads them, and none after the test has closed its end.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Larger than half of the smallest buffer.
const LARGE: usize = 240_000;
const CALLS: usize = 1000;

/// The bytes that may wait for the writer, the one record that is being made, and the buffers of four threads.
const MOST_HELD: usize = (16 << 20) + 2 * LARGE + (1 << 20);

/// A recording that is written to a pipe.
struct Piped {
    _folder: tempfile::TempDir,
    reader: Option<File>,
}

impl Piped {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.vxr");
        let part = folder.path().join("session.vxr.part");
        let name = CString::new(part.as_os_str().as_bytes()).unwrap();
        // SAFETY: the pointers are those of live values.
        unsafe {
            assert_eq!(libc::mkfifo(name.as_ptr(), 0o600), 0);
            // Opened for writing too, so that neither side waits for the other.
            let reader = File::options().read(true).write(true).open(&part).unwrap();
            let mut options = std::mem::zeroed::<vxs_record_options>();
            ok(vxs_record_options_init(&mut options, size_of::<vxs_record_options>()));
            options.buffer_bytes = 1 << 16;
            let name = CString::new(path.as_os_str().as_bytes()).unwrap();
            ok(vxs_record_start(name.as_ptr(), &options));
            Self { _folder: folder, reader: Some(reader) }
        }
    }
}

/// Makes a call with a large input that the library refuses after it is recorded.
fn call(bytes: &[u8]) {
    let mut shape = std::ptr::null_mut();
    // SAFETY: the pointers are those of live values.
    let status = unsafe { vxs_shape_deserialize(bytes.as_ptr().cast(), bytes.len(), &mut shape) };
    assert_eq!(status, VXS_INVALID_FILE);
}

#[test]
fn a_recording_on_a_full_disk_keeps_no_memory() {
    let _alone = alone();
    let bytes = vec![0; LARGE];
    // The first call makes what a thread and the process have once.
    call(&bytes);
    let before = held();
    let mut piped = Piped::start();
    call(&bytes);
    drop(piped.reader.take());
    let mut most = 0;
    for _ in 0..CALLS {
        call(&bytes);
        most = most.max(held().saturating_sub(before));
    }
    assert!(most < MOST_HELD, "{most} bytes held while recording");
    let during = held().saturating_sub(before);
    assert!(during < 1 << 20, "{during} bytes held after the disk was full");
    // SAFETY: null is allowed.
    assert_eq!(unsafe { vxs_record_stop(std::ptr::null_mut()) }, VXS_IO);
    let after = held().saturating_sub(before);
    assert!(after < 1 << 16, "{after} bytes held after the recording");
    // Another recording can begin.
    record(|| call(&bytes));
}

#[test]
fn a_recording_on_a_slow_disk_waits_and_loses_nothing() {
    let _alone = alone();
    let bytes = vec![0; LARGE];
    call(&bytes);
    let before = held();
    let mut piped = Piped::start();
    let made = AtomicUsize::new(0);
    let mut file = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..CALLS {
                call(&bytes);
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
        // The thread waits once the disk takes no more.
        let (mut seen, mut since) = (0, Instant::now());
        while since.elapsed() < Duration::from_millis(300) {
            let now = made.load(Ordering::Relaxed);
            if now != seen || now == 0 {
                (seen, since) = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let waiting = held().saturating_sub(before);
        assert!(waiting < MOST_HELD, "{waiting} bytes wait after {seen} calls");
        assert!(seen > 10 && seen < CALLS, "{seen} calls");
        // Then the disk takes everything.
        let reader = piped.reader.as_mut().unwrap();
        let mut chunk = vec![0; 1 << 20];
        let mut most = 0;
        while file.len() < CALLS * LARGE || recording::records(&file).map_or(0, |records| records.len()) < 2 * CALLS {
            let length = reader.read(&mut chunk).unwrap();
            file.extend(&chunk[..length]);
            most = most.max(held().saturating_sub(before + file.capacity()));
        }
        assert!(most < MOST_HELD + (1 << 20), "{most} bytes held while the disk takes them");
    });
    // A pipe cannot be flushed to a disk.
    // SAFETY: null is allowed.
    assert_eq!(unsafe { vxs_record_stop(std::ptr::null_mut()) }, VXS_IO);
    let begun = recording::records(&file).unwrap().iter().filter(|(_, record)| record[0] == recording::BEGIN).count();
    assert_eq!(begun, CALLS);
}
