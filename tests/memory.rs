//! Out of memory is an error: cooking, saving and loading with an allocator that refuses.
//!
//! A separate program, because a process has one allocator; its tests run one at a time.

use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use support::faults::{self, Faults, Refuse, SHOWN_FROM};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage, Store};
use voxshell::capi::{cook_options as c_options, create, status, types};
use voxshell::cook::FieldOptions;
use voxshell::math::Progress;
use voxshell::memory::{WithReserve, RESERVE_BYTES};
use voxshell::mesh::{io, primitives, TriMesh};
use voxshell::pointshell::{Sampling, ShellOptions};
use voxshell::{Error, Result};

#[global_allocator]
static ALLOCATOR: WithReserve<Faults> = WithReserve(Faults);

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options(cells: u32, storage: Storage) -> CookOptions {
    CookOptions { resolution: Resolution::Cells(cells), storage, ..CookOptions::default() }
}

/// Returns a box of 12 triangles, and the same without its lid.
fn closed_box() -> TriMesh {
    primitives::cuboid([0.3, 0.2, 0.1]).unwrap()
}

fn open_box() -> TriMesh {
    let TriMesh { vertices, mut triangles } = closed_box();
    triangles.truncate(10);
    TriMesh { vertices, triangles }
}

/// An operation on a small mesh.
struct Work {
    name: String,
    mesh: TriMesh,
    run: Box<dyn Fn(TriMesh) -> Result<()> + Send + Sync>,
}

fn work<T>(name: impl Into<String>, mesh: TriMesh, run: impl Fn(TriMesh) -> Result<T> + Send + Sync + 'static) -> Work {
    Work { name: name.into(), mesh, run: Box::new(move |mesh| run(mesh).map(drop)) }
}

fn cooking() -> Vec<Work> {
    let mut all = Vec::new();
    for (mesh, lid) in [(closed_box(), "closed"), (open_box(), "open")] {
        for storage in [Storage::Dense, Storage::Bricks] {
            all.push(work(format!("{lid} {storage:?}"), mesh.clone(), move |mesh| {
                Shape::cook(&mesh, &options(10, storage), &Progress::none())
            }));
        }
    }
    all.push(work("closed Exact", closed_box(), |mesh| {
        Shape::cook(&mesh, &options(10, Storage::Exact), &Progress::none())
    }));
    all
}

fn samplings() -> Vec<Work> {
    let methods = [
        Sampling::Projection { voxel_size: f64::NAN },
        Sampling::Vertices,
        Sampling::Uniform,
        Sampling::VerticesAndUniform,
        Sampling::Features,
    ];
    let of = |method: Sampling| {
        work(format!("{method:?}"), closed_box(), move |mesh| {
            let shell = ShellOptions { method, spacing: 0.1, ..ShellOptions::default() };
            let how = CookOptions { shell, forms: Forms { field: false, shell: true }, ..options(8, Storage::Dense) };
            Shape::cook(&mesh, &how, &Progress::none())
        })
    };
    methods.into_iter().map(of).collect()
}

fn offsets() -> Vec<Work> {
    let of = |storage| {
        work(format!("offset {storage:?}"), closed_box(), move |mesh| {
            let field = FieldOptions { offset: 0.15, ..FieldOptions::new(f64::NAN) };
            let how = CookOptions { field, forms: Forms { field: true, shell: false }, ..options(8, storage) };
            Shape::cook(&mesh, &how, &Progress::none())
        })
    };
    [Storage::Dense, Storage::Bricks].map(of).into()
}

fn files(folder: &Path) -> Vec<Work> {
    let cook = |storage| Shape::cook(&closed_box(), &options(10, storage), &Progress::none()).unwrap();
    let mut all = Vec::new();
    for (storage, store) in [
        (Storage::Dense, Store::Compressed),
        (Storage::Bricks, Store::Compressed),
        (Storage::Bricks, Store::Raw),
        (Storage::Exact, Store::Compressed),
    ] {
        let (shape, path) = (cook(storage), folder.join(format!("{storage:?}{store:?}.vxs")));
        shape.save_as(&path, store).unwrap();
        let again = folder.join("again.vxs");
        all.push(work(format!("save {storage:?} {store:?}"), closed_box(), move |_| shape.save_as(&again, store)));
        all.push(work(format!("load {storage:?} {store:?}"), closed_box(), move |_| Shape::load(&path)));
    }
    let shape = cook(Storage::Bricks);
    let bytes = shape.to_bytes().unwrap();
    all.push(work("to bytes", closed_box(), move |_| shape.to_bytes()));
    all.push(work("from bytes", closed_box(), move |_| Shape::from_bytes(&bytes)));
    let shape = cook(Storage::Bricks);
    all.push(work("scaled", closed_box(), move |_| shape.scaled(1.5)));
    all.push(work("triangles", closed_box(), Shape::from_triangles));
    all.push(work("sheet", open_box(), |mesh| Shape::from_sheet(mesh, 0.1)));
    all
}

