//! The C ABI, and the only module with `extern "C"`. It checks arguments, calls the core and maps errors. It must not
//! contain geometry code of its own.
//!
//! The headers in `include/voxshell` are generated from the files listed in [`HEADERS`]. The doc comments of their
//! public items are written for C readers and therefore have no `# Safety` sections: the contract of a pointer is in
//! its `@param` line. Every entry point is the body of `guard::entry!`, which stops all panics; `panics` handles
//! their messages. Entry points that cook run the work on the library's own threads (`workers`). A conforming call
//! never causes undefined behaviour here. In other calls, null, misaligned, released (as long as the handle is in
//! quarantine, see `handle`) and wrong-kind pointers are detected and refused.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
// Doxygen's `@param[out]` is no link.
#![allow(rustdoc::broken_intra_doc_links)]

mod check;
mod failure;
mod guard;
mod handle;
mod hook;
mod layout;
mod panics;
#[cfg(test)]
mod tests;
mod thread;
mod workers;

pub mod allocations;
pub mod asset;
pub mod batch;
pub mod contact_triangles;
pub mod cook_options;
pub mod create;
pub mod forms;
pub mod haptics;
pub mod haptics_bodies;
pub mod haptics_constraints;
pub mod haptics_handle;
pub mod haptics_run;
pub mod haptics_settings;
pub mod haptics_types;
pub mod hulls;
pub mod impulse;
pub mod log;
pub mod materials;
pub mod mesh_motion;
pub mod motion;
pub mod pair;
pub mod patches;
pub mod primitive;
pub mod query;
pub mod query_options;
pub mod record;
pub mod response;
pub mod segment_intervals;
pub mod shape;
pub mod shape_info;
pub mod status;
pub mod types;
pub mod voxelmap;
pub mod voxelmap_query;
pub mod voxtree;
pub mod voxtree_query;

/// The C headers, in the order in which they include each other. Each entry lists the files of `src/capi` whose public
/// items the header declares, in their order in the files.
pub const HEADERS: [(&str, &[&str]); 13] = [
    ("base", &["status.rs", "types.rs", "log.rs", "allocations.rs"]),
    ("cook", &["cook_options.rs", "primitive.rs", "create.rs"]),
    ("shape", &["shape_info.rs", "shape.rs", "segment_intervals.rs", "materials.rs", "forms.rs", "asset.rs"]),
    ("query", &["query_options.rs", "query.rs", "batch.rs", "contact_triangles.rs"]),
    ("motion", &["motion.rs", "mesh_motion.rs"]),
    ("response", &["response.rs", "impulse.rs", "patches.rs"]),
    ("pair", &["pair.rs"]),
    ("voxelmap", &["voxelmap.rs", "voxelmap_query.rs"]),
    ("voxtree", &["voxtree.rs", "voxtree_query.rs"]),
    ("hulls", &["hulls.rs"]),
    ("haptics_settings", &["haptics_handle.rs", "haptics_types.rs", "haptics_settings.rs"]),
    ("haptics", &["haptics.rs", "haptics_bodies.rs", "haptics_constraints.rs", "haptics_run.rs"]),
    ("record", &["record/api.rs"]),
];
