//! The asset file: written files are read back, damaged files are refused with a reason, and no file is half written.

use std::path::Path;

use support::container::{file, sections, Section};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage, Store};
use voxshell::field::{Field, SignedDistance, Sphere};
use voxshell::math::Progress;
use voxshell::mesh::{primitives, MassProperties};
use voxshell::Error;

fn cook(cells: u32) -> Shape {
    cook_as(Storage::Dense, cells)
}

fn cook_as(storage: Storage, cells: u32) -> Shape {
    let options = CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() };
    let mesh = primitives::torus_knot(2, 3, 0.3, 0.08, 96, 12).unwrap();
    Shape::cook(&mesh, &options, &Progress::none()).unwrap()
}

fn bytes_of(shape: &Shape) -> Vec<u8> {
    bytes_as(shape, Store::default())
}

fn bytes_as(shape: &Shape, store: Store) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    shape.save_as(&path, store).unwrap();
    std::fs::read(&path).unwrap()
}

fn load_bytes(folder: &Path, bytes: &[u8]) -> Result<Shape, Error> {
    let path = folder.join("damaged.vxs");
    std::fs::write(&path, bytes).unwrap();
    Shape::load(&path)
}

fn refusal(result: Result<Shape, Error>) -> String {
    match result {
        Err(Error::InvalidFile { reason, .. }) => reason,
        Err(other) => panic!("refused with the wrong error: {other}"),
        Ok(_) => panic!("a damaged file was accepted"),
    }
}

#[test]
fn saved_shapes_are_loaded_unchanged() {
    let shape = cook(32);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    shape.save(&path).unwrap();
    let loaded = Shape::load(&path).unwrap();
    assert_eq!(loaded.mesh, shape.mesh);
    assert_eq!(loaded.field, shape.field);
    assert_eq!(loaded.shell, shape.shell);
    assert_eq!(loaded.mass, shape.mass);
    assert_eq!(loaded.report, shape.report);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["shape.vxs"], "no temporary file is left");
}

