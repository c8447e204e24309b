//! The command line as a process: its files, its messages, its exit codes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::math::Progress;
use voxshell::mesh::primitives::Primitive;
use voxshell::mesh::{io, TriMesh};

/// Returns a command that runs in its own folder, so that every file there is its output.
fn voxshell(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxshell"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    voxshell(folder, arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns standard output of a command that must succeed.
fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}\n{}", output.status, err(&output));
    out(&output)
}

/// Returns standard error of a command that must fail with this exit code.
fn bad(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{}{}", out(&output), err(&output));
    err(&output)
}

/// Returns all files of a folder, including hidden ones, sorted.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn json(folder: &Path, source: &str) -> Value {
    serde_json::from_str(&good(folder, &["info", source, "--json"])).unwrap()
}

#[test]
fn one_mesh_is_cooked_into_the_file_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let said = good(folder, &["cook", "torus", "-o", "ring.vxs", "--cells", "24"]);
    assert!(said.contains("wrote ring.vxs") && said.contains("nodes, voxel 41.667 mm"), "{said}");
    assert_eq!(files(folder), ["ring.vxs"]);
    let options = CookOptions { resolution: Resolution::Cells(24), ..CookOptions::default() };
    let mesh = Primitive::by_name("torus").unwrap().mesh().unwrap();
    let expected = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
    let cooked = Shape::load(&folder.join("ring.vxs")).unwrap();
    assert!(cooked.field == expected.field && cooked.shell == expected.shell);
}

#[test]
fn a_mesh_gives_the_same_bytes_in_any_batch_on_any_threads() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for field in ["dense", "bricks"] {
        let how = ["--cells", "30", "--field", field];
        let cook = |out: &str, sources: &[&str], threads: &str| {
            let mut command = voxshell(folder, &["cook", "-o", out]);
            command.args(sources).args(how).env("RAYON_NUM_THREADS", threads);
            assert!(command.status().unwrap().success());
        };
        cook("one.vxs", &["random:7"], "1");
        cook("five.vxs", &["random:7"], "5");
        cook("many", &["random:6", "random:7", "blob"], "3");
        let bytes = |path: &str| std::fs::read(folder.join(path)).unwrap();
        assert!(bytes("one.vxs") == bytes("five.vxs") && bytes("one.vxs") == bytes("many/random-7.vxs"), "{field}");
        assert_eq!(files(&folder.join("many")), ["blob.vxs", "random-6.vxs", "random-7.vxs"]);
    }
}

#[test]
fn a_failed_mesh_does_not_stop_the_other_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("broken.obj"), "v 0 0 0\nf 1 2 3\n").unwrap();
    io::write_obj(&folder.join("part.obj"), &Primitive::by_name("peg").unwrap().mesh().unwrap()).unwrap();
    let arguments = ["cook", "broken.obj", "part.obj", "missing.stl", "sphere", "-o", "assets", "--cells", "16"];
    let output = run(folder, &arguments);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(files(&folder.join("assets")), ["part.vxs", "sphere.vxs"]);
    assert!(out(&output).contains("2 of 4 meshes cooked into assets"), "{}", out(&output));
    let said = err(&output);
    assert!(said.contains("2 of 4 meshes could not be cooked:") && !said.contains("part.obj"), "{said}");
    assert!(said.contains("  broken.obj: ") && said.contains("  missing.stl: No such file"), "{said}");
    for asset in files(&folder.join("assets")) {
        Shape::load(&folder.join("assets").join(asset)).unwrap();
    }
}

/// Two boxes of 1 m³ and 0.9 m³; the second faces inward.
const INSIDE_OUT: &str = "\
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1
v 2 0 0\nv 3 0 0\nv 2 1 0\nv 3 1 0\nv 2 0 0.9\nv 3 0 0.9\nv 2 1 0.9\nv 3 1 0.9
f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7
f 9 11 15 13\nf 10 14 16 12\nf 9 13 14 10\nf 11 12 16 15\nf 9 10 12 11\nf 13 15 16 14
";

