//! `voxshell query` as a process: results against the geometry of two spheres, and refused arguments.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
    command.current_dir(folder).arg("query").args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A process that refuses its arguments does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn good(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(folder, arguments, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn rows(folder: &Path, arguments: &[&str], input: &str) -> Vec<Value> {
    let arguments = [arguments, &["--json"]].concat();
    good(folder, &arguments, input).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} in {row}"))
}

/// Two spheres of radius 1/2: A moves along x from 3 m to -3 m, B rests.
const MEETING: [&str; 13] =
    ["sphere", "sphere", "--cells", "24", "--samples", "300", "--pose-a", "3", "0", "0", "--to-a", "-3", "0"];

fn meeting(more: &[&'static str]) -> Vec<&'static str> {
    [&MEETING[..], &["0"], more].concat()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
}

#[test]
fn moving_spheres_touch_at_a_centre_distance_of_one_diameter() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["screw", "straight"] {
        let found = rows(folder.path(), &meeting(&["--path", path]), "");
        let (first, rest) = found.split_first().unwrap();
        assert_eq!(first["kind"], "first");
        close(number(first, "/toi"), 2.0 / 6.0);
        close(number(first, "/normal/0"), -1.0);
        close(number(first, "/pose_a/0"), 1.0);
        close(number(first, "/pose_b/0"), 0.0);
        assert!(rest.len() > 100 && rest.iter().all(|row| row["kind"] == "contact"));
        assert!(rest.windows(2).all(|w| number(&w[0], "/toi") <= number(&w[1], "/toi")));
        for row in rest {
            // Duration of each contact: it depends on the sample's distance from the axis.
            let middle = 0.5 * (number(row, "/toi") + number(row, "/until"));
            let height = number(row, "/point_on_a_m/1").hypot(number(row, "/point_on_a_m/2"));
            let half = (0.25 - height * height).max(0.0).sqrt() / 6.0;
            close(0.5 * (number(row, "/until") - number(row, "/toi")), half);
            assert!((middle - 0.5).abs() <= 0.5 / 6.0 + 0.01, "{row}");
        }
        let words = good(folder.path(), &meeting(&["--path", path]), "");
        assert!(words.ends_with("of the motion\n") && words.lines().count() == rest.len() + 1);
    }
}

#[test]
fn a_motion_query_respects_until_and_max_separation() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(rows(folder, &meeting(&["--until", "0.3"]), ""), [] as [Value; 0]);
    assert_eq!(good(folder, &meeting(&["--until", "0.3"]), ""), "0 contacts; first time of impact: none\n");
    let near = &rows(folder, &meeting(&["--until", "0.33", "--max-separation", "0.3"]), "")[0];
    close(number(near, "/toi"), 1.7 / 6.0);
    // On a screw, a reported contact may exceed the separation by the tolerance.
    let coarse = &rows(folder, &meeting(&["--tolerance", "0.06"]), "")[0];
    assert!(number(coarse, "/toi") < 2.0 / 6.0 + 0.01 && number(coarse, "/separation_m") <= 0.061, "{coarse}");
    // B may move and turn as well.
    let both = ["--to-b", "3", "0", "0", "0.6", "0", "0", "0.8"];
    close(number(&rows(folder, &meeting(&both), "")[0], "/toi"), 2.0 / 9.0);
}

#[test]
fn known_features_are_left_out_and_those_that_last_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // To the pose at which the centres coincide, so that all contacts last to the end.
    let stop = ["sphere", "sphere", "--cells", "24", "--samples", "300", "--pose-a", "3", "0", "0"];
    let stop = [&stop[..], &["--to-a", "0.2", "0", "0"]].concat();
    let all = rows(folder, &stop, "");
    let lasts: Vec<u64> = all.iter().filter(|r| r["until"] == 1.0).map(|r| r["feature"].as_u64().unwrap()).collect();
    let first = all[0]["feature"].as_u64().unwrap();
    assert!(lasts.len() > 2 && all[1]["feature"] == first);
    let known = format!("{:#x},{},{first}", lasts[0], lasts[1]);
    let rest = rows(folder, &[&stop[..], &["--known", &known]].concat(), "");
    let named = |r: &&Value| [lasts[0], lasts[1], first].contains(&r["feature"].as_u64().unwrap());
    assert!(rest.iter().filter(named).all(|r| r["kind"] == "known"));
    let mut still: Vec<u64> =
        rest.iter().filter(|r| r["kind"] == "known").map(|r| r["feature"].as_u64().unwrap()).collect();
    let mut expected: Vec<u64> = [lasts[0], lasts[1], first].into_iter().filter(|f| lasts.contains(f)).collect();
    still.sort_unstable();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(still, expected);
    let left_out = all.iter().skip(1).filter(named).count();
    assert_eq!(rest.len(), all.len() - left_out + still.len());
}

const SEGMENTS: &str = "# through, above, from inside\n -3 0 0 3 0 0\n\n-3 2 0 3 2 0\n0 0 0 0 0 1e0\n";

