//! What becomes of files when the system fails: no room, no permission, a kill, two writers, no memory. A file that
//! is there is always a whole one, the old or the new.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use voxshell::asset::Shape;

/// Returns a shell's command that runs the command line with the arguments behind `before`, which sets limits.
fn voxshell(folder: &Path, before: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before}\nexec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_voxshell"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn run(folder: &Path, before: &str, arguments: &[&str]) -> Output {
    voxshell(folder, before, arguments).output().unwrap()
}

/// Returns the message of a command that must fail with the exit code of an error, and not by a signal.
fn refused(folder: &Path, before: &str, arguments: &[&str]) -> String {
    let output = run(folder, before, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}\n{message}", output.status);
    message
}

fn good(folder: &Path, arguments: &[&str]) {
    let output = run(folder, "", arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn samples(file: &Path) -> usize {
    Shape::load(file).unwrap().shell.as_ref().unwrap().len()
}

#[test]
fn without_room_the_old_file_stays_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["cook", "blob", "-o", "a.vxs", "--cells", "16"]);
    let old = std::fs::read(folder.join("a.vxs")).unwrap();
    // The largest file that may be written is smaller than the asset, for which the system gives an error, as on a full disk.
    let limit = "trap '' XFSZ; ulimit -f 16";
    for store in ["raw", "compressed"] {
        let cook = ["cook", "blob", "-o", "a.vxs", "--cells", "48", "--field", "bricks", "--store", store];
        let message = refused(folder, limit, &cook);
        assert!(message.contains("a.vxs") && message.contains("File too large"), "{message}");
        assert_eq!(files(folder), ["a.vxs"]);
        assert_eq!(std::fs::read(folder.join("a.vxs")).unwrap(), old);
    }
    // A full device takes no report.
    if Path::new("/dev/full").exists() {
        let output =
            voxshell(folder, "", &["info", "a.vxs"]).stdout(std::fs::File::create("/dev/full").unwrap()).output();
        assert!(!output.unwrap().status.success(), "a report that nobody got was a success");
    }
}

#[test]
fn a_folder_that_takes_no_files_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("file"), "").unwrap();
    // A file in place of a folder; a folder that takes no files, even from root.
    let mut places = vec!["file/a.vxs"];
    if Path::new("/proc/self").exists() {
        places.push("/proc/self/a.vxs");
    }
    for place in places {
        let message = refused(folder, "", &["cook", "blob", "-o", place, "--cells", "12"]);
        assert!(message.contains(place.trim_end_matches("/a.vxs")), "{message}");
    }
    assert_eq!(files(folder), ["file"]);
}

#[test]
fn a_kill_at_any_time_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = folder.join("a.vxs");
    let cook = |cells: &'static str| ["cook", "blob", "-o", "a.vxs", "--cells", cells];
    let begin = Instant::now();
    good(folder, &cook("30"));
    let (new, time) = (samples(&file), begin.elapsed());
    good(folder, &cook("12"));
    let old = samples(&file);
    assert_ne!(old, new);
    let kills = 12;
    let (mut kept, mut replaced) = (0, 0);
    for i in 0..kills {
        let mut child: Child =
            voxshell(folder, "", &cook("30")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // More of them near the end, where the file is written.
        std::thread::sleep(time.mul_f64((f64::from(i + 1) / f64::from(kills)).sqrt()) + Duration::from_millis(1));
        child.kill().unwrap();
        child.wait().unwrap();
        match samples(&file) {
            n if n == old => kept += 1,
            n if n == new => replaced += 1,
            n => panic!("{n} samples, neither {old} nor {new}"),
        }
        // The next kill needs the old file.
        good(folder, &cook("12"));
    }
    assert!(kept > 0, "{kept} {replaced}");
}

