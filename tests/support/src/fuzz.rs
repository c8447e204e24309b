//! Damaged files: mutations of a corpus that know text, numbers and byte orders, and the checks for every reader.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use crate::rng::Rng;

/// Texts that replace a number in a text.
const TEXTS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "255",
    "65536",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e18",
    "1e19",
    "-1e308",
    "1e999",
    "1e-320",
    "nan",
    "-inf",
    "1e",
    "",
];

/// Values that replace four or eight bytes.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x4000_0000_0000,
    u64::MAX,
];
const REALS: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e38, -1e38, 1e308, 1e-40, -0.0];

/// Returns the files of a folder of `tests/corpus`, sorted by name.
pub fn corpus(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect()
}

/// Returns a folder for short-lived files: in memory where the system allows that, because saving waits for a disk.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[(rng.next() % from.len() as u64) as usize]
}

/// Returns an index in 0..n, or 0.
fn place(rng: &mut Rng, n: usize) -> usize {
    (rng.next() % n.max(1) as u64) as usize
}

/// Returns a range of bytes, mostly a short one.
fn run(rng: &mut Rng, n: usize) -> std::ops::Range<usize> {
    let from = place(rng, n);
    let most = pick(rng, &[4, 16, 64, n]);
    from..(from + 1 + place(rng, most)).min(n)
}

/// Returns the words of a text that look like numbers, up to a thousand from a random position.
fn numbers(bytes: &[u8], from: usize) -> Vec<std::ops::Range<usize>> {
    let of_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
    let mut found = Vec::new();
    let mut at = from;
    while at < bytes.len() && found.len() < 1000 {
        let end = at + bytes[at..].iter().take_while(|&&b| of_number(b)).count();
        if bytes[at..end].iter().any(u8::is_ascii_digit) {
            found.push(at..end);
        }
        at = end + 1;
    }
    found
}

/// Makes one change of some bytes; `others` supply parts of other files.
pub fn mutate(bytes: &mut Vec<u8>, others: &[&[u8]], rng: &mut Rng) {
    let n = bytes.len();
    match rng.next() % 14 {
        0 if n > 0 => bytes[place(rng, n)] ^= 1 << (rng.next() % 8),
        1 if n > 0 => bytes[place(rng, n)] = pick(rng, &[0, 1, 0x7f, 0x80, 0xff, b' ', b'\n', b'-', b'9', b'/', b'\\']),
        2 => bytes.truncate(place(rng, n)),
        3 => drop(bytes.drain(run(rng, n))),
        4 => {
            let (part, at) = (bytes[run(rng, n)].to_vec(), place(rng, n));
            bytes.splice(at..at, part);
        }
        // A part of another file replaces a part of this one, or follows its beginning.
        5 => {
            let other = pick(rng, others);
            bytes.splice(run(rng, n), other[run(rng, other.len())].iter().copied());
        }
        6 => {
            let other = pick(rng, others);
            bytes.truncate(place(rng, n));
            bytes.extend_from_slice(&other[place(rng, other.len())..]);
        }
        // Numbers in text.
        7..=9 => {
            let from = if rng.next() % 2 == 0 { 0 } else { place(rng, n) };
            let found = numbers(bytes, from);
            if !found.is_empty() {
                let text = if rng.next() % 4 == 0 { (rng.next() % 20).to_string() } else { pick(rng, &TEXTS).into() };
                bytes.splice(found[place(rng, found.len())].clone(), text.into_bytes());
            }
        }
        // A number of seven bits per byte, lowest first.
        10 if n > 0 => {
            let mut rest = pick(rng, &NUMBERS);
            let mut number = Vec::new();
            while rest > 0x7f {
                number.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            number.push(rest as u8);
            let at = place(rng, n);
            // Replaces an existing one.
            let end = at + bytes[at..].iter().take_while(|&&b| b > 0x7f).count();
            bytes.splice(at..(end + 1).min(n), number);
        }
        // Numbers in bytes.
        11.. => {
            let wide = rng.next() % 3 == 0;
            let little = rng.next() % 4 > 0;
            let eight = match rng.next() % 2 {
                0 => pick(rng, &NUMBERS).to_le_bytes(),
                _ if wide => pick(rng, &REALS).to_le_bytes(),
                _ => u64::from((pick(rng, &REALS) as f32).to_bits()).to_le_bytes(),
            };
            let mut number = eight[..if wide { 8 } else { 4 }].to_vec();
            if !little {
                number.reverse();
            }
            if n >= number.len() {
                let at = place(rng, n - number.len() + 1);
                bytes[at..at + number.len()].copy_from_slice(&number);
            }
        }
        _ => {}
    }
}

/// Runs `check` on every file of the corpus unchanged, and on `rounds` files (with VOXSHELL_LONG a hundred times as
/// many) with one to four changes by `change`, from a fixed seed. A file at which `check` panics is kept in the build's
/// folder for temporary files, and its path is printed.
pub fn damage(
    corpus: &[(PathBuf, Vec<u8>)],
    rounds: usize,
    change: impl Fn(&mut Vec<u8>, &[&[u8]], &mut Rng),
    check: impl Fn(&Path, &[u8]),
) {
    let all: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let guarded = |path: &Path, what: &str, bytes: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(path, bytes))) {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            let kept = std::env::temp_dir().join(format!("voxshell-{what}.{extension}"));
            std::fs::write(&kept, bytes).unwrap();
            eprintln!("the file is {} ({what} of {})", kept.display(), path.display());
            resume_unwind(panic);
        }
    };
    for (path, bytes) in corpus {
        guarded(path, "unchanged", bytes);
    }
    let rounds = if crate::long() { 100 * rounds } else { rounds };
    for seed in 0..rounds as u64 {
        let mut rng = Rng(seed);
        let (path, bytes) = &corpus[place(&mut rng, corpus.len())];
        let mut bytes = bytes.clone();
        for _ in 0..1 + rng.next() % 4 {
            change(&mut bytes, &all, &mut rng);
        }
        // A few doublings would make the run long and reveal nothing new.
        bytes.truncate(1 << 18);
        guarded(path, &format!("seed-{seed}"), &bytes);
    }
}
