//! Builds the C++ half (CMakeLists.txt) and links it.

use std::path::Path;

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let out = std::env::var("OUT_DIR").expect("set by cargo");
    for watched in ["CMakeLists.txt", "scenes", "src/bridge.rs", "../cpp/bullet", "../include"] {
        println!("cargo:rerun-if-changed={folder}/{watched}");
    }

    // Writes the cxx glue. CMake compiles it with the scenes.
    let _ = cxx_build::bridge("src/bridge.rs");
    let built =
        cmake::Config::new(&folder).define("DEMO_CXXBRIDGE", format!("{out}/cxxbridge")).profile("Release").build();

    println!("cargo:rustc-link-search=native={}", built.join("lib").display());
    println!("cargo:rustc-link-lib=static=voxshell_demo_scenes");
    let list = built.join("build").join("linked.txt");
    let linked = std::fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
    for library in linked.lines().filter(|l| !l.is_empty()).map(Path::new) {
        let folder = library.parent().expect("CMake gives full paths");
        let name =
            library.file_stem().and_then(|s| s.to_str()).expect("a library has a name").trim_start_matches("lib");
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=dylib={name}");
    }
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
