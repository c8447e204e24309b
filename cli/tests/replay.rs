//! `voxshell replay` as a process: the recordings that the tests keep, pictures, and damaged files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/golden/record_{name}.vxr"))
}

fn replay(file: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
    command.arg("replay").arg(file).args(arguments).output().unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn kept_recordings_replay_without_a_difference() {
    for name in ["vps", "penalty", "continuous_penalty", "god_object", "impulse", "pair", "bullet", "threads"] {
        let output = replay(&golden(name), &["--json"]);
        let rows = rows(&output);
        assert!(output.status.success() && rows.len() == 1, "{name}: {rows:?}");
        assert_eq!((&rows[0]["differing"], &rows[0]["complete"]), (&0.into(), &true.into()), "{name}");
        assert!(rows[0]["same"].as_u64().is_some_and(|same| same > 40), "{name}: {rows:?}");
    }
}

#[test]
fn a_difference_is_shown_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.vxr");
    let mut bytes = std::fs::read(golden("penalty")).unwrap();
    // Height of the device in step 8 of 32, in the only chunk with this number.
    let needle = (0.026f64 - 0.03 * 0.25 * (1.5 - 0.25)).to_le_bytes();
    let place = bytes.windows(8).position(|window| window == needle).unwrap();
    bytes[place + 6] ^= 1;
    let mut chunk = 20;
    while chunk + 16 <= bytes.len() {
        let length = u32::from_le_bytes(bytes[chunk + 8..chunk + 12].try_into().unwrap()) as usize;
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes[chunk..chunk + 12]);
        sum.update(&bytes[chunk + 16..chunk + 16 + length]);
        bytes[chunk + 12..chunk + 16].copy_from_slice(&sum.finalize().to_le_bytes());
        chunk += 16 + length;
    }
    std::fs::write(&path, bytes).unwrap();
    let output = replay(&path, &["--json"]);
    let rows = rows(&output);
    assert_eq!(output.status.code(), Some(1));
    let (last, differences) = rows.split_last().unwrap();
    assert_eq!(differences[0]["function"], "vxs_haptics_step");
    assert_eq!(last["first_differing"], differences[0]["call"]);
    let text = replay(&path, &[]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("vxs_haptics_step"), "{text:?}");
}

#[test]
fn pictures_show_the_recorded_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let output = replay(
        &golden("god_object"),
        &["--pictures", folder.path().to_str().unwrap(), "--size", "48", "--rate", "1000"],
    );
    assert!(output.status.success(), "{output:?}");
    let pictures = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(pictures > 0 && folder.path().join("frame_00000.png").exists());
    let counted = tempfile::tempdir().unwrap();
    let to = counted.path().to_str().unwrap();
    assert!(replay(&golden("bullet"), &["--pictures", to, "--size", "16", "--every", "12"]).status.success());
    assert!(std::fs::read_dir(counted.path()).unwrap().count() >= 6);
}

#[test]
fn damaged_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = replay(&folder.path().join("none.vxr"), &[]);
    assert_eq!(missing.status.code(), Some(1));
    let bytes = std::fs::read(golden("penalty")).unwrap();
    let cut = folder.path().join("cut.vxr");
    std::fs::write(&cut, &bytes[..bytes.len() - 24]).unwrap();
    let refused = replay(&cut, &[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("ends before the end"), "{refused:?}");
    assert!(replay(&cut, &["--partial"]).status.success());
    for arguments in [["--speed", "0"], ["--size", "1"], ["--rate", "-1"]] {
        assert!(!replay(&golden("penalty"), &arguments).status.success(), "{arguments:?}");
    }
}
