//! Cooking meshes with many triangles in one place: memory stays within the stated limit, work grows linearly with the
//! number of triangles, and the callback is called often enough to cancel at any time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use support::allocation::{peak, Counting};
use support::{dense_meshes, long};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::math::Progress;
use voxshell::mesh::TriMesh;
use voxshell::pointshell::{Sampling, ShellOptions};
use voxshell::Error;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Lets one test run at a time, because memory and work are measured over all threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const FIELD: Forms = Forms { field: true, shell: false };
const SHELL: Forms = Forms { field: false, shell: true };

/// Largest allowed ratio of held memory to the limit, see `vxs_cook_options::memory_limit`.
const LIMITS_HELD: f64 = 2.0;
/// Memory held for any mesh, bytes: scratch of the threads, probes of the surface.
const ALWAYS: f64 = 4e6;

struct Case {
    name: &'static str,
    make: fn(usize) -> TriMesh,
    triangles: usize,
}

const STAR: Case = Case { name: "star", make: dense_meshes::star, triangles: 8_000 };
const FAN: Case = Case { name: "fan", make: dense_meshes::fan, triangles: 100_000 };
const ACCORDION: Case = Case { name: "accordion", make: dense_meshes::accordion, triangles: 4_000 };
const IDENTICAL: Case = Case { name: "identical", make: dense_meshes::identical, triangles: 100_000 };
const ONE: Case = Case { name: "one", make: dense_meshes::one, triangles: 100_000 };
const NEEDLES: Case = Case { name: "needles", make: dense_meshes::needles, triangles: 20_000 };
const BOOK: Case = Case { name: "book", make: dense_meshes::book, triangles: 20_000 };

fn options(cells: u32, storage: Storage, forms: Forms) -> CookOptions {
    CookOptions { resolution: Resolution::Cells(cells), storage, forms, ..CookOptions::default() }
}

fn limited(mut options: CookOptions, limit: u64) -> CookOptions {
    options.field.memory_limit = limit;
    options.shell.memory_limit = limit;
    options
}

