//! Cases that a C program cannot produce: panics inside, two threads at a chosen moment, headers of other releases.

use std::ffi::{c_char, c_void, CStr};

use parking_lot::Mutex;

use super::check::{self, Growable};
use super::cook_options::*;
use super::create::*;
use super::guard::{entry, Failure};
use super::handle;
use super::haptics::*;
use super::haptics_handle::*;
use super::haptics_run::*;
use super::haptics_settings::*;
use super::haptics_types::*;
use super::log::*;
use super::primitive::*;
use super::query::*;
use super::query_options::vxs_body;
use super::shape::*;
use super::status::*;
use super::types::*;
use super::{panics, workers};
use crate::haptics::{RunOptions, Runner};

fn last_error() -> String {
    unsafe { CStr::from_ptr(vxs_last_error()) }.to_str().expect("UTF-8").to_owned()
}

fn sphere() -> *mut vxs_shape {
    let mut shape = std::ptr::null_mut();
    assert_eq!(unsafe { vxs_shape_create_sphere(0.5, &mut shape) }, VXS_OK);
    shape
}

unsafe fn vxs_test_panic(shape: *const vxs_shape, workspace: *mut vxs_workspace) -> vxs_status {
    entry!(vxs_test_panic, [shape, workspace], {
        let scratch = handle::get("workspace", workspace)?;
        let _scratch = scratch.lock("workspace")?;
        let nothing: [u32; 0] = [];
        let index = handle::get("shape", shape)?.mesh.as_ref().map_or(7, |_| 0);
        Ok(nothing[index] as vxs_status)
    })
}

unsafe extern "C" fn hear(_level: u32, message: *const c_char, user: *mut c_void) {
    let heard = &*user.cast::<Mutex<Vec<String>>>();
    heard.lock().push(CStr::from_ptr(message).to_str().expect("UTF-8").to_owned());
}

#[test]
fn a_panic_is_logged_as_an_error() {
    let heard = Mutex::new(Vec::new());
    let user = std::ptr::from_ref(&heard).cast_mut().cast();
    let shape = sphere();
    let mut workspace = std::ptr::null_mut();
    unsafe {
        assert_eq!(vxs_workspace_create(&mut workspace), VXS_OK);
        assert_eq!(vxs_set_log(Some(hear), VXS_LOG_ERROR, user), VXS_OK);
        assert_eq!(vxs_test_panic(shape, workspace), VXS_PANIC);
        assert_eq!(vxs_set_log(None, 0, std::ptr::null_mut()), VXS_OK);
        assert!(heard.lock().contains(&last_error()));
        assert_eq!(vxs_workspace_destroy(workspace), VXS_OK);
        assert_eq!(vxs_shape_release(shape), VXS_OK);
    }
}

/// Panics on threads of the library's pool.
unsafe fn vxs_test_panic_while_cooking(shape: *const vxs_shape) -> vxs_status {
    entry!(vxs_test_panic_while_cooking, [shape], {
        workers::work(|| rayon::join(|| (), || rayon::join(|| panic!("on a worker"), || ())))?;
        Ok(VXS_OK)
    })
}

/// Panics in a callback that catches its own panics.
unsafe fn vxs_test_callback() -> vxs_status {
    entry!(vxs_test_callback, [], {
        let stopped = panics::outside(|| std::panic::catch_unwind(|| panic!("of a callback")));
        assert!(stopped.is_err());
        Ok(VXS_OK)
    })
}

/// Panics on the thread that steps.
unsafe fn vxs_test_run(haptics: *mut vxs_haptics) -> vxs_status {
    entry!(vxs_test_run, [haptics], {
        let halves = handle::get("haptics", haptics)?;
        let (servo, simulation) = (halves.servo.lock("haptics")?.take(), halves.simulation.lock("haptics")?.take());
        let options = RunOptions { priority: 0, lock_memory: false, ..RunOptions::default() };
        let (servo, simulation) = (servo.expect("not running"), simulation.expect("not running"));
        let runner =
            Runner::start(servo, simulation, &options, |_| panic!("of a servo")).map_err(crate::Error::from)?;
        *halves.runner.lock("haptics")? = Some(runner);
        Ok(VXS_OK)
    })
}

unsafe fn new_haptics() -> *mut vxs_haptics {
    let (mut primitive, mut options, mut settings) = (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
    let (mut tool, mut haptics) = (std::ptr::null_mut(), std::ptr::null_mut());
    assert_eq!(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), VXS_PRIMITIVE_BOX), VXS_OK);
    assert_eq!(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()), VXS_OK);
    options.resolution = 8;
    assert_eq!(vxs_shape_create_primitive(&primitive, &options, &mut tool), VXS_OK);
    let (size, none) = (size_of::<vxs_haptics_settings>(), std::ptr::null());
    assert_eq!(vxs_haptics_settings_init(&mut settings, size, VXS_RENDERER_PENALTY, tool, 1.0, none), VXS_OK);
    assert_eq!(vxs_haptics_create(&settings, tool, std::ptr::null(), 0, &mut haptics), VXS_OK);
    assert_eq!(vxs_shape_release(tool), VXS_OK);
    haptics
}