#[test]
fn two_processes_that_cook_into_one_file_leave_the_file_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cells = ["14", "18", "22", "26"];
    let whole: Vec<usize> = cells
        .iter()
        .map(|cells| {
            good(folder, &["cook", "torus", "-o", "alone.vxs", "--cells", cells]);
            samples(&folder.join("alone.vxs"))
        })
        .collect();
    for _ in 0..4 {
        let children: Vec<Child> = cells
            .iter()
            .map(|cells| {
                let mut command = voxshell(folder, "", &["cook", "torus", "-o", "a.vxs", "--cells", cells]);
                command.stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert!(whole.contains(&samples(&folder.join("a.vxs"))));
        assert_eq!(files(folder), ["a.vxs", "alone.vxs"]);
    }
}

#[test]
fn too_little_memory_is_an_error_and_the_old_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["cook", "blob", "-o", "a.vxs", "--cells", "12"]);
    let old = std::fs::read(folder.join("a.vxs")).unwrap();
    // Address space in kB: enough for the program and its threads, and not for a grid of 600³ nodes.
    let message =
        refused(folder, "ulimit -v 700000", &["cook", "blob", "-o", "a.vxs", "--cells", "600", "--field", "dense"]);
    assert!(message.to_lowercase().contains("memory"), "{message}");
    assert_eq!(std::fs::read(folder.join("a.vxs")).unwrap(), old);
    assert_eq!(files(folder), ["a.vxs"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_error_and_loses_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/record_pair.vxr");
    let calls: [&[&str]; 7] = [
        &["cook", "blob", "-o", "a.vxs", "--cells", "16"],
        &["cook", "blob", "gear", "-o", "both", "--cells", "16"],
        &["info", "a.vxs"],
        &["mesh", "blob", "-o", "blob.obj"],
        &["render", "blob", "-o", "blob.png", "--cells", "16", "--size", "32"],
        &["query", "a.vxs", "a.vxs"],
        &["replay", recording],
    ];
    // Nobody reads standard output and standard error when the call begins.
    let script =
        "( trap '' PIPE; while printf x; do :; done 2>/dev/null; \"$0\" \"$@\" 2>&1; echo $? > status ) | true";
    for call in calls {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_voxshell")).args(call).current_dir(folder);
        assert!(command.stdin(Stdio::null()).status().unwrap().success());
        assert_eq!(std::fs::read_to_string(folder.join("status")).unwrap(), "0\n", "{call:?}");
    }
    assert_eq!(files(folder), ["a.vxs", "blob.obj", "blob.png", "both", "status"]);
    assert_eq!(files(&folder.join("both")).len(), 2);
    // But a line that is lost for another reason is one.
    if Path::new("/dev/full").exists() {
        let message = refused(folder, "exec > /dev/full", &["info", "a.vxs"]);
        assert!(message.contains("standard output") && message.contains("No space left"), "{message}");
    }
}

#[test]
fn what_is_no_regular_file_is_written_into_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["mesh", "blob", "-o", "blob.obj"]);
    let mesh = std::fs::read(folder.join("blob.obj")).unwrap();
    good(folder, &["cook", "blob", "-o", "blob.vxs", "--cells", "16"]);
    let asset = std::fs::read(folder.join("blob.vxs")).unwrap();
    // The target of a link is replaced, whether it is there or not, and the link stays. One that leads to a device does too.
    std::fs::create_dir(folder.join("far")).unwrap();
    std::fs::write(folder.join("far/old"), "old").unwrap();
    for (link, target) in [("to_old", "far/old"), ("to_new", "far/new"), ("to_link", "to_old"), ("sink", "/dev/null")] {
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    for (link, target) in [("to_old", "far/old"), ("to_new", "far/new"), ("to_link", "far/old"), ("sink", "sink")] {
        good(folder, &["mesh", "blob", "-o", link]);
        assert_eq!(std::fs::read(folder.join(target)).unwrap(), if link == "sink" { &[] } else { &mesh[..] }, "{link}");
        good(folder, &["cook", "blob", "-o", link, "--cells", "16"]);
        assert_eq!(
            std::fs::read(folder.join(target)).unwrap(),
            if link == "sink" { &[] } else { &asset[..] },
            "{link}"
        );
        assert!(std::fs::symlink_metadata(folder.join(link)).unwrap().is_symlink(), "{link}");
    }
    // A pipe has a reader.
    let script = "mkfifo pipe && { cat pipe > got & \"$0\" \"$@\" && wait && test -p pipe; }";
    for (call, expected) in [(["mesh", "blob"], &mesh), (["cook", "blob"], &asset)] {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_voxshell")).args(call).args(["-o", "pipe"]);
        if call[0] == "cook" {
            command.args(["--cells", "16"]);
        }
        assert!(command.current_dir(folder).status().unwrap().success(), "{call:?}");
        assert_eq!(std::fs::read(folder.join("got")).unwrap(), *expected, "{call:?}");
        std::fs::remove_file(folder.join("pipe")).unwrap();
    }
    // Links in a circle are an error.
    std::os::unix::fs::symlink("circle", folder.join("circle")).unwrap();
    let message = refused(folder, "", &["mesh", "blob", "-o", "circle"]);
    assert!(message.contains("circle"), "{message}");
}
