//! `voxshell-lab papers`: one report with rows, plots and pictures.

use std::process::{Command, Output};

use serde_json::Value;

fn papers(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    command.arg("papers").args(arguments).env_remove("VOXSHELL_MESHES");
    command.output().expect("it runs")
}

#[test]
fn an_experiment_writes_rows_plots_and_one_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let output = papers(&["--quick", "--json", "--only", "ortega", "--out", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // Two rows of each of the five phases, and one of all.
    assert_eq!(lines.len(), 11);
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{row} has no {key}"));
    let last = &lines[10];
    assert!(
        (number(last, "peg_triangles") - 288.0).abs() < 12.0 && (number(last, "block_triangles") - 280.0).abs() < 12.0
    );
    // The god-object never penetrates, and gets into the hole.
    assert!(number(last, "measured") < 1e-3, "{last}");
    assert!(number(last, "peg_at_the_end_mm") < 30.0, "{last}");
    assert!(lines.iter().any(|row| row["most_contacts"].as_f64().is_some_and(|n| n > 1.0)));
    let page = std::fs::read_to_string(folder.path().join("papers.html")).expect("the page");
    assert_eq!(page.matches("<svg").count(), 3);
    let kept = std::fs::read_to_string(folder.path().join("papers.jsonl")).expect("the rows");
    assert_eq!(kept, String::from_utf8_lossy(&output.stdout));
    assert!(folder.path().join("ortega-3.svg").exists());
}

#[test]
fn unknown_experiments_are_refused() {
    let output = papers(&["--only", "ortega,none"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("xu-barbic") && message.contains("ortega"), "{message}");
}