#[test]
fn a_shape_with_one_form_only_is_saved_and_loaded() {
    for forms in [Forms { field: true, shell: false }, Forms { field: false, shell: true }] {
        let options = CookOptions { forms, resolution: Resolution::Cells(24), ..CookOptions::default() };
        let shape = Shape::cook(&primitives::cuboid([0.5; 3]).unwrap(), &options, &Progress::none()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let loaded = load_bytes(folder.path(), &bytes_of(&shape)).unwrap();
        assert_eq!((loaded.field.is_some(), loaded.shell.is_some()), (forms.field, forms.shell));
    }
}

#[test]
fn a_brick_field_survives_a_file_smaller_than_its_samples() {
    // Large enough for several blocks of samples.
    let shape = cook_as(Storage::Bricks, 200);
    let (field, Some(Field::Bricks(bricks))) = (&shape.field, shape.field.as_deref()) else { panic!("no bricks") };
    assert!(bricks.parts().samples.len() > 1 << 20, "{}", bricks.parts().samples.len());
    let bytes = bytes_of(&shape);
    let folder = tempfile::tempdir().unwrap();
    let loaded = load_bytes(folder.path(), &bytes).unwrap();
    assert_eq!(&loaded.field, field);
    assert_eq!(loaded.sign_report(), shape.sign_report());
    let mut alone = shape.clone();
    alone.shell = None;
    alone.mesh = None;
    let packed = bytes_of(&alone).len() as u64;
    assert!(packed < bricks.bytes() * 3 / 4, "{packed} of {}", bricks.bytes());
}

#[test]
fn a_truncated_file_is_refused_at_every_length() {
    truncated(&bytes_of(&cook(16)));
    truncated(&bytes_of(&cook_as(Storage::Bricks, 16)));
    truncated(&bytes_as(&cook_as(Storage::Bricks, 16), Store::Raw));
}

fn truncated(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let lengths = (0..256.min(bytes.len())).chain((256..bytes.len()).step_by(997));
    for length in lengths {
        let reason = refusal(load_bytes(folder.path(), &bytes[..length]));
        assert!(reason.contains("truncated"), "{length} bytes: {reason}");
    }
}

#[test]
fn every_damaged_byte_is_noticed() {
    damaged(&bytes_of(&cook(16)));
    damaged(&bytes_of(&cook_as(Storage::Bricks, 16)));
    damaged(&bytes_as(&cook_as(Storage::Bricks, 16), Store::Raw));
}

fn damaged(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    for at in (0..256.min(bytes.len())).chain((256..bytes.len()).step_by(499)) {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 0x10;
        let reason = refusal(load_bytes(folder.path(), &damaged));
        let known = ["magic", "version", "sections", "truncated", "appended", "checksum", "written before"];
        assert!(known.iter().any(|k| reason.contains(k)), "byte {at}: {reason}");
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let reason = refusal(load_bytes(folder.path(), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"));
    assert!(reason.contains("magic VOXSHELL"), "{reason}");
    let missing = Shape::load(&folder.path().join("missing.vxs"));
    assert!(matches!(missing, Err(Error::Io { .. })), "a missing file is an I/O error");
}

/// Sections with correct checksums and wrong contents: the reader validates the contents too.
#[test]
fn contents_are_checked_behind_the_checksum() {
    let shape = cook(16);
    let bytes = bytes_of(&shape);
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let table_end = 24 + 24 * count;
    let shell_entry = (0..count).map(|i| 24 + 24 * i).find(|&e| &bytes[e..e + 4] == b"SHEL").unwrap();
    let at = |b: &[u8], i: usize| u64::from_le_bytes(b[i..i + 8].try_into().unwrap()) as usize;
    let (offset, length) = (at(&bytes, shell_entry + 8), at(&bytes, shell_entry + 16));
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for step in 0..200 {
        let mut damaged = bytes.clone();
        // The second half of the section is the tree: radii, indices, counts.
        let target = offset + length / 2 + step * (length / 2 - 1) / 200;
        damaged[target] ^= 0x7f;
        let crc = crc32fast::hash(&damaged[offset..offset + length]).to_le_bytes();
        damaged[shell_entry + 4..shell_entry + 8].copy_from_slice(&crc);
        let head = crc32fast::hash(&damaged[..table_end]).to_le_bytes();
        damaged[table_end..table_end + 4].copy_from_slice(&head);
        match load_bytes(folder.path(), &damaged) {
            Ok(_) => {} // A larger radius or another sample's bits still give a valid shell.
            Err(Error::InvalidFile { .. }) => refused += 1,
            Err(other) => panic!("byte {target}: {other}"),
        }
    }
    assert!(refused > 100, "only {refused} of 200 lies were noticed");
}

#[test]
fn an_exact_field_is_saved_with_its_mesh_and_checked_against_it() {
    let shape = cook_as(Storage::Exact, 32);
    let bytes = bytes_of(&shape);
    let folder = tempfile::tempdir().unwrap();
    let loaded = load_bytes(folder.path(), &bytes).unwrap();
    assert_eq!((&loaded.field, &loaded.mesh), (&shape.field, &shape.mesh));
    assert!(bytes_of(&loaded) == bytes);
    assert!(loaded.surface().unwrap().is_some());
    let own = sections(&bytes).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<Section>)| {
        let mut changed = own.clone();
        change(&mut changed);
        refusal(load_bytes(folder.path(), &file(&changed)))
    };
    let tagged = |tag: &[u8; 4]| own.iter().position(|s| s.0 == *tag).unwrap();
    let (grid, mesh) = (tagged(b"EXCT"), tagged(b"MESH"));
    assert!(refused(&|s| drop(s.remove(mesh))).contains("MESH"));
    assert!(refused(&|s| s.push((*b"FELD", own[grid].1.clone()))).contains("several fields"));
    // The mesh of another shape, and the grid of one with too little room around the mesh.
    let cuboid = primitives::cuboid([0.4, 0.3, 0.2]).unwrap();
    let options = CookOptions { resolution: Resolution::Cells(32), storage: Storage::Exact, ..CookOptions::default() };
    let other = sections(&bytes_of(&Shape::cook(&cuboid, &options, &Progress::none()).unwrap())).unwrap();
    let another = other.iter().find(|s| s.0 == *b"MESH").unwrap();
    assert!(refused(&|s| s[mesh] = another.clone()).contains("section EXCT: grid"));
    let narrow = sections(&bytes_of(&cook(32))).unwrap();
    let narrow = narrow.iter().find(|s| s.0 == *b"FELD").unwrap();
    assert!(refused(&|s| s[grid].1 = narrow.1.clone()).contains("6 cells"));
    // A shape whose mesh is not that of its field is not written.
    let foreign = Shape { mesh: Some(cuboid.into()), ..shape.clone() };
    assert!(matches!(foreign.to_bytes(), Err(Error::Unsupported(_))));
}

#[test]
fn bricks_are_checked_behind_the_checksum() {
    let shape = cook_as(Storage::Bricks, 40);
    let refused = |store, tag| lies(&bytes_as(&shape, store), tag);
    assert!(refused(Store::Compressed, b"BRIK") > 100);
    assert!(refused(Store::Compressed, b"PACK") > 20);
    assert!(refused(Store::Compressed, b"cert") > 5);
    // Any number is a valid sample, and any mask a valid mask.
    assert_eq!(refused(Store::Raw, b"SMPL"), 0);
    assert!((1..200).contains(&refused(Store::Raw, b"mask")));
}

/// Returns the number of refused files among those with one changed byte in a section.
fn lies(bytes: &[u8], tag: &[u8; 4]) -> usize {
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let table_end = 24 + 24 * count;
    let entry = (0..count).map(|i| 24 + 24 * i).find(|&e| &bytes[e..e + 4] == tag).unwrap();
    let at = |b: &[u8], i: usize| u64::from_le_bytes(b[i..i + 8].try_into().unwrap()) as usize;
    let (offset, length) = (at(bytes, entry + 8), at(bytes, entry + 16));
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    // All of the beginning, then every n-th byte.
    for target in (0..length.min(400)).chain((400..length).step_by(length / 200 + 1)) {
        let mut damaged = bytes.to_vec();
        damaged[offset + target] ^= 0x5a;
        let crc = crc32fast::hash(&damaged[offset..offset + length]).to_le_bytes();
        damaged[entry + 4..entry + 8].copy_from_slice(&crc);
        let crc = crc32fast::hash(&damaged[..table_end]).to_le_bytes();
        damaged[table_end..table_end + 4].copy_from_slice(&crc);
        match load_bytes(folder.path(), &damaged) {
            // Other samples, or another position of a brick, still give a valid field, which can be evaluated anywhere.
            Ok(shape) => {
                let field = shape.field.unwrap();
                for n in 0..64u32 {
                    let p = [n & 3, n >> 2 & 3, n >> 4].map(|i| i as f32 * 0.4 - 0.6);
                    let _ = (field.distance_gradient(p), field.lower_bound(p, 0.1));
                }
            }
            Err(Error::InvalidFile { .. }) => refused += 1,
            Err(other) => panic!("byte {target}: {other}"),
        }
    }
    refused
}

#[test]
fn the_same_input_gives_the_same_bytes_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bricks = cook_as(Storage::Bricks, 40);
            let exact = cook_as(Storage::Exact, 40);
            [bytes_of(&cook(40)), bytes_of(&bricks), bytes_as(&bricks, Store::Raw), bytes_of(&exact)]
        })
    };
    let one = on(1);
    assert_eq!(one, on(2), "2 threads");
    assert_eq!(one, on(7), "7 threads");
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    cook(16).save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let analytic = Shape::from_field(Field::Sphere(Sphere::new(1.0).unwrap()));
    assert!(matches!(analytic.save(&path), Err(Error::Unsupported(_))));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(matches!(cook(16).save(&folder.path().join("no/such/folder.vxs")), Err(Error::Io { .. })));
}

