//! `voxshell-lab compare` on written rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Files of a test in a folder of its own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compare-{name}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes rows of a unit, each with the figures of its runs.
    fn rows(&self, name: &str, rows: &[(&str, &str, &[f64])]) -> PathBuf {
        let line = |(row, unit, figures): &(&str, &str, &[f64])| -> String {
            let line = |figure| serde_json::json!({ "row": row, "unit": unit, "measured": figure }).to_string() + "\n";
            figures.iter().map(line).collect()
        };
        self.write(name, &rows.iter().map(line).collect::<String>())
    }
}

fn compare(old: &Path, new: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    command.arg("compare").args([old, new]).args(more).output().expect("the command line runs")
}

#[test]
fn changes_are_told_from_noise() {
    let folder = Folder::new("noise");
    let old = folder.rows(
        "old.jsonl",
        &[
            ("faster", "us", &[5.0, 5.2, 5.1, 5.3, 9.0]),
            ("slower", "s", &[1.0, 1.1, 1.0, 1.2, 1.1]),
            ("noise", "us", &[5.0, 5.2, 5.1, 5.3, 9.0]),
            ("few", "us", &[5.0, 5.2, 5.1, 5.3]),
            ("count", "tests", &[1000.0, 1000.0]),
            ("depth", "mm", &[0.25]),
            ("gone", "us", &[1.0]),
        ],
    );
    let new = folder.rows(
        "new.jsonl",
        &[
            ("faster", "us", &[4.9, 4.8, 4.7, 4.9, 4.5]),
            ("slower", "s", &[1.3, 1.4, 1.3, 1.25, 1.5]),
            ("noise", "us", &[4.9, 4.8, 5.05, 4.7, 4.9]),
            ("few", "us", &[1.0, 1.1, 1.2, 1.3]),
            ("count", "tests", &[1000.0, 1001.0]),
            ("depth", "mm", &[0.25]),
            ("added", "us", &[1.0]),
        ],
    );
    let output = compare(&old, &new, &["--json", "--all"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdict = |name: &str| rows.iter().find(|row| row["row"] == name).unwrap()["verdict"].clone();
    let expected = [
        ("faster", "faster"),
        ("slower", "slower"),
        ("noise", "noise"),
        ("few", "few runs"),
        ("count", "changed"),
        ("depth", "same"),
        ("gone", "gone"),
        ("added", "new"),
    ];
    for (name, expected) in expected {
        assert_eq!(verdict(name), expected, "{name}");
    }
    assert_eq!(rows.len(), expected.len());
    let faster = rows.iter().find(|row| row["row"] == "faster").unwrap();
    assert_eq!((faster["old"].as_f64(), faster["new"].as_f64()), (Some(5.0), Some(4.5)));
    assert_eq!((faster["old_spread"].as_f64(), faster["new_over_old"].as_f64()), (Some(4.0), Some(0.9)));

    // As a table without the rows that did not change, and the number of each verdict.
    let text = String::from_utf8(compare(&old, &new, &[]).stdout).unwrap();
    assert!(!text.contains("depth") && text.lines().any(|line| line.starts_with("slower") && line.ends_with("slower")));
    assert!(text.ends_with("1 faster, 1 slower, 1 changed, 1 same, 1 noise, 1 few runs, 1 new, 1 gone\n"), "{text}");
}

#[test]
fn rows_that_cannot_be_compared_are_refused() {
    let folder = Folder::new("refused");
    let good = folder.rows("good.jsonl", &[("a", "us", &[1.0])]);
    let many = vec![1.0; 31];
    let refused = [
        (folder.write("empty.jsonl", "\n"), "no row with a figure"),
        (folder.write("text.jsonl", "{\"row\":\"a\"}\nnot JSON\n"), "line 2: "),
        (folder.write("nameless.jsonl", "{\"measured\":1}\n"), "line 1: no text \"row\""),
        (folder.rows("unit.jsonl", &[("a", "ms", &[1.0])]), "unit of a"),
        (folder.rows("many.jsonl", &[("a", "us", &many)]), "more than 30 times"),
        (folder.0.join("absent.jsonl"), "absent.jsonl"),
    ];
    for (bad, reason) in refused {
        let output = compare(&good, &bad, &[]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(reason), "{bad:?}: {message}");
    }
}
