//! Output of `voxshell-lab haptics-demo` and `voxshell-lab bench haptics`, coarse and short.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn voxshell(arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell-lab"));
    let output = command.args(arguments).env_remove("VOXSHELL_MESHES").output().expect("the command line runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

#[test]
fn the_demo_feels_what_it_touches_and_nothing_in_free_space() {
    let renderers = "--renderer=penalty,god-object,god-object-discrete";
    let rows = voxshell(&["haptics-demo", "--quick", "--json", "--scene=cylinders,free", renderers]);
    let row = |scene: &str, renderer: &str| {
        let named = |r: &&Value| r["scene"] == scene && r["renderer"] == renderer;
        rows.iter().find(named).unwrap_or_else(|| panic!("no row of {scene} and {renderer}"))
    };
    assert_eq!(rows.len(), 6);
    let (cylinders, free) = (row("cylinders", "penalty"), row("free", "penalty"));
    assert!(number(cylinders, "force_max_n") > 1.0 && number(cylinders, "force_max_n") <= 30.0, "{cylinders}");
    assert!(number(cylinders, "contacts_max") > 0.0 && number(cylinders, "time_p50_us") > 0.0);
    assert_eq!(number(free, "contacts_max"), 0.0);
    assert_eq!(number(free, "penetration_max_mm"), 0.0);
    assert_eq!(free["passed"], false);
    let (cylinders, free) = (row("cylinders", "god-object"), row("free", "god-object"));
    assert!(number(cylinders, "force_max_n") > 1.0 && number(cylinders, "contacts_max") > 0.0, "{cylinders}");
    assert_eq!(number(cylinders, "penetration_max_mm"), 0.0);
    assert_eq!(number(free, "force_max_n"), 0.0);
    // Fig 11: with contacts at the ends of steps only, the tool gets stuck inside the obstacle.
    let (cylinders, free) = (row("cylinders", "god-object-discrete"), row("free", "god-object-discrete"));
    assert!(number(cylinders, "penetration_max_mm") > 0.5, "{cylinders}");
    assert_eq!(number(free, "force_max_n"), 0.0);
}

#[test]
fn the_demo_writes_a_report_that_needs_no_other_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, cache) = (folder.path().join("report"), folder.path().join("kept"));
    let [out_text, cache_text] = [&out, &cache].map(|p| p.to_str().expect("UTF-8"));
    let arguments =
        ["haptics-demo", "--quick", "--json", "--scene=peg", "--renderer=penalty", "--frames=3", "--out", out_text];
    let first = voxshell(&[&arguments[..], &["--cache", cache_text]].concat());
    let page = std::fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("Peg in hole") && page.matches("<svg").count() == 5, "five plots");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "nothing from elsewhere");
    assert_eq!(page.matches("data:image/png;base64,").count(), 2);
    for plot in ["force", "torque", "penetration", "contacts", "time"] {
        let svg = std::fs::read_to_string(out.join(format!("peg-{plot}.svg"))).expect("a plot");
        assert_eq!(svg.matches(" stroke=\"#E07B1A\"").count(), 2, "{plot} has a curve and its key in the legend");
    }
    for picture in ["peg.png", "peg-penalty.png", "title.png"] {
        let bytes = std::fs::read(out.join(picture)).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 2000, "{picture}");
    }
    // The cached shapes equal the cooked ones.
    assert_eq!(std::fs::read_dir(Path::new(&cache)).expect("a folder").count(), 2);
    let mut second = voxshell(&[&arguments[..], &["--cache", cache_text]].concat());
    let mut first = first;
    for row in first.iter_mut().chain(&mut second) {
        for time in ["time_p50_us", "time_p99_us"] {
            row[time] = Value::Null;
        }
    }
    assert_eq!(first, second, "the same motion gives the same forces");
}

#[test]
fn the_demo_says_how_long_steps_and_how_hard_contacts_may_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let rows = voxshell(&["haptics-demo", "--quick", "--json", "--stability", "--out", out]);
    assert_eq!(rows.len(), 6, "two halves, three methods");
    for (scene, key, range) in
        [("stable-step", "stable_step_ms", 0.5..=100.0), ("stable-stiffness", "stable_stiffness_knpm", 1.0..=1e7)]
    {
        let of_scene: Vec<&Value> = rows.iter().filter(|row| row["scene"] == scene).collect();
        assert!(of_scene.iter().map(|row| &row["method"]).eq(["discrete", "continuous", "ahead"]));
        let discrete = number(of_scene[0], key);
        for row in of_scene {
            assert!(range.contains(&number(row, key)), "{row}");
            assert!((number(row, "over_discrete") - number(row, key) / discrete).abs() < 1e-9, "{row}");
        }
        let svg = std::fs::read_to_string(folder.path().join(format!("{scene}.svg"))).expect("a plot");
        for colour in ["#E07B1A", "#8D6BB0", "#1F66C7"] {
            let lines = svg.matches(&format!(" stroke=\"{colour}\"")).count();
            assert_eq!(lines, 2, "{scene} has a curve of {colour} and its key in the legend");
        }
    }
    let page = std::fs::read_to_string(folder.path().join("report.html")).expect("a report");
    assert_eq!(page.matches("data:image/png;base64,").count(), 1);
}

#[test]
fn the_benchmark_prints_measurements_and_targets() {
    let rows: BTreeMap<String, Value> = voxshell(&["bench", "haptics", "--quick", "--json"])
        .into_iter()
        .map(|row| (row["row"].as_str().expect("a name").to_owned(), row))
        .collect();
    for row in rows.values() {
        assert!(number(row, "measured") >= 0.0 && number(row, "target") >= 0.0, "{row}");
        assert!(row["unit"].is_string(), "{row}");
        assert_eq!(row["peer"].is_string(), row["peer_measured"].is_f64(), "{row}");
    }
    let row = |name: &str| rows.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", rows.keys()));
    assert!(number(row("haptics/step/penalty/p50"), "contacts_mean") >= 1.0);
    let force = row("haptics/constraint_force/20/p99");
    assert!(number(force, "peer_measured") == 25.0 && number(force, "held_share") > 0.5, "{force}");
    for scene in ["alpha", "peg", "horse-dragon", "wires"] {
        let mean = row(&format!("haptics/simulate/{scene}/penalty/mean"));
        assert!(number(mean, "rounds") > 20.0 && number(mean, "contacts_mean") >= 1.0, "{mean}");
    }
    for fault in ["nan_pose", "clock_jump", "zero_dt", "backward_clock", "teleport", "deadman"] {
        let force = row(&format!("haptics/faults/penalty/{fault}/force"));
        assert!(
            number(force, "measured") == 0.0 && number(force, "held_n") > 0.5 && force["says_so"] == true,
            "{force}"
        );
        let rise = row(&format!("haptics/faults/penalty/{fault}/largest_rise_over_ramp"));
        assert!((number(rise, "force_after_n") / number(force, "held_n") - 1.0).abs() < 0.05, "back again: {rise}");
    }
}