/// Returns the units of work of cooking, and the largest step between two calls of the callback.
fn work(mesh: &TriMesh, options: &CookOptions) -> (u64, u64) {
    let goes_on = |_: &str, _: f64| true;
    let progress = Progress::new(&goes_on);
    match Shape::cook(mesh, options, &progress) {
        // A sheet, or a body thinner than a voxel, has no inside, which is reported after its field is cooked.
        Ok(_) | Err(Error::InvalidMesh(_)) => (progress.units(), progress.largest_step()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn memory_of_dense_meshes_stays_within_the_limit() {
    let _alone = alone();
    let shell = |case: Case, cells| (case, options(cells, Storage::Dense, SHELL));
    let of_vertices = ShellOptions { method: Sampling::Vertices, target_count: Some(500), ..ShellOptions::default() };
    let small = |case: Case, triangles| Case { triangles, ..case };
    let mut cases = vec![
        shell(STAR, 24),
        shell(small(ACCORDION, 200), 24),
        shell(IDENTICAL, 64),
        shell(ONE, 64),
        shell(FAN, 32),
        shell(small(NEEDLES, 4_000), 64),
        shell(small(BOOK, 1_000), 12),
        (STAR, CookOptions { shell: of_vertices, ..options(64, Storage::Dense, SHELL) }),
        (STAR, options(32, Storage::Bricks, FIELD)),
        (IDENTICAL, options(64, Storage::Dense, FIELD)),
        (IDENTICAL, options(64, Storage::Bricks, Forms::BOTH)),
        (small(FAN, 500), options(64, Storage::Bricks, FIELD)),
        (small(FAN, 500), options(32, Storage::Dense, FIELD)),
        (small(ACCORDION, 200), options(32, Storage::Bricks, FIELD)),
        (small(NEEDLES, 8_000), options(64, Storage::Bricks, FIELD)),
    ];
    if long() {
        let both = |case: Case| (case, options(64, Storage::Bricks, Forms::BOTH));
        cases.extend([both(FAN), both(STAR), both(ACCORDION), shell(STAR, 40), shell(FAN, 128)]);
    }
    for (Case { name, make, triangles }, options) in cases {
        let mesh = make(triangles);
        let limit = options.memory_needed(&mesh).unwrap();
        let options = limited(options, limit);
        let (cooked, held) = peak(|| Shape::cook(&mesh, &options, &Progress::none()));
        let refused = matches!(cooked, Err(Error::TooLarge { .. }));
        let what = format!("{name} of {triangles}, {:?} {:?}", options.forms, options.storage);
        eprintln!("{what}: {:.1} MB of {:.1} MB, {:?}", held as f64 / 1e6, limit as f64 / 1e6, cooked.err());
        // The size of the membranes across the holes of an open mesh is known late.
        let is_open = options.forms.field && ["fan", "accordion"].contains(&name);
        assert!(!refused || is_open, "{what}: the memory is known before");
        let limits = if is_open || options.forms == Forms::BOTH { LIMITS_HELD } else { 1.0 };
        assert!(held as f64 <= limits * limit as f64 + ALWAYS, "{what}: {held} bytes held with a limit of {limit}");
    }
}

#[test]
fn cooking_work_grows_with_the_number_of_triangles() {
    let _alone = alone();
    let both = |case: Case| (case, options(32, Storage::Bricks, Forms::BOTH));
    let shell = |case: Case, cells| (case, options(cells, Storage::Dense, SHELL));
    let n = |case: Case, triangles| Case { triangles, ..case };
    let cases = [
        both(n(STAR, 250)),
        shell(n(STAR, 1_000), 16),
        both(n(FAN, 250)),
        shell(n(FAN, 10_000), 64),
        both(n(IDENTICAL, 25_000)),
        shell(n(ONE, 25_000), 64),
        (n(ACCORDION, 50), options(24, Storage::Dense, FIELD)),
        shell(n(ACCORDION, 200), 16),
        shell(n(NEEDLES, 2_000), 64),
        (n(NEEDLES, 5_000), options(64, Storage::Bricks, FIELD)),
        shell(n(BOOK, 500), 8),
    ];
    for (Case { name, make, triangles }, options) in cases {
        let (one, _) = work(&make(triangles), &options);
        let (two, _) = work(&make(2 * triangles), &options);
        let ratio = two as f64 / one as f64;
        eprintln!("{name} of {triangles}: {one} units, of twice as many {two}, {ratio:.2} times");
        assert!(ratio < 2.5, "{name} of {triangles}: {one} units of work, of twice as many {two}");
    }
}

#[test]
fn repeated_triangles_cost_next_to_no_work() {
    let _alone = alone();
    for storage in [Storage::Dense, Storage::Bricks] {
        let options = options(32, storage, Forms::BOTH);
        let (once, _) = work(&dense_meshes::identical(4), &options);
        let (often, _) = work(&dense_meshes::identical(100_000), &options);
        assert!(often < once + 20 * 100_000, "{storage:?}: {once} units for 4 triangles, {often} for 100,000");
    }
}

#[test]
fn repeated_triangles_cook_the_same_shape() {
    let _alone = alone();
    for storage in [Storage::Dense, Storage::Bricks] {
        let cook = |mesh: &TriMesh| Shape::cook(mesh, &options(24, storage, Forms::BOTH), &Progress::none()).unwrap();
        let (once, often) = (cook(&dense_meshes::identical(4)), cook(&dense_meshes::identical(4_000)));
        // The field reports the number of repeated triangles.
        let said = |field| format!("{field:?}").replace("duplicate_triangles: 3996", "duplicate_triangles: 0");
        assert!(said(once.field) == said(often.field), "{storage:?}");
        assert!(once.shell == often.shell, "{storage:?}");
    }
}

#[test]
fn no_step_of_cooking_is_long_between_two_looks_at_the_callback() {
    let _alone = alone();
    let cases = [
        (dense_meshes::star(800), options(16, Storage::Dense, Forms::BOTH)),
        (dense_meshes::fan(20_000), options(8, Storage::Bricks, Forms::BOTH)),
        (dense_meshes::fan(100_000), options(32, Storage::Dense, SHELL)),
        (dense_meshes::accordion(400), options(16, Storage::Dense, FIELD)),
        (dense_meshes::identical(100_000), options(64, Storage::Bricks, Forms::BOTH)),
        (dense_meshes::one(100_000), options(64, Storage::Dense, SHELL)),
        (dense_meshes::needles(4_000), options(64, Storage::Dense, SHELL)),
    ];
    for (n, (mesh, options)) in cases.iter().enumerate() {
        let (units, step) = work(mesh, options);
        eprintln!("case {n}: {units} units, at most {step} at once");
        assert!(step <= Progress::CALL_UNITS, "case {n}: {step} units of work without a look at the callback");
    }
}

#[test]
fn cooking_stops_within_a_call_of_being_cancelled() {
    let _alone = alone();
    let cases = [
        (dense_meshes::star(400), options(16, Storage::Dense, Forms::BOTH)),
        (dense_meshes::fan(1_000), options(12, Storage::Bricks, Forms::BOTH)),
        (dense_meshes::identical(20_000), options(32, Storage::Bricks, Forms::BOTH)),
        (dense_meshes::needles(2_000), options(16, Storage::Dense, SHELL)),
    ];
    let tries = if long() { 200 } else { 10 };
    for (n, (mesh, options)) in cases.iter().enumerate() {
        let calls = AtomicU64::new(0);
        let count = |_: &str, _: f64| {
            calls.fetch_add(1, Ordering::Relaxed);
            true
        };
        Shape::cook(mesh, options, &Progress::new(&count)).unwrap();
        let all = calls.load(Ordering::Relaxed);
        for k in 0..tries.min(all) {
            let stop_at = k * all / tries.min(all);
            let left = AtomicU64::new(stop_at);
            let stop =
                |_: &str, _: f64| left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
            let progress = Progress::new(&stop);
            let stopped = Shape::cook(mesh, options, &progress);
            assert!(matches!(stopped, Err(Error::Cancelled)), "case {n}, call {stop_at} of {all}");
            // Each thread finishes its current step.
            let after = progress.units_after_cancelling();
            let threads = rayon::current_num_threads() as u64 + 1;
            assert!(after <= threads * progress.largest_step(), "case {n}, call {stop_at} of {all}: {after} units");
        }
    }
}