/// Returns one mesh file of each kind.
fn mesh_files(folder: &Path) -> Vec<Work> {
    let obj = folder.join("box.obj");
    io::write_obj(&obj, &closed_box()).unwrap();
    let corner = |i: u32| closed_box().vertices[i as usize];
    let facet = |t: &[u32; 3]| {
        let vertex = |i: &u32| format!("vertex {} {} {}\n", corner(*i)[0], corner(*i)[1], corner(*i)[2]);
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", t.iter().map(vertex).collect::<String>())
    };
    let stl = format!("solid box\n{}endsolid box\n", closed_box().triangles.iter().map(facet).collect::<String>());
    let row = |t: &[u32; 3]| format!("3 {} {} {}\n", t[0], t[1], t[2]);
    let place = |p: &[f64; 3]| format!("{} {} {}\n", p[0], p[1], p[2]);
    let ply = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {}\n\
         property list uchar int vertex_indices\nend_header\n{}{}",
        closed_box().vertices.len(),
        closed_box().triangles.len(),
        closed_box().vertices.iter().map(place).collect::<String>(),
        closed_box().triangles.iter().map(row).collect::<String>()
    );
    let write = |name: &str, text: String| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let all = [obj, write("box.stl", stl), write("box.ply", ply)];
    let load = |path: PathBuf| {
        let name = path.extension().unwrap().to_string_lossy().into_owned();
        work(format!("load {name}"), closed_box(), move |_| io::load(&path))
    };
    all.into_iter().map(load).collect()
}

/// Runs each operation with its n-th allocation refused, alone or together with all later ones. With VOXSHELL_LONG=1
/// for all n, on one thread and on two, where the order of allocations differs from run to run.
fn refuse_each(all: &[Work]) {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (work_number, Work { name, mesh, run }) in all.iter().enumerate() {
            // Allocations that happen once per process or thread have been made before.
            (0..3).for_each(|_| pool.install(|| run(mesh.clone()).unwrap()));
            for kind in [Refuse::Only as fn(usize) -> Refuse, Refuse::From] {
                let (mut most_kept, mut most_reserved) = (0, 0);
                // The short run takes every n for the first work, where the n-th allocation alone fails.
                let all_n = support::long() || (threads == 1 && work_number == 0 && kind(1) == Refuse::Only(1));
                for n in (1..).step_by(if all_n { 1 } else { 13 }) {
                    let refuse = kind(n);
                    let mut is_error = false;
                    let is_error_here = &mut is_error;
                    let look = |made: &Result<()>| match made {
                        Ok(_) => (),
                        Err(Error::OutOfMemory { .. }) => *is_error_here = true,
                        Err(other) => panic!("{name}, {refuse:?}: {other}"),
                    };
                    // This allocation belongs to the test, not to the task in the pool.
                    let given = mesh.clone();
                    let seen = pool.install(|| faults::run(refuse, || run(given), look));
                    assert_eq!(is_error, seen.refused > 0, "{name}, {refuse:?}: {seen:?}");
                    most_kept = seen.kept.max(most_kept);
                    most_reserved = seen.reserved.max(most_reserved);
                    if seen.refused == 0 {
                        println!(
                            "{name}, {threads} threads: {} calls, {most_reserved} bytes of the reserve",
                            seen.calls
                        );
                        break;
                    }
                }
                // A thread pool's queues grow once and stay.
                assert!(most_kept < 4096, "{name}: {most_kept} bytes are left");
                assert!(most_reserved < RESERVE_BYTES / 4, "{name}: {most_reserved} bytes of the reserve");
            }
        }
    }
}

#[test]
fn each_refused_allocation_of_cooking_is_an_error() {
    let _turn = alone();
    refuse_each(&cooking());
}

#[test]
fn each_refused_allocation_of_sampling_is_an_error() {
    let _turn = alone();
    refuse_each(&samplings());
}

#[test]
fn each_refused_allocation_of_offsetting_is_an_error() {
    let _turn = alone();
    refuse_each(&offsets());
}

#[test]
fn each_refused_allocation_of_assets_is_an_error() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    refuse_each(&files(folder.path()));
}

#[test]
fn each_refused_allocation_of_mesh_files_is_an_error() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    refuse_each(&mesh_files(folder.path()));
}

#[test]
fn blocks_that_cannot_fail_are_small() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let closed = primitives::torus(0.3, 0.1, 200, 50).unwrap();
    let TriMesh { vertices, mut triangles } = closed.clone();
    triangles.drain(..3000);
    let open = TriMesh { vertices, triangles };
    let obj = folder.path().join("torus.obj");
    io::write_obj(&obj, &closed).unwrap();
    let small = |name: &str, seen: faults::Seen| {
        assert!(seen.largest <= SHOWN_FROM, "{name}: a block of {} bytes cannot fail", seen.largest);
    };
    small("mesh file", faults::watched(|| io::load(&obj).unwrap()));
    for (mesh, storage) in [
        (&closed, Storage::Dense),
        (&closed, Storage::Bricks),
        (&closed, Storage::Exact),
        (&open, Storage::Dense),
        (&open, Storage::Bricks),
    ] {
        let name = format!("{} triangles, {storage:?}", mesh.triangles.len());
        let cook = || Shape::cook(mesh, &options(64, storage), &Progress::none()).unwrap();
        small(&name, faults::watched(cook));
        let shape = cook();
        let path = folder.path().join("torus.vxs");
        for store in [Store::Compressed, Store::Raw] {
            small(&name, faults::watched(|| shape.save_as(&path, store).unwrap()));
            small(&name, faults::watched(|| Shape::load(&path).unwrap()));
        }
        small(&name, faults::watched(|| shape.scaled(2.0).unwrap()));
    }
    for method in [Sampling::Projection { voxel_size: 0.01 }, Sampling::Vertices, Sampling::Uniform, Sampling::Features]
    {
        let name = format!("{method:?}");
        let how = ShellOptions { method, spacing: 0.01, ..ShellOptions::default() };
        let sample = || voxshell::cook::sample(&open, None, &how, &Progress::none()).unwrap();
        small(&name, faults::watched(sample));
    }
}

