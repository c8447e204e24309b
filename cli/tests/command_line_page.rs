//! The page docs/command-line.md and the program have the same verbs, and every option of the page exists.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns the help of a verb, or that of the program.
fn help(verbs: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
    let output = command.args(verbs).arg("--help").output().unwrap();
    assert!(output.status.success(), "voxshell {verbs:?} --help: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(String::from).collect()
}

/// Returns the verbs that a help text lists.
fn verbs(help: &str) -> BTreeSet<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line of a verb is indented by two, the next lines of its description by more.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !["", "help"].contains(name)).map(String::from).collect()
}

/// Returns the code spans and the lines of the blocks.
fn code(page: &str) -> Vec<String> {
    let mut is_block = false;
    let mut all = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            all.push(line.split(" #").next().unwrap().trim().to_string());
        } else {
            all.extend(line.split('`').skip(1).step_by(2).map(String::from));
        }
    }
    all
}

#[test]
fn the_page_and_the_program_have_the_same_verbs_and_options() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line.md");
    let page = std::fs::read_to_string(page).unwrap();
    let program = verbs(&help(&[]));
    assert!(program.contains("cook") && program.contains("replay"), "{program:?}");

    // The table at the start has a row for each verb.
    let rows = page.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    let table: BTreeSet<String> = rows.filter_map(|row| row.split([' ', '`']).next()).map(String::from).collect();
    assert_eq!(table, program, "the table of docs/command-line.md (left) and `voxshell --help`");

    let with_segment =
        |verb: &str| help(&[verb]) + &if verb == "query" { help(&["query", "segment"]) } else { "".into() };
    let every: BTreeSet<String> = program.iter().flat_map(|verb| options(&with_segment(verb))).collect();
    let mut wrong = Vec::new();
    for text in code(&page).iter().filter(|text| !text.starts_with("cargo ")) {
        let words: Vec<&str> = text.trim_start_matches("voxshell ").split(' ').collect();
        let is_command = text.starts_with("voxshell ") || program.contains(words[0]);
        let known = match *words {
            ["query", "segment", ..] => options(&help(&["query", "segment"])),
            [verb, ..] if is_command && program.contains(verb) => options(&help(&[verb])),
            _ if text.starts_with("voxshell ") => BTreeSet::new(),
            _ => every.clone(),
        };
        let unknown = options(text).into_iter().filter(|option| !known.contains(option));
        wrong.extend(unknown.map(|option| format!("{option} of `{text}`")));
    }
    assert!(wrong.is_empty(), "docs/command-line.md has options that do not exist:\n{}", wrong.join("\n"));
    assert!(options(&page).len() > 20, "only {:?} were found", options(&page));
}
