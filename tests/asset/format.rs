//! The layout of the asset file. Golden files guard it: the library must read them, answer as before, and write the same bytes.
//!
//! `tests/golden/asset_v1_KIND.vxs` holds a shape in version 1 of the format, and `asset_v1_KIND.txt` its answers, in which each
//! number is exact. `VOXSHELL_UPDATE_GOLDEN=1 cargo test --test asset golden` makes the files that are missing.

use std::fmt::Write;
use std::path::PathBuf;

use support::container::{file, sections};
use voxshell::asset::{CookOptions, Resolution, Shape, Storage, Store};
use voxshell::field::{Field, SignedDistance};
use voxshell::math::Progress;
use voxshell::mesh::primitives;
use voxshell::Error;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn bits(values: impl IntoIterator<Item = f32>) -> String {
    values.into_iter().map(|v| format!(" {:08x}", v.to_bits())).collect()
}

fn raw_file(shape: &Shape) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    shape.save_as(&path, Store::Raw).unwrap();
    std::fs::read(&path).unwrap()
}

/// All answers of a shape: measures, samples, φ with its gradient at points of the field, and the checksum of its raw file.
/// Bounds on φ are left out: a later library may compute sharper ones.
fn answers(shape: &Shape) -> String {
    let mut text = String::new();
    let field = shape.field.as_deref().expect("a field");
    let gridded = field.gridded().expect("a grid");
    let kind = match field {
        Field::Bricks(_) => "bricks",
        Field::Exact(_) => "exact",
        _ => "full grid",
    };
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
        // From the middle to beyond the grid, off the nodes.
        let p = [n % 5, n / 5 % 5, n / 25].map(|i| (i as f32 - 2.0) * 0.37 + 0.013);
        let (phi, gradient) = field.distance_gradient(p);
        writeln!(text, "at {p:?}:{}", bits([phi].into_iter().chain(gradient))).unwrap();
    }
    let raw = raw_file(shape);
    writeln!(text, "raw file: {} bytes, CRC-32 {:08x}", raw.len(), crc32fast::hash(&raw)).unwrap();
    text
}

/// Cooks the shape of a golden file anew. A later library may cook another shape: the tests do not compare the two.
fn cooked(storage: Storage) -> Shape {
    let (mesh, cells) = match storage {
        Storage::Automatic | Storage::Dense => (primitives::capsule(0.3, 0.2, 16).unwrap(), 8),
        Storage::Bricks => (primitives::cuboid([0.5; 3]).unwrap(), 32),
        Storage::Exact => (primitives::cone(0.4, 0.8, 12).unwrap(), 8),
    };
    let mut options = CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() };
    options.shell.target_count = Some(60);
    Shape::cook(&mesh, &options, &Progress::none()).unwrap()
}

fn golden_is_read_and_written_identically(name: &str, storage: Storage) {
    let (path, expected) = (golden(&format!("asset_v1_{name}.vxs")), golden(&format!("asset_v1_{name}.txt")));
    let update = std::env::var_os("VOXSHELL_UPDATE_GOLDEN").is_some();
    if update && !path.exists() {
        cooked(storage).save(&path).unwrap();
    }
    let shape = Shape::load(&path).unwrap();
    let now = answers(&shape);
    if update && !expected.exists() {
        std::fs::write(&expected, &now).unwrap();
    }
    let then = std::fs::read_to_string(&expected).unwrap();
    for (now, then) in now.lines().zip(then.lines()) {
        assert_eq!(now, then, "{name}");
    }
    assert_eq!(now.lines().count(), then.lines().count());
    let bytes = std::fs::read(&path).unwrap();
    assert!(shape.to_bytes().unwrap() == bytes, "the library writes other bytes than {}", path.display());
    assert_eq!(file(&sections(&bytes).unwrap()), bytes, "the layout is as documented");
}

#[test]
fn golden_full_grid_is_read_and_written_identically() {
    golden_is_read_and_written_identically("dense", Storage::Dense);
}

#[test]
fn golden_bricks_are_read_and_written_identically() {
    golden_is_read_and_written_identically("bricks", Storage::Bricks);
}

#[test]
fn golden_exact_field_is_read_and_written_identically() {
    golden_is_read_and_written_identically("exact", Storage::Exact);
}

fn load(bytes: &[u8]) -> Result<Shape, String> {
    match Shape::from_bytes(bytes) {
        Ok(shape) => Ok(shape),
        Err(Error::InvalidFile { reason, .. }) => Err(reason),
        Err(other) => panic!("refused with the wrong error: {other}"),
    }
}

fn golden_bytes(name: &str) -> Vec<u8> {
    std::fs::read(golden(&format!("asset_v1_{name}.vxs"))).unwrap()
}

#[test]
fn a_file_of_another_version_is_refused() {
    for version in [0, 2, 3, u32::MAX] {
        let mut bytes = golden_bytes("dense");
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let reason = load(&bytes).err().unwrap();
        assert_eq!(reason, format!("the file has format version {version}; this library reads version 1"));
    }
}

#[test]
fn an_unknown_section_is_skipped_only_if_its_tag_allows_it() {
    let mut parts = sections(&golden_bytes("bricks")).unwrap();
    parts.insert(1, (*b"xtra", vec![1, 2, 3]));
    let then = std::fs::read_to_string(golden("asset_v1_bricks.txt")).unwrap();
    assert_eq!(answers(&load(&file(&parts)).unwrap()), then);
    parts[1].0 = *b"XTRA";
    let reason = load(&file(&parts)).err().unwrap();
    assert_eq!(reason, "section XTRA is of a kind that this library does not know");
}

#[test]
fn a_section_that_comes_twice_is_refused() {
    let mut parts = sections(&golden_bytes("dense")).unwrap();
    parts.push(parts[0].clone());
    assert!(load(&file(&parts)).err().unwrap().contains("section META"));
}

#[test]
fn nothing_is_hidden_between_sections() {
    let bytes = golden_bytes("dense");
    let end_of_table = 24 + 24 * sections(&bytes).unwrap().len() + 4;
    assert_ne!(end_of_table % 64, 0);
    let mut hiding = bytes.clone();
    hiding[end_of_table] = 1;
    assert!(load(&hiding).err().unwrap().contains("written before section META"));
}