#[test]
fn the_c_interface_says_out_of_memory() {
    let _turn = alone();
    let mesh = closed_box();
    let vertices: Vec<_> = mesh.vertices.iter().map(|v| types::vxs_vec3 { x: v[0], y: v[1], z: v[2] }).collect();
    let mut options = unsafe { std::mem::zeroed() };
    unsafe { c_options::vxs_cook_options_init(&mut options, size_of::<c_options::vxs_cook_options>()) };
    options.resolution = 8;
    let mut shape = null_mut();
    let mut cook = || unsafe {
        let (indices, triangles) = (mesh.triangles.as_ptr().cast(), mesh.triangles.len());
        create::vxs_shape_create_from_triangles(
            vertices.as_ptr(),
            vertices.len(),
            indices,
            triangles,
            &options,
            &mut shape,
        )
    };
    for n in (1..40).chain((40..4000).step_by(97)) {
        for refuse in [Refuse::Only(n), Refuse::From(n)] {
            let mut attempt = || {
                let mut got = status::VXS_OK;
                let seen = faults::run(refuse, &mut cook, |status| got = *status);
                (got, if seen.refused > 0 { status::VXS_OUT_OF_MEMORY } else { status::VXS_OK })
            };
            // The refused call can be that of another thread, such as the one that prints the results of tests. It is not
            // so again and again.
            let (mut got, mut expected) = attempt();
            for _ in 0..2 {
                if got != expected {
                    (got, expected) = attempt();
                }
            }
            assert_eq!(got, expected, "{refuse:?}");
            if got != status::VXS_OK {
                let text = unsafe { std::ffi::CStr::from_ptr(status::vxs_last_error()) }.to_string_lossy();
                assert!(text.contains("out of memory while "), "{text}");
            }
        }
    }
}

/// Cooking under limits of the address space, from none to enough: each in a process of its own, because an abort ends
/// it.
#[cfg(target_os = "linux")]
mod limited {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    const LIMIT: &str = "VOXSHELL_TEST_ADDRESS_SPACE";
    const REFUSED: i32 = 17;

    /// Returns the address space that the process uses now, bytes.
    fn in_use() -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 4096
    }

    #[test]
    #[ignore = "the child of the test below"]
    fn child() {
        let Some(limit) = std::env::var_os(LIMIT) else { return };
        let obj = PathBuf::from(std::env::var_os("VOXSHELL_TEST_MESH").unwrap());
        let bytes = in_use() + limit.to_str().unwrap().parse::<u64>().unwrap();
        let limits = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limits) }, 0);
        let made = io::load(&obj).and_then(|mesh| {
            let storage = if bytes % 8192 == 0 { Storage::Dense } else { Storage::Bricks };
            Shape::cook(&mesh, &options(96, storage), &Progress::none())?.to_bytes()
        });
        match made {
            Ok(bytes) => drop(Shape::from_bytes(&bytes).map(|_| ())),
            Err(Error::OutOfMemory { .. } | Error::TooLarge { .. }) => std::process::exit(REFUSED),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn cooking_in_any_address_space_succeeds_or_is_an_error() {
        let _turn = alone();
        let folder = tempfile::tempdir().unwrap();
        let obj = folder.path().join("torus.obj");
        io::write_obj(&obj, &primitives::torus(0.3, 0.1, 200, 50).unwrap()).unwrap();
        let (mut refused, mut cooked) = (0, 0);
        let steps: u64 = if support::long() { 200 } else { 24 };
        for step in 0..=steps {
            // Limits are denser where little memory remains.
            let limit = (step * step * (320 << 20) / (steps * steps)) / 4096 * 4096;
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "limited::child", "--ignored", "--nocapture", "--test-threads=1"])
                .env(LIMIT, limit.to_string())
                .env("VOXSHELL_TEST_MESH", &obj)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), None, "{limit} bytes: {said}");
            match output.status.code() {
                Some(0) => cooked += 1,
                Some(REFUSED) => refused += 1,
                other => panic!("{limit} bytes: {other:?}, {said}"),
            }
        }
        assert!(refused > 0 && cooked > 0, "{refused} refused, {cooked} cooked");
    }
}
