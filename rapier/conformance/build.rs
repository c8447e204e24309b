//! Compiles the scenes of the conformance suite, which call the world in Rust.

use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cpp"));
    files.sort();
    files
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suite = root.join("tests/conformance");
    for watched in [&suite, &root.join("cpp/host"), &root.join("include")] {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let shared = ["main", "scenes", "run", "bodies", "report", "hosts/rapier"].map(|name| suite.join(name));
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include(root.join("include"))
        .include(root.join("cpp/host/include"))
        .files(shared.map(|file| file.with_extension("cpp")))
        .files(sources(&root.join("cpp/host/src")))
        .compile("conformance_scenes");
}
