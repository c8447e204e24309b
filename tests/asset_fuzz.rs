//! Untrusted assets: thousands of damaged files, most with lengths and checksums corrected, so that the damage reaches
//! the later checks. The reader must not panic, must use memory in proportion to the file, and must return only valid
//! shapes.

use std::path::{Path, PathBuf};

use support::allocation::{peak, Counting};
use support::container::{file, sections, Section};
use support::fuzz::{corpus, damage, mutate};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage, Store};
use voxshell::contact::{contacts, Query, Workspace};
use voxshell::field::{Field, SignedDistance};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Error;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that reading may hold: bytes for each byte of the file, and for any file. LZ4 expands one byte to up to 255;
/// the positions and masks of bricks take as much memory again as the samples.
const PER_BYTE: usize = 1000;
const ALWAYS: usize = 8 << 20;

fn save(shape: &Shape, store: Store, folder: &Path) -> Vec<u8> {
    let path = folder.join("saved.vxs");
    shape.save_as(&path, store).unwrap();
    std::fs::read(path).unwrap()
}

/// Returns the kept files, and one file of each kind that is written now.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = corpus("../golden");
    all.retain(|(path, _)| path.extension().is_some_and(|e| e == "vxs"));
    all.extend(corpus("asset"));
    let mut open = primitives::torus(0.4, 0.2, 12, 8).unwrap();
    open.triangles.truncate(180);
    let knot = primitives::torus_knot(2, 3, 0.3, 0.08, 30, 6).unwrap();
    let cuboid = primitives::cuboid([0.5, 0.3, 0.4]).unwrap();
    let both = Forms::BOTH;
    for (name, mesh, cells, storage, forms) in [
        ("dense", &cuboid, 8, Storage::Dense, both),
        ("open", &open, 10, Storage::Dense, Forms { shell: false, ..both }),
        ("shell", &cuboid, 8, Storage::Dense, Forms { field: false, ..both }),
        ("bricks", &knot, 40, Storage::Bricks, both),
        ("bricks_alone", &cuboid, 24, Storage::Bricks, Forms { shell: false, ..both }),
        ("bricks_open", &open, 20, Storage::Bricks, both),
        ("exact", &cuboid, 8, Storage::Exact, both),
    ] {
        let options = CookOptions { resolution: Resolution::Cells(cells), storage, forms, ..CookOptions::default() };
        let shape = Shape::cook(mesh, &options, &Progress::none()).unwrap();
        all.push((format!("{name}.vxs").into(), save(&shape, Store::Compressed, folder)));
        if storage == Storage::Bricks {
            let raw = save(&shape, Store::Raw, folder);
            // Also without the optional parts, so that reading checks or recomputes them.
            let bare =
                sections(&raw).map(|s| s.into_iter().filter(|(tag, _)| tag != b"cert" && tag != b"mask").collect());
            let bare: Vec<Section> = bare.expect("a whole file");
            all.push((format!("{name}_bare.vxs").into(), file(&bare)));
            all.push((format!("{name}_raw.vxs").into(), raw));
        }
    }
    all
}

/// Changes a file once: either its bytes, or a section with corrected checksums.
fn change(bytes: &mut Vec<u8>, others: &[&[u8]], rng: &mut Rng) {
    let Some(mut own) = sections(bytes) else { return mutate(bytes, others, rng) };
    if own.is_empty() || rng.next() % 10 == 0 {
        return mutate(bytes, others, rng);
    }
    let at = (rng.next() % own.len() as u64) as usize;
    let tag = own[at].0;
    let mut foreign: Vec<Vec<u8>> =
        others.iter().filter_map(|o| sections(o)).flatten().filter(|s| s.0 == tag).map(|s| s.1).collect();
    foreign.push(own[at].1.clone());
    match rng.next() % 24 {
        0 => drop(own.remove(at)),
        1 => own.push(own[at].clone()),
        2 => own[at].0 = own[(rng.next() % own.len() as u64) as usize].0,
        // A section of another file, so that forms do not belong together.
        3..=5 => own[at].1 = foreign[(rng.next() % foreign.len() as u64) as usize].clone(),
        _ => {
            let foreign: Vec<&[u8]> = foreign.iter().map(Vec::as_slice).collect();
            mutate(&mut own[at].1, &foreign, rng);
        }
    }
    *bytes = file(&own);
}

