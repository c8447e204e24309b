//! The C ABI. The only module with `extern "C"`; thin: checks arguments, calls the core, maps errors. Must hold
//! no geometry of its own.
//!
//! `include/voxshell/voxshell.h` is generated from the files listed in [`HEADER_SOURCES`], in that order; the doc comments
//! of their public items are written for C readers, which is why they have no `# Safety` sections: the contract of a
//! pointer is in its `@param` line. Every entry point is the body of [`guard::entry!`], the one place where panics stop; what
//! they say goes where [`panics`] puts it. Entry points that cook do so on threads of their own ([`workers`]).
//! A conforming call never causes undefined behaviour here; for the others, null, misaligned, released (as long as the
//! handle is in quarantine, see [`handle`]) and wrong-kind pointers are detected and refused.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod check;
mod convert;
mod failure;
mod guard;
mod halves;
mod handle;
mod hook;
mod layout;
mod panics;
mod scratch;
#[cfg(test)]
mod tests;
mod workers;

pub mod allocations;
pub mod asset;
pub mod create;
pub mod forms;
pub mod haptics;
pub mod haptics_run;
pub mod haptics_settings;
pub mod haptics_types;
pub mod impulse;
pub mod log;
pub mod motion;
pub mod options;
pub mod query;
pub mod response;
pub mod shape;
pub mod status;
pub mod types;

/// The files the C header is generated from, in the order of its sections, relative to `src/capi`.
pub const HEADER_SOURCES: [&str; 17] = [
    "status.rs",
    "log.rs",
    "allocations.rs",
    "types.rs",
    "options.rs",
    "create.rs",
    "shape.rs",
    "asset.rs",
    "forms.rs",
    "query.rs",
    "motion.rs",
    "haptics_types.rs",
    "response.rs",
    "impulse.rs",
    "haptics_settings.rs",
    "haptics.rs",
    "haptics_run.rs",
];
