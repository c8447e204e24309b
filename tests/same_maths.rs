//! Keeps the mathematics of the platform's C library out of `src/`: its last bits differ from platform to platform.
//! `docs/determinism.md` gives the rule, and `src/base/math/rotation.rs` the replacements.

use std::path::Path;

/// Methods of numbers and of nalgebra that call the C library.
const METHODS: [&str; 32] = [
    "sin_cos",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log",
    "log2",
    "log10",
    "powf",
    "cbrt",
    "hypot",
    "scaled_axis",
    "from_scaled_axis",
    "from_axis_angle",
    "from_euler_angles",
    "euler_angles",
    "slerp",
    "rotation_between",
];

const TYPES: [&str; 5] = ["f64", "f32", "Rotation", "UnitQuaternion", "Rotation3"];

/// Returns the calls to look for, as they stand in the code.
fn patterns() -> Vec<String> {
    let of = |name: &str| {
        let paths = TYPES.iter().map(|kind| format!("{kind}::{name}"));
        paths.chain([format!(".{name}(")]).collect::<Vec<_>>()
    };
    METHODS.iter().flat_map(|name| of(name)).collect()
}

/// Returns the lines that call one of the methods, without comments and test modules, which end a file.
fn calls(text: &str, patterns: &[String]) -> Vec<String> {
    let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    let code = code.filter(|line| !line.trim_start().starts_with("//"));
    code.filter(|line| patterns.iter().any(|pattern| line.contains(pattern))).map(str::to_string).collect()
}

fn visit(folder: &Path, patterns: &[String], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, patterns, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(calls(&text, patterns).into_iter().map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
}

/// Methods of intervals have these names too; they call `libm`.
const INTERVALS: [&str; 1] = ["src/ccd/mesh_motion.rs"];

#[test]
fn no_code_calls_the_mathematics_of_the_platform() {
    let mut found = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &patterns(), &mut found);
    found.retain(|line| !INTERVALS.iter().any(|file| line.contains(file)));
    assert!(found.is_empty(), "take these from libm or from math/rotation.rs:\n{}", found.join("\n"));
}

#[test]
fn calls_are_found_outside_tests_and_comments() {
    let text = "let x = y.sin();\n// y.cos()\nlet r = Rotation::from_scaled_axis(v);\n#[cfg(test)]\nlet z = y.tan();";
    assert_eq!(calls(text, &patterns()), ["let x = y.sin();", "let r = Rotation::from_scaled_axis(v);"]);
    assert!(calls("libm::sin(x); x.sine(); from_scaled_axis(v)", &patterns()).is_empty());
}
