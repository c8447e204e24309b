//! The handles: of two releases one succeeds, a use after the release is an error, and a value for one thread at a time
//! is never with two.

use loom::thread;

use crate::asset::Shape;
use crate::stubs::beside::status::*;
use crate::stubs::beside::types::vxs_shape;
use crate::stubs::beside::{check, failure, status, types};
use crate::sync::{model, Arc, AtomicBool, Ordering};

macro_rules! copy {
    ($module:ident) => {
        #[allow(dead_code, unused_imports, unsafe_op_in_unsafe_fn)]
        mod $module {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($module), ".rs"));
        }
    };
}
copy!(handle);
copy!(release_in_two_steps);
copy!(lock_without_acquire);

/// A pointer that threads of a test share.
#[derive(Clone, Copy)]
struct Pointer(*mut vxs_shape);
// SAFETY: the handles are for any thread.
unsafe impl Send for Pointer {}

impl Pointer {
    fn get(self) -> *mut vxs_shape {
        self.0
    }
}

macro_rules! made {
    ($module:ident) => {{
        let mut out = std::ptr::null_mut();
        // SAFETY: the place is valid.
        unsafe { $module::create("out", &mut out, Arc::new(Shape::new())) }.unwrap();
        Pointer(out)
    }};
}

macro_rules! two_releases {
    ($module:ident) => {
        model(|| {
            let shared = made!($module);
            // SAFETY: the handle is live, or in quarantine.
            let release = move || unsafe { $module::release("shape", shared.get()) };
            let other = thread::spawn(move || release().is_ok());
            let own = release().is_ok();
            assert!(own != other.join().unwrap(), "both succeed, or none");
            // SAFETY: as above.
            assert_eq!(unsafe { $module::get("shape", shared.get()) }.err().unwrap().status, VXS_INVALID_HANDLE);
        })
    };
}

#[test]
fn of_two_releases_one_succeeds() {
    two_releases!(handle);
}

#[test]
#[should_panic]
fn a_release_in_two_steps_is_found() {
    two_releases!(release_in_two_steps);
}

/// One thread reads while another does; the last to end releases, and the other then gets an error.
#[test]
fn a_use_after_the_release_is_an_error() {
    model(|| {
        let shared = made!(handle);
        let released = Arc::new(AtomicBool::new(false));
        let (theirs, done) = (released.clone(), Arc::new(AtomicBool::new(false)));
        let user_done = done.clone();
        let user = thread::spawn(move || {
            // SAFETY: the handle is released only after this use, or is in quarantine.
            let value = unsafe { handle::get("shape", shared.get()) }.unwrap().value();
            assert_eq!(value, 7);
            user_done.store(true, Ordering::Release);
            if theirs.load(Ordering::Acquire) {
                // SAFETY: as above.
                let late = unsafe { handle::get("shape", shared.get()) };
                assert_eq!(late.err().unwrap().status, VXS_INVALID_HANDLE);
            }
        });
        if done.load(Ordering::Acquire) {
            // SAFETY: the other thread has ended its use.
            assert!(unsafe { handle::release("shape", shared.get()) }.is_ok());
            released.store(true, Ordering::Release);
        }
        user.join().unwrap();
        let live = !released.load(Ordering::Acquire);
        // SAFETY: as above.
        assert_eq!(unsafe { handle::release("shape", shared.get()) }.is_ok(), live);
    });
}

macro_rules! two_locks {
    ($module:ident) => {
        model(|| {
            let value = Arc::new($module::Exclusive::new([0u32; 2]));
            let count = |value: &$module::Exclusive<[u32; 2]>| match value.lock("workspace") {
                Ok(mut locked) => {
                    let [a, b] = *locked;
                    assert_eq!(a, b, "a torn value");
                    *locked = [a + 1; 2];
                    1
                }
                Err(failure) => {
                    assert_eq!(failure.status, VXS_BUSY);
                    0
                }
            };
            let theirs = value.clone();
            let other = thread::spawn(move || count(&theirs) + count(&theirs));
            let own = count(&value) + count(&value);
            let sum = own + other.join().unwrap();
            assert_eq!(*value.lock("workspace").unwrap(), [sum; 2]);
        })
    };
}

#[test]
fn a_value_is_with_one_thread_at_a_time() {
    two_locks!(handle);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_lock_without_acquire_is_found() {
    two_locks!(lock_without_acquire);
}
