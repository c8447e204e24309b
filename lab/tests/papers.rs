//! Arguments of `voxshell-lab papers`.

use std::process::{Command, Output};

fn papers(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    command.arg("papers").args(arguments).env_remove("VOXSHELL_MESHES");
    command.output().expect("it runs")
}

#[test]
fn unknown_experiments_are_refused() {
    let output = papers(&["--only", "ortega,none"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("xu-barbic") && message.contains("ortega"), "{message}");
}
