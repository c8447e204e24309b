//! Compiles the calls of the C API for the target `calls`.

fn main() {
    for file in ["calls.c", "../tests/fuzz", "../tests/c/functions.h", "../include/voxshell"] {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new()
        .file("calls.c")
        .include("../include")
        .std("c11")
        .opt_level(2)
        .warnings(false)
        .compile("fuzz_calls");
}
