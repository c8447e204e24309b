//! Resolution of cooking: by a target error, and within a memory limit.

use std::sync::atomic::{AtomicU32, Ordering};

use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::contact;
use voxshell::field::{Field, Gridded, SignedDistance};
use voxshell::math::{Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{Sampling, ShellOptions};
use voxshell::Error;

const FIELD: Forms = Forms { field: true, shell: false };
const SHELL: Forms = Forms { field: false, shell: true };

fn knot() -> TriMesh {
    primitives::torus_knot(2, 3, 0.3, 0.08, 256, 24).unwrap()
}

/// Returns a box without its top, so that winding numbers determine the sign.
fn open_box() -> TriMesh {
    let mut mesh = primitives::cuboid([0.5, 0.4, 0.3]).unwrap();
    mesh.triangles.truncate(10);
    mesh
}

fn options(resolution: Resolution, storage: Storage, forms: Forms) -> CookOptions {
    CookOptions { resolution, storage, forms, ..CookOptions::default() }
}

fn limited(mut options: CookOptions, limit: u64) -> CookOptions {
    options.field.memory_limit = limit;
    options.shell.memory_limit = limit;
    options
}

fn cook(mesh: &TriMesh, options: &CookOptions) -> voxshell::Result<Shape> {
    Shape::cook(mesh, options, &Progress::none())
}

fn known(shape: &Shape) -> Gridded<'_> {
    shape.field.as_ref().unwrap().gridded().unwrap()
}

#[test]
fn a_target_error_is_met_and_resolution_is_monotonic() {
    for (name, mesh) in [("knot", knot()), ("gear", primitives::gear(12, 0.5, 0.4, 0.2, 0.1).unwrap())] {
        for storage in [Storage::Dense, Storage::Bricks] {
            let mut before = f32::INFINITY;
            for target in [0.03, 0.01, 0.0095, 0.006] {
                let shape = cook(&mesh, &options(Resolution::Error(target), storage, FIELD)).unwrap();
                let Gridded { grid, error, .. } = known(&shape);
                assert!(error.max <= target, "{name}: {} m for a target of {target} m", error.max);
                assert!(grid.spacing <= before, "{name}: {} m after {before} m", grid.spacing);
                before = grid.spacing;
            }
            assert!(before < 0.02, "{name}: the last target is within reach of a fine field only, not of {before} m");
        }
    }
}

#[test]
fn a_target_error_gives_the_coarsest_sufficient_field() {
    let mesh = knot();
    let extent = mesh.bounds().extents().max();
    let target = 1.5e-3;
    let shape = cook(&mesh, &options(Resolution::Error(target), Storage::Bricks, Forms::BOTH)).unwrap();
    let cells = (extent / f64::from(known(&shape).grid.spacing)).round();
    let again = cook(&mesh, &options(Resolution::VoxelSize(extent / cells), Storage::Bricks, Forms::BOTH)).unwrap();
    assert_eq!(shape.field, again.field);
    assert_eq!(shape.shell, again.shell, "samples as dense as the voxels that were chosen");
    // The tried resolutions are 16, 20, 25 and their multiples by powers of two; each coarser one must have missed the
    // target.
    let series = (0..8).flat_map(|octave| [16, 20, 25].map(|cells| cells << octave));
    let coarser: Vec<u32> = series.take_while(|&n| f64::from(n) < cells).collect();
    assert!(!coarser.is_empty());
    for n in coarser {
        let shape = cook(&mesh, &options(Resolution::Cells(n), Storage::Bricks, FIELD)).unwrap();
        assert!(known(&shape).error.max > target, "{n} cells would have done");
    }
}

