//! The C ABI. The only module with `extern "C"`; thin: checks arguments, calls the core, maps errors. Must hold
//! no geometry of its own.
//!
//! The headers in `include/voxshell` are generated from the files listed in [`HEADERS`]; the doc comments of their public
//! items are written for C readers, which is why they have no `# Safety` sections: the contract of a
//! pointer is in its `@param` line. Every entry point is the body of [`guard::entry!`], the one place where panics stop; what
//! they say goes where [`panics`] puts it. Entry points that cook do so on threads of their own ([`workers`]).
//! A conforming call never causes undefined behaviour here; for the others, null, misaligned, released (as long as the
//! handle is in quarantine, see [`handle`]) and wrong-kind pointers are detected and refused.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod check;
mod failure;
mod guard;
mod handle;
mod hook;
mod layout;
mod panics;
#[cfg(test)]
mod tests;
mod workers;

pub mod allocations;
pub mod asset;
pub mod cook_options;
pub mod create;
pub mod forms;
pub mod haptics;
pub mod haptics_handle;
pub mod haptics_run;
pub mod haptics_settings;
pub mod haptics_types;
pub mod impulse;
pub mod log;
pub mod motion;
pub mod primitive;
pub mod query;
pub mod query_options;
pub mod response;
pub mod shape;
pub mod shape_info;
pub mod status;
pub mod types;

/// The C headers in the order in which they include each other, and the files of `src/capi` whose public items each one
/// declares, in their order in the files.
pub const HEADERS: [(&str, &[&str]); 7] = [
    ("base", &["status.rs", "types.rs", "log.rs", "allocations.rs"]),
    ("cook", &["cook_options.rs", "primitive.rs", "create.rs"]),
    ("shape", &["shape_info.rs", "shape.rs", "forms.rs", "asset.rs"]),
    ("query", &["query_options.rs", "query.rs"]),
    ("motion", &["motion.rs"]),
    ("response", &["response.rs", "impulse.rs"]),
    ("haptics", &["haptics_handle.rs", "haptics_types.rs", "haptics_settings.rs", "haptics.rs", "haptics_run.rs"]),
];