#[test]
fn a_part_inside_out_is_weighed_cooked_and_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("boxes.obj"), INSIDE_OUT).unwrap();
    let of_mesh = json(folder, "boxes.obj")["mass"].clone();
    for (field, store) in [("dense", "compressed"), ("bricks", "raw")] {
        let how = ["cook", "boxes.obj", "-o", "boxes.vxs", "--cells", "40", "--field", field, "--store", store];
        let said = good(folder, &how);
        assert!(said.contains("volume 1.900000 m3") && said.contains(" m, exact"), "{said}");
        // (0.5·1 + 2.5·0.9) / 1.9 m along x.
        let mass = json(folder, "boxes.vxs")["mass"].clone();
        let number =
            |path: &str| mass.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {mass}"));
        assert!((number("/volume_m3") - 1.9).abs() < 1e-12 && mass["exact"] == true, "{mass}");
        assert!((number("/center_of_mass_m/0") - 2.75 / 1.9).abs() < 1e-12, "{mass}");
        assert!((0..3).all(|k| number(&format!("/inertia_per_mass_m2/{k}")) > 0.0), "{mass}");
        assert_eq!(mass, of_mesh);
    }
    // The second box overlaps the first one: 1 + 0.9 − 0.6·0.9.
    std::fs::write(folder.join("boxes.obj"), INSIDE_OUT.replace("v 2 ", "v 0.4 ").replace("v 3 ", "v 1.4 ")).unwrap();
    let mass = json(folder, "boxes.obj")["mass"].clone();
    assert!((mass["volume_m3"].as_f64().unwrap() - 1.36).abs() < 1e-12 && mass["exact"] == true, "{mass}");
    let said = good(folder, &["cook", "boxes.obj", "-o", "boxes.vxs", "--cells", "60"]);
    assert!(said.contains(" m, exact"), "{said}");
}

#[test]
fn names_that_clash_are_refused_before_anything_is_cooked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let said = bad(folder, &["cook", "a/part.obj", "torus", "b/part.stl", "-o", "assets"], 1);
    assert!(said.contains("\"a/part.obj\" and \"b/part.stl\"; expected meshes of different names"), "{said}");
    let said = bad(folder, &["cook", "torus", "sphere", "-o", "both.vxs"], 1);
    assert!(said.contains("--out is both.vxs; expected a folder for the assets of 2 meshes"), "{said}");
    assert!(files(folder).is_empty());
    std::fs::write(folder.join("part.obj"), "v 0 0 0\n").unwrap();
    let said = bad(folder, &["cook", "part.obj", "-o", "./part.obj"], 1);
    assert!(said.contains("expected another file than the mesh"), "{said}");
    assert_eq!(std::fs::read(folder.join("part.obj")).unwrap(), b"v 0 0 0\n");
}

#[test]
fn a_target_error_is_met_or_told_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["cook", "torus", "-o", "ring.vxs", "--error", "0.002", "--field", "bricks"]);
    let field = &json(folder, "ring.vxs")["field"];
    assert!(field["error_max_m"].as_f64().unwrap() <= 0.002, "{field}");
    let said = bad(folder, &["cook", "torus", "-o", "fine.vxs", "--error", "1e-7", "--memory", "0.02"], 1);
    assert!(said.contains("at most 0.0000001 m (") && said.contains("m was reached with voxels of"), "{said}");
    assert!(said.contains("the limit is 21474836 bytes"), "{said}");
    assert_eq!(files(folder), ["ring.vxs"]);
}

