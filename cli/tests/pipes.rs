//! Readers that leave: each verb of the command line, with random options, writes into pipes that are closed at once or after
//! some bytes. It ends by itself, without a panic or a signal, and every file is whole. VOXSHELL_LONG=1 makes 10 000 runs.
#![cfg(unix)]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use support::rng::Rng;
use voxshell::asset::Shape;

/// A run that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

struct Run {
    arguments: Vec<String>,
    /// Bytes that are read from standard output and from standard error before they are closed.
    read: [usize; 2],
}

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.next() as usize % of.len()]
}

fn flag(rng: &mut Rng, name: &'static str) -> Vec<String> {
    if rng.next() % 2 == 0 {
        vec![name.into()]
    } else {
        Vec::new()
    }
}

fn random_run(rng: &mut Rng) -> Run {
    let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
    let shape = pick(rng, &["blob", "torus", "box", "none.obj"]);
    let known = pick(rng, &["kept.vxs", "kept.vxs", "blob"]);
    let out = |rng: &mut Rng, name: &'static str| pick(rng, &[name, name, "/dev/stdout", "/dev/stderr"]);
    let cells = 6 + rng.next() % 10;
    let mut arguments = match rng.next() % 9 {
        0 => {
            let field = pick(rng, &["dense", "bricks"]);
            words(&format!("cook {shape} -o {} --cells {cells} --field {field}", out(rng, "made.vxs")))
        }
        1 => words(&format!("cook {shape} sphere -o both --cells {cells}")),
        2 => words(&format!("info {known}")),
        3 => words(&format!("mesh {shape} -o {}", out(rng, "made.obj"))),
        4 => {
            let view = pick(rng, &["surface", "slice", "shell"]);
            words(&format!("render {known} -o {} --size 32 --cells {cells} --view {view}", out(rng, "made.png")))
        }
        5 => words(&format!("query {known} {known} --max-separation 0.1 --cells {cells} --pose-b 0.1 0 0")),
        6 => words(&format!("query segment {known} --from -1 0 0 --to 1 0.1 0 --cells {cells}")),
        7 => {
            let name = pick(rng, &["pair", "penalty", "threads"]);
            let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/golden/record_{name}.vxr"));
            let mut arguments = words("replay");
            arguments.push(golden.to_str().unwrap().into());
            if rng.next() % 4 == 0 {
                arguments.extend(words("--pictures pictures --size 16 --every 20"));
            }
            arguments
        }
        _ => words(pick(rng, &["--help", "--version", "cook --help", "replay --help", "nonsense"])),
    };
    if matches!(arguments[0].as_str(), "info" | "query" | "replay") {
        arguments.extend(flag(rng, "--json"));
    }
    let mut bytes = || match rng.next() % 4 {
        0 | 1 => 0,
        2 => 1 + rng.next() as usize % 100,
        _ => usize::MAX,
    };
    Run { arguments, read: [bytes(), bytes()] }
}

/// Reads so many bytes, or all, and closes the pipe.
fn read(mut pipe: impl Read + Send + 'static, bytes: usize) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut got, mut chunk) = (Vec::new(), [0; 4096]);
        while got.len() < bytes {
            let most = (bytes - got.len()).min(chunk.len());
            match pipe.read(&mut chunk[..most]) {
                Ok(0) | Err(_) => break,
                Ok(n) => got.extend(&chunk[..n]),
            }
        }
        got
    })
}

fn end(mut child: Child) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begin.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Makes a run and returns what is wrong with it.
fn fault(run: &Run, folder: &Path, kept: &[u8]) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
    command.args(&run.arguments).current_dir(folder).env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (out, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let pipes = (read(out, run.read[0]), read(errors, run.read[1]));
    let Some(status) = end(child) else { return Some("it hangs".into()) };
    let (_, said) = (pipes.0.join().unwrap(), pipes.1.join().unwrap());
    let said = String::from_utf8_lossy(&said).into_owned();
    if !matches!(status.code(), Some(0..=2)) || said.contains("panicked") {
        return Some(format!("{:?}, signal {:?}: {said}", status.code(), status.signal()));
    }
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    if let Some(left) = names.into_iter().find(|name| name.starts_with(".voxshell-")) {
        return Some(format!("it left {left}"));
    }
    if std::fs::read(folder.join("kept.vxs")).unwrap() != kept {
        return Some("it changed another file".into());
    }
    // A shape that is there is a whole one.
    let made = folder.join("made.vxs");
    if made.exists() && Shape::load(&made).is_err() {
        return Some("it left a damaged shape".into());
    }
    let is_lost = run.arguments.iter().any(|argument| argument.starts_with("/dev/") || argument == "none.obj");
    let is_good = !is_lost && run.arguments[0] != "nonsense";
    (is_good && !status.success()).then(|| format!("{:?}: {said}", status.code()))
}

#[test]
fn readers_that_leave_cause_no_panic_signal_or_lost_file() {
    let count: u64 = if support::long() { 10_000 } else { 80 };
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = |worker: u64| {
            let folder = tempfile::tempdir().unwrap();
            let kept = PathBuf::from("kept.vxs");
            let cook = ["cook", "torus", "-o", "kept.vxs", "--cells", "12"];
            let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
            assert!(command.args(cook).current_dir(folder.path()).output().unwrap().status.success());
            let kept = std::fs::read(folder.path().join(kept)).unwrap();
            let of_worker = (worker..count).step_by(workers as usize);
            let failures = of_worker.filter_map(|seed| {
                let run = random_run(&mut Rng(seed));
                let fault = fault(&run, folder.path(), &kept)?;
                Some(format!("seed {seed}: {:?}, {:?} bytes read: {fault}", run.arguments, run.read))
            });
            failures.collect::<Vec<String>>()
        };
        let handles: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} of {count} runs: {failures:#?}", failures.len());
}