#[test]
fn a_thin_plate_is_cooked_finely_enough_to_have_an_inside() {
    let plate = primitives::cuboid([0.5, 0.5, 0.004]).unwrap();
    // Too coarse for an inside on a grid: the triangles are kept too, and can be stored.
    for storage in [Storage::Automatic, Storage::Dense, Storage::Bricks, Storage::Exact] {
        let shape = cook(&plate, &options(Resolution::Cells(16), storage, FIELD)).unwrap();
        let shape = Shape::from_bytes(&shape.to_bytes().unwrap()).unwrap();
        let field = shape.field.unwrap();
        assert!(matches!(*field, Field::Exact(_)), "{storage:?}");
        let depth = f64::from(field.distance([0.0; 3]));
        assert!((depth + 0.004).abs() < 1e-8, "{storage:?}: {depth}");
    }
    // Triangles that enclose nothing.
    let flat = TriMesh::new(plate.vertices.iter().map(|v| [v[0], v[1], 0.0]).collect(), plate.triangles.clone());
    assert!(cook(&flat.unwrap(), &options(Resolution::Cells(16), Storage::Bricks, FIELD)).is_err());
    let shape = cook(&plate, &options(Resolution::Error(0.02), Storage::Bricks, FIELD)).unwrap();
    assert!(known(&shape).error.max <= 0.02);
    assert!(shape.field.unwrap().distance([0.0; 3]) < 0.0);
}

#[test]
fn a_target_error_beyond_the_memory_limit_says_what_was_reached() {
    let mesh = knot();
    let reached = limited(options(Resolution::Error(1e-4), Storage::Dense, FIELD), 24 << 20);
    let refused = cook(&mesh, &reached).err().unwrap();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    let message = refused.to_string();
    for part in ["an error of at most 0.0001 m (", " m was reached with voxels of ", "the limit is 25165824 bytes"] {
        assert!(message.contains(part), "{message} has no {part}");
    }
    // The message contains the best measured error.
    let number: f64 = message.split_once('(').unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let error = |n| known(&cook(&mesh, &options(Resolution::Cells(n), Storage::Dense, FIELD)).unwrap()).error.max;
    let measured = [64, 80, 100, 128, 160, 200].map(error);
    assert!(measured.contains(&number) && number <= measured[0], "{number} of {measured:?}");
}

#[test]
fn bad_targets_are_refused() {
    for bad in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let refused = cook(&knot(), &options(Resolution::Error(bad), Storage::Dense, FIELD)).err().unwrap();
        assert!(refused.to_string().starts_with(&format!("target_error is {bad}; expected")), "{refused}");
    }
    let no_field = cook(&knot(), &options(Resolution::Error(1e-3), Storage::Dense, SHELL)).err().unwrap();
    assert!(no_field.to_string().contains("target_error is 0.001; expected none without a field"), "{no_field}");
}

#[test]
fn the_memory_needed_is_the_least_limit_that_is_accepted() {
    let shell = |method, target_count| CookOptions {
        shell: ShellOptions { method, target_count, ..ShellOptions::default() },
        ..options(Resolution::Cells(24), Storage::Dense, SHELL)
    };
    let cases = [
        options(Resolution::Cells(24), Storage::Dense, FIELD),
        options(Resolution::Cells(24), Storage::Bricks, FIELD),
        options(Resolution::Cells(24), Storage::Exact, FIELD),
        // Here the shell determines the memory.
        options(Resolution::Cells(24), Storage::Bricks, Forms::BOTH),
        shell(ShellOptions::default().method, None),
        shell(Sampling::Vertices, None),
        shell(Sampling::Uniform, Some(20_000)),
        shell(Sampling::Projection { voxel_size: f64::NAN }, None),
    ];
    for (name, mesh) in [("knot", knot()), ("open box", open_box())] {
        for case in &cases {
            // The memory needed does not depend on the limit in the options.
            let needed = limited(case.clone(), 1).memory_needed(&mesh).unwrap();
            let what = format!("{name}, {case:?}");
            match cook(&mesh, &limited(case.clone(), needed - 1)) {
                Err(Error::TooLarge { needed: said, limit, .. }) => assert!(said == needed && limit < needed, "{what}"),
                other => panic!("{what}: {:?}", other.err()),
            }
            // Cancelled after the start of the last stage that is checked.
            let begun: &[_] =
                if case.forms.shell { &["spacing", "blue noise", "projection", "sphere tree"] } else { &["distance"] };
            let stop = |stage: &str, _: f64| !begun.contains(&stage);
            let goes_on = Shape::cook(&mesh, &limited(case.clone(), needed), &Progress::new(&stop));
            assert!(matches!(goes_on, Err(Error::Cancelled)), "{what}: {:?}", goes_on.err());
        }
    }
}