/// Checks that all queries of a shape give finite numbers, and that it is written and read back the same. `certified`:
/// the file contained certified constants, which the library trusts, so that a bound may be wrong.
fn is_sound(shape: &Shape, certified: bool, folder: &Path) {
    if let Some(mesh) = &shape.mesh {
        TriMesh::new(mesh.vertices.clone(), mesh.triangles.clone()).unwrap();
    }
    if let Some(mass) = shape.mass {
        assert!(mass.volume > 0.0 && mass.volume.is_finite(), "{mass:?}");
        assert!(mass.center_of_mass.iter().chain(&mass.inertia).all(|x| x.is_finite()), "{mass:?}");
    }
    if let Some(shell) = &shape.shell {
        shell.check_invariants().unwrap();
    }
    if let Some(field) = shape.field.as_deref() {
        let gridded = field.gridded().unwrap();
        let (grid, error) = (*gridded.grid, gridded.error);
        grid.check().unwrap();
        assert!(error.max >= 0.0 && error.rms >= 0.0 && error.max.is_finite() && error.rms.is_finite(), "{error:?}");
        assert!(gridded.sign.membrane_area >= 0.0, "{}", gridded.sign);
        assert!(field.error_bound().is_finite());
        let bounds = field.bounds();
        assert!((0..3).all(|k| !bounds.min[k].is_nan() && !bounds.max[k].is_nan()), "{bounds:?}");
        let mut rng = Rng(1);
        for n in 0..200 {
            let reach = if n % 4 == 0 { 3.0 } else { 1.0 };
            let p = [0, 1, 2].map(|k| {
                let (low, high) = (f64::from(grid.min[k]), f64::from(grid.max()[k]));
                (0.5 * (low + high) + 0.5 * reach * (high - low) * rng.unit()) as f32
            });
            let (phi, gradient) = field.distance_gradient(p);
            assert!(phi.is_finite() && gradient.iter().all(|g| g.is_finite()), "{phi} {gradient:?} at {p:?}");
            let bound = field.lower_bound(p, 0.0);
            assert!(bound <= phi || certified && !bound.is_nan(), "{bound} > {phi} at {p:?}");
            assert!(!field.lower_bound(p, grid.spacing).is_nan());
        }
    }
    let geometry = shape.geometry();
    if geometry.field.is_some() && geometry.shell.is_some() {
        let turn = Pose::new([0.1, 0.2, 0.3].into(), [0.5, 0.1, 0.0].into());
        let query = Query { max_contacts: 8, ..Query::default() };
        let mut workspace = Workspace::new();
        let found = contacts(geometry, &Pose::identity(), geometry, &turn, &query, &mut workspace).unwrap();
        assert!(found.iter().all(|c| c.separation.is_finite() && c.normal.iter().all(|x| x.is_finite())), "{found:?}");
    }
    for store in [Store::Compressed, Store::Raw] {
        let once = save(shape, store, folder);
        let path = folder.join("saved.vxs");
        assert!(save(&Shape::load(&path).unwrap(), store, folder) == once, "saved again it is another file");
    }
}

#[test]
fn damaged_assets_cause_no_panic_memory_growth_or_invalid_shape() {
    let folder = support::fuzz::folder();
    let files = files(folder.path());
    let sealed = std::cell::Cell::new([0usize; 3]);
    let most = std::cell::Cell::new(0);
    let check = |_: &Path, bytes: &[u8]| {
        let path = folder.path().join("damaged.vxs");
        std::fs::write(&path, bytes).unwrap();
        let (result, held) = peak(|| Shape::load(&path));
        assert!(held <= PER_BYTE * bytes.len() + ALWAYS, "{held} bytes held for {}", bytes.len());
        most.set(most.get().max(held / bytes.len().max(1000)));
        let [mut read, mut bricks, mut inner] = sealed.get();
        match result {
            Ok(shape) => {
                read += 1;
                bricks += usize::from(matches!(shape.field.as_deref(), Some(Field::Bricks(_))));
                let certified = sections(bytes).is_some_and(|s| s.iter().any(|(tag, _)| tag == b"cert"));
                is_sound(&shape, certified, folder.path());
            }
            Err(Error::InvalidFile { reason, .. }) => {
                assert!(!reason.is_empty() && !reason.contains('\n') && reason.len() < 1000, "{reason:?}");
                inner += usize::from(["checksum", "truncated", "appended"].iter().all(|w| !reason.contains(w)));
            }
            Err(other) => panic!("refused with the wrong error: {other}"),
        }
        sealed.set([read, bricks, inner]);
    };
    let rounds = 6000;
    damage(&files, rounds, change, check);
    let [read, bricks, inner] = sealed.get();
    eprintln!(
        "{read} of {rounds} damaged assets were read, {bricks} with bricks; {inner} were refused for what is in them"
    );
    eprintln!("at most {} bytes held for one", most.get());
    assert!(read > rounds / 20 && bricks > rounds / 100 && inner > rounds / 4, "{read} {bricks} {inner}");
}