#[test]
fn errors_name_the_argument_the_value_and_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (arguments, code, expected) in [
        (&["cook", "torus", "--error", "0"][..], 1, "target_error is 0; expected a positive, finite length in metres"),
        (&["cook", "torus", "--voxel-size", "inf"], 1, "voxel_size is inf; expected a positive"),
        (&["cook", "torus", "--cells", "0"], 1, "resolution is 0; expected at least 1 cell"),
        (&["cook", "torus", "--extent=-1"], 1, "--extent is -1; expected a positive"),
        (&["cook", "torus", "--memory", "0"], 1, "--memory is 0; expected a positive number of GiB"),
        (&["cook", "random:x"], 1, "MESH is random:x; expected random: and a whole number"),
        (&["cook", "tours"], 1, "MESH is tours; expected a mesh file (.obj, .stl, .ply), random:SEED or one of box"),
        (&["cook", "torus.xyz"], 1, "torus.xyz"),
        (
            &["cook", "torus", "--error", "1", "--cells", "9"],
            2,
            "'--error <METRES>' cannot be used with '--cells <NUMBER>'",
        ),
        (&["cook", "torus", "--field", "sparse"], 2, "possible values: dense, bricks"),
        (&["cook"], 2, "<MESH>..."),
        (
            &["cook", "torus", "-o", "no/such/folder/ring.vxs", "--cells", "8"],
            1,
            "no/such/folder/ring.vxs: No such file",
        ),
        (&["info", "no.vxs"], 1, "no.vxs: No such file"),
        (&["render", "torus", "--size", "7"], 1, "--size is 7; expected 16 to 8192 pixels"),
    ] {
        let said = bad(folder, arguments, code);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert!(files(folder).is_empty());
}

#[test]
fn info_tells_people_and_programs_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["cook", "box", "-o", "box.vxs", "--cells", "40", "--field", "bricks"]);
    let shape = Shape::load(&folder.join("box.vxs")).unwrap();
    let (known, shell) = (shape.field.as_ref().unwrap().gridded().unwrap(), shape.shell.as_ref().unwrap());
    let value = json(folder, "box.vxs");
    let number =
        |path: &str| value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {value}"));
    assert_eq!(value["kind"], "asset");
    assert_eq!(value["field"]["storage"], "bricks");
    assert_eq!(number("/field/nodes/1"), f64::from(known.grid.dims[1]));
    assert_eq!(number("/field/voxel_size_m"), f64::from(0.025f32));
    assert_eq!(number("/field/error_max_m"), known.error.max);
    assert_eq!(number("/pointshell/samples"), shell.len() as f64);
    assert_eq!(number("/mesh/volume_m3"), 1.0);
    assert_eq!(number("/mesh/triangles"), 12.0);
    assert!((number("/mass/inertia_per_mass_m2/0") - 1.0 / 6.0).abs() < 1e-12 && value["mass"]["exact"] == true);
    assert!(number("/bounds/max_m/2") >= 0.5 && number("/bounds/min_m/0") <= -0.5);
    assert_eq!(number("/file_bytes"), std::fs::metadata(folder.join("box.vxs")).unwrap().len() as f64);
    let words = good(folder, &["info", "box.vxs"]);
    for part in
        ["12 triangles", "voxel 25.000 mm", "in bricks", &format!("{} samples", shell.len()), "volume 1.000000 m3"]
    {
        assert!(words.contains(part), "{part} is not in\n{words}");
    }

    std::fs::write(folder.join("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let open = json(folder, "open.obj");
    assert!(open["kind"] == "mesh" && open["mesh"]["closed"] == false && open["mass"].is_null(), "{open}");
    assert_eq!(open["mesh"]["boundary_edges"], 3);
    assert!(good(folder, &["info", "open.obj"]).contains("1 triangles"));
}

#[test]
fn a_mesh_is_written_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["mesh", "random:12", "-o", "twelve.obj"]);
    let corners = |mesh: TriMesh| (0..mesh.triangles.len()).map(|t| mesh.corners(t)).collect::<Vec<_>>();
    let written = io::load(&folder.join("twelve.obj")).unwrap();
    assert!(corners(written) == corners(Primitive::random(12).mesh().unwrap()), "not a digit is lost");
    good(folder, &["mesh", "twelve.obj", "-o", "large.obj", "--extent", "7"]);
    let extent = io::load(&folder.join("large.obj")).unwrap().bounds().extents().max();
    assert!((extent - 7.0).abs() < 1e-12, "{extent}");
}

