//! Threads that the system refuses, although there is memory for them: a call that needs one returns VXS_OUT_OF_MEMORY, and
//! its objects are as before.
//!
//! A separate program, because its `pthread_create` takes the place of the system's.
#![cfg(target_os = "linux")]

use std::ffi::{c_int, c_void, CString};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_handle::*;
use voxshell::capi::haptics_run::*;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query_options::*;
use voxshell::capi::record::api::*;
use voxshell::capi::response::*;
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

/// Threads that may still be started; negative: any number.
static LEFT: AtomicI32 = AtomicI32::new(-1);

type Start = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// # Safety
/// As for the system's function.
#[no_mangle]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    work: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    match LEFT.load(Ordering::Relaxed) {
        0 => return libc::EAGAIN,
        left if left > 0 => LEFT.store(left - 1, Ordering::Relaxed),
        _ => {}
    }
    let system = libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr());
    std::mem::transmute::<*mut c_void, Start>(system)(thread, attributes, work, argument)
}

/// Makes a call while the system starts only so many threads.
fn with_threads(most: i32, call: impl FnOnce() -> vxs_status) -> vxs_status {
    LEFT.store(most, Ordering::Relaxed);
    let status = call();
    LEFT.store(-1, Ordering::Relaxed);
    status
}

fn last_error() -> String {
    unsafe { std::ffi::CStr::from_ptr(vxs_last_error()) }.to_string_lossy().into_owned()
}

fn ok(status: vxs_status) {
    assert_eq!(status, VXS_OK, "{}", last_error());
}

fn made<T>(init: unsafe extern "C" fn(*mut T, usize) -> vxs_status) -> T {
    unsafe {
        let mut value = std::mem::zeroed();
        ok(init(&mut value, size_of::<T>()));
        value
    }
}

fn still(z: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x: 0.0, y: 0.0, z }, qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 }
}

fn cooked_box() -> *mut vxs_shape {
    let (mut options, mut shape) = (made(vxs_cook_options_init), null_mut());
    options.resolution = 8;
    unsafe {
        let mut primitive = std::mem::zeroed();
        ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), VXS_PRIMITIVE_BOX));
        ok(vxs_shape_create_primitive(&primitive, &options, &mut shape));
    }
    shape
}

unsafe extern "C" fn device(_: *const vxs_wrench, _: u32, state: *mut vxs_device_state, _: *mut c_void) -> bool {
    (*state).pose = still(0.1);
    true
}

/// Steps and simulates, which only a `vxs_haptics` with both of its halves does.
unsafe fn use_both_halves(haptics: *mut vxs_haptics) {
    let mut output = std::mem::zeroed();
    let mut state = std::mem::zeroed::<vxs_device_state>();
    state.pose = still(0.1);
    ok(vxs_haptics_step(haptics, &state, 1e-3, &mut output));
    ok(vxs_haptics_simulate(haptics, null_mut()));
}

#[test]
fn calls_that_are_refused_a_thread_leave_their_objects() {
    unsafe {
        // Cooking starts the threads of the library, now or later.
        let mut shape = null_mut();
        let mut primitive = std::mem::zeroed();
        ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), VXS_PRIMITIVE_BOX));
        let mut options = made(vxs_cook_options_init);
        options.resolution = 8;
        let status = with_threads(0, || vxs_shape_create_primitive(&primitive, &options, &mut shape));
        assert_eq!(status, VXS_OUT_OF_MEMORY);
        let shape = cooked_box();

        let mut settings = std::mem::zeroed::<vxs_haptics_settings>();
        let size = size_of::<vxs_haptics_settings>();
        ok(vxs_haptics_settings_init(&mut settings, size, VXS_RENDERER_GOD_OBJECT, shape, 0.2, null()));
        let mut haptics = null_mut();
        let body = vxs_body { shape, pose: still(-0.5) };
        ok(vxs_haptics_create(&settings, shape, &body, 1, &mut haptics));
        for coupling_thread in [0, 1] {
            let mut options = made(vxs_haptics_run_options_init);
            (options.priority, options.lock_memory, options.coupling_thread) = (0, 0, coupling_thread);
            for most in 0..2 + coupling_thread as i32 {
                let status = with_threads(most, || vxs_haptics_run(haptics, &options, Some(device), null_mut()));
                assert_eq!(status, VXS_OUT_OF_MEMORY, "{most} threads: {}", last_error());
                assert!(last_error().starts_with("vxs_haptics_run: "), "{}", last_error());
                use_both_halves(haptics);
            }
            ok(vxs_haptics_run(haptics, &options, Some(device), null_mut()));
            ok(vxs_haptics_stop(haptics, null_mut()));
            use_both_halves(haptics);
        }
        ok(vxs_haptics_release(haptics));

        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("session.vxr");
        let part = folder.path().join("session.vxr.part");
        let path = CString::new(name.to_str().unwrap()).unwrap();
        let start = || vxs_record_start(path.as_ptr(), null());
        assert_eq!(with_threads(0, start), VXS_OUT_OF_MEMORY);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // The records of a program that crashed stay.
        std::fs::write(&part, "records").unwrap();
        assert_eq!(with_threads(0, start), VXS_OUT_OF_MEMORY);
        assert_eq!(std::fs::read_to_string(&part).unwrap(), "records");
        ok(start());
        ok(vxs_record_stop(null_mut()));
        assert!(name.is_file() && !part.exists());
        ok(vxs_shape_release(shape));
    }
}