#[test]
fn shapes_that_could_not_be_loaded_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    let shape = cook(16);
    let mass = shape.mass.unwrap();
    let mut turned = mass;
    turned.inertia = [1.0, 1.0, 1.0, 2.0, 0.0, 0.0];
    let unsound = [
        ("inertia", MassProperties { inertia: [-1.0, 1.0, 1.0, 0.0, 0.0, 0.0], ..mass }),
        ("triangle inequality", MassProperties { inertia: [1.0, 1.0, 2.1, 0.0, 0.0, 0.0], ..mass }),
        ("not definite", turned),
        ("volume", MassProperties { volume: -0.1, ..mass }),
        ("center", MassProperties { center_of_mass: [0.0, f64::NAN, 0.0], ..mass }),
    ];
    let mut shapes: Vec<(&str, &str, Shape)> =
        unsound.into_iter().map(|(name, mass)| (name, "META", Shape { mass: Some(mass), ..shape.clone() })).collect();
    let mut mesh = shape.mesh.as_deref().unwrap().clone();
    mesh.triangles[7][1] = 1 << 20;
    shapes.push(("index", "MESH", Shape { mesh: Some(mesh.into()), ..shape.clone() }));
    let mut shell = shape.shell.as_deref().unwrap().clone();
    shell.tree.radius[0] *= 0.5;
    shapes.push(("shell", "SHEL", Shape { shell: Some(shell.into()), ..shape.clone() }));
    for (name, section, shape) in shapes {
        for result in [shape.save(&path), shape.save_as(&path, Store::Raw), shape.to_bytes().map(drop)] {
            let Err(Error::Unsupported(reason)) = result else { panic!("{name}: written") };
            assert!(reason.contains(section), "{name}: {reason}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn raw_samples_give_the_same_answers_whatever_becomes_of_the_file() {
    let shape = cook_as(Storage::Bricks, 60);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shape.vxs");
    shape.save_as(&path, Store::Raw).unwrap();
    let loaded = Shape::load(&path).unwrap();
    assert_eq!(loaded.field, shape.field);
    assert_eq!(loaded.shell, shape.shell);
    // Saving the loaded shape gives the same file; saving it compressed gives the file of a freshly cooked shape.
    assert_eq!(bytes_as(&loaded, Store::Raw), std::fs::read(&path).unwrap());
    assert_eq!(bytes_of(&loaded), bytes_of(&shape));
    // A shape stays valid when its file is overwritten in place, shortened, replaced or removed.
    std::fs::write(&path, vec![0xff; 1000]).unwrap();
    assert_eq!(loaded.field, shape.field);
    std::fs::File::create(&path).unwrap();
    assert_eq!(loaded.field, shape.field);
    shape.save_as(&path, Store::Compressed).unwrap();
    assert_eq!(loaded.field, shape.field);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(loaded.field, shape.field);
    let larger = loaded.scaled(2.0).unwrap();
    drop(loaded);
    assert_eq!(larger.field.unwrap().distance([0.1, 0.2, 0.3]), 2.0 * shape.field.unwrap().distance([0.05, 0.1, 0.15]));
}

#[test]
fn bytes_in_memory_are_those_of_a_file() {
    for storage in [Storage::Dense, Storage::Bricks] {
        let shape = cook_as(storage, 30);
        let bytes = shape.to_bytes().unwrap();
        assert_eq!(bytes, bytes_of(&shape));
        for bytes in [bytes, bytes_as(&shape, Store::Raw)] {
            // At any address: samples need not be at an even address.
            for shift in 0..2 {
                let moved = [&vec![0; shift], bytes.as_slice()].concat();
                let again = Shape::from_bytes(&moved[shift..]).unwrap();
                assert!(again.field == shape.field && again.shell == shape.shell && again.mesh == shape.mesh);
            }
            assert!(refusal(Shape::from_bytes(&bytes[1..])).contains("magic"));
        }
    }
}

/// Constants and masks are optional; without them the reader computes them from the samples.
#[test]
fn values_derived_from_the_samples_are_optional_in_the_file() {
    let shape = cook_as(Storage::Bricks, 40);
    let mut sections = support::container::sections(&bytes_as(&shape, Store::Raw)).unwrap();
    let count = sections.len();
    sections.retain(|(tag, _)| tag != b"cert" && tag != b"mask");
    assert_eq!(sections.len(), count - 2);
    let loaded = Shape::from_bytes(&support::container::file(&sections)).unwrap();
    assert_eq!(loaded.field, shape.field);
}
