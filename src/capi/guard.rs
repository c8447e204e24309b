//! The guard around every entry point: failures become a status and a message, and panics stop here.

pub(super) use super::failure::Failure;
use super::hook;
use super::panics;
use super::record::session::{self, Recording, WhenFull};
use super::record::sink::Sink;
use super::status::*;
use super::thread;
use crate::memory;

/// Runs the body of the entry point `name`. If it panics, `poison` marks every handle that the call got. Not generic: there
/// are more than a hundred entry points.
pub(super) fn run(name: &str, body: &mut dyn FnMut() -> Result<vxs_status, Failure>, poison: &dyn Fn()) -> vxs_status {
    let body = || {
        #[cfg(feature = "test-panic")]
        test_panic::panic_if_asked();
        body()
    };
    if !thread::is_ready() {
        set_first_error(name);
        return VXS_OUT_OF_MEMORY;
    }
    match panics::stopped(|| memory::catching(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => fail(name, &failure),
        Err(caught) => {
            if let Some(error) = memory::refused("running the call", caught.payload()) {
                // The payload is the library's own.
                drop(caught);
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

/// `entry!(name(arguments), [handles], { body })`: the body of the entry point `name`. The body returns
/// `Result<vxs_status, Failure>` to the guard. If it panics, the handles are poisoned.
///
/// A recording gets the arguments as `record::argument::Recorded`. `fast(name(arguments))` is a call that must not
/// wait: its record is lost if there is no room. `entry!(name, …)` is a call that has no record;
/// `record::calls::NOT_RECORDED` lists these.
macro_rules! entry {
    (fast($name:ident($($arg:expr),*)), [$($handle:expr),*], $body:block) => {
        $crate::capi::guard::recorded!(Lose, $name($($arg),*), $crate::capi::guard::entry!($name, [$($handle),*], $body))
    };
    ($name:ident($($arg:expr),*), [$($handle:expr),*], $body:block) => {
        $crate::capi::guard::recorded!(Wait, $name($($arg),*), $crate::capi::guard::entry!($name, [$($handle),*], $body))
    };
    ($name:ident, [$($handle:expr),*], $body:block) => {
        $crate::capi::guard::run(
            stringify!($name),
            &mut || $body,
            &|| { $($crate::capi::handle::poison($handle);)* },
        )
    };
}
pub(super) use entry;

/// Begins the record of a call, if a recording is in progress: see [`session::begin`].
#[inline]
pub(super) fn begin_record(number: u32, full: WhenFull, put: &dyn Fn(&mut Sink)) -> Option<Recording> {
    if !session::is_active() {
        return None;
    }
    if !thread::is_ready() {
        session::lose_record();
        return None;
    }
    session::begin(number, full, put)
}

/// `recorded!(full, name(arguments), call)`: makes the call, and records it while a recording is in progress.
macro_rules! recorded {
    ($full:ident, $name:ident($($arg:expr),*), $call:expr) => {{
        #[allow(unused_imports)]
        use $crate::capi::record::{argument::Recorded, session, sink};
        let number = const { sink::function(stringify!($name)) };
        let recording = $crate::capi::guard::begin_record(number, session::WhenFull::$full, &|sink| {
            $(Recorded::put(&$arg, sink);)*
        });
        let status = $call;
        if let Some(recording) = recording {
            recording.end(status, &|answer| {
                $(Recorded::answer(&$arg, answer);)*
            });
        }
        status
    }};
}
pub(super) use recorded;

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