#[test]
fn the_unit_of_a_mesh_is_scaled_to_metres() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    good(folder, &["mesh", "box", "-o", "box.obj", "--extent", "80"]);
    let note = "the body is 80.0000 m large; if its numbers are mm, it is 0.0800 m large (--unit mm)";
    assert!(good(folder, &["info", "box.obj"]).contains(note));
    assert_eq!(json(folder, "box.obj")["probable_size_m"], 0.08);
    for (unit, metres) in [("mm", 0.08), ("inch", 2.032), ("in", 2.032), ("foot", 24.384), ("um", 8e-5)] {
        let size = |text: &str| text.contains("note");
        assert_eq!(size(&good(folder, &["info", "box.obj", "--unit", unit])), unit == "um", "{unit}");
        good(folder, &["mesh", "box.obj", "-o", "scaled.obj", "--unit", unit]);
        let extent = io::load(&folder.join("scaled.obj")).unwrap().bounds().extents().max();
        assert!((extent / metres - 1.0).abs() < 1e-12, "{unit}: {extent} m");
        good(folder, &["cook", "box.obj", "--unit", unit, "--cells", "16", "--samples", "100", "-o", "box.vxs"]);
        let extent = Shape::load(&folder.join("box.vxs")).unwrap().mesh.unwrap().bounds().extents().max();
        assert!((extent / metres - 1.0).abs() < 1e-12, "{unit}: {extent} m");
    }
    bad(folder, &["cook", "box.obj", "--unit", "mile"], 2);
    bad(folder, &["cook", "box.obj", "--unit", "mm", "--extent", "1"], 2);
}

/// Names that are not UTF-8: Unix file systems allow them.
#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_not_utf8_are_read_and_written() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let named = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let run = |arguments: &[&OsStr]| {
        let output = voxshell(folder, &[]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", err(&output));
        out(&output)
    };
    let words = |text: &'static str| text.split(' ').map(OsStr::new).collect::<Vec<_>>();
    let with = |before: &'static str, name: &'static [u8], after: &'static str| {
        let mut all = words(before);
        all.push(named(name));
        all.extend(words(after).into_iter().filter(|w| !w.is_empty()));
        run(&all)
    };
    with("mesh box -o", b"b\xf6x.obj", "");
    with("mesh box -o", b"b\xf7x.obj", "");
    assert!(with("info", b"b\xf6x.obj", "").contains("12 triangles"));
    let value: Value = serde_json::from_str(&with("info --json", b"b\xf6x.obj", "")).unwrap();
    assert_eq!(value["source"], "b\u{fffd}x.obj");
    with("cook box --cells 12 -o", b"\xff.vxs", "");
    assert!(with("info", b"\xff.vxs", "").contains("12 triangles"));
    // One asset each, whose name has the same bytes as the mesh's.
    run(&[&words("cook --cells 12")[..], &[named(b"b\xf6x.obj"), named(b"b\xf7x.obj")], &words("-o assets")[..]]
        .concat());
    let mut assets: Vec<OsString> =
        std::fs::read_dir(folder.join("assets")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assets.sort();
    assert_eq!(assets, [named(b"b\xf6x.vxs"), named(b"b\xf7x.vxs")]);
    run(&[&words("cook --cells 12 box -o")[..], &[named(b"f\xe9/")]].concat());
    assert!(folder.join(named(b"f\xe9")).join("box.vxs").exists());
    assert!(with("query --cells 12", b"b\xf6x.obj", "box --json").contains("separation_m"));
    let at = "--cells 12 --from -2 0 0 --to 2 0 0";
    assert!(with("query segment", b"b\xf6x.obj", at).contains("1 of 1 segments"));
    std::fs::write(folder.join(named(b"rays\xfe")), "-2 0 0 2 0 0\n").unwrap();
    assert!(with("query segment --cells 12 box --file", b"rays\xfe", "").contains("1 of 1 segments"));
    with("render --cells 12 --size 16 -o", b"\xfe.png", "box");
    with("render --cells 12 --size 16 -o two.png", b"b\xf6x.obj", "");
    assert!(folder.join(named(b"\xfe.png")).exists());
    let output = voxshell(folder, &["info"]).arg(named(b"no\xf6.obj")).output().unwrap();
    assert!(err(&output).contains("no\u{fffd}.obj: No such file"), "{}", err(&output));
    let output = voxshell(folder, &["info"]).arg(named(b"no\xf6")).output().unwrap();
    assert!(err(&output).contains("MESH is no\u{fffd}; expected a mesh file"), "{}", err(&output));
}

