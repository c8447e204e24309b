//! Panics inside the library write nothing to standard error: their source location goes into the last error and the
//! log.
//!
//! A panic is the library's if its thread is inside an entry point, or is a thread that the library made for entry
//! points (the threads that cook, and the threads of `vxs_haptics_run`). All other panics, and those of callbacks, are
//! the host's: they go unchanged to the previous panic hook. The first call of an entry point installs the library's
//! panic hook, once. A host that sets a hook of its own afterwards replaces it, and also receives the library's panics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use super::hook;
use super::status::set_last_error;
use crate::inside;

static INSTALLED: Once = Once::new();

thread_local! {
    /// Number of entry points that this thread is in: one may call another through a callback.
    static GUARDS: Cell<u32> = const { Cell::new(0) };
    /// Location of the panic that is unwinding to the guard of this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Message of a panic, and its location if it was on the calling thread.
pub(super) struct Caught {
    payload: Box<dyn Any + Send>,
    place: Option<String>,
}

impl std::fmt::Display for Caught {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(text(self.payload.as_ref()))?;
        match &self.place {
            Some(place) => write!(f, ", at {place}"),
            None => Ok(()),
        }
    }
}

impl Caught {
    pub fn payload(&self) -> &(dyn Any + Send) {
        self.payload.as_ref()
    }

    /// Forgets the payload, because dropping it may run foreign code that panics again, outside of the guard.
    pub fn forget(self) {
        std::mem::forget(self.payload);
    }
}

/// Runs `body` for an entry point, and catches its panics.
pub(super) fn stopped<R>(body: impl FnOnce() -> R) -> Result<R, Caught> {
    install();
    let _inside = inside::enter();
    GUARDS.set(GUARDS.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(body));
    GUARDS.set(GUARDS.get() - 1);
    result.map_err(|payload| Caught { payload, place: PLACE.take() })
}

/// Calls a callback of the host, whose panics are the host's.
pub(super) fn outside<R>(call: impl FnOnce() -> R) -> R {
    let _outside = inside::leave();
    call()
}

/// Registers the value of the calling thread that is dropped at its end.
pub(super) fn register() {
    let _ = PLACE.try_with(|_| ());
}

fn install() {
    // A thread that unwinds may not change the hook; the next call installs it.
    if INSTALLED.is_completed() || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match inside::is_inside() {
            true => hear(info),
            false => previous(info),
        }));
    });
}

/// Stores the location for the guard. On a thread without a guard, and for a second panic, which ends the process, logs
/// it at once.
fn hear(info: &PanicHookInfo) {
    let place = info.location().map_or_else(|| "an unknown place".into(), |l| l.to_string());
    let is_guarded = GUARDS.try_with(Cell::get).unwrap_or(0) > 0;
    let is_first = || PLACE.try_with(|kept| kept.try_borrow().is_ok_and(|kept| kept.is_none())).unwrap_or(false);
    if cfg!(panic = "abort") && is_guarded {
        // Nothing unwinds to the guard, as in WebAssembly. The host sees a trap and finds the message in the last error.
        set_last_error(&format!("a defect inside the library ({}, at {place})", text(info.payload())));
    }
    if is_guarded && is_first() {
        PLACE.set(Some(place));
        return;
    }
    let text = text(info.payload());
    hook::log(hook::ERROR, || {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("without a name");
        format!("a defect inside the library, on its thread {name}: {text}, at {place}")
    });
}

fn text(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "a panic without a message",
    }
}