#[test]
fn segments_meet_a_sphere_where_geometry_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("segments.txt"), SEGMENTS).unwrap();
    let of = |mode: &[&str]| {
        let piped = [&["segment", "sphere", "--cells", "24", "--file", "-"], mode].concat();
        let found = rows(folder, &piped, SEGMENTS);
        let from_file = [&["segment", "sphere", "--cells", "24", "--file", "segments.txt"], mode].concat();
        assert_eq!(found, rows(folder, &from_file, ""));
        assert_eq!(found.len(), 3);
        found
    };
    let first = of(&[]);
    close(number(&first[0], "/hit/fraction"), 2.5 / 6.0);
    close(number(&first[0], "/hit/point_m/0"), -0.5);
    close(number(&first[0], "/hit/normal/0"), -1.0);
    assert!(first[1]["hit"].is_null() && number(&first[2], "/hit/fraction") == 0.0);
    assert!(of(&["--start", "leave"])[2]["hit"].is_null());
    close(number(&of(&["--level", "0.2"])[0], "/hit/fraction"), 2.3 / 6.0);
    let crossings = of(&["--mode", "crossings"]);
    let enters = |row: &Value| {
        row["crossings"].as_array().unwrap().iter().map(|c| c["enters"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(crossings.iter().map(enters).collect::<Vec<_>>(), [vec![true, false], vec![], vec![false]]);
    let intervals = of(&["--mode", "intervals"]);
    close(number(&intervals[0], "/intervals/0/0"), 2.5 / 6.0);
    close(number(&intervals[0], "/intervals/0/1"), 3.5 / 6.0);
    close(number(&intervals[2], "/intervals/0/1"), 0.5);
    let meets: Vec<bool> = of(&["--mode", "meets"]).iter().map(|r| r["meets"].as_bool().unwrap()).collect();
    assert_eq!(meets, [true, false, true]);

    let one = ["segment", "sphere", "--cells", "24", "--from", "-3", "0", "0", "--to", "3", "0", "0"];
    for (mode, said) in [
        ("first", "segment 0: hit at 0.4166"),
        ("crossings", "\n  leaves at 0.5833"),
        ("intervals", "\n  from 0.4166"),
        ("meets", "segment 0: meets\n1 of 1 segments meet the level\n"),
    ] {
        let words = good(folder, &[&one[..], &["--mode", mode]].concat(), "");
        assert!(words.contains(said) && words.ends_with("1 of 1 segments meet the level\n"), "{words}");
    }
}

#[test]
fn queries_that_make_no_sense_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("five.txt"), "0 0 0 1 1 1\n1 2 3 4 5\n").unwrap();
    let pair = |more: &[&'static str]| [&["sphere", "sphere", "--cells", "8"], more].concat();
    let motion = |more: &[&'static str]| pair(&[&["--to-a", "1", "0", "0"], more].concat());
    let segment = |more: &[&'static str]| [&["segment", "sphere", "--cells", "8"], more].concat();
    for (arguments, code, expected) in [
        (pair(&["--to-b", "1", "2", "3", "4"]), 1, "--to-b is 4 numbers; expected 3 finite numbers (x y z) or 7"),
        (pair(&["--pose-a", "nan", "0", "0"]), 1, "--pose-a is NaN; expected 3 finite numbers"),
        (motion(&["--to-b", "0", "0", "0", "1", "1", "0", "0"]), 1, "--to-b is a quaternion of length 1.414"),
        (pair(&["--path", "straight"]), 2, "--to-a <NUMBERS>"),
        (pair(&["--known", "1"]), 2, "--to-a <NUMBERS>"),
        (motion(&["--path", "curve"]), 2, "possible values: screw, straight"),
        (motion(&["--max-contacts", "4"]), 2, "'--max-contacts <NUMBER>' cannot be used with"),
        (motion(&["--tolerance", "0"]), 1, "--tolerance is 0; expected a positive, finite length in metres"),
        (
            motion(&["--tolerance", "1", "--path", "straight"]),
            1,
            "--tolerance is 1; expected none with --path straight",
        ),
        (motion(&["--until", "1.5"]), 1, "--until is 1.5; expected a part of the motion, 0 to 1"),
        (motion(&["--known", "1,x"]), 1, "--known is x; expected features as they are reported: 12 or 0x8000000c"),
        (motion(&["--known", "99999"]), 1, "known is 99999; expected a sample of"),
        (segment(&["--from", "0", "0", "0"]), 2, "--to <X> <Y> <Z>"),
        (segment(&["--from", "0", "0", "inf", "--to", "1", "1", "1"]), 1, "--from is inf; expected three finite"),
        (segment(&["--file", "no.txt"]), 1, "no.txt: No such file"),
        (segment(&["--file", "five.txt"]), 1, "line 2 of five.txt is \"1 2 3 4 5\"; expected six finite numbers"),
        (segment(&["--file", "-", "--level", "inf"]), 1, "--level is inf; expected a finite length in metres"),
        (vec!["segment", "sphere"], 2, "--from <X> <Y> <Z>"),
        (vec!["sphere"], 2, "<B>"),
    ] {
        let output = run(folder.path(), &arguments, "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// `voxshell query … | head` ends without an error.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_voxshell"))
        .current_dir(folder.path())
        .arg("query")
        .args(meeting(&[]).iter().map(|a| if *a == "300" { "9000" } else { a }))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
