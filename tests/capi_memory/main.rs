//! Out of memory is a status: each call of the C interface with little free memory answers `VXS_OK` or
//! `VXS_OUT_OF_MEMORY`, and no call ends the process.
//!
//! A separate program, because a process has one allocator; its tests run one at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use support::faults::{self, Faults, SHOWN_FROM};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::capi::status::*;
use voxshell::math::Progress;
use voxshell::memory::WithReserve;
use voxshell::mesh::{io, primitives, TriMesh};

mod making;
mod queries;
mod scene;

use scene::Call;

#[global_allocator]
static ALLOCATOR: WithReserve<Faults> = WithReserve(Faults);

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn calls() -> impl Iterator<Item = &'static Call> {
    making::CALLS.iter().chain(queries::CALLS)
}

fn last_error() -> String {
    unsafe { std::ffi::CStr::from_ptr(vxs_last_error()) }.to_string_lossy().into_owned()
}

fn is_done(status: vxs_status) -> bool {
    matches!(status, VXS_OK | VXS_TRUNCATED)
}

/// Returns a torus of 10 000 triangles.
fn torus() -> TriMesh {
    primitives::torus(0.3, 0.1, 100, 50).unwrap()
}

/// Returns a torus of 1200 triangles.
fn small_torus() -> TriMesh {
    primitives::torus(0.3, 0.1, 40, 15).unwrap()
}

/// Writes the files that the calls read.
fn write_files(folder: &Path) {
    let how = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
    let shape = Shape::cook(&torus(), &how, &Progress::none()).unwrap();
    shape.save_as(&folder.join("torus.vxs"), voxshell::asset::Store::Compressed).unwrap();
    io::write_obj(&folder.join("torus.obj"), &torus()).unwrap();
}

#[test]
fn blocks_of_calls_that_cannot_fail_are_small() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let mut large = Vec::new();
    for call in calls() {
        let mut run = (call.prepare)(folder.path());
        // The first call may start threads, whose queues grow once.
        let mut status = VXS_OK;
        let seen = faults::watched(|| status = run());
        assert!(is_done(status), "{}: status {status}, {}", call.name, last_error());
        if seen.largest > SHOWN_FROM {
            large.push(format!("{}: {} bytes", call.name, seen.largest));
        }
    }
    assert!(large.is_empty(), "blocks that cannot fail: {large:#?}");
}

/// Each call under limits of the address space, in a process of its own, because an abort ends it.
#[cfg(target_os = "linux")]
mod limited {
    use super::*;
    use rayon::prelude::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    const CALL: &str = "VOXSHELL_TEST_CALL";
    const LIMIT: &str = "VOXSHELL_TEST_ADDRESS_SPACE";
    const FOLDER: &str = "VOXSHELL_TEST_FOLDER";
    const REFUSED: i32 = 17;
    /// Free memory of the calls, MiB.
    const LIMITS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

    /// Returns the address space that the process uses now, bytes.
    fn in_use() -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 4096
    }

    /// Limits the address space of the process; `u64::MAX` removes the limit.
    fn limit(bytes: u64) {
        let limits = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limits) }, 0);
    }

    #[test]
    #[ignore = "the child of the test below"]
    fn child() {
        let Some(name) = std::env::var_os(CALL) else { return };
        let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
        let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
        let call = calls().find(|call| name == call.name).unwrap();
        let mut run = (call.prepare)(&folder);
        limit(in_use() + (number(LIMIT) << 20));
        let status = run();
        limit(u64::MAX);
        if is_done(status) {
            return;
        }
        assert_eq!(status, VXS_OUT_OF_MEMORY, "{}", last_error());
        // The refused call has left its objects usable.
        let status = run();
        assert!(is_done(status), "again: status {status}, {}", last_error());
        std::process::exit(REFUSED);
    }

    fn run(call: &Call, mebibytes: u64, folder: &Path) -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "limited::child", "--ignored", "--nocapture", "--test-threads=1"])
            .env(CALL, call.name)
            .env(LIMIT, mebibytes.to_string())
            .env(FOLDER, folder)
            // Of glibc: neither what was freed before the call nor the address space that a thread's arena has reserved
            // serves it.
            .env("MALLOC_ARENA_MAX", "1")
            .env("MALLOC_MMAP_THRESHOLD_", "65536")
            .env("MALLOC_TRIM_THRESHOLD_", "65536")
            .output()
            .unwrap()
    }

    /// Counts of the runs, and the failures.
    #[derive(Default)]
    struct Seen {
        runs: usize,
        refused: usize,
        failures: Vec<String>,
    }

    /// Runs a call with ever more memory until it succeeds. With VOXSHELL_LONG=1 it runs with every limit.
    fn watch(call: &Call, folder: &Path) -> Seen {
        let (mut seen, mut succeeds) = (Seen::default(), false);
        for &mebibytes in LIMITS.iter().step_by(if support::long() { 1 } else { 2 }) {
            if succeeds && !support::long() {
                break;
            }
            let output = run(call, mebibytes, folder);
            seen.runs += 1;
            match output.status.code() {
                Some(0) => succeeds = true,
                Some(REFUSED) => seen.refused += 1,
                code => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    let signal = output.status.signal();
                    seen.failures
                        .push(format!("{} with {mebibytes} MiB: {code:?}, signal {signal:?}: {said}", call.name));
                }
            }
        }
        if !succeeds {
            seen.failures.push(format!("{} never succeeds", call.name));
        }
        seen
    }

    #[test]
    fn calls_with_little_memory_succeed_or_are_refused() {
        let _turn = alone();
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path());
        let calls: Vec<&Call> = calls().collect();
        let all: Vec<Seen> = calls.par_iter().map(|call| watch(call, folder.path())).collect();
        let count = |number: fn(&Seen) -> usize| all.iter().map(number).sum::<usize>();
        let (runs, refused) = (count(|seen| seen.runs), count(|seen| seen.refused));
        let failures: Vec<&String> = all.iter().flat_map(|seen| &seen.failures).collect();
        println!("{runs} runs, {refused} refused, {} failures", failures.len());
        assert!(failures.is_empty(), "{} of {runs} runs: {failures:#?}", failures.len());
        assert!(refused > 0);
    }
}

#[cfg(not(target_os = "linux"))]
#[test]
fn calls_with_little_memory_succeed_or_are_refused() {
    eprintln!("skipped: only Linux limits the address space of a process");
}