/// Returns a box of edge `size` metres, as OBJ.
fn box_of(size: f64) -> TriMesh {
    Primitive::by_name("box").unwrap().mesh().unwrap().scaled(size)
}

#[test]
fn meshes_too_small_to_cook_are_measured_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    io::write_obj(&folder.join("tiny.obj"), &box_of(1e-150)).unwrap();
    let value = json(folder, "tiny.obj");
    assert_eq!(value["mesh"]["degenerate_triangles"], 0);
    assert_eq!(value["mesh"]["closed"], true);
    let area = value["mesh"]["area_m2"].as_f64().unwrap();
    assert!((area / 6e-300 - 1.0).abs() < 1e-12, "{area}");
    let words = good(folder, &["info", "tiny.obj"]);
    assert!(words.contains("1.000e-150 x 1.000e-150 x 1.000e-150 m"), "{words}");
    assert!(words.contains("area 6.000000e-300 m²") && words.contains("found: nothing wrong"), "{words}");
    for arguments in [
        &["cook", "tiny.obj"][..],
        &["cook", "tiny.obj", "--field", "bricks"],
        &["cook", "tiny.obj", "--voxel-size", "1e-152"],
        &["cook", "tiny.obj", "--error", "1e-152"],
        &["query", "tiny.obj", "box", "--cells", "12"],
        &["query", "segment", "tiny.obj", "--from", "-1", "0", "0", "--to", "1", "0", "0"],
        &["render", "tiny.obj"],
    ] {
        let said = bad(folder, arguments, 1);
        assert!(said.contains("it is 1e-150 m large; expected an extent of at least 1e-18 m"), "{arguments:?}: {said}");
    }
    good(folder, &["mesh", "tiny.obj", "-o", "same.obj"]);
    assert_eq!(io::load(&folder.join("same.obj")).unwrap(), io::load(&folder.join("tiny.obj")).unwrap());
    // Down to the smallest numbers of f64.
    io::write_obj(&folder.join("tiniest.obj"), &box_of(4e-320)).unwrap();
    for source in ["tiny.obj", "tiniest.obj"] {
        good(folder, &["mesh", source, "-o", "large.obj", "--extent", "1"]);
        let extents = io::load(&folder.join("large.obj")).unwrap().bounds().extents();
        assert!(extents.iter().all(|e| (e - 1.0).abs() < 1e-3), "{source}: {extents}");
    }
}

#[test]
fn info_counts_duplicate_triangles_alike_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut mesh = Primitive::by_name("sphere").unwrap().mesh().unwrap();
    let count = mesh.triangles.len();
    // The closed surface stays oriented if all its triangles are doubled.
    mesh.triangles.extend(mesh.triangles.clone());
    io::write_obj(&folder.join("twice.obj"), &mesh).unwrap();
    good(folder, &["cook", "twice.obj", "-o", "twice.vxs", "--cells", "16"]);
    for source in ["twice.obj", "twice.vxs"] {
        assert_eq!(json(folder, source)["mesh"]["duplicate_triangles"], count);
        let words = good(folder, &["info", source]);
        assert!(words.contains(&format!("found: {count} duplicate triangles")), "{words}");
    }
    let shape = Shape::load(&folder.join("twice.vxs")).unwrap();
    assert_eq!(shape.sign_report().unwrap().duplicate_triangles, count as u64);
}

