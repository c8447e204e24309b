//! Compiles C and C++ programs, and each header alone, with the compilers of the system: `tests/c/*.c` as C11,
//! `tests/cpp/*.cpp` as C++17, with all warnings as errors. Links them with the static library of this build and runs
//! them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

struct Language {
    compiler: &'static str,
    standard: &'static str,
    name: &'static str,
}

const C: Language = Language { compiler: "cc", standard: "-std=c11", name: "c" };
const CPP: Language = Language { compiler: "c++", standard: "-std=c++17", name: "c++" };

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

fn compiler(language: &Language) -> Command {
    let variable = if language.name == "c" { "CC" } else { "CXX" };
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| language.compiler.into()));
    command.args([language.standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.args(["-DVOXSHELL_ALLOCATION_COUNTER", "-DVOXSHELL_TEST_PANIC"]);
    command.arg("-I").arg(Path::new(ROOT).join("include"));
    command
}

/// Returns the static library that cargo builds from the same sources and in the same profile as this test, with the
/// additions for tests: the allocation counter, and defects on demand.
fn library() -> PathBuf {
    // <target>/<profile>/deps/<this test>
    let deps = std::env::current_exe().expect("a test has a path").parent().expect("deps").to_owned();
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["build", "--locked", "--lib", "--features", "allocation-counter test-panic", "--manifest-path"])
        .arg(Path::new(ROOT).join("Cargo.toml"));
    let profile = deps.parent().and_then(Path::file_name).expect("a profile").to_owned();
    if profile == "release" {
        command.arg("--release");
    }
    let target = deps.ancestors().nth(2).expect("a target directory").to_owned();
    run(command.arg("--target-dir").arg(&target));
    target.join(profile).join("libvoxshell.a")
}

fn compile_and_run_all(language: &Language, folder: &str, extension: &str) {
    let library = library();
    let work = tempfile::tempdir().expect("a temporary directory");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(Path::new(ROOT).join("tests").join(folder))
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    sources.sort();
    assert!(!sources.is_empty());
    for source in sources {
        let program = work.path().join(source.file_stem().expect("a name"));
        let mut command = compiler(language);
        if source.ends_with("no_exceptions.cpp") {
            command.args(["-fno-exceptions", "-fno-rtti"]);
        }
        command.arg(&source).arg(&library).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
        run(&mut command);
        run(Command::new(&program).current_dir(work.path()));
    }
}

/// Returns true without VOXSHELL_LONG: these tests build the library again, with its additions for tests, and ctest
/// runs the programs without these.
fn are_left_out() -> bool {
    if !support::long() {
        eprintln!("skipped: C and C++ programs under cargo run with VOXSHELL_LONG=1 only, as in tests/campaign");
    }
    !support::long()
}

#[test]
fn c_programs_build_without_warnings_and_pass() {
    if !are_left_out() {
        compile_and_run_all(&C, "c", "c");
    }
}

#[test]
fn cpp_programs_build_without_warnings_and_pass() {
    if !are_left_out() {
        compile_and_run_all(&CPP, "cpp", "cpp");
    }
}

#[test]
fn every_header_compiles_alone() {
    let alone = |language: &Language, header: &Path| {
        run(compiler(language).args(["-fsyntax-only", "-x", language.name]).arg(header));
    };
    let mut count = 0;
    for entry in std::fs::read_dir(Path::new(ROOT).join("include/voxshell")).expect("the folder exists") {
        let header = entry.expect("readable").path();
        if header.extension().is_some_and(|e| e == "h") {
            alone(&C, &header);
        }
        alone(&CPP, &header);
        count += 1;
    }
    assert!(count >= 2);
}
