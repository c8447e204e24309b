//! Rows of `voxshell-lab bench` on grids small enough for a test. The C++ peers are left out, because they need not be
//! installed.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    command.arg("bench").args(arguments.split(' ')).args(["--seconds", "0"]);
    command
}

fn output(mut command: Command) -> Output {
    let output = command.output().expect("the command line runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns the rows by name.
fn rows(output: &Output) -> BTreeMap<String, Value> {
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    let row = |line: &str| serde_json::from_str::<Value>(line).expect("a JSON object a line");
    text.lines().map(row).map(|row| (row["row"].as_str().expect("a name").to_owned(), row)).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

fn check_keys(rows: &BTreeMap<String, Value>) {
    for row in rows.values() {
        assert!(number(row, "measured") >= 0.0, "{row}");
        assert!(row["unit"].is_string() && row.as_object().is_some_and(|r| r.contains_key("target")), "{row}");
        assert_eq!(row["peer"].is_string(), row["peer_measured"].is_f64(), "{row}");
    }
}

#[test]
fn rows_of_fields_hold_what_the_command_promises() {
    let rows = rows(&output(bench("fields --mesh torus --resolutions 18,36 --peers parry --json")));
    check_keys(&rows);
    for name in ["cook_dense/18", "cook_bricks/18", "cook_bricks/36/2_threads", "bricks/36/memory", "bricks/36/load"] {
        assert!(number(&rows[&format!("fields/{name}")], "measured") > 0.0, "{name}");
    }
    let over = &rows["fields/cook_dense/18/over_parry"];
    let ours = number(&rows["fields/cook_dense/18"], "measured");
    assert!((number(over, "measured") * number(over, "peer_measured") / ours - 1.0).abs() < 1e-12, "{over}");
    assert_eq!(number(over, "target"), 1.0 / 60.0);
    let stages = rows["fields/cook_bricks/18"]["stages_s"].as_object().expect("seconds of each stage");
    assert!(["distance", "sign", "error"].iter().all(|stage| stages.contains_key(*stage)), "{stages:?}");
    for name in ["error_dense/18", "wrong_signs_dense/18", "error_bricks/36", "wrong_signs_bricks/36"] {
        let row = &rows[&format!("fields/{name}")];
        assert!(number(row, "measured") <= number(row, "target"), "{row}");
    }
    // The peer projects the same points.
    assert!(number(&rows["fields/error_dense/18"], "peer_measured") < 1e-4);
}

#[test]
fn segments_meet_what_the_peers_meet() {
    let rows = rows(&output(bench("segments --mesh torus --resolutions 32,64 --segments 4000 --peers parry --json")));
    check_keys(&rows);
    for name in ["segments/64", "segments/64/bricks"] {
        let (row, beside) = (&rows[name], &rows[&format!("{name}/over_parry")]);
        let mesh = number(row, "mesh_hits");
        assert!(mesh > 500.0 && (number(beside, "peer_hits") - mesh).abs() <= 2.0, "{beside}");
        // The field's surface differs slightly from the mesh.
        assert!((number(row, "hits") - mesh).abs() < 0.01 * mesh, "{row}");
    }
    assert!(number(&rows["segments/bricks/growth_32_to_64"], "measured") > 0.0);
}

#[test]
fn quadratic_programs_are_measured_with_their_steps() {
    let rows = rows(&output(bench("qp --peers parry --json")));
    check_keys(&rows);
    for (kind, most) in [("contacts", 20.0), ("general", 30.0)] {
        let row = &rows[&format!("qp/{kind}/100")];
        assert!(number(row, "constrained") > 500.0, "{row}");
        assert!((6.0..most).contains(&number(row, "steps_mean")), "{row}");
        assert!(number(row, "spread") >= 1.0, "{row}");
    }
}

/// Pairs of sharp bodies miss no contact, and without the mesh files the rows of the scans say so.
#[test]
fn pairs_miss_no_contact_of_the_triangles() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bench("pair --quick --rows sharp,kept,deepest,memory --json");
    command.env("VOXSHELL_MESHES", folder.path());
    let output = output(command);
    let (skipped, rows): (BTreeMap<_, _>, BTreeMap<_, _>) =
        rows(&output).into_iter().partition(|(_, row)| row["skipped"].is_string());
    check_keys(&rows);
    let names: Vec<&str> = skipped.keys().map(String::as_str).collect();
    assert_eq!(names, ["pair/kept/bunny-horse", "pair/memory/bunny-horse"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("pair/kept: the scans are skipped: no bunny_34k_filled.obj")
    );
    for scene in ["gear-knot", "bracket-plate", "spike-gear", "plate-bracket"] {
        let row = &rows[&format!("pair/sharp/{scene}")];
        for times in ["query", "pair_cold", "pair_warm_0.1mm", "pair_warm_0.5mm", "pair_warm_2mm"] {
            let [median, tail] = ["median", "p99"].map(|part| number(row, &format!("{times}_{part}_us")));
            assert!(0.0 < median && median <= tail, "{times} of {row}");
        }
        for missed in ["query_missed", "pair_missed", "pair_warm_0.1mm_missed", "pair_warm_0.5mm_missed"] {
            assert_eq!(number(row, missed), 0.0, "{missed} of {row}");
        }
        assert_eq!(number(&rows[&format!("pair/kept/{scene}")], "searched"), 0.0, "{scene}");
        // Exchanging the bodies changes nothing.
        let row = &rows[&format!("pair/deepest/{scene}")];
        assert!(number(row, "pair_exchanged_max_tolerances") < 1e-6, "{row}");
        assert!(number(row, "distance_exchanged_max_tolerances") < 1e-6, "{row}");
    }
    assert!(number(&rows["pair/memory/spike-gear/spike"], "asset_bytes") > 1000.0);
}

#[test]
fn tables_quote_the_papers() {
    let rows =
        rows(&output(bench("tables --mesh torus --resolutions 128 --segments 1000 --pairs 40 --samples 3000 --json")));
    check_keys(&rows);
    for (name, paper) in [
        ("table1/field/full_grid/time", 1.9),
        ("table1/octree/min_max/memory", 34.2),
        ("table1/octree/min/memory", 16.1),
        ("table2/bricks", 12.0),
        ("ccd/table3/vertices/all", 0.7),
        ("ccd/table3/dense/first/each_sample", 761.2),
        ("ccd/table4/dense", 2.6),
    ] {
        assert_eq!(
            number(rows.get(&format!("{name}/128")).unwrap_or_else(|| &rows[name]), "peer_measured"),
            paper,
            "{name}"
        );
    }
    let [ours, uniform, octree] =
        ["ours", "uniform", "octree"].map(|w| number(&rows[&format!("table2/hits/{w}/128")], "measured"));
    // Cardano's formulas miss a few.
    assert!(ours > 100.0 && uniform == octree && (ours - octree).abs() <= 3.0, "{ours} {uniform} {octree}");
    let [leaf, min, both] =
        ["leaf", "min", "min_max"].map(|f| number(&rows[&format!("table1/octree/{f}/memory/128")], "measured"));
    assert!(leaf < min && min < both);
    // Dropped bodies are caught.
    for body in ["vertices", "bowl", "dense"] {
        let hits = number(&rows[&format!("ccd/table3/{body}/all")], "hits");
        assert!(hits > 2.0 && number(&rows[&format!("ccd/table3/{body}/all")], "intervals") > hits, "{body}");
        // Dropped from 1.2 m on a body that reaches 0.5 m: no faster than by gravity.
        let drop = &rows[&format!("ccd/table4/{body}")];
        assert!(number(drop, "lowest_m") > -1.0 && number(drop, "fastest_m_s") < 5.8, "{body}");
    }
}

#[test]
fn rows_are_saved_beside_the_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.json");
    let mut command = bench("segments --mesh cuboid --resolutions 16 --segments 100 --peers parry");
    command.arg("--save").arg(&file);
    let table = String::from_utf8(output(command).stdout).expect("UTF-8");
    let saved = std::fs::read_to_string(&file).expect("the file");
    let names: Vec<String> = saved
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a JSON object a line"))
        .map(|row| row["row"].as_str().expect("a name").to_owned())
        .collect();
    let printed: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 5 && names == printed, "{names:?} {printed:?}");
}

#[test]
fn a_peer_that_is_not_installed_is_left_out_and_named() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut command = bench("fields --mesh cuboid --resolutions 12,18 --peers openvdb");
    command.env("XDG_CACHE_HOME", cache.path()).env("CXX", cache.path().join("no-compiler"));
    let output = output(command);
    assert!(String::from_utf8_lossy(&output.stderr).contains("apt install g++ libopenvdb-dev"));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("fields/cook_bricks/12 ") && !table.contains("over_openvdb"), "{table}");
}