#[cfg(target_os = "linux")]
mod signals {
    use super::*;

    fn send(child: &Child, signal: &str) {
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    }

    /// Returns what the threads of a process are doing: state, and ticks in user and system mode.
    fn threads(child: &Child) -> String {
        let folder = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let stat = |path: &Path| std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let of_thread = |line: String| {
            let fields: Vec<&str> = line.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            [0, 11, 12].map(|i| *fields.get(i).unwrap_or(&"?")).join(" ")
        };
        folder.map(|entry| of_thread(stat(&entry.unwrap().path()))).collect::<Vec<_>>().join("; ")
    }

    /// Waits for the end of a process that was sent a signal; returns its exit and standard error.
    fn end(mut child: Child) -> (Option<i32>, String) {
        let asked = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(asked.elapsed() < Duration::from_secs(60), "it goes on: {}", threads(&child));
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        (output.status.code(), err(&output))
    }

    /// Options of a cooking that outlasts the test on any machine.
    const LONG: [&str; 4] = ["--cells", "1500", "--memory", "100"];

    fn spawn(folder: &Path, arguments: &[&str]) -> Child {
        let mut command = voxshell(folder, arguments);
        command.args(LONG).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until the process handles the signals: they are then in its mask of caught signals.
    fn wait_for_handlers(child: &Child) {
        let path = format!("/proc/{}/status", child.id());
        let caught = || {
            let status = std::fs::read_to_string(&path).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            u64::from_str_radix(mask, 16).unwrap()
        };
        let (interrupt, terminate) = (1 << (2 - 1), 1 << (15 - 1));
        while caught() & interrupt == 0 || caught() & terminate == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn ctrl_c_while_cooking_leaves_nothing_behind() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            for wait in [0, 300] {
                let folder = tempfile::tempdir().unwrap();
                let child = spawn(folder.path(), &["cook", "torus-knot", "-o", "knot.vxs", "--field", "bricks"]);
                wait_for_handlers(&child);
                std::thread::sleep(Duration::from_millis(wait));
                send(&child, signal);
                let (ended, said) = end(child);
                assert_eq!(ended, Some(code), "{said}");
                assert!(said.contains("stopped"), "{said}");
                assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
            }
        }
    }

    #[test]
    fn ctrl_c_keeps_the_assets_that_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        std::fs::write(folder.path().join("flat.obj"), triangle).unwrap();
        // This mesh is larger than one cell of the next; it is cooked at once.
        good(folder.path(), &["cook", "torus", "-o", "assets/", "--cells", "16"]);
        let before = std::fs::read(folder.path().join("assets/torus.vxs")).unwrap();
        let mut child = spawn(folder.path(), &["cook", "flat.obj", "torus", "sphere", "-o", "assets"]);
        // The first mesh, which has no inside, has failed; the second is being cooked.
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with("flat.obj"), "{line}");
        send(&child, "-INT");
        let (ended, said) = end(child);
        assert_eq!(ended, Some(130), "{said}");
        assert_eq!(files(&folder.path().join("assets")), ["torus.vxs"]);
        assert!(std::fs::read(folder.path().join("assets/torus.vxs")).unwrap() == before, "the old file stays");
    }
}

/// The scripts of docs/farm on a few meshes must all give the same assets. `tests/farm/run` has more meshes, and Ray.
#[cfg(target_os = "linux")]
#[test]
fn the_farm_scripts_cook_the_same_assets() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/farm/run");
    let output = Command::new(script)
        .args(["--meshes", "9", "--", "--cells", "16"])
        .env("VOXSHELL", env!("CARGO_BIN_EXE_voxshell"))
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    assert!(out(&output).ends_with("all assets are the same, byte for byte\n"), "{}", out(&output));
}