/// An offset of hundreds of voxels: the time must not grow with triangles times neighbouring bricks.
#[test]
fn the_memory_for_a_wide_offset_is_told_soon() {
    let start = std::time::Instant::now();
    let mesh = knot();
    let mut wide = options(Resolution::Cells(8), Storage::Bricks, FIELD);
    wide.field.offset = 60.0 * mesh.bounds().extents().amax();
    assert!(wide.memory_needed(&mesh).unwrap() > 1 << 30);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn memory_needed_is_finite_and_unknown_for_a_target_error() {
    let huge = options(Resolution::VoxelSize(1e-6), Storage::Dense, FIELD);
    assert!(huge.memory_needed(&knot()).unwrap() > 1 << 50);
    let unknown = options(Resolution::Error(1e-3), Storage::Dense, FIELD).memory_needed(&knot());
    assert!(matches!(unknown, Err(Error::Unsupported(_))));
    let nowhere = options(Resolution::VoxelSize(-1.0), Storage::Dense, FIELD).memory_needed(&knot());
    assert!(nowhere.unwrap_err().to_string().contains("voxel_size is -1"));
}

#[test]
fn cooking_stops_at_the_call_that_cancels_it() {
    for storage in [Storage::Dense, Storage::Bricks, Storage::Exact] {
        for resolution in [Resolution::Cells(32), Resolution::Error(0.015)] {
            let options = options(resolution, storage, Forms::BOTH);
            let calls = AtomicU32::new(0);
            let count = |_: &str, _: f64| {
                calls.fetch_add(1, Ordering::Relaxed);
                true
            };
            Shape::cook(&knot(), &options, &Progress::new(&count)).unwrap();
            let all = calls.load(Ordering::Relaxed);
            assert!(all > 10);
            for stop_at in [0, 1, all / 4, all / 2, all - 1] {
                let left = AtomicU32::new(stop_at);
                let stop = |_: &str, _: f64| {
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
                };
                let stopped = Shape::cook(&knot(), &options, &Progress::new(&stop));
                assert!(matches!(stopped, Err(Error::Cancelled)), "{storage:?}, call {stop_at} of {all}");
            }
        }
    }
}

/// Powers of two, so that only subnormal f32 numbers could make a difference.
#[test]
fn contacts_hold_down_to_the_smallest_extent() {
    let mesh = knot().scaled_to_extent(1.0);
    let smallest = 2f64.powi(-59);
    assert!((1.0..2.0).contains(&(mesh.bounds().extents().max() * smallest / voxshell::mesh::MIN_EXTENT)));
    for storage in [Storage::Dense, Storage::Bricks, Storage::Exact] {
        let contacts = |scale: f64| {
            let shape = cook(&mesh.scaled(scale), &options(Resolution::Cells(64), storage, Forms::BOTH)).unwrap();
            let pose = Pose::from_parts(
                (Vec3::new(0.31, 0.12, -0.07) * scale).into(),
                Rotation::new(Vec3::new(0.3, 1.0, 0.2)),
            );
            let query = contact::Query { max_separation: 0.02 * scale, ..contact::Query::default() };
            let (body, at) = (shape.geometry(), Pose::identity());
            let mut workspace = contact::Workspace::new();
            let found = contact::contacts(body, &at, body, &pose, &query, &mut workspace).unwrap();
            found.iter().map(|c| (c.feature, c.separation / scale, c.normal)).collect::<Vec<_>>()
        };
        let (large, small) = (contacts(1.0), contacts(smallest));
        assert!(large.len() > 100 && large.len() == small.len(), "{} and {}", large.len(), small.len());
        for ((feature, separation, normal), other) in large.iter().zip(&small) {
            assert_eq!(*feature, other.0);
            assert!((separation - other.1).abs() < 1e-6 && (normal - other.2).norm() < 1e-4, "{separation} {other:?}");
        }
    }
}
