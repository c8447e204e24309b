//! `voxshell-lab soak` for some minutes: what must hold in every step holds.

use std::process::Command;

use serde_json::Value;

#[test]
fn hours_of_use_break_no_promise() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    let output = command.args(["soak", "--hours", "0.1", "--json"]).output().expect("the command line runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().filter_map(|row| row["scene_changes"].as_u64()).sum::<u64>() > 20);
    for row in &rows {
        // Each renderer touched something and met each fault.
        assert!(row["contact_share"].as_f64() > Some(0.02), "{row}");
        for key in ["faults", "clutches", "stalls"] {
            assert!(row[key].as_u64() > Some(3), "{key}: {row}");
        }
        assert_eq!(row["holds"], true, "{row}");
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Linearised contacts of a stalled simulation threw these tools: a stiff contact that was found late (280 km), and contacts
/// that grew as the tool moved away.
#[test]
fn a_tool_is_not_thrown() {
    for session in ["21", "135", "216", "562"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
        let output = command.args(["soak", "--session", session, "--json"]).output().expect("the command line runs");
        assert!(output.status.success(), "{session}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
