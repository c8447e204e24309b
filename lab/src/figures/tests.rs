use std::path::Path;

use serde_json::json;

use super::pages::{differences, generated, quoted};
use super::parts::PARTS;
use super::results::{cleaned, named, File, Results, Row};
use super::tables::TABLES;
use super::{pages, read, root, shown};

fn results() -> Results {
    Results::quoted(root()).expect("results of the machine in benches/results/quoted.txt")
}

fn page_texts() -> Vec<(String, String)> {
    let pages = pages::all(root()).expect("pages");
    pages.iter().map(|page| (shown(page), read(page).expect("a page"))).collect()
}

#[test]
fn pages_have_the_figures_of_the_results_files() {
    let found = super::differences(root()).expect("marks that name figures");
    let command = "cargo run --release -p voxshell-lab -- figures --pages";
    assert!(found.is_empty(), "`{command}` rewrites these lines:\n{}", found.join("\n"));
}

/// Changes every seventh digit between the marks of a page, one after the other.
#[test]
fn changed_digit_in_a_page_is_found() {
    let results = results();
    let mut planted = 0;
    for (name, text) in page_texts() {
        let marked = |at: usize| {
            let before = &text[..at];
            let open = ["<!-- figure ", "<!-- table "].iter().filter_map(|mark| before.rfind(mark)).max();
            let close = ["<!-- /figure -->", "<!-- /table -->"].iter().filter_map(|mark| before.rfind(mark)).max();
            open.is_some_and(|open| close.is_none_or(|close| open > close) && before[open..].contains("-->"))
        };
        let digits: Vec<usize> =
            text.char_indices().filter(|(at, c)| c.is_ascii_digit() && marked(*at)).map(|d| d.0).collect();
        // A page has up to some thousand digits; every seventh takes seconds.
        for at in digits.into_iter().step_by(7) {
            let digit = text[at..].chars().next().and_then(|c| c.to_digit(10)).expect("a digit");
            let changed = format!("{}{}{}", &text[..at], (digit + 1) % 10, &text[at + 1..]);
            let found = differences(&changed, &results).expect("marks as before");
            let line = 1 + text[..at].matches('\n').count();
            assert!(found.len() == 1 && found[0].line == line, "{name}:{line}: {found:?}");
            planted += 1;
        }
    }
    assert!(planted > 20, "only {planted} digits were changed");
}

#[test]
fn pages_state_no_microseconds_outside_marks() {
    let mut found = Vec::new();
    for (name, text) in page_texts() {
        // The page of the papers has the papers' own figures.
        let own = name == "README.md" || name.starts_with("docs/");
        if !own || name == "docs/evidence/papers.md" {
            continue;
        }
        let mut plain = text.clone();
        for kind in ["figure", "table"] {
            let (open, close) = (format!("<!-- {kind} "), format!("<!-- /{kind} -->"));
            while let Some(at) = plain.find(&open) {
                let end = at + plain[at..].find(&close).expect("a closed mark") + close.len();
                let lines = "\n".repeat(plain[at..end].matches('\n').count());
                plain.replace_range(at..end, &lines);
            }
        }
        let states =
            |line: &&str| line.match_indices(" µs").any(|(at, _)| line[..at].ends_with(|c: char| c.is_ascii_digit()));
        let lines = plain.lines().enumerate().filter(|(_, line)| states(line));
        found.extend(lines.map(|(i, line)| format!("{name}:{}: {line}", i + 1)));
    }
    assert!(found.is_empty(), "mark these figures, or link to a page of docs/evidence:\n{}", found.join("\n"));
}

#[test]
fn results_files_are_those_of_the_parts() {
    let results = results();
    for part in &PARTS {
        // `figures --stale` names the parts that were not measured.
        let Some(file) = results.files.get(part.name) else { continue };
        let commands: Vec<String> = part.commands.iter().map(|c| c.shown()).collect();
        assert_eq!(file.commands, commands, "{}: measure the part again", part.name);
        assert!(!file.rows.is_empty() && file.seconds > 0.0, "{}", part.name);
        let mut names: Vec<&str> = file.rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: a name is not unique", part.name);
        for source in part.sources {
            assert!(root().join(source).exists(), "{} names {source}", part.name);
        }
    }
}

#[test]
fn every_table_is_in_a_page() {
    let pages = page_texts();
    for table in TABLES {
        let mark = format!("<!-- table {} -->", table.name);
        assert!(pages.iter().any(|(_, text)| text.contains(&mark)), "no page has {mark}");
    }
}

fn sample() -> Results {
    let members = json!({ "np_mean_us": 57.26, "worst_us": 12346.0 }).as_object().cloned().expect("an object");
    let file = File {
        part: "resting".into(),
        commands: vec!["bullet-demo/run --scene pair".into()],
        commit: "0123456789ab".into(),
        uncommitted: false,
        processor: "Intel Xeon".into(),
        threads: 2,
        load: Some(0.5),
        seconds: 3.0,
        sources: vec!["src".into()],
        rows: vec![Row { name: "pair/voxshell".into(), members }],
    };
    Results { files: [("resting".to_string(), file)].into() }
}

#[test]
fn marks_get_the_numbers_of_their_rows() {
    let page = "It takes <!-- figure resting/pair/voxshell/np_mean_us -->5<!-- /figure --> µs,\n\
                at most <!-- figure resting/pair/voxshell/worst_us -->12,346<!-- /figure --> µs.\n";
    let new = generated(page, &sample()).expect("both are there");
    assert_eq!(new, page.replace(">5<", ">57.3<"));
    let found = differences(page, &sample()).expect("both are there");
    assert_eq!((found.len(), found[0].line), (1, 1));
    assert_eq!(differences(&new, &sample()).expect("both are there"), []);
}

#[test]
fn marks_without_a_row_are_refused() {
    for (mark, message) in [
        ("<!-- figure resting/pair/other/np_mean_us -->1<!-- /figure -->", "no row pair/other"),
        ("<!-- figure resting/pair/voxshell/np_us -->1<!-- /figure -->", "no number np_us"),
        ("<!-- figure other/pair/np_us -->1<!-- /figure -->", "no part other"),
        ("<!-- figure np_us -->1<!-- /figure -->", "PART/ROW/KEY"),
        ("<!-- figure resting/pair/voxshell/np_mean_us -->1", "has no <!-- /figure -->"),
        ("<!-- table other -->\n<!-- /table -->", "no table other"),
    ] {
        let mistake = generated(&format!("One line.\n{mark}\n"), &sample()).expect_err(mark);
        assert!(mistake.text.contains(message) && mistake.line == 2, "{mark}: {mistake:?}");
    }
}

#[test]
fn files_are_read_as_they_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = sample().files.remove("resting").expect("the file");
    file.save(folder.path()).expect("written");
    assert_eq!(File::load(folder.path(), "resting").expect("read"), file);
    assert!(File::load(Path::new(folder.path()), "other").is_err());
}

#[test]
fn machines_are_named_by_their_processor() {
    assert_eq!(cleaned("Intel(R) Xeon(R) CPU @ 2.20GHz"), "Intel Xeon 2.20GHz");
    assert_eq!(named("Intel Xeon 2.20GHz", 2), "intel-xeon-2.20ghz-2-cores");
    assert_eq!(named(&cleaned(" AMD EPYC"), 4), "amd-epyc-4-cores");
}

#[test]
fn figures_have_three_digits_and_commas() {
    for (value, text) in
        [(0.0, "0"), (0.01234, "0.0123"), (57.26, "57.3"), (999.6, "1,000"), (-1234567.0, "-1,234,567")]
    {
        assert_eq!(quoted(value), text);
    }
}
