//! Files of every version ever written must be readable and give the answers of the library that wrote them.
//!
//! `tests/golden/asset_vN.vxs` was written by the first library with version N, and `asset_vN.txt` holds its answers,
//! bit-identical. `VOXSHELL_UPDATE_GOLDEN=1` writes missing answers of a file, and the file of the present version if
//! it is missing.

use std::fmt::Write;
use std::path::PathBuf;

use support::container::{file, sections};
use voxshell::asset::Shape;
use voxshell::field::{Field, SignedDistance};
use voxshell::Error;

/// The version that is written now.
const PRESENT: u8 = 3;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn bits(values: impl IntoIterator<Item = f32>) -> String {
    values.into_iter().map(|v| format!(" {:08x}", v.to_bits())).collect()
}

/// Returns the answers of a shape: its measures, its samples, and φ with its gradient at points of the field. Bounds on
/// φ are left out, because loading recomputes them and they may become sharper.
fn answers(shape: &Shape) -> String {
    let mut text = String::new();
    let field = shape.field.as_deref().expect("a field");
    let gridded = field.gridded().expect("a grid");
    let kind = if matches!(field, Field::Bricks(_)) { "bricks" } else { "full grid" };
    writeln!(text, "{kind} {:?}, sign by {}, {:?}", gridded.grid, gridded.sign.rule, gridded.error).unwrap();
    writeln!(text, "mesh {:?}", shape.mesh.as_ref().map(|m| (m.vertices.len(), m.triangles.len()))).unwrap();
    writeln!(text, "mass {:?}", shape.mass).unwrap();
    writeln!(text, "bounds {:?}", shape.bounds()).unwrap();
    let closed = shape.report.as_ref().map(|r| (r.closed, r.area));
    writeln!(text, "report {closed:?}").unwrap();
    let shell = shape.shell.as_deref().expect("a pointshell");
    for n in 0..shell.len() {
        writeln!(text, "sample {:?} {:?}", shell.point(n), shell.normal(n)).unwrap();
    }
    for n in 0..125 {
        // From the middle to beyond the grid, not at nodes.
        let p = [n % 5, n / 5 % 5, n / 25].map(|i| (i as f32 - 2.0) * 0.37 + 0.013);
        let (phi, gradient) = field.distance_gradient(p);
        writeln!(text, "at {p:?}:{}", bits([phi].into_iter().chain(gradient))).unwrap();
    }
    text
}

fn gives_the_answers_of_its_time(version: u8) {
    let name = format!("asset_v{version}");
    let file = golden(&format!("{name}.vxs"));
    let update = std::env::var_os("VOXSHELL_UPDATE_GOLDEN").is_some();
    if update && version == PRESENT && !file.exists() {
        Shape::load(&golden("asset_v2.vxs")).unwrap().save(&file).unwrap();
    }
    assert_eq!(std::fs::read(&file).unwrap()[8], version);
    let now = answers(&Shape::load(&file).unwrap());
    let path = golden(&format!("{name}.txt"));
    if update && !path.exists() {
        std::fs::write(&path, &now).unwrap();
    }
    let then = std::fs::read_to_string(&path).unwrap();
    for (now, then) in now.lines().zip(then.lines()) {
        assert_eq!(now, then, "{name}");
    }
    assert_eq!(now.lines().count(), then.lines().count());
}

#[test]
fn a_full_grid_of_version_1_is_read() {
    gives_the_answers_of_its_time(1);
}

#[test]
fn bricks_of_version_2_are_read() {
    gives_the_answers_of_its_time(2);
}

#[test]
fn bricks_of_version_3_are_read() {
    gives_the_answers_of_its_time(3);
}

fn load(bytes: &[u8]) -> Result<Shape, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    std::fs::write(&path, bytes).unwrap();
    match Shape::load(&path) {
        Ok(shape) => Ok(shape),
        Err(Error::InvalidFile { reason, .. }) => Err(reason),
        Err(other) => panic!("refused with the wrong error: {other}"),
    }
}

/// Returns the file that this library writes for the shape in a golden file.
fn written(version: u8) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    Shape::load(&golden(&format!("asset_v{version}.vxs"))).unwrap().save(&path).unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn the_layout_is_as_documented() {
    for version in 1..=PRESENT {
        let bytes = written(version);
        assert_eq!(file(PRESENT.into(), &sections(&bytes).unwrap()), bytes, "the shape of version {version}");
    }
}

#[test]
fn rewriting_an_old_file_keeps_its_content() {
    for version in 1..=PRESENT {
        let then = std::fs::read_to_string(golden(&format!("asset_v{version}.txt"))).unwrap();
        assert_eq!(answers(&load(&written(version)).unwrap()), then);
    }
}

#[test]
fn a_later_version_is_refused() {
    let reason = load(&file(4, &sections(&written(2)).unwrap())).err().unwrap();
    assert_eq!(reason, "format version 4; this library reads versions 1 to 3: a newer library wrote it");
    assert!(load(&file(0, &sections(&written(2)).unwrap())).err().unwrap().contains("version 0;"));
}

#[test]
fn an_unknown_section_is_passed_over_only_if_its_tag_says_so() {
    let mut parts = sections(&written(2)).unwrap();
    parts.insert(1, (*b"xtra", vec![1, 2, 3]));
    let then = std::fs::read_to_string(golden("asset_v2.txt")).unwrap();
    assert_eq!(answers(&load(&file(3, &parts)).unwrap()), then);
    parts[1].0 = *b"XTRA";
    let reason = load(&file(3, &parts)).err().unwrap();
    assert_eq!(reason, "section XTRA is of a kind that this library does not know");
}

#[test]
fn a_section_that_comes_twice_is_refused() {
    let mut parts = sections(&written(1)).unwrap();
    parts.push(parts[0].clone());
    assert!(load(&file(3, &parts)).err().unwrap().contains("section META"));
}

#[test]
fn nothing_is_hidden_between_sections() {
    let bytes = written(1);
    let end_of_table = 24 + 24 * sections(&bytes).unwrap().len() + 4;
    assert_ne!(end_of_table % 64, 0);
    let mut hiding = bytes.clone();
    hiding[end_of_table] = 1;
    assert!(load(&hiding).err().unwrap().contains("written before section META"));
}