/// Returns the text that a test writes to standard error in a process of its own; `None` in that process.
fn standard_error_of(test: &str) -> Option<String> {
    const CHILD: &str = "VOXSHELL_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "--nocapture", &format!("capi::tests::{test}")]).env(CHILD, "1");
    let output = child.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success() && text(&output.stdout).contains("1 passed"), "{}", text(&output.stderr));
    Some(text(&output.stderr))
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn panics_inside_write_nothing_to_standard_error() {
    if let Some(written) = standard_error_of("panics_inside_write_nothing_to_standard_error") {
        assert_eq!(written, "");
        return;
    }
    let heard = Mutex::new(Vec::new());
    let user = std::ptr::from_ref(&heard).cast_mut().cast();
    let says = |texts: &[&str]| heard.lock().iter().any(|m: &String| texts.iter().all(|text| m.contains(text)));
    let (shape, mut workspace) = (sphere(), std::ptr::null_mut());
    unsafe {
        assert_eq!(vxs_workspace_create(&mut workspace), VXS_OK);
        assert_eq!(vxs_set_log(Some(hear), VXS_LOG_ERROR, user), VXS_OK);
        assert_eq!(vxs_test_panic(shape, workspace), VXS_PANIC);
        assert!(says(&["vxs_test_panic: ", "index out of bounds", "tests.rs:"]), "{heard:?}");
        let other = sphere();
        assert_eq!(vxs_test_panic_while_cooking(other), VXS_PANIC);
        assert!(says(&["on its thread voxshell", "on a worker", "tests.rs:"]), "{heard:?}");
        assert!(says(&["vxs_test_panic_while_cooking: ", "on a worker"]), "{heard:?}");
        let haptics = new_haptics();
        assert_eq!(vxs_test_run(haptics), VXS_OK);
        assert_eq!(vxs_haptics_stop(haptics, std::ptr::null_mut()), VXS_PANIC);
        assert!(says(&["on its thread haptic servo", "of a servo", "tests.rs:"]), "{heard:?}");
        assert!(says(&["vxs_haptics_stop: ", "of a servo"]), "{heard:?}");
        assert_eq!(vxs_haptics_release(haptics), VXS_OK);
        // The pool still works.
        assert_eq!(vxs_haptics_release(new_haptics()), VXS_OK);
        assert_eq!(vxs_set_log(None, 0, std::ptr::null_mut()), VXS_OK);
        assert_eq!(vxs_workspace_destroy(workspace), VXS_OK);
        assert_eq!(vxs_shape_release(shape), VXS_OK);
        assert_eq!(vxs_shape_release(other), VXS_OK);
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn panics_of_the_host_reach_its_own_hook() {
    if let Some(written) = standard_error_of("panics_of_the_host_reach_its_own_hook") {
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines, ["host: before", "host: of a callback", "host: after", "host: of a thread"]);
        return;
    }
    let text = |info: &std::panic::PanicHookInfo| (*info.payload().downcast_ref::<&str>().expect("text")).to_owned();
    std::panic::set_hook(Box::new(move |info| eprintln!("host: {}", text(info))));
    let own = |text: &'static str| assert!(std::panic::catch_unwind(|| std::panic::panic_any(text)).is_err());
    let shape = sphere();
    unsafe {
        own("before");
        assert_eq!(vxs_test_panic_while_cooking(shape), VXS_PANIC);
        assert_eq!(vxs_test_callback(), VXS_OK);
        own("after");
        assert!(std::thread::spawn(|| std::panic::panic_any("of a thread")).join().is_err());
        assert_eq!(vxs_shape_release(shape), VXS_OK);
    }
}

#[test]
fn a_panic_stops_at_the_border_and_poisons_every_object_of_the_call() {
    let shape = sphere();
    let (mut other, mut workspace) = (std::ptr::null_mut(), std::ptr::null_mut());
    unsafe {
        assert_eq!(vxs_shape_retain(shape, &mut other), VXS_OK);
        assert_eq!(vxs_workspace_create(&mut workspace), VXS_OK);
        assert_eq!(vxs_test_panic(shape, workspace), VXS_PANIC);
        assert!(last_error().starts_with("vxs_test_panic: a defect inside the library (index out of bounds"));
        let mut bounds = std::mem::zeroed();
        assert_eq!(vxs_shape_get_bounds(shape, &mut bounds), VXS_PANIC);
        assert_eq!(
            last_error(),
            "vxs_shape_get_bounds: shape is poisoned by a defect in an earlier call; expected it to be released"
        );
        // The panic does not affect another handle to the same data.
        assert_eq!(vxs_shape_get_bounds(other, &mut bounds), VXS_OK);
        assert_eq!(vxs_test_panic(other, workspace), VXS_PANIC);
        assert!(last_error().contains("workspace is poisoned"));
        // The panic left the workspace unlocked, so it can be destroyed.
        assert_eq!(vxs_workspace_destroy(workspace), VXS_OK);
        assert_eq!(vxs_shape_release(shape), VXS_OK);
        assert_eq!(vxs_shape_release(other), VXS_OK);
    }
}

#[test]
fn a_workspace_in_use_by_another_thread_is_refused() {
    let shape = sphere() as usize;
    let mut workspace = std::ptr::null_mut();
    unsafe {
        assert_eq!(vxs_workspace_create(&mut workspace), VXS_OK);
        let locked = handle::get("workspace", workspace).and_then(|w| w.lock("workspace")).expect("free");
        let address = workspace as usize;
        let other_thread = std::thread::spawn(move || {
            let (shape, workspace) = (shape as *const vxs_shape, address as *mut vxs_workspace);
            let pose = vxs_pose { position: vxs_vec3::default(), qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 };
            let body = vxs_body { shape, pose };
            let mut count = 77;
            let none = std::ptr::null_mut();
            let query = std::ptr::null();
            let status = vxs_query_contacts(&body, &body, query, workspace, none, 0, &mut count);
            (status, last_error(), count, vxs_workspace_destroy(workspace))
        });
        let (status, message, count, destroyed) = other_thread.join().expect("no panic");
        assert_eq!((status, count, destroyed), (VXS_BUSY, 77, VXS_BUSY));
        assert_eq!(message, "vxs_query_contacts: workspace is in use by another call; expected one for every thread");
        drop(locked);
        assert_eq!(vxs_workspace_destroy(workspace), VXS_OK);
        assert_eq!(vxs_shape_release(shape as *mut vxs_shape), VXS_OK);
    }
}

/// A struct as a later release may have it: the first release had no field `second`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Grown {
    struct_size: u32,
    first: u32,
    second: u64,
}

