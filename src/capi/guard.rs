//! The guard around every entry point: failures become a status and a message, and panics stop here.

pub(super) use super::failure::Failure;
use super::hook;
use super::panics;
use super::status::*;
use crate::memory;

/// Runs the body of the entry point `name`. If it panics, `poison` marks every handle that the call got.
pub(super) fn run(name: &str, body: impl FnOnce() -> Result<vxs_status, Failure>, poison: impl FnOnce()) -> vxs_status {
    let body = || {
        #[cfg(feature = "test-panic")]
        test_panic::panic_if_asked();
        body()
    };
    prepare_last_error();
    match panics::stopped(|| memory::catching(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => fail(name, &failure),
        Err(caught) => {
            if let Some(error) = memory::refused("running the call", caught.payload()) {
                caught.forget();
                return fail(name, &error.into());
            }
            poison();
            let message = format!(
                "{name}: a defect inside the library ({caught}); the objects of this call can only be released"
            );
            hook::log(hook::ERROR, || message.clone());
            set_last_error(&message);
            caught.forget();
            VXS_PANIC
        }
    }
}

fn fail(name: &str, failure: &Failure) -> vxs_status {
    set_last_error(&format!("{name}: {}", failure.message));
    failure.status
}

/// `entry!(name, [handles], { body })`: the body of the entry point `name`. The body returns `Result<vxs_status,
/// Failure>` to the guard. If it panics, the handles are poisoned.
macro_rules! entry {
    ($name:ident, [$($handle:expr),*], $body:block) => {
        $crate::capi::guard::run(
            stringify!($name),
            || $body,
            || { $($crate::capi::handle::poison($handle);)* },
        )
    };
}
pub(super) use entry;

/// Causes a defect for the project's C tests. Not part of any installed library.
#[cfg(feature = "test-panic")]
mod test_panic {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<bool> = const { Cell::new(false) };
    }

    #[no_mangle]
    extern "C" fn vxs_test_panic_in_next_call() {
        ASKED.set(true);
    }

    pub(super) fn panic_if_asked() {
        if ASKED.replace(false) {
            panic!("asked for by a test");
        }
    }
}