impl Growable for Grown {
    const ARGUMENT: &'static str = "grown";
    const SIZES: &'static [usize] = &[8, 16];
    const NULLABLE: bool = false;
    fn defaults() -> Self {
        Self { struct_size: 0, first: 1, second: 2 }
    }
}

#[test]
fn a_struct_of_an_earlier_release_is_used_up_to_its_own_size() {
    let mut given = Grown { struct_size: 99, first: 99, second: 99 };
    unsafe {
        assert_eq!(check::init(&mut given, 8, Grown::defaults()).expect("known"), VXS_OK);
        assert_eq!((given.struct_size, given.first, given.second), (8, 1, 99));
        given.first = 5;
        let read = Grown::read(&given).expect("known");
        assert_eq!((read.first, read.second), (5, 2), "the field it did not have takes its default");
        Grown { struct_size: 0, first: 6, second: 6 }.write(&mut given).expect("known");
        assert_eq!((given.struct_size, given.first, given.second), (8, 6, 99));
    }
}

#[test]
fn a_struct_size_that_no_release_had_is_refused() {
    let mut given = Grown { struct_size: 0, first: 5, second: 5 };
    let refuses = |refused: Option<Failure>, expected: &str| {
        let refused = refused.expect("refused");
        assert_eq!(refused.status, VXS_INVALID_ARGUMENT);
        assert!(refused.message.contains(expected), "{}", refused.message);
    };
    // Smaller than in the first release, between two releases, and larger than in the present one.
    for size in [0, 4, 12, 24] {
        given.struct_size = size;
        let expected = format!("grown->struct_size is {size}; expected 8 or 16 bytes");
        refuses(unsafe { Grown::read(&given) }.err(), &expected);
        refuses(unsafe { Grown::defaults().write(&mut given) }.err(), &expected);
        let made = unsafe { check::init(&mut given, size as usize, Grown::defaults()) };
        refuses(made.err(), &format!("size is {size}; expected 8 or 16 bytes"));
        assert_eq!((given.struct_size, given.first, given.second), (size, 5, 5), "nothing is written");
    }
}

#[test]
fn misaligned_and_endless_arrays_are_refused() {
    let memory = [0u64; 8];
    let off = unsafe { memory.as_ptr().cast::<u8>().add(1) }.cast::<vxs_vec3>();
    let refused = |f: Failure| f.message;
    unsafe {
        let message = check::slice("points", off, "count", 1).map(|_| ()).map_err(refused).expect_err("misaligned");
        assert!(message.ends_with("expected a pointer aligned to 8 bytes"), "{message}");
        let message = check::slice::<vxs_vec3>("points", memory.as_ptr().cast(), "count", usize::MAX / 8);
        let message = message.map(|_| ()).map_err(refused).expect_err("too long");
        assert!(message.starts_with("count is ") && message.contains("expected at most"), "{message}");
    }
}

#[test]
fn the_last_error_is_each_threads_own() {
    unsafe {
        assert_eq!(vxs_shape_create_sphere(-2.0, std::ptr::null_mut()), VXS_INVALID_ARGUMENT);
    }
    assert!(last_error().starts_with("vxs_shape_create_sphere: "));
    std::thread::spawn(|| assert_eq!(last_error(), "")).join().expect("no error there");
}
